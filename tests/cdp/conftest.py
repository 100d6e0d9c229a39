"""The other end of the socket: a websocket peer that says what a test tells it to, over memory streams."""

from __future__ import annotations

import json
import logging
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from nlm_cdp.cdp.connection import connection_over

# Some tests look at what is logged, and websockets logs what travels at debug level.
logging.getLogger("fake").setLevel(logging.INFO)

URL = "ws://127.0.0.1:9222/devtools/browser/0"


class FakeChrome:
    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self.protocol = ServerProtocol(max_size=None, logger=logging.getLogger("fake"))
        self.request: Request | None = None
        self.frames: list[Frame] = []

    async def read(self) -> None:
        """Take in whatever arrives next."""
        self.protocol.receive_data(await self.stream.receive_some())
        for event in self.protocol.events_received():
            if isinstance(event, Request):
                self.request = event
            else:
                assert isinstance(event, Frame)
                self.frames.append(event)

    async def write(self, data: bytes = b"") -> None:
        await self.stream.send_all(b"".join(self.protocol.data_to_send()) + data)

    async def knock(self) -> None:
        """Wait for the upgrade request."""
        while self.request is None:
            await self.read()

    async def accept(self) -> None:
        await self.knock()
        assert self.request is not None
        self.protocol.send_response(self.protocol.accept(self.request))
        await self.write()

    async def hear(self) -> dict[str, Any]:
        while not self.frames:
            await self.read()
        frame = self.frames.pop(0)
        assert frame.opcode is Opcode.TEXT
        message: dict[str, Any] = json.loads(bytes(frame.data))
        return message

    async def say(self, message: object) -> None:
        text = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.protocol.send_text(text)
        await self.write()

    async def event(self, method: str, session: str | None = None, **params: object) -> None:
        await self.say({"method": method, "params": params} | ({"sessionId": session} if session else {}))

    async def answer(self, **result: object) -> dict[str, Any]:
        """Hear one command and give it this result."""
        heard = await self.hear()
        await self.say({"id": heard["id"], "result": result})
        return heard


@asynccontextmanager
async def connect_to_fake_chrome(wrap=lambda stream: stream):
    """A connection and the FakeChrome it talks to; `wrap` may stand between the connection and its stream."""
    ours, theirs = trio.testing.memory_stream_pair()
    chrome = FakeChrome(theirs)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(chrome.accept)
        async with connection_over(wrap(ours), URL) as connection:
            yield connection, chrome
    await theirs.aclose()


@pytest.fixture
def connected():
    return connect_to_fake_chrome


@pytest.fixture
def fake():
    return FakeChrome


@pytest.fixture
def wire():
    """A stream for a connection, and the FakeChrome at its other end, which has not accepted it yet."""
    ours, theirs = trio.testing.memory_stream_pair()
    return ours, FakeChrome(theirs)
