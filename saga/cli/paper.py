"""Text for people: tables and lists that fit the terminal, or 80 columns where there is none.

Whatever comes from outside goes through `cell`, so that nothing in it is markup or moves a cursor.
Commands are printed as they are, on one line each: they are to be pasted.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from saga.cli.streams import visible

__all__ = ["Command", "Paper", "cell", "clock", "compact"]

Command: TypeAlias = Callable[..., str]
"""Makes a command to paste from its words."""

_WIDTH, _NARROWEST = 80, 40
_NAME_MOST = 24  # characters of what is not folded, so that there is room for the rest


class _Sheet(io.StringIO):
    """Where a page is written first, as if it were stdout: lines are drawn if it can show them."""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return sys.stdout.encoding


class Paper:
    """A page in the making."""

    def __init__(self) -> None:
        width = _WIDTH
        if sys.stdout.isatty() or "COLUMNS" in os.environ:
            width = max(shutil.get_terminal_size((_WIDTH, 24)).columns, _NARROWEST)
        self._sheet = _Sheet()
        self._console = Console(
            file=self._sheet,
            width=width,
            force_terminal=sys.stdout.isatty(),
            markup=False,
            emoji=False,
            highlight=False,
        )

    def text(self) -> str:
        """All of it."""
        return "\n".join(line.rstrip() for line in self._sheet.getvalue().split("\n"))

    def say(self, *lines: str, style: str = "") -> None:
        """Sentences, each wrapped."""
        for line in lines:
            self._print(cell(line, style))

    def blank(self) -> None:
        """An empty line."""
        self._console.print()

    def command(self, command: str, indent: int = 2) -> None:
        """A command to paste: never wrapped."""
        text = Text(" " * indent + visible(command), style="bold")
        self._console.print(text, soft_wrap=True)

    def facts(self, rows: Iterable[tuple[str, Any]], indent: int = 0) -> None:
        """Names and values; those without a value are left out."""
        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True, style="dim")
        grid.add_column(overflow="fold")
        for name, value in rows:
            if value is not None and value != "":
                grid.add_row(" " * indent + name, cell(value))
        self._print(grid)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """A table with a head. Columns are folded and nothing is cut off.

        A time stays whole, and so does what stands first, by which one asks for more.
        """
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
        rows = list(rows)
        for index, name in enumerate(columns):
            times = any(isinstance(row[index], datetime) for row in rows)
            name_of_it = index == 0 and max(len(str(row[0])) for row in rows) <= _NAME_MOST
            table.add_column(name, overflow="fold", no_wrap=times or name_of_it)
        for row in rows:
            table.add_row(*(cell(value) for value in row))
        self._print(table)

    def _print(self, what: RenderableType) -> None:
        self._console.print(what, overflow="fold")


def cell(value: Any, style: str = "") -> Text:
    """Anything as text that is only text."""
    if isinstance(value, Text):
        return value
    if isinstance(value, datetime):
        value = clock(value)
    return Text("" if value is None else visible(str(value)), style=style, overflow="fold")


def clock(moment: datetime) -> str:
    """A time, to the second, in UTC."""
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def compact(value: Any) -> str:
    """JSON on one line, complete to the last digit."""
    return json.dumps(value, ensure_ascii=False)
