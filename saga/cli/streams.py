"""stdin, stdout, stderr as they really are: closed, piped to a reader that left, not UTF-8.

A reader that goes away does not change what a command has done: the rest of its answer is dropped,
and its exit code stays. Any other failure to write the answer is an error.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TextIO

__all__ = ["CannotWrite", "encodable", "finish", "prepare", "visible", "write_error", "write_out"]


class CannotWrite(Exception):
    """The answer cannot be written where it should go, for another reason than a lost reader."""


def prepare() -> None:
    """Make the three streams usable, whatever this process was started with."""
    # A closed descriptor would be given to the next file that is opened: a database, say.
    for descriptor, flags in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            opened = os.open(os.devnull, flags)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(descriptor, "w", closefd=False, encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def finish() -> None:
    """Leave nothing behind that the interpreter would stumble over when it flushes."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _silence(stream)


def write_out(text: str) -> None:
    """A part of the answer."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _silence(sys.stdout)
    except OSError as error:
        _silence(sys.stdout)
        raise CannotWrite(f"the answer cannot be written to stdout: {error.strerror}") from error


def write_error(text: str) -> None:
    """A line for whoever watches; nobody may be there any more."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _silence(sys.stderr)


def visible(text: str, keep: str = "") -> str:
    """The text with whatever acts on a terminal made visible: controls, escapes, direction marks.

    `keep` are the characters to let through all the same, such as a newline.
    """
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable() or character in keep
        else character.encode("unicode_escape").decode()
        for character in text
    )


def encodable(text: str) -> str:
    """The text with lone surrogates made visible: bytes that are not UTF-8, of argv or of damaged
    rows, come as those, and no JSON reader takes them.
    """
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _silence(stream: TextIO) -> None:
    """Send what is still buffered, and all that follows, to nowhere."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
