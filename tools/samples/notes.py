"""Samples of the note calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nlm_cdp.api import notes as api
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account

if TYPE_CHECKING:
    from tools.samples import Sample

TREE = '{"name": "Lighthouses 🔦", "children": [{"name": "Lamps", "children": []}, {"name": "Fog horns"}]}'
PASSAGE = [None, None, None, [[None, 0, 4]], [[[0, 4, [[[0, 4, ["Lamp", [0, 0, 0, None, None, None, None, 0, 0]]]]]]]]]


def samples(account: Account, notebook: Notebook) -> Iterator[Sample]:
    source = next(iter(notebook.sources))
    yield api.CREATE, api.CreateNote(notebook_id=notebook.id, title="Ünïcode 🧪"), notebook.id
    note = list(notebook.notes)[-1]
    change = api.NoteChange(content="The lamp is lit at sunset 🧪.", title="Ünïcode 🧪")
    yield api.UPDATE, api.UpdateNote(notebook_id=notebook.id, note_id=note, change=change), notebook.id
    mind_map = api.SaveMindMap(notebook_id=notebook.id, content=TREE, sources=[source], title="Lighthouses")
    yield api.SAVE_MIND_MAP, mind_map, notebook.id
    passage = [*PASSAGE, [[[source], "revision"]], ["chunk"]]
    rich = [[[[0, 4, [[[0, 4, ["Lamp"]]]]]], [[["chunk"], [None, 0, 4]]]], None, None, [[["chunk"], passage]], 1]
    answer = api.SaveAnswer(
        notebook_id=notebook.id, content="Lamp [1]", passages=[passage], title="What is lit?", rich=rich
    )
    yield api.SAVE_ANSWER, answer, notebook.id
    doomed = account.add_note(notebook, "Doomed", "Nobody reads this.")
    yield api.DELETE, api.DeleteNotes(notebook_id=notebook.id, note_ids=[doomed.id]), notebook.id
    yield api.LIST, api.ListNotes(notebook_id=notebook.id), notebook.id
