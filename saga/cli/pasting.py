"""Commands to paste: they name the database that the user named, and never a password."""

from __future__ import annotations

import re
import shlex

__all__ = ["Pasting"]

_BEFORE_HOST = re.compile(r"^(\w+://[^:/?#]*):[^/?#]*@")
_IN_QUERY = re.compile(r"([?&])(?:password|sslpassword)=[^&]*(?:&|$)")
_VERB = re.compile(r"(?:(?<=: )|^)saga (?:db )?[a-z]+(?: APP\b)?")


class Pasting:
    """How commands are written for one `--db` and one APP; `None` if the user gave none."""

    def __init__(self, db: str | None, app: str | None) -> None:
        self._given = [] if db is None else ["--db", _without_password(db)]
        self._app = app

    def command(self, *words: str) -> str:
        """A command of these words, quoted for a shell."""
        if words == ("orchestrator", "APP") and self._app:
            words = ("orchestrator", self._app)
        verb = 2 if words[0] == "db" else 1
        return shlex.join(["saga", *words[:verb], *self._given, *words[verb:]])

    def pasteable(self, text: str) -> str:
        """A sentence of the product in which each `: saga VERB` is such a command."""
        return _VERB.sub(lambda found: self.command(*found[0].split()[1:]), text)


def _without_password(url: str) -> str:
    """What is printed goes into tickets; whoever pastes it has the password from elsewhere."""
    return _IN_QUERY.sub(r"\1", _BEFORE_HOST.sub(r"\1@", url))
