"""From "where is Chrome" to "a page of ours, signed in": the steps in order, each with its state."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import trio

from nlm_cdp.browser.account import choose
from nlm_cdp.browser.candidate import Mode
from nlm_cdp.browser.discovery import locate
from nlm_cdp.browser.page import Moved, Page, notebook_tabs, open_page
from nlm_cdp.cdp.connection import Connection, open_connection
from nlm_cdp.cdp.generated import browser
from nlm_cdp.errors import NlmError
from nlm_cdp.wire.page import Health


class Chrome:
    """The user's Chrome. `health` follows the attachment as it proceeds."""

    def __init__(self, endpoint: str = "auto", account: str | None = None) -> None:
        self.endpoint, self.account = endpoint, account
        self.health = Health(state="not_connected")

    async def hold(self, connected: Callable[[Callable[[], Awaitable[Page]]], None]) -> None:
        """Connect once, hand over the maker of pages, and return when the socket is gone."""
        self.health = Health(state="looking_for_chrome")
        try:
            found = await locate(self.endpoint)
            pending = found.mode is Mode.APPROVAL
            self.health = Health(
                state="approval_pending" if pending else "connecting",
                browser=found.browser or None,
                mode=str(found.mode),
                endpoint=self.endpoint,
            )
            async with open_connection(found.url) as connection:
                version = await connection.execute(browser.get_version())
                self.health = replace(self.health, state="connected", browser=version[1])
                await self.serve(connection, connected)
        except NlmError as exc:
            self.health = replace(self.health, state=exc.state or exc.code.lower(), page=None)
            raise
        self.health = replace(self.health, state="chrome_lost", page=None)

    async def serve(self, connection: Connection, connected: Callable[[Callable[[], Awaitable[Page]]], None]) -> None:
        async with trio.open_nursery() as nursery:
            connected(lambda: self.make_page(nursery, connection))
            await connection.wait_closed()
            nursery.cancel_scope.cancel()

    async def make_page(self, nursery: trio.Nursery, connection: Connection) -> Page:
        """A page where the user's notebook tabs say; the app may have moved to another of its hosts."""
        place = choose(await notebook_tabs(connection), self.account)
        try:
            page = await open_page(nursery, connection, place)
        except Moved as moved:
            page = await open_page(nursery, connection, replace(place, origin=moved.origin))
        except NlmError as exc:
            self.health = replace(self.health, state=exc.state or "could_not_check", page=None)
            raise
        self.health = replace(
            self.health,
            state="ok",
            origin=page.place.origin,
            page="hidden",
            account=page.facts.email or f"authuser {page.facts.authuser or page.place.authuser or '0'}",
        )
        return page
