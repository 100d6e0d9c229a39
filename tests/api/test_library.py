"""Library tools, over the library's own tables: names of the user's own, and what they mean elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.errors import Outcome
from tests.fakes import NB, NB2, NB3, S1, Bench, notebook, source

URL = "https://notebook.google.com/notebook/"


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def add(bench: Bench, notebook_id: str = NB, name: str = "Lamps", **said: Any) -> dict[str, Any]:
    arguments = {"url": URL + notebook_id, "name": name, "description": "All about lamps", "topics": ["light"]}
    entry: dict[str, Any] = (await bench.call("add_notebook", **arguments | said))["entry"]
    return entry


# add_notebook


async def test_an_entry(bench: Bench) -> None:
    bench.store.active = NB
    url = f"https://notebooklm.google.com/notebook/{NB}?authuser=someone%40a.test&pli=1#x"
    entry = await add(bench, url=url, name=" My lamps ", tags=["sea", "日本"], use_cases=["at night"])
    assert entry == {
        "id": NB,
        "name": "My lamps",
        "url": f"https://notebooklm.google.com/notebook/{NB}",
        "description": "All about lamps",
        "topics": ["light"],
        "content_types": [],
        "use_cases": ["at night"],
        "tags": ["sea", "日本"],
        "added": "2023-11-14T22:13:20Z",
        "use_count": 0,
        "active": True,
    }
    assert bench.caller.requests == []


async def test_a_notebook_and_a_name_stand_once(bench: Bench) -> None:
    await add(bench)
    error = await fails_to_add(bench, name="Other")
    assert error.details == {"notebook": NB, "name": "Lamps"}
    assert "update_notebook" in error.hint
    error = await fails_to_add(bench, url=URL + NB2, name="LAMPS ")
    assert error.details == {"notebook": NB, "name": "Lamps"}
    assert (await bench.call("search_notebooks", query=""))["total"] == 1


async def fails_to_add(bench: Bench, **said: Any) -> Any:
    arguments = {"url": URL + NB, "name": "Lamps", "description": "d", "topics": []}
    error = await bench.fails("add_notebook", **arguments | said)
    assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.NOT_SENT)
    return error


@pytest.mark.parametrize(
    "said",
    [
        {"url": f"https://evil.test/notebook/{NB}"},
        {"url": NB},
        {"url": ""},
        {"url": "https://notebook.google.com/"},
        {"name": " "},
        {"name": "x" * 201},
        {"topics": "[1, 2]"},
        {"colour": "red"},
    ],
)
async def test_entries_that_are_none(bench: Bench, said: dict[str, Any]) -> None:
    await fails_to_add(bench, **said)
    assert (await bench.call("search_notebooks", query=""))["total"] == 0


# update_notebook


async def test_an_entry_is_changed(bench: Bench) -> None:
    await add(bench, tags=["old"])
    await add(bench, NB2, "Horns")
    for reference in (NB, URL + NB, "lamps", "Lam", NB[:12]):
        changed = await bench.call("update_notebook", notebook=reference, tags=[reference])
        assert changed["entry"]["tags"] == [reference]
    changed = await bench.call("update_notebook", notebook="Lamps", name="LAMPS", description="", topics=[])
    assert (changed["entry"]["name"], changed["entry"]["description"], changed["entry"]["topics"]) == ("LAMPS", "", [])
    error = await bench.fails("update_notebook", notebook="Lamps", name="horns")
    assert error.details == {"notebook": NB2, "name": "Horns"}
    assert (await bench.fails("update_notebook", notebook="Lamps")).code == "INVALID_ARGUMENT"
    error = await bench.fails("update_notebook", notebook="Bells", name="x")
    assert (error.code, error.details) == ("NOT_FOUND", {"notebook": "Bells"})
    assert "search_notebooks" in error.hint
    assert bench.caller.requests == []


async def test_an_entry_for_another_notebook(bench: Bench) -> None:
    await add(bench)
    await add(bench, NB2, "Horns")
    changed = await bench.call("update_notebook", notebook="Lamps", url=URL + NB3)
    assert (changed["entry"]["id"], changed["entry"]["url"]) == (NB3, URL + NB3)
    error = await bench.fails("update_notebook", notebook="Lamps", url=URL + NB2)
    assert error.details == {"notebook": NB2, "name": "Horns"}
    assert (await bench.fails("update_notebook", notebook="Lamps", url="https://a.test")).code == "INVALID_ARGUMENT"


async def test_a_reference_that_fits_two_entries(bench: Bench) -> None:
    await add(bench)
    await add(bench, NB2, "Lamp oil")
    error = await bench.fails("update_notebook", notebook="lamp", tags=[])
    assert error.code == "AMBIGUOUS"
    assert {each["id"] for each in error.details["candidates"]} == {NB, NB2}


# remove_notebook


async def test_nothing_is_removed_without_a_yes(bench: Bench) -> None:
    await add(bench)
    assert await bench.call("remove_notebook", notebook="lamps") == {
        "status": "needs_confirmation",
        "notebook_id": NB,
        "name": "Lamps",
        "would": f"remove 'Lamps' ({NB}) from the local library; the notebook itself stays",
    }
    assert (await bench.call("remove_notebook", notebook="lamps", confirm=True))["status"] == "removed"
    assert (await bench.fails("remove_notebook", notebook="lamps", confirm=True)).code == "NOT_FOUND"
    assert bench.caller.requests == []


# search_notebooks and get_library_stats


async def test_every_word_must_be_somewhere(bench: Bench) -> None:
    await add(bench, topics=["Fresnel lenses"], tags=["coast"], use_cases=["choosing a LAMP"])
    await add(bench, NB2, "Horns", description="Straße im Nebel", topics=["sound"], content_types=["manuals"])

    async def found(query: str) -> list[str]:
        result = await bench.call("search_notebooks", query=query)
        assert result["total"] == len(result["entries"])
        return [entry["name"] for entry in result["entries"]]

    assert await found("") == ["Horns", "Lamps"]
    assert await found("fresnel COAST") == ["Lamps"]
    assert await found("strasse") == ["Horns"]
    assert await found("manual") == ["Horns"]
    assert await found("lens horn") == []
    assert await found("%") == []


async def test_totals_of_an_empty_library_and_of_one_that_is_not(bench: Bench) -> None:
    assert await bench.call("get_library_stats") == {"notebooks": 0, "questions": 0, "tags": [], "top_used": []}
    await add(bench, tags=["sea", "sea", "night"])
    await add(bench, NB2, "Horns", tags=["sea"])
    stats = await bench.call("get_library_stats")
    assert stats["notebooks"] == 2
    assert stats["tags"] == [{"tag": "sea", "notebooks": 2}, {"tag": "night", "notebooks": 1}]
    assert stats["top_used"] == []


# What a name means elsewhere


async def test_a_name_is_a_reference_and_needs_no_list(bench: Bench) -> None:
    await add(bench)
    bench.caller.script(notebooks.GET, lambda request: [notebook(request.notebook_id, sources=(source(S1),))])
    for reference in ("Lamps", "LAMPS"):
        assert (await bench.call("get_notebook", notebook=reference))["notebook"]["id"] == NB
    assert bench.caller.calls == ["rLM1Ne"] * 2
    assert (await bench.call("list_sources", notebook="lamps"))["notebook_id"] == NB


async def test_a_name_wins_over_a_title_but_not_over_an_id(bench: Bench) -> None:
    await add(bench, NB, "Shared title")
    await add(bench, NB2, NB3)
    bench.caller.script(notebooks.LIST, [[notebook(NB3, "Shared title"), notebook(NB2, "Shared titles")]])
    bench.caller.script(notebooks.GET, lambda request: [notebook(request.notebook_id)])

    async def meant(reference: str) -> Any:
        return (await bench.call("get_notebook", notebook=reference))["notebook"]["id"]

    assert await meant("shared title") == NB
    assert await meant(NB3) == NB3
    assert await meant(URL + NB3) == NB3
    assert await meant("Shared titles") == NB2


async def test_the_list_of_notebooks_knows_names_and_tags(bench: Bench) -> None:
    await add(bench, NB2, "Horns", tags=["sea"])
    await add(bench, NB3, "Elsewhere")
    bench.caller.script(notebooks.LIST, [[notebook(NB, "A title"), notebook(NB2, "B title")]])
    listed = (await bench.call("list_notebooks"))["notebooks"]
    assert [(row["id"], row.get("alias"), row.get("tags")) for row in listed] == [
        (NB, None, None),
        (NB2, "Horns", ["sea"]),
    ]
    assert [row["id"] for row in (await bench.call("list_notebooks", query="horn"))["notebooks"]] == [NB2]
