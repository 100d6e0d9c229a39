"""A signed-in page as a `Caller`: deadlines, retry by effect, and the truth about writes.

What became of a write is decided here and nowhere else: a request that may have left and was not plainly refused is
`unknown`.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, TypeVar

import trio

from nlm_cdp.browser.bridge import Request
from nlm_cdp.browser.page import Page
from nlm_cdp.errors import (
    ChromeLost,
    Drift,
    Network,
    NlmError,
    Outcome,
    Service,
    SignedOut,
    Timeout,
    UnconfirmedWrite,
)
from nlm_cdp.local.traffic import Observer, size
from nlm_cdp.overrides import Overrides
from nlm_cdp.presence import UPLOAD, Attachment, Presence, account_changed, may_have_acted
from nlm_cdp.rpc import A, Effect, Path, Q, Received, Rpc, Sent
from nlm_cdp.verdict import NotSent, Redirected, StaleToken, Unauthorized, check_transport, read_answer, read_reply
from nlm_cdp.wire import batchexecute
from nlm_cdp.wire import page as app
from nlm_cdp.wire.chat import Answer, ChatReader, Snapshot
from nlm_cdp.wire.pblite import Message, Row

if TYPE_CHECKING:
    from nlm_cdp.browser.transfer import Downloaded

T = TypeVar("T")

READS = 16
"""Reads at once."""
LONG_TEXT = 400_000
"""Characters above which a body is decoded in a thread: below, the densest listing takes less than 50 ms."""


class Session(Presence):
    """The only `Caller` there is. Its tasks run in `nursery`; Chrome is not touched before the first call."""

    def __init__(
        self,
        nursery: trio.Nursery,
        chrome: Attachment,
        overrides: Callable[[], Overrides],
        observe: Observer | None = None,
    ) -> None:
        super().__init__(nursery, chrome, overrides, observe)
        self.reads = trio.CapacityLimiter(READS)
        self.writes: dict[str, trio.Lock] = {}
        self.reqid = random.randrange(100_000, 999_999)

    # Caller

    async def __call__(
        self, rpc: Rpc[Q, A], request: Q, *, notebook: str | None = None, timeout: float | None = None
    ) -> A:
        notebook = notebook or getattr(request, "notebook_id", None)
        return await self.send(rpc, request.encode(), notebook, read_answer, timeout)

    async def raw(self, rpc_id: str, params: Row, notebook: str | None) -> Any:
        """One call that nobody declared, sent at most once and by this very id; gives the reply's row."""
        path = Path.NOTEBOOK if notebook else Path.ACCOUNT
        rpc = Rpc(rpc_id, "raw", Message, Message, Effect.CREATE, path=path)
        return (await self.send(rpc, params, notebook, read_reply, None, literally=True)).row

    async def send(
        self,
        rpc: Rpc[Any, Any],
        row: Row,
        notebook: str | None,
        read: Callable[[Rpc[Any, Any], list[str | bytes]], T],
        timeout: float | None,
        *,
        literally: bool = False,
    ) -> T:
        reqid = self.next_reqid()

        async def exchange(page: Page) -> T:
            known = rpc if literally else self.overrides.applied(rpc)
            query = batchexecute.query([known.id], rpc.source_path(notebook), reqid)
            f_req = batchexecute.f_req([batchexecute.Call(known.id, row)])
            with self.watched(known.id, known.method, known.effect, notebook) as seen:
                seen.sent = size(f_req)
                answer = await page.call(Request(batchexecute.PATH, query, f_req))
                seen.status, seen.received = answer.status, size(answer.body)
                check_transport(answer)
                boxed = [answer.body]  # the one reference, so that the text can go while its parse is built
                answer.body = ""
                if len(boxed[0]) < LONG_TEXT:
                    return read(known, boxed)
                return await trio.to_thread.run_sync(read, known, boxed)

        user = self.user
        async with self.turn(rpc, notebook):
            return await self.attempts(rpc, exchange, timeout or rpc.timeout, user)

    async def ask(
        self, rpc: Rpc[Q, A], request: Q, *, notebook: str, timeout: float, watch: Callable[[Snapshot], Awaitable[None]]
    ) -> Answer:
        query = {"_reqid": str(self.next_reqid()), "rt": "c"}
        wire = Request(batchexecute.CHAT_PATH, query, batchexecute.chat_f_req(request.encode()))

        async def exchange(page: Page) -> Answer:
            reader = ChatReader()

            async def chunk(text: str) -> None:
                seen.received += size(text)
                for snapshot in reader.feed(text):
                    await watch(snapshot)

            with self.watched(rpc.id, rpc.method, rpc.effect, notebook) as seen:
                seen.sent = size(wire.f_req)
                answer = await page.stream(wire, chunk)
                seen.status = answer.status
                if reader.last is None:  # what broke later only truncates the answer that is there
                    check_transport(answer)
                return reader.close()

        user = self.user
        async with self.turn(rpc, notebook):
            return await self.attempts(rpc, exchange, timeout, user)

    def notebook_url(self, notebook: str) -> str:
        return app.notebook_url(self.place.origin, notebook, self.place.authuser)

    async def upload(
        self, path: FilePath, *, notebook: str, source: str, mime: str, progress: Sent, timeout: float
    ) -> None:
        from nlm_cdp.browser import transfer

        async def told(sent: int, total: int) -> None:
            seen.sent = sent
            await progress(sent, total)

        page = await self.current_page()
        with self.watched(UPLOAD, "Upload", Effect.CREATE, notebook) as seen:
            await transfer.upload(
                page, path, notebook_id=notebook, source_id=source, mime=mime, progress=told, timeout=timeout
            )

    async def download(
        self, url: str, destination: FilePath, *, overwrite: bool, progress: Received, timeout: float
    ) -> Downloaded:
        from nlm_cdp.browser import transfer

        async def told(received: int, total: int | None) -> None:
            seen.received = received
            await progress(received, total)

        page = await self.current_page()
        with self.watched("download", "Download", Effect.READ, None) as seen:
            return await transfer.download(
                page.connection, page.place, url, destination, overwrite=overwrite, progress=told, timeout=timeout
            )

    async def open_tab(self, path: str) -> str:
        await self.connected()
        return await self.chrome.open_tab(path)

    # One call

    def next_reqid(self) -> int:
        self.reqid += 100_000
        return self.reqid

    @asynccontextmanager
    async def turn(self, rpc: Rpc[Any, Any], notebook: str | None) -> AsyncIterator[None]:
        """Reads run side by side, bounded; writes to one notebook one after the other. A stream holds up no write."""
        key = f"{'chat' if rpc.stream else 'write'}:{notebook}"
        await self.reach()
        async with self.reads if rpc.effect is Effect.READ else self.writes.setdefault(key, trio.Lock()):
            yield

    async def attempts(
        self, rpc: Rpc[Any, Any], exchange: Callable[[Page], Awaitable[T]], timeout: float, user: str | None
    ) -> T:
        """An exchange within its deadline, run once more where that is safe; a failed write says what became of it.

        `user`: who the call was begun as, if that was known by then; it is not sent as anybody else.
        """
        sent = False

        async def send() -> T:
            nonlocal sent
            sent = False
            page = await self.current_page()
            if self.user != user:
                raise account_changed()
            sent = True
            return await exchange(page)

        try:
            await self.current_page()
            user = user or self.user
            with trio.fail_after(timeout):
                try:
                    return await send()
                except NlmError as exc:
                    sent = sent and may_have_acted(exc)
                    await self.recover(rpc, exc)
                return await send()
        except trio.TooSlowError:
            raise fate(rpc, Timeout(f"no answer within {timeout:g} s"), sent=sent) from None
        except StaleToken:
            # the token is fresh by now, so it is the request that is refused
            raise fate(
                rpc, Drift("the service refused the request's form", outcome=Outcome.REJECTED), sent=sent
            ) from None
        except NlmError as exc:
            raise fate(rpc, exc, sent=sent) from None

    async def recover(self, rpc: Rpc[Any, Any], error: NlmError) -> None:
        """Mend what an error shows to be stale, so that the call can be sent again; raise it where that is not safe."""
        replayable = rpc.effect in (Effect.READ, Effect.SET)
        match error:
            case StaleToken() | NotSent():
                await self.refresh()  # the service refuses these before it acts: safe whatever the effect
            case SignedOut(outcome=Outcome.REJECTED):
                await self.refresh()
            case Redirected():
                await self.refresh()
                raise error
            case Unauthorized() if replayable:
                await self.refresh()
            case ChromeLost() | Network() | Service(outcome=Outcome.NOT_SENT) if replayable:
                return
            case _:
                raise error


