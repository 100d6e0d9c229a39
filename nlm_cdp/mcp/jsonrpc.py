r"""An MCP server over any pair of byte streams.

The SDK's server speaks message objects; here they become lines and back: UTF-8, one JSON object a line, `\n` alone,
whatever a platform's code page says. What no encoding or parser accepts is repaired (a lone surrogate) or answered
with an error (a line that is no message), and costs nothing else.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import anyio
import mcp_types
import trio
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse
from pydantic import ValidationError

from nlm_cdp.groups import leaves
from nlm_cdp.text import well_formed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from mcp.server.lowlevel import Server
    from mcp_types import JSONRPCMessage, RequestId

ANSWER_S = 0.5  # after the end of input, for the requests already read: `printf ... | nlm-cdp serve` gets its answers
CLOSE_S = 1.0  # then, for the server to wind down
FLUSH_S = 0.4  # at last, for what is still being written

SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class MalformedMessage(Exception):
    """A line that is no JSON-RPC message, and the JSON-RPC error that answers it."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.answer = JSONRPCError(jsonrpc="2.0", id=None, error=mcp_types.ErrorData(code=code, message=message))


class LineBuffer:
    """Chunks in, whole lines out."""

    def __init__(self) -> None:
        self.rest = bytearray()

    def feed(self, chunk: bytes | bytearray) -> list[bytes]:
        self.rest += chunk
        if b"\n" not in chunk:
            return []
        *lines, self.rest = self.rest.split(b"\n")
        return [bytes(line) for line in lines]


def decode(line: bytes) -> JSONRPCMessage:
    """Read one message."""
    try:
        value = json.loads(line.decode("utf-8-sig"), parse_constant=refuse_constant)
        if SURROGATE.search(line):
            value = json.loads(well_formed(json.dumps(value, ensure_ascii=False)))
    except UnicodeDecodeError:
        raise MalformedMessage(mcp_types.PARSE_ERROR, "Parse error: the line is not UTF-8") from None
    except RecursionError:
        raise MalformedMessage(mcp_types.PARSE_ERROR, "Parse error: nested too deeply") from None
    except ValueError:
        raise MalformedMessage(mcp_types.PARSE_ERROR, "Parse error: the line is not JSON") from None
    try:
        message = mcp_types.jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValidationError:
        raise MalformedMessage(mcp_types.INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message") from None
    if "id" in value and "id" not in type(message).model_fields:
        # Taken for a notification, it would leave its sender waiting for ever.
        raise MalformedMessage(mcp_types.INVALID_REQUEST, "Invalid request: an id is a string or an integer")
    return message


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)  # NaN and Infinity are JavaScript, not JSON


def encode(message: JSONRPCMessage) -> bytes:
    """Write one message as one line."""
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError:  # pydantic writes no surrogates
        fields = message.model_dump(by_alias=True, exclude_unset=True)
        text = well_formed(json.dumps(fields, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    # U+2028 and U+2029 are line ends to Node's readline.
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").encode() + b"\n"


async def serve(
    server: Server[Any], receive: Callable[[], Awaitable[bytes | bytearray]], send: Callable[[bytes], Awaitable[None]]
) -> None:
    """Run `server` until `receive` returns no bytes or `send` finds its stream broken (trio.BrokenResourceError)."""
    wire = Wire(receive, send)
    with wire.streams(), ungrouped():
        async with trio.open_nursery() as writing, trio.open_nursery() as serving:
            writing.start_soon(wire.write, serving.cancel_scope)
            serving.start_soon(wire.read, serving.cancel_scope)
            serving.start_soon(wire.bound_flushing)
            with wire.to_client:
                await server.run(wire.from_client, wire.to_client, server.create_initialization_options())
            serving.cancel_scope.cancel()


class Wire:
    """Both directions between a client's bytes and the SDK's message streams."""

    def __init__(
        self, receive: Callable[[], Awaitable[bytes | bytearray]], send: Callable[[bytes], Awaitable[None]]
    ) -> None:
        self.receive, self.send = receive, send
        self.to_server, self.from_client = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        self.to_client, self.from_server = anyio.create_memory_object_stream[SessionMessage](0)
        self.unanswered: set[RequestId] = set()
        self.settled = trio.lowlevel.ParkingLot()
        # Whoever cancels `serve` stops the tools; their last answers are still written, line by whole line.
        self.flushing = trio.CancelScope(shield=True)

    @contextmanager
    def streams(self) -> Iterator[None]:
        with self.to_server, self.from_client, self.to_client, self.from_server:
            yield

    async def read(self, serving: trio.CancelScope) -> None:
        buffer = LineBuffer()
        with self.to_server, suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the server has ended
            while chunk := await self.receive():
                for line in buffer.feed(chunk):
                    await self.take(line)
            await self.take(bytes(buffer.rest))
            with trio.move_on_after(ANSWER_S):
                while self.unanswered:
                    await self.settled.park()
        # `to_server` is closed now: the SDK cancels the requests that are left.
        serving.deadline = trio.current_time() + CLOSE_S

    async def take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = decode(line)
        except MalformedMessage as malformed:
            await self.to_client.send(SessionMessage(malformed.answer))
            return
        metadata = None
        if isinstance(message, JSONRPCRequest):
            self.unanswered.add(message.id)
            metadata = ServerMessageMetadata(on_request_unanswered=partial(self.settle, message.id))
        await self.to_server.send(SessionMessage(message, metadata))

    async def settle(self, request_id: RequestId | None) -> None:
        self.unanswered.discard(request_id)
        self.settled.unpark_all()

    async def write(self, serving: trio.CancelScope) -> None:
        with self.from_server, self.flushing:
            try:
                async for item in self.from_server:
                    await self.put(item.message)
            except trio.BrokenResourceError:
                serving.cancel()

    async def put(self, message: JSONRPCMessage) -> None:
        try:
            line = encode(message)
        except (TypeError, ValueError, RecursionError):
            error = mcp_types.ErrorData(code=mcp_types.INTERNAL_ERROR, message="The answer is not JSON")
            line = encode(JSONRPCError(jsonrpc="2.0", id=getattr(message, "id", None), error=error))
        await self.send(line)
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            await self.settle(message.id)

    async def bound_flushing(self) -> None:
        try:
            await trio.sleep_forever()
        finally:
            self.flushing.deadline = trio.current_time() + FLUSH_S


@contextmanager
def ungrouped() -> Iterator[None]:
    """Raise what went wrong, without the groups that nurseries put around it."""
    failures: list[BaseException] = []
    try:
        yield
    except BaseExceptionGroup as group:
        failures = leaves(group)
        if not failures:
            raise
    for other in failures[1:]:
        failures[0].add_note(f"At the same time: {type(other).__name__}")
    if failures:
        raise failures[0]
