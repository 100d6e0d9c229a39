"""HTTP/1.1 on one TLS connection: requests in, responses out, and the ways a line can fail on request.

The handler is a plain function from request to response; everything that takes time (streams, delays, cuts) is in how
the response leaves. While it leaves, a second task reads: a client that goes away is noticed at once.
"""

from __future__ import annotations

import hashlib
import socket
import struct
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Literal
from urllib.parse import parse_qsl, urlsplit

import h11
import trio

READ = 65_536
LARGEST_BODY = 256 * 2**20
BREAK = 0.2
"""Seconds between the last bytes and the break of a connection: in one stroke, Chromium may drop what it has unread."""


class Digest:
    """What is kept of a body that may be huge: its size, its hash and its beginning; `pace`: seconds for each piece."""

    KEPT = 65_536

    def __init__(self, pace: float = 0) -> None:
        self.size, self.head, self.hash, self.pace = 0, bytearray(), hashlib.sha256(), pace

    def feed(self, data: bytes) -> None:
        self.size += len(data)
        self.head += data[: self.KEPT - len(self.head)]
        self.hash.update(data)

    @property
    def sha256(self) -> str:
        return self.hash.hexdigest()


@dataclass(frozen=True, slots=True)
class Request:
    """One request; header names are in lower case. Of a body with a `digest`, nothing else is kept."""

    method: str
    host: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    digest: Digest | None = None

    def cookie(self, name: str) -> str | None:
        for pair in self.headers.get("cookie", "").split(";"):
            key, _, value = pair.strip().partition("=")
            if key == name:
                return value
        return None


@dataclass(frozen=True, slots=True)
class Sized:
    """A body of known length that is made piece by piece."""

    pieces: Callable[[], Iterator[bytes]]
    length: int


@dataclass(frozen=True, slots=True)
class Manner:
    """How a response leaves: late, never, byte by byte, or ended early.

    `limit`: bytes of the body that leave (below 1: that part of it); -1: not even the status line.
    """

    delay: float = 0.0
    silent: bool = False
    slow: float | None = None
    limit: float | None = None
    ending: Literal["proper", "close", "reset"] = "proper"


@dataclass(slots=True)
class Response:
    """A body of bytes or `Sized` has a content length; an async one is sent in chunks as it is made.

    `over` is called when the response has left, or cannot: with True if the client went away.
    """

    status: int = 200
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes | Sized | AsyncGenerator[bytes, None] = b""
    manner: Manner = Manner()
    over: list[Callable[[bool], None]] = field(default_factory=list)


Handle = Callable[[Request], Response]
Receive = Callable[[Request], Digest | None]