def fate(rpc: Rpc[Any, Any], error: NlmError, *, sent: bool) -> NlmError:
    """The error, with the truth about the write in it."""
    error.details.setdefault("rpc", rpc.name)
    if not sent and error.outcome is Outcome.UNKNOWN:
        error.outcome = Outcome.NOT_SENT  # unknown was what became of a command to Chrome on the way to the request
    if rpc.effect is Effect.READ or not sent or not may_have_acted(error):
        return error
    if isinstance(error, Drift):
        error.outcome = Outcome.UNKNOWN
        return error.also("The change may have been made: look before you try again.")
    return UnconfirmedWrite(
        f"{error.message.rstrip('.')}; the change may have been made",
        outcome=Outcome.UNKNOWN,
        retry_after_s=error.retry_after_s,
        state=error.state,
        details=error.details | {"cause": error.code},
    )


@asynccontextmanager
async def open_session(
    nursery: trio.Nursery,
    chrome: Attachment,
    overrides: Callable[[], Overrides] = Overrides,
    observe: Observer | None = None,
) -> AsyncIterator[Session]:
    """A session whose tasks run in `nursery`; our page is closed on the way out.

    `overrides` is asked each time that a page is made; `observe` is told of every request.
    """
    session = Session(nursery, chrome, overrides, observe)
    try:
        yield session
    finally:
        await session.close()
