"""What takes the page or the browser away in the middle of a call, and what comes after."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from nlm_cdp.cdp.generated import page as cdp_page
from nlm_cdp.errors import NlmError
from nlm_cdp.sim.chrome import throwaway_chrome
from nlm_cdp.sim.faults import Fault, Kind
from nlm_cdp.sim.simulator import simulator
from tests.e2e.world import World, in_chromium, world
from tests.fakes import present

pytestmark = in_chromium
LIST, CREATE = "wXbhsf", "CCqFvf"


async def in_flight(there: World, rpc: str) -> None:
    """Wait until a request that is never answered has arrived."""
    await there.service.requests.wait_for(lambda logged: rpc in logged.rpc_ids and logged.fault is not None)


async def navigate_away(there: World) -> None:
    session, _ = await there.runtime.open()
    page = present(session.page)
    await page.connection.execute(cdp_page.navigate("https://notebook.google.com/robots.txt"), session=page.session)


async def test_a_navigation_in_the_middle_costs_a_read_one_retry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, monkeypatch) as there:
        await there.call("list_notebooks")
        there.service.faults.add(Fault(Kind.SILENT, LIST))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(there.call, "list_notebooks")
            await in_flight(there, LIST)
            await navigate_away(there)
        assert there.sent(LIST) == 3


async def test_a_navigation_in_the_middle_leaves_a_write_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, monkeypatch) as there:
        await there.call("list_notebooks")
        there.service.faults.add(Fault(Kind.SILENT, CREATE, commit=True))
        caught: list[NlmError] = []

        async def create() -> None:
            caught.append(await there.fails("create_notebook", title="Once"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(create)
            await in_flight(there, CREATE)
            await navigate_away(there)
        assert (caught[0].code, caught[0].outcome) == ("UNCONFIRMED_WRITE", "unknown")
        assert there.sent(CREATE) == 1
        assert (await there.call("list_notebooks", query="Once"))["total"] == 1


async def test_a_page_without_a_token_is_not_called_signed_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        there.service.faults.add(Fault(Kind.WALL, "/", body="<html><p>No token here.</p></html>"))
        error = await there.fails("list_notebooks")
        assert (error.code, error.state) == ("DRIFT", "could_not_check")
        assert (await there.call("list_notebooks"))["total"] == 1


async def test_the_app_on_another_of_its_hosts_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nlm_cdp.cdp.connection import open_connection
    from nlm_cdp.cdp.generated import target

    async with world(tmp_path, monkeypatch) as there, open_connection(there.chrome.endpoint) as mine:
        there.service.service.moved = False
        await mine.execute(target.create_target("https://notebooklm.google.com/"))
        await there.service.requests.wait_for(lambda logged: logged.host == "notebooklm.google.com")
        listed = await there.call("list_notebooks")
        assert listed["notebooks"][0]["url"].startswith("https://notebooklm.google.com/")
        there.service.service.moved = True
        session, _ = await there.runtime.open()
        await present(session.page).close()
        listed = await there.call("list_notebooks")
        assert listed["notebooks"][0]["url"].startswith("https://notebook.google.com/")


async def test_the_browser_dies_and_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = tmp_path / "profile"
    profile.mkdir()
    port_file = profile / "DevToolsActivePort"
    async with simulator() as service, throwaway_chrome(service.chrome_flags) as first:
        port_file.write_text((first.profile / "DevToolsActivePort").read_text())
        async with world(tmp_path, monkeypatch, endpoint=str(profile)) as there:
            assert (await there.call("list_notebooks"))["total"] == 1
            service.faults.add(Fault(Kind.SILENT, CREATE))
            caught: list[NlmError] = []

            async def create() -> None:
                caught.append(await there.fails("create_notebook", title="Lost"))

            async with trio.open_nursery() as nursery:
                nursery.start_soon(create)
                await service.requests.wait_for(lambda logged: CREATE in logged.rpc_ids)
                first.process.kill()
            assert (caught[0].code, caught[0].details["cause"]) == ("UNCONFIRMED_WRITE", "CHROME_LOST")
            assert len(service.requests.to(CREATE)) == 1
            error = await there.fails("list_notebooks")
            assert error.code.startswith("CHROME_")
            async with throwaway_chrome(service.chrome_flags) as second:
                port_file.write_text((second.profile / "DevToolsActivePort").read_text())
                assert (await there.call("list_notebooks"))["total"] == 1
