"""The account in a real Chromium: whose it is, what it has used, and the language that everything is generated in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nlm_cdp.cdp.connection import Connection, open_connection
from nlm_cdp.cdp.generated import target
from nlm_cdp.errors import Outcome
from nlm_cdp.sim.state import Account, Service
from nlm_cdp.sim.visitor import open_app
from tests.e2e.world import World, in_chromium, world

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


@pytest.mark.parametrize(
    ("tool", "arguments"), [("create_notebook", {"title": "Whose?"}), ("list_notebooks", {}), ("get_account", {})]
)
async def test_another_account_in_mid_life_is_told_before_anything_is_done_as_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str, arguments: dict[str, Any]
) -> None:
    async with world(tmp_path, monkeypatch) as there, open_connection(there.chrome.endpoint) as mine:
        await there.call("create_notebook", title="Mine")
        service = there.service.service
        before = {email: set(account.notebooks) for email, account in owners(service).items()}
        service.switch()
        await mine.execute(target.create_target("https://notebook.google.com/"))
        await there.service.requests.wait_for(lambda logged: logged.path == "/" and logged.status == 200)
        await cookies_are_new(there, mine)
        error = await there.fails(tool, **arguments)
        assert (error.code, error.state, error.outcome) == ("ACCOUNT_AMBIGUOUS", "account_changed", Outcome.REJECTED)
        assert "@" not in str(error) + error.hint
        assert {email: set(account.notebooks) for email, account in owners(service).items()} == before
        assert (await there.call("get_account"))["email"] == "second@simulated.example"
        made = await there.call("create_notebook", title="Theirs")
        assert made["notebook"]["id"] in service.owner.notebooks


def owners(service: Service) -> dict[str, Account]:
    return {account.email: account for account in service.accounts.values()}


async def cookies_are_new(there: World, mine: Connection) -> None:
    """The user's own tab has signed this browser in anew: its cookie is the service's current one."""
    tab = await open_app(mine, "https://notebook.google.com/")
    assert await tab.text(".account") == "Signed in as second@simulated.example"


async def test_an_account_that_the_app_does_not_answer_as_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, monkeypatch) as there:
        there.runtime.options = replace(there.runtime.options, account="1")
        assert (await there.call("get_account"))["email"] == "second@simulated.example"
    async with world(tmp_path, monkeypatch) as there:
        there.runtime.options = replace(there.runtime.options, account="1")
        service = there.service.service
        monkeypatch.setattr(service, "account", lambda authuser: service.owner)  # the app falls back to another
        error = await there.fails("list_notebooks")
        assert (error.code, error.state) == ("ACCOUNT_AMBIGUOUS", "other_account")
        assert there.sent("wXbhsf") == 0


async def test_a_language_for_the_whole_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        assert (await there.call("set_output_language", language="zh_Hans"))["status"] == "needs_confirmation"
        assert there.sent("hT54vc") == 0
        done = await there.call("set_output_language", language="zh_Hans", confirm=True)
        assert (done["language"], there.service.service.owner.language) == ("zh_Hans", "zh_Hans")
        assert (await there.call("get_account"))["output_language"] == "zh_Hans"
