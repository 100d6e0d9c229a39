"""nlm-capture against Chrome's real dialog: it waits and says so, records once it is allowed, and ends when it is not."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from nlm_cdp.capture.commands import fixtures
from nlm_cdp.cdp.connection import open_connection
from nlm_cdp.cdp.generated import target
from nlm_cdp.sim.visitor import Visit, open_app
from nlm_cdp.wire.page import APP_HOSTS
from tests.e2e.capturing import Process, running
from tests.e2e.display import GREEN_PAGE, SETTLED_S, AskingChrome, asking, comes, on_screen

pytestmark = on_screen
HOME = f"https://{APP_HOSTS[0]}/"
ADVICE = "Call again and click Allow when Chrome asks."


@asynccontextmanager
async def visited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[AskingChrome, Visit]]:
    """A browser in approval mode, a notebook tab behind the green page, and who clicks in it: a client let in before."""
    async with asking(tmp_path, monkeypatch) as (_, chrome), trio.open_nursery() as nursery:
        nursery.start_soon(chrome.allow)
        async with open_connection(chrome.endpoint) as connection:
            visit = await open_app(connection, HOME)
            await connection.execute(target.create_target(GREEN_PAGE))
            await chrome.unasked()
            yield chrome, visit


@asynccontextmanager
async def asked(
    chrome: AskingChrome, folder: Path, *command: str, endpoint: str | None = None
) -> AsyncIterator[Process]:
    """A run that waits for Chrome's user, and has said so."""
    async with running(endpoint or str(chrome.profile), folder, *command) as run:
        await run.until("click Allow")
        await chrome.asked()
        assert not await comes(lambda: run.process.returncode is not None or "Recording" in run.said, SETTLED_S)
        assert chrome.asks
        yield run
    assert "Traceback" not in run.said


@pytest.mark.parametrize("named", ["folder", "address"])
async def test_allow_begins_the_recording_with_one_click(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    out = tmp_path / "fixtures"
    async with visited(tmp_path, monkeypatch) as (chrome, visit):
        endpoint = str(chrome.profile) if named == "folder" else chrome.endpoint
        async with asked(chrome, tmp_path, "record", "--out", str(out), endpoint=endpoint) as run:
            await chrome.allow()
            await run.until(f"Recording {HOME}; ")
            await visit.click("list-notebooks")
            await run.until("wXbhsf")
            run.process.send_signal(signal.SIGINT)
        assert await chrome.quiet()
    assert run.process.returncode == 0
    assert [fixture.rpc for _, fixture in fixtures(out)] == ["wXbhsf"]


@pytest.mark.parametrize(("command", "code"), [("record --out {}", 3), ("drift --live --html {}", 4)])
async def test_cancel_ends_it_with_the_advice_and_asks_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, code: int
) -> None:
    out = tmp_path / "fixtures"
    async with asking(tmp_path, monkeypatch) as (_, chrome):
        async with asked(chrome, tmp_path, *command.format(out).split()) as run:
            await chrome.cancel()
        assert await chrome.quiet()
    assert run.process.returncode == code
    assert "CHROME_APPROVAL_DENIED" in run.said
    assert ADVICE in run.said
    assert not out.exists()


async def test_an_interrupt_while_chrome_asks_ends_it_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with asking(tmp_path, monkeypatch) as (_, chrome):
        async with asked(chrome, tmp_path, "record", "--out", str(tmp_path / "fixtures")) as run:
            run.process.send_signal(signal.SIGINT)
        assert run.process.returncode == 130
