"""What a saga is: data. Contracts, steps, references, specification, digest, checks, drawing.

Nothing here touches a database, a clock or the network, and nothing calls user code, but for the
validators of its models.
"""

from saga.definition.advice import DefinitionWarning, warnings
from saga.definition.answers import (
    Absent,
    CannotSay,
    InProgress,
    NotSent,
    Refused,
    Satisfied,
    Unknown,
)
from saga.definition.approval import Approval
from saga.definition.bindings import bind
from saga.definition.calls import Call, Undo
from saga.definition.canonical import BadJson, canonical, digest, ensure_plain
from saga.definition.contracts import Compensation, Effect, Irreversible, NothingToUndo
from saga.definition.diff import Change, difference
from saga.definition.draw import draw
from saga.definition.each import Each
from saga.definition.keys import KEY_MAX, forward_key, target_hash, undo_key
from saga.definition.meaning import meaning, spec_digest
from saga.definition.names import NAME_MAX, RUN_ID_MAX, check_id
from saga.definition.read import read_spec
from saga.definition.references import input_of, item_of
from saga.definition.saga import App, Lifespan, Saga
from saga.definition.savepoint import Savepoint
from saga.definition.spec import (
    FORMAT,
    ContractSpec,
    ProviderSpec,
    RetrySpec,
    SagaSpec,
    StepSpec,
)
from saga.definition.step import Step
from saga.definition.strict_json import strict_loads
from saga.definition.subsaga import SubSaga
from saga.definition.tuning import IDEMPOTENT, Duration, Provider, Retry, seconds
from saga.definition.values import (
    arguments,
    arguments_json,
    read_arguments,
    read_input,
    read_receipt,
    receipt_json,
)
from saga.definition.wait import Wait

__all__ = [
    "FORMAT",
    "IDEMPOTENT",
    "KEY_MAX",
    "NAME_MAX",
    "RUN_ID_MAX",
    "Absent",
    "App",
    "Approval",
    "BadJson",
    "Call",
    "CannotSay",
    "Change",
    "Compensation",
    "ContractSpec",
    "DefinitionWarning",
    "Duration",
    "Each",
    "Effect",
    "InProgress",
    "Irreversible",
    "Lifespan",
    "NotSent",
    "NothingToUndo",
    "Provider",
    "ProviderSpec",
    "Refused",
    "Retry",
    "RetrySpec",
    "Saga",
    "SagaSpec",
    "Satisfied",
    "Savepoint",
    "Step",
    "StepSpec",
    "SubSaga",
    "Undo",
    "Unknown",
    "Wait",
    "arguments",
    "arguments_json",
    "bind",
    "canonical",
    "check_id",
    "difference",
    "digest",
    "draw",
    "ensure_plain",
    "forward_key",
    "input_of",
    "item_of",
    "meaning",
    "read_arguments",
    "read_input",
    "read_receipt",
    "read_spec",
    "receipt_json",
    "seconds",
    "spec_digest",
    "strict_loads",
    "target_hash",
    "undo_key",
    "warnings",
]
