"""Being there for everybody: a WAL file must outlive whoever else looks into it.

SQLite finds out by POSIX locks whether a connection that closes is the last one; the last one
writes the WAL back and removes it. Those locks belong to a process, not to a connection: another
SQLite library in this process (Python's own beside pysqlite3, in a test or a tool) sees none of
ours, and whatever it closes gives ours up. Then the WAL is removed under us, and what is committed
to it afterwards is lost.

So while a database is open here, it is also held by locks of the other kind, which belong to an
open file and count against everybody: the shared lock that says "somebody is connected", and the
one that says "somebody uses the index of the WAL". Both are those that SQLite itself would hold.

They are shared by all that is open in this process and given up with the last of it: closing a
descriptor of a database file gives up every POSIX lock of this process on it, ours included.
"""

from __future__ import annotations

import fcntl
import os
import struct
import threading
from contextlib import suppress
from pathlib import Path

__all__ = ["Presence"]

_CONNECTED = (0x40000002, 510)  # start and length of SQLite's shared lock in the database file
_INDEXED = (128, 1)  # its "dead man's switch" in the file of the WAL index

_lock = threading.Lock()
_counts: dict[tuple[int, int], int] = {}  # by device and inode: how many are open here
_descriptors: dict[tuple[int, int], list[int]] = {}


class Presence:
    """Held from the first connection to the last. Where the system has no such locks: nothing."""

    def __init__(self, database: Path) -> None:
        """To be made while a connection of ours is open; before, there is nothing to hold."""
        self._file: tuple[int, int] | None = None
        index = database.with_name(f"{database.name}-shm")
        if not hasattr(fcntl, "F_OFD_SETLK") or not index.exists():  # not a WAL file
            return
        status = database.stat()
        self._file = (status.st_dev, status.st_ino)
        with _lock:
            _counts[self._file] = _counts.get(self._file, 0) + 1
            if self._file not in _descriptors:
                held = _descriptors[self._file] = []
                with suppress(OSError):
                    held.append(_hold(database, *_CONNECTED))
                    held.append(_hold(index, *_INDEXED))

    def end(self) -> None:
        """Let go, before the last connection closes: it may tidy up then."""
        if self._file is None:
            return
        with _lock:
            file, self._file = self._file, None
            _counts[file] -= 1
            if not _counts[file]:
                del _counts[file]
                for descriptor in _descriptors.pop(file):
                    os.close(descriptor)


def _hold(file: Path, start: int, length: int) -> int:
    descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    lock = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, start, length, 0)
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, lock)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
