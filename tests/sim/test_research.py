"""Research: tasks that get on with each look, and what the service is known to do oddly."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.research import research
from nlm_cdp.api.sources.additions import DriveFile, Text
from nlm_cdp.sim.faults import Fault, Kind
from nlm_cdp.sim.records import VIEWER
from nlm_cdp.wire.batchexecute import Call
from nlm_cdp.wire.document import plain_text
from nlm_cdp.wire.pblite import unclaimed
from tests.fakes import present

pytestmark = pytest.mark.realtime

WEB, DRIVE = research.Query(text="Fog horns"), research.Query(text="Fog horns", corpus=research.DRIVE)
DOCUMENT = "application/vnd.google-apps.document"


async def look(client: Any, notebook: Any) -> list[research.Task]:
    return (await client.call(research.POLL, research.PollResearch(notebook_id=notebook.id))).tasks or []


async def looks(client: Any, notebook: Any, count: int) -> list[list[int]]:
    """The status of every task that shows, look by look."""
    return [[task.job.status for task in await look(client, notebook)] for _ in range(count)]


async def fast(client: Any, notebook: Any, query: research.Query = WEB) -> str:
    started: research.FastStarted = await client.call(
        research.START_FAST, research.StartFast(query=query, notebook_id=notebook.id)
    )
    return started.research_id


async def deep(client: Any, notebook: Any) -> research.DeepStarted:
    started: research.DeepStarted = await client.call(
        research.START_DEEP, research.StartDeep(query=WEB, notebook_id=notebook.id)
    )
    return started


def page(url: str, title: str = "Any") -> research.Entry:
    return research.Entry(web=research.WebPage(url=url, title=title))


def importing(research_id: str, notebook: Any, *entries: research.Entry) -> research.ImportSources:
    return research.ImportSources(research_id=research_id, notebook_id=notebook.id, entries=list(entries))


# Tasks


async def test_fast_research_is_missing_then_running_then_done(running) -> None:
    async with running() as (sim, client):
        (notebook,) = sim.service.owner.notebooks.values()
        assert (await client.reply(research.POLL, research.PollResearch(notebook_id=notebook.id))).row == []
        research_id = await fast(client, notebook)
        assert await looks(client, notebook, 4) == [[], [1], [2], [2]]
        row = (await client.reply(research.POLL, research.PollResearch(notebook_id=notebook.id))).row
        assert list(unclaimed(research.Tasks, row)) == []
        assert [len(found) for found in row[0][0][1][3][0]] == [4] * 10
        (task,) = await look(client, notebook)
        assert (task.id, task.query, task.job.mode, task.report, len(task.sources)) == (
            research_id,
            "Fog horns",
            1,
            None,
            10,
        )
        assert task.job.findings is not None
        assert "Simulated" in (task.job.findings.summary or "")


async def test_deep_research_ends_with_a_report(running) -> None:
    async with running() as (sim, client):
        (notebook,) = sim.service.owner.notebooks.values()
        started = await deep(client, notebook)
        assert await looks(client, notebook, 6) == [[], [1], [1], [1], [2], [2]]
        row = (await client.reply(research.POLL, research.PollResearch(notebook_id=notebook.id))).row
        assert list(unclaimed(research.Tasks, row)) == []
        assert [len(found) for found in row[0][0][1][3][0]] == [7, *[9] * 10]
        (task,) = await look(client, notebook)
        assert (task.id, task.session_id) == (started.research_id, started.session_id)
        assert task.report is not None
        assert task.report.content is not None
        assert task.report.content.document is not None
        assert "simulated report" in plain_text(task.report.content.document.row)
        assert all(f"({task.sources[index].url})" in (task.report_text or "") for index in (1, 2, 3, 4))
        assert str(task.sources[5].url) not in (task.report_text or "")


async def test_drive_holds_nothing(running) -> None:
    async with running() as (sim, client):
        (notebook,) = sim.service.owner.notebooks.values()
        await fast(client, notebook, DRIVE)
        sim.service.late_research = 0
        assert await looks(client, notebook, 3) == [[1], [1], [3]]
        row = (await client.reply(research.POLL, research.PollResearch(notebook_id=notebook.id))).row
        assert row[0][0][1][3] == [None, None, None, None, 1]


async def test_the_synchronous_search_is_a_finished_task_at_once(running) -> None:
    async with running() as (sim, client):
        (notebook,) = sim.service.owner.notebooks.values()
        request = research.Discover(query=WEB, notebook_id=notebook.id)
        found = await client.call(research.DISCOVER, request)
        assert len(found.sources) == 10
        (task,) = await look(client, notebook)
        assert (task.id, task.job.status, len(task.sources)) == (found.job_id, 2, 10)
        for mode, code in ((5, 3), (6, 13)):
            assert await client.refusal(research.DISCOVER, request.model_copy(update={"mode": mode})) == code
        assert await client.refusal(research.DISCOVER, request.model_copy(update={"query": DRIVE})) == 3
        curious = research.Discover(query=research.Query(text=""), mode=3, notebook_id=notebook.id)
        assert len((await client.call(research.DISCOVER, curious)).sources) == 10


async def test_what_cannot_be_started(running) -> None:
    async with running() as (sim, client):
        (notebook,) = sim.service.owner.notebooks.values()
        drive = research.StartDeep(query=DRIVE, notebook_id=notebook.id)
        assert await client.refusal(research.START_DEEP, drive) == 3
        for rpc, message in (
            (research.START_FAST, research.StartFast),
            (research.START_DEEP, research.StartDeep),
            (research.DISCOVER, research.Discover),
        ):
            assert await client.refusal(rpc, message(query=WEB, notebook_id="nowhere")) == 5
        assert await client.refusal(research.POLL, research.PollResearch(notebook_id="nowhere")) == 5
        notebook.role = VIEWER
        assert await client.refusal(research.START_FAST, research.StartFast(query=WEB, notebook_id=notebook.id)) == 7
        assert notebook.research == {}


async def test_cancelling_answers_nothing_and_shows_late(running) -> None:
    async with running() as (sim, client):
        (notebook,) = sim.service.owner.notebooks.values()
        started = await deep(client, notebook)
        assert await looks(client, notebook, 2) == [[], [1]]
        for research_id in (
            "00000000-0000-0000-0000-000000000000",
            present(started.session_id),
            present(started.research_id),
        ):
            request = research.CancelResearch(research_id=research_id)
            assert (await client.reply(research.CANCEL, request)).row == []
        assert await looks(client, notebook, 3) == [[1], [4], [4]]
        research_id = await fast(client, notebook)
        await client.call(research.CANCEL, research.CancelResearch(research_id=research_id))
        assert (await looks(client, notebook, 3))[-1] == [4, 2]


# Importing


async def test_entries_become_sources_and_what_fails_is_left_out(running) -> None:
    async with running() as (sim, client):
        (notebook,) = sim.service.owner.notebooks.values()
        sim.service.late_research = 0
        research_id = await fast(client, notebook)
        assert await client.refusal(research.IMPORT, importing(research_id, notebook, page("https://a.example/x"))) == 9
        await looks(client, notebook, 3)
        report = research.Entry(
            report=Text(title="Report", content="# Fog\n\nhorns"),
            text_type=research.REPORT_TEXT,
            marker=research.REPORT_RESULT,
        )
        drive = research.Entry(drive=DriveFile(file_id="DOC1", mime=DOCUMENT, title="Doc"))
        entries = (
            report,
            page("https://a.example/x"),
            page("https://fail.example/"),
            page("https://youtu.be/abc"),
            drive,
        )
        request = importing(research_id, notebook, *entries)
        answer = await client.call(research.IMPORT, request)
        shown = [(row.title, row.type, row.url, row.meta.origin) for row in answer.sources]
        assert shown == [
            ("Report", 8, None, 2),
            ("X - simulated page", 5, "https://a.example/x", 2),
            ("Simulated video abc", 9, "https://youtu.be/abc", 2),
            ("Simulated Drive file DOC1", 1, None, 2),
        ]
        got = await client.call(notebooks.GET, notebooks.GetNotebook(notebook_id=notebook.id))
        assert [row.id for row in got.notebook.sources][-4:] == [row.id for row in answer.sources]
        assert (await client.reply(research.IMPORT, importing(research_id, notebook))).row is None
        assert await client.refusal(research.IMPORT, importing("nothing", notebook)) == 5
        notebook.role = VIEWER
        assert await client.refusal(research.IMPORT, request) == 7


async def test_a_notebook_takes_no_more_than_its_limit(running) -> None:
    async with running() as (sim, client):
        (notebook,) = sim.service.owner.notebooks.values()
        for number in range(300 - len(notebook.sources) - 1):
            sim.service.owner.add_source(notebook, f"Text {number}", "words")
        sim.service.late_research = 0
        research_id = await fast(client, notebook)
        await looks(client, notebook, 3)
        urls = [page(f"https://a.example/{number}") for number in range(3)]
        answer = await client.call(research.IMPORT, importing(research_id, notebook, *urls))
        assert ([row.url for row in answer.sources], len(notebook.sources)) == (["https://a.example/0"], 300)
        assert (await client.reply(research.IMPORT, importing(research_id, notebook, *urls))).row is None


async def test_an_import_that_breaks_off_is_the_last_one(running) -> None:
    async with running() as (sim, client):
        (notebook,) = sim.service.owner.notebooks.values()
        sim.service.late_research = 0
        research_id = await fast(client, notebook)
        await looks(client, notebook, 3)
        before = len(notebook.sources)
        sim.service.import_stops = 2
        sim.faults.add(Fault(Kind.EMPTY, "LBwxtb", commit=True))
        request = importing(research_id, notebook, *(page(f"https://a.example/{number}") for number in range(5)))
        assert (await client.post(Call("LBwxtb", request.encode()))).body == b""
        assert len(notebook.sources) == before + 2
        sim.service.import_stops = None
        assert await client.refusal(research.IMPORT, request) == 9
        assert len(notebook.sources) == before + 2
