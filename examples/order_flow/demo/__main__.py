"""`python -m examples.order_flow.demo`, which is what `python3 dev.py demo` starts.

Exit codes: 0 runs and ledger agree, 1 they do not or it could not be played, 2 usage, 130 Ctrl-C.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> int:
    """The exit code of this process."""
    try:
        from examples.order_flow.demo.program import run  # noqa: PLC0415  it loads for a second

        return run()
    except KeyboardInterrupt:  # while it loads: nothing has been started yet
        return 130


if __name__ == "__main__":
    sys.exit(main())
