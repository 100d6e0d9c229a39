"""Note tools in a real Chromium, against a service that ignores what a new note is given and keeps tombstones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trio

from nlm_cdp.errors import NlmError, Outcome
from nlm_cdp.sim.faults import Fault, Kind
from tests.e2e.world import World, in_chromium, world

pytestmark = in_chromium

TEXT = "The horn sounds every ninety seconds 🧪.\n\nWhen it fails, the bell is rung by hand."
TREE = json.dumps({"name": "Fog 🌫️", "children": [{"name": "Horns", "children": []}, {"name": "Bells"}]})


async def test_a_notes_whole_life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        call, account = there.call, there.service.service.owner
        notebook = account.recent()[0]
        await call("select_notebook", notebook=notebook.id)
        assert (await call("list_notes"))["total"] == 0

        made = (await call("create_note", title="Fog 🌫️", content=TEXT))["note"]
        assert (made["title"], made["kind"], made["chars"]) == ("Fog 🌫️", "note", len(TEXT))
        assert (there.sent("CYK0Xb"), there.sent("cYAfTb")) == (1, 1)
        account.add_note(notebook, "Map", TREE, type=2, prompt_type=5, sources=list(notebook.sources))
        account.add_note(notebook, "Saved", "In fog [1].", type=2)
        listed = await call("list_notes")
        assert [(note["title"], note["kind"]) for note in listed["notes"]] == [
            ("Fog 🌫️", "note"),
            ("Map", "mind_map"),
            ("Saved", "saved_answer"),
        ]
        assert listed["notes"][1]["preview"] == "Fog 🌫️: Horns, Bells"
        assert listed["_provenance"]["simulated"] is True

        got = await call("get_note", note="Fog")
        assert (got["content"], got["note"]["id"]) == (TEXT, made["id"])
        assert json.loads((await call("get_note", note="Map"))["content"])["name"] == "Fog 🌫️"
        assert (await call("update_note", note="Fog", title="Horns"))["note"]["title"] == "Horns"
        assert (await call("get_note", note="Horns"))["content"] == TEXT
        assert (await call("update_note", note="Horns", content="Short"))["note"]["chars"] == 5
        renamed = await call("update_note", note="Map", title="Tree")
        assert (renamed["note"]["kind"], renamed["note"]["title"]) == ("mind_map", "Tree")
        assert (await there.fails("update_note", note="Tree", content="no tree")).code == "INVALID_ARGUMENT"
        assert (await there.fails("get_source_content", source=made["id"])).code == "NOT_FOUND"

        asked = await call("delete_note", notes=["Horns", "Tree"])
        assert (asked["status"], there.sent("AH0mwd")) == ("needs_confirmation", 0)
        gone = await call("delete_note", notes=["Horns", "Tree"], confirm=True)
        assert gone["deleted"][0] == made["id"]
        assert there.sent("AH0mwd") == 1
        left = await call("list_notes")
        assert ([note["title"] for note in left["notes"]], "undecoded" in left) == (["Saved"], False)
        assert sum(note.deleted for note in notebook.notes.values()) == 2
        for reference in (made["id"], "Horns"):
            assert (await there.fails("get_note", note=reference)).code == "NOT_FOUND"


async def noted(there: World) -> str:
    """A notebook with one note; its id."""
    notebook = there.service.service.owner.recent()[0]
    there.service.service.owner.add_note(notebook, "Fog", TEXT)
    await there.call("select_notebook", notebook=notebook.id)
    return notebook.id


async def test_a_text_that_is_refused_leaves_an_empty_note_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, monkeypatch) as there:
        notebook = await noted(there)
        there.service.faults.add(Fault(Kind.STATUS, "cYAfTb", code=8))
        error = await there.fails("create_note", title="New", content=TEXT)
        assert (error.code, error.outcome) == ("RATE_LIMITED", Outcome.REJECTED)
        stored = there.service.service.owner.notebooks[notebook].notes[error.details["created"]]
        assert (stored.title, stored.content) == ("New Note", "")
        await there.call("update_note", note=error.details["created"], title="New", content=TEXT)
        assert (stored.title, stored.content) == ("New", TEXT)
        assert there.sent("CYK0Xb") == 1


@pytest.mark.parametrize("commit", [True, False])
async def test_lost_replies_are_looked_up_and_no_creation_or_deletion_is_sent_twice(
    commit: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, monkeypatch) as there:
        await noted(there)
        there.service.faults.add(Fault(Kind.HTTP, "AH0mwd", commit=commit, code=500))
        if commit:
            assert (await there.call("delete_note", notes=["Fog"], confirm=True))["status"] == "deleted"
        else:
            error = await there.fails("delete_note", notes=["Fog"], confirm=True)
            assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", Outcome.UNKNOWN)
            assert len(error.details["still_there"]) == 1
        assert there.sent("AH0mwd") == 1

        there.service.faults.add(Fault(Kind.HTTP, "CYK0Xb", commit=commit, code=500))
        error = await there.fails("create_note", title="New", content=TEXT)
        assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", Outcome.UNKNOWN)
        assert len(error.details["empty_notes"]) == commit
        assert (there.sent("CYK0Xb"), there.sent("cYAfTb")) == (1, 0)


async def test_a_deletion_after_an_update_that_was_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        notebook = await noted(there)
        there.service.faults.add(Fault(Kind.LATE, "cYAfTb", seconds=2))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(update, there)
            await there.service.requests.wait_for(lambda logged: "cYAfTb" in logged.rpc_ids)
            nursery.cancel_scope.cancel()
        assert (await there.call("delete_note", notes=["Fog"], confirm=True))["status"] == "deleted"
        assert all(note.deleted for note in there.service.service.owner.notebooks[notebook].notes.values())
        assert (await there.call("list_notes"))["total"] == 0


async def update(there: World) -> None:
    try:
        await there.call("update_note", note="Fog", content="Mist")
    except NlmError as error:
        pytest.fail(f"the update ended in {error.code}")
