"""The note calls of the simulator, with the service's odd ways."""

from __future__ import annotations

import pytest

from nlm_cdp.api.notes import notes
from nlm_cdp.sim.records import VIEWER

pytestmark = pytest.mark.realtime

NOWHERE = "nowhere"
TREE = '{"name": "Fog", "children": []}'


async def test_a_new_note_ignores_what_it_is_given_and_a_mutation_sets_it(running) -> None:
    async with running(seed=False) as (sim, client):
        account = sim.service.owner
        notebook = account.add_notebook("Noted")
        request = notes.CreateNote(notebook_id=notebook.id, content="Text", title="Fog")
        row = (await client.reply(notes.CREATE, request)).row
        ((note_id, content, meta, none, title),) = row
        assert (content, none, title) == ("", None, "New Note")
        assert [meta[0], meta[1], len(meta)] == [1, account.user_id, 3]
        change = notes.NoteChange(content="Text 🧪", title="Fog")
        update = notes.UpdateNote(notebook_id=notebook.id, note_id=note_id, change=change)
        got = await client.call(notes.UPDATE, update)
        assert (got.note.id, got.note.content, got.note.title) == (note_id, "Text 🧪", "Fog")
        assert got.note.meta.modified.seconds * 10**9 + got.note.meta.modified.nanos > meta[2][0] * 10**9 + meta[2][1]


async def test_a_mind_map_and_an_answer_are_stored_in_one_call(running) -> None:
    async with running(seed=False) as (sim, client):
        notebook = sim.service.owner.add_notebook("Noted")
        save = notes.SaveMindMap(notebook_id=notebook.id, content=TREE, sources=["s1", "s2"], title="Map")
        row = (await client.reply(notes.SAVE_MIND_MAP, save)).row[0]
        assert (row[1], row[4], row[2][3:]) == (TREE, "Map", [5, [["s1"], ["s2"]]])
        for title, stored in (("Fog", "Fog"), ("", "In fog the horn sounds every")):
            answer = notes.SaveAnswer(
                notebook_id=notebook.id,
                content="In fog the horn sounds every ninety seconds [1].",
                passages=[["anything"]],
                title=title,
                rich=[[["whatever"]], 1],
            )
            got = await client.call(notes.SAVE_ANSWER, answer)
            assert (got.note.title, got.note.meta.type) == (stored, 2)


async def test_the_deleted_stay_listed_as_tombstones(running) -> None:
    async with running(seed=False) as (sim, client):
        account = sim.service.owner
        notebook = account.add_notebook("Noted")
        listing = notes.ListNotes(notebook_id=notebook.id)
        row = (await client.reply(notes.LIST, listing)).row
        assert row[0] is None
        kept, doomed = (account.add_note(notebook, title, "Text") for title in ("Kept", "Doomed"))
        since = (await client.call(notes.LIST, listing)).now
        delete = notes.DeleteNotes(notebook_id=notebook.id, note_ids=[doomed.id, NOWHERE])
        assert (await client.reply(notes.DELETE, delete)).row == []
        rows = (await client.reply(notes.LIST, listing)).row[0]
        assert rows[0][:1] + rows[0][1][:2] == [kept.id, kept.id, "Text"]
        assert len(rows[0][1][2]) == 7
        assert rows[1] == [doomed.id, None, 2]
        changed = await client.call(notes.LIST, notes.ListNotes(notebook_id=notebook.id, since=since))
        assert [each.id for each in changed.rows] == [doomed.id]
        change = notes.NoteChange(content="Back", title="Back")
        for note_id in (doomed.id, NOWHERE):
            update = notes.UpdateNote(notebook_id=notebook.id, note_id=note_id, change=change)
            assert await client.refusal(notes.UPDATE, update) == 5


async def test_notes_of_no_notebook_and_of_one_that_may_only_be_read(running) -> None:
    async with running(seed=False) as (sim, client):
        account = sim.service.owner
        shown = account.add_notebook("Shown", role=VIEWER)
        note = account.add_note(shown, "Fog", "Text")
        assert len((await client.call(notes.LIST, notes.ListNotes(notebook_id=shown.id))).rows) == 1
        assert await client.refusal(notes.LIST, notes.ListNotes(notebook_id=NOWHERE)) == 5
        change = notes.NoteChange(content="", title="")
        for notebook, code in ((NOWHERE, 5), (shown.id, 7)):
            for rpc, request in (
                (notes.CREATE, notes.CreateNote(notebook_id=notebook)),
                (
                    notes.SAVE_MIND_MAP,
                    notes.SaveMindMap(notebook_id=notebook, content=TREE, sources=[], title="Map"),
                ),
                (
                    notes.SAVE_ANSWER,
                    notes.SaveAnswer(notebook_id=notebook, content="A", passages=[], title="A", rich=[]),
                ),
                (notes.UPDATE, notes.UpdateNote(notebook_id=notebook, note_id=note.id, change=change)),
                (notes.DELETE, notes.DeleteNotes(notebook_id=notebook, note_ids=[note.id])),
            ):
                assert await client.refusal(rpc, request) == code
        assert list(shown.notes) == [note.id]
        assert not note.deleted
