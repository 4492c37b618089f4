"""Apps: which sagas they hold, and the codes of all definition errors."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import saga.definition
from saga import (
    App,
    BadInput,
    Saga,
)
from saga.definition import spec_digest
from tests.definition import order_flow
from tests.definition.order_flow import order, shipped
from tests.definition.trips import (
    code_of,
    step,
    trip,
)


@asynccontextmanager
async def lifespan() -> AsyncIterator[list[object]]:
    yield []


async def undecorated() -> AsyncIterator[list[object]]:
    yield []


def test_an_app_holds_each_version_of_a_saga_once() -> None:
    one, two = (Saga("trip", trip, [step()], version=n) for n in (1, 2))
    app = App(one, two, lifespan=lifespan)
    assert app.saga("trip") is two
    assert app.saga("trip", 1) is one
    assert code_of(lambda: App(one, Saga("trip", trip, [step()]))) == "duplicate-saga"
    assert code_of(lambda: App(one, one)) == "duplicate-saga"


def test_a_saga_that_an_app_does_not_have_is_bad_input_and_names_those_it_has() -> None:
    app = App(Saga("trip", trip, [step()]))
    with pytest.raises(BadInput, match=r"no saga 'tripp'\. It has: trip 1"):
        app.saga("tripp")
    with pytest.raises(BadInput, match="'trip' of version 7"):
        app.saga("trip", 7)
    with pytest.raises(BadInput, match="It has: none"):
        App().saga("trip")


@pytest.mark.parametrize("given", [undecorated, undecorated(), [], "x"], ids=range(4))
def test_a_lifespan_is_a_function_that_gives_a_context_manager(given: Any) -> None:
    assert code_of(lambda: App(Saga("trip", trip, [step()]), lifespan=given)) == "bad-app"


def test_an_app_is_made_of_sagas() -> None:
    assert code_of(lambda: App(step())) == "bad-app"  # type: ignore[arg-type]
    assert code_of(lambda: App([Saga("trip", trip, [step()])])) == "bad-app"  # type: ignore[arg-type]


def test_everything_prints_its_name_and_no_values() -> None:
    assert repr(order_flow.order_flow) == "<Saga order-flow 1>"
    assert repr(shipped) == "<Step ship>"
    assert repr(order_flow.app) == "<App of order-flow>"
    assert repr(order) == "<input: use bind(Model)(…)>"


# --- the codes -----------------------------------------------------------------------------


def test_every_code_of_a_definition_error_is_tested_by_its_name() -> None:
    """They are stable: somebody branches on them, a page explains them."""
    room = Path(saga.definition.__file__).parent
    source = "".join(path.read_text() for path in sorted(room.glob("*.py")))
    codes = set(re.findall(r'(?:DefinitionError|UnknownField)\(\s*"([a-z-]+)"', source))
    tests = "".join(path.read_text() for path in sorted(Path(__file__).parent.glob("test_*.py")))
    assert len(codes) > 30
    assert {code for code in codes if f'"{code}"' not in tests} == set()


def test_the_digest_can_be_computed_from_the_specification_alone() -> None:
    flow = order_flow.order_flow
    assert spec_digest(flow.spec()) == flow.digest()
