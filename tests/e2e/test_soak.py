"""A long life in little time: mixed calls, many at once, cancelled at any moment; nothing may grow."""

from __future__ import annotations

import gc
import random
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from nlm_cdp.cdp.connection import Connection, open_connection
from nlm_cdp.errors import NlmError
from nlm_cdp.sim.faults import Fault, Kind
from tests.e2e.world import World, in_chromium, targets, world

pytestmark = in_chromium
AT_ONCE = 8
ABOUT = "About this simulation"

Call = Callable[[World], Any]
CALLS: tuple[Call, ...] = (
    lambda there: there.call("list_notebooks"),
    lambda there: there.call("get_notebook", notebook=ABOUT),
    lambda there: there.call("list_sources", notebook=ABOUT),
    lambda there: there.call("get_source_content", notebook=ABOUT, source="Faults on request"),
    lambda there: there.call("rename_notebook", notebook=ABOUT, emoji="🧪"),
    lambda there: there.call("ask_question", notebook=ABOUT, question="What do faults do?"),
    lambda there: there.call("get_health"),
    lambda there: there.fails("get_notebook", notebook="no such notebook"),
)
TROUBLES = (
    Fault(Kind.HTTP, code=500),
    Fault(Kind.HTTP, code=429, headers={"retry-after": "1"}),
    Fault(Kind.WALL),
    Fault(Kind.CUT, amount=0.5),
    Fault(Kind.STATUS, code=13),
)


@dataclass(frozen=True)
class Held:
    """What the product and the browser hold at one moment; the simulator in this process, and its connections, apart."""

    memory: int
    tasks: int
    handles: int
    pages: int
    pending: int
    subscriptions: int
    running: int


async def held(there: World, mine: Connection) -> Held:
    there.service.requests.clear()  # the simulator's memory of what it saw is not ours
    there.notes.clear()
    for notebook in there.service.service.owner.notebooks.values():
        for conversation in notebook.chats:
            conversation.turns.clear()
    session, _ = await there.runtime.open()
    page = await session.current_page()
    connection = page.connection
    running = await page.evaluate("function (key) { return globalThis[key].running.size; }", page.key)
    gc.collect()
    return Held(
        memory() if tracemalloc.is_tracing() else 0,
        tasks(),
        len(list(Path("/proc/self/fd").iterdir())) - len(there.service.connections) if sys.platform == "linux" else 0,
        len(await targets(mine)),
        len(connection._protocol.pending) + len(connection._calls),
        len(connection._subscriptions),
        running,
    )


def tasks() -> int:
    """How many tasks live below this one's root; those that serve the browser are as many as it likes to have connections."""
    root = trio.lowlevel.current_root_task()
    assert root is not None
    found, waiting = 0, [root]
    while waiting:
        task = waiting.pop()
        if task.name != "trio.serve_listeners":
            found += 1
            waiting += [child for nursery in task.child_nurseries for child in nursery.child_tasks]
    return found


def memory() -> int:
    """Bytes that Python holds; the table of interned strings, which doubles at some moment of every process, apart."""
    found = tracemalloc.take_snapshot().filter_traces(
        [tracemalloc.Filter(inclusive=False, filename_pattern="*/pathlib*")]
    )
    return sum(trace.size for trace in found.traces)


async def storm(there: World, calls: int, dice: random.Random) -> None:
    """So many calls, a few at a time; now and then the service fails."""
    codes: list[str] = []
    order = [dice.choice(CALLS) for _ in range(calls)]

    async def work() -> None:
        while order:
            call = order.pop()
            if dice.random() < 0.1:
                there.service.faults.add(dice.choice(TROUBLES))
            try:
                await call(there)
            except NlmError as exc:
                codes.append(exc.code)

    async with trio.open_nursery() as nursery:
        for _ in range(AT_ONCE):
            nursery.start_soon(work)
    there.service.faults.clear()
    assert "INTERNAL" not in codes


def grown(before: Held, after: Held) -> dict[str, tuple[int, int]]:
    """What grew; memory may by half a megabyte."""
    names = [name for name in Held.__dataclass_fields__ if name != "memory"]
    found = {name: (getattr(before, name), getattr(after, name)) for name in names}
    return {name: pair for name, pair in found.items() if pair[1] > pair[0]} | (
        {"memory": (before.memory, after.memory)} if after.memory - before.memory > 512 << 10 else {}
    )


@pytest.mark.parametrize("calls", [400, pytest.param(6_000, marks=pytest.mark.long)])
async def test_nothing_grows_over_many_mixed_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    async with world(tmp_path, monkeypatch) as there, open_connection(there.chrome.endpoint) as mine:
        tracemalloc.start()
        try:
            await storm(there, 150, random.Random(1))
            before = await held(there, mine)
            await storm(there, calls, random.Random(2))
            after = await held(there, mine)
        finally:
            tracemalloc.stop()
    assert grown(before, after) == {}


async def test_cancelling_at_any_moment_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(3)
    async with world(tmp_path, monkeypatch) as there, open_connection(there.chrome.endpoint) as mine:
        await storm(there, 60, dice)
        before = await held(there, mine)
        cancelled = 0
        while cancelled < 200:
            call = dice.choice(CALLS[:-1])
            with trio.move_on_after(dice.random() * 0.01) as scope:
                await call(there)
            cancelled += scope.cancelled_caught
        assert (await there.call("list_notebooks"))["notebooks"]
        with trio.fail_after(10):
            while grown(before, after := await held(there, mine)).keys() - {"memory"}:
                await trio.testing.wait_all_tasks_blocked()
    assert grown(before, after).keys() <= {"memory"}
