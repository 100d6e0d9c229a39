"""Actions on notes: plain ones, mind maps, and answers that were saved."""

from __future__ import annotations

from nlm_cdp.api.common import RequestContext
from nlm_cdp.api.notes import notes as api
from nlm_cdp.sim.actions import preparing
from nlm_cdp.sim.actions.action import Action, Made
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account

TREE = '{"name": "Lighthouses 🔦", "children": [{"name": "Lamps", "children": []}, {"name": "Fog horns"}]}'
PASSAGE = [None, None, None, [[None, 0, 4]], [[[0, 4, [[[0, 4, ["Lamp", [0, 0, 0, None, None, None, None, 0, 0]]]]]]]]]
CONTEXT = RequestContext()


def create(account: Account, notebook: Notebook) -> Made:
    return api.CreateNote(notebook_id=notebook.id, title="New Note"), notebook.id


def update(account: Account, notebook: Notebook) -> Made:
    note = preparing.note(account, notebook)
    change = api.NoteChange(content="The lamp is lit at sunset 🧪.", title="Ünïcode 🧪")
    return api.UpdateNote(notebook_id=notebook.id, note_id=note.id, change=change), notebook.id


def save_mind_map(account: Account, notebook: Notebook) -> Made:
    found = preparing.sources(account, notebook)
    return api.SaveMindMap(notebook_id=notebook.id, content=TREE, sources=found, title="Lighthouses"), notebook.id


def save_answer(account: Account, notebook: Notebook) -> Made:
    passage = [*PASSAGE, [[[preparing.source(account, notebook).id], "revision"]], ["chunk"]]
    rich = [[[[0, 4, [[[0, 4, ["Lamp"]]]]]], [[["chunk"], [None, 0, 4]]]], None, None, [[["chunk"], passage]], 1]
    answer = api.SaveAnswer(
        notebook_id=notebook.id, content="Lamp [1]", passages=[passage], title="What is lit?", rich=rich
    )
    return answer, notebook.id


def list_notes(account: Account, notebook: Notebook) -> Made:
    preparing.note(account, notebook)
    return api.ListNotes(notebook_id=notebook.id, context=CONTEXT), notebook.id


def list_changes(account: Account, notebook: Notebook) -> Made:
    since = preparing.note(account, notebook).created
    return api.ListNotes(notebook_id=notebook.id, since=since, context=CONTEXT), notebook.id


def delete(account: Account, notebook: Notebook) -> Made:
    doomed = account.add_note(notebook, "Doomed", "Nobody reads this.")
    return api.DeleteNotes(notebook_id=notebook.id, note_ids=[doomed.id]), notebook.id


ACTIONS = (
    Action("create-note", "Create a note", api.CREATE, create),
    Action("update-note", "Write a note", api.UPDATE, update),
    Action("save-mind-map", "Save a mind map", api.SAVE_MIND_MAP, save_mind_map),
    Action("save-answer", "Save an answer", api.SAVE_ANSWER, save_answer),
    Action("list-note-changes", "List changed notes", api.LIST, list_changes),
    Action("list-notes", "List notes", api.LIST, list_notes),
)
ENDINGS = (Action("delete-note", "Delete a note", api.DELETE, delete),)
