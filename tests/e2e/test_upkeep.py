"""Sources and notebooks over time, in a real Chromium against the simulator."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlm_cdp.sim.faults import Fault, Kind
from tests.e2e.world import in_chromium, world

pytestmark = in_chromium
DOC = "https://docs.google.com/document/d/1nUn_EBWNlEKhJa47ywGnp3HRZGHZTntwOT0j36Noip5/edit"


async def test_sources_over_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "files"
    root.mkdir()
    async with world(tmp_path, monkeypatch, files_root=root) as there:
        call, state = there.call, there.service.service.owner
        notebook = state.recent()[0]
        await call("select_notebook", notebook=notebook.id)

        found = await call("search_sources", query="What counts UTF-16 units?", limit=1)
        (passage,) = found["passages"]
        text = notebook.sources[passage["source_id"]].wire_text.encode("utf-16-le")
        assert text[2 * passage["start"] : 2 * passage["end"]].decode("utf-16-le") == passage["text"]
        assert "UTF-16" in passage["text"]

        appended = await call("append_to_source", source="What this simulator is", text="The walrus is new here 🧪.")
        assert appended["source"]["title"] == "What this simulator is"
        content = await call("get_source_content", source="What this simulator is")
        assert content["content"].endswith("The walrus is new here 🧪.")
        assert (await call("search_sources", query="walrus"))["passages"][0]["rank"] == 1
        written = await call("get_source_content", source="What this simulator is", to_file="about.txt")
        assert Path(written["file_path"]).read_text(encoding="utf-8") == content["content"]
        assert (await there.fails("get_source_content", source="About", to_file="../x")).code == "FILE_REFUSED"

        added = await call("add_source", content=DOC, title="Mine")
        assert (added["sources"][0]["kind"], added["sources"][0]["title"]) == ("google_doc", "Mine")
        drive = notebook.sources[added["sources"][0]["id"]]
        listed = {row["title"]: row for row in (await call("list_sources", freshness=True))["sources"]}
        assert listed["Mine"]["fresh"] is True
        assert "fresh" not in listed["What this simulator is"]
        assert (await call("refresh_source", source="Mine", only_if_stale=True))["refreshed"] is False
        drive.stale = True
        done = await call("refresh_source", source="Mine", only_if_stale=True)
        assert (done["fresh"], done["refreshed"]) == (False, True)
        assert there.sent("FLmJqe") == 1
        assert drive.stale is False


async def test_an_append_whose_reply_is_lost_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        notebook = there.service.service.owner.recent()[0]
        there.service.faults.add(Fault(Kind.CUT, "QsNTEd", amount=1))
        arguments = {"notebook": notebook.id, "source": "What this simulator is", "text": "Once only."}
        assert (await there.call("append_to_source", **arguments))["source"]["status"] == "ready"
        assert next(iter(notebook.sources.values())).text.count("Once only.") == 1
        there.service.faults.add(Fault(Kind.HTTP, "QsNTEd", code=500))
        error = await there.fails("append_to_source", **arguments)
        assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", "unknown")
        assert there.sent("QsNTEd") == 2


async def test_copying_and_forgetting_a_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        call = there.call
        copied = await call("copy_notebook", notebook="About", title="Twin")
        twin = copied["notebook"]["id"]
        await call("list_sources", notebook=twin)
        assert (await call("list_sources", notebook=twin))["total"] == 3
        assert (await call("forget_notebook", notebook=twin))["status"] == "forgotten"
        assert [row["title"] for row in (await call("list_notebooks"))["notebooks"]] == ["About this simulation"]
        assert (await call("get_notebook", notebook=twin))["notebook"]["title"] == "Twin"
        missing = "00000000-0000-4000-8000-000000000000"
        assert (await there.fails("forget_notebook", notebook=missing)).code == "NOT_FOUND"
        there.service.faults.add(Fault(Kind.CUT, "te3DCe", amount=1))
        error = await there.fails("copy_notebook", notebook="About", title="Once")
        assert error.code == "UNCONFIRMED_WRITE"
        assert len(error.details["same_title"]) == there.sent("te3DCe") - 1 == 1
