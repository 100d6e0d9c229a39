"""The wiring of one process: a store, a session on Chrome (or on the simulator), and what tools get of them.

Everything is opened by the first tool that needs it, and closed in order at the end.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import trio

if TYPE_CHECKING:
    from nlm_cdp.jobs import Jobs
    from nlm_cdp.local.files import Roots
    from nlm_cdp.local.store import Store
    from nlm_cdp.local.traffic import Observer
    from nlm_cdp.presence import Attachment
    from nlm_cdp.rpc import ToolContext
    from nlm_cdp.session import Session

T = TypeVar("T")
ASKED = "Chrome asks whether to allow remote debugging: click Allow in its dialog"
TURNS = 20
"""How many times a command waits 30 s for Chrome's user."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the command line decides."""

    endpoint: str = "auto"
    account: str | None = None
    demo: bool = False
    scopes: tuple[str, ...] = ()
    toolsets: tuple[str, ...] = ()
    files_root: str | None = None


class Runtime:
    def __init__(self, options: Options, nursery: trio.Nursery, stack: AsyncExitStack) -> None:
        self.options, self.nursery, self.stack = options, nursery, stack
        self.opening = trio.Lock()
        self.parts: tuple[Session, Store, Jobs] | None = None
        self.locks: dict[str, trio.Lock] = {}

    async def open(self) -> tuple[Session, Store]:
        """The session and the store, opened once."""
        session, store, _ = await self.opened()
        return session, store

    async def opened(self) -> tuple[Session, Store, Jobs]:
        from nlm_cdp import overrides
        from nlm_cdp.jobs import Jobs
        from nlm_cdp.local.store import open_store
        from nlm_cdp.session import open_session

        async with self.opening:
            if self.parts is None:
                path = None
                if self.options.demo:
                    folder = self.stack.enter_context(tempfile.TemporaryDirectory(prefix="nlm-cdp-demo-"))
                    path = Path(folder) / "state.sqlite3"
                store = await self.stack.enter_async_context(open_store(path))
                opening = open_session(self.nursery, self.attachment(), overrides.load, self.observer())
                session = await self.stack.enter_async_context(opening)
                jobs = Jobs(self.nursery)
                self.stack.push_async_callback(jobs.close)  # what is pushed last ends first
                self.parts = session, store, jobs
            return self.parts

    def waiting(self) -> str:
        """What a call that says nothing itself waits for, if that is known."""
        asked = self.parts is not None and self.parts[0].health().state == "approval_pending"
        return ASKED if asked else ""

    def attachment(self) -> Attachment:
        if self.options.demo:
            from nlm_cdp.sim.demo import SimulatedChrome

            return SimulatedChrome()
        from nlm_cdp.browser.attach import Chrome

        return Chrome(self.options.endpoint, self.options.account)

    def observer(self) -> Observer | None:
        """Who keeps the record of what is sent; the demo sends nothing to anyone."""
        if self.options.demo:
            return None
        from nlm_cdp.local.audit import audit

        return audit()

    @cached_property
    def roots(self) -> Roots:
        """One folder for both ways, or by default a place to write and none to read; looked up once."""
        from nlm_cdp.local.files import Roots

        if self.options.files_root is None:
            return Roots()
        folder = Path(self.options.files_root).expanduser().absolute()
        return Roots((folder,), folder)

    async def context(self, progress: Callable[[str], Awaitable[None]]) -> ToolContext:
        """What one tool call works with."""
        from nlm_cdp.jobs import side_by_side
        from nlm_cdp.localfiles import LocalFiles
        from nlm_cdp.rpc import ToolContext

        session, store, jobs = await self.opened()
        return ToolContext(
            call=session,
            store=store,
            progress=progress,
            sleep=trio.sleep,
            now=time.time,
            offload=trio.to_thread.run_sync,
            exclusive=lambda key: self.locks.setdefault(key, trio.Lock()),
            files=LocalFiles(self.roots),
            background=jobs,
            together=side_by_side,
            config={
                "endpoint": "simulator" if self.options.demo else self.options.endpoint,
                "scopes": list(self.options.scopes),
                "toolsets": list(self.options.toolsets),
            },
        )


@asynccontextmanager
async def open_runtime(options: Options) -> AsyncIterator[Runtime]:
    async with trio.open_nursery() as nursery, AsyncExitStack() as stack:
        yield Runtime(options, nursery, stack)
        await stack.aclose()
        nursery.cancel_scope.cancel()


async def patiently(work: Callable[[], Awaitable[T]], tell: Callable[[str], Awaitable[None]]) -> T:
    """What `work` gives, for a process that only runs it: Chrome's user may take ten minutes to let it in.

    To end before they answer leaves a dialog behind whose Allow would open nothing.
    """
    from nlm_cdp.errors import ChromeApprovalPending

    for _ in range(TURNS):
        try:
            return await work()
        except ChromeApprovalPending:  # nothing was sent, and the next turn joins the same handshake
            await tell(ASKED)
    return await work()
