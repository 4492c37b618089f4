"""The one way to a call: an attempt or a probe, made once, cut off at its deadline, answered once.

Nothing is called without a durable sending, after its `send_by`, or when the lease is over. Async
functions run as one task each; sync ones on threads of our own, where they cannot be cut off: then
the attempt is unknown and still running until its thread returns.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from inspect import isawaitable, iscoroutine
from typing import Any, TypeAlias

from saga.clock import Clock
from saga.machine.commands import ProbeAnswer, Reply
from saga.machine.state import Action
from saga.orchestrator.compiled import Side
from saga.orchestrator.describe import describe
from saga.orchestrator.held import Held, Outgoing
from saga.orchestrator.lanes import Lanes, Place
from saga.orchestrator.letters import Letter
from saga.orchestrator.outcome import Result, answer_of, result_of, timed_out
from saga.orchestrator.threads import Ended, Turn

__all__ = ["Caller"]

_SWALLOW_SECONDS = 1.0  # how long a cancelled task may take before it counts as still running

_Function: TypeAlias = Callable[[Any], Any]
_log = logging.getLogger("saga")


class Caller:
    """Makes calls for runs and hands what became of them to `deliver`."""

    def __init__(
        self,
        clock: Clock,
        lanes: Lanes,
        resources: Sequence[object],
        deliver: Callable[[Held, Letter], None],
        may_call: Callable[[], bool],
    ) -> None:
        self._clock = clock
        self._lanes = lanes
        self._resources = resources
        self._deliver = deliver
        self._may_call = may_call
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()  # as the lifespan left it; a copy for each call
        self._tasks: set[asyncio.Task[Any]] = set()
        self._in_threads: set[asyncio.Task[Any]] = set()
        self._cancelling = False
        self.stuck = 0  # sync calls that have outlived their deadline

    @property
    def busy(self) -> bool:
        """Whether a call or probe of an async function, or one in time, is under way."""
        return bool(self._tasks)

    def send(self, held: Held, outgoing: Outgoing) -> None:
        """Make an attempt whose sending is durable."""
        held.calls.add((outgoing.key, outgoing.attempt))
        self._start(self._send(held, outgoing), (held.run_id, outgoing.key, outgoing.attempt))

    def ask(self, held: Held, key: str) -> None:
        """Probe an action by its key."""
        held.probes.add(key)
        self._lanes.seat_probe(held, key)
        self._start(self._ask(held, key), (held.run_id, key, 0))

    def cancel_all(self, *, threads: bool = True) -> None:
        """Cut off whatever is in flight: unknown, as after a crash.

        What runs in a thread goes on there. Without `threads` it is still heard when it returns.
        """
        self._cancelling = True
        for task in self._tasks if threads else self._tasks - self._in_threads:
            task.cancel()

    async def settled(self, within: float) -> None:
        """Wait until nothing is in flight, at most `within` seconds."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=within)

    def _start(self, work: Any, place: Place) -> None:
        task = self._loop.create_task(work, context=self._context.copy())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if place in self._lanes:
            task.add_done_callback(lambda _: self._lanes.ended(place))

    async def _send(self, held: Held, outgoing: Outgoing) -> None:
        try:
            await self._attempt(held, outgoing)
        except Exception as error:  # noqa: BLE001  whatever it is, nobody waits for an answer in vain
            _log.exception("run %s: an attempt broke", held.run_id)
            self._reply(held, outgoing, Result("unknown", error=describe(error)))

    async def _attempt(self, held: Held, outgoing: Outgoing) -> None:
        action = held.state.actions[outgoing.key]
        side = held.saga.step_of(action).side(action.direction)
        if not self._may_call():
            held.calls.discard((outgoing.key, outgoing.attempt))
            return  # the lease is over; whoever has the run finds the sending and asks
        remaining = outgoing.cut_off - self._clock.monotonic()
        if remaining <= 0 or self._clock.local(self._clock.now()) >= outgoing.deadline:
            self._reply(held, outgoing, _not_made("its record was durable only after its deadline"))
            return
        built = self._built(held, action, outgoing.attempt, outgoing.deadline)
        if built.error is not None:
            told = describe(built.error)
            why = f"its call could not be built: {told['type']}: {told['text']}"
            self._reply(held, outgoing, _not_made(why))
            return
        call = built.value

        def overdue() -> None:
            self._reply(held, outgoing, timed_out(side.contract.timeout), running=True)

        ended = await self._run(side.contract.do, call, side.threaded, remaining, overdue)
        if not ended.begun:
            self._reply(held, outgoing, _not_made("no thread was free before its deadline"))
        elif isinstance(ended.error, _CutOff):
            self._reply(held, outgoing, timed_out(side.contract.timeout))
        else:
            result = result_of(
                side.contract,
                side.receipt_json,
                call,
                ended.value,
                ended.error,
                self._clock.now(),
            )
            cut_off = self._cancelling and isinstance(ended.error, asyncio.CancelledError)
            self._reply(held, outgoing, result, interrupted=cut_off)

    def _built(self, held: Held, action: Action, attempt: int, deadline: float) -> Ended:
        """The call as a value; a model's validators are user code, so this may end in anything."""
        side = held.saga.step_of(action).side(action.direction)
        try:
            return Ended(value=side.call(held.state, action, attempt, deadline, self._resources))
        except BaseException as error:  # noqa: BLE001  as said
            return Ended(error=error)

    def _reply(
        self,
        held: Held,
        outgoing: Outgoing,
        result: Result,
        *,
        running: bool = False,
        interrupted: bool = False,
    ) -> None:
        if not running:
            held.calls.discard((outgoing.key, outgoing.attempt))
        letter = Letter(
            lambda at: Reply(
                at=at,
                key=outgoing.key,
                attempt=outgoing.attempt,
                result=result.name,
                receipt=result.receipt,
                error=result.error,
                retry_after=result.retry_after,
                running=running,
                interrupted=interrupted,
                conflict=result.conflict,
            ),
            attempt=(outgoing.key, outgoing.attempt),
        )
        self._deliver(held, letter)

    async def _ask(self, held: Held, key: str) -> None:
        action: Action = held.state.actions[key]
        side: Side = held.saga.step_of(action).side(action.direction)
        probe, started = side.contract.probe, self._clock.now()
        if probe is None or not self._may_call():
            held.probes.discard(key)
            return
        timeout = side.contract.timeout
        deadline = self._clock.local(started) + timeout
        ended = built = self._built(held, action, action.attempts, deadline)
        call = built.value
        try:
            if built.error is None:
                ended = await self._run(probe, call, side.probe_threaded, timeout, lambda: None)
        except Exception as error:  # noqa: BLE001  nobody waits for an answer in vain
            ended = Ended(error=error)
        if isinstance(ended.error, _CutOff) or not ended.begun:
            ended.error = TimeoutError(f"no answer within {timeout:g} s")
        answer = answer_of(side.receipt_json, call, ended.value, ended.error)
        held.probes.discard(key)
        letter = Letter(
            lambda at: ProbeAnswer(
                at=at,
                key=key,
                started=started,
                answer=answer.name,
                receipt=answer.receipt,
                reason=answer.reason,
            ),
            asked=key,
        )
        self._deliver(held, letter)

    def _run(
        self,
        function: _Function,
        call: Any,
        threaded: bool,  # noqa: FBT001
        seconds: float,
        overdue: Callable[[], None],
    ) -> Coroutine[Any, Any, Ended]:
        """Run user code to its end; `overdue` is called if it goes on after its time."""
        run = self._run_threaded if threaded else self._run_async
        return run(function, call, seconds, overdue)

    async def _run_async(
        self, function: _Function, call: Any, seconds: float, overdue: Callable[[], None]
    ) -> Ended:
        task = asyncio.current_task(self._loop)
        assert task is not None
        cut: list[asyncio.TimerHandle] = []

        def cut_off() -> None:
            cut.append(self._loop.call_later(_SWALLOW_SECONDS, overdue))
            task.cancel()

        timer = self._loop.call_later(seconds, cut_off)
        try:
            value = await function(call)
            if iscoroutine(value):
                value.close()  # it stays an answer of the wrong type, without a warning later on
            return Ended(value=value)
        except asyncio.CancelledError as error:
            return Ended(error=_CutOff() if cut else error)
        except BaseException as error:  # noqa: BLE001  whatever user code raises becomes a result
            return Ended(error=error)
        finally:
            timer.cancel()
            for handle in cut:
                handle.cancel()

    async def _run_threaded(
        self, function: _Function, call: Any, seconds: float, overdue: Callable[[], None]
    ) -> Ended:
        turn, began = Turn(function, call), self._clock.monotonic()
        done = self._loop.create_future()

        def work() -> None:
            ended = turn.take()
            with suppress(RuntimeError):  # the loop has been closed; nobody waits any more
                self._loop.call_soon_threadsafe(_resolve, done, ended)

        if (task := asyncio.current_task()) is not None:
            self._in_threads.add(task)
            task.add_done_callback(self._in_threads.discard)
        self._lanes.threads.submit(work)
        await asyncio.wait([done], timeout=seconds)
        if not done.done():
            if not turn.abandon():
                return Ended(begun=False)
            overdue()
            self.stuck += 1
            try:
                await done
            finally:
                self.stuck -= 1
        ended: Ended = done.result()
        if ended.error is None and isawaitable(ended.value):
            value, left = ended.value, seconds - (self._clock.monotonic() - began)
            if left > 0:
                return await self._run_async(lambda _: value, call, left, overdue)
            if iscoroutine(value):
                value.close()
            return Ended(error=_CutOff())
        return ended


class _CutOff(Exception):
    """Our own cancellation at the deadline, as opposed to user code that cancels itself."""


def _resolve(done: asyncio.Future[Ended], ended: Ended) -> None:
    if not done.done():
        done.set_result(ended)


def _not_made(why: str) -> Result:
    """We know that this attempt did nothing, since we did not make it."""
    return Result(
        "not_sent", error={"type": "NotSent", "text": f"the call was not made: {why}", "leaves": []}
    )
