"""MCP over trio's memory streams: what the bytes are, what becomes of bad ones, and every way to end."""

from __future__ import annotations

import json
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import mcp_types
import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.server.lowlevel import Server

from nlm_cdp.mcp.jsonrpc import LineBuffer, MalformedMessage, decode, encode, serve
from tests.mcp.serving import serve_over

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

PING = {"jsonrpc": "2.0", "id": "ping", "method": "ping"}
PONG = {"jsonrpc": "2.0", "id": "ping", "result": {}}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


def call(request_id: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


def cancel(request_id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}


class Tools:
    """A server of three tools, and what became of their calls."""

    def __init__(self, **options: Any) -> None:
        self.started: list[str] = []
        self.finished: list[str] = []
        self.server: Server[Any] = Server("test", on_call_tool=self.on_call, **options)

    async def on_call(self, ctx: Any, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        arguments = params.arguments or {}
        self.started.append(params.name)
        try:
            match params.name:
                case "echo":
                    text = arguments["text"]
                case "sleep":
                    await trio.sleep(arguments["seconds"])
                    text = "slept"
                case "ask":
                    await ctx.session.send_ping()
                    text = "asked"
                case other:
                    raise AssertionError(other)
        finally:
            self.finished.append(params.name)
        return mcp_types.CallToolResult(content=[mcp_types.TextContent(type="text", text=text)])


class Client:
    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self.lines = LineBuffer()
        self.messages: list[dict[str, Any]] = []
        self.received = b""

    async def send(self, *messages: dict[str, Any]) -> None:
        await self.stream.send_all(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    async def receive(self) -> dict[str, Any] | None:
        while not self.messages:
            chunk = await self.stream.receive_some()
            if not chunk:
                return None
            self.received += chunk
            self.messages += [json.loads(line) for line in self.lines.feed(bytes(chunk))]
        return self.messages.pop(0)

    async def receive_rest(self) -> list[dict[str, Any]]:
        rest = []
        while message := await self.receive():
            rest.append(message)
        return rest

    async def close_input(self) -> None:
        assert isinstance(self.stream, trio.StapledStream)
        await self.stream.send_stream.aclose()


@asynccontextmanager
async def connected(tools: Tools) -> AsyncIterator[Client]:
    """A client that has shaken hands with a running server, which must end by itself once the block has."""
    ours, theirs = trio.testing.memory_stream_pair()

    async def run() -> None:
        await serve_over(tools.server, theirs)
        await theirs.aclose()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        client = Client(ours)
        await client.send(INITIALIZE, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        answer = await client.receive()
        assert answer is not None
        assert answer["id"] == 0
        yield client
        await client.close_input()


def text_of(answer: dict[str, Any] | None) -> str:
    assert answer is not None
    text: str = answer["result"]["content"][0]["text"]
    return text


# Bytes


@settings(deadline=None)
@given(st.binary(), st.lists(st.integers(min_value=0), max_size=20))
def test_lines_do_not_depend_on_chunks(data: bytes, cuts: list[int]) -> None:
    buffer, lines = LineBuffer(), []
    edges = sorted(cut % (len(data) + 1) for cut in cuts)
    for start, end in zip([0, *edges], [*edges, len(data)], strict=True):
        lines += buffer.feed(data[start:end])
    assert [*lines, bytes(buffer.rest)] == data.split(b"\n")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', mcp_types.PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\xbd"}', mcp_types.PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"', mcp_types.PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}', mcp_types.PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}', mcp_types.PARSE_ERROR),
        (b"[" * 200_000, mcp_types.PARSE_ERROR),
        (b"hello", mcp_types.PARSE_ERROR),
        (b"{}", mcp_types.INVALID_REQUEST),
        (b"17", mcp_types.INVALID_REQUEST),
        (b"null", mcp_types.INVALID_REQUEST),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', mcp_types.INVALID_REQUEST),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', mcp_types.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', mcp_types.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', mcp_types.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', mcp_types.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', mcp_types.INVALID_REQUEST),
    ],
    ids=lambda value: value[:40].decode("latin-1") if isinstance(value, bytes) else str(value),
)
def test_a_line_that_is_no_message_says_why(line: bytes, code: int) -> None:
    with pytest.raises(MalformedMessage) as caught:
        decode(line)
    answer = json.loads(encode(caught.value.answer))
    assert answer["id"] is None
    assert answer["error"]["code"] == code


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (rb"bad \ud83d end", "bad \ufffd end"),
        (rb"bad \uD83D\uD83D end", "bad \ufffd\ufffd end"),
        (rb"bad \ude00\ud83d end", "bad \ufffd\ufffd end"),
        (rb"good \ud83d\ude00 end", "good \U0001f600 end"),
        ("good 😀 end".encode(), "good \U0001f600 end"),
        (rb"text \\ud83d end", r"text \ud83d end"),
    ],
)
def test_surrogates_in_arguments(written: bytes, read: str) -> None:
    message = decode(b'{"jsonrpc":"2.0","method":"m","params":{"%s":["%s"]}}\r' % (written, written))
    assert message.model_dump()["params"] == {read: [read]}


