"""The chat: honest answers with true citations, streamed as the service streams, and remembered."""

from __future__ import annotations

import json

import pytest
import trio

from nlm_cdp.api.chat import chat
from nlm_cdp.api.common import Provenance, RequestContext
from nlm_cdp.sim.chat import NOTICE, SILENT
from nlm_cdp.wire.chat import ANSWER, THINKING, Snapshot
from nlm_cdp.wire.document import units, wire_text
from nlm_cdp.wire.frames import FrameReader
from nlm_cdp.wire.pblite import unclaimed

pytestmark = pytest.mark.realtime
GHOST = "11111111-2222-4333-8444-555555555555"
JANUARY = RequestContext(provenance=Provenance(flags=None))


def question(notebook, text: str, conversation: str | None = None, sources: list[str] | None = None) -> chat.Ask:
    """The form of today, nine cells."""
    return chat.Ask(
        sources=list(notebook.sources) if sources is None else sources,
        question=text,
        context=chat.ASK_CONTEXT,
        conversation_id=conversation,
        notebook_id=notebook.id,
    )


def old_question(notebook, text: str, conversation: str = GHOST) -> chat.Ask:
    """January's form, five cells."""
    return chat.Ask(
        sources=list(notebook.sources), question=text, context=JANUARY, conversation_id=conversation, origin=None
    )


def seeded(sim):
    return next(iter(sim.service.owner.notebooks.values()))


