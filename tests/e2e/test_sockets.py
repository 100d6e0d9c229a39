"""One socket per life: counted by the proxy, over everything that may tempt a client to dial again.

Chrome asks its user at every socket, so a socket that is opened without need is a dialog on the user's screen, and one
that is given up while the dialog is open leaves the dialog behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
import trio.testing

from nlm_cdp import presence as product
from nlm_cdp.errors import NlmError
from nlm_cdp.sim.chrome import throwaway_chrome
from nlm_cdp.sim.faults import Fault, Kind
from tests.e2e.test_process import Client, initialized, serving
from tests.e2e.world import in_chromium
from tests.proxy import messages as do
from tests.proxy.messages import command
from tests.proxy.proxy import Door, Proxy, hostile_proxy
from tests.proxy.stage import Stage, There, behind, stage

pytestmark = in_chromium

LIST, CREATE = "wXbhsf", "CCqFvf"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Stage]:
    with stage() as held:
        yield held


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path / "data"))


# One socket


def test_thirty_calls_failures_and_lost_pages_use_one_socket(chromium: Stage) -> None:
    async def scenario(there: There) -> None:
        faults, proxy = there.service.faults, there.proxy

        async def calls(count: int) -> None:
            for _ in range(count):
                assert (await there.call("list_notebooks"))["total"]

        await calls(10)
        for fault in (
            Fault(Kind.HTTP, LIST, code=500, times=2),
            Fault(Kind.STATUS, LIST, code=7),
            Fault(Kind.WALL, LIST, times=2),
            Fault(Kind.HTTP, LIST, code=429),
        ):
            faults.add(fault)
            assert (await there.fails("list_notebooks")).code != "CHROME_LOST"
            faults.clear()
        await calls(5)
        page = there.session.page
        assert page is not None
        await proxy.control.crash(str(page.target_id))
        await calls(5)
        page = there.session.page
        assert page is not None
        attached = (
            await proxy.control.ask("Target.attachToTarget", {"targetId": str(page.target_id), "flatten": True})
        )["sessionId"]
        await proxy.control.ask("Page.enable", session=attached)
        await proxy.control.ask("Page.reload", session=attached)
        # a close that meets a navigation is confirmed by Chrome, and forgotten
        await proxy.control.wait_for("Page.loadEventFired", attached)
        await calls(5)
        page = there.session.page
        assert page is not None
        await proxy.control.ask("Target.closeTarget", {"targetId": str(page.target_id)})
        await calls(3)
        answer = await there.call("ask_question", question="What is the simulator?", notebook="About")
        await there.call("reset_session", session_id=answer["session_id"])
        await calls(2)
        # a token that has gone stale
        there.service.service.rotate_token()
        await calls(2)
        assert len(proxy.sockets) == 1
        assert len(proxy.sent("Browser.getVersion")) == 1
        await there.clean()

    chromium.play(scenario)


@pytest.mark.long
def test_three_idle_minutes_cost_no_socket_and_no_page(chromium: Stage) -> None:
    async def scenario(there: There) -> None:
        await there.call("list_notebooks")
        said = len(there.proxy.commands)
        await trio.sleep(180)
        assert len(there.proxy.commands) == said
        await there.call("list_notebooks")
        assert len(there.proxy.sockets) == 1
        assert len(there.proxy.made) == 1

    chromium.play(scenario, within=240)


def test_calls_at_once_share_one_socket_and_one_page(chromium: Stage) -> None:
    async def scenario(there: There) -> None:
        async with trio.open_nursery() as nursery:
            for _ in range(10):
                nursery.start_soon(there.call, "list_notebooks")
        assert (len(there.proxy.sockets), len(there.proxy.made)) == (1, 1)
        await there.clean()

    chromium.play(scenario)


# Chrome goes away


def test_when_chrome_goes_away_nothing_dials_before_the_next_call(chromium: Stage) -> None:
    async def scenario() -> None:
        service = chromium.service
        async with (
            throwaway_chrome(service.chrome_flags) as first,
            hostile_proxy(first.endpoint) as proxy,
            behind(proxy, service, first) as there,
        ):
            await there.call("list_notebooks")
            socket = proxy.sockets[0]
            first.process.kill()
            await socket.over.wait()
            while there.session.link is not None:
                await trio.lowlevel.checkpoint()
            assert len(proxy.sockets) == 1
            proxy.open_door(Door.HANGUP)
            for dialled in (2, 3):
                error = await there.fails("list_notebooks")
                assert error.code == "CHROME_LOST"
                assert len(proxy.sockets) == dialled
            async with throwaway_chrome(service.chrome_flags) as second:
                proxy.chrome = second.endpoint
                proxy.open_door()
                assert (await there.call("list_notebooks"))["total"]
                assert len(proxy.sockets) == 4

    chromium.run(scenario)


def test_calls_under_way_when_chrome_dies_get_one_plain_error_each(chromium: Stage) -> None:
    async def scenario() -> None:
        service = chromium.service
        service.faults.clear()
        service.requests.clear()
        async with (
            throwaway_chrome(service.chrome_flags) as first,
            hostile_proxy(first.endpoint) as proxy,
            behind(proxy, service, first) as there,
        ):
            await there.call("list_notebooks")
            service.faults.add(Fault(Kind.SILENT, LIST, times=2), Fault(Kind.SILENT, CREATE))
            errors: list[NlmError] = []

            async def call(tool: str, **arguments: str) -> None:
                errors.append(await there.fails(tool, **arguments))

            async with trio.open_nursery() as nursery:
                nursery.start_soon(call, "list_notebooks")
                nursery.start_soon(call, "list_notebooks")
                nursery.start_soon(lambda: call("create_notebook", title="Lost"))
                for rpc, count in ((LIST, 3), (CREATE, 1)):
                    while len(service.requests.to(rpc)) < count:
                        await service.requests.news.park()
                proxy.open_door(Door.HANGUP)
                with trio.fail_after(5):
                    first.process.kill()
                    while len(errors) < 3:
                        await trio.lowlevel.checkpoint()
            assert sorted(error.code for error in errors) == ["CHROME_LOST", "CHROME_LOST", "UNCONFIRMED_WRITE"]
            assert all("Group" not in error.message for error in errors)
            assert service.requests.to(CREATE)[1:] == []
            assert len(proxy.sockets) <= 3

    chromium.run(scenario)


# Chrome asks its user


async def asking(chromium: Stage, tmp_path: Path, scenario) -> None:
    """The product in front of a Chrome that asks, with nobody there to answer yet."""
    chromium.service.requests.clear()
    chromium.service.faults.clear()
    async with hostile_proxy(chromium.chrome.endpoint, approval=True) as proxy:
        proxy.open_door(Door.HELD)
        folder = proxy.folder(tmp_path / "profile")
        async with behind(proxy, chromium.service, chromium.chrome, endpoint=folder) as there:
            await scenario(there, proxy)


def test_a_denial_is_told_to_all_who_wait_and_not_repeated(chromium: Stage, tmp_path: Path) -> None:
    async def scenario(there: There, proxy: Proxy) -> None:
        errors: list[NlmError] = []

        async def deny() -> None:
            await proxy.knocks(1)
            assert there.session.health().state == "approval_pending"
            proxy.open_door(Door.DENIED)

        async def call() -> None:
            errors.append(await there.fails("create_notebook", title="Never"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(deny)
            for _ in range(5):
                nursery.start_soon(call)
        assert {(error.code, error.outcome) for error in errors} == {("CHROME_APPROVAL_DENIED", "not_sent")}
        assert all("Rejected by user" in error.message for error in errors)
        assert len(proxy.sockets) == 1
        proxy.open_door()
        assert (await there.call("list_notebooks"))["total"]
        assert len(proxy.sockets) == 2

    chromium.run(asking, chromium, tmp_path, scenario)


def test_while_the_user_is_asked_calls_say_so_and_join_one_handshake(
    chromium: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(product, "JOIN", 0.5)

    async def scenario(there: There, proxy: Proxy) -> None:
        codes: list[str] = []

        async def call() -> None:
            codes.append((await there.fails("list_notebooks")).code)

        with trio.fail_after(2):  # each waits for itself, not for those before it
            async with trio.open_nursery() as nursery:
                for _ in range(5):
                    nursery.start_soon(call)
        assert codes == ["CHROME_APPROVAL_PENDING"] * 5
        error = await there.fails("create_notebook", title="Never")
        assert (error.code, error.outcome, error.retriable) == ("CHROME_APPROVAL_PENDING", "not_sent", True)
        socket = proxy.sockets[0]
        assert not socket.given_up
        proxy.open_door()
        await proxy.until(lambda: socket.upgraded)
        monkeypatch.setattr(product, "JOIN", 30.0)
        assert (await there.call("list_notebooks", query="Never"))["total"] == 0
        assert len(proxy.sockets) == 1

    chromium.run(asking, chromium, tmp_path, scenario)


def test_a_call_that_is_cancelled_leaves_the_question_open(chromium: Stage, tmp_path: Path) -> None:
    async def scenario(there: There, proxy: Proxy) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(there.call, "list_notebooks")
            socket = await proxy.knocks(1)
            nursery.cancel_scope.cancel()
        assert not socket.given_up
        async with trio.open_nursery() as nursery:
            nursery.start_soon(there.call, "list_notebooks")
            await trio.testing.wait_all_tasks_blocked(0.05)
            proxy.open_door()
        assert len(proxy.sockets) == 1
        assert socket.upgraded

    chromium.run(asking, chromium, tmp_path, scenario)


def test_a_chrome_that_quits_while_it_asks_is_told(chromium: Stage, tmp_path: Path) -> None:
    async def scenario(there: There, proxy: Proxy) -> None:
        async def quit_() -> None:
            await proxy.knocks(1)
            proxy.open_door(Door.HANGUP)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(quit_)
            assert (await there.fails("list_notebooks")).code == "CHROME_LOST"
        assert len(proxy.sockets) == 1

    chromium.run(asking, chromium, tmp_path, scenario)


@pytest.mark.parametrize("end", ["eof", "sigterm"])
def test_the_process_ends_at_once_although_the_user_is_still_being_asked(
    end: str, chromium: Stage, tmp_path: Path
) -> None:
    async def scenario() -> None:
        async with hostile_proxy(chromium.chrome.endpoint, approval=True) as proxy:
            proxy.open_door(Door.HELD)
            folder = proxy.folder(tmp_path / "profile")
            with serving("--endpoint", folder) as client:
                await trio.to_thread.run_sync(asked_to_list, client)
                socket = await proxy.knocks(1)
                began = trio.current_time()
                await trio.to_thread.run_sync(client.ends, end)
                assert trio.current_time() - began < 2
                with trio.fail_after(2):
                    await proxy.until(lambda: socket.given_up)

    chromium.run(scenario)


def asked_to_list(client: Client) -> None:
    initialized(client)
    client.send("tools/call", {"name": "list_notebooks", "arguments": {}}, 2)


# A hundred strangers


@pytest.mark.parametrize("tabs", [20, pytest.param(150, marks=pytest.mark.long)])
def test_among_many_tabs_only_ours_is_attached(chromium: Stage, tabs: int) -> None:
    async def scenario(there: There) -> None:
        control = there.proxy.control
        made = [(await control.ask("Target.createTarget", {"url": "about:blank"}))["targetId"] for _ in range(tabs)]
        with trio.fail_after(5):
            await there.call("list_notebooks")
        assert [said.target for said in there.proxy.sent("Target.attachToTarget")] == list(there.proxy.made)
        for target in made:
            await control.ask("Target.closeTarget", {"targetId": target})

    chromium.play(scenario)


def test_a_refused_socket_is_refused_once(chromium: Stage) -> None:
    async def scenario(there: There) -> None:
        there.proxy.add(command("Browser.getVersion"), do.refused(-32601, "not here"))
        for dialled in (1, 2):
            assert isinstance(await there.attempt("list_notebooks"), NlmError)
            assert len(there.proxy.sockets) == dialled

    chromium.play(scenario)
