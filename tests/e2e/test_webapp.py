"""The simulated web app in a real Chromium: every button, the forms, and what the service saw of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from nlm_cdp.api import RPCS, classify
from nlm_cdp.cdp import protocol
from nlm_cdp.cdp.connection import Connection, open_connection
from nlm_cdp.cdp.generated import COMMANDS, runtime, target
from nlm_cdp.cdp.protocol import UnknownEvent
from nlm_cdp.cdp.shape import Command
from nlm_cdp.sim import visitor
from nlm_cdp.sim.actions import ACTIONS, BATCHES
from nlm_cdp.sim.chrome import throwaway_chrome
from nlm_cdp.sim.faults import Fault, Kind
from nlm_cdp.sim.simulator import Simulator, simulator
from nlm_cdp.wire.batchexecute import CHAT_PATH, PATH
from nlm_cdp.wire.page import APP_HOSTS
from tests.e2e.world import in_chromium
from tests.fakes import present

pytestmark = in_chromium
QUESTION = "What do tests ask the simulator for?"
COMPLAINTS = {"Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"}
GROWN = """() => new Promise((resolve) => {
  const answer = document.querySelector(".answer");
  const look = () => answer.textContent && resolve(document.querySelector("[data-action=ask]").dataset.state);
  new MutationObserver(look).observe(answer, { childList: true });
  look();
})"""


@asynccontextmanager
async def browser(*, pace: float = 0.0) -> AsyncIterator[tuple[Simulator, Connection, str]]:
    """A simulator, a connection to a browser, and the address of the seeded notebook."""
    async with simulator() as service, throwaway_chrome(service.chrome_flags) as chrome:
        service.service.pace = pace
        notebook = next(iter(service.service.owner.notebooks))
        async with open_connection(chrome.endpoint) as connection:
            yield service, connection, f"https://{APP_HOSTS[0]}/notebook/{notebook}"


def enable_log() -> Command[None]:
    yield {"method": "Log.enable"}


@pytest.fixture
def may_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The product may not ask for the console; this test does."""
    monkeypatch.setattr(protocol, "COMMANDS", frozenset({*COMMANDS, "Log.enable"}))


async def complaints(visit: visitor.Visit, during: Callable[[], Any]) -> list[str]:
    """What the browser's console got to hear, from the page's load on."""
    with visit.connection.events(UnknownEvent, session=visit.session) as events:
        await visit.connection.execute(runtime.enable(), session=visit.session)
        await visit.connection.execute(enable_log(), session=visit.session)
        await during()
        await visit.connection.execute(runtime.evaluate("console.log('end')"), session=visit.session)
        heard: list[str] = []
        async for event in events:
            if event.method == "Runtime.consoleAPICalled":
                return heard
            if event.method in COMPLAINTS:
                heard.append(event.method)
    raise AssertionError("the console never spoke")


async def test_everything_can_be_clicked(may_listen) -> None:
    async with browser() as (service, connection, url):
        visit = await visitor.open_app(connection, url)
        failed: list[visitor.Clicked] = []

        async def click_through() -> None:
            for name in visitor.everything():
                clicked = await visit.click(name)
                failed.extend([clicked] if clicked.failed else [])

        assert await complaints(visit, click_through) == []
        assert failed == []
        calls = [
            (rpc, row)
            for logged in service.requests
            if logged.path in (PATH, CHAT_PATH)
            for rpc, row in zip(logged.rpc_ids, logged.params, strict=True)
        ]
        seen = [classify(rpc, row) for rpc, row in calls]
        assert None not in seen
        assert set(seen) == set(RPCS)
        assert len(seen) == sum(action.times for action in ACTIONS) + len(BATCHES["open-notebook"])


async def test_the_console_would_tell_and_the_page_trusts_no_markup(may_listen) -> None:
    async with browser() as (_, connection, url):
        visit = await visitor.open_app(connection, url)

        async def break_rules() -> None:
            await connection.execute(runtime.evaluate("document.body.innerHTML = '<p>'"), session=visit.session)

        assert await complaints(visit, break_rules) != []
        assert await visit.text("h1")


