"""Effects that return what the test wants returned, as receipts of any shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from saga import App, Call, Compensation, Effect, Provider, Retry, Saga, Step, Undo, input_of
from tests.cases.ledger import Ledger
from tests.cases.scripted import FAST, lifespan

__all__ = ["Anything", "Given", "returning"]


class Given(BaseModel):
    """An input that holds what JSON can hold."""

    number: int = 0
    share: float = 0.0
    text: str = ""
    deep: dict[str, list[dict[str, Any]]] = {}


class Anything(BaseModel):
    """A receipt that holds what JSON can hold."""

    text: str = ""
    number: int = 0
    share: float = 0.0
    deep: dict[str, Any] = {}


def returning(
    folder: str,
    answer: Callable[[Call[Given]], Any],
    *,
    provider: Provider | None = None,
    then: Callable[[Call[Given]], Any] | None = None,
    name: str = "odd",
    threaded: bool = False,
) -> App:
    """A saga whose first step lands and gives `answer(call)`; its second one is `then`."""
    given = input_of(Given)
    retry = Retry(**{**FAST, "attempts": 3})
    first = _answering(answer, threaded=threaded)
    one = Effect(
        f"{name}.first", first, args=Given, receipt=Anything, provider=provider, retry=retry
    )
    two = Effect(f"{name}.second", _following(then), args=Given, receipt=Anything, retry=retry)
    back = Compensation(f"{name}.undo", _undo, retry=retry)
    steps = [
        Step("s1", one, args=given, compensation=back),
        Step("s2", two, args=given, compensation=back),
    ]
    return App(Saga(name, given, steps), lifespan=lifespan(folder))


def _answering(answer: Callable[[Call[Given]], Any], *, threaded: bool) -> Callable[..., Any]:
    def plain(call: Call[Given]) -> Any:
        ledger = call.resource(Ledger)
        ledger.called(call)
        ledger.land(call)
        return answer(call)

    async def awaited(call: Call[Given]) -> Any:
        return plain(call)

    return plain if threaded else awaited


def _following(then: Callable[[Call[Given]], Any] | None) -> Callable[..., Any]:
    async def second(call: Call[Given]) -> Any:
        ledger = call.resource(Ledger)
        ledger.called(call)
        found = Anything() if then is None else then(call)
        ledger.land(call)
        return found

    return second


async def _undo(call: Undo[Given, Anything]) -> None:
    ledger = call.resource(Ledger)
    ledger.called(call, receipt=call.receipt.model_dump(mode="json"))
    ledger.land(call)
