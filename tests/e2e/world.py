"""A simulator, a real Chromium that takes it for the real hosts, and the product attached to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import trio

from nlm_cdp.application import Application, Progress
from nlm_cdp.browser.discovery import find_executable
from nlm_cdp.cdp.connection import Connection
from nlm_cdp.cdp.generated import target
from nlm_cdp.errors import NlmError
from nlm_cdp.granted import SCOPES
from nlm_cdp.rpc import ToolContext
from nlm_cdp.runtime import Options, Runtime, open_runtime
from nlm_cdp.sim.chrome import ThrowawayChrome, throwaway_chrome
from nlm_cdp.sim.simulator import Simulator, simulator

needs_chromium = pytest.mark.skipif(find_executable() is None, reason="no Chromium found: set NLM_CDP_CHROME")
in_chromium = [pytest.mark.browser, pytest.mark.realtime, needs_chromium]


@dataclass
class World:
    service: Simulator
    chrome: ThrowawayChrome
    runtime: Runtime
    application: Application

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return await self.application.run(tool, arguments, self.note)

    async def fails(self, tool: str, **arguments: Any) -> NlmError:
        """The error of a call that must fail."""
        with pytest.raises(NlmError) as caught:
            await self.call(tool, **arguments)
        return caught.value

    async def note(self, message: str) -> None:
        self.notes.append(message)

    def __post_init__(self) -> None:
        self.notes: list[str] = []

    def sent(self, rpc: str) -> int:
        """How many requests of an rpc the service saw."""
        return len(self.service.requests.to(rpc))


@asynccontextmanager
async def world(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    endpoint: str | None = None,
    files_root: Path | None = None,
    flags: Sequence[str] = (),
) -> AsyncIterator[World]:
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path / "data"))
    async with simulator() as service, throwaway_chrome([*service.chrome_flags, *flags]) as chrome:
        service.service.pace = 0.0
        options = Options(
            endpoint=endpoint or chrome.endpoint,
            scopes=SCOPES,
            toolsets=("all",),
            files_root=str(files_root) if files_root else None,
        )
        async with open_runtime(options) as runtime:
            yield World(service, chrome, runtime, application_of(runtime))


def application_of(runtime: Runtime, pace: float = 0.1) -> Application:
    """The tools as the server has them, with shorter pauses between two looks: the simulator needs no time."""

    async def sleep(seconds: float) -> None:
        await trio.sleep(seconds * pace)

    async def context(progress: Progress) -> ToolContext:
        return replace(await runtime.context(progress), sleep=sleep)

    return Application(context, scopes=SCOPES, toolsets=("all",))


async def targets(connection: Connection) -> list[str]:
    """The URLs of the pages this connection can see; hidden ones show to who made them."""
    return [info.url for info in await connection.execute(target.get_targets())]
