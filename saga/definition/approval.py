"""An approval: people who must agree to exactly this action before it is sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from saga.definition.names import check_name, check_text
from saga.definition.spec import ANYBODY
from saga.definition.tuning import Duration, seconds
from saga.errors import DefinitionError

if TYPE_CHECKING:
    from saga.definition.step import Step

__all__ = ["Approval"]

_PEOPLE = range(1, 21)


class Approval:
    """Who must approve a step, how many of them, and until when.

    The intent is frozen first; then the run waits, without an orchestrator, until `people`
    different ones of `by` (names, or `"*"` for anybody; never who started the run) approve it.
    `expires` is the time from the freezing on (a `timedelta` or seconds) in which it must be
    approved and sent. `observed` is the step whose receipt justified the wish; its source, key and
    hash are bound to the approval. `scope` says in words what is approved (the contract, if left
    out), `policy` is the version of the rule that asks for it.

    Refused or expired, the step has failed: the causes "refused" and "deadline". Raises
    `DefinitionError`.
    """

    def __init__(
        self,
        *,
        by: str | Sequence[str],
        expires: Duration,
        people: int = 1,
        observed: Step[Any, Any] | None = None,
        scope: str = "",
        policy: str = "1",
    ) -> None:
        names = (by,) if isinstance(by, str) else tuple(by or ())
        if not names or not all(str(name).strip() for name in names):
            raise _bad("it does not say who approves", 'Give by=["ada"], or by="*" for anybody')
        if type(people) is not int or people not in _PEOPLE:
            raise _bad(f"people is {people!r}", "Give a whole number from 1 to 20")
        if ANYBODY not in names and people > len({str(name).strip() for name in names}):
            told = f"{people} people are asked for, {len(set(names))} named"
            raise _bad(told, "Name more of them, or ask for fewer")
        people_named = [check_text("by of an approval", name).strip() for name in names]
        self.by = tuple(dict.fromkeys(people_named))
        self.people = people
        self.expires = seconds(expires, "expires of an approval")
        self.observed = observed
        self.scope = check_text("scope of an approval", scope)
        self.policy = check_name("policy of an approval", policy)

    def spec(self, label: str) -> dict[str, Any]:
        """This approval in the specification. `label` is the contract that it is about."""
        return {
            "by": list(self.by),
            "people": self.people,
            "expires": self.expires,
            "observed": None if self.observed is None else self.observed.name,
            "scope": self.scope or label,
            "policy": self.policy,
        }


def _bad(what: str, remedy: str) -> DefinitionError:
    return DefinitionError("bad-approval", f"approval: {what}", remedy=remedy)
