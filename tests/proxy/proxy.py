"""A hostile proxy between the product and Chromium's browser websocket, on loopback.

It counts sockets, records what is really said, and does on request what no Chrome should: see `messages` for what can
happen to a message, `Door` for what can happen to an upgrade. `Proxy.control` is a connection of its own to Chrome.
"""

from __future__ import annotations

import json
import math
import socket as sockets
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import trio
from websockets.exceptions import WebSocketException
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol
from websockets.trio.client import ClientConnection

from tests.proxy.control import QUIET, Control, control_of, to_chrome
from tests.proxy.messages import Act, Ending, Json, Rule, Said, Way, When

RESET = struct.pack("ii", 1, 0)
PATH = "/devtools/browser/proxy"
BROKEN = (trio.BrokenResourceError, trio.ClosedResourceError, WebSocketException)


class Door(StrEnum):
    """What an upgrade meets."""

    OPEN = "open"
    HELD = "held"  # Chrome asks its user, who has not said anything yet
    DENIED = "denied"  # the user said no
    BUSY = "busy"  # HTTP 500
    RUBBISH = "rubbish"  # no HTTP at all
    CUT = "cut"  # the end in the middle of a good answer
    HANGUP = "hangup"  # the end instead of an answer
    RESET = "reset"


DENIED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 17\r\nContent-Type: text/html\r\n\r\nRejected by user."
BUSY = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"
NO_SUCH_PAGE = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Server(ServerProtocol):
    """One that does not answer pings by itself."""

    def recv_frame(self, frame: Frame) -> None:
        if frame.opcode is Opcode.PING:
            self.events.append(frame)
        else:
            super().recv_frame(frame)


@dataclass(frozen=True, slots=True)
class Issued:
    """A command in flight, so that its reply can be told by its method."""

    method: str
    params: Json
    session: str | None


class Proxy:
    """`sockets`: every upgrade that was asked for, in order. `approval`: its HTTP pages are gone, as in that mode."""

    def __init__(self, chrome: str, control: Control, port: int, nursery: trio.Nursery, *, approval: bool) -> None:
        self.chrome, self.control, self.port, self.nursery = chrome, control, port, nursery
        self.approval = approval
        self.door = Door.OPEN
        self.sockets: list[Socket] = []
        self.said: list[Said] = []
        self.rules: list[Rule] = []
        self.urls: dict[str, str] = {}
        self.made: set[str] = set()
        self.news = trio.lowlevel.ParkingLot()
        self.answers_pings = True
        self.pings = 0

    @property
    def endpoint(self) -> str:
        return f"ws://127.0.0.1:{self.port}{PATH}"

    def folder(self, at: Path) -> str:
        """A user-data folder that leads here."""
        at.mkdir(parents=True, exist_ok=True)
        (at / "DevToolsActivePort").write_text(f"{self.port}\n{PATH}")
        return str(at)

    @property
    def commands(self) -> list[Said]:
        return [said for said in self.said if said.way is Way.COMMAND]

    def sent(self, method: str) -> list[Said]:
        return [said for said in self.commands if said.method == method]

    def add(self, when: When, act: Act, *, times: float = math.inf, after: int = 0) -> Rule:
        self.rules.append(Rule(when, act, times, after))
        return self.rules[-1]

    def open_door(self, door: Door = Door.OPEN) -> None:
        """Decide about who waits, and about who comes."""
        self.door = door
        self.changed()

    def changed(self) -> None:
        self.news.unpark_all()

    async def until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            await self.news.park()

    async def knocks(self, count: int) -> Socket:
        """Wait for that many upgrades, past ones included; the last of them."""
        await self.until(lambda: len(self.sockets) >= count)
        return self.sockets[count - 1]

    async def wait_for(self, when: When) -> Said:
        """The first message, past or future, for which this holds."""
        await self.until(lambda: any(when(said) for said in self.said))
        return next(said for said in self.said if when(said))

    def rule_for(self, said: Said) -> Rule | None:
        for rule in self.rules:
            if rule.times > 0 and rule.when(said):
                if rule.after > 0:
                    rule.after -= 1
                    continue
                rule.times -= 1
                return rule
        return None

    async def serve(self, stream: trio.SocketStream) -> None:
        socket = Socket(self, stream)
        with suppress(*BROKEN):
            await socket.serve()
        with trio.CancelScope(shield=True), trio.move_on_after(1):
            await trio.aclose_forcefully(stream)
        socket.over.set()
        self.changed()


