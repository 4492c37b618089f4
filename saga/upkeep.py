"""What keeps a database in order: pausing what goes wrong outside, purging what is long over."""

from __future__ import annotations

from saga.definition.tuning import Duration
from saga.inquiries.pausing import PauseView, one_name, paused, resumed
from saga.inquiries.purging import Purge, purged
from saga.journal.purge import PurgeProgress
from saga.reader import Reader
from saga.reconciliation.words import checked_text, who

__all__ = ["Upkeep"]


class Upkeep(Reader):
    """The upkeep of a `Client`."""

    def pause(
        self,
        saga: str | None = None,
        effect: str | None = None,
        provider: str | None = None,
        *,
        reason: str,
        actor: str | None = None,
    ) -> PauseView:
        """Start no new forward call of one saga, effect or provider; probes and undos go on.

        What is paused already stays so, for the first reason.
        """
        kind, name = one_name(saga, effect, provider)
        return paused(self._source, kind, name, checked_text("reason", reason), who(actor))

    def resume(
        self,
        saga: str | None = None,
        effect: str | None = None,
        provider: str | None = None,
        *,
        reason: str = "",
        actor: str | None = None,
    ) -> PauseView:
        """End a pause; it is given back as it was. Raises `NotAllowed` if there is none."""
        kind, name = one_name(saga, effect, provider)
        return resumed(
            self._source, kind, name, reason and checked_text("reason", reason), who(actor)
        )

    def purge(
        self,
        older_than: Duration,
        *,
        saga: str | None = None,
        dry_run: bool = False,
        progress: PurgeProgress | None = None,
    ) -> Purge:
        """Remove the runs that ended longer ago than that, of one saga or of all.

        Kept is what has an open case or is watched, what a provider may still honour a key of, and
        what does not verify. Of what goes a tombstone stays: its id and its keys are never used
        again. `dry_run` only counts. `progress(looked at, of, gone)` is called now and then. It
        may be interrupted at any time, and done again.
        """
        return purged(self._source, older_than, saga=saga, dry_run=dry_run, progress=progress)
