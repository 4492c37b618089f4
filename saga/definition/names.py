"""Names and ids: one alphabet, so that a key can be taken apart and a path or a log be trusted."""

from __future__ import annotations

import re

from saga.errors import BadInput, DefinitionError

__all__ = ["NAME_MAX", "RUN_ID_MAX", "check_id", "check_name", "check_text", "check_version"]

NAME_MAX = 64
RUN_ID_MAX = 128

_ID = re.compile(r"[A-Za-z0-9._:-]+")
_VERSION_MAX = 1_000_000
_TEXT_MAX = 200


def check_id(kind: str, text: object, longest: int) -> str:
    """`text`, if it is an id of at most `longest` characters of `A-Z a-z 0-9 . _ : -`.

    `kind` says in the message what it is ("run id"). Raises `BadInput`.
    """
    if fault := _fault(text, longest):
        raise BadInput(f"the {kind} {fault}", remedy=_remedy(longest))
    return str(text)


def check_name(kind: str, text: object, longest: int = NAME_MAX) -> str:
    """The same rule for a name in a definition. Raises `DefinitionError` ("bad-name")."""
    if fault := _fault(text, longest):
        raise DefinitionError("bad-name", f"the {kind} name {fault}", remedy=_remedy(longest))
    return str(text)


def check_version(what: str, version: object) -> int:
    """A version: a whole number from 1 on. Raises `DefinitionError` ("bad-version")."""
    if type(version) is not int or not 1 <= version <= _VERSION_MAX:
        raise DefinitionError(
            "bad-version",
            f"the version of {what} is no whole number within bounds",
            remedy=f"Give a whole number from 1 to {_VERSION_MAX}",
        )
    return version


def check_text(what: str, text: object, *, empty: bool = True) -> str:
    """A line for people: printable, at most 200 characters. `DefinitionError` ("bad-text")."""
    if not isinstance(text, str) or not text.isprintable() or len(text) > _TEXT_MAX:
        raise DefinitionError(
            "bad-text",
            f"the {what} is not one printable line",
            remedy=f"Give a line of at most {_TEXT_MAX} characters",
        )
    if not text.strip() and not empty:
        raise DefinitionError("bad-text", f"the {what} is empty", remedy="Say why, in a few words")
    return text


def _fault(text: object, longest: int) -> str:
    if type(text) is not str:
        return f"is {type(text).__name__}, not str"
    if not text:
        return "is empty"
    if len(text) > longest:
        return f"has {len(text)} characters"
    if not _ID.fullmatch(text):
        return f"{text!a} has other characters than letters, digits and . _ : -"
    if not text.strip("."):
        return f"{text!r} is a path, not a name"
    return ""


def _remedy(longest: int) -> str:
    return f"Use 1 to {longest} of the characters A-Z a-z 0-9 . _ : -"
