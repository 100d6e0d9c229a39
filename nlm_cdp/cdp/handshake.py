"""From an address to an open websocket, or the reason why there is none.

Chrome holds the upgrade back while it asks the user, so there is no limit to that wait; only the dial has one. Chrome
refuses an `Origin`, and a machine's proxy is no way to a browser on that machine: neither is used.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

import trio
from websockets.exceptions import ConnectionClosed, InvalidMessage, InvalidStatus, InvalidURI, WebSocketException
from websockets.frames import Frame
from websockets.trio.client import ClientConnection, connect
from websockets.uri import parse_uri

from nlm_cdp.errors import ChromeApprovalDenied, ChromeDebuggingOff, ChromeLost, ChromeNotFound, NlmError

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from websockets.protocol import Event

DIAL_S = 10.0
LARGEST_MESSAGE = 256 * 2**20  # Chrome's own limit

# At debug level websockets logs the text of every frame, and that is the user's.
logger = logging.getLogger(__name__)
logger.setLevel(logging.INFO)


class Socket(ClientConnection):
    async def send_data(self) -> None:
        await super().send_data()
        if self.protocol.close_expected():
            # Either side has said its last word. To wait for the other to hang up would keep every caller waiting.
            await self.stream.aclose()

    def process_event(self, event: Event) -> None:
        held = event
        if isinstance(held, Frame):
            # The caller holds on to its frame until more bytes come, and it may be 60 MB: pass on another.
            event = replace(held)
            held.data = b""
        super().process_event(event)


class Upgrade(connect):
    def process_redirect(self, exc: Exception) -> Exception:
        return exc  # Chrome never redirects, and a stranger does not choose whom we talk to


async def dial(url: str) -> trio.SocketStream:
    """A TCP connection to the host of a websocket address; `localhost` is 127.0.0.1, then ::1, whoever resolves it."""
    try:
        address = parse_uri(url)
    except (InvalidURI, ValueError):
        raise ChromeNotFound(f"{url} is not a websocket address.") from None
    for host in ("127.0.0.1", "::1") if address.host == "localhost" else (address.host,):
        try:
            with trio.fail_after(DIAL_S):
                return await trio.open_tcp_stream(host, address.port)
        except (OSError, trio.TooSlowError) as exc:
            cause = exc
    raise ChromeNotFound(f"Nothing answers at {address.host}:{address.port}.") from cause


async def upgrade(stack: AsyncExitStack, stream: trio.abc.Stream, url: str) -> ClientConnection:
    """Make the stream a websocket, which `stack` closes."""
    try:
        return await stack.enter_async_context(
            Upgrade(
                url,
                stream=stream,
                origin=None,
                compression=None,
                user_agent_header=None,
                proxy=None,
                open_timeout=None,
                ping_interval=None,
                close_timeout=1,
                max_size=LARGEST_MESSAGE,
                logger=logger,
                create_connection=Socket,
            )
        )
    except (WebSocketException, OSError, trio.BrokenResourceError) as exc:
        raise refusal(exc) from exc


def refusal(exc: Exception) -> NlmError:
    match exc:
        case InvalidStatus(response=response) if response.status_code == 403:
            return ChromeApprovalDenied(f"Chrome refused the debugging connection{quoted(response.body)}.")
        case InvalidStatus(response=response):
            return ChromeDebuggingOff(
                f"Chrome's debugging address answers HTTP {response.status_code}{quoted(response.body)}."
            )
        case InvalidMessage(__cause__=EOFError()) | ConnectionClosed() | OSError() | trio.BrokenResourceError():
            return ChromeLost("Chrome hung up before the debugging connection was open.")
    return ChromeDebuggingOff("What answers at Chrome's debugging address does not speak the protocol.")


def quoted(body: bytes | bytearray) -> str:
    """Chrome's reason, if it gave one; a web page is none."""
    text = " ".join(body.decode(errors="replace").split()).rstrip(".")[:300]
    return f": {text}" if text and text.isprintable() and "<" not in text else ""
