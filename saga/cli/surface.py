"""One command under way: its database, its way of answering, its progress.

Everything heavy is imported here, when a command really needs it.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import typer

from saga.cli import streams
from saga.cli.pasting import Pasting
from saga.errors import BadInput

if TYPE_CHECKING:
    from saga.client import Client

__all__ = ["Surface", "plain"]

_PATIENCE = 1.0  # seconds without a word
_SOON, _LATER = 10.0, 60.0  # between two lines of progress where lines stay


class Surface:
    """What a command has in hand. `app` is the APP that was given, for commands to paste."""

    def __init__(
        self,
        db: str | None,
        at_end: Callable[[Callable[[], None]], object],
        *,
        as_json: bool,
        app: str | None = None,
    ) -> None:
        if db == "":
            raise BadInput("the database URL is empty", remedy="write --db sqlite:///saga.db")
        self.db = db
        self._at_end = at_end
        self.as_json = as_json
        self.app = app or os.environ.get("SAGA_APP")

    @classmethod
    def of(
        cls,
        context: typer.Context,
        db: str | None,
        as_json: bool,
        app: str | None = None,
    ) -> Surface:
        """What was said after the verb wins over what was said before it."""
        said = context.find_root().obj
        if db is not None:
            said["db"] = db
        return cls(said["db"], context.call_on_close, as_json=as_json or said["json"], app=app)

    def client(self) -> Client:
        """A client of the database, closed when the command ends: the last one tidies up."""
        from saga.client import Client  # noqa: PLC0415  half a second

        client = Client(self.db)
        self._at_end(client.close)
        return client

    def app_name(self, given: str | None) -> str:
        """The APP that was given, else `SAGA_APP`. Raises `BadInput`."""
        name = given or self.app
        if not name:
            raise BadInput("no APP is given", remedy="write module:name, or set SAGA_APP")
        self.app = name
        return name

    def answer(self, value: Any, page: str) -> None:
        """Print an answer: as JSON, or as the page of that name."""
        if self.as_json:
            found = plain(value)
            if isinstance(found, dict) and "notice" in found:
                found["notice"] = self._pasting.pasteable(found["notice"])
            streams.write_out(json.dumps(found, indent=2) + "\n")
            return
        from saga.cli import pages  # noqa: PLC0415  the tables

        streams.write_out(pages.printed(page, value, self.command))

    def note(self, text: str) -> None:
        """Say on stderr what whoever waits should know; a program finds it in the answer."""
        if text and not self.as_json:
            streams.write_error(streams.visible(self._pasting.pasteable(text)) + "\n")

    def command(self, *words: str) -> str:
        """A command to paste, for this database and app, quoted for a shell."""
        return self._pasting.command(*words)

    @property
    def _pasting(self) -> Pasting:
        return Pasting(self.db, self.app)

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[str], None]]:
        """Say on stderr that `what` is going on, should it take longer than a second.

        What is yielded takes newer words for it.
        """
        words, done = [what], threading.Event()
        if self.as_json:
            yield words.append  # stderr is read by a program then
            return
        teller = threading.Thread(target=_tell, args=(words, done), daemon=True)
        teller.start()
        try:
            yield words.append
        finally:
            done.set()
            teller.join()


def plain(value: Any) -> Any:
    """A view as JSON: fields by their names, times in ISO 8601 with their offset,
    exact numbers as text.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    return streams.encodable(value) if isinstance(value, str) else value


def _tell(words: Sequence[str], done: threading.Event) -> None:
    if done.wait(_PATIENCE):
        return
    seconds, terminal = _PATIENCE, sys.stderr.isatty()
    pause = 1.0 if terminal else _SOON
    while True:
        line = streams.visible(f"{words[-1]} ({seconds:.0f} s) ...")
        streams.write_error(f"\r{line}" if terminal else f"{line}\n")
        if done.wait(pause):
            break
        seconds += pause
        pause = 1.0 if terminal else _LATER
    if terminal:
        streams.write_error(f"\r{' ' * len(line)}\r")
