"""The library's tables: names, uses, and what stands only once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nlm_cdp.errors import InvalidArgument, NotFound
from nlm_cdp.local.database import Database
from nlm_cdp.local.library import LibraryEntry
from nlm_cdp.local.store import MIGRATIONS, Store, open_store

pytestmark = pytest.mark.realtime


class Clock:
    time = 1000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite3"


def said(name: str, **other: Any) -> dict[str, Any]:
    lists: dict[str, Any] = {"topics": [], "content_types": [], "use_cases": [], "tags": []}
    return {"url": f"https://x/{name}", "name": name, "description": ""} | lists | other


async def test_an_entry_is_kept_as_it_was_said(path: Path) -> None:
    odd = ["", "a,b", '["x"]', "日本 🧪", "\n"]
    async with open_store(path, now=Clock()) as store:
        entry = await store.library.add("n1", **said("Lamps", topics=odd, tags=["t"]))
        assert entry == LibraryEntry(notebook_id="n1", added=1000.0, **said("Lamps", topics=odd, tags=["t"]))
    async with open_store(path) as store:
        assert await store.library.entries() == [entry]
        assert await store.library.named("LAMPS") == "n1"
        assert await store.library.named("lamp") is None
        await store.library.remove("n1")
        await store.library.remove("n1")
        assert await store.library.entries() == []


@pytest.mark.parametrize(("notebook", "name"), [("n1", "Other"), ("n2", "lamps"), ("n2", "LAMPS")])
async def test_what_stands_once(path: Path, notebook: str, name: str) -> None:
    async with open_store(path) as store:
        await store.library.add("n1", **said("Lamps"))
        with pytest.raises(InvalidArgument) as caught:
            await store.library.add(notebook, **said(name))
        assert caught.value.details == {"notebook": "n1", "name": "Lamps"}
        assert [entry.name for entry in await store.library.entries()] == ["Lamps"]
        await store.library.add("n2", **said("Lamps, too"))


async def test_a_change_happens_whole_or_not(path: Path) -> None:
    async with open_store(path) as store:
        await store.library.add("n1", **said("Lamps"))
        await store.library.add("n2", **said("Horns"))
        for change in ({"name": "HORNS"}, {"notebook_id": "n2", "url": "u"}):
            with pytest.raises(InvalidArgument):
                await store.library.change("n1", change)
        assert {entry.notebook_id: entry.name for entry in await store.library.entries()} == {
            "n1": "Lamps",
            "n2": "Horns",
        }
        with pytest.raises(NotFound):
            await store.library.change("n3", {"name": "x"})
        assert (await store.library.change("n1", {"name": "LAMPS"})).name == "LAMPS"


async def test_a_question_is_a_use_of_its_notebook(path: Path) -> None:
    clock = Clock()
    async with open_store(path, now=clock) as store:
        for notebook, name in (("n1", "A"), ("n2", "B"), ("n3", "C")):
            await store.library.add(notebook, **said(name))
        session = await store.create_session("n2")
        clock.time = 1005.0
        await store.touch_session(session.id, "c")
        await store.touch_session(session.id, None)
        await store.touch_session((await store.create_session("elsewhere")).id, None)
        with pytest.raises(NotFound):
            await store.touch_session("ses_x", None)
        used = [(entry.notebook_id, entry.use_count, entry.last_used) for entry in await store.library.entries()]
        assert used == [("n2", 2, 1005.0), ("n1", 0, None), ("n3", 0, None)]
        moved = await store.library.change("n2", {"notebook_id": "n4", "url": "u"})
        assert (moved.use_count, moved.last_used) == (0, None)


async def test_a_deleted_notebook_takes_its_entry_along(path: Path) -> None:
    async with open_store(path) as store:
        await store.library.add("n1", **said("A"))
        await store.library.add("n2", **said("B"))
        await store.forget_notebook("n1")
        assert [entry.name for entry in await store.library.entries()] == ["B"]
        await store.library.clear()
        assert await store.library.entries() == []


async def test_a_store_of_before_the_library_is_taken_over(path: Path) -> None:
    old = Store(Database(lambda: path, MIGRATIONS[:1]), Clock())
    session = await old.create_session("n1")
    await old.database.aclose()
    async with open_store(path) as store:
        await store.library.add("n1", **said("A"))
        assert await store.sessions() == [session]
