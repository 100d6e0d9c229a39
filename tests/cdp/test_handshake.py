"""From an address to an open websocket: what is asked, how long is waited, and what each failure means."""

from __future__ import annotations

import socket
import struct
import sys

import pytest
import trio
from websockets.datastructures import Headers
from websockets.exceptions import InvalidStatus
from websockets.http11 import Response

from nlm_cdp.cdp import handshake
from nlm_cdp.cdp.connection import connection_over, open_connection
from nlm_cdp.cdp.generated import browser
from nlm_cdp.errors import ChromeApprovalDenied, ChromeDebuggingOff, ChromeLost, ChromeNotFound, NlmError

URL = "ws://127.0.0.1:9222/devtools/browser/0"


async def open_over(stream) -> None:
    async with connection_over(stream, URL):
        pytest.fail("it must not open")


async def refusal(wire, answer: bytes, *, hang_up: bool = False) -> NlmError:
    """The error that becomes of an upgrade answered like this."""
    stream, chrome = wire
    async with trio.open_nursery() as nursery:

        async def respond() -> None:
            await chrome.knock()
            await chrome.write(answer)
            if hang_up:
                await chrome.stream.aclose()

        nursery.start_soon(respond)
        with pytest.raises(NlmError) as caught:
            await open_over(stream)
    with pytest.raises(trio.ClosedResourceError):
        await stream.receive_some()
    return caught.value


def http(status: int, body: str = "", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}", *(f"{k}: {v}" for k, v in headers.items())]
    return "\r\n".join([*lines, "", body]).encode()


async def test_the_upgrade_asks_for_nothing_chrome_would_refuse(wire) -> None:
    stream, chrome = wire
    async with trio.open_nursery() as nursery:
        nursery.start_soon(chrome.accept)
        async with connection_over(stream, URL) as connection:
            assert not connection.closed
    assert chrome.request.path == "/devtools/browser/0"
    assert {name.lower() for name in chrome.request.headers} == {
        "host",
        "upgrade",
        "connection",
        "sec-websocket-key",
        "sec-websocket-version",
    }


async def test_chrome_may_take_minutes_to_ask_the_user(wire) -> None:
    stream, chrome = wire
    async with trio.open_nursery() as nursery:

        async def allow_at_last() -> None:
            await chrome.knock()
            await trio.sleep(1200)
            await chrome.accept()
            await chrome.answer(protocolVersion="1.3", product="C", revision="", userAgent="", jsVersion="")

        nursery.start_soon(allow_at_last)
        async with connection_over(stream, URL) as connection:
            assert trio.current_time() >= 1200
            assert (await connection.execute(browser.get_version()))[1] == "C"


async def test_a_wait_for_the_user_can_be_cancelled(wire) -> None:
    stream, chrome = wire
    with trio.move_on_after(60) as scope:
        await open_over(stream)
    assert scope.cancelled_caught
    await chrome.knock()
    with pytest.raises(trio.BrokenResourceError):
        await chrome.write(b"x")


async def test_cancel_in_chromes_dialog(wire) -> None:
    error = await refusal(wire, http(403, "Rejected an incoming WebSocket connection.\r\n"))
    assert type(error) is ChromeApprovalDenied
    assert error.message == "Chrome refused the debugging connection: Rejected an incoming WebSocket connection."


@pytest.mark.parametrize("body", ["", "<html>blocked by your proxy</html>", "\0\1\2"])
async def test_only_plain_words_are_quoted(wire, body: str) -> None:
    assert (await refusal(wire, http(403, body))).message == "Chrome refused the debugging connection."


