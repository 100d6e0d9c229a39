"""The account in a real Chromium: whose it is, what it has used, and the language that everything is generated in."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlm_cdp.cdp.connection import open_connection
from nlm_cdp.cdp.generated import target
from tests.e2e.world import in_chromium, world

pytestmark = in_chromium


async def test_who_this_is_and_what_was_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        account = there.service.service.owner
        account.add_notebook('Of "oPEP7c":"author@elsewhere.example"')  # another address in the page's own text
        found = await there.call("get_account")
        assert (found["email"], found["authuser"], found["tier"]) == ("owner@simulated.example", "0", "pro")
        assert found["limits"] == {"notebooks": 500, "sources": 300, "words_per_source": 500_000}
        assert (found["output_language"], found["usage"]["status"]) == ("en", "not_metered")
        account.metered = True
        usage = (await there.call("get_account"))["usage"]
        assert [window["window"] for window in usage["windows"]] == ["week", "five_hours"]
        assert usage["out_of_quota"] == ["audio"]


async def test_the_account_of_the_users_tab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there, open_connection(there.chrome.endpoint) as mine:
        await mine.execute(target.create_target("https://notebook.google.com/?authuser=1"))
        await there.service.requests.wait_for(lambda logged: logged.path == "/" and logged.authuser == "1")
        found = await there.call("get_account")
        assert (found["email"], found["authuser"]) == ("second@simulated.example", "1")


async def test_a_language_for_the_whole_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        assert (await there.call("set_output_language", language="zh_Hans"))["status"] == "needs_confirmation"
        assert there.sent("hT54vc") == 0
        done = await there.call("set_output_language", language="zh_Hans", confirm=True)
        assert (done["language"], there.service.service.owner.language) == ("zh_Hans", "zh_Hans")
        assert (await there.call("get_account"))["output_language"] == "zh_Hans"