def cut(text: str, start: int, end: int) -> str:
    """A range of UTF-16 units."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


async def test_snapshots_come_as_recorded(running) -> None:
    async with running() as (sim, client):
        answer, snapshots = await client.ask(question(seeded(sim), "How are faults and offsets handled?"))
        kinds = [snapshot.answer.kind for snapshot in snapshots]
        assert kinds == [THINKING, THINKING, *[ANSWER] * 8]
        assert [snapshot.final for snapshot in snapshots] == [False] * 9 + [True]
        lengths = [len(snapshot.answer.text) for snapshot in snapshots[2:]]
        assert lengths == sorted(lengths)
        assert snapshots[-2].answer.text == snapshots[-1].answer.text == answer.text
        citations = [len(snapshot.citations) for snapshot in snapshots]
        assert citations[:3] == [0, 0, 0]
        assert citations[3:] == sorted(citations[3:])
        turns = {(snapshot.answer.turn.turn_id, snapshot.answer.turn.number) for snapshot in snapshots}
        assert len(turns) == 1
        assert not answer.truncated
        assert len(answer.follow_ups) == 3
        assert [chip.text for chip in snapshots[-1].next_steps] == answer.follow_ups
        assert all(snapshot.follow_ups == [] for snapshot in snapshots[:-1])


async def test_the_rows_of_both_forms(running) -> None:
    async with running() as (sim, client):
        for request, cells in ((question(seeded(sim), "Which faults?"), 8), (old_question(seeded(sim), "Faults?"), 6)):
            assert len(request.encode()) == (9 if cells == 8 else 5)
            async with client.asking(request) as (got, line):
                assert got.header("transfer-encoding") == "chunked"
                body = await line.body()
            reader = FrameReader()
            frames = list(reader.feed(body))
            reader.close()
            assert reader.faults == []
            assert [frame[0] for frame in frames[-3:]] == ["di", "af.httprm", "e"]
            results = [frame for frame in frames if frame[0] == "wrb.fr"]
            assert all(len(frame) == 3 and frame[1] is None for frame in results)
            rows = [json.loads(frame[2]) for frame in results]
            assert [len(row) for row in rows] == [5] * 9 + [cells]
            assert all(list(unclaimed(Snapshot, row)) == [] for row in rows)


async def test_citations_are_true(running) -> None:
    async with running() as (sim, client):
        notebook = seeded(sim)
        answer, snapshots = await client.ask(question(notebook, "Which source holds a test tube and a café?"))
        assert answer.text.startswith(NOTICE)
        assert "[1]" in answer.text
        assert "🧪 a test tube and a naïve café" in answer.text
        for cited in answer.citations:
            source = notebook.sources[cited.source_id]
            assert cut(source.wire_text, cited.start, cited.end) == cited.excerpt.replace("\n", "")
        first = snapshots[-1].citations[0].decode()
        assert first.passages[0].revision_id == notebook.sources[first.passages[0].source_id].revision
        assert first.elements[0].start == first.ranges[0].start
        assert first.elements[-1].end == first.ranges[0].end
        assert 0 < first.score < 1


async def test_marks_and_annotations_name_the_cited_words(running) -> None:
    async with running() as (sim, client):
        answer, snapshots = await client.ask(question(seeded(sim), "What do faults and offsets and citations do?"))
        last = snapshots[-1]
        document = last.answer.document.decode()
        written = wire_text(last.answer.document.row)
        ids = [entry.chunk_id for entry in document.citations]
        assert ids == [citation.decode().chunk_id for citation in last.citations]
        assert len(set(ids)) == len(ids) == len(answer.citations)
        for mark in last.marks:
            words = cut(written, mark.at.start, mark.at.end)
            shown = ", ".join(str(index + 1) for index in mark.citations)
            assert f"{words} [{shown}]" in answer.text
        pairs = [(mark.at, ids[index]) for mark in last.marks for index in mark.citations]
        assert [(note.at, note.chunk_id) for note in document.body.annotations] == pairs
        assert any(len(mark.citations) == 2 for mark in last.marks)
        assert document.body.elements[-1].end == units(written)


async def test_a_question_without_a_word_of_the_sources_is_not_answered(running) -> None:
    async with running() as (sim, client):
        answer, _ = await client.ask(question(seeded(sim), "Zebra crossings in Ulaanbaatar?"))
        assert answer.text == f"{NOTICE}\n\n{SILENT}"
        assert answer.citations == []
        general, _ = await client.ask(question(seeded(sim), "What is this notebook about?"))
        assert len(general.citations) == 3


async def test_only_the_chosen_sources_that_are_ready_are_searched(running) -> None:
    async with running() as (sim, client):
        notebook = seeded(sim)
        first = next(iter(notebook.sources))
        answer, _ = await client.ask(question(notebook, "Tell me about the simulator's faults", sources=[first]))
        assert {cited.source_id for cited in answer.citations} == {first}
        notebook.sources[first].status = 1
        silent, _ = await client.ask(question(notebook, "What is the simulator?", sources=[first]))
        assert silent.citations == []


async def test_long_paragraphs_are_quoted_in_parts(running) -> None:
    async with running(seed=False) as (sim, client):
        owner = sim.service.owner
        notebook = owner.add_notebook("Long")
        filler = "".join(f"Sentence number {number} speaks of nothing. " for number in range(60))
        endless = "🧪" * 3000
        source = owner.add_source(notebook, "Long", f"{filler}The walrus is a marine mammal. {filler}\n{endless} tusk")
        for word in ("walrus", "tusk"):
            answer, _ = await client.ask(question(notebook, word))
            (cited,) = answer.citations
            assert word in cited.excerpt
            assert cited.end - cited.start <= 1000
            assert cut(source.wire_text, cited.start, cited.end) == cited.excerpt


async def test_refusals(running) -> None:
    async with running() as (sim, client):
        notebook = seeded(sim)
        assert await status_of(client, question(notebook, "x", sources=[])) == 3
        assert await status_of(client, question(notebook, "é" * 6_251)) == 3
        assert await status_of(client, question(notebook, "x", sources=["nowhere"])) == 5
        assert notebook.chats[0].turns == []
        longest, _ = await client.ask(question(notebook, "é" * 6_250))
        assert longest.text


async def status_of(client, request: chat.Ask) -> int:
    async with client.asking(request) as (got, line):
        assert got.status == 200
        body = await line.body()
    (frame,) = [frame for frame in FrameReader().feed(body) if frame[0] == "wrb.fr"]
    assert len(frame) == 6
    code: int = frame[5][0]
    return code


# The conversation


async def test_the_service_keeps_one_conversation_and_its_turns(running) -> None:
    async with running() as (sim, client):
        notebook = seeded(sim)
        ids = chat.ListChats(notebook_id=notebook.id)
        assert (await client.call(chat.LIST_CHATS, ids)).newest is None
        answer, _ = await client.ask(question(notebook, "What are faults?"))
        conversation = (await client.call(chat.LIST_CHATS, ids)).newest
        assert conversation == notebook.chats[0].id
        assert answer.turn.conversation_id != conversation
        again, _ = await client.ask(question(notebook, "And offsets?", conversation))
        assert again.turn.conversation_id == conversation
        await client.ask(question(notebook, "And citations?"))
        request = chat.ListTurns(conversation_id=conversation, limit=20)
        turns = await client.call(chat.LIST_TURNS, request)
        assert [turn.question for turn in turns.turns] == [
            *[None, "And citations?"],
            *[None, "And offsets?"],
            *[None, "What are faults?"],
        ]
        assert turns.turns[-2].answer.text == answer.text
        assert [turn.role for turn in turns.turns] == [2, 1] * 3
        assert turns.next_token is None
        newest = await client.call(chat.LIST_TURNS, chat.ListTurns(conversation_id=conversation, limit=2))
        assert newest.turns == turns.turns[:2]
        assert newest.next_token


async def test_a_conversation_of_the_clients_own_making_is_a_ghost(running) -> None:
    async with running() as (sim, client):
        notebook = seeded(sim)
        answer, _ = await client.ask(old_question(notebook, "Faults?"))
        assert answer.turn.conversation_id == GHOST
        assert (await client.call(chat.LIST_CHATS, chat.ListChats(notebook_id=notebook.id))).newest is None


async def test_questions_that_overlap_start_a_conversation_each(running) -> None:
    async with running() as (sim, client):
        notebook = seeded(sim)
        sim.service.pace = 60
        async with client.asking(question(notebook, "First?")) as (_, line):
            await line.piece()
            async with client.asking(question(notebook, "Second?")):
                assert notebook.answering == 2
        await sim.requests.wait_for(lambda logged: logged.aborted and "Second?" in logged.params[0])
        await sim.requests.wait_for(lambda logged: logged.aborted and "First?" in logged.params[0])
        assert notebook.answering == 0
        assert [len(conversation.turns) for conversation in notebook.chats] == [2, 2]


async def test_unknown_conversations_and_notebooks(running) -> None:
    async with running() as (_, client):
        assert await client.refusal(chat.LIST_TURNS, chat.ListTurns(conversation_id="nowhere", limit=2)) == 5
        assert await client.refusal(chat.LIST_CHATS, chat.ListChats(notebook_id="nowhere")) == 5


async def test_frames_are_flushed_one_by_one(running) -> None:
    async with running() as (sim, client):
        sim.service.pace = 60
        async with client.asking(question(seeded(sim), "Faults?")) as (_, line):
            frames = list(FrameReader().feed(await line.piece()))
            assert [frame[0] for frame in frames] == ["wrb.fr"]
        with trio.fail_after(30):
            left = await sim.requests.wait_for(lambda logged: logged.aborted is True)
        assert left.rpc_ids == ["chat"]
        assert left.params[0][1] == "Faults?"
