"""Resources and completions through the SDK's own client: the tools' answers, under URIs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.notes import notes
from nlm_cdp.api.sources import sources
from nlm_cdp.errors import ChromeNotFound, ScopeMissing, SignedOut
from nlm_cdp.mcp.resources import ENTRY, LONGEST, NOTE, NOTEBOOK, READERS, RESOURCES, REST, SOURCE, TEMPLATES, pattern
from nlm_cdp.mcp.server import server_of
from tests.fakes import NB, NB2, NB3, S1, START, Bench, notebook, source, text_element

modes = pytest.mark.parametrize("mode", ["legacy", "auto"])
NOTE_ID = "e1e1e1e1-0000-4000-8000-000000000001"
LIBRARY = "notebooklm://library"


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def fill(bench: Bench, *names: str) -> None:
    for notebook_id, name in zip((NB, NB2, NB3), names, strict=False):
        url = f"https://notebook.google.com/notebook/{notebook_id}"
        await bench.call("add_notebook", url=url, name=name, description="", topics=["t"])


async def read(bench: Bench, uri: str, mode: str = "auto") -> Any:
    async with Client(server_of(bench.app), mode=mode) as client:
        (contents,) = (await client.read_resource(uri)).contents
        assert contents.uri == uri
        return contents


async def refused(bench: Bench, uri: str, mode: str = "auto") -> MCPError:
    async with Client(server_of(bench.app), mode=mode) as client:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
    return caught.value


def with_text(bench: Bench, text: str) -> None:
    row = source(S1, "A page")
    bench.caller.script(notebooks.GET, [notebook(NB, sources=(row,))])
    bench.caller.script(sources.LOAD, [row, None, None, [[[text_element(text)]]]])


# Lists


@modes
async def test_the_lists_cost_no_context(bench: Bench, mode: str) -> None:
    async with Client(server_of(bench.app), mode=mode) as client:
        assert (await client.list_resources()).resources == RESOURCES
        assert (await client.list_resource_templates()).resource_templates == TEMPLATES
        assert client.server_capabilities.resources is not None
        assert client.server_capabilities.completions is not None
    assert bench.contexts == 0
    uris = [str(each.uri) for each in RESOURCES]
    assert uris == [LIBRARY, "notebooklm://metadata"]
    assert [each.uri_template for each in TEMPLATES] == [ENTRY, NOTEBOOK, SOURCE, NOTE]
    assert set(READERS) == {*uris, *(each.uri_template for each in TEMPLATES)}
    assert "Deprecated" in (RESOURCES[1].description or "")


# The library


@modes
async def test_the_library(bench: Bench, mode: str) -> None:
    await fill(bench, "Lamps", "Horns 日本")
    contents = await read(bench, LIBRARY, mode)
    assert contents.mime_type == "application/json"
    assert "日本" in contents.text
    assert json.loads(contents.text) == await bench.call("search_notebooks", query="")
    old = json.loads((await read(bench, "notebooklm://metadata", mode)).text)
    assert old.pop("deprecated").startswith("Read notebooklm://library instead")
    assert old == json.loads(contents.text)
    entry = json.loads((await read(bench, f"{LIBRARY}/{NB2}", mode)).text)
    assert (entry["id"], entry["name"]) == (NB2, "Horns 日本")
    assert bench.caller.requests == []


async def test_an_entry_that_is_not_there(bench: Bench) -> None:
    error = await refused(bench, f"{LIBRARY}/{NB}")
    assert error.code == -32602
    assert error.data["code"] == "NOT_FOUND"


async def test_toolsets_and_scopes_take_no_resource_away() -> None:
    bench = Bench(scopes=(), toolsets=("system",))
    assert json.loads((await read(bench, LIBRARY)).text)["entries"] == []


async def test_what_changes_something_is_no_resource() -> None:
    bench = Bench(scopes=(), toolsets=("all",))
    with pytest.raises(ScopeMissing):
        await bench.app.look("create_notebook", {"title": "x"})
    assert bench.contexts == 0


# Notebooks, sources, notes


@modes
async def test_a_notebook(bench: Bench, mode: str) -> None:
    bench.caller.script(notebooks.GET, [notebook(NB, sources=(source(S1),))])
    found = json.loads((await read(bench, f"notebooklm://notebook/{NB}", mode)).text)
    assert found == await bench.call("get_notebook", notebook=NB)


async def test_a_notebook_by_its_name(bench: Bench) -> None:
    await fill(bench, "My lamps")
    bench.caller.script(notebooks.GET, lambda request: [notebook(request.notebook_id)])
    found = json.loads((await read(bench, "notebooklm://notebook/My%20lamps")).text)
    assert found["notebook"]["id"] == NB


@modes
async def test_a_source(bench: Bench, mode: str) -> None:
    with_text(bench, "Hidden\u200b text")
    contents = await read(bench, f"notebooklm://notebook/{NB}/source/{S1}", mode)
    assert contents.mime_type == "text/markdown"
    assert "Hidden\u200b text" in contents.text
    beside = contents.meta[REST]
    assert (beside["source"]["id"], beside["has_more"]) == (S1, False)
    assert beside["provenance"]["flags"] == {"invisible": 1}


async def test_a_long_source_says_how_to_go_on(bench: Bench) -> None:
    with_text(bench, "x" * (LONGEST + 1234))
    contents = await read(bench, f"notebooklm://notebook/{NB}/source/{S1}")
    total = contents.meta[REST]["total_chars"]
    end = f"\n\n[{total - LONGEST} characters more: get_source_content, source {S1}, offset {LONGEST}]"
    assert contents.text == "x" * LONGEST + end


def with_note(bench: Bench, content: str, kind: int = 1) -> None:
    meta = [kind, "1", [START, 0], *([5] if kind == 2 else [])]
    bench.caller.script(notes.LIST, [[[NOTE_ID, [NOTE_ID, content, meta, None, "A note"]]]])


@modes
async def test_a_note_and_a_mind_map(bench: Bench, mode: str) -> None:
    with_note(bench, "# Mine\ntext")
    uri = f"notebooklm://notebook/{NB}/note/{NOTE_ID}"
    contents = await read(bench, uri, mode)
    assert (contents.mime_type, contents.text) == ("text/markdown", "# Mine\ntext")
    assert contents.meta[REST]["note"]["title"] == "A note"
    tree = '{"name": "Root", "children": []}'
    with_note(bench, tree, kind=2)
    contents = await read(bench, uri, mode)
    assert (contents.mime_type, json.loads(contents.text)) == ("application/json", json.loads(tree))


# What is none, and what fails


@modes
@pytest.mark.parametrize(
    "uri",
    [
        "notebooklm://",
        "notebooklm://nothing",
        "notebooklm://library/a/b",
        f"notebooklm://notebook/{NB}/source",
        f"notebooklm://notebook/{NB}/artifact/x",
        f"notebooklm://notebook/{NB}?x=1",
        "mcp://notebooklm",
        "file:///etc/passwd",
        "",
    ],
)
async def test_a_uri_that_is_no_resource(bench: Bench, mode: str, uri: str) -> None:
    error = await refused(bench, uri, mode)
    assert error.code == -32602
    assert error.data["code"] == "NOT_FOUND"
    assert bench.contexts == 0


@modes
@pytest.mark.parametrize(
    ("failure", "code"),
    [(SignedOut("the page is signed out"), "SIGNED_OUT"), (ChromeNotFound("none"), "CHROME_NOT_FOUND")],
)
async def test_a_failure_says_what_a_tool_would(bench: Bench, mode: str, failure: Any, code: str) -> None:
    bench.caller.script(notebooks.GET, failure)
    error = await refused(bench, f"notebooklm://notebook/{NB}", mode)
    assert error.code == -32603
    assert error.data["code"] == code
    assert (error.data["message"], error.data["hint"]) == (failure.message, failure.hint)
    assert error.message.startswith(f"{code}: ")


def test_a_template_is_what_it_matches() -> None:
    assert pattern(SOURCE).fullmatch(f"notebooklm://notebook/{NB}/source/{S1}/") is not None
    assert pattern(NOTEBOOK).fullmatch("notebooklm://notebook/") is None
    match = pattern(NOTE).fullmatch("notebooklm://notebook/a.b/note/c%2Fd")
    assert match is not None
    assert match.groupdict() == {"id": "a.b", "note_id": "c%2Fd"}


# Completion


async def completed(bench: Bench, ref: Any, name: str, value: str) -> Any:
    async with Client(server_of(bench.app), mode="auto") as client:
        return (await client.complete(ref, {"name": name, "value": value})).completion


@pytest.mark.parametrize("template", [ENTRY, NOTEBOOK, SOURCE])
async def test_ids_are_completed_from_the_library(bench: Bench, template: str) -> None:
    await fill(bench, "Lamps", "Horns", "Lamp oil")
    ref = ResourceTemplateReference(uri=template)
    for typed, values in (("", {NB, NB2, NB3}), ("2222", {NB2}), ("LAMP", {NB, NB3}), ("x", set())):
        found = await completed(bench, ref, "id", typed)
        assert set(found.values) == values
        assert (found.total, found.has_more) == (len(values), False)
    assert bench.caller.requests == []


async def test_names_are_completed_in_prompts(bench: Bench) -> None:
    await fill(bench, "Lamps", "Horns")
    found = await completed(bench, PromptReference(name="find_gaps"), "notebook", "la")
    assert found.values == ["Lamps"]


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        (ResourceTemplateReference(uri=SOURCE), "source_id"),
        (ResourceTemplateReference(uri=NOTE), "note_id"),
        (PromptReference(name="find_gaps"), "topic"),
        (PromptReference(name="nothing"), "id"),
    ],
)
async def test_nothing_else_is_completed(bench: Bench, ref: Any, name: str) -> None:
    await fill(bench, "Lamps")
    contexts = bench.contexts
    assert (await completed(bench, ref, name, "")).values == []
    assert bench.contexts == contexts


async def test_a_completion_is_bounded(bench: Bench) -> None:
    for number in range(120):
        lists: dict[str, Any] = {"topics": [], "content_types": [], "use_cases": [], "tags": []}
        await bench.store.library.add(f"n{number}", "u", name=f"Name {number}", description="", **lists)
    found = await completed(bench, ResourceTemplateReference(uri=ENTRY), "id", "name")
    assert (len(found.values), found.total, found.has_more) == (100, 120, True)
