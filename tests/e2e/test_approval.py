"""Approval mode against Chrome's real dialog: Allow, Cancel, nobody there, and a client that leaves meanwhile."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
import trio

from nlm_cdp.browser.discovery import Machine, Mode, State, locate, survey
from nlm_cdp.cdp.connection import open_connection
from nlm_cdp.cdp.generated import target
from nlm_cdp.doctor import examine
from nlm_cdp.errors import ChromeApprovalDenied, ChromeApprovalPending, NlmError, Outcome
from nlm_cdp.granted import SCOPES
from nlm_cdp.runtime import Options, open_runtime
from tests.e2e.display import SETTLED_S, AskingChrome, asking, on_screen, until
from tests.e2e.test_process import NLM, Client, initialized, serving
from tests.e2e.world import World, application_of

pytestmark = on_screen
LIST, CREATE = "wXbhsf", "CCqFvf"
SOON = 1.0


@asynccontextmanager
async def asking_world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, join: float = 30.0, form: str = "{profile}"
) -> AsyncIterator[tuple[World, AskingChrome]]:
    """The product on a browser in approval mode, which it has not yet been told to look for."""
    monkeypatch.setattr("nlm_cdp.presence.JOIN", join)
    async with asking(tmp_path, monkeypatch) as (service, chrome):
        endpoint = form.format(profile=chrome.profile, url=chrome.endpoint, port=port_of(chrome))
        async with open_runtime(Options(endpoint=endpoint, scopes=SCOPES, toolsets=("all",))) as runtime:
            application = application_of(runtime)
            yield World(service, chrome, runtime, application), chrome


def port_of(chrome: AskingChrome) -> str:
    return chrome.endpoint.split(":")[2].split("/")[0]


async def listed(world: World) -> int:
    total: int = (await world.call("list_notebooks"))["total"]
    return total


# Allow


async def test_one_click_on_allow_serves_ten_calls_from_a_page_in_no_tab_strip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asking_world(tmp_path, monkeypatch) as (world, chrome):
        before = await chrome.settled_tab_strip()
        totals: list[int] = []

        async def call() -> None:
            totals.append(await listed(world))

        async with trio.open_nursery() as nursery:
            for _ in range(10):
                nursery.start_soon(call)
            await chrome.asked()
            assert world.sent(LIST) == 0
            assert await state(world) == "approval_pending"
            await chrome.allow()
        assert totals == [1] * 10
        assert await chrome.quiet()  # an unanswered dialog below that one would show now
        assert await state(world) == "ok"
        await until(lambda: chrome.tab_strip() == before, "the tab strip is as it was")
        session, _ = await world.runtime.open()
        assert session.page is not None
        await session.page.connection.execute(target.create_target("about:blank", background=True))
        await until(lambda: chrome.tab_strip() != before, "an ordinary background tab shows in the strip")


async def state(world: World) -> str:
    session, _ = await world.runtime.open()
    return session.health().state


@pytest.mark.parametrize(
    "form",
    [
        "http://localhost:{port}",
        "{url}",
    ],
)
async def test_an_address_asks_like_the_folder_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    async with asking_world(tmp_path, monkeypatch, join=SOON, form=form) as (world, chrome):
        pending = await world.fails("list_notebooks")
        assert isinstance(pending, ChromeApprovalPending)
        await chrome.allow()
        assert await listed(world) == 1
        assert await chrome.quiet()


# Cancel


async def test_after_cancel_only_the_next_call_asks_again_and_only_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asking_world(tmp_path, monkeypatch) as (world, chrome):
        for _ in range(2):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(chrome.cancel)
                denied = await world.fails("create_notebook", title="Never made")
            assert isinstance(denied, ChromeApprovalDenied)
            assert denied.outcome is Outcome.NOT_SENT
            assert "Allow" in denied.hint
            assert await chrome.quiet()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(chrome.allow)
            assert await listed(world) == 1
        assert await chrome.quiet()
        assert world.sent(CREATE) == 0


async def test_one_cancel_answers_every_call_that_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with asking_world(tmp_path, monkeypatch, join=3 * SOON) as (world, chrome):
        denied: list[NlmError] = []

        async def call() -> None:
            denied.append(await world.fails("list_notebooks"))

        with trio.move_on_after(2 * SOON):
            async with trio.open_nursery() as nursery:
                for _ in range(3):
                    nursery.start_soon(call)
                await chrome.cancel()
        assert [type(error) for error in denied] == [ChromeApprovalDenied] * 3
        assert await chrome.quiet()


# Nobody there


async def test_a_dialog_that_nobody_answers_stays_one_dialog_and_works_when_it_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asking_world(tmp_path, monkeypatch, join=SOON) as (world, chrome):
        for _ in range(2):
            pending = await world.fails("create_notebook", title="Once")
            assert isinstance(pending, ChromeApprovalPending)
            assert pending.outcome is Outcome.NOT_SENT
            assert pending.retriable
            assert "Allow" in pending.hint
            assert chrome.asks
        health = await world.call("get_health")
        assert (health["state"], health["authenticated"]) == ("approval_pending", False)
        assert health["chrome"]["mode"] == "approval"
        assert (world.sent(LIST), world.sent(CREATE)) == (0, 0)
        await chrome.allow()
        assert await chrome.quiet()
        made = await world.call("create_notebook", title="Once")
        assert made["notebook"]["title"] == "Once"
        assert world.sent(CREATE) == 1
        assert await chrome.quiet()


async def test_calls_that_wait_together_give_up_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with asking_world(tmp_path, monkeypatch, join=SOON) as (world, chrome):
        pending: list[NlmError] = []

        async def call() -> None:
            pending.append(await world.fails("list_notebooks"))

        with trio.move_on_after(2.5 * SOON):  # one after the other they take 3
            async with trio.open_nursery() as nursery:
                for _ in range(3):
                    nursery.start_soon(call)
        assert [type(error) for error in pending] == [ChromeApprovalPending] * 3
        await chrome.allow()
        assert await chrome.quiet()


async def test_a_chrome_that_quits_while_it_asks_ends_the_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with asking_world(tmp_path, monkeypatch) as (world, chrome):
        async with trio.open_nursery() as nursery:

            @nursery.start_soon
            async def quit_while_asking() -> None:
                await chrome.asked()
                chrome.process.terminate()

            with trio.fail_after(10):
                lost = await world.fails("create_notebook", title="Never made")
        assert lost.code == "CHROME_LOST"
        assert lost.outcome is Outcome.NOT_SENT
        await chrome.process.wait()
        gone = await world.fails("list_notebooks")
        assert (gone.code, gone.state) == ("CHROME_NOT_FOUND", "not_running")


async def test_a_client_hears_of_progress_while_chrome_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def told_before_the_result(client: Client) -> list[str]:
        return [seen["params"]["message"] for seen in client.seen if seen.get("method") == "notifications/progress"]

    async with asking(tmp_path, monkeypatch) as (_, chrome):
        with serving("--endpoint", str(chrome.profile)) as client:
            await trio.to_thread.run_sync(initialized, client)
            asked = {"name": "list_notebooks", "arguments": {}, "_meta": {"progressToken": 1}}
            client.send("tools/call", asked, 2)
            await chrome.asked()
            async with trio.open_nursery() as nursery:

                async def read() -> None:
                    result = await trio.to_thread.run_sync(client.answer, 2)
                    assert result["result"]["structuredContent"]["total"] == 1

                nursery.start_soon(read)
                await until(lambda: bool(told_before_the_result(client)), "progress")
                assert all("click Allow" in message for message in told_before_the_result(client))
                await chrome.allow()


# A client that leaves


@pytest.mark.parametrize("end", ["eof", "sigterm"])
async def test_a_server_ends_within_two_seconds_while_chrome_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    async with asking(tmp_path, monkeypatch) as (_, chrome):
        with serving("--endpoint", str(chrome.profile)) as client:
            await trio.to_thread.run_sync(initialized, client)
            client.send("tools/call", {"name": "list_notebooks", "arguments": {}}, 2)
            await chrome.asked()
            await trio.to_thread.run_sync(partial(client.ends, end, within=2))


# Looking does not ask


async def test_looking_for_chrome_never_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with asking(tmp_path, monkeypatch) as (_, chrome):
        (tmp_path / "chromium").symlink_to(chrome.profile)
        machine = Machine("linux", {"XDG_CONFIG_HOME": str(tmp_path)}, tmp_path)
        for _ in range(3):
            (found,) = [place for place in await survey(machine) if place.folder == tmp_path / "chromium"]
            assert found.state is State.APPROVAL
            assert found.endpoint is not None
            assert found.endpoint.mode is Mode.APPROVAL
        assert (await locate(machine=machine)).profile == tmp_path / "chromium"
        assert await chrome.quiet()


# The doctor


async def test_doctor_says_that_chrome_asks_and_after_allow_that_all_is_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with asking(tmp_path, monkeypatch) as (_, chrome):
        (tmp_path / "chromium").symlink_to(chrome.profile)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        monkeypatch.delenv("CHROME_CONFIG_HOME", raising=False)
        with monkeypatch.context() as hurried:
            hurried.setattr("nlm_cdp.presence.JOIN", SOON)
            hurried.setattr("nlm_cdp.runtime.TURNS", 0)
            assert await examine(Options(endpoint=str(chrome.profile)), as_json=True) == 3
        report = json.loads(capsys.readouterr().out)
        assert report["error"]["code"] == "CHROME_APPROVAL_PENDING"
        assert [(step["step"], step["ok"]) for step in report["steps"]] == [("nlm-cdp", True), ("Chrome", False)]
        assert "Allow" in report["fix"]
        await chrome.cancel()  # of the one that gave up: Chrome keeps showing it
        await chrome.unasked()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(chrome.allow)
            assert await examine(Options(), as_json=True) == 0
        steps = json.loads(capsys.readouterr().out)["steps"]
        assert [step["detail"] for step in steps if step["step"] == "Chromium"] == [
            "listens, and asks its user at each connection"
        ]
        assert ["(approval)" in step["detail"] for step in steps if step["step"] == "Chrome"] == [True]
        assert await chrome.quiet()


async def test_doctor_says_that_the_user_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with asking(tmp_path, monkeypatch) as (_, chrome):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(chrome.turn_off)
            assert await examine(Options(endpoint=str(chrome.profile)), as_json=True) == 3
        report = json.loads(capsys.readouterr().out)
        assert report["error"]["code"] == "CHROME_APPROVAL_DENIED"


# Slow, or about Chrome alone


@pytest.mark.long
async def test_a_server_keeps_asking_beyond_the_join_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with asking(tmp_path, monkeypatch) as (_, chrome):
        with serving("--endpoint", str(chrome.profile)) as client:
            await trio.to_thread.run_sync(initialized, client)
            with trio.fail_after(45):
                pending = await trio.to_thread.run_sync(client.call, 2, "list_notebooks")
            assert pending["structuredContent"]["code"] == "CHROME_APPROVAL_PENDING"
            await chrome.allow()
            found = await trio.to_thread.run_sync(client.call, 3, "list_notebooks")
            assert found["structuredContent"]["total"] == 1
            assert await chrome.quiet()


@pytest.mark.long
@pytest.mark.parametrize("command", [["call", "list_notebooks"], ["doctor", "--json"]])
async def test_a_command_waits_for_whoever_is_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    async with asking(tmp_path, monkeypatch) as (_, chrome):
        words = [*NLM, *command, "--endpoint", str(chrome.profile)]
        done: list[subprocess.CompletedProcess[bytes]] = []

        async def run() -> None:
            done.append(await trio.run_process(words, capture_stdout=True, capture_stderr=True, check=False))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            await chrome.asked()
            with trio.move_on_after(35):
                await until(lambda: bool(done), "the command gives up", within=60)
            await chrome.allow()
        assert done[0].returncode == 0
        assert b"Allow" in done[0].stderr
        assert await chrome.quiet()


@pytest.mark.long
async def test_two_servers_ask_once_each_and_the_newer_dialog_covers_the_older(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asking_world(tmp_path, monkeypatch) as (older, chrome):
        options = Options(endpoint=str(chrome.profile), scopes=SCOPES, toolsets=("all",))
        async with open_runtime(options) as runtime, trio.open_nursery() as nursery:
            application = application_of(runtime)
            newer = World(older.service, chrome, runtime, application)
            denied: list[NlmError] = []

            async def refused() -> None:
                denied.append(await older.fails("list_notebooks"))

            nursery.start_soon(refused)
            await chrome.asked()
            nursery.start_soon(chrome_allows_newest, chrome)
            assert await listed(newer) == 1
            assert not await chrome.quiet()
            assert denied == []
            await chrome.cancel()
            assert await chrome.quiet()
        assert isinstance(denied[0], ChromeApprovalDenied)


async def chrome_allows_newest(chrome: AskingChrome) -> None:
    await trio.sleep(SETTLED_S)  # the second dialog looks like the first: nothing shows that it is there
    await chrome.allow()


@pytest.mark.long
async def test_chrome_keeps_the_dialog_of_a_client_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asking(tmp_path, monkeypatch) as (_, chrome):
        with trio.CancelScope() as leaving:
            async with trio.open_nursery() as nursery:

                @nursery.start_soon
                async def leave() -> None:
                    await chrome.asked()
                    leaving.cancel()

                async with open_connection(chrome.endpoint):
                    pass
        assert not await chrome.quiet()
        await chrome.allow()
        assert await chrome.quiet()
