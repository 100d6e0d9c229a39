"""The calls beside the plain ones: copies, searches, freshness, suggestions, and what is being written right now."""

from __future__ import annotations

import pytest
import trio

from nlm_cdp.api.chat import chat, questions
from nlm_cdp.api.notebooks import notebooks, writing
from nlm_cdp.api.sources import additions, freshness, searching, sources, updating, webapp
from nlm_cdp.api.sources.rows import DocsDescriptor
from nlm_cdp.sim.records import VIEWER
from nlm_cdp.wire.document import plain_text

pytestmark = pytest.mark.realtime


def seeded(sim):
    return next(iter(sim.service.owner.notebooks.values()))


async def got(client, notebook_id: str):
    return (await client.call(notebooks.GET, notebooks.GetNotebook(notebook_id=notebook_id))).notebook


# Notebooks


async def test_the_sources_of_a_copy_arrive_later(running) -> None:
    async with running() as (sim, client):
        original = seeded(sim)
        row = await client.call(writing.COPY, writing.CopyNotebook(notebook_id=original.id, title="Twin"))
        assert (row.title, row.emoji, row.sources) == ("Twin", original.emoji, [])
        assert row.id != original.id
        assert (await got(client, row.id)).sources == []
        copied = (await got(client, row.id)).sources
        assert [source.title for source in copied] == [source.title for source in original.sources.values()]
        assert not {source.id for source in copied} & set(original.sources)
        missing = writing.CopyNotebook(notebook_id="nowhere", title="x")
        assert await client.refusal(writing.COPY, missing) == 5
        sim.service.owner.limits = sim.service.owner.limits.model_copy(update={"notebooks": 2})
        again = writing.CopyNotebook(notebook_id=original.id, title="One too many")
        assert await client.refusal(writing.COPY, again) == 3


async def test_a_forgotten_notebook_is_seen_again_when_it_is_read(running) -> None:
    async with running() as (sim, client):
        notebook = seeded(sim)
        listed = notebooks.ListNotebooks()
        for known in (notebook.id, "nowhere"):
            assert await client.refusal(writing.FORGET, writing.ForgetNotebook(notebook_id=known)) == 13
        assert (await client.call(notebooks.LIST, listed)).notebooks is None
        await got(client, notebook.id)
        assert len((await client.call(notebooks.LIST, listed)).notebooks) == 1


# Sources


async def test_passages_stand_where_they_say(running) -> None:
    async with running() as (sim, client):
        notebook = seeded(sim)
        request = searching.SearchSources(notebook_id=notebook.id, query="faults, offsets and citations")
        rows = (await client.call(searching.SEARCH, request)).sources
        ranks = sorted(chunk.rank for row in rows for chunk in row.chunks)
        assert ranks == list(range(1, len(ranks) + 1))
        for row in rows:
            text = notebook.sources[row.source_id].wire_text.encode("utf-16-le")
            for chunk in row.chunks:
                (at,) = chunk.ranges
                assert text[2 * (at.start or 0) : 2 * at.end].decode("utf-16-le") == "".join(chunk.parts)
        last = list(notebook.sources)[-1]
        narrow = request.model_copy(update={"source_ids": [last]})
        assert {row.source_id for row in (await client.call(searching.SEARCH, narrow)).sources} == {last}
        nothing = searching.SearchSources(notebook_id=notebook.id, query="zebra")
        assert (await client.reply(searching.SEARCH, nothing)).row == []
        assert await client.refusal(searching.SEARCH, nothing.model_copy(update={"notebook_id": "nowhere"})) == 5


