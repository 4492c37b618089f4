"""Sagas for agents and services: actions outside that cannot share a transaction, and their undos.

The public names, nothing else. What is not here may change at any time; `saga.http` and
`saga.testing` have public names of their own.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from saga.definition import (
    IDEMPOTENT,
    Absent,
    App,
    Approval,
    Call,
    CannotSay,
    Compensation,
    Each,
    Effect,
    InProgress,
    Irreversible,
    NothingToUndo,
    NotSent,
    Provider,
    Refused,
    Retry,
    Saga,
    Satisfied,
    Savepoint,
    Step,
    SubSaga,
    Undo,
    Unknown,
    Wait,
    bind,
    input_of,
    item_of,
)
from saga.errors import (
    BadInput,
    Conflict,
    DatabaseError,
    DefinitionError,
    NotAllowed,
    SagaError,
    Tampered,
    UnknownCase,
    UnknownRun,
)

if TYPE_CHECKING:
    from saga.client import Client
    from saga.inquiries.approvals import ApprovalView
    from saga.machine.settlement import Line
    from saga.orchestrator.orchestrator import Orchestrator
    from saga.reconciliation.cases import Case
    from saga.views import ActionView, Failure, ItemCounts, Run, StepView

# Imported when first used: a definition, or `saga --help`, needs no database library.
_LATER = {
    "ActionView": "saga.views",
    "ApprovalView": "saga.inquiries.approvals",
    "Case": "saga.reconciliation.cases",
    "Client": "saga.client",
    "Failure": "saga.views",
    "ItemCounts": "saga.views",
    "Line": "saga.machine.settlement",
    "Orchestrator": "saga.orchestrator.orchestrator",
    "Run": "saga.views",
    "StepView": "saga.views",
}

# One list a layer, so that each is extended where its names are imported.
__all__ = [  # noqa: RUF022 - by layer, from the definition up
    # saga.definition
    "IDEMPOTENT",
    "Absent",
    "App",
    "Approval",
    "Call",
    "CannotSay",
    "Compensation",
    "Each",
    "Effect",
    "InProgress",
    "Irreversible",
    "NothingToUndo",
    "NotSent",
    "Provider",
    "Refused",
    "Retry",
    "Saga",
    "Satisfied",
    "Savepoint",
    "Step",
    "SubSaga",
    "Undo",
    "Unknown",
    "Wait",
    "bind",
    "input_of",
    "item_of",
    # saga.errors
    "BadInput",
    "Conflict",
    "DatabaseError",
    "DefinitionError",
    "NotAllowed",
    "SagaError",
    "Tampered",
    "UnknownCase",
    "UnknownRun",
    # what runs them
    "ActionView",
    "ApprovalView",
    "Case",
    "Client",
    "Failure",
    "ItemCounts",
    "Line",
    "Orchestrator",
    "Run",
    "StepView",
]


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'saga' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
