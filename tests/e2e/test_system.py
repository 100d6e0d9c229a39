"""Signing in and starting over in a real Chromium: the tab is the user's, the page is ours."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from nlm_cdp.application import Application
from nlm_cdp.cdp.connection import Connection, open_connection
from nlm_cdp.cdp.generated import target
from nlm_cdp.runtime import Options, open_runtime
from tests.e2e.world import in_chromium, world

pytestmark = in_chromium

SIGN_IN = "https://accounts.google.com/ServiceLogin"


async def tabs(connection: Connection) -> list[str]:
    """What the user sees in their tab strip."""
    return [info.url for info in await connection.execute(target.get_targets()) if info.type_ == "page"]


async def arrived(connection: Connection, url: str) -> None:
    with trio.fail_after(10):
        while not any(tab.startswith(url) for tab in await tabs(connection)):
            pass


async def test_signing_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there, open_connection(there.chrome.endpoint) as mine:
        there.service.service.sign_out()
        asked = await there.call("setup_auth")
        assert (asked["status"], asked["url"]) == ("opened", "https://notebook.google.com/login")
        await arrived(mine, SIGN_IN)
        health = await there.call("get_health")
        assert (health["state"], health["authenticated"], health.get("account")) == ("signed_out", False, None)
        there.service.service.sign_in()
        assert (await there.call("get_health"))["authenticated"] is True
        assert await there.call("setup_auth") == {"status": "signed_in", "account": "owner@simulated.example"}
        assert [url for url in await tabs(mine) if url.startswith(SIGN_IN)] != []


async def test_the_tab_stays_when_we_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there, open_connection(there.chrome.endpoint) as mine:
        there.service.service.sign_out("landing")
        async with open_runtime(Options(endpoint=there.chrome.endpoint)) as runtime:
            result = await Application(runtime.context, toolsets=("all",)).run("setup_auth", {}, there.note)
            assert result["status"] == "opened"
            await arrived(mine, SIGN_IN)
        assert any(url.startswith(SIGN_IN) for url in await tabs(mine))


async def test_starting_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there, open_connection(there.chrome.endpoint) as mine:
        await mine.execute(target.create_target("https://notebook.google.com/?authuser=1"))
        await there.service.requests.wait_for(lambda logged: logged.path == "/" and logged.authuser == "1")
        there.service.service.accounts["1"].add_notebook("Of the second")
        assert (await there.call("list_notebooks"))["total"] == 1
        session, store = await there.runtime.open()
        await store.create_session("n")
        first = session.page
        assert (await there.call("re_auth"))["status"] == "needs_confirmation"
        assert session.page is first
        done = await there.call("re_auth", confirm=True)
        assert done["url"] == "https://notebook.google.com/?authuser=1"
        assert (session.page, await store.sessions()) == (None, [])
        assert (await there.call("list_notebooks"))["notebooks"][0]["title"] == "Of the second"
        assert session.page is not first
        with trio.fail_after(10):  # the new tab tells its address once it has arrived
            while (await tabs(mine)).count(done["url"]) != 2:
                pass


async def test_cleaning_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        await there.call("ask_question", question="What is the simulator?", notebook="About")
        listed = await there.call("cleanup_data")
        files = {file["path"] for category in listed["categories"] for file in category["files"]}
        record = tmp_path / "data/audit.jsonl"  # what a model did is not for a model to remove
        assert files == {str(path) for path in (tmp_path / "data").iterdir() if path != record}
        assert (await there.call("cleanup_data", confirm=True))["status"] == "deleted"
        assert list((tmp_path / "data").iterdir()) == [record]
        assert (await there.call("list_sessions"))["sessions"] == []
        assert (await there.call("get_health"))["status"] == "ok"
