"""A request that provably never left is not sent; whatever may have left is unknown."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator

import httpx2
import pytest

from saga import http
from saga.definition.answers import NotSent, Unknown
from saga.errors import DefinitionError
from tests.http.calling import call, opening, post, undo
from tests.http.raw_server import (
    raw_server,
    read_request,
    reply,
    say_then_stay_silent,
    stay_silent,
)


@contextlib.contextmanager
def full_listener() -> Iterator[str]:
    """Listens, but its queue is full and nobody accepts: a connection takes for ever."""
    with socket.socket() as listener, contextlib.ExitStack() as stack:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(3):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)  # noqa: FBT003
            with contextlib.suppress(BlockingIOError):
                waiting.connect(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def nobody_there() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    return f"http://127.0.0.1:{port}"


def test_nobody_listening_is_not_sent() -> None:
    with pytest.raises(NotSent, match=r"^cannot connect: ConnectError$") as not_sent:
        post(nobody_there())
    assert not_sent.value.retry_after is None


def test_a_name_that_does_not_resolve_is_not_sent() -> None:
    with pytest.raises(NotSent, match="ConnectError"):
        post("http://no-such-host.invalid")


def test_a_server_that_speaks_no_tls_is_not_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(NotSent, match="ConnectError"):
            post(f"https://127.0.0.1:{listener.getsockname()[1]}")
        thread.join()


def test_a_connection_that_takes_too_long_is_not_sent() -> None:
    timeout = httpx2.Timeout(5, connect=0.05)
    with full_listener() as url, pytest.raises(NotSent, match="ConnectTimeout"):
        post(url, timeout=timeout)


def test_connecting_gets_a_quarter_of_the_time_left_and_is_then_known_as_not_sent() -> None:
    with full_listener() as url, pytest.raises(NotSent, match="ConnectTimeout"):
        post(url, one=call(seconds=0.4), timeout=None)


def test_no_free_connection_is_not_sent() -> None:
    limits = httpx2.Limits(max_connections=1)

    async def main(url: str) -> None:
        async with opening(url, limits=limits, timeout=None) as client:
            first = asyncio.create_task(http.post(call(), "/a", json={}, client=client))
            assert await asyncio.to_thread(server.arrived.wait, 5)
            with pytest.raises(NotSent, match="PoolTimeout"):
                await http.post(call(seconds=0.2), "/b", json={}, client=client)
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first

    with raw_server(stay_silent) as server:
        asyncio.run(main(server.url))
        assert len(server.requests) == 1


def test_a_proxy_that_refuses_the_tunnel_is_not_sent() -> None:
    with raw_server(reply(407)) as proxy, pytest.raises(NotSent, match="ProxyError"):
        post("https://shop.invalid", proxy=proxy.url)


def test_after_the_deadline_nothing_is_sent() -> None:
    with raw_server(reply(200, b"{}")) as server:
        with pytest.raises(NotSent, match="deadline"):
            post(server.url, one=call(seconds=-0.001))
        assert server.requests == []


def test_silence_is_unknown_at_the_deadline_even_without_a_time_out_of_the_client() -> None:
    with raw_server(stay_silent) as server, pytest.raises(Unknown):
        post(server.url, one=call(seconds=0.1), timeout=None)


def test_a_body_that_never_ends_is_unknown_at_the_deadline() -> None:
    start = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
    with raw_server(say_then_stay_silent(start)) as server, pytest.raises(Unknown):
        post(server.url, one=call(seconds=0.1), timeout=None)


def test_a_request_that_cannot_be_written_is_unknown() -> None:
    """The server stops reading in the middle of a long body and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        gone = threading.Event()

        def read_a_little() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(100)
                gone.wait(5)

        thread = threading.Thread(target=read_a_little)
        thread.start()
        try:
            with pytest.raises(Unknown, match="WriteTimeout"):
                post(
                    f"http://127.0.0.1:{listener.getsockname()[1]}",
                    json={"x": "x" * 30_000_000},
                    timeout=httpx2.Timeout(5, write=0.1),
                )
        finally:
            gone.set()
            thread.join()


def test_a_connection_that_died_between_two_calls_is_not_resent_by_the_transport() -> None:
    """The server drops a kept connection as the next request arrives: that one may have acted."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        requests = []

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                requests.append(read_request(connection))
                connection.sendall(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                    b"Content-Length: 2\r\n\r\n{}"
                )
                requests.append(read_request(connection))
            listener.settimeout(0.2)
            with contextlib.suppress(TimeoutError):
                listener.accept()[0].close()
                requests.append(b"resent")

        async def main() -> None:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            async with opening(url) as client:
                assert await http.post(call(), "/a", json={}, client=client) == {}
                with pytest.raises(Unknown):
                    await http.post(call(), "/b", json={}, client=client)

        thread = threading.Thread(target=serve)
        thread.start()
        asyncio.run(main())
        thread.join()
    assert len(requests) == 2


def test_a_cancelled_call_stays_cancelled() -> None:
    async def main() -> None:
        async with opening(server.url) as client:
            task = asyncio.create_task(http.post(call(), "/charges", json={}, client=client))
            assert await asyncio.to_thread(server.arrived.wait, 5)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with raw_server(stay_silent) as server:
        asyncio.run(main())


def test_the_client_comes_from_the_lifespan_unless_it_is_given() -> None:
    async def main(url: str) -> None:
        async with opening(url) as client:
            assert await http.post(call(resources=(client,)), "/charges", json={}) == {}
            assert await http.post(undo(resources=("x", client)), "/refunds", json={}) == {}
        with pytest.raises(DefinitionError, match="AsyncClient"):
            await http.post(call(), "/charges", json={})

    with raw_server(reply(200, b"{}")) as server:
        asyncio.run(main(server.url))


def test_a_mistake_in_the_effect_is_not_dressed_up_as_a_result() -> None:
    async def main() -> None:
        async with opening() as client:
            with pytest.raises(httpx2.UnsupportedProtocol, match="missing"):
                await http.post(call(), "/charges", json={}, client=client)
            with pytest.raises(TypeError):
                await http.post(call(), "http://x.invalid", json={"x": object()}, client=client)

    asyncio.run(main())
