"""The library beside a real Chromium: local alone, but its names are good for every tool."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.world import in_chromium, world

pytestmark = in_chromium


async def test_a_name_of_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        call = there.call
        notebook = there.service.service.owner.recent()[0]
        url = f"https://notebook.google.com/notebook/{notebook.id}?authuser=0"
        said = {"description": "What the simulator says of itself", "topics": ["simulation"], "tags": ["demo"]}
        entry = (await call("add_notebook", url=url, name="The manual", **said))["entry"]
        assert entry["id"] == notebook.id
        assert len(there.service.requests) == 0

        answer = await call("ask_question", question="What is the simulator?", notebook="the manual")
        assert answer["notebook_id"] == notebook.id
        assert there.sent("wXbhsf") == 0
        (row,) = (await call("list_notebooks"))["notebooks"]
        assert (row["alias"], row["tags"]) == ("The manual", ["demo"])
        stats = await call("get_library_stats")
        assert (stats["questions"], stats["top_used"][0]["name"]) == (1, "The manual")
        assert (await call("update_notebook", notebook="The manual", name="Manual"))["entry"]["use_count"] == 1
        assert (await call("search_notebooks", query="simulat"))["total"] == 1
        assert (await call("remove_notebook", notebook="Manual"))["status"] == "needs_confirmation"
        assert (await call("remove_notebook", notebook="Manual", confirm=True))["status"] == "removed"
        assert (await there.fails("list_sources", notebook="Manual")).code == "NOT_FOUND"
        assert notebook.id in there.service.service.owner.notebooks


async def test_a_deleted_notebook_leaves_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        notebook = there.service.service.owner.recent()[0]
        url = f"https://notebook.google.com/notebook/{notebook.id}"
        await there.call("add_notebook", url=url, name="Manual", description="", topics=[])
        await there.call("delete_notebook", notebook="Manual", confirm=True)
        assert (await there.call("search_notebooks", query=""))["total"] == 0