def test_a_byte_order_mark_is_no_damage() -> None:
    assert decode(b"\xef\xbb\xbf" + json.dumps(PING).encode()).model_dump(exclude_unset=True) == PING


@settings(deadline=None)
@given(st.recursive(st.text() | st.integers(-(2**53), 2**53) | st.none(), st.lists, max_leaves=5))
def test_what_is_written_is_one_line_and_reads_the_same(value: Any) -> None:
    message = mcp_types.JSONRPCResponse(jsonrpc="2.0", id=1, result={"value": value})
    line = encode(message)
    assert re.fullmatch(rb"[^\x00-\x1f]+\n", line)
    assert decode(line) == message


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("bad \ud83d end", "bad \ufffd end"),
        ("joined \ud83d\ude00 end", "joined 😀 end"),
        ("plain → — “ 🧪", "plain → — “ 🧪"),
        ("line\u2028separated\u2029twice", r"line\u2028separated\u2029twice"),
    ],
)
def test_surrogates_and_separators_in_answers(text: str, written: str) -> None:
    line = encode(mcp_types.JSONRPCResponse(jsonrpc="2.0", id=1, result={text: text}))
    assert line.decode() == f'{{"jsonrpc":"2.0","id":1,"result":{{"{written}":"{written}"}}}}\n'


# Requests


async def test_chunks_line_ends_and_blank_lines() -> None:
    async with connected(Tools()) as client:
        for byte in json.dumps(PING).encode() + b"\r\n":
            await client.stream.send_all(bytes([byte]))
        assert await client.receive() == PONG
        ping = json.dumps(PING).encode()
        await client.stream.send_all(b"\n\r\n  \n" + ping + b"\r\n\n" + ping + b"\n" + ping[:9])
        assert [await client.receive(), await client.receive()] == [PONG, PONG]
        await client.stream.send_all(ping[9:] + b"\n")
        assert await client.receive() == PONG
        assert b"\r" not in client.received


async def test_a_huge_line_passes_both_ways() -> None:
    huge = "0123456789→" * 400_000
    async with connected(Tools()) as client:
        await client.send(call(1, "echo", text=huge))
        assert text_of(await client.receive()) == huge


async def test_surrogates_pass_through_a_tool() -> None:
    async with connected(Tools()) as client:
        await client.stream.send_all(json.dumps(call(1, "echo", text="a\ud83db😀")).encode() + b"\n")
        assert text_of(await client.receive()) == "a\ufffdb😀"


async def test_a_bad_line_costs_only_itself() -> None:
    async with connected(Tools()) as client:
        for bad, code in (
            (b"\xff\n", -32700),
            (b"{]\r\n", -32700),
            (b"[" * 100_000 + b"\n", -32700),
            (b"{}\n", -32600),
        ):
            await client.stream.send_all(bad)
            answer = await client.receive()
            assert answer is not None
            assert (answer["id"], answer["error"]["code"]) == (None, code)
            await client.send(PING)
            assert await client.receive() == PONG


