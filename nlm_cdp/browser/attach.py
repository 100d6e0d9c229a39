"""From "where is Chrome" to "a page of ours, signed in": the steps in order, each with its state."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from urllib.parse import urlencode
from uuid import uuid4

import trio

from nlm_cdp.browser.account import Place, Tab, choose
from nlm_cdp.browser.candidate import Mode
from nlm_cdp.browser.discovery import locate
from nlm_cdp.browser.page import Moved, Page
from nlm_cdp.cdp.connection import Connection, open_connection
from nlm_cdp.cdp.generated import browser, target
from nlm_cdp.cdp.protocol import CommandRefused, ReplyUnreadable
from nlm_cdp.cdp.shape import Command
from nlm_cdp.errors import ChromeLost, NlmError, Timeout
from nlm_cdp.wire import page as app
from nlm_cdp.wire.page import Health


class Chrome:
    """The user's Chrome. `health` follows the attachment as it proceeds."""

    def __init__(self, endpoint: str = "auto", account: str | None = None) -> None:
        self.endpoint, self.account = endpoint, account
        self.found = Health(state="not_connected")
        self.connection: Connection | None = None
        self.pages: set[target.TargetID] = set()

    @property
    def health(self) -> Health:
        """A socket that died is told of at once, not when its end has been tidied up."""
        if self.connection is not None and self.connection.closed:
            return replace(self.found, state="chrome_lost", page=None)
        return self.found

    @health.setter
    def health(self, found: Health) -> None:
        self.found = found

    async def hold(self, connected: Callable[[Callable[[], Awaitable[Page]]], None]) -> None:
        """Connect once, hand over the maker of pages, and return when the socket is gone."""
        self.health = Health(state="looking_for_chrome")
        try:
            found = await locate(self.endpoint)
            pending = found.mode is not Mode.CLASSIC  # only Chrome's user holds an upgrade back
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
        self.connection = connection
        try:
            async with trio.open_nursery() as nursery:
                connected(lambda: self.make_page(nursery, connection))
                await connection.wait_closed()
                nursery.cancel_scope.cancel()
        finally:
            self.health = self.health  # as it was when the socket died
            self.connection = None

    async def open_tab(self, path: str) -> str:
        """A tab in front of the user, where their notebook tabs say; it is theirs, and stays when we go."""
        if self.connection is None:
            raise ChromeLost("Chrome closed the connection")
        place = choose(await notebook_tabs(self.connection), self.account)
        account = place.authuser if place.authuser not in (None, "0") else None
        url = place.origin + path + (f"?{urlencode({'authuser': account})}" if account else "")
        await self.connection.execute(target.create_target(url, browser_context_id=profile_of(place)))
        return url

    async def make_page(self, nursery: trio.Nursery, connection: Connection) -> Page:
        """A page where the user's notebook tabs say; the app may have moved to another of its hosts."""
        await self.close_leftovers(connection)
        place = choose(await notebook_tabs(connection), self.account)
        try:
            page = await open_page(nursery, connection, place)
        except Moved as moved:
            page = await open_page(nursery, connection, replace(place, origin=moved.origin))
        except NlmError as exc:
            self.health = replace(self.health, state=exc.state or "could_not_check", page=None, account=None)
            raise
        self.pages.add(page.target_id)
        self.health = replace(
            self.health,
            state="ok",
            origin=page.place.origin,
            page="hidden",
            account=page.facts.email or f"authuser {page.facts.authuser or page.place.authuser or '0'}",
        )
        return page

    async def close_leftovers(self, connection: Connection) -> None:
        """Close the background tab that an older Chrome kept when our socket died, unless its user went on in it."""
        infos = await connection.execute(target.get_targets()) if self.pages else []
        for info in infos:
            if info.target_id in self.pages and is_light(info.url):
                with suppress(CommandRefused):  # gone meanwhile
                    await connection.execute(target.close_target(info.target_id))
        self.pages.clear()


async def notebook_tabs(connection: Connection) -> list[Tab]:
    """Where the user's notebook tabs stand, and in which profile."""
    return [
        Tab(info.url, str(info.browser_context_id) if info.browser_context_id else None)
        for info in await notebook_targets(connection)
    ]


async def notebook_targets(connection: Connection) -> list[target.TargetInfo]:
    """The user's notebook tabs; no other tab leaves this function, and no page of ours or another server's."""
    infos = await connection.execute(target.get_targets())
    return [info for info in infos if info.type_ == "page" and app.is_app(info.url) and not is_light(info.url)]


def is_light(url: str) -> bool:
    """Whether a page stands where our own do."""
    return url.removeprefix(app.origin(url)) in app.LIGHT_PATHS


async def open_page(nursery: trio.Nursery, connection: Connection, place: Place) -> Page:
    """A hidden page at a place, signed in and ready; `nursery` owns its tasks. Close it, or it dies with the socket."""
    made = Page(connection, place, await create_target(connection, place), nursery)
    try:
        await made.enter()
        await made.bootstrap()
    except BaseException:
        await made.close()
        raise
    return made


async def create_target(connection: Connection, place: Place) -> target.TargetID:
    """A hidden page; where Chrome is too old for that, a background tab.

    Its address is like no other's, so that the page is found though Chrome's reply is lost: nobody else would close it.
    """
    url, profile = f"about:blank#{uuid4().hex}", profile_of(place)
    hidden = target.create_target(url, browser_context_id=profile, background=True, hidden=True)
    with trio.CancelScope(shield=True):  # a page whose id never arrives could not be closed
        try:
            page = await created(connection, url, hidden)
        except CommandRefused:
            page = await created(
                connection, url, target.create_target(url, browser_context_id=profile, background=True)
            )
    return page


async def created(connection: Connection, url: str, command: Command[target.TargetID]) -> target.TargetID:
    """The page that a command makes at an address of its own. Raises what Chrome said where it made none."""
    try:
        return await connection.execute(command)
    except (Timeout, ReplyUnreadable):
        found = [info.target_id for info in await connection.execute(target.get_targets()) if info.url == url]
        if len(found) != 1:
            raise
        return found[0]


def profile_of(place: Place) -> browser.BrowserContextID | None:
    return browser.BrowserContextID(place.profile) if place.profile else None
