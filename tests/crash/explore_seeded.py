"""Runs an exploration with a bug in the product: its modules are loaded anew, with other text."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, ModuleType
from typing import Any

__all__ = ["seeded"]

_OURS = ("saga", "tests.crash")


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads one module from altered source."""

    def __init__(self, name: str, path: str, edits: Sequence[Any]) -> None:
        super().__init__(name, path)
        self._edits = edits

    def get_code(self, fullname: str) -> CodeType:
        text = self.get_data(self.path).decode()
        for edit in self._edits:
            assert text.count(edit.old) == 1, f"{fullname} has not, or twice: {edit.old}"
            text = text.replace(edit.old, edit.new)
        return compile(text, self.path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, edits: Sequence[Any]) -> None:
        self._edits = edits

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        mine = [edit for edit in self._edits if edit.module == fullname]
        spec = importlib.machinery.PathFinder.find_spec(fullname, path) if mine else None
        if spec is None or spec.origin is None:
            return None
        loader = _Loader(fullname, spec.origin, mine)
        return importlib.machinery.ModuleSpec(fullname, loader, origin=spec.origin)


@contextmanager
def seeded(edits: Sequence[Any]) -> Iterator[ModuleType]:
    """The modules of the product and of the shapes, altered; gives the module of the bugs."""
    before = {name: module for name, module in sys.modules.items() if _is_ours(name)}
    finder = _Finder(edits)
    for name in before:
        del sys.modules[name]
    sys.meta_path.insert(0, finder)
    try:
        yield importlib.import_module("tests.crash.explore_bugs")
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if _is_ours(name)]:
            del sys.modules[name]
        sys.modules.update(before)


def _is_ours(name: str) -> bool:
    return name != __name__ and any(name == one or name.startswith(f"{one}.") for one in _OURS)
