from __future__ import annotations

import asyncio
import socket
import threading
import time

from saga.testing.moving import MovingClock, run_to_end


def test_a_sleep_of_a_day_moves_the_clock_and_takes_no_time() -> None:
    clock = MovingClock()
    before, began = clock.now(), time.monotonic()

    async def wait() -> None:
        await asyncio.sleep(86_400)

    run_to_end(clock, wait)
    assert clock.now() - before >= 86_400
    assert time.monotonic() - began < 5


def test_timers_fire_in_the_order_of_their_times() -> None:
    seen: list[str] = []

    async def both() -> None:
        async def after(seconds: float, name: str) -> None:
            await asyncio.sleep(seconds)
            seen.append(name)

        await asyncio.gather(after(3600, "late"), after(1, "soon"), after(60, "later"))

    run_to_end(MovingClock(), both)
    assert seen == ["soon", "later", "late"]


def test_inside_a_running_loop_it_runs_in_a_thread_of_its_own() -> None:
    threads: list[threading.Thread] = []

    async def inner() -> int:
        threads.append(threading.current_thread())
        return 4

    async def outer() -> int:
        return run_to_end(MovingClock(), inner)

    assert asyncio.run(outer()) == 4
    assert threads[0] is not threading.main_thread()


def test_an_error_comes_out_wherever_it_ran() -> None:
    async def broken() -> None:
        raise ValueError("as it is")

    async def outer() -> str:
        try:
            run_to_end(MovingClock(), broken)
        except ValueError as error:
            return str(error)
        return ""

    assert asyncio.run(outer()) == "as it is"


def test_what_is_given_to_an_executor_runs_at_once() -> None:
    async def inner() -> bool:
        here = threading.get_ident()
        return await asyncio.to_thread(threading.get_ident) == here

    assert run_to_end(MovingClock(), inner)


def test_a_real_socket_is_waited_for() -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)  # noqa: FBT003  the socket's own way

    async def listen() -> bytes:
        return await asyncio.wait_for(asyncio.get_running_loop().sock_recv(ours, 4), 60)

    with ours, theirs:
        threading.Timer(0.2, theirs.send, [b"real"]).start()
        assert run_to_end(MovingClock(), listen) == b"real"


def test_sleeping_on_the_clock_moves_it() -> None:
    clock = MovingClock()
    clock.sleep(5)
    clock.move(-1)
    assert clock.monotonic() == 5