async def test_a_stale_drive_file_is_read_again(running) -> None:
    async with running() as (sim, client):
        owner, notebook = sim.service.owner, seeded(sim)
        page = owner.add_source(notebook, "Page", "x", kind=5, url="https://a.example")
        drive = owner.add_source(notebook, "Doc", "x", kind=1, docs=DocsDescriptor(document_id="file"))
        drive.stale = True
        for source, fresh in ((page, True), (drive, False)):
            request = freshness.CheckFreshness(source_id=source.id)
            assert (await client.call(freshness.CHECK, request)).fresh is fresh
        assert (await client.reply(freshness.CHECK, freshness.CheckFreshness(source_id=page.id))).row == []
        revision = drive.revision
        assert (await client.reply(freshness.REFRESH, freshness.RefreshSource(source_id=drive.id))).row == []
        assert (drive.stale, drive.status) == (False, 1)
        assert drive.revision != revision
        await got(client, notebook.id)
        assert drive.status == 2
        text = next(iter(notebook.sources))
        assert await client.refusal(freshness.REFRESH, freshness.RefreshSource(source_id=text)) == 3
        assert await client.refusal(freshness.REFRESH, freshness.RefreshSource(source_id="nowhere")) == 5
        notebook.role = VIEWER
        assert await client.refusal(freshness.REFRESH, freshness.RefreshSource(source_id=drive.id)) == 7


async def test_what_is_appended_lands_at_the_end(running) -> None:
    async with running() as (sim, client):
        notebook = seeded(sim)
        source = next(iter(notebook.sources.values()))
        request = updating.AppendSource(source_id=source.id, header="Hidden", body="The last word.")
        assert (await client.reply(updating.APPEND, request)).row == []
        loaded = await client.call(sources.LOAD, sources.LoadSource(source_id=source.id))
        text = plain_text(loaded.document.row)
        assert text.endswith("\nThe last word.")
        assert "Hidden" not in text
        page = sim.service.owner.add_source(notebook, "Page", "x", kind=5, url="https://a.example")
        assert await client.refusal(updating.APPEND, request.model_copy(update={"source_id": page.id})) == 3


async def test_what_only_other_clients_send(running) -> None:
    async with running() as (sim, client):
        owner, notebook = sim.service.owner, seeded(sim)
        before = set(notebook.sources)
        book = additions.PlayBook(content_id="book", title="A book")
        contents = [additions.Content(web="https://a.example/x"), additions.Content(book=book)]
        both = additions.AddSources(contents=contents, notebook_id=notebook.id)
        started = await client.call(webapp.ADD_ASYNC, both)
        assert [(row.title, row.type, row.status) for row in started.sources] == [
            ("https://a.example/x", 5, 0),
            ("A book", 20, 0),
        ]
        assert [row.source.id for row in started.acknowledged] == [row.id for row in started.sources]
        await got(client, notebook.id)
        rows = [row for row in (await got(client, notebook.id)).sources if row.id not in before]
        assert [(row.status, "simulated page" in row.title) for row in rows] == [(2, True), (2, False)]
        only_book = both.model_copy(update={"contents": contents[1:]})
        assert await client.refusal(additions.ADD, only_book) == 3
        target = owner.add_notebook("Target")
        copy = webapp.CopySources(source_ids=[rows[0].id], target_id=target.id)
        (copied,) = (await client.call(webapp.COPY_SOURCES, copy)).copies
        assert (copied.original_id, copied.source.id in target.sources) == (rows[0].id, True)
        assert len((await client.call(webapp.LIST_BOOKS, webapp.ListBooks())).books) == 1


# The chat


async def test_suggestions_need_a_mode(running) -> None:
    async with running() as (sim, client):
        notebook = seeded(sim)
        request = questions.SuggestPrompts(notebook_id=notebook.id, source_ids=list(notebook.sources), mode=8)
        prompts = (await client.call(questions.SUGGEST_PROMPTS, request)).prompts
        assert len(prompts) == 3
        assert all("quiz" in item.prompt for item in prompts)
        for mode in (None, 0):
            bare = request.model_copy(update={"mode": mode})
            assert await client.refusal(questions.SUGGEST_PROMPTS, bare) == 13
        steps = (await client.call(questions.SUGGEST_STEPS, questions.SuggestSteps(notebook_id=notebook.id))).steps
        assert [step.kind for step in steps] == [9, 9, 9]
        empty = sim.service.owner.add_notebook("Empty")
        reply = await client.reply(questions.SUGGEST_STEPS, questions.SuggestSteps(notebook_id=empty.id))
        assert reply.row == []