async def test_a_request_looks_like_the_web_apps() -> None:
    async with browser() as (service, connection, url):
        visit = await visitor.open_app(connection, f"{url}?authuser=0")
        assert not (await visit.click("list-labels")).failed
        assert not (await visit.click("list-labels")).failed
        first, second = service.requests.to("I3xc3c")
        assert list(first.query) == ["rpcids", "source-path", "bl", "f.sid", "hl", "_reqid", "rt"]
        assert first.query["bl"] == service.service.build
        assert first.query["f.sid"] == service.service.owner.session_id
        assert first.query["source-path"] == url.removeprefix(f"https://{APP_HOSTS[0]}")
        assert int(second.query["_reqid"]) == int(first.query["_reqid"]) + 100_000
        assert first.headers["content-type"] == "application/x-www-form-urlencoded;charset=UTF-8"
        assert first.headers["x-same-domain"] == "1"


async def test_opening_a_notebook_is_one_request_with_many_calls() -> None:
    async with browser() as (service, connection, url):
        visit = await visitor.open_app(connection, url)
        assert not (await visit.click("open-notebook")).failed
        (request,) = [logged for logged in service.requests if logged.path == PATH]
        assert request.query["rpcids"].split(",") == request.rpc_ids
        assert len(request.rpc_ids) == len(BATCHES["open-notebook"]) > 5


async def test_an_answer_is_shown_while_it_arrives() -> None:
    async with browser(pace=3600) as (_, connection, url):
        visit = await visitor.open_app(connection, url)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(visit.ask, QUESTION)
            assert await visit.run(GROWN) == "busy"
            assert "Reading the question" in (await visit.text(".answer") or "")
            nursery.cancel_scope.cancel()


async def test_a_question_of_ones_own() -> None:
    async with browser() as (service, connection, url):
        visit = await visitor.open_app(connection, url)
        assert not (await visit.ask(QUESTION)).failed
        (asked,) = service.requests.to("chat")
        assert asked.params[0][1] == QUESTION
        assert asked.query.keys() == {"bl", "f.sid", "hl", "_reqid", "rt"}
        assert "simulated answer" in (await visit.text(".answer") or "")
        shown = await visit.evaluate("Number(document.querySelector('.answer').dataset.snapshots)")
        assert present(shown.value) > 5


async def test_a_text_and_a_file(tmp_path: Path) -> None:
    file = tmp_path / "fog horns 🧪.txt"
    file.write_text("In fog the horn sounds every ninety seconds.", encoding="utf-8")
    async with browser() as (service, connection, url):
        visit = await visitor.open_app(connection, url)
        assert not (await visit.add_text("Lämps", "They are lit\nat sunset 🧪.")).failed
        assert not (await visit.upload(file)).failed
        (notebook,) = service.service.owner.notebooks.values()
        pasted, sent = list(notebook.sources.values())[-2:]
        assert (pasted.title, pasted.text) == ("Lämps", "They are lit\nat sunset 🧪.")
        assert (sent.title, sent.text) == (file.name, file.read_text(encoding="utf-8"))


async def test_what_fails_is_told_and_the_tab_stays() -> None:
    async with browser() as (service, connection, url):
        service.faults.add(
            Fault(Kind.STATUS, "rLM1Ne", code=7), Fault(Kind.HTTP, "cFji9", code=503), Fault(Kind.WALL, "gArtLc")
        )
        names = ["get-notebook", "list-notes", "list-artifacts", "list-chats", "get-notebook"]
        assert await visitor.visit(connection, url, names) == names[:3]
        assert url in [info.url for info in await connection.execute(target.get_targets())]


async def test_a_call_that_goes_by_another_id_still_works_on_the_page() -> None:
    async with browser() as (service, connection, url):
        service.service.ids = {"I3xc3c": "nEwId1"}
        assert await visitor.visit(connection, url, ["list-labels"]) == []
        assert service.requests.to("I3xc3c") == []
        assert len(service.requests.to("nEwId1")) == 1
