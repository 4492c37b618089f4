"""One command line: play, tell, judge.

The judge has looked before anything is printed, and whatever was started has ended by then.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.text import Text

from examples.order_flow.demo.interruptions import Interruptions
from examples.order_flow.demo.judging import effects_by_order, judge
from examples.order_flow.demo.play import play
from examples.order_flow.demo.stage import DATABASE, LEDGER, Trouble, client_of
from examples.order_flow.demo.tales import TALES
from examples.order_flow.demo.telling import Line, heading, rows
from examples.order_flow.shop import read_effects
from saga import SagaError, UnknownRun

__all__ = ["run"]

_LEGEND = (
    "+1 has landed, -1 was taken back. Nothing landed twice; nothing is left over.",
    "What was unknown was not taken as failed and not sent again blindly: saga asked.",
    "",
)


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 dev.py demo",
        description="Real orders at a real shop, with orchestrators killed on the way. Then the"
        " journal of each run is compared with the shop's own ledger.",
        epilog="Exit codes: 0 they agree, 1 they do not or it could not be played, 130 Ctrl-C.",
    )
    one = parser.add_mutually_exclusive_group()
    one.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="leave the files in this new or empty folder"
    )
    one.add_argument(
        "--judge", type=Path, metavar="FOLDER", help="play nothing; compare what was kept there"
    )
    options = parser.parse_args(argv)
    if options.keep is not None and not _free(options.keep):
        parser.error(f"{options.keep} is there and not an empty folder: give another one")
    for name in (DATABASE, LEDGER):
        if options.judge is not None and not (options.judge / name).is_file():
            parser.error(f"no {name} in {options.judge}: make one with --keep {options.judge}")
    return options


def _free(folder: Path) -> bool:
    return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))


def run(argv: Sequence[str] | None = None) -> int:
    """Do what the command line asks for; the exit code."""
    options = _options(argv)
    interruptions = Interruptions()
    try:
        with interruptions.listening():
            return _carry_out(options, interruptions)
    except Exception as trouble:
        if interruptions.received is not None:  # it may have reached the shop first: no trouble
            _complain(f"{interruptions.received.name}: all that was started has been ended")
            return 128 + interruptions.received
        if not isinstance(trouble, Trouble | OSError | SagaError | subprocess.SubprocessError):
            raise
        _complain(f"the demo could not go on: {trouble}")
        return 1


def _carry_out(options: argparse.Namespace, interruptions: Interruptions) -> int:
    if options.judge is not None:
        return _report(options.judge.absolute())
    with _folder(options.keep) as folder:
        play(folder, interruptions)
        code = _report(folder)
    if options.keep is not None:
        _print([Line(f"Kept in {options.keep}. There: saga runs, saga show killed-mid")])
    return code


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    """Where the files are: in the folder that was asked for, or in one that goes away."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep.absolute()
        return
    with tempfile.TemporaryDirectory(prefix="saga-demo-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _report(folder: Path) -> int:
    """Print the table and what the judge says."""
    complaints = judge(folder)
    effects = read_effects(folder / LEDGER)
    lines = [*heading(), *_orders(folder)]
    if complaints:
        lines += [Line("LEDGER AND RUNS DISAGREE:", "bold red")]
        lines += [Line(f"  {one}", "red") for one in complaints]
    else:
        counted = f"{len(effects)} effects of {len(TALES)} orders"
        lines += [Line(text) for text in _LEGEND]
        lines += [Line(f"Ledger and runs agree: {counted}; no law is broken.", "bold green")]
    _print(lines)
    return 1 if complaints else 0


def _orders(folder: Path) -> Iterator[Line]:
    orders = effects_by_order(read_effects(folder / LEDGER))
    client = client_of(folder)
    try:
        for tale in TALES:
            effects = orders.get(tale.id, [])
            try:
                run = client.show(tale.id)
                records = [] if run.damaged else client.journal(tale.id)
            except UnknownRun:
                yield Line(f"{tale.id}: no such run", "bold red")
                continue
            yield from rows(tale, run, records, effects)
    finally:
        client.close()


def _print(lines: Sequence[Line]) -> None:
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    try:
        for line in lines:
            console.print(Text(line.text, line.style))
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
