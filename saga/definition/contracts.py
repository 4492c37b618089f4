"""Contracts: an effect, the compensation that takes it back, and the two ways to have none.

A contract is `name@version`: change what it means outside, and it needs a new version. Its tuning
(time-out, retries, provider facts, probe) may change at any time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from types import MappingProxyType, UnionType
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel

from saga.definition.answers import Absent, CannotSay, InProgress, Satisfied
from saga.definition.budget import Cost, check_cost
from saga.definition.calls import Call, Undo
from saga.definition.classes import classified
from saga.definition.models import check_amounts, check_target, fields_of
from saga.definition.names import check_name, check_text, check_version
from saga.definition.signatures import (
    blocks,
    check_probe,
    check_residual,
    compensation_models,
    effect_models,
    may_be_satisfied,
    read_signature,
)
from saga.definition.tuning import (
    UNDECLARED,
    Duration,
    Provider,
    Retry,
    check_concurrency,
    seconds,
)
from saga.errors import DefinitionError

__all__ = ["Compensation", "Effect", "Irreversible", "NothingToUndo"]

A = TypeVar("A", bound=BaseModel)
R = TypeVar("R", bound=BaseModel)
A_contra = TypeVar("A_contra", bound=BaseModel, contravariant=True)
R_contra = TypeVar("R_contra", bound="BaseModel | None", contravariant=True)

_TIMEOUT = timedelta(seconds=30)
_TIMEOUT_MAX = 86_400.0


class Effect(Generic[A, R]):
    """A contract with one outside action.

    `do` is given a `Call[A]` and returns the receipt `R`, or `Satisfied(evidence)`; it may be async
    or plain (`threaded`: it runs in a thread). It raises `Refused`, `NotSent` or one of the
    exceptions declared in `refused=` and `not_sent=`; everything else is unknown. `probe` asks the
    provider what became of the call's key. `args` and `receipt` are the models, where the
    annotations do not say them. `target` names the argument fields that say which business object
    this is about; they are part of the key. `timeout` (a `timedelta` or seconds, at most a day)
    cuts the call off, and the probe. `deadline` is the time from its intent until which it may be
    sent again; `None`: no end but its attempts. `cost` says what it uses up of the units of a
    `Budget`: by unit a field of the arguments (`Decimal` or int), or always so much. `concurrency`:
    at most so many calls and probes of it at once, in one process; `None`: no limit but that of its
    provider.

    Raises `DefinitionError`. Nothing is imported or called.
    """

    def __init__(
        self,
        name: str,
        do: Callable[[Call[A]], Awaitable[R | Satisfied] | R | Satisfied],
        *,
        args: type[A] | None = None,
        receipt: type[R] | None = None,
        version: int = 1,
        probe: Callable[
            [Call[A]],
            Awaitable[R | Absent | InProgress | CannotSay] | R | Absent | InProgress | CannotSay,
        ]
        | None = None,
        target: Sequence[str] = (),
        refused: Sequence[type[Exception]] = (),
        not_sent: Sequence[type[Exception]] = (),
        timeout: Duration = _TIMEOUT,
        provider: Provider | None = None,
        retry: Retry = Retry(),
        deadline: Duration | None = None,
        cost: Cost = MappingProxyType({}),
        concurrency: int | None = None,
    ) -> None:
        self.name = check_name("effect", name)
        what = f"effect {name!r}"
        self.version = check_version(what, version)
        self.do = do
        signature = read_signature(do, what)
        models = effect_models(signature, args, receipt)
        self.may_be_satisfied = may_be_satisfied(signature)
        self.args = cast("type[A]", models[0])
        self.receipt = cast("type[R]", models[1])
        check_amounts(self.args, what)
        self.threaded = blocks(do)
        self.probe = probe
        self.probe_threaded = probe is not None and blocks(probe)
        if probe is not None:
            check_probe(probe, Call, (self.args,), what)
        self.target = _target(target, what)
        check_target(self.args, self.target, what)
        self.cost = check_cost(self.args, cost, what)
        self.refused, self.not_sent = classified(refused, not_sent, what)
        self.timeout = seconds(timeout, f"{what}: timeout", longest=_TIMEOUT_MAX)
        self.provider = _provider(provider, what)
        self.retry = _retry(retry, what)
        self.deadline = None if deadline is None else seconds(deadline, f"{what}: deadline")
        self.concurrency = check_concurrency(what, concurrency)

    @property
    def label(self) -> str:
        """`name@version`, as it stands in keys, digests and pages."""
        return f"{self.name}@{self.version}"

    def target_of(self, args: Mapping[str, Any]) -> list[Any]:
        """The target values in the JSON of arguments, in the order of `target`."""
        return [args[name] for name in self.target]

    def spec(self) -> dict[str, Any]:
        """This contract in the specification: plain JSON, durations in seconds."""
        return {
            **_contract_spec(self),
            "args": fields_of(self.args),
            "receipt": fields_of(self.receipt),
            "target": list(self.target),
            "deadline": self.deadline,
        }

    def __repr__(self) -> str:
        return f"<Effect {self.label}>"


class Compensation(Generic[A_contra, R_contra]):
    """A contract that takes an effect back in meaning: a refund for a charge.

    `do` is given an `Undo[A, R]` with the arguments and the receipt of the action to reverse; it is
    called only with a receipt, unless it takes `Undo[A, R | None]` (or `receipt=R | None`). What it
    returns, a model or `None`, is kept as the receipt of the undo. `residual` names the field of
    that model which says what could not be given back (the fee that a refund keeps); the settlement
    of the run shows it. `deadline` (a `timedelta` or seconds) is the time from its intent to a case
    in front of a person; `None`: no end but its attempts. Everything else is as in `Effect`. Raises
    `DefinitionError`.
    """

    def __init__(
        self,
        name: str,
        do: Callable[[Undo[A_contra, R_contra]], Awaitable[BaseModel | None] | BaseModel | None],
        *,
        args: type[A_contra] | None = None,
        receipt: type[R_contra] | UnionType | None = None,
        version: int = 1,
        probe: Callable[
            [Undo[A_contra, R_contra]],
            Awaitable[BaseModel | Absent | InProgress | CannotSay]
            | BaseModel
            | Absent
            | InProgress
            | CannotSay,
        ]
        | None = None,
        refused: Sequence[type[Exception]] = (),
        not_sent: Sequence[type[Exception]] = (),
        timeout: Duration = _TIMEOUT,
        provider: Provider | None = None,
        retry: Retry = Retry(attempts=10),
        deadline: Duration | None = None,
        residual: str | None = None,
        concurrency: int | None = None,
    ) -> None:
        self.name = check_name("compensation", name)
        what = f"compensation {name!r}"
        self.version = check_version(what, version)
        self.do = do
        self.args, self.receipt, self.needs_receipt = compensation_models(
            read_signature(do, what), args, receipt
        )
        self.threaded = blocks(do)
        self.probe = probe
        self.probe_threaded = probe is not None and blocks(probe)
        if probe is not None:
            check_probe(probe, Undo, (self.args, self.receipt), what)
        self.refused, self.not_sent = classified(refused, not_sent, what)
        self.timeout = seconds(timeout, f"{what}: timeout", longest=_TIMEOUT_MAX)
        self.provider = _provider(provider, what)
        self.retry = _retry(retry, what)
        self.deadline = None if deadline is None else seconds(deadline, f"{what}: deadline")
        self.concurrency = check_concurrency(what, concurrency)
        self.residual = residual
        if residual is not None:
            check_residual(read_signature(do, what), residual)

    @property
    def label(self) -> str:
        """`name@version`, as it stands in keys, digests and pages."""
        return f"{self.name}@{self.version}"

    def spec(self) -> dict[str, Any]:
        """This contract in the specification: plain JSON, durations in seconds."""
        return {
            "kind": "compensation",
            **_contract_spec(self),
            "needs_receipt": self.needs_receipt,
            "deadline": self.deadline,
            **({} if self.residual is None else {"residual": self.residual}),
        }

    def __repr__(self) -> str:
        return f"<Compensation {self.label}>"


@dataclass(frozen=True)
class NothingToUndo:
    """In place of a compensation: the effect leaves nothing behind. `reason` is shown to people."""

    reason: str

    def __post_init__(self) -> None:
        check_text("reason of NothingToUndo", self.reason, empty=False)

    def spec(self) -> dict[str, Any]:
        """This declaration in the specification."""
        return {"kind": "nothing", "reason": self.reason}


@dataclass(frozen=True)
class Irreversible:
    """In place of a compensation: it cannot be taken back. `reason` is shown to people."""

    reason: str

    def __post_init__(self) -> None:
        check_text("reason of Irreversible", self.reason, empty=False)

    def spec(self) -> dict[str, Any]:
        """This declaration in the specification."""
        return {"kind": "irreversible", "reason": self.reason}


def _contract_spec(contract: Effect[Any, Any] | Compensation[Any, Any]) -> dict[str, Any]:
    return {
        "name": contract.name,
        "version": contract.version,
        "probe": contract.probe is not None,
        "timeout": contract.timeout,
        "provider": _declared(asdict(contract.provider.spec)),
        "retry": asdict(contract.retry.spec),
        **({} if contract.concurrency is None else {"concurrency": contract.concurrency}),
    }


def _declared(provider: dict[str, Any]) -> dict[str, Any]:
    """What is not declared is not stored."""
    if provider["concurrency"] is None:
        del provider["concurrency"]
    return provider


def _target(target: Sequence[str], what: str) -> tuple[str, ...]:
    if isinstance(target, str):
        raise DefinitionError(
            "bad-target", f"{what}: target is one text", remedy=f"Write target=[{target!r}]"
        )
    names = tuple(target)
    if len(set(names)) != len(names):
        raise DefinitionError(
            "bad-target", f"{what}: a target field stands twice", remedy="Name each field once"
        )
    return names


def _provider(provider: object, what: str) -> Provider:
    if provider is None:
        return UNDECLARED
    if not isinstance(provider, Provider):
        raise DefinitionError(
            "bad-provider", f"{what}: provider is no Provider", remedy='Write Provider("name", …)'
        )
    return provider


def _retry(retry: object, what: str) -> Retry:
    if not isinstance(retry, Retry):
        raise DefinitionError(
            "bad-retry", f"{what}: retry is no Retry", remedy="Write Retry(attempts=…)"
        )
    return retry