async def asked(client, notebook, text: str):
    return chat.Ask(sources=list(notebook.sources), question=text, context=chat.ASK_CONTEXT, notebook_id=notebook.id)


async def test_the_service_writes_on_when_nobody_listens(running) -> None:
    async with running() as (sim, client):
        notebook = seeded(sim)
        clock = [2_000_000_000.0]
        sim.service.now = lambda: clock[0]
        sim.service.pace = 60
        conversation = notebook.chats[0].id
        async with client.asking(await asked(client, notebook, "Faults?")) as (_, line):
            await line.piece()
        status, turns = (
            chat.GetStatus(conversation_id=conversation),
            chat.ListTurns(conversation_id=conversation, limit=5),
        )
        assert (await client.call(chat.STATUS, status)).status == chat.GENERATING
        assert (await client.call(chat.STATUS, status)).token
        assert [turn.question for turn in (await client.call(chat.LIST_TURNS, turns)).turns] == ["Faults?"]
        clock[0] += 60 * 9
        assert (await client.reply(chat.STATUS, status)).row == [None, 1]
        assert [turn.role for turn in (await client.call(chat.LIST_TURNS, turns)).turns] == [2, 1]


async def test_cancelling_ends_the_writing_and_not_the_stream(running) -> None:
    async with running() as (sim, client):
        notebook = seeded(sim)
        conversation = notebook.chats[0].id
        sim.service.pace = 0.5
        request = chat.CancelGeneration(conversation_id=conversation)
        async with client.asking(await asked(client, notebook, "Faults?")) as (_, line):
            await line.piece()
            assert (await client.reply(chat.CANCEL, request)).row == []
            with trio.move_on_after(2) as waited:
                while await line.piece():
                    pass
            assert waited.cancelled_caught
        status = chat.GetStatus(conversation_id=conversation)
        assert (await client.call(chat.STATUS, status)).status == chat.IDLE
        turns = await client.call(chat.LIST_TURNS, chat.ListTurns(conversation_id=conversation, limit=5))
        assert [turn.question for turn in turns.turns] == ["Faults?"]
        assert (await client.reply(chat.CANCEL, request)).row == []
        for rpc, unknown in ((chat.CANCEL, chat.CancelGeneration), (chat.STATUS, chat.GetStatus)):
            assert await client.refusal(rpc, unknown(conversation_id="nowhere")) == 7


@pytest.mark.parametrize("form", ["web app", "M"])
async def test_a_conversation_stays_when_its_turns_are_deleted(running, form: str) -> None:
    async with running() as (sim, client):
        notebook = seeded(sim)
        await client.ask(await asked(client, notebook, "Faults?"))
        listed = chat.ListChats(notebook_id=notebook.id)
        conversation = (await client.call(chat.LIST_CHATS, listed)).newest
        if form == "M":
            by_notebook = chat.DeleteNotebookTurns(notebook_id=notebook.id, conversation_id=conversation)
            assert (await client.reply(chat.DELETE_NOTEBOOK_TURNS, by_notebook)).row == []
        else:
            assert (await client.reply(chat.DELETE_TURNS, chat.DeleteTurns(conversation_id=conversation))).row == []
        assert (await client.call(chat.LIST_CHATS, listed)).newest == conversation
        turns = chat.ListTurns(conversation_id=conversation, limit=5)
        assert (await client.call(chat.LIST_TURNS, turns)).turns is None
        await client.ask(await asked(client, notebook, "Offsets?"))
        assert len((await client.call(chat.LIST_TURNS, turns)).turns) == 2


async def test_older_turns_come_page_by_page(running) -> None:
    async with running() as (sim, client):
        notebook = seeded(sim)
        for number in range(3):
            await client.ask(await asked(client, notebook, f"Faults {number}?"))
        seen, cursor = [], None
        while True:
            request = chat.ListTurns(conversation_id=notebook.chats[0].id, limit=4, cursor=cursor)
            page = await client.call(chat.LIST_TURNS, request)
            seen += [turn.question for turn in page.turns if turn.question]
            cursor = page.next_token
            if cursor is None:
                break
        assert seen == ["Faults 2?", "Faults 1?", "Faults 0?"]
