"""A small HTTPS client that the simulator takes for a browser: it trusts the CA, keeps cookies, and decodes like we do."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import h11
import pytest
import trio

from nlm_cdp.rpc import Rpc
from nlm_cdp.sim.simulator import Simulator, simulator
from nlm_cdp.wire import page
from nlm_cdp.wire.batchexecute import CHAT_PATH, CONTENT_TYPE, PATH, Call, Reply, chat_f_req, f_req, form, read_replies
from nlm_cdp.wire.chat import Answer, ChatReader, Snapshot
from nlm_cdp.wire.pblite import Message

APP = page.APP_HOSTS[0]


@dataclass
class Got:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass
class Line:
    """One TLS connection and its HTTP state."""

    stream: trio.SSLStream[trio.SocketStream]
    http: h11.Connection = field(default_factory=lambda: h11.Connection(h11.CLIENT))

    async def send(self, method: str, target: str, headers: dict[str, str], body: bytes) -> None:
        framed = {**headers, "content-length": str(len(body))} if body else headers
        data = self.http.send(h11.Request(method=method, target=target, headers=list(framed.items())))
        data += self.http.send(h11.Data(data=body)) if body else b""
        await self.stream.send_all(data + self.http.send(h11.EndOfMessage()))

    async def event(self) -> Any:
        while (event := self.http.next_event()) is h11.NEED_DATA:
            self.http.receive_data(bytes(await self.stream.receive_some(65536)))
        return event

    async def head(self) -> Got:
        response = await self.event()
        headers = [(name.decode(), value.decode()) for name, value in response.headers]
        return Got(response.status_code, headers, b"")

    async def piece(self) -> bytes:
        """More of the body; empty at its end."""
        event = await self.event()
        return b"" if isinstance(event, h11.EndOfMessage) else bytes(event.data)

    async def body(self) -> bytes:
        seen = b""
        while piece := await self.piece():
            seen += piece
        return seen


@dataclass
class Client:
    """What a browser is to the service; `at` is the token of the page it last read."""

    service: Simulator
    authuser: str = "0"
    cookies: dict[str, str] = field(default_factory=dict)
    at: str = ""

    @asynccontextmanager
    async def line(self) -> AsyncIterator[Line]:
        context = ssl.create_default_context(cafile=str(self.service.ca))
        stream = await trio.open_ssl_over_tcp_stream(
            "127.0.0.1", self.service.port, ssl_context=context, https_compatible=True
        )
        try:
            yield Line(stream)
        finally:
            await trio.aclose_forcefully(stream)

    def headers(self, host: str, extra: dict[str, str] | None = None) -> dict[str, str]:
        cookie = (
            {"cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())} if self.cookies else {}
        )
        return {"host": host, **cookie, **(extra or {})}

    async def request(
        self, method: str, target: str, *, host: str = APP, headers: dict[str, str] | None = None, body: bytes = b""
    ) -> Got:
        """One request on a connection of its own."""
        async with self.line() as line:
            await line.send(method, target, self.headers(host, headers), body)
            got = await line.head()
            got.body = await line.body()
        for name, value in got.headers:
            if name == "set-cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        return got

    async def sign_in(self) -> Got:
        """Read the app page and take its cookies and token."""
        got = await self.request("GET", f"/?authuser={self.authuser}")
        self.at = page.value(got.text, page.TOKEN) or ""
        return got

    def target(self, path: str, **query: str) -> str:
        account = {"authuser": self.authuser} if self.authuser != "0" else {}
        return f"{path}?{urlencode({**query, 'rt': 'c', **account})}"

    @property
    def same_origin(self) -> dict[str, str]:
        return {"content-type": CONTENT_TYPE, "origin": f"https://{APP}", "sec-fetch-site": "same-origin"}

    async def post(self, *calls: Call, host: str = APP) -> Got:
        target = self.target(PATH, rpcids=",".join(call.rpc for call in calls))
        headers = {**self.same_origin, "origin": f"https://{host}"}
        return await self.request("POST", target, host=host, headers=headers, body=form(f_req(calls), self.at).encode())

    async def reply(self, rpc: Rpc[Any, Any], request: Message) -> Reply:
        got = await self.post(Call(rpc.id, request.encode()))
        assert got.status == 200, got.status
        found = read_replies(got.body)
        assert not found.faults
        return found.of(rpc.id)

    async def call(self, rpc: Rpc[Any, Any], request: Message) -> Any:
        """The decoded answer; a refusal fails the test."""
        reply = await self.reply(rpc, request)
        assert reply.status is None, reply.status
        answer = rpc.response.decode(reply.row if reply.row is not None else [])
        assert answer.undecoded == ()
        return answer

    async def refusal(self, rpc: Rpc[Any, Any], request: Message) -> int:
        reply = await self.reply(rpc, request)
        assert reply.status is not None
        return reply.status.code

    @asynccontextmanager
    async def asking(self, request: Message) -> AsyncIterator[tuple[Got, Line]]:
        """A question under way."""
        body = form(chat_f_req(request.encode()), self.at).encode()
        async with self.line() as line:
            await line.send("POST", self.target(CHAT_PATH), self.headers(APP, self.same_origin), body)
            yield await line.head(), line

    async def ask(self, request: Message) -> tuple[Answer, list[Snapshot]]:
        async with self.asking(request) as (got, line):
            assert got.status == 200
            reader = ChatReader()
            snapshots: list[Snapshot] = []
            while piece := await line.piece():
                snapshots += reader.feed(piece)
            answer = reader.close()
            assert not reader.frames.faults
        return answer, snapshots

    async def turned_away(self, method: str, target: str, headers: dict[str, str], body: bytes) -> tuple[bytes, bool]:
        """Every byte that comes back on a request, and whether the connection was reset in the end."""
        async with self.line() as line:
            await line.send(method, target, headers, body)
            seen = b""
            try:
                while data := await line.stream.receive_some(65536):
                    seen += data
            except trio.BrokenResourceError as error:
                return seen, isinstance(error.__cause__, ConnectionResetError)
            return seen, False


@asynccontextmanager
async def run(*, seed: bool = True, signed_in: bool = True) -> AsyncIterator[tuple[Simulator, Client]]:
    async with simulator(seed=seed) as service:
        service.service.pace = 0
        client = Client(service)
        if signed_in:
            await client.sign_in()
        yield service, client


Running = Callable[..., AbstractAsyncContextManager[tuple[Simulator, Client]]]


@pytest.fixture
def running() -> Running:
    """A simulator and a client that is signed in to it."""
    return run
