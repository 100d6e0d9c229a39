"""The simulator and a throwaway Chromium in the place of the user's Chrome: what `--demo` attaches to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nlm_cdp.browser.attach import Chrome
from nlm_cdp.browser.page import Page
from nlm_cdp.sim.chrome import throwaway_chrome
from nlm_cdp.sim.simulator import simulator

PACE = 0.15
"""Seconds between the frames of an answer: slow enough to be seen streaming."""


class SimulatedChrome(Chrome):
    """Attaches like `Chrome` does, to a browser that it starts and that sees the simulator as the real hosts."""

    async def hold(self, connected: Callable[[Callable[[], Awaitable[Page]]], None]) -> None:
        async with simulator() as service, throwaway_chrome(service.chrome_flags) as chrome:
            service.service.pace = PACE
            self.endpoint = chrome.endpoint
            await super().hold(connected)
