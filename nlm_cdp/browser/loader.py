"""A hidden page that loads one address, stops at every hop, and hands over the body of the last answer.

Chrome pauses each request before it leaves and each response before it is used; what is not https on one of Google's
media hosts is never sent. A body is read piece by piece: Chrome fetches no further than its own small buffer.
"""

from __future__ import annotations

import base64
import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import TypeVar
from urllib.parse import urlsplit

import trio

from nlm_cdp.cdp.connection import Connection, Subscription
from nlm_cdp.cdp.generated import fetch, io, network, page, target
from nlm_cdp.cdp.protocol import CommandRefused
from nlm_cdp.cdp.shape import Command
from nlm_cdp.errors import ChromeLost, Drift, Network, NlmError, Service

T = TypeVar("T")

MEDIA_HOSTS = ("google.com", "googleusercontent.com", "googleapis.com", "googlevideo.com")
"""The service's media are served below these; the last has video."""

PIECE = 2**18
GOODBYE_S = 2.0
REDIRECTS = (301, 302, 303, 307, 308)


class Loader:
    """Owns its target; `close` is the end of both."""

    def __init__(self, connection: Connection, target_id: target.TargetID) -> None:
        self.connection, self.target_id = connection, target_id
        self.session: target.SessionID | None = None
        self.paused: fetch.RequestId | None = None
        self.led_on = False

    async def response(self, url: str) -> fetch.RequestPaused:
        """The answer that is no redirect, with its body still to come."""
        self.session = await self.execute(target.attach_to_target(self.target_id, flatten=True), timeout=30)
        stages = (fetch.RequestStage.REQUEST, fetch.RequestStage.RESPONSE)
        await self.execute(fetch.enable([fetch.RequestPattern("*", stage) for stage in stages]))
        with self.connection.events(fetch.RequestPaused, session=self.session) as events:
            return await first_of(lambda: self.hops(events), lambda: self.navigation(url))

    async def hops(self, events: Subscription[fetch.RequestPaused]) -> fetch.RequestPaused:
        async for event in events:
            self.paused = event.request_id
            if event.response_error_reason is not None:
                raise Network(
                    "the browser could not load the file", details={"error": str(event.response_error_reason)}
                )
            if event.response_status_code is None:
                check_hop(event.request.url)
                self.led_on = False
            elif event.response_status_code in REDIRECTS and header(event, "location") is not None:
                self.led_on = True
            else:
                return event
            await self.execute(fetch.continue_request(event.request_id))
            self.paused = None
        raise ChromeLost("Chrome said nothing of the download")

    async def navigation(self, url: str) -> fetch.RequestPaused:
        """Go there. A navigation that ends is none that led to a file: that one stays paused."""
        _, _, error, _ = await self.execute(page.navigate(url))
        if error and self.led_on:  # Chrome itself follows no redirect to what is no web address
            raise elsewhere(None)
        if error:
            raise Network("the browser could not load the file", details={"error": error})
        raise Service("the service shows a page instead of the file")

    async def body(self, response: fetch.RequestPaused) -> AsyncGenerator[bytes, None]:
        """The body, decoded where the transfer encoded it. Chrome does not tell an end from a break."""
        stream = await self.execute(fetch.take_response_body_as_stream(response.request_id))
        ended = False
        while not ended:
            encoded, data, ended = await self.execute(io.read(stream, size=PIECE))
            if data:
                yield base64.b64decode(data) if encoded else data.encode()
        await self.execute(io.close(stream))

    async def execute(self, command: Command[T], timeout: float = math.inf) -> T:
        try:
            return await self.connection.execute(command, session=self.session, timeout=timeout)
        except CommandRefused as exc:
            if exc.gone:
                raise ChromeLost("the download's page in Chrome went away") from None
            raise

    async def close(self) -> None:
        """Close the page; a request that is still paused is ended first, lest it go on when we are gone."""
        stop = None if self.paused is None else fetch.fail_request(self.paused, network.ErrorReason.ABORTED)
        for command, session in ((stop, self.session), (target.close_target(self.target_id), None)):
            if command is not None:
                with trio.CancelScope(shield=True), suppress(NlmError):  # what is gone needs no end
                    await self.connection.execute(command, session=session, timeout=GOODBYE_S)


async def first_of(*steps: Callable[[], Awaitable[T]]) -> T:
    """What the step that ends first gives or raises; the others are cancelled."""
    ended: list[T | NlmError] = []

    async def run(step: Callable[[], Awaitable[T]], scope: trio.CancelScope) -> None:
        try:
            ended.append(await step())
        except NlmError as exc:
            ended.append(exc)
        scope.cancel()

    async with trio.open_nursery() as nursery:
        for step in steps:
            nursery.start_soon(run, step, nursery.cancel_scope)
    if isinstance(ended[0], NlmError):
        raise ended[0]
    return ended[0]


def header(response: fetch.RequestPaused, name: str) -> str | None:
    return next((it.value for it in response.response_headers or [] if it.name.lower() == name), None)


def check_hop(url: str) -> None:
    """Raise Drift unless an address is https, on the usual port of a media host; hosts are compared, never searched."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise elsewhere(None) from None
    below = any(host == known or host.endswith(f".{known}") for known in MEDIA_HOSTS)
    if parts.scheme != "https" or port not in (None, 443) or parts.username is not None or not below or "\\" in url:
        raise elsewhere(host)


def elsewhere(host: str | None) -> Drift:
    details = {"host": host} if host else {}
    return Drift("the download leads to an address that is not one of Google's media hosts", details=details)
