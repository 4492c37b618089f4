"""What a stored form can tell of JSON without the model."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel

from saga.definition.forms import misfit
from saga.definition.models import fields_of


class Proof(BaseModel):
    id: str
    count: int
    amount: Decimal
    at: datetime
    sure: bool = True
    note: str | None = None


FORMS = fields_of(Proof)
GOOD: dict[str, Any] = {"id": "x", "count": 2, "amount": "1.50", "at": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({}, None),
        ({"note": None, "sure": False, "amount": 3}, None),
        ({"id": 7}, "has 'id' as int, and that is no str"),
        ({"count": "2"}, "has 'count' as str, and that is no int"),
        ({"count": True}, "has 'count' as bool, and that is no int"),
        ({"amount": "zz"}, "has 'amount' as str, and that is no decimal"),
        ({"amount": 1.5}, "has 'amount' as float, and that is no decimal"),
        ({"amount": "NaN"}, "has 'amount' as str, and that is no decimal"),
        ({"bogus": 1}, "has no field 'bogus'; it has id, count, amount, at, sure, note"),
    ],
    ids=range(9),
)
def test_what_plainly_does_not_fit_is_said(change: dict[str, Any], fault: str | None) -> None:
    assert misfit(FORMS, GOOD | change) == fault


def test_a_list_is_no_receipt() -> None:
    assert misfit(FORMS, [1]) == "is list, and has the fields id, count, amount, at, sure, note"
