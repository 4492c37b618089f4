"""The command line: a view of the client, one module a room of verbs.

Rules: stdout holds the answer and nothing else, stderr everything else; an exit code says how it
went (`saga.cli.codes`); nothing that was stored or typed reaches a terminal raw; `--help` imports
neither the database library nor the definition of an app.
"""

from __future__ import annotations

from collections.abc import Sequence

from saga.cli import codes as _codes
from saga.cli import streams as _streams

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (that of this process by default) and return its exit code."""
    try:
        _streams.prepare()
        from saga.cli.program import run  # noqa: PLC0415  a Ctrl-C while it loads is one, too

        code = run(argv)
    except KeyboardInterrupt:
        code = _codes.INTERRUPTED
    _streams.finish()
    return code
