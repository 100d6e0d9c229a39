"""From a command line to a recording: which browser, which tab, and when it is over."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import trio

from nlm_cdp.browser.attach import notebook_targets
from nlm_cdp.browser.candidate import Mode
from nlm_cdp.browser.discovery import locate
from nlm_cdp.capture.exchange import Begun, Ended, Exchange
from nlm_cdp.capture.recorder import Recorder, choose
from nlm_cdp.cdp.connection import Connection, open_connection
from nlm_cdp.cdp.generated.target import TargetInfo
from nlm_cdp.errors import Ambiguous, InvalidArgument, NlmError
from nlm_cdp.groups import leaves

UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
LONGEST_LINE = 4096
"""What a terminal hands over at once."""
Each = Callable[[Exchange], None]
Play = Callable[[Recorder], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Watching:
    """What is watched: an endpoint and a tab of it, for so many seconds or until an interrupt."""

    endpoint: str
    tab: str | None
    seconds: float | None
    demo: bool


def seconds(text: str | None) -> float | None:
    """`90s`, `10m`, `1h`. Raises InvalidArgument."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if found is None or not float(found[1]):
        raise InvalidArgument(f"{text!r} is no duration", hint="Say 90s, 10m or 1h.")
    return float(found[1]) * UNITS[found[2]]


def run(watching: Watching, ended: Each, begun: Each | None = None) -> str | None:
    """Watch until it is over; why, where something ended it. Each exchange is handled in a thread, one at a time."""
    failed: list[NlmError] = []
    why: list[str | None] = []
    interrupted: list[BaseException] = []

    async def handle(output: Begun | Ended) -> None:
        work = ended if isinstance(output, Ended) else begun
        if work is not None:
            await trio.to_thread.run_sync(work, output.exchange)

    async def main() -> None:
        try:
            async with browser(watching) as (connection, tab, play):
                recorder = Recorder(connection, tab.target_id, handle)
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(stop_when_told, recorder, watching.seconds, nursery.cancel_scope)
                    async with trio.open_nursery() as recording:
                        await begin(recording, recorder, tab)
                        say(f"Recording {tab.url}; Ctrl-C ends it.")
                        if play is not None:
                            recording.start_soon(play, recorder)
                    nursery.cancel_scope.cancel()
                why.append(recorder.ended)
        except* NlmError as group:
            failed.extend(error for error in leaves(group) if isinstance(error, NlmError))
        except* KeyboardInterrupt as group:  # before there is a recording to stop
            interrupted.extend(leaves(group))

    trio.run(main)
    if interrupted:
        raise KeyboardInterrupt
    if failed:
        raise failed[0]
    return why[0]


@asynccontextmanager
async def browser(watching: Watching) -> AsyncIterator[tuple[Connection, TargetInfo, Play | None]]:
    """The connection, the tab, and who plays in it where nobody else does."""
    if watching.demo:
        from nlm_cdp.capture.demo import played

        async with played() as (connection, tab, play):
            yield connection, tab, play
        return
    found = await locate(watching.endpoint)
    if found.mode is Mode.APPROVAL:
        say("Chrome asks whether to allow this: click Allow.")
    elif found.mode is Mode.EXPLICIT:  # an address does not tell whether it will
        say("If Chrome asks whether to allow this, click Allow.")
    async with open_connection(found.url) as connection:
        yield connection, await chosen(await notebook_targets(connection), watching.tab), None


async def chosen(found: list[TargetInfo], wanted: str | None) -> TargetInfo:
    """The tab to watch; of several, the user is asked where there is one to ask."""
    try:
        return choose(found, wanted)
    except Ambiguous as exc:
        if wanted is not None or sys.stdin is None or not sys.stdin.isatty():
            raise
        say("\n".join([exc.message + ":", *exc.details["tabs"]]))
    while True:
        say("Which one? ", end="")
        line = await trio.to_thread.run_sync(typed, abandon_on_cancel=True)
        if not line:
            say("")
            raise InvalidArgument("no tab was chosen", hint="Choose one with --tab NUMBER.")
        try:
            return choose(found, line.strip() or None)
        except Ambiguous:
            say(f"Type a number from 1 to {len(found)}.")


def typed() -> str:
    """A line from the terminal; nothing at its end. Past `sys.stdin`: a thread left behind would keep its lock."""
    return os.read(sys.stdin.fileno(), LONGEST_LINE).decode(errors="replace")


async def begin(recording: trio.Nursery, recorder: Recorder, tab: TargetInfo) -> None:
    try:
        await recording.start(recorder.run)
    except NlmError as exc:
        raise exc.also(f"It is the tab at {tab.url}.") from None


async def stop_when_told(recorder: Recorder, within: float | None, scope: trio.CancelScope) -> None:
    """The time is up, or an interrupt: what is in flight may end. A second interrupt does not wait for it."""
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        with trio.move_on_after(within if within is not None else float("inf")):
            await anext(signals)
        recorder.stop()
        await anext(signals)
        scope.cancel()


def say(text: str, end: str = "\n") -> None:
    print(text, end=end, file=sys.stderr, flush=True)
