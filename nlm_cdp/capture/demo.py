"""A recording without an account: the simulator's web app in a throwaway Chromium, and somebody who clicks in it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from nlm_cdp.capture.fixture import CLOCK
from nlm_cdp.capture.recorder import Recorder
from nlm_cdp.cdp.connection import Connection, open_connection
from nlm_cdp.cdp.generated import target
from nlm_cdp.cdp.generated.target import TargetInfo
from nlm_cdp.errors import NlmError
from nlm_cdp.sim.chrome import throwaway_chrome
from nlm_cdp.sim.seed import seed
from nlm_cdp.sim.simulator import Simulator, simulator
from nlm_cdp.sim.visitor import everything, open_app
from nlm_cdp.wire.page import APP_HOSTS

Player = Callable[[Recorder], Awaitable[None]]


@asynccontextmanager
async def played() -> AsyncIterator[tuple[Connection, TargetInfo, Player]]:
    """A browser, its tab of the app, and what clicks through all of it and then ends the recording."""
    async with simulator(seed=False) as service, throwaway_chrome(service.chrome_flags) as chrome:
        still(service)
        notebook = seed(service.service.owner)
        async with open_connection(chrome.endpoint) as connection:
            visit = await open_app(connection, f"https://{APP_HOSTS[0]}/notebook/{notebook.id}")

            async def go(recorder: Recorder) -> None:
                clicks = [await visit.click(name) for name in everything()]
                recorder.stop()
                failed = [click.name for click in clicks if click.failed]
                if failed:
                    raise NlmError(f"the simulated web app failed at {', '.join(failed)}")

            infos = await connection.execute(target.get_targets())
            yield connection, next(info for info in infos if info.target_id == visit.target_id), go


def still(service: Simulator) -> None:
    """The clock stands still, and answers do not take their time."""
    service.service.now = lambda: CLOCK
    service.service.pace = 0.0
