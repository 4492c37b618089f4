"""What a seeded bug is: a small difference to the product, and where it has to be found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from saga.testing import Fate
from tests.crash.explore_flows import order_flow
from tests.crash.explore_shapes import PROVIDERS, Shape

__all__ = ["Bug", "Edit", "bug", "shape"]


@dataclass(frozen=True)
class Edit:
    """A change of one module: lines that begin with `-` become those that begin with `+`."""

    module: str
    difference: str

    @property
    def old(self) -> str:
        return self._lines("- ")

    @property
    def new(self) -> str:
        return self._lines("+ ")

    @property
    def size(self) -> int:
        """How many lines it changes: those that it adds or, if they are more, takes away."""
        signs = [line[:1] for line in self.difference.splitlines()]
        return max(signs.count("+"), signs.count("-"))

    def _lines(self, signs: str) -> str:
        lines = self.difference.strip("\n").splitlines()
        return "".join(f"{line[1:]}\n" for line in lines if line[:1] in signs)


@dataclass(frozen=True)
class Bug:
    """`laws`: of these the report of `shape` names one at least."""

    name: str
    edits: tuple[Edit, ...]
    shape: Shape
    laws: frozenset[int]
    options: Mapping[str, Any] = field(default_factory=dict)


def bug(name: str, differences: Mapping[str, str], where: Shape, *laws: int, **options: Any) -> Bug:
    """A bug of so many modules, to be found as a breach of one of `laws`."""
    # Two differences in one module are told apart by a space.
    edits = tuple(Edit(f"saga.{module.strip()}", text) for module, text in differences.items())
    return Bug(name, edits, where, frozenset(laws), options)


def shape(kind: str, *, timeout: float = 20, **plans: tuple[Fate, ...]) -> Shape:
    """The order flow at a kind of provider that misbehaves in its own way."""
    provider, probes = PROVIDERS[kind]
    named = {name.replace("__", "."): fates for name, fates in plans.items()}
    flow = partial(order_flow, timeout=timeout)
    return Shape(f"order flow, {kind}, {named}", flow, provider, probes, named)
