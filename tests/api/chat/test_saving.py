"""save_answer: which answer, where its citations are anchored, and what a lost reply leaves."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api.chat import chat
from nlm_cdp.api.chat.citations import MARKER, numbers_of
from nlm_cdp.api.chat.saving import anchored
from nlm_cdp.api.notes import notes
from nlm_cdp.errors import Network, Outcome
from nlm_cdp.wire.document import units
from tests.fakes import CHAT1, CHAT2, NB, NB2, REFUSALS, S1, S2, Bench, citation, lost, refused

TEXT = "Blast 🧪 [1], bell [2, 3] and both [1-2]; not [7]."
CLEAN = "Blast 🧪, bell and both; not [7]."


def cited(source_id: str, excerpt: str, chunk: str) -> list[Any]:
    row = citation(source_id, excerpt, 40)
    row[6] = [chunk]
    return row


ONE, TWO, THREE = cited(S1, "one blast", "k1"), cited(S2, "the bell", "k2"), cited(S2, "by hand", "k3")


def reply(text: str, *table: Any, entries: list[Any] | None = None) -> list[Any]:
    rows = entries if entries is not None else [[[row[6][0]], row] for row in table]
    return ["a", None, 2, None, [[text, None, None, None, [[], None, None, rows, 1]]]]


def question(text: str) -> list[Any]:
    return ["q", None, 1, text]


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.store.active = NB
    bench.caller.script(chat.LIST_CHATS, [[[CHAT1]]])
    rows = [reply(TEXT, ONE, TWO, THREE), question("2"), reply("Older [1].", TWO), question("1")]
    bench.caller.script(chat.LIST_TURNS, lambda request: [rows[: request.limit]])
    bench.caller.script(notes.LIST, [[note_row("old", "x")], [1]])
    bench.caller.script(notes.SAVE_ANSWER, saved)
    return bench


def saved(request: Any) -> list[Any]:
    return [["note-1", request.content, [2, "1", [1_700_000_000]], None, request.title]]


def note_row(note_id: str, content: str) -> list[Any]:
    return [note_id, [note_id, content, [2, "1", [1_700_000_000]], None, "T"]]


async def test_the_latest_answer_with_its_citations(bench: Bench) -> None:
    result = await bench.call("save_answer")
    assert result["note"]["id"] == "note-1"
    assert result["note"]["title"] == f"Chat: {CLEAN}"
    assert result["note"]["kind"] == "saved_answer"
    assert (result["notebook_id"], result["conversation_id"], result["citations"]) == (NB, CHAT1, 3)
    assert result["_provenance"]["ai_generated"] is True
    (request,) = bench.caller.sent(notes.SAVE_ANSWER)
    end = units(CLEAN)
    marks = [("k1", 8), ("k2", 14), ("k3", 14), ("k1", 23), ("k2", 23)]
    plain = [0, 0, 0, None, None, None, None, 0, 0]
    assert request.encode() == [
        NB,
        TEXT,
        [2],
        [ONE, TWO, THREE],
        f"Chat: {CLEAN}",
        [
            [
                [[0, end, [[[0, end, [CLEAN, plain]]], [None, 1]]]],
                [[[chunk], [None, 0, position]] for chunk, position in marks],
            ],
            None,
            None,
            [[["k1"], ONE], [["k2"], TWO], [["k3"], THREE]],
            1,
        ],
        [2],
    ]


def test_positions_count_utf16_units_of_the_text_without_markers() -> None:
    text, anchors = anchored("a 🧪🧪 [1]\n\n[2] b[3][4] [9] [x]", {1: "k1", 2: "k2", 3: "k3", 4: "k4"})
    assert text == "a 🧪🧪\n\n b [9] [x]"
    assert anchors == [("k1", 6), ("k2", 8), ("k3", 10), ("k4", 10)]
    assert anchored("", {}) == ("", [])


@pytest.mark.parametrize(
    ("marker", "numbers"), [("[3]", [3]), ("[1, 2]", [1, 2]), ("[2-4, 7]", [2, 3, 4, 7]), ("[4-2]", [])]
)
def test_the_numbers_of_a_marker(marker: str, numbers: list[int]) -> None:
    match = MARKER.fullmatch(marker)
    assert match is not None
    assert numbers_of(match) == numbers


async def test_another_answer_and_another_title(bench: Bench) -> None:
    result = await bench.call("save_answer", turn=2, title="Mine")
    (request,) = bench.caller.sent(notes.SAVE_ANSWER)
    assert (request.content, request.passages, request.title) == ("Older [1].", [TWO], "Mine")
    assert result["note"]["title"] == "Mine"
    assert bench.caller.sent(chat.LIST_TURNS)[0].limit == 4
    error = await bench.fails("save_answer", turn=3)
    assert (error.code, error.message) == ("NOT_FOUND", "the conversation has 2 answers, not 3")
    for turn in (0, -1, 101):
        assert (await bench.fails("save_answer", turn=turn)).code == "INVALID_ARGUMENT"


async def test_the_title_is_what_the_service_made_of_it(bench: Bench) -> None:
    bench.caller.script(notes.SAVE_ANSWER, [["note-1", "", [2], None, "A smart title"]])
    result = await bench.call("save_answer", title="Mine")
    assert (result["note"]["title"], result["note"]["chars"]) == ("A smart title", len(TEXT))


async def test_the_answer_of_a_session(bench: Bench) -> None:
    session = await bench.store.create_session(NB2)
    await bench.store.touch_session(session.id, CHAT2)
    result = await bench.call("save_answer", session_id=session.id)
    assert (result["notebook_id"], result["conversation_id"]) == (NB2, CHAT2)
    assert bench.caller.sent(chat.LIST_CHATS) == []
    assert (await bench.fails("save_answer", session_id=session.id, notebook=NB)).code == "INVALID_ARGUMENT"
    assert (await bench.fails("save_answer", session_id="ses_9")).code == "NOT_FOUND"


async def test_a_citation_that_cannot_be_read_moves_no_anchor(bench: Bench) -> None:
    entries = [[["k1"], ONE], [["k2"], ["broken"]], [["k3"], THREE]]
    bench.caller.script(chat.LIST_TURNS, [[reply("a [1] b [2] c [3]", entries=entries)]])
    result = await bench.call("save_answer")
    assert result["citations"] == 2
    (request,) = bench.caller.sent(notes.SAVE_ANSWER)
    assert request.passages == [ONE, THREE]
    assert request.rich[0][1] == [[["k1"], [None, 0, 1]], [["k3"], [None, 0, 9]]]


async def test_one_passage_cited_twice_is_sent_once(bench: Bench) -> None:
    bench.caller.script(chat.LIST_TURNS, [[reply("a [1] b [2]", ONE, ONE)]])
    await bench.call("save_answer")
    (request,) = bench.caller.sent(notes.SAVE_ANSWER)
    assert request.passages == [ONE]
    assert len(request.rich[0][1]) == 2


async def test_an_answer_without_citations_becomes_an_ordinary_note(bench: Bench) -> None:
    bench.caller.script(chat.LIST_TURNS, [[reply("Nothing [1].")]])
    bench.caller.script(notes.CREATE, [["note-2", "", [1], None, "New Note"]])
    bench.caller.script(notes.UPDATE, lambda request: [["note-2", request.change.content, [1], None, "T"]])
    result = await bench.call("save_answer")
    assert (result["note"]["id"], result["citations"]) == ("note-2", 0)
    assert "ordinary note" in result["remark"]
    assert bench.caller.sent(notes.UPDATE)[0].change.content == "Nothing [1]."
    assert bench.caller.sent(notes.SAVE_ANSWER) == []


async def test_without_an_answer_there_is_nothing_to_save(bench: Bench) -> None:
    bench.caller.script(chat.LIST_TURNS, [[question("1")]])
    assert (await bench.fails("save_answer")).code == "NOT_FOUND"
    bench.caller.script(chat.LIST_TURNS, [[["broken"], reply("Older")]])
    assert (await bench.fails("save_answer")).code == "DRIFT"
    bench.caller.script(chat.LIST_CHATS, None)
    assert (await bench.fails("save_answer")).hint == "Ask a question first."
    assert bench.caller.sent(notes.SAVE_ANSWER) == []


async def test_a_lost_reply_is_looked_for_among_the_new_notes(bench: Bench) -> None:
    bench.caller.script(notes.SAVE_ANSWER, lost())
    before = [[note_row("same", TEXT)], [1]]
    bench.caller.script(notes.LIST, before, [[note_row("same", TEXT), note_row("new", TEXT)], [1]])
    assert (await bench.call("save_answer"))["note"]["id"] == "new"
    for after in (before, [[note_row("same", TEXT), note_row("other", "x")], [1]], Network("offline")):
        bench.caller.script(notes.LIST, before, after)
        error = await bench.fails("save_answer")
        assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", Outcome.UNKNOWN)
        assert "afterwards" in error.message
    assert len(bench.caller.sent(notes.SAVE_ANSWER)) == 4


@pytest.mark.parametrize(
    ("status", "code"),
    REFUSALS,
)
async def test_a_refused_save_is_sent_once(bench: Bench, status: int, code: str) -> None:
    bench.caller.script(notes.SAVE_ANSWER, refused(status))
    error = await bench.fails("save_answer")
    assert (error.code, error.outcome) == (code, Outcome.REJECTED)
    assert len(bench.caller.sent(notes.SAVE_ANSWER)) == 1
