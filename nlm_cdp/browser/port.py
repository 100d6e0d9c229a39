"""What listens on a port: one TCP connection, and one `GET /json/version` on it.

Chrome answers this without asking its user: 200 with a description in classic mode, 404 in approval mode. The stream is
opened by hand so that no proxy setting of the environment comes between us and the browser.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import h11
import trio

from nlm_cdp.browser.candidate import State

if TYPE_CHECKING:
    from collections.abc import Sequence

LOOPBACK = ("127.0.0.1", "::1")
"""Chrome binds the second where the first is taken."""

APPROVAL_PATH = "/devtools/browser"
"""Where a browser in approval mode upgrades; it does not look at the id that may follow."""

BODY_LIMIT = 65536


@dataclass(frozen=True, slots=True)
class Reply:
    """What a port said, and which of the addresses said it."""

    state: State
    address: str = ""
    path: str = APPROVAL_PATH
    browser: str = ""
    headless: bool = False


async def ask(addresses: Sequence[str], port: int, deadline_s: float, *, path: str | None = None) -> Reply:
    """What the first of these addresses with a browser says; `path` is the classic one that it must own."""
    reply = Reply(State.PORT_CLOSED)
    with trio.move_on_after(deadline_s):
        for address in addresses:
            try:
                async with await trio.open_tcp_stream(address, port) as stream:
                    reply = Reply(State.SILENT)
                    reply = read(address, *await get(stream, port))
            except (OSError, UnicodeError):  # UnicodeError: a host that cannot be a name
                continue
            except (trio.BrokenResourceError, h11.RemoteProtocolError):
                reply = Reply(State.NOT_CHROME)
            if reply.state is State.CLASSIC and path not in (None, reply.path):
                # The port is another browser's by now.
                reply = Reply(State.STALE_PORT_FILE)
            if reply.state.listening:
                break
    return reply


async def dial(addresses: Sequence[str], port: int, deadline_s: float) -> str | None:
    """The first of these addresses that accepts a connection."""
    with trio.move_on_after(deadline_s):
        for address in addresses:
            try:
                async with await trio.open_tcp_stream(address, port):
                    return address
            except (OSError, UnicodeError):
                continue
    return None


async def get(stream: trio.abc.Stream, port: int) -> tuple[int, bytes]:
    """The status and body of /json/version."""
    # Chrome refuses a Host that is a name, so it hears of itself by number, however it was reached.
    headers = [("Host", f"127.0.0.1:{port}"), ("Connection", "close")]
    http = h11.Connection(h11.CLIENT)
    request = http.send(h11.Request(method="GET", target="/json/version", headers=headers))
    await stream.send_all((request or b"") + (http.send(h11.EndOfMessage()) or b""))
    status, body = 0, b""
    while True:
        match http.next_event():
            case h11.NEED_DATA:
                http.receive_data(bytes(await stream.receive_some()))
            case h11.Response(status_code=status):
                pass
            case h11.Data(data=data):
                body += data
                if len(body) > BODY_LIMIT:
                    raise h11.RemoteProtocolError("too long to be a browser's answer")
            case h11.EndOfMessage():
                return status, body
            case h11.PAUSED | h11.ConnectionClosed():
                raise h11.RemoteProtocolError("no answer")


def read(address: str, status: int, body: bytes) -> Reply:
    """What the answer of /json/version means."""
    if status == 404:
        return Reply(State.APPROVAL, address)
    if status != 200:
        return Reply(State.NOT_CHROME)
    try:
        version = json.loads(body)
        url = urlsplit(version["webSocketDebuggerUrl"])
        browser, agent = str(version.get("Browser", "")), str(version.get("User-Agent", ""))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Reply(State.NOT_CHROME)
    # Today's headless Chrome gives itself away in User-Agent only, the old one in both.
    headless = "HeadlessChrome" in browser + agent
    return Reply(State.CLASSIC, address, url._replace(scheme="", netloc="").geturl(), browser, headless)
