"""A tab that hangs, its renderer stopped: it holds up nobody but who wants that very tab, and that for seconds."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest
import trio

from nlm_cdp.browser.attach import notebook_targets
from nlm_cdp.browser.page import ANSWER_S
from nlm_cdp.capture.commands import fixtures
from nlm_cdp.capture.recorder import ENABLE_S
from nlm_cdp.cdp.connection import Connection, open_connection
from nlm_cdp.cdp.generated import target
from nlm_cdp.errors import Outcome
from nlm_cdp.sim.visitor import Visit, open_app
from nlm_cdp.wire.page import APP_HOSTS
from tests.e2e.capturing import running
from tests.e2e.world import World, in_chromium, world

pytestmark = [
    *in_chromium,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells here which process draws a tab"),
]
HOME = f"https://{APP_HOSTS[0]}/"
RECORD = ("record", "--out")
UNRELATED = "data:text/html,<title>Unrelated</title>"
SOON_S, SILENT_S = 5.0, 2.0
"""What everybody else gets their answer within, and what a live tab answers within however busy the machine is."""


# The processes of a browser


def renderers(root: int) -> list[int]:
    """The processes below a browser's that draw its tabs; one or two of them stand by for a next tab."""
    children: dict[int, list[int]] = {}
    drawing: set[int] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
            command = (folder / "cmdline").read_bytes()
        except OSError:  # it has ended meanwhile
            continue
        children.setdefault(parent, []).append(int(folder.name))
        if b"--type=renderer" in command:
            drawing.add(int(folder.name))
    below = [root]
    for pid in below:
        below += children.get(pid, [])
    return [pid for pid in below if pid in drawing]


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    with suppress(ProcessLookupError):  # one that stood by may have ended
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


async def answers(tab: Visit) -> bool:
    with trio.move_on_after(SILENT_S):
        return bool((await tab.evaluate("true")).value)
    return False


async def renderer(root: int, tab: Visit) -> int:
    """The process that draws a tab: the one without which it is silent."""
    for pid in renderers(root):
        with stopped(pid):
            if not await answers(tab):
                return pid
    raise AssertionError("no process of this browser draws the tab")


# Who is held up


class Tabs:
    """The product, which has not yet looked for Chrome, and the tabs of its user."""

    def __init__(self, there: World, connection: Connection, folder: Path) -> None:
        self.there, self.connection, self.folder = there, connection, folder

    async def notebook(self, path: str = "") -> Visit:
        return await open_app(self.connection, HOME + path)

    async def unrelated(self) -> Visit:
        tab = await self.connection.execute(target.create_target(UNRELATED))
        return Visit(self.connection, tab, await self.connection.execute(target.attach_to_target(tab, flatten=True)))

    @asynccontextmanager
    async def hung(self, tab: Visit) -> AsyncIterator[None]:
        pid = await renderer(self.there.chrome.process.pid, tab)
        with stopped(pid):
            yield
            assert not await answers(tab)  # it hung all the while
        assert await answers(tab)

    async def tools_answer(self) -> None:
        with trio.fail_after(SOON_S):
            assert (await self.there.call("list_notebooks"))["total"] == 1
        with trio.fail_after(SOON_S):
            assert (await self.there.call("get_health"))["state"] == "ok"

    async def records(self, tab: Visit) -> None:
        """What is clicked in a tab is recorded, although others hang."""
        out = self.folder / "fixtures"
        found = [info.target_id for info in await notebook_targets(self.connection)]
        number = str(found.index(tab.target_id) + 1)
        async with running(self.there.chrome.endpoint, self.folder, *RECORD, str(out), "--tab", number) as run:
            await run.until("Recording ")
            await tab.click("list-notebooks")
            await run.until("wXbhsf")
            run.process.send_signal(signal.SIGINT)
        assert run.process.returncode == 0
        assert [fixture.rpc for _, fixture in fixtures(out)] == ["wXbhsf"]


@asynccontextmanager
async def several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *flags: str) -> AsyncIterator[Tabs]:
    async with (
        world(tmp_path, monkeypatch, flags=flags) as there,
        open_connection(there.chrome.endpoint) as connection,
    ):
        yield Tabs(there, connection, tmp_path)


async def test_an_unrelated_tab_that_hangs_holds_up_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with several(tmp_path, monkeypatch) as user:
        notebook, unrelated, _ = await user.notebook(), await user.unrelated(), await user.unrelated()
        async with user.hung(unrelated):
            await user.tools_answer()
            await user.records(notebook)


async def test_a_notebook_tab_that_hangs_holds_up_neither_calls_nor_the_recording_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with several(tmp_path, monkeypatch) as user:
        hanging, _, live = await user.notebook(), await user.unrelated(), await user.notebook("notebook/other")
        async with user.hung(hanging):
            await user.tools_answer()
            await user.records(live)


async def test_the_only_notebook_tab_hangs_and_only_its_recording_fails_soon_and_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "none"
    async with several(tmp_path, monkeypatch) as user:
        _, notebook, _ = await user.unrelated(), await user.notebook(), await user.unrelated()
        async with user.hung(notebook):
            await user.tools_answer()
            with trio.fail_after(ENABLE_S + 2 * SOON_S):
                async with running(user.there.chrome.endpoint, tmp_path, *RECORD, str(out)) as run:
                    await run.process.wait()
            assert run.process.returncode == 1
            assert (
                f"TIMEOUT: the tab does not answer: it hangs, or Chrome has put it to sleep. It is the tab at {HOME}"
                in run.said
            )
            assert not out.exists()
        await user.tools_answer()
        await user.records(notebook)


async def test_a_tab_that_hangs_and_shares_its_process_with_our_page_is_told_of_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With more tabs than it wants processes, Chrome draws pages of one site in one of them."""
    async with several(tmp_path, monkeypatch, "--renderer-process-limit=1") as user:
        notebook = await user.notebook()
        async with user.hung(notebook):
            with trio.fail_after(ANSWER_S + 2 * SOON_S):
                error = await user.there.fails("list_notebooks")
            assert (error.code, error.outcome) == ("TIMEOUT", Outcome.NOT_SENT)
            assert "close the notebook tab that hangs" in error.hint
        await user.tools_answer()
