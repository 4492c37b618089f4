"""Time that moves instead of passing: a clock that is set forward, and a loop that sets it.

Where nothing is ready to run, the loop moves its clock to the next timer. So a wait of a day costs
nothing, and the same program gives the same run. Only where somebody waits for a real file or
socket does time pass as usual.
"""

from __future__ import annotations

import asyncio
import selectors
import threading
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

from saga.clock import Clock

__all__ = ["MovingClock", "MovingLoop", "run_to_end"]

T = TypeVar("T")

# A whole number of seconds, so that sums with small waits stay exact for longer.
_BEGINNING = 1_800_000_000.0


class MovingClock(Clock):
    """A clock that stands still until somebody moves it. Starts in January 2027."""

    def __init__(self, at: float = _BEGINNING) -> None:
        self._beginning = at
        self._moved = 0.0

    def now(self) -> float:
        """Unix time in seconds, UTC."""
        return self._beginning + self._moved

    def monotonic(self) -> float:
        """Seconds moved since the beginning."""
        return self._moved

    def heard(self, said: float) -> float:  # noqa: ARG002  as in the base
        """Here no time passes but ours."""
        return self.now()

    def sleep(self, seconds: float) -> None:
        """Time moves; nobody waits."""
        self.move(seconds)

    def move(self, seconds: float) -> None:
        """Set it forward. It never goes back."""
        self._moved += max(seconds, 0.0)

    def set(self, moved: float) -> None:
        """Set it to a moment that `monotonic` has told, also to one that is past."""
        self._moved = moved


class MovingLoop(asyncio.SelectorEventLoop):
    """An event loop on a moving clock. What is given to an executor runs at once, in its thread."""

    def __init__(self, clock: MovingClock) -> None:
        self._clock = clock
        self._thread = threading.get_ident()
        super().__init__(_Moving(clock))

    def time(self) -> float:
        """The clock's, so that timers and due times agree."""
        return self._clock.monotonic()

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.Handle:
        """From its own thread nobody needs to be woken."""
        if threading.get_ident() == self._thread:
            return self.call_soon(callback, *args, context=context)
        return super().call_soon_threadsafe(callback, *args, context=context)

    def run_in_executor(  # type: ignore[override]
        self,
        executor: Any,  # noqa: ARG002  as in the base
        func: Callable[..., T],
        *args: Any,
    ) -> asyncio.Future[T]:
        """Run it now: a second thread would come in between at a different place each time."""
        done: asyncio.Future[T] = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001  it belongs to whoever awaits
            done.set_exception(error)
        return done


class _Moving(selectors.BaseSelector):
    """A selector that moves the clock where a real one would sleep."""

    def __init__(self, clock: MovingClock) -> None:
        self._clock = clock
        self._real = selectors.DefaultSelector()

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.modify(fileobj, events, data)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._real.get_map()

    def close(self) -> None:
        self._real.close()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        # One file is the loop's own, to be woken by other threads.
        alone = len(self.get_map()) <= 1
        if timeout is None or (timeout > 0 and not alone):
            return self._wait(timeout)
        ready = self._real.select(0)
        if not ready and timeout > 0:
            self._clock.move(timeout)
        return ready

    def _wait(self, timeout: float | None) -> list[tuple[selectors.SelectorKey, int]]:
        real = Clock()
        began = real.monotonic()
        ready = self._real.select(timeout)
        self._clock.move(real.monotonic() - began)
        return ready


def run_to_end(clock: MovingClock, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine on a moving loop; in a thread of its own where this one has a loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(clock, work)
    answers: list[T] = []
    errors: list[BaseException] = []

    def elsewhere() -> None:
        try:
            answers.append(_run(clock, work))
        except BaseException as error:  # noqa: BLE001  it is raised where it belongs
            errors.append(error)

    thread = threading.Thread(target=elsewhere, name="saga-testing")
    thread.start()
    thread.join()
    for error in errors:
        raise error
    return answers[0]


def _run(clock: MovingClock, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    with asyncio.Runner(loop_factory=lambda: MovingLoop(clock)) as runner:
        return runner.run(work())
