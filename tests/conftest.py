"""For all tests: signals as a terminal gives them."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    # A shell that starts something in the background has it ignore SIGINT, and children inherit
    # that; the tests of Ctrl-C need it as it is in front of a person.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