@pytest.mark.parametrize(
    ("answer", "hang_up", "kind", "said"),
    [
        (http(404), False, ChromeDebuggingOff, "answers HTTP 404."),
        (http(500, "Host header is specified and is not an IP address."), False, ChromeDebuggingOff, "HTTP 500: Host"),
        (http(302, Location="ws://evil.test/"), False, ChromeDebuggingOff, "HTTP 302"),
        (http(200, "hello"), False, ChromeDebuggingOff, "HTTP 200: hello"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", False, ChromeDebuggingOff, "does not speak the protocol"),
        (b"\x16\x03\x01\x02\x00\x01\xfc\x03\x03\r\n", False, ChromeDebuggingOff, "does not speak the protocol"),
        (b"x" * 20_000, False, ChromeDebuggingOff, "does not speak the protocol"),
        (
            http(101, Upgrade="websocket", Connection="Upgrade"),
            False,
            ChromeDebuggingOff,
            "does not speak the protocol",
        ),
        (http(101), False, ChromeDebuggingOff, "does not speak the protocol"),
        (b"", True, ChromeLost, "hung up before"),
        (b"HTTP/1.1 101 Swi", True, ChromeLost, "hung up before"),
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 10\r\n\r\n", True, ChromeLost, "hung up before"),
    ],
)
async def test_every_other_answer_is_a_plain_error(wire, answer, hang_up, kind, said) -> None:
    error = await refusal(wire, answer, hang_up=hang_up)
    assert type(error) is kind
    assert said in error.message
    assert error.hint


async def test_a_stream_that_is_dead_already_is_a_plain_error(wire) -> None:
    stream, chrome = wire
    await chrome.stream.aclose()
    with pytest.raises(ChromeLost):
        await open_over(stream)


def test_a_refusal_is_no_longer_than_a_line() -> None:
    error = handshake.refusal(InvalidStatus(Response(403, "Forbidden", Headers(), b"word " * 1000)))
    assert len(error.message) < 400


# Over TCP


@pytest.fixture
def listener(monkeypatch):
    """Listeners of real ports, with every proxy variable set to a trap."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "WS_PROXY", "SOCKS_PROXY"):
        monkeypatch.setenv(name, "socks5h://127.0.0.1:9")
        monkeypatch.setenv(name.lower(), "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "fe11::/16,::1")

    async def listen(host: str) -> trio.SocketListener:
        (found,) = await trio.open_tcp_listeners(0, host=host)
        return found

    return listen


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


@pytest.mark.realtime
@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", pytest.param("::1", marks=pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6"))],
)
async def test_localhost_is_found_directly_on_either_loopback(listener, fake, host: str) -> None:
    async with await listener(host) as listening, trio.open_nursery() as nursery:

        async def serve() -> None:
            async with await listening.accept() as stream:
                chrome = fake(stream)
                await chrome.accept()
                await chrome.answer(protocolVersion="1.3", product="C", revision="", userAgent="", jsVersion="")
                await chrome.read()

        nursery.start_soon(serve)
        port = listening.socket.getsockname()[1]
        async with open_connection(f"ws://localhost:{port}/devtools/browser/0") as connection:
            assert (await connection.execute(browser.get_version()))[1] == "C"


@pytest.mark.realtime
async def test_nothing_listens(listener) -> None:
    async with await listener("127.0.0.1") as listening:
        port = listening.socket.getsockname()[1]
    for host in ("127.0.0.1", "localhost"):
        with pytest.raises(ChromeNotFound, match=rf"^Nothing answers at {host}:{port}\.$"):
            async with open_connection(f"ws://{host}:{port}/"):
                pytest.fail("it must not open")


@pytest.mark.realtime
async def test_a_reset_connection_ends_its_calls(listener, fake) -> None:
    async with await listener("127.0.0.1") as listening, trio.open_nursery() as nursery:

        async def serve() -> None:
            stream = await listening.accept()
            chrome = fake(stream)
            await chrome.accept()
            await chrome.hear()
            linger = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)  # closing resets the connection
            stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            stream.socket.close()

        nursery.start_soon(serve)
        async with open_connection(f"ws://127.0.0.1:{listening.socket.getsockname()[1]}/") as connection:
            with pytest.raises(ChromeLost):
                await connection.execute(browser.get_version())


@pytest.mark.parametrize(
    "url", ["", "9222", "http://127.0.0.1:9222/", "ws://", "ws://127.0.0.1:port/", "ws://h:99999/"]
)
async def test_what_is_no_websocket_address_is_not_dialled(url: str) -> None:
    with pytest.raises(ChromeNotFound, match="is not a websocket address"):
        await handshake.dial(url)


async def test_a_dial_that_leads_nowhere_ends(monkeypatch) -> None:
    async def black_hole(host: str, port: int) -> None:
        await trio.sleep_forever()

    monkeypatch.setattr(trio, "open_tcp_stream", black_hole)
    with pytest.raises(ChromeNotFound):
        await handshake.dial("ws://192.0.2.1:9222/")
    assert trio.current_time() == handshake.DIAL_S
