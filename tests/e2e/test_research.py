"""Research from its start to what it brings into a notebook, in a real Chromium."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlm_cdp.sim.faults import Fault, Kind
from tests.e2e.world import in_chromium, world

pytestmark = in_chromium


async def test_research_and_what_comes_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        call = there.call
        notebook = (await call("create_notebook", title="Fög 🧪"))["notebook"]["id"]
        await call("select_notebook", notebook=notebook)
        assert (await call("get_research"))["status"] == "none"

        started = await call("start_research", query="fog horns 🧪")
        research = started["research_id"]
        found = await call("get_research", research_id=research, wait=True)
        assert (found["status"], found["mode"], len(found["sources"])) == ("done", "fast", 10)
        assert there.notes[:2] == ["the research is not visible yet", "fast research is running, 0 sources so far"]
        assert found["_provenance"]["simulated"] is True

        result = await call("import_research", research_id=research, sources=[1, 10])
        assert [row["index"] for row in result["imported"]] == [1]
        assert [row["url"] for row in result["failed"]] == [found["sources"][9]["url"]]
        again = await call("import_research", research_id=research, sources=[found["sources"][0]["url"]])
        assert [row["source_id"] for row in again["already_present"]] == [result["imported"][0]["source_id"]]
        assert there.sent("LBwxtb") == 1
        sources = (await call("list_sources"))["sources"]
        assert [row["id"] for row in sources] == [result["imported"][0]["source_id"]]

        drive = (await call("start_research", query="fog", corpus="drive"))["research_id"]
        for _ in range(3):
            empty = await call("get_research", research_id=drive)
        assert (empty["status"], empty["sources"]) == ("no_results", [])
        error = await there.fails("import_research", research_id=drive)
        assert (error.code, there.sent("LBwxtb")) == ("INVALID_ARGUMENT", 1)


async def test_a_report_and_what_it_links_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        call = there.call
        there.service.service.late_research = 0
        notebook = there.service.service.owner.recent()[0]
        started = await call("start_research", query="fog horns", mode="deep", notebook=notebook.id)
        for _ in range(5):
            found = await call("get_research", notebook=notebook.id)
        assert (found["research_id"], found["status"]) == (started["research_id"], "done")
        assert "simulated report" in found["report"]
        session = next(iter(notebook.research.values())).session_id
        result = await call("import_research", research_id=session, notebook=notebook.id, cited_only=True)
        assert [row.get("index") for row in result["imported"]] == [None, 1, 2, 3, 4]
        report = next(row for row in result["imported"] if row.get("report"))
        content = await call("get_source_content", source=report["source_id"], notebook=notebook.id)
        assert "This is a simulated report." in content["content"]

        other = (await call("start_research", query="rain", mode="deep", notebook=notebook.id))["research_id"]
        stopped = await call("cancel_research", research_id=other, notebook=notebook.id)
        assert (stopped["status_before"], stopped["status_after"]) == ("running", "cancelled")
        assert (await call("get_research", research_id=other, notebook=notebook.id))["status"] == "cancelled"
        assert there.sent("Zbrupe") == 1


async def test_an_import_that_breaks_off_tells_what_came_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        call, service = there.call, there.service.service
        service.late_research = 0
        notebook = service.owner.recent()[0].id
        research = (await call("start_research", query="fog", notebook=notebook))["research_id"]
        for _ in range(3):
            found = await call("get_research", research_id=research, notebook=notebook)
        service.import_stops = 6
        there.service.faults.add(Fault(Kind.CUT, "LBwxtb", amount=9))
        result = await call("import_research", research_id=research, notebook=notebook)
        assert [row["index"] for row in result["imported"]] == [1, 2, 3, 4, 5, 6]
        assert [(row["index"], row["outcome"]) for row in result["failed"]] == [(at, "unknown") for at in (7, 8, 9, 10)]
        assert there.sent("LBwxtb") == 1

        service.import_stops = None
        result = await call("import_research", research_id=research, notebook=notebook)
        assert there.sent("LBwxtb") == 2
        assert len(there.service.requests.to("LBwxtb")[1].params[0][4]) == 4
        assert [row["index"] for row in result["already_present"]] == [1, 2, 3, 4, 5, 6]
        assert [row["code"] for row in result["failed"]] == ["NOT_READY"] * 4
        assert "add_source" in result["note"]
        added = await call("add_source", content=[row["url"] for row in found["sources"][6:]], notebook=notebook)
        assert len(added["sources"]) == 3


async def test_a_start_whose_reply_is_lost_is_not_sent_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        notebook = there.service.service.owner.recent()[0]
        there.service.faults.add(Fault(Kind.CUT, "Ljjv0c", amount=9))
        result = await there.call("start_research", query="fog", notebook=notebook.id)
        assert (list(notebook.research), there.sent("Ljjv0c")) == ([result["research_id"]], 1)
        assert "lost" in result["note"]
        there.service.faults.add(Fault(Kind.EMPTY, "Ljjv0c"))
        error = await there.fails("start_research", query="rain", notebook=notebook.id)
        assert (error.code, error.outcome, there.sent("Ljjv0c")) == ("UNCONFIRMED_WRITE", "unknown", 2)