class Connection:
    """One client; `serve` returns when either side ends it.

    `receive`: what takes in the body of a request in place of memory, by the request's head.
    """

    def __init__(
        self, stream: trio.SSLStream[trio.SocketStream], handle: Handle, receive: Receive = lambda _: None
    ) -> None:
        self.stream, self.handle, self.receive = stream, handle, receive
        self.http = h11.Connection(h11.SERVER)

    async def serve(self) -> None:
        try:
            while (request := await self.read()) is not None:
                response = self.handle(request)
                if request.method == "HEAD":
                    response.body = b""
                gone = await self.answer(response)
                for done in response.over:
                    done(gone)
                if gone or self.http.our_state is not h11.DONE:
                    break
                self.http.start_next_cycle()
        except h11.RemoteProtocolError as error:
            await self.refuse(error.error_status_hint)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # the client left between two requests, or never finished its handshake
        finally:
            await trio.aclose_forcefully(self.stream)

    async def refuse(self, status: int) -> None:
        if self.http.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            await self.answer(Response(status, [("connection", "close")]))

    # Reading

    async def read(self) -> Request | None:
        """The next request; None when the client is done."""
        request: Request | None = None
        body = bytearray()
        while True:
            event = self.http.next_event()
            if event is h11.NEED_DATA:
                self.http.receive_data(bytes(await self.stream.receive_some(READ)))
            elif isinstance(event, h11.Request):
                request = as_request(event)
                request = replace(request, digest=self.receive(request))
            elif isinstance(event, h11.Data) and request is not None:
                await self.take_in(event.data, request, body)
            elif isinstance(event, h11.EndOfMessage) and request is not None:
                return replace(request, body=bytes(body))
            else:
                return None

    async def take_in(self, data: bytes, request: Request, body: bytearray) -> None:
        if request.digest is not None:
            request.digest.feed(data)
            await trio.sleep(request.digest.pace)
            return
        body += data
        if len(body) > LARGEST_BODY:
            raise h11.RemoteProtocolError("the body is too large", error_status_hint=413)

    async def watch(self, scope: trio.CancelScope) -> None:
        """Read ahead while an answer leaves; an end of the client's side ends the answer."""
        while True:
            try:
                data = await self.stream.receive_some(READ)
            except trio.BrokenResourceError:
                data = b""
            if not data:
                scope.cancel()
                return
            self.http.receive_data(bytes(data))

    # Writing

    async def answer(self, response: Response) -> bool:
        """Send a response; whether the client went away before its end."""
        gone = True
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.watch, nursery.cancel_scope)
            try:
                await self.send(response)
                gone = False
            except trio.BrokenResourceError:
                pass
            nursery.cancel_scope.cancel()
        if response.manner.ending != "proper":
            await self.end(response.manner)
        return gone

    async def end(self, manner: Manner) -> None:
        """Close the connection under an answer, or reset it."""
        if manner.ending == "reset":
            linger = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)
            self.stream.transport_stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.http.send_failed()
        await trio.aclose_forcefully(self.stream)

    async def send(self, response: Response) -> None:
        manner = response.manner
        if manner.silent:
            await trio.sleep_forever()
        await trio.sleep(manner.delay)
        if manner.limit is None or manner.limit >= 0:
            await self.send_limited(response)

    async def send_limited(self, response: Response) -> None:
        """Status line, headers and as much of the body as the manner lets through."""
        manner = response.manner
        if manner.limit is not None and manner.limit < 1:
            response = await measured(response)
        length = length_of(response)
        allowed = limit_of(manner, length)
        if allowed is not None and manner.ending == "proper":
            length = allowed
        headers = [*response.headers, *framing(length)]
        await self.put(self.http.send(h11.Response(status_code=response.status, headers=headers)))
        async with aclosing(pieces_of(response)) as pieces:
            async for piece in pieces:
                data = piece if allowed is None else piece[:allowed]
                if manner.slow is None:
                    await self.put(self.http.send(h11.Data(data=data)))
                else:
                    await self.drip(data, manner.slow)
                if allowed is not None and not (allowed := allowed - len(data)):
                    break
        if manner.ending == "proper":
            await self.put(self.http.send(h11.EndOfMessage()))
        elif manner.limit:
            await trio.sleep(BREAK)

    async def drip(self, data: bytes, pause: float) -> None:
        for index in range(len(data)):
            await self.put(self.http.send(h11.Data(data=data[index : index + 1])))
            await trio.sleep(pause)

    async def put(self, data: bytes | None) -> None:
        if data:
            await self.stream.send_all(data)


def as_request(head: h11.Request) -> Request:
    headers = {name.decode(): value.decode("latin-1") for name, value in head.headers}
    target = urlsplit(head.target.decode("latin-1"))
    host = headers.get("host", "").partition(":")[0].lower()
    query = dict(parse_qsl(target.query, keep_blank_values=True))
    return Request(head.method.decode(), host, target.path or "/", query, headers, b"")


def length_of(response: Response) -> int | None:
    if isinstance(response.body, bytes):
        return len(response.body)
    return response.body.length if isinstance(response.body, Sized) else None


def framing(length: int | None) -> list[tuple[str, str]]:
    return [("transfer-encoding", "chunked")] if length is None else [("content-length", str(length))]


def limit_of(manner: Manner, length: int | None) -> int | None:
    """The bytes of the body that may leave; None: all."""
    if manner.limit is None:
        return None
    return int(manner.limit * (length or 0)) if manner.limit < 1 else int(manner.limit)


async def measured(response: Response) -> Response:
    """A streamed body collected, so that a part of it can be told."""
    if isinstance(response.body, (bytes, Sized)):
        return response
    async with aclosing(pieces_of(response)) as pieces:
        body = b"".join([piece async for piece in pieces])
    return replace(response, body=body)


async def pieces_of(response: Response) -> AsyncGenerator[bytes, None]:
    body = response.body
    if isinstance(body, bytes):
        yield body
    elif isinstance(body, Sized):
        for piece in body.pieces():
            yield piece
    else:
        async with aclosing(body):
            async for piece in body:
                yield piece
