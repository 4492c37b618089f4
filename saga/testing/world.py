"""The ledger world: fake providers in memory, with a ledger of what really landed.

    world = World()
    book_hotel = world.effect("hotel.book", book, provider=Provider("hotel", key_life=86_400))
    drop_hotel = world.compensation("hotel.drop", drop)
    world.meets("hotel.book", Fate.LOSE_REPLY)      # the first request acts, its answer is lost

`book` makes the receipt, once per effect; it may raise `Refused` or `NotSent`. Everything else
comes from the provider's own facts: whether a repeated key is the same effect and for how long,
when an effect shows in a probe. The ledger is what `check_laws` takes. With `watch=url` an observer
checks the laws at every call, against that database and through a connection of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypedDict, TypeVar, Unpack, cast

from pydantic import BaseModel

from saga.clock import Clock
from saga.definition.answers import Absent, NotSent, Refused
from saga.definition.calls import Call, Undo
from saga.definition.contracts import Compensation, Effect
from saga.definition.saga import Saga
from saga.definition.signatures import (
    blocks,
    compensation_models,
    effect_models,
    read_signature,
)
from saga.definition.tuning import UNDECLARED, Duration, Provider, Retry
from saga.journal.database import Database
from saga.settings import Settings
from saga.testing.observer import Observer
from saga.testing.outside import Answer, Facts, Fate, NoAnswer, Outside
from saga.testing.violation import Violation

__all__ = ["World", "worlds_of"]

A = TypeVar("A", bound=BaseModel)
R = TypeVar("R", bound=BaseModel)
R_undo = TypeVar("R_undo", bound="BaseModel | None")


class _EffectOptions(TypedDict, total=False):
    version: int
    target: Sequence[str]
    refused: Sequence[type[Exception]]
    not_sent: Sequence[type[Exception]]
    timeout: Duration
    retry: Retry


class _CompensationOptions(TypedDict, total=False):
    version: int
    refused: Sequence[type[Exception]]
    not_sent: Sequence[type[Exception]]
    timeout: Duration
    retry: Retry
    deadline: Duration | None


class World:
    """Everything outside. May be used from several threads."""

    def __init__(self, *, watch: str | None = None, clock: Clock | None = None) -> None:
        self.outside = Outside(clock or Clock())
        self.requests = 0
        self.probes = 0
        # What the explorer sets: it announces each call, and says what becomes of it.
        self.gate: Callable[[Call[Any]], Fate | None] | None = None
        self._watch = watch
        self._observer: Observer | None = None
        self._unannounced: list[Violation] = []
        self._lock = threading.Lock()

    @property
    def ledger(self) -> list[dict[str, Any]]:
        """What landed, undos too, in landing order: `{key, run_id, step, of_key, at}`."""
        return self.outside.ledger()

    @property
    def violations(self) -> list[Violation]:
        """What was seen at the calls: laws that did not hold then."""
        seen = self._observer.violations if self._observer is not None else []
        return [*seen, *self._unannounced]

    def meets(self, name: str, *fates: Fate, then: Fate = Fate.ACT) -> None:
        """What becomes of the next requests of the contract `name`, one by one, and `then`."""
        self.outside.plan(name, fates, then)

    def effect(
        self,
        name: str,
        do: Callable[[Call[A]], Awaitable[R] | R],
        *,
        provider: Provider = UNDECLARED,
        probe: bool = True,
        keys: bool | None = None,
        **options: Unpack[_EffectOptions],
    ) -> Effect[A, R]:
        """An effect at a fake provider. `do` makes its receipt; `probe`: it can be asked by key.

        `keys` says whether it really honours keys, where that is not what `provider` promises.
        Everything else is as in `Effect`. It is async, or in a thread, as `do` is.
        """
        args, receipt = effect_models(read_signature(do, f"effect {name!r}"), None, None)
        desk = self._desk(name, do, provider, keys, options.get("refused", ()))
        return Effect(
            name,
            cast("Callable[[Call[A]], Awaitable[R] | R]", desk),
            args=cast("type[A]", args),
            receipt=cast("type[R]", receipt),
            provider=provider,
            probe=desk.find if probe else None,
            **options,
        )

    def compensation(
        self,
        name: str,
        do: Callable[[Undo[A, R_undo]], Awaitable[BaseModel | None] | BaseModel | None],
        *,
        provider: Provider = UNDECLARED,
        probe: bool = True,
        keys: bool | None = None,
        **options: Unpack[_CompensationOptions],
    ) -> Compensation[A, R_undo]:
        """A compensation at a fake provider; as `effect`."""
        args, receipt, needed = compensation_models(
            read_signature(do, f"compensation {name!r}"), None, None
        )
        desk = self._desk(name, do, provider, keys, options.get("refused", ()))
        return Compensation(
            name,
            desk,
            args=cast("type[A]", args),
            receipt=cast("type[R_undo]", receipt if needed else receipt | None),
            provider=provider,
            probe=desk.find if probe else None,
            **options,
        )

    # ---- inside

    def _desk(
        self,
        name: str,
        do: Callable[[Any], Any],
        provider: Provider,
        keys: bool | None,  # noqa: FBT001  as users give it, by name
        refused: Sequence[type[Exception]],
    ) -> _Desk:
        honours = provider.spec.honours_keys if keys is None else keys
        kind = _ThreadedDesk if blocks(do) else _Desk
        return kind(self, name, do, Facts(provider.spec, honours), (Refused, *refused))

    def _arrives(self, call: Call[Any], *, probe: bool) -> Fate:
        """A call has come out of the orchestrator: count it, check it."""
        with self._lock:
            if probe:
                self.probes += 1
            else:
                self.requests += 1
            fate = Fate.ACT if self.gate is None else self.gate(call)
            if fate is None:
                text = f"a call of {call.key} that did not come the one way to a call"
                self._unannounced.append(Violation(1, call.run_id, text))
            if self._watch is not None:
                self._watching(self._watch).at_call(call, probe=probe)
        return fate or Fate.ACT

    def _watching(self, url: str) -> Observer:
        if self._observer is None:
            database = Database(url, Settings().keyring(), clock=self.outside.clock)
            self._observer = Observer(database, database.now)
        return self._observer


class _Desk:
    """Where one contract is served. Called like the function of an effect."""

    def __init__(
        self,
        world: World,
        name: str,
        make: Callable[[Any], Any],
        facts: Facts,
        refused: tuple[type[Exception], ...],
    ) -> None:
        self.world = world
        self._outside = world.outside
        self._name = name
        self._make = make
        self._facts = facts
        self._refused = refused

    async def __call__(self, call: Any) -> Any:
        fate = self._enter(call)
        answer = self._outside.known(call, self._facts)
        try:
            receipt = await self._make(call) if answer is None else answer.receipt
        except self._refused as refusal:
            return self._leave(call, fate, answer, None, refusal)
        return self._leave(call, fate, answer, receipt, None)

    async def find(self, call: Any) -> Any:
        """The probe: what the provider shows under the call's key."""
        return self._show(call)

    def _enter(self, call: Any) -> Fate:
        fate = self.world._arrives(call, probe=False)  # noqa: SLF001  a world and its desks
        fate = self._outside.fate(self._name) if fate is Fate.ACT else fate
        if fate is Fate.NOT_SENT:
            raise NotSent("the connection was refused")
        if fate is Fate.LOSE_REQUEST:
            raise NoAnswer
        return fate

    def _strange(self, receipt: Any) -> Any:
        """The reply to a request of somebody else."""
        echoes = {"idempotency_key", "intent_digest"} & set(type(receipt).model_fields)
        if not echoes:
            raise NoAnswer
        return receipt.model_copy(update=dict.fromkeys(echoes, "of somebody else"))

    def _leave(
        self, call: Any, fate: Fate, known: Answer | None, receipt: Any, refusal: Exception | None
    ) -> Any:
        if fate is Fate.MISDIRECT:
            return self._strange(receipt)
        answer = known
        if answer is None:
            if fate is Fate.REFUSE:
                receipt, refusal = None, Refused("told to refuse")
            answer = Answer(call.digest, self._outside.clock.now(), receipt, refusal)
            if fate in (Fate.LATE, Fate.STRAGGLE):
                self._outside.delay(call, self._facts, answer, fate)
            else:
                self._outside.act(call, answer)
        if fate in (Fate.LATE, Fate.STRAGGLE, Fate.LOSE_REPLY):
            raise NoAnswer
        if answer.refusal is not None:
            raise answer.refusal
        return answer.receipt

    def _show(self, call: Any) -> Any:
        self.world._arrives(call, probe=True)  # noqa: SLF001  as above
        answer = self._outside.shown(call, self._facts)
        return Absent() if answer is None else answer.receipt


class _ThreadedDesk(_Desk):
    """The same for a function that is not async."""

    def __call__(self, call: Any) -> Any:
        fate = self._enter(call)
        answer = self._outside.known(call, self._facts)
        try:
            receipt = self._make(call) if answer is None else answer.receipt
        except self._refused as refusal:
            return self._leave(call, fate, answer, None, refusal)
        return self._leave(call, fate, answer, receipt, None)

    def find(self, call: Any) -> Any:
        return self._show(call)


def worlds_of(sagas: Iterable[Saga[Any]]) -> list[World]:
    """The worlds in which the effects of these sagas are made, each once."""
    found: list[World] = []
    for saga in sagas:
        for step in (choice for one in saga.steps for choice in one.choices):
            for contract in (step.effect, step.compensation):
                desk = getattr(contract, "do", None)
                if isinstance(desk, _Desk) and desk.world not in found:
                    found.append(desk.world)
    return found
