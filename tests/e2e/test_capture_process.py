"""nlm-capture as a real process on a real Chromium: started, told to stop, and what it leaves behind."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
import trio

from nlm_cdp.capture.commands import fixtures
from nlm_cdp.sim.visitor import open_app
from nlm_cdp.wire.page import APP_HOSTS
from tests.e2e.capturing import COMMAND, running
from tests.e2e.test_capture import stage
from tests.e2e.world import in_chromium

pytestmark = in_chromium
EVERYTHING = ("list-notebooks", "get-notebook", "list-notes")


async def test_a_recording_ends_at_an_interrupt_with_everything_written(tmp_path: Path) -> None:
    out = tmp_path / "fixtures"
    async with (
        stage() as there,
        running(there.chrome.endpoint, tmp_path, "record", "--out", str(out), "--scenario", "mine") as run,
    ):
        await run.until("Recording ")
        for name in EVERYTHING:
            await there.visit.click(name)
        run.process.send_signal(signal.SIGINT)
    assert run.process.returncode == 0
    assert "3 calls, 3 fixtures" in run.said
    assert [path.name for path, _ in fixtures(out)] == ["mine.json"] * 3
    assert {fixture.origin for _, fixture in fixtures(out)} == {"live"}
    assert run.results == ""


async def test_a_recording_ends_when_its_time_is_up(tmp_path: Path) -> None:
    async with (
        stage() as there,
        running(there.chrome.endpoint, tmp_path, "record", "--out", str(tmp_path / "f"), "--for", "0.1s") as run,
    ):
        await run.until("calls, ")
    assert run.process.returncode == 0


async def test_follow_shows_each_call_as_it_happens(tmp_path: Path) -> None:
    async with stage() as there, running(there.chrome.endpoint, tmp_path, "follow", "--json", "--rpc", "wXbhsf") as run:
        await run.until("Recording ")
        for name in EVERYTHING:
            await there.visit.click(name)
        await run.until("ListRecentlyViewedProjects")
        run.process.send_signal(signal.SIGTERM)
    (line,) = run.results.splitlines()
    found = json.loads(line)
    assert (found["rpc"], found["status"], found["unclaimed"], found["failure"]) == ("wXbhsf", 200, [], None)
    assert found["response"]["notebooks"][0]["title"]


async def test_drift_live_looks_at_the_tab_and_exits_by_what_it_saw(tmp_path: Path) -> None:
    async with stage() as there:
        there.service.service.reshape["rLM1Ne-GetProject"] = lambda row: [[*row[0][:2], 7, *row[0][3:]]]
        async with running(
            there.chrome.endpoint, tmp_path, "drift", "--live", "--json", "--html", str(tmp_path / "d.html")
        ) as run:
            await run.until("Recording ")
            await there.visit.click("get-notebook")
            await run.until("breaking: response")
            run.process.send_signal(signal.SIGINT)
    assert run.process.returncode == 1
    assert json.loads(run.results)["drift"] == "breaking"
    assert "rLM1Ne" in (tmp_path / "d.html").read_text()


async def test_a_signed_out_tab_could_not_be_looked_at(tmp_path: Path) -> None:
    async with stage() as there:
        there.service.service.signed_out, there.service.service.signed_out_rpc = "redirect", "status"
        async with running(there.chrome.endpoint, tmp_path, "drift", "--live", "--json") as run:
            await run.until("Recording ")
            await there.visit.run(
                "function () { return fetch('/_/LabsTailwindUi/data/batchexecute?rpcids=wXbhsf&rt=c', { method: 'POST',"
                " headers: { 'content-type': 'application/x-www-form-urlencoded' }, body:"
                """ 'f.req=' + encodeURIComponent('[[["wXbhsf","[null,1,null,[2]]",null,"generic"]]]') + '&at=x&' })"""
                ".then((answer) => answer.text()); }"
            )
            await run.until("wXbhsf")
            run.process.send_signal(signal.SIGINT)
    assert run.process.returncode == 4
    assert json.loads(run.results)["signed_out"] is True


async def test_of_several_tabs_one_has_to_be_chosen(tmp_path: Path) -> None:
    async with stage() as there:
        await open_app(there.connection, f"https://{APP_HOSTS[0]}/")
        async with running(there.chrome.endpoint, tmp_path, "record", "--out", str(tmp_path / "f")) as run:
            await run.until("2 notebook tabs are open")
        assert run.process.returncode == 1
        assert "1: https://notebook.google.com/" in run.said
        async with running(
            there.chrome.endpoint, tmp_path, "record", "--out", str(tmp_path / "f"), "--tab", "/notebook/"
        ) as run:
            await run.until("Recording https://notebook.google.com/notebook/")
            run.process.send_signal(signal.SIGINT)
        assert run.process.returncode == 0


async def test_a_tab_that_is_closed_ends_the_recording_and_says_so(tmp_path: Path) -> None:
    from nlm_cdp.cdp.generated import target

    async with (
        stage() as there,
        running(there.chrome.endpoint, tmp_path, "record", "--out", str(tmp_path / "f")) as run,
    ):
        await run.until("Recording ")
        await there.connection.execute(target.close_target(there.visit.target_id))
    assert "it ended because the tab was closed" in run.said


async def test_without_a_browser_the_exit_code_says_so(tmp_path: Path) -> None:
    command = [*COMMAND, "record", "--endpoint", "http://127.0.0.1:9"]
    done = await trio.run_process(command, capture_stderr=True, check=False)
    assert (done.returncode, b"CHROME_NOT_FOUND" in done.stderr) == (3, True)


@pytest.mark.parametrize("secret", ["token", "cookie", "email"])
async def test_no_secret_of_the_session_is_in_anything_it_says_or_writes(tmp_path: Path, secret: str) -> None:
    out = tmp_path / "fixtures"
    async with stage() as there, running(there.chrome.endpoint, tmp_path, "record", "--out", str(out)) as run:
        await run.until("Recording ")
        await there.visit.click("get-account")
        for name in EVERYTHING:
            await there.visit.click(name)
        service = there.service.service
        value = {"token": service.owner.token, "cookie": service.cookie, "email": service.owner.email}[secret]
        run.process.send_signal(signal.SIGINT)
    everything = run.said + run.results + "".join(path.read_text() for path in out.rglob("*.json"))
    assert value not in everything
