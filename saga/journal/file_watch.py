"""Linux tells of every write to a file (inotify): whoever waits for one need not look all the time.

Python has no name for it, so it is asked of the C library. Where there is none, or no more to be
had, there is no descriptor, and files are looked at instead.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from contextlib import suppress
from errno import ENOENT
from typing import Any

__all__ = ["FileWatch"]

_MODIFIED = 0x2  # IN_MODIFY of inotify(7)
_MOST = 65_536  # bytes read at once


class FileWatch:
    """`descriptor` is readable once one of the files has been written to; `None`: nobody tells."""

    def __init__(self) -> None:
        self.descriptor: int | None = None
        self._library: Any = ctypes.CDLL(None, use_errno=True)

    def watch(self, files: Sequence[str]) -> None:
        """Hear of these too, those that are there; also of one that has been made anew.

        Of all of them, or of none: whoever is told may not look.
        """
        with suppress(AttributeError):  # another system
            if self.descriptor is None:
                made = self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
                self.descriptor = made if made >= 0 else None
            for file in files if self.descriptor is not None else ():
                name = os.fsencode(file)
                made = self._library.inotify_add_watch(self.descriptor, name, _MODIFIED)
                if made < 0 and ctypes.get_errno() != ENOENT:
                    self.close()
                    return

    def clear(self) -> None:
        """Forget what has been told."""
        if self.descriptor is not None:
            with suppress(BlockingIOError):
                while len(os.read(self.descriptor, _MOST)) > _MOST // 2:
                    pass

    def close(self) -> None:
        """Hear nothing any more."""
        descriptor, self.descriptor = self.descriptor, None
        if descriptor is not None:
            os.close(descriptor)
