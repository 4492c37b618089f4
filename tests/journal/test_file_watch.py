"""Whoever watches a file hears of every write to it, also once it has been made anew."""

from __future__ import annotations

import ctypes
import select
from collections.abc import Iterator
from contextlib import closing
from errno import ENOSPC
from pathlib import Path

import pytest

from saga.journal.file_watch import FileWatch


class _NoneLeft:
    """The C library of a user who has used up the watches, but not the instances."""

    def __init__(self) -> None:
        self.inotify_init1 = ctypes.CDLL(None).inotify_init1

    def inotify_add_watch(self, _descriptor: int, _name: bytes, _mask: int) -> int:
        ctypes.set_errno(ENOSPC)
        return -1


@pytest.fixture
def watch() -> Iterator[FileWatch]:
    with closing(FileWatch()) as watch:
        watch.watch([])
        if watch.descriptor is None:
            pytest.skip("this system does not tell of writes; then files are looked at")
        yield watch


def _heard(watch: FileWatch) -> bool:
    assert watch.descriptor is not None
    return bool(select.select([watch.descriptor], [], [], 0.0)[0])


def test_a_write_is_heard_until_it_is_cleared(watch: FileWatch, tmp_path: Path) -> None:
    file = tmp_path / "saga.db"
    file.write_text("")
    watch.watch([str(file), str(tmp_path / "not-there")])
    assert not _heard(watch)
    file.write_text("x")
    assert _heard(watch)
    watch.clear()
    assert not _heard(watch)


def test_a_file_that_was_made_anew_is_heard_once_it_is_watched_again(
    watch: FileWatch, tmp_path: Path
) -> None:
    file = tmp_path / "saga.db-wal"
    file.write_text("")
    watch.watch([str(file)])
    file.unlink()
    file.write_text("")
    watch.watch([str(file)])
    watch.clear()
    file.write_text("x")
    assert _heard(watch)


def test_many_writes_are_cleared_together(watch: FileWatch, tmp_path: Path) -> None:
    first, second = tmp_path / "saga.db", tmp_path / "saga.db-wal"
    for file in (first, second):
        file.write_text("")
    watch.watch([str(first), str(second)])
    for _ in range(3000):  # of one file, equal ones that follow each other would be one
        first.write_text("x")
        second.write_text("x")
    watch.clear()
    assert not _heard(watch)


def test_who_cannot_be_told_of_a_file_knows(watch: FileWatch, tmp_path: Path) -> None:
    """Or it would wait for what never comes. As soon as it can be told again, it is."""
    file = tmp_path / "saga.db"
    file.write_text("")
    library, watch._library = watch._library, _NoneLeft()
    watch.watch([str(file)])
    assert watch.descriptor is None
    watch.clear()
    watch._library = library
    watch.watch([str(file)])
    file.write_text("x")
    assert _heard(watch)
