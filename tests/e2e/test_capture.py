"""A capture session in real Chromium: click through the web app, record it, change the service, see exactly that."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from nlm_cdp import overrides
from nlm_cdp.api import RPCS
from nlm_cdp.application import silent
from nlm_cdp.capture.calls import Recorded, calls_of
from nlm_cdp.capture.commands import fixtures
from nlm_cdp.capture.demo import still
from nlm_cdp.capture.drift import Class, Comparison, Report, compare
from nlm_cdp.capture.exchange import Begun, Ended, Exchange
from nlm_cdp.capture.fixture import problems, redactor
from nlm_cdp.capture.folder import Folder
from nlm_cdp.capture.recorder import Recorder
from nlm_cdp.capture.sinks import Filter, Writer
from nlm_cdp.cdp.connection import Connection, open_connection
from nlm_cdp.errors import Drift
from nlm_cdp.granted import SCOPES
from nlm_cdp.overrides import Overrides
from nlm_cdp.runtime import Options, open_runtime
from nlm_cdp.sim.chrome import ThrowawayChrome, throwaway_chrome
from nlm_cdp.sim.seed import seed
from nlm_cdp.sim.simulator import Simulator, simulator
from nlm_cdp.sim.visitor import Visit, everything, open_app
from nlm_cdp.wire.page import APP_HOSTS
from tests.e2e.world import application_of, in_chromium

pytestmark = in_chromium
LISTING = "wXbhsf"


class Stage:
    """A browser, its tab of the app, and everything that was recorded of it."""

    def __init__(self, service: Simulator, chrome: ThrowawayChrome, connection: Connection, visit: Visit) -> None:
        self.service, self.chrome, self.connection, self.visit = service, chrome, connection, visit
        self.begun: list[int] = []
        self.exchanges: list[Exchange] = []

    async def handle(self, output: Begun | Ended) -> None:
        if isinstance(output, Begun):
            self.begun.append(output.exchange.number)
        else:
            self.exchanges.append(output.exchange)

    @property
    def calls(self) -> list[Recorded]:
        return [call for exchange in self.exchanges for call in calls_of(exchange)]

    async def record(self, play: Callable[[], Awaitable[Any]]) -> Recorder:
        recorder = Recorder(self.connection, self.visit.target_id, self.handle)
        async with trio.open_nursery() as nursery:
            await nursery.start(recorder.run)
            await play()
            recorder.stop()
        return recorder

    async def click_everything(self) -> None:
        assert [name for name in everything() if (await self.visit.click(name)).failed] == []


@asynccontextmanager
async def stage() -> AsyncIterator[Stage]:
    async with simulator(seed=False) as service, throwaway_chrome(service.chrome_flags) as chrome:
        still(service)
        notebook = seed(service.service.owner)
        async with open_connection(chrome.endpoint) as connection:
            visit = await open_app(connection, f"https://{APP_HOSTS[0]}/notebook/{notebook.id}")
            yield Stage(service, chrome, connection, visit)


def written(exchanges: list[Exchange], root: Path) -> Writer:
    folder, said = Folder(root), list[str]()
    sink = Writer(
        folder=folder,
        redact=redactor(b"one key"),
        origin="simulator",
        captured="2026-11-30",
        wanted=Filter(frozenset(), Overrides()),
        say=said.append,
    )
    for exchange in exchanges:
        sink.begun(exchange)
        sink.ended(exchange)
    return sink


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*.json")}


async def test_a_session_of_everything_is_recorded_whole_and_is_as_declared(tmp_path: Path) -> None:
    async with stage() as there:
        recorder = await there.record(there.click_everything)
        sent = [logged for logged in there.service.requests if logged.rpc_ids]
        secrets = {there.service.service.cookie, there.service.service.owner.token, there.service.service.owner.email}
    assert len(there.exchanges) == len(sent) == recorder.fold.seen
    assert sorted(there.begun) == list(range(1, len(sent) + 1))
    assert [call.lost for call in there.calls if call.lost] == []
    report = compare(there.calls)
    assert (report.kind, report.unseen) == (Class.OK, [])
    assert {(entry.rpc, entry.variant) for entry in report.entries} == {(rpc.id, rpc.variant) for rpc in RPCS}
    sink = written(there.exchanges, tmp_path)
    assert (sink.refused, sink.lost) == (0, 0)
    text = b"".join(files(tmp_path).values()).decode()
    assert not [secret for secret in secrets if secret in text]
    assert "imulator" not in text.replace('"origin": "simulator"', "")


async def test_two_recordings_of_the_same_session_give_identical_bytes(tmp_path: Path) -> None:
    for name in ("first", "second"):
        async with stage() as there:
            await there.record(there.click_everything)
        written(there.exchanges, tmp_path / name)
    assert files(tmp_path / "first") == files(tmp_path / "second")
    assert len(files(tmp_path / "first")) >= len(RPCS)


def differing(service: Simulator) -> None:
    """One id and two shapes are not what they were."""
    service.service.ids[LISTING] = "Qx91Zz"
    service.service.reshape["rLM1Ne-GetProject"] = lambda row: [[*row[0][:2], 7, *row[0][3:]]]
    service.service.reshape["cFji9-GetNotes"] = lambda row: [*row, *[None] * (7 - len(row)), "novel"]


def changes(report: Report) -> list[tuple[str, str, str, str]]:
    return [
        (entry.name, str(change.kind), change.where, change.path)
        for entry in report.changed
        for change in entry.changes.values()
    ]


async def test_one_changed_id_and_two_changed_shapes_are_reported_and_nothing_else() -> None:
    async with stage() as there:
        differing(there.service)

        async def play() -> None:
            for name in everything():
                await there.visit.click(name)

        await there.record(play)
    assert changes(compare(there.calls)) == [
        ("wXbhsf-ListRecentlyViewedProjects", "gone", "id", "Qx91Zz"),
        ("rLM1Ne-GetProject", "breaking", "response", ".1.3"),
        ("cFji9-GetNotes", "new", "response", ".8"),
    ]


async def test_learn_heals_a_changed_id_the_same_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from nlm_cdp.capture.cli import main

    monkeypatch.setenv(overrides.VARIABLE, str(tmp_path / "overrides.json"))
    overrides.save(tmp_path / "overrides.json", {})
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path / "data"))
    async with stage() as there:
        there.service.service.ids[LISTING] = "Qx91Zz"
        options = Options(endpoint=there.chrome.endpoint, scopes=SCOPES, toolsets=("all",))
        async with open_runtime(options) as runtime:
            application = application_of(runtime)

            async def listed() -> Any:
                return await application.run("list_notebooks", {}, silent)

            with pytest.raises(Drift):
                await listed()
            await there.record(there.click_everything)
            written(there.exchanges, tmp_path / "fixtures")
            assert await trio.to_thread.run_sync(main, ["learn", str(tmp_path / "fixtures"), "--yes"]) == 0
            assert "Qx91Zz: does the work of wXbhsf-ListRecentlyViewedProjects" in capsys.readouterr().out
            assert json.loads((tmp_path / "overrides.json").read_text())["ids"] == {LISTING: "Qx91Zz"}
            session, _ = await runtime.open()
            await session.drop_page()
            assert len((await listed())["notebooks"]) >= 1
    learned = Comparison(overrides.load())
    for call in there.calls:
        learned.add(call)
    assert learned.report().kind is Class.OK


async def test_our_own_servers_calls_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path / "data"))
    async with stage() as there:
        options = Options(endpoint=there.chrome.endpoint, scopes=SCOPES, toolsets=("all",))
        async with open_runtime(options) as runtime:
            application = application_of(runtime)

            async def play() -> None:
                await application.run("list_notebooks", {}, silent)
                await there.visit.click("get-notebook")

            await there.record(play)
    assert [call.rpc for call in there.calls] == ["rLM1Ne"]


async def test_the_start_of_an_upload_is_recorded_and_its_bytes_are_not(tmp_path: Path) -> None:
    (tmp_path / "private name.txt").write_text("private content of the file")
    async with stage() as there:
        await there.record(lambda: there.visit.upload(tmp_path / "private name.txt"))
    kinds = [str(exchange.kind) for exchange in there.exchanges]
    assert kinds.count("upload") == 1
    assert "private content" not in repr(there.exchanges)
    written(there.exchanges, tmp_path / "fixtures")
    ((path, found),) = [pair for pair in fixtures(tmp_path / "fixtures") if pair[1].rpc == "upload"]
    assert list(found.request.params) == ["PROJECT_ID", "SOURCE_NAME", "SOURCE_ID"]
    assert "private" not in path.read_text()
    assert list(problems(path.read_text(), path.parent.name)) == []
    assert compare(there.calls).kind is Class.OK


async def test_the_page_is_not_disturbed() -> None:
    """No reload, no dialog, no world of ours, no binding: the page's own globals are what they were."""
    async with stage() as there:
        await there.visit.evaluate("window.mark = performance.timeOrigin, window.names = Object.keys(window).length")
        await there.record(lambda: there.visit.click("list-notebooks"))
        same = await there.visit.evaluate("window.mark === performance.timeOrigin")
        names = await there.visit.evaluate("Object.keys(window).length - window.names")
        assert (same.value, names.value) == (True, 1)
        assert there.connection._subscriptions == set()
        assert there.connection._protocol.pending == {}


async def test_the_fixtures_of_this_project_are_such_a_session() -> None:
    found = [fixture for _, fixture in fixtures(Path(__file__).parents[2] / "fixtures")]
    assert {fixture.origin for fixture in found} == {"simulator"}
    assert {(fixture.rpc, fixture.variant) for fixture in found} == {(rpc.id, rpc.variant) for rpc in RPCS}
