"""One simulator and one Chromium for a whole module of tests, and for each test the product behind a proxy of its own.

They live in a trio run in a thread; a test is an ordinary function that runs its scenario there, so that a table of a
hundred faults starts one browser.
"""

from __future__ import annotations

import math
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import trio

from nlm_cdp.browser.attach import Chrome
from nlm_cdp.cdp.connection import Connection
from nlm_cdp.errors import NlmError
from nlm_cdp.granted import SCOPES
from nlm_cdp.runtime import Options, open_runtime
from nlm_cdp.session import Session
from nlm_cdp.sim.chrome import ThrowawayChrome, throwaway_chrome
from nlm_cdp.sim.simulator import Simulator, simulator
from tests.e2e.world import World, application_of
from tests.proxy.proxy import Proxy, hostile_proxy

WITHIN = 30.0
"""Seconds a scenario may take: far more than any takes, far less than a call that hangs."""


@dataclass
class There(World):
    """A World behind a proxy. `pages`: the targets there were before the product came."""

    proxy: Proxy = field(kw_only=True)
    pages: set[str] = field(kw_only=True)

    async def attempt(self, tool: str, **arguments: Any) -> dict[str, Any] | NlmError:
        """What a call gives or raises; anything else than NlmError is a defect and comes through."""
        try:
            return await self.call(tool, **arguments)
        except NlmError as error:
            return error

    @property
    def session(self) -> Session:
        assert self.runtime.parts is not None
        return self.runtime.parts[0]

    @property
    def connection(self) -> Connection | None:
        chrome = self.session.chrome
        assert isinstance(chrome, Chrome)
        return chrome.connection

    async def clean(self) -> None:
        """Nothing of earlier calls is left: no command, no subscription but the page's two, no page but the one."""
        connection, page = self.connection, self.session.page
        assert connection is not None
        assert page is not None
        left = {
            "pending": list(connection._protocol.pending.values()),
            "calls": list(connection._calls.values()),
            "subscriptions": len(connection._subscriptions),
            "scopes": list(page.scopes),
            "streams": list(page.streams),
        }
        assert left == {"pending": [], "calls": [], "subscriptions": 2, "scopes": [], "streams": []}, left
        await self.proxy.control.settle(self.pages | {str(page.target_id)})


@asynccontextmanager
async def behind(
    proxy: Proxy, service: Simulator, chrome: ThrowawayChrome, *, endpoint: str = "", files_root: Path | None = None
) -> AsyncIterator[There]:
    """The product, attached through a proxy."""
    options = Options(
        endpoint=endpoint or proxy.endpoint,
        scopes=SCOPES,
        toolsets=("all",),
        files_root=str(files_root) if files_root else None,
    )
    pages = set(await proxy.control.targets())
    async with open_runtime(options) as runtime:
        yield There(service, chrome, runtime, application_of(runtime, pace=0), proxy=proxy, pages=pages)


class Stage:
    def __init__(self) -> None:
        self.token: trio.lowlevel.TrioToken | None = None
        self.ready = threading.Event()
        self.over = trio.Event()
        self.failure: BaseException | None = None

    async def hold(self) -> None:
        async with simulator() as self.service, throwaway_chrome(self.service.chrome_flags) as self.chrome:
            self.service.service.pace = 0.0
            self.token = trio.lowlevel.current_trio_token()
            self.ready.set()
            await self.over.wait()

    def thread(self) -> None:
        try:
            trio.run(self.hold, strict_exception_groups=True)
        except BaseException as error:  # noqa: BLE001  (raised in the thread of the tests)
            self.failure = error
        finally:
            self.ready.set()

    def run(self, scenario: Callable[..., Awaitable[None]], *arguments: Any, within: float = WITHIN) -> None:
        """Run a scenario in a fresh proxy and a fresh process' worth of product."""

        async def bounded() -> None:
            with trio.fail_after(within):
                await scenario(*arguments)

        trio.from_thread.run(bounded, trio_token=self.token)

    def play(
        self, scenario: Callable[..., Awaitable[None]], *arguments: Any, files_root: Path | None = None, **said: Any
    ) -> None:
        """The same with the product attached; nothing of it is left in Chrome afterwards."""

        async def there() -> None:
            self.service.requests.clear()
            self.service.faults.clear()
            self.service.service.pace = 0.0
            raised: Exception | None = None
            async with hostile_proxy(self.chrome.endpoint) as proxy:
                async with behind(proxy, self.service, self.chrome, files_root=files_root) as there:
                    try:
                        await scenario(there, *arguments)
                    except Exception as error:  # noqa: BLE001  (raised below, where no nursery wraps it)
                        raised = error
                if raised is not None:
                    raise raised
                await proxy.control.settle(there.pages)

        self.run(there, **said)


@contextmanager
def stage() -> Iterator[Stage]:
    held = Stage()
    thread = threading.Thread(target=held.thread)
    thread.start()
    held.ready.wait()
    try:
        if held.token is None:
            raise RuntimeError("the stage did not come up") from held.failure
        yield held
    finally:
        if held.token is not None:
            held.token.run_sync_soon(held.over.set)
        thread.join()
    if held.failure is not None:
        raise held.failure


def hurried(monkeypatch: pytest.MonkeyPatch, *, step: float = 0.5, call: float = 1.0) -> None:
    """Deadlines short enough for a test: of one command to Chrome, and of one call of the service."""
    execute, attempts, download = Connection.execute, Session.attempts, Session.download

    async def quick(self: Connection, command: Any, *, session: Any = None, timeout: float = 30.0) -> Any:
        limit = timeout if timeout == math.inf else min(timeout, step)
        return await execute(self, command, session=session, timeout=limit)

    async def brief(self: Session, rpc: Any, exchange: Any, timeout: float, *more: Any) -> Any:
        return await attempts(self, rpc, exchange, min(timeout, call), *more)

    async def soon(self: Session, *arguments: Any, timeout: float, **more: Any) -> Any:
        return await download(self, *arguments, timeout=min(timeout, call), **more)

    monkeypatch.setattr(Connection, "execute", quick)
    monkeypatch.setattr(Session, "download", soon)
    monkeypatch.setattr(Session, "attempts", brief)
