"""Being in Chrome: one socket, one page of ours, its tokens, and who it belongs to.

The socket is opened by the first call that needs it, in a task of its own that calls join; it is held until it dies and
never redialled in a loop. A page that is lost is made again, and another account than before is told before anything is
done as it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import trio

from nlm_cdp.browser.account import Place
from nlm_cdp.browser.page import Page
from nlm_cdp.errors import AccountAmbiguous, ChromeApprovalPending, ChromeLost, NlmError, Outcome, Timeout
from nlm_cdp.local.traffic import Exchange, Observer
from nlm_cdp.overrides import Overrides
from nlm_cdp.rpc import Effect
from nlm_cdp.verdict import NotSent
from nlm_cdp.wire import page as app
from nlm_cdp.wire.page import Health

MakePage = Callable[[], Awaitable[Page]]

UPLOAD = "upload"
"""An upload's name in the record of what was sent."""
JOIN = 30.0
"""Seconds a call waits for the connection before it says what the wait is for."""


class Attachment(Protocol):
    """How a session comes by Chrome; `browser.attach.Chrome` is the real one."""

    @property
    def health(self) -> Health: ...

    async def hold(self, connected: Callable[[MakePage], None]) -> None:
        """Connect, hand over a maker of pages, and return or raise when the connection is gone."""
        ...

    async def open_tab(self, path: str) -> str:
        """Show a tab at a path of the app's origin, over the connection that is held; gives its URL."""
        ...


@dataclass(slots=True)
class Link:
    """One connection, from dialling to its end; calls wait for `settled`."""

    settled: trio.Event = field(default_factory=trio.Event)
    over: trio.Event = field(default_factory=trio.Event)
    make_page: MakePage | None = None
    failure: NlmError | None = None


class Attempts:
    """What several calls want done at once: one does it, and a failure is that of all who waited for it."""

    def __init__(self) -> None:
        self.lock = trio.Lock()
        self.failure: NlmError | None = None

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        before = self.failure
        async with self.lock:
            if self.failure is not None and self.failure is not before:
                raise self.failure.again()
            try:
                yield
            except NlmError as exc:
                self.failure = exc.again()
                raise


class Presence:
    """Our page in Chrome. Its tasks run in `nursery`; Chrome is not touched before the first call."""

    def __init__(
        self,
        nursery: trio.Nursery,
        chrome: Attachment,
        overrides: Callable[[], Overrides],
        observe: Observer | None = None,
    ) -> None:
        self.nursery, self.chrome, self.observe = nursery, chrome, observe
        self.read_overrides, self.overrides = overrides, Overrides()
        self.link: Link | None = None
        self.page: Page | None = None
        self.place = Place(f"https://{app.APP_HOSTS[0]}", None, None)
        self.simulated = False
        self.user: str | None = None
        self.opening, self.refreshing = Attempts(), Attempts()

    def health(self) -> Health:
        return self.chrome.health

    async def current_page(self) -> Page:
        """The page, made (again) if need be; calls that come meanwhile wait for the same one."""
        await self.reach()
        async with self.opening.turn():
            if self.page is None or self.page.lost is not None:
                old, self.page = self.page, None
                if old is not None:
                    await old.close()  # what crashed or went astray is still ours to close
                make_page = await self.connected()
                self.overrides = self.read_overrides()
                with self.watched("page", "OpenPage", Effect.READ, None):
                    self.page = await make_page()
                self.place, self.simulated = self.page.place, self.page.facts.simulated
                self.recognise(self.page)
            return self.page

    async def reach(self) -> None:
        """Wait for Chrome outside every queue: each call waits for its user once, and all hear the same answer."""
        if self.page is None or self.page.lost is not None:
            await self.connected()

    async def connected(self) -> MakePage:
        """The connection's maker of pages; dialled on the first need, joined by whoever comes later."""
        if self.link is not None and self.link.make_page is not None and self.health().state == "chrome_lost":
            await self.link.over.wait()  # its socket died a moment ago
        if self.link is None:
            self.link = Link()
            self.nursery.start_soon(self.hold, self.link)
        link = self.link
        with trio.move_on_after(JOIN):
            await link.settled.wait()
        if link.failure is not None:
            raise link.failure.again()
        if link.make_page is None:
            if self.health().state == "approval_pending":
                raise ChromeApprovalPending("Chrome is waiting for the user's consent", state="approval_pending")
            raise Timeout("Chrome did not answer in time", state=self.health().state)
        return link.make_page

    async def hold(self, link: Link) -> None:
        """Own one connection from dialling to its end; only a later call dials again."""

        def connected(make_page: MakePage) -> None:
            link.make_page = make_page
            link.settled.set()

        try:
            await self.chrome.hold(connected)
            link.failure = ChromeLost("Chrome closed the connection")
        except NlmError as exc:
            exc.outcome = Outcome.NOT_SENT  # whatever became of a command to Chrome, no call of anybody's has left
            link.failure = exc
        finally:
            link.settled.set()
            if self.link is link:
                self.link = self.page = None
            link.over.set()

    async def close(self) -> None:
        """Close our page; the socket ends with the nursery."""
        if self.page is not None:
            await self.page.close()

    async def drop_page(self) -> None:
        async with self.opening.lock:
            page, self.page, self.user = self.page, None, None
            if page is not None:
                await page.close()

    async def refresh(self) -> None:
        """Read the tokens anew, once for all the calls that found them stale meanwhile."""
        page, generation = self.page, self.page.generation if self.page else 0
        async with self.refreshing.turn():
            if page is not None and page.lost is None and page.generation == generation:
                with self.watched("page", "ReadTokens", Effect.READ, None):
                    await page.bootstrap()
                try:
                    self.recognise(page)
                except AccountAmbiguous:
                    page.lose("it belongs to another account now")  # the next call makes one of its own
                    raise

    def recognise(self, page: Page) -> None:
        """Raises the first time that another account answers than before; whoever calls next acts as that one."""
        before, self.user = self.user, page.facts.user or self.user
        if before is not None and self.user != before:
            raise account_changed()

    @contextmanager
    def watched(self, id: str, method: str, effect: Effect, notebook: str | None) -> Iterator[Exchange]:
        """One request; the observer is told of it when it has ended, unless it never left."""
        seen = Exchange(id, method, effect, notebook)
        if self.observe is None:
            yield seen
            return
        began, deadline = trio.current_time(), trio.current_effective_deadline()
        left = True
        try:
            yield seen
        except NlmError as exc:
            left = not isinstance(exc, NotSent)
            # an upload knows whether its bytes left; any other request has left by now
            lost = may_have_acted(exc) and seen.rpc != UPLOAD
            seen.failed(exc.code, Outcome.UNKNOWN if lost else exc.outcome)
            raise
        except trio.Cancelled:
            seen.failed("TIMEOUT" if trio.current_time() >= deadline else "CANCELLED", Outcome.UNKNOWN)
            raise
        except BaseException:
            seen.failed("INTERNAL", Outcome.UNKNOWN)
            raise
        finally:
            seen.seconds = trio.current_time() - began
            if left:
                self.observe(seen)


def account_changed() -> NlmError:
    """A call was begun as one account and must not end as another."""
    return AccountAmbiguous(
        "this Chrome is signed in as another account than before; nothing was done",
        hint="Call again to act as that account, or switch back in Chrome.",
        outcome=Outcome.REJECTED,
        state="account_changed",
    )


def may_have_acted(error: NlmError) -> bool:
    """Whether the service may have acted on the request that failed so."""
    return error.outcome is not Outcome.REJECTED and not isinstance(error, NotSent)