async def test_a_bad_first_line_is_answered() -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve_over, Tools().server, theirs)
        client = Client(ours)
        await ours.send_all(b"hello\n")
        answer = await client.receive()
        assert answer is not None
        assert answer["error"]["code"] == -32700
        await client.send(PING)
        assert await client.receive() == PONG
        await client.close_input()


async def test_an_answer_that_cannot_be_written_costs_only_its_request(monkeypatch: pytest.MonkeyPatch) -> None:
    def encode_but_one(message: mcp_types.JSONRPCMessage) -> bytes:
        if isinstance(message, mcp_types.JSONRPCResponse) and message.id == 1:
            raise RecursionError
        return encode(message)

    monkeypatch.setattr("nlm_cdp.mcp.jsonrpc.encode", encode_but_one)
    async with connected(Tools()) as client:
        await client.send(call(1, "echo", text=""), PING)
        answers = {message["id"]: message for message in [await client.receive(), await client.receive()] if message}
        assert answers[1]["error"]["code"] == mcp_types.INTERNAL_ERROR
        assert answers["ping"] == PONG


# Cancellation


async def test_a_cancelled_call_is_never_answered_and_others_go_on() -> None:
    tools = Tools()
    async with connected(tools) as client:
        await client.send(call(7, "sleep", seconds=60), call(8, "sleep", seconds=2), cancel(7))
        await client.send(cancel(7), cancel("no such id"), cancel(99), PING)
        assert await client.receive() == PONG
        assert tools.finished == ["sleep"]
        assert text_of(await client.receive()) == "slept"
        await trio.sleep(100)
        await client.close_input()
        assert await client.receive_rest() == []


@pytest.mark.parametrize("milliseconds", range(-25, 25))
async def test_cancel_and_completion_cross(milliseconds: int) -> None:
    async with connected(Tools()) as client:
        await client.send(call(7, "sleep", seconds=1))
        await trio.sleep(1 + milliseconds / 5000)
        await client.send(cancel(7), cancel(7), PING)
        await trio.sleep(1)
        await client.close_input()
        answers = await client.receive_rest()
    assert PONG in answers
    assert len(answers) <= 2
    if milliseconds < 0:
        assert answers == [PONG]
    if milliseconds > 0:
        assert text_of(answers[0]) == "slept"


# Ends


async def test_idle_end_of_input_ends_at_once() -> None:
    async with connected(Tools()) as client:
        await client.close_input()
        before = trio.current_time()
        assert await client.receive_rest() == []
        assert trio.current_time() == before


async def test_end_of_input_lets_quick_calls_finish_and_cancels_slow_ones() -> None:
    tools = Tools()
    async with connected(tools) as client:
        await client.send(call(1, "sleep", seconds=0.4), call(2, "sleep", seconds=60))
        # the last line need not end
        await client.stream.send_all(json.dumps(call(3, "echo", text="last")).encode())
        await client.close_input()
        before = trio.current_time()
        answers = {message["id"]: message for message in await client.receive_rest()}
        assert trio.current_time() - before == pytest.approx(0.5)
    assert text_of(answers[1]) == "slept"
    assert text_of(answers[3]) == "last"
    assert answers[2]["error"]["message"] == "Connection closed"
    assert tools.finished == ["echo", "sleep", "sleep"]


async def test_end_of_input_does_not_wait_for_cancelled_calls() -> None:
    async with connected(Tools()) as client:
        await client.send(call(1, "sleep", seconds=60), cancel(1))
        await client.close_input()
        before = trio.current_time()
        assert await client.receive_rest() == []
        assert trio.current_time() == before


