"""The specification and its digest: pinned."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from saga.definition import SagaSpec, canonical, digest, read_spec, spec_digest, strict_loads
from tests.definition.order_flow import order_flow

FIXTURE = Path(__file__).with_name("order_flow.json")
DIGEST = "sha256:8fa06a248fe56601cc77193b220906b2756eda34629845f90900a0964cccd8b2"


def test_the_order_flow_has_its_pinned_specification() -> None:
    """A change here is a change of what is stored: every database has these texts."""
    assert order_flow.spec() == strict_loads(FIXTURE.read_bytes())


def test_the_order_flow_has_its_pinned_digest() -> None:
    """Never adapt it to a change of the code: runs are pinned to it."""
    assert order_flow.digest() == DIGEST


@pytest.mark.parametrize("seed", ["0", "1"])
def test_specification_and_digest_are_the_same_in_every_process(seed: str) -> None:
    script = (
        "from tests.definition.order_flow import order_flow as flow;"
        "from saga.definition import digest; print(flow.digest(), digest(flow.spec()))"
    )
    there = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout.split() == [DIGEST, digest(strict_loads(FIXTURE.read_bytes()))]


def test_the_specification_survives_json_and_reads_as_the_machine_has_it() -> None:
    stored = json.loads(json.dumps(order_flow.spec()))
    read = read_spec(stored, spec_digest(stored))
    assert read == order_flow.machine_spec
    assert canonical(stored) == canonical(order_flow.spec())


def test_the_machine_reads_everything_that_was_declared() -> None:
    spec = order_flow.machine_spec
    assert isinstance(spec, SagaSpec)
    charge = spec.step("charge")
    assert charge.effect.label == "payments.charge@1"
    assert charge.effect.timeout == 20
    assert charge.effect.probe
    assert charge.effect.provider.key_life == 86_400
    assert charge.compensation is not None
    assert charge.compensation.deadline == 7 * 86_400
    assert charge.compensation.needs_receipt
    assert charge.compensation.retry.attempts == 10
    reserve = spec.step("reserve")
    assert reserve.compensation is not None
    assert not reserve.compensation.needs_receipt
    assert spec.deadline == 2 * 86_400


@pytest.mark.parametrize("part", ["format", "saga", "version", "deadline", "steps"])
def test_a_missing_part_is_an_error_and_no_default(part: str) -> None:
    spec = order_flow.spec()
    del spec[part]
    with pytest.raises(KeyError, match=part):
        read_spec(spec, "")


def test_a_step_that_is_not_there_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="nothing"):
        order_flow.machine_spec.step("nothing")


def test_a_specification_of_another_format_is_refused() -> None:
    with pytest.raises(ValueError, match="format 2"):
        read_spec(order_flow.spec() | {"format": 2}, "")
