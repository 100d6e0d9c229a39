"""Note tools over scripted rows: listings with tombstones, two calls for one note, and replies that are lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import trio

from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.notes import notes
from nlm_cdp.errors import Drift, Network, NlmError, Outcome
from tests.fakes import NB, NB2, S1, START, Bench, lost, notebook, refused, with_notebook

N1, N2, N3, N4, N5 = (f"{digit * 8}-{digit * 4}-4{digit * 3}-9{digit * 3}-{digit * 12}" for digit in "45678")
TREE = json.dumps({"name": "Fog", "children": [{"name": "Horns", "children": []}, {"name": "Bells"}, "odd"]})
TEXT = "The horn sounds every ninety seconds.\n\nThen the bell."


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.store.active = NB
    return bench


def bare(note_id: str, title: str = "Fog", content: Any = TEXT, *, type: int = 1, prompt: int | None = None) -> Any:
    return [note_id, content, [type, "270318299112", [START, 5], prompt, [[S1]] if prompt else None], None, title]


def row(note_id: str, title: str = "Fog", content: Any = TEXT, **options: Any) -> list[Any]:
    return [note_id, bare(note_id, title, content, **options)]


def gone(note_id: str) -> list[Any]:
    return [note_id, None, 2]


def listings(bench: Bench, *looks: Any) -> None:
    """What each look at the notes shows; the last one repeats. Exceptions are raised."""
    answers = [look if isinstance(look, Exception) else [look or None, [START + 60, 7]] for look in looks]
    bench.caller.script(notes.LIST, *answers)


# list_notes


async def test_each_row_once_under_its_kind(bench: Bench) -> None:
    """A text that begins with a brace is no mind map; a tree in a plain note is one."""
    listings(
        bench,
        [
            row(N1),
            row(N2, "Map", TREE),
            gone("old"),
            row(N3, "Braces", '{"name": "not a tree"}'),
            row(N4, "Broken", '{"name": "Fog", "children": ['),
            row(N5, "Saved", "Fog [1]", type=2),
            row("web", "Empty map", "{}", type=2, prompt=5),
            row("custom", type=3),
            row("scratch", type=4),
            row("new", type=7),
            ["bare", ["bare", "Text", None, None, None]],
            row(N1),
        ],
    )
    result = await bench.call("list_notes")
    assert [(note["id"], note["kind"]) for note in result["notes"]] == [
        (N1, "note"),
        (N2, "mind_map"),
        (N3, "note"),
        (N4, "note"),
        (N5, "saved_answer"),
        ("web", "mind_map"),
        ("custom", "custom"),
        ("scratch", "scratch"),
        ("new", "unknown(7)"),
        ("bare", "unknown(0)"),
    ]
    assert (result["total"], result["has_more"], result["notebook_id"]) == (10, False, NB)
    assert "undecoded" not in result
    assert result["notes"][0] == {
        "id": N1,
        "title": "Fog",
        "kind": "note",
        "preview": "The horn sounds every ninety seconds. Then the bell.",
        "chars": len(TEXT),
        "modified": "2023-11-14T22:13:20Z",
    }
    assert result["notes"][1]["preview"] == "Fog: Horns, Bells"
    assert result["_provenance"]["ai_generated"] is True
    assert bench.caller.sent(notes.LIST)[0].encode() == [NB]


async def test_a_window_and_a_query(bench: Bench) -> None:
    listings(bench, [row(f"note-{number}", f"Note {number}", f"text {number % 3}") for number in range(130)])
    result = await bench.call("list_notes")
    assert (len(result["notes"]), result["total"], result["has_more"]) == (50, 130, True)
    assert result["_provenance"]["ai_generated"] is False
    result = await bench.call("list_notes", offset=125, limit="10")
    assert (len(result["notes"]), result["has_more"]) == (5, False)
    result = await bench.call("list_notes", query="TEXT 2", limit=100)
    assert (result["total"], result["has_more"]) == (43, False)
    assert (await bench.call("list_notes", query="note 12", limit=1))["total"] == 11
    assert (await bench.call("list_notes", query="mist"))["notes"] == []


async def test_long_and_unseen_text_in_a_preview(bench: Bench) -> None:
    listings(bench, [row(N1, content="fog \u202e" * 1000)])
    result = await bench.call("list_notes")
    assert len(result["notes"][0]["preview"]) == 200
    assert result["notes"][0]["chars"] == 5000
    assert result["_provenance"]["flags"] == {"bidi": result["notes"][0]["preview"].count("\u202e")}


async def test_deleted_notes_do_not_come_back_and_odd_rows_are_told(bench: Bench) -> None:
    listings(bench, [gone(N1), [N2, None], [N3, [N3, None, [1, "1"], None, "Fog"]], row(N4)])
    result = await bench.call("list_notes")
    assert [note["id"] for note in result["notes"]] == [N4]
    assert len(result["undecoded"]) == 2
    assert N2 in result["undecoded"][0]
    assert N3 in result["undecoded"][1]
    for reference in (N1, N2, N3):
        assert (await bench.fails("get_note", note=reference)).code == "NOT_FOUND"


async def test_no_notes_is_empty_and_a_strange_listing_is_drift(bench: Bench) -> None:
    for rows in ([], [gone(N1)]):
        listings(bench, rows)
        result = await bench.call("list_notes")
        assert (result["notes"], result["total"]) == ([], 0)
    answer: list[Any]
    for answer in (["x"], [[[5]]], [["bad"]], [[[None, bare(N1)]]], [[[N1, "text"]]], [{"0": []}]):
        bench.caller.script(notes.LIST, answer)
        assert (await bench.fails("list_notes")).code == "DRIFT"


async def test_one_bad_row_hides_no_good_one_but_proves_no_title(bench: Bench) -> None:
    listings(bench, [row(N1), [N2, [N2, 5, None, None, "Fog"]]])
    result = await bench.call("list_notes")
    assert [note["id"] for note in result["notes"]] == [N1]
    assert result["undecoded"][0].startswith(".1[1].2.2")
    assert (await bench.call("get_note", note=N1))["note"]["id"] == N1
    bench.caller.script(notes.DELETE, [])
    for name, arguments in (
        ("get_note", {"note": "Fog"}),
        ("update_note", {"note": "Fog", "title": "New"}),
        ("delete_note", {"notes": [N1, "Fog"], "confirm": True}),
    ):
        error = await bench.fails(name, **arguments)
        assert (error.code, error.hint) == ("DRIFT", "Use the note's id.")
    assert set(bench.caller.calls) == {"cFji9"}


# References


async def test_references_to_notes(bench: Bench) -> None:
    listings(bench, [row(N1, "Fog"), row(N2, "Fog horns"), row(N3, "Horns"), row(N4, "")])
    for reference, found in ((N2, N2), ("Fog", N1), ("fog", N1), ("fog h", N2), (N3[:6], N3), (N4, N4)):
        assert (await bench.call("get_note", note=reference))["note"]["id"] == found
    listings(bench, [row(N1, "Fog"), row(N2, "Fog"), row(N3, "Fog horns"), gone(N4)])
    error = await bench.fails("get_note", note="Fog")
    assert error.code == "AMBIGUOUS"
    assert error.details["candidates"] == [{"id": N1, "title": "Fog"}, {"id": N2, "title": "Fog"}]
    error = await bench.fails("get_note", note="mist")
    assert (error.code, error.hint) == ("NOT_FOUND", "List the notes to see what is there.")


async def test_a_note_is_no_source(bench: Bench) -> None:
    with_notebook(bench)
    for tool in ("get_source_content", "get_source_guide"):
        assert (await bench.fails(tool, source=N1)).code == "NOT_FOUND"
    assert (await bench.call("delete_source", sources=[N1], confirm=True))["not_found"] == [N1]
    assert bench.caller.sent(notes.LIST) == []


async def test_a_notebook_by_title_and_none_at_all(bench: Bench) -> None:
    listings(bench, [row(N1)])
    bench.caller.script(notebooks.LIST, [[notebook(NB2, "Lamps")]])
    assert (await bench.call("list_notes", notebook="Lamps"))["notebook_id"] == NB2
    bench.store.active = None
    for name, arguments in CALLS.items():
        error = await bench.fails(name, **arguments)
        assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.NOT_SENT)
    assert bench.caller.calls == ["wXbhsf", "cFji9"]


CALLS: dict[str, dict[str, Any]] = {
    "list_notes": {},
    "get_note": {"note": N1},
    "create_note": {"title": "Fog", "content": TEXT},
    "update_note": {"note": N1, "title": "New"},
    "delete_note": {"notes": [N1], "confirm": True},
}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("list_notes", {"limit": 0}),
        ("list_notes", {"offset": -1}),
        ("list_notes", {"kind": "note"}),
        ("get_note", {}),
        ("get_note", {"note": N1, "max_chars": 0}),
        ("get_note", {"note": N1, "format": "markdown"}),
        ("create_note", {"title": "Fog"}),
        ("create_note", {"content": TEXT}),
        ("create_note", {"title": "", "content": TEXT}),
        ("create_note", {"title": "Fog", "content": ["a"]}),
        ("update_note", {"note": N1}),
        ("update_note", {"note": N1, "title": ""}),
        ("update_note", {"title": "New"}),
        ("delete_note", {}),
        ("delete_note", {"notes": [], "confirm": True}),
        ("delete_note", {"notes": [N1], "force": True}),
    ],
)
async def test_bad_arguments_are_refused_before_anything_is_sent(
    bench: Bench, name: str, arguments: dict[str, Any]
) -> None:
    error = await bench.fails(name, **arguments)
    assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.NOT_SENT)
    assert error.hint
    assert bench.caller.requests == []


REFUSALS = [
    (3, "INVALID_ARGUMENT"),
    (5, "NOT_FOUND"),
    (7, "PERMISSION"),
    (8, "RATE_LIMITED"),
    (9, "INVALID_ARGUMENT"),
    (13, "SERVICE"),
    (16, "SIGNED_OUT"),
]
WRITES = [("create_note", notes.CREATE), ("update_note", notes.UPDATE), ("delete_note", notes.DELETE)]


@pytest.mark.parametrize(("status", "code"), REFUSALS)
@pytest.mark.parametrize(("name", "rpc"), [("list_notes", notes.LIST), ("get_note", notes.LIST), *WRITES])
async def test_a_refusal_is_believed_and_nothing_is_sent_again(
    bench: Bench, name: str, rpc: Any, status: int, code: str
) -> None:
    listings(bench, [row(N1)])
    failure = refused(status)
    code = failure.code if status == 9 else code
    bench.caller.script(rpc, failure)
    error = await bench.fails(name, **CALLS[name])
    assert error is failure
    assert (error.code, error.outcome) == (code, Outcome.REJECTED)
    assert len(bench.caller.sent(rpc)) == 1
    assert bench.caller.requests[-1][0] is rpc


# get_note


async def test_a_text_by_windows(bench: Bench) -> None:
    long = "fog 😀 日本\u200b " * 5_000
    listings(bench, [row(N1, content=long)])
    whole, offset = "", 0
    while True:
        result = await bench.call("get_note", note=N1, offset=offset, max_chars=20_001)
        whole += result["content"]
        offset = len(whole)
        assert result["total_chars"] == len(long)
        if not result["has_more"]:
            break
    assert whole == long
    assert result["note"]["chars"] == len(long)
    assert result["_provenance"]["flags"] == {"invisible": result["content"].count("\u200b")}
    assert len((await bench.call("get_note", note=N1))["content"]) == 20_000
    listings(bench, [row(N1, content="")])
    result = await bench.call("get_note", note=N1)
    assert (result["content"], result["total_chars"], result["has_more"]) == ("", 0, False)


@pytest.mark.parametrize(
    ("options", "content", "generated"),
    [({}, TEXT, False), ({"type": 2}, "Fog [1]", True), ({"type": 2, "prompt": 5}, TREE, True), ({}, TREE, True)],
)
async def test_a_text_says_whether_a_model_wrote_it(
    bench: Bench, options: dict[str, Any], content: str, generated: bool
) -> None:
    listings(bench, [row(N1, content=content, **options)])
    result = await bench.call("get_note", note=N1)
    assert result["content"] == content
    assert result["_provenance"]["ai_generated"] is generated


# create_note


async def test_a_note_takes_two_calls(bench: Bench) -> None:
    """The first ignores title and text; what is reported is what the second stored."""
    bench.caller.script(notes.CREATE, [bare(N1, "New Note", "")])
    bench.caller.script(notes.UPDATE, [bare(N1, "A title of the service's own", TEXT)])
    result = await bench.call("create_note", title="Fog", content=TEXT)
    assert result["note"]["id"] == N1
    assert (result["note"]["title"], result["note"]["chars"]) == ("A title of the service's own", len(TEXT))
    assert (result["note"]["kind"], result["notebook_id"]) == ("note", NB)
    assert [request.encode() for _, request in bench.caller.requests] == [
        [NB, "", [1], None, "Fog"],
        [NB, N1, [[[TEXT, "Fog", [], 0]]]],
    ]


@pytest.mark.parametrize("content", ["", "[]", '{"a": 1}', "🧪\n" * 3, "\u2028 \\ \" '"])
async def test_text_is_sent_as_it_is(bench: Bench, content: str) -> None:
    bench.caller.script(notes.CREATE, [bare(N1, "New Note", "")])
    bench.caller.script(notes.UPDATE, [bare(N1, "Fog", content)])
    assert (await bench.call("create_note", title="Fog", content=content))["note"]["chars"] == len(content)
    assert bench.caller.sent(notes.UPDATE)[0].change.content == content


@pytest.mark.parametrize("failure", [refused(3), refused(5), refused(8), Network("offline")])
async def test_a_second_call_that_fails_names_the_note_that_is_there(bench: Bench, failure: NlmError) -> None:
    bench.caller.script(notes.CREATE, [bare(N1, "New Note", "")])
    bench.caller.script(notes.UPDATE, failure)
    error = await bench.fails("create_note", title="Fog", content=TEXT)
    assert error is failure
    assert error.details["created"] == N1
    assert "was created" in error.message
    assert "update_note" in error.hint
    assert bench.caller.calls == ["CYK0Xb", "cYAfTb"]


async def test_a_second_call_whose_reply_is_lost_is_looked_up(bench: Bench) -> None:
    bench.caller.script(notes.CREATE, [bare(N1, "New Note", "")])
    bench.caller.script(notes.UPDATE, lost())
    listings(bench, [row(N2), row(N1, "Fog", TEXT)])
    assert (await bench.call("create_note", title="Fog", content=TEXT))["note"]["id"] == N1
    for look, said in (
        ([row(N1, "New Note", "")], "the change is not there"),
        ([gone(N1)], "the change is not there"),
        (Network("offline"), "could not be read"),
    ):
        bench.caller.script(notes.UPDATE, lost())
        listings(bench, look)
        error = await bench.fails("create_note", title="Fog", content=TEXT)
        assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", Outcome.UNKNOWN)
        assert error.details["created"] == N1
        assert said in error.message
    assert len(bench.caller.sent(notes.CREATE)) == len(bench.caller.sent(notes.UPDATE)) == 4


LOSSES: list[Callable[[], NlmError]] = [lost, lambda: Drift("another shape", outcome=Outcome.UNKNOWN)]


@pytest.mark.parametrize("loss", LOSSES, ids=["lost", "drift"])
async def test_a_first_call_whose_reply_is_lost_points_at_empty_notes(
    bench: Bench, loss: Callable[[], NlmError]
) -> None:
    for look, found, hint in (
        ([row(N1), row(N2, "New Note", ""), gone(N3)], [N2], "update_note"),
        ([row(N1)], [], "look again"),
    ):
        failure = loss()
        bench.caller.script(notes.CREATE, failure)
        listings(bench, look)
        error = await bench.fails("create_note", title="Fog", content=TEXT)
        assert error is failure
        assert error.outcome is Outcome.UNKNOWN
        assert error.details["empty_notes"] == found
        assert hint in error.hint
    bench.caller.script(notes.CREATE, loss())
    listings(bench, Network("offline"))
    assert "could not be read" in (await bench.fails("create_note", title="Fog", content=TEXT)).message
    assert len(bench.caller.sent(notes.CREATE)) == 3
    assert bench.caller.sent(notes.UPDATE) == []


# update_note


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ({"title": "New"}, [TEXT, "New", [], 0]),
        ({"content": "Mist"}, ["Mist", "Fog", [], 0]),
        ({"content": ""}, ["", "Fog", [], 0]),
        ({"title": "New", "content": "Mist"}, ["Mist", "New", [], 0]),
        ({"title": 'A "title"\nof two lines 👩‍🔬'}, [TEXT, 'A "title"\nof two lines 👩‍🔬', [], 0]),
    ],
)
async def test_the_part_that_is_not_changed_is_kept(bench: Bench, arguments: dict[str, Any], sent: list[Any]) -> None:
    listings(bench, [row(N1), row(N2, "Other")])
    bench.caller.script(notes.UPDATE, [bare(N1, sent[1], sent[0])])
    result = await bench.call("update_note", note="fog", **arguments)
    assert (result["note"]["title"], result["note"]["chars"]) == (sent[1], len(sent[0]))
    assert bench.caller.sent(notes.UPDATE)[0].encode() == [NB, N1, [[sent]]]
    assert bench.caller.calls == ["cFji9", "cYAfTb"]


async def test_a_mind_map_takes_a_title_and_no_text(bench: Bench) -> None:
    listings(bench, [row(N1, "Map", TREE)])
    bench.caller.script(notes.UPDATE, [bare(N1, "New", TREE)])
    error = await bench.fails("update_note", note="Map", content="Just text")
    assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.NOT_SENT)
    assert bench.caller.sent(notes.UPDATE) == []
    result = await bench.call("update_note", note="Map", title="New")
    assert (result["note"]["kind"], result["_provenance"]["ai_generated"]) == ("mind_map", True)
    assert bench.caller.sent(notes.UPDATE)[0].encode() == [NB, N1, [[[TREE, "New", [], 0]]]]


async def test_an_update_whose_reply_is_lost_is_looked_up(bench: Bench) -> None:
    bench.caller.script(notes.UPDATE, lost())
    listings(bench, [row(N1)], [row(N1, "New")])
    assert (await bench.call("update_note", note=N1, title="New"))["note"]["title"] == "New"
    listings(bench, [row(N1)])
    error = await bench.fails("update_note", note=N1, title="New")
    assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", Outcome.UNKNOWN)
    assert "the change is not there" in error.message
    listings(bench, [row(N1)], Network("offline"))
    assert "could not be read" in (await bench.fails("update_note", note=N1, title="New")).message
    assert len(bench.caller.sent(notes.UPDATE)) == 3


async def test_two_updates_of_one_note_keep_each_others_part(bench: Bench) -> None:
    """Each writes both parts, so it reads them after the other has written."""
    there = {"title": "Fog", "content": TEXT}
    bench.caller.script(notes.LIST, lambda request: [[row(N1, there["title"], there["content"])], [START]])

    async def store(request: Any) -> Any:
        await trio.sleep(5)
        there.update(title=request.change.title, content=request.change.content)
        return [bare(N1, there["title"], there["content"])]

    bench.caller.script(notes.UPDATE, store)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: bench.call("update_note", note=N1, title="New"))
        nursery.start_soon(lambda: bench.call("update_note", note=N1, content="Mist"))
    assert there == {"title": "New", "content": "Mist"}


# delete_note


async def test_nothing_is_deleted_without_a_yes(bench: Bench) -> None:
    listings(bench, [row(N1), row(N2, "Map", TREE)])
    for confirm in ({}, {"confirm": False}, {"confirm": "false"}):
        assert await bench.call("delete_note", notes=["Fog", "Map", "nothing"], **confirm) == {
            "status": "needs_confirmation",
            "notebook_id": NB,
            "deleted": [],
            "not_found": ["nothing"],
            "would": [f"delete note 'Fog' ({N1})", f"delete mind_map 'Map' ({N2})"],
        }
    assert bench.caller.sent(notes.DELETE) == []


async def test_deleting_several_at_once(bench: Bench) -> None:
    listings(bench, [row(N1), row(N2, "Map", TREE), row(N3, "Log"), gone(N4)])
    bench.caller.script(notes.DELETE, [])
    result = await bench.call("delete_note", notes=["Fog", N2, N1, N4], confirm=True)
    assert result == {"status": "deleted", "notebook_id": NB, "deleted": [N1, N2], "not_found": [N4]}
    assert bench.caller.sent(notes.DELETE)[0].encode() == [NB, None, [N1, N2]]
    assert bench.caller.calls == ["cFji9", "AH0mwd"]


async def test_what_is_not_there_is_not_deleted_and_doubt_stops_everything(bench: Bench) -> None:
    listings(bench, [gone(N1), row(N2, "Log"), row(N3, "Fog"), row(N4, "Fog")])
    for confirm in (True, False):
        result = await bench.call("delete_note", notes=[N1, "mist"], confirm=confirm)
        assert (result["status"], result["deleted"], result["not_found"]) == ("not_found", [], [N1, "mist"])
    assert (await bench.fails("delete_note", notes=["Log", "Fog"], confirm=True)).code == "AMBIGUOUS"
    assert bench.caller.sent(notes.DELETE) == []


@pytest.mark.parametrize("loss", LOSSES, ids=["lost", "drift"])
async def test_a_deletion_whose_reply_is_lost_is_looked_up(bench: Bench, loss: Callable[[], NlmError]) -> None:
    there = [row(N1), row(N2, "Log")]
    bench.caller.script(notes.DELETE, loss())
    listings(bench, there, [gone(N1), gone(N2)])
    assert (await bench.call("delete_note", notes=[N1, N2], confirm=True))["deleted"] == [N1, N2]

    failure = loss()
    bench.caller.script(notes.DELETE, failure)
    listings(bench, there, [gone(N1), row(N2, "Log")])
    error = await bench.fails("delete_note", notes=[N1, N2], confirm=True)
    assert error is failure
    assert (error.outcome, error.details["still_there"]) == (Outcome.UNKNOWN, [N2])
    for look in (Network("offline"), [gone(N1), [None, None, 2]]):
        bench.caller.script(notes.DELETE, loss())
        listings(bench, there, look)
        error = await bench.fails("delete_note", notes=[N1, N2], confirm=True)
        assert error.outcome is Outcome.UNKNOWN
        assert "could not be read" in error.message
    assert len(bench.caller.sent(notes.DELETE)) == 4


async def test_a_deletion_waits_for_an_update_under_way(bench: Bench) -> None:
    """One that was cancelled frees the way at once."""
    order: list[str] = []

    async def store(request: Any) -> Any:
        await trio.sleep(5)
        order.append("updated")
        return [bare(N1, "New")]

    def remove(request: Any) -> Any:
        order.append(f"deleted at {trio.current_time():g}")
        return []

    listings(bench, [row(N1)])
    bench.caller.script(notes.UPDATE, store)
    bench.caller.script(notes.DELETE, remove)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: bench.call("update_note", note=N1, title="New"))
        await trio.sleep(1)
        await bench.call("delete_note", notes=[N1], confirm=True)
    assert order == ["updated", "deleted at 5"]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: bench.call("update_note", note=N1, title="New"))
        await trio.sleep(2)
        nursery.cancel_scope.cancel()
    await bench.call("delete_note", notes=[N1], confirm=True)
    assert order[2:] == ["deleted at 7"]
