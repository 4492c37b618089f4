"""The machine with a few characters changed, beside the real one, for as long as a block lasts."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

__all__ = ["edited", "install"]

OURS = ("saga.machine", "tests.machine")


class _Edited(SourceFileLoader):
    """Loads a module as if its source read differently."""

    def __init__(self, fullname: str, path: str, old: str, new: str) -> None:
        super().__init__(fullname, path)
        self.change = old, new

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        source, (old, new) = self.get_data(path).decode(), self.change
        assert source.count(old) == 1, f"{old!r} stands {source.count(old)} times in {fullname}"
        return self.source_to_code(source.replace(old, new).encode(), path)


class _Finder(MetaPathFinder):
    def __init__(self, name: str, old: str, new: str) -> None:
        self.change = name, old, new

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        name, old, new = self.change
        spec = PathFinder.find_spec(fullname, path) if fullname == name else None
        if spec is not None:
            assert spec.origin is not None
            spec.loader = _Edited(name, spec.origin, old, new)
        return spec


def install(module: str, old: str, new: str) -> MetaPathFinder:
    """From now on this process imports a machine in whose `module` the text `old` reads `new`."""
    finder = _Finder(f"saga.machine.{module}", old, new)
    sys.meta_path.insert(0, finder)
    return finder


@contextmanager
def edited(module: str, old: str, new: str, *, also: tuple[str, ...] = ()) -> Iterator[ModuleType]:
    """`tests.machine.judging`, judging a machine in whose `module` the text `old` reads `new`.

    `also`: other packages that must see that machine.
    """
    ours = (*OURS, *also)
    real = {key: sys.modules.pop(key) for key in list(sys.modules) if key.startswith(ours)}
    finder = install(module, old, new)
    try:
        yield importlib.import_module("tests.machine.judging")
    finally:
        sys.meta_path.remove(finder)
        for key in [key for key in sys.modules if key.startswith(ours)]:
            del sys.modules[key]
        sys.modules.update(real)