async def test_cancelling_the_server_answers_what_it_stops() -> None:
    tools = Tools()
    ours, theirs = trio.testing.memory_stream_pair()
    client = Client(ours)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve_over, tools.server, theirs)
        await client.send(INITIALIZE, call(1, "sleep", seconds=60))
        await client.receive()
        await trio.testing.wait_all_tasks_blocked()
        assert tools.started == ["sleep"]
        nursery.cancel_scope.cancel()
    assert tools.finished == ["sleep"]
    answer = await client.receive()
    assert answer is not None
    assert (answer["id"], answer["error"]["message"]) == (1, "Connection closed")


@pytest.mark.parametrize("end", ["input", "cancel"])
@pytest.mark.parametrize("tool", ["sleep", "ask"])
async def test_a_client_that_stops_reading_holds_nothing_up(end: str, tool: str) -> None:
    tools = Tools()
    ours, theirs = trio.testing.memory_stream_pair()
    stuck = trio.Event()

    async def send(data: bytes) -> None:
        if b'"id":1,' in data:
            stuck.set()
            await trio.sleep_forever()
        await theirs.send_all(data)

    client = Client(ours)
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve_over, tools.server, theirs, send)
            await client.send(INITIALIZE, call(1, "echo", text=""), call(2, tool, seconds=60), call(3, "echo", text=""))
            await stuck.wait()
            await trio.testing.wait_all_tasks_blocked()
            await client.send(call(4, "sleep", seconds=0.1))
            await trio.sleep(0.2)
            assert sorted(tools.finished) == ["echo", "echo", "sleep"]
            before = trio.current_time()
            if end == "input":
                await client.close_input()
            else:
                scope.cancel()
    assert sorted(tools.finished) == sorted(["echo", "echo", "sleep", tool])
    assert trio.current_time() - before < 2


async def test_a_broken_output_ends_quietly() -> None:
    tools = Tools()
    async with connected(tools) as client:
        await client.send(call(1, "sleep", seconds=60), call(2, "sleep", seconds=1))
        assert isinstance(client.stream, trio.StapledStream)
        await client.stream.receive_stream.aclose()
    assert tools.finished == ["sleep", "sleep"]


async def test_a_failing_stream_raises_its_own_error() -> None:
    async def receive() -> bytes:
        raise OSError("disk on fire")

    async def send(data: bytes) -> None:
        raise AssertionError(data)

    with pytest.raises(OSError, match="disk on fire"):
        await serve(Tools().server, receive, send)


async def test_failures_at_the_same_time_raise_one_and_name_the_other() -> None:
    @asynccontextmanager
    async def lifespan(_server: Server[Any]) -> AsyncIterator[None]:
        try:
            yield
        finally:
            raise ValueError("lifespan")

    async def receive() -> bytes:
        raise OSError("input")

    async def send(data: bytes) -> None:
        raise AssertionError(data)

    with pytest.raises((OSError, ValueError)) as caught:
        await serve(Tools(lifespan=lifespan).server, receive, send)
    assert not isinstance(caught.value, BaseExceptionGroup)
    assert len(caught.value.__notes__) == 1


async def test_a_lifespan_that_does_not_start_raises_its_own_error() -> None:
    @asynccontextmanager
    async def lifespan(_server: Server[Any]) -> AsyncIterator[None]:
        raise ValueError("no start")
        yield

    _, theirs = trio.testing.memory_stream_pair()
    with pytest.raises(ValueError, match="no start"):
        await serve_over(Tools(lifespan=lifespan).server, theirs)


@pytest.mark.parametrize("seconds", [0.5, 60])
async def test_a_lifespan_has_a_second_to_end(seconds: float) -> None:
    tidied_up = []

    @asynccontextmanager
    async def lifespan(_server: Server[Any]) -> AsyncIterator[None]:
        yield
        await trio.sleep(seconds)
        tidied_up.append(seconds)

    async with connected(Tools(lifespan=lifespan)) as client:
        await client.close_input()
        before = trio.current_time()
        await client.receive_rest()
        assert trio.current_time() - before == min(seconds, 1)
    assert tidied_up == [0.5] * (seconds == 0.5)
