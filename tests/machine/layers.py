"""Which layers find each seeded fault of the machine: `python -m tests.machine.layers [WORD ...]`.

The layers: the decision *table*; a *law* on one of the walks; the *model* of the protocol, walked
alongside; the *unit* tests of the machine. A fault that only one of them finds is found by chance.
Takes about 40 minutes for 100 faults; `tests.reliability` quotes the counts.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

from tests.machine.block_mutations import BLOCK_MUTATIONS
from tests.machine.edits import edited
from tests.machine.late_mutations import LATE_MUTATIONS
from tests.machine.list_mutations import LIST_MUTATIONS
from tests.machine.mutations import MUTATIONS, Mutation
from tests.machine.path_mutations import PATH_MUTATIONS

__all__ = ["FAULTS", "found_by"]

FAULTS: dict[str, Mutation] = (
    MUTATIONS | LATE_MUTATIONS | BLOCK_MUTATIONS | PATH_MUTATIONS | LIST_MUTATIONS
)

_PATIENCE = 12.0  # seconds of this process, walking for one fault


def found_by(mutation: Mutation) -> list[str]:
    """The layers that see the fault."""
    found: list[str] = []
    with edited(mutation.module, mutation.old, mutation.new) as judging:
        found += ["table"] * (judging.fault("") is not None)
        found += ["law"] * _walked(judging.fault, judging.WALKS, mutation.walk)
    with edited(mutation.module, mutation.old, mutation.new, also=("tests.protocol",)) as judging:
        found += ["model"] * judging.differs_from_the_model()
    found += ["unit"] * _unit(mutation)
    return found


def _walked(fault: Callable[[str], str | None], walks: dict[str, object], first: str) -> bool:
    """The walk that was named for it, then others, the small ones and those of its kind first."""
    end = time.process_time() + _PATIENCE
    names = [first] * bool(first) + sorted(walks, key=lambda name: (name.count(">"), len(name)))
    for name in names:
        if fault(name) is not None:
            return True
        if time.process_time() > end:
            return False
    return False


def _unit(mutation: Mutation) -> bool:
    """The unit tests of the machine fail in a process of its own."""
    script = (
        "import sys, pytest\n"
        "from tests.machine.edits import install\n"
        f"install({mutation.module!r}, {mutation.old!r}, {mutation.new!r})\n"
        "sys.exit(pytest.main(['-q', '-x', '-p', 'no:cacheprovider', 'tests/machine',\n"
        "    '--ignore=tests/machine/test_walk.py', '--ignore=tests/machine/test_mutations.py',\n"
        "    '--ignore=tests/machine/test_table.py',\n"
        "    '--ignore=tests/machine/test_properties.py']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=False, timeout=300
    )
    return done.returncode == 1


def main(words: list[str]) -> int:
    """Print a line for each fault; 1 if one is found by no layer."""
    chosen = {
        name: fault
        for name, fault in FAULTS.items()
        if not words or any(word in name for word in words)
    }
    counts = {name: found_by(fault) for name, fault in chosen.items()}
    for name, layers in counts.items():
        sys.stdout.write(f"{name}: {', '.join(layers) or 'NOT FOUND'}\n")
    twice = sum(len(layers) > 1 for layers in counts.values())
    none = sum(not layers for layers in counts.values())
    told = f"{len(counts)} seeded faults, {twice} found by two layers or more, {none} by none"
    sys.stdout.write(f"{told}\n")
    return 1 if none else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
