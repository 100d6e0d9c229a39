"""Every row of a note call that somebody is known to send or to be answered: one declared call, and the same row back."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api import classify, variants
from nlm_cdp.api.common import SHORT, RequestContext, Timestamp
from nlm_cdp.api.notes import notes
from nlm_cdp.rpc import Rpc
from nlm_cdp.wire.pblite import Message, canonical, unclaimed
from tests.api.rows import writes_itself_back
from tests.fakes import NB, S1, S2

CTX = [2, None, None, [1, *[None] * 9, [1]]]
N1, N2 = "note-1", "note-2"
TREE = '{"name": "Fog", "children": []}'
PASSAGE = [None, None, None, [[None, 100, 117]], [[[0, 17, [[[0, 17, ["x" * 17]]]]]]], [[["chunk"], S1]], [["chunk"]]]
RICH = [[[[0, 17]], [[["chunk"], [None, 0, 11]]]], None, None, [[["chunk"], PASSAGE]], 1]

REQUESTS = [
    pytest.param("cFji9", [NB], notes.LIST, id="list, everybody"),
    pytest.param("cFji9", [NB, None, None, CTX], notes.LIST, id="list, web app"),
    pytest.param("cFji9", [NB, None, [1_795_996_800], CTX], notes.LIST, id="list, web app, since a time"),
    pytest.param("cFji9", [NB, None, [1_795_996_800, 5]], notes.LIST, id="list, three cells"),
    pytest.param("cFji9", [NB, None, [1_795_996_800, 5], [2]], notes.LIST, id="list, M after a deletion"),
    pytest.param("CYK0Xb", [NB, "", [1], None, "New Note"], notes.CREATE, id="create, January 2026"),
    pytest.param("CYK0Xb", [NB, "", [1], None, "Fog 🧪"], notes.CREATE, id="create, with a title"),
    pytest.param(
        "CYK0Xb", [NB, TREE, [2, None, None, 5, [[S1], [S2]]], None, "Map"], notes.SAVE_MIND_MAP, id="mind map"
    ),
    pytest.param("CYK0Xb", [NB, TREE, [2, None, None, 5, []], None, "Map"], notes.SAVE_MIND_MAP, id="without sources"),
    pytest.param("CYK0Xb", [NB, "Fog [1]", [2], [PASSAGE], "Chat: fog", RICH, [2]], notes.SAVE_ANSWER, id="answer"),
    pytest.param("CYK0Xb", [NB, "Fog", [2], [], "Fog", [], [2]], notes.SAVE_ANSWER, id="answer without passages"),
    pytest.param("cYAfTb", [NB, N1, [[["Text", "Title", [], 0]]]], notes.UPDATE, id="update"),
    pytest.param("cYAfTb", [NB, N1, [[["", "", [], 0]]]], notes.UPDATE, id="update, empty"),
    pytest.param("AH0mwd", [NB, None, [N1]], notes.DELETE, id="delete"),
    pytest.param("AH0mwd", [NB, None, [N1, N2]], notes.DELETE, id="delete several"),
    pytest.param("AH0mwd", [NB, None, [N1], [2]], notes.DELETE, id="delete, M for a mind map"),
]


@pytest.mark.parametrize(("rpc", "row", "expected"), REQUESTS)
def test_a_request_is_one_call_and_writes_itself_back(rpc: str, row: list[Any], expected: Rpc[Any, Any]) -> None:
    writes_itself_back(rpc, row, expected)


@pytest.mark.parametrize(
    "row",
    [
        [NB, "", [3], None, "A type nobody sends"],
        [NB, TREE, [2], None, "A mind map without its prompt"],
        [NB, TREE, [2, None, None, 4, [[S1]]], None, "Another prompt"],
        [NB, "", [1], None, "Title", None, [2]],
        [NB, "", [True], None, "Title"],
        ["", [1], None, "Title"],
    ],
)
def test_a_creation_of_another_kind_is_none_of_them(row: list[Any]) -> None:
    assert len(variants("CYK0Xb")) == 3
    assert classify("CYK0Xb", row) is None


@pytest.mark.parametrize(
    ("message", "row"),
    [
        (notes.ListNotes(notebook_id=NB), [NB]),
        (notes.ListNotes(notebook_id=NB, since=Timestamp(seconds=5), context=SHORT), [NB, None, [5], [2]]),
        (notes.ListNotes(notebook_id=NB, context=RequestContext()), [NB, None, None, CTX]),
        (notes.CreateNote(notebook_id=NB, title="Fog"), [NB, "", [1], None, "Fog"]),
        (notes.NoteChange(content="Text", title="Title"), ["Text", "Title", [], 0]),
        (notes.DeleteNotes(notebook_id=NB, note_ids=[N1]), [NB, None, [N1]]),
        (
            notes.SaveMindMap(notebook_id=NB, content=TREE, sources=[S1], title="Map"),
            [NB, TREE, [2, None, None, 5, [[S1]]], None, "Map"],
        ),
        (
            notes.SaveAnswer(notebook_id=NB, content="Fog [1]", passages=[PASSAGE], title="Fog", rich=RICH),
            [NB, "Fog [1]", [2], [PASSAGE], "Fog", RICH, [2]],
        ),
    ],
)
def test_what_we_send(message: Message, row: list[Any]) -> None:
    assert message.encode() == row


META = [1, "270318299112", [1_769_207_571, 920_718_000]]
ANSWERS = [
    pytest.param(notes.Notes, [None, [1_769_207_570]], id="no notes"),
    pytest.param(notes.Notes, [[[N1, None, 2]], [1_769_207_570, 1]], id="a tombstone"),
    pytest.param(notes.Notes, [[[N1, [N1, "Text", META, None, "Title"]]], [1]], id="a note"),
    pytest.param(
        notes.Notes,
        [[[N1, [N1, TREE, [2, "1", [1], 5, [[S1], [S2]]], None, "Map"]]], [1]],
        id="a mind map",
    ),
    pytest.param(
        notes.Notes, [[[N1, [N1, "", [*META, None, None, [1_769_207_000], False], None, "T"]]], [1]], id="seven cells"
    ),
    pytest.param(notes.GotNote, [[N1, "", META, None, "New Note"]], id="created"),
]


@pytest.mark.parametrize(("message", "row"), ANSWERS)
def test_an_answer_is_read_to_the_last_cell(message: type[Message], row: list[Any]) -> None:
    found = message.decode(row)
    assert list(unclaimed(message, row)) == []
    assert found.undecoded == ()
    assert canonical(found.encode()) == canonical(row)