class Socket:
    """One connection of the product's. `given_up`: it left before its upgrade was answered."""

    def __init__(self, proxy: Proxy, stream: trio.SocketStream) -> None:
        self.proxy, self.stream = proxy, stream
        self.number = 0
        self.protocol = Server(max_size=None, logger=QUIET)
        self.upstream: ClientConnection | None = None
        self.nursery: trio.Nursery | None = None
        self.turn = trio.Lock()
        self.issued: dict[int, Issued] = {}
        self.sessions: dict[str, str] = {}
        self.overtaken: dict[bool, list[Json]] = {True: [], False: []}
        self.upgraded, self.given_up = False, False
        self.over = trio.Event()
        self.ponged = trio.Event()

    # The upgrade

    async def serve(self) -> None:
        request = await self.knock()
        if request is None:
            return
        if not request.path.startswith("/devtools/"):
            await self.stream.send_all(NO_SUCH_PAGE if self.proxy.approval else self.about())
            return
        self.proxy.sockets.append(self)
        self.number = len(self.proxy.sockets)
        self.proxy.changed()
        if not await self.decided():
            self.given_up = True
            self.proxy.changed()
            return
        response = self.protocol.accept(request)
        match self.proxy.door:
            case Door.OPEN:
                async with to_chrome(self.proxy.chrome) as self.upstream:
                    self.protocol.send_response(response)
                    await self.flush()
                    self.upgraded = True
                    self.proxy.changed()
                    await self.pump()
            case Door.DENIED:
                await self.stream.send_all(DENIED)
            case Door.BUSY:
                await self.stream.send_all(BUSY)
            case Door.RUBBISH:
                await self.stream.send_all(b"\x00\xff SSH-2.0-nothing like it\r\n\r\n")
            case Door.CUT:
                await self.stream.send_all(response.serialize()[:40])
            case Door.RESET:
                self.stream.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, RESET)

    async def knock(self) -> Request | None:
        while True:
            data = await self.stream.receive_some()
            if not data:
                return None
            self.protocol.receive_data(data)
            for event in self.protocol.events_received():
                if isinstance(event, Request):
                    return event

    def about(self) -> bytes:
        """What a Chrome with a debugging port says of itself."""
        body = json.dumps({"Browser": "Chrome/156", "webSocketDebuggerUrl": self.proxy.endpoint}).encode()
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b" % (len(body), body)

    async def decided(self) -> bool:
        """Wait for the user's decision; False if the product goes away first."""
        here = True

        async def watch(scope: trio.CancelScope) -> None:
            nonlocal here
            with suppress(*BROKEN):
                await self.stream.receive_some()
            here = False
            scope.cancel()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch, nursery.cancel_scope)
            await self.proxy.until(lambda: self.proxy.door is not Door.HELD)
            nursery.cancel_scope.cancel()
        return here

    # What is said

    async def pump(self) -> None:
        async with trio.open_nursery() as self.nursery:
            self.nursery.start_soon(self.from_chrome)
            with suppress(*BROKEN):
                await self.from_product()
            self.nursery.cancel_scope.cancel()

    def start_soon(self, step: Callable[[], Awaitable[None]]) -> None:
        async def run() -> None:
            with suppress(*BROKEN):
                await step()

        assert self.nursery is not None
        self.nursery.start_soon(run)

    async def from_product(self) -> None:
        parts: list[bytes] = []
        while True:
            data = await self.stream.receive_some()
            if not data:
                return
            self.protocol.receive_data(data)
            for frame in self.protocol.events_received():
                assert isinstance(frame, Frame)
                if frame.opcode is Opcode.PING:
                    self.proxy.pings += 1
                    if self.proxy.answers_pings:
                        self.protocol.send_pong(bytes(frame.data))
                elif frame.opcode is Opcode.PONG:
                    self.ponged.set()
                elif frame.opcode in (Opcode.TEXT, Opcode.CONT):
                    parts.append(bytes(frame.data))
                    if frame.fin:
                        message = json.loads(b"".join(parts))
                        parts.clear()
                        self.issued[message["id"]] = Issued(
                            message["method"], message.get("params", {}), message.get("sessionId")
                        )
                        await self.handle(Way.COMMAND, message)
            await self.flush()

    async def from_chrome(self) -> None:
        assert self.upstream is not None
        with suppress(*BROKEN):
            while True:
                message = json.loads(await self.upstream.recv())
                await self.handle(Way.REPLY if "id" in message else Way.EVENT, message)
        assert self.nursery is not None
        self.nursery.cancel_scope.cancel()  # Chrome is gone, and so is its socket

    async def handle(self, way: Way, message: Json) -> None:
        said = self.read(way, message)
        self.proxy.said.append(said)
        rule = self.proxy.rule_for(said)
        messages = [message]
        if rule is not None:
            rule.done.set()
            with suppress(*BROKEN):
                messages = await rule.act(self, said)
        self.proxy.changed()
        for each in messages:
            await self.forward(way, each)
        if messages:
            late, self.overtaken[way is Way.COMMAND] = self.overtaken[way is Way.COMMAND], []
            for each in late:
                await self.forward(way, each)

    def read(self, way: Way, message: Json) -> Said:
        """The message with what is known of it; takes note of targets and sessions."""
        session = message.get("sessionId")
        method, params = message.get("method", ""), message.get("params", {})
        if way is Way.REPLY:
            issued = self.issued.pop(message["id"], Issued("", {}, None))
            method, params, session = issued.method, issued.params, issued.session
            self.learn(method, params, message.get("result", {}))
        elif method == "Page.frameNavigated" and "parentId" not in params["frame"] and session in self.sessions:
            self.proxy.urls[self.sessions[session]] = params["frame"]["url"]
        target = self.sessions.get(session) if session else params.get("targetId")
        return Said(way, method, message, params, session, target, self.proxy.urls.get(target or ""), self.number)

    def learn(self, method: str, params: Json, result: Json) -> None:
        match method:
            case "Target.createTarget" if "targetId" in result:
                self.proxy.made.add(result["targetId"])
                self.proxy.urls[result["targetId"]] = params["url"]
            case "Target.getTargets":
                self.proxy.urls |= {info["targetId"]: info["url"] for info in result.get("targetInfos", [])}
            case "Target.attachToTarget" if "sessionId" in result:
                self.sessions[result["sessionId"]] = params["targetId"]

    # What goes on

    async def forward(self, way: Way, message: Json) -> None:
        if way is Way.COMMAND:
            assert self.upstream is not None
            with suppress(*BROKEN):
                await self.upstream.send(json.dumps(message))
        else:
            await self.say(message)

    async def say(self, message: Json | str | bytes, *, part: float = math.inf) -> None:
        """Send a message to the product, or only a part of its frame; bytes may be no UTF-8."""
        text = json.dumps(message) if isinstance(message, dict) else message
        self.protocol.send_text(text if isinstance(text, bytes) else text.encode())
        await self.flush(part)

    async def ping(self) -> None:
        self.protocol.send_ping(b"are you there")
        await self.flush()

    async def flush(self, part: float = math.inf) -> None:
        async with self.turn:
            data = b"".join(self.protocol.data_to_send())
            if part != math.inf:
                data = data[: int(part * len(data)) if part < 1 else int(part)]
            if data:
                await self.stream.send_all(data)

    async def end(self, how: Ending) -> None:
        """End the socket to the product; Chrome is told nothing special."""
        if how in (Ending.GOODBYE, Ending.LINGERING):
            self.protocol.send_close(1001)
            await self.flush()
        if how is Ending.LINGERING:
            await trio.sleep_forever()
        if how is Ending.RESET:
            self.stream.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, RESET)
        await trio.aclose_forcefully(self.stream)


@asynccontextmanager
async def hostile_proxy(chrome: str, *, approval: bool = False) -> AsyncIterator[Proxy]:
    """A proxy in front of the Chromium at this websocket address."""
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port: int = listeners[0].socket.getsockname()[1]
    raised: Exception | None = None
    async with control_of(chrome) as control, trio.open_nursery() as nursery:
        proxy = Proxy(chrome, control, port, nursery, approval=approval)
        nursery.start_soon(trio.serve_listeners, proxy.serve, listeners)
        try:
            yield proxy
        except Exception as error:  # noqa: BLE001  (raised below, where no nursery wraps it)
            raised = error
        nursery.cancel_scope.cancel()
    if raised is not None:
        raise raised
