"""The tests of the machine are tested: a fault in it does not pass them."""

from __future__ import annotations

import pytest

from tests.machine import mutations
from tests.machine.block_mutations import BLOCK_MUTATIONS
from tests.machine.edits import edited
from tests.machine.judging import fault
from tests.machine.late_mutations import LATE_MUTATIONS
from tests.machine.list_mutations import LIST_MUTATIONS
from tests.machine.path_mutations import PATH_MUTATIONS

MUTATIONS = (
    mutations.MUTATIONS
    | LATE_MUTATIONS
    | PATH_MUTATIONS
    | {
        name: fault
        for name, fault in (BLOCK_MUTATIONS | LIST_MUTATIONS).items()
        if fault.by.startswith(("law", "table"))  # the others: `python -m tests.machine.layers`
    }
)


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_fault_in_the_machine_is_found_by_the_table_or_a_law(name: str) -> None:
    mutation = MUTATIONS[name]
    assert max(mutation.old.count("\n"), mutation.new.count("\n")) < 5
    with edited(mutation.module, mutation.old, mutation.new) as judging:
        assert judging.fault(mutation.walk) == mutation.by


@pytest.mark.parametrize("walk", sorted({mutation.walk for mutation in MUTATIONS.values()}))
def test_the_machine_itself_has_none_of_these_faults(walk: str) -> None:
    assert fault(walk) is None
