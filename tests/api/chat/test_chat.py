"""Chat tools: the answer and its citations, the conversation behind it, and the sessions that are ours alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from nlm_cdp.api.chat import chat
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.errors import FileRefused, Network, NlmError, Outcome, RateLimited, Service
from nlm_cdp.local.store import open_store
from tests.fakes import (
    CHAT1,
    CHAT2,
    NB,
    NB2,
    S1,
    S2,
    S3,
    START,
    Bench,
    answers,
    citation,
    lost,
    notebook,
    refused,
    snapshot,
    source,
    with_notebook,
)

URL = "https://notebook.google.com/notebook/"


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.store.active = NB
    with_notebook(bench, source(S1, "Fog"), source(S2, "Horns"), source(S3, "Late", status=1), source(S2, "Horns"))
    return bench


def asked(bench: Bench) -> list[Any]:
    return bench.caller.sent(chat.ASK)


# The answer


async def test_an_answer(bench: Bench) -> None:
    answers(bench, snapshot("Thin", final=False), snapshot("One blast [1].", follow_ups=("Why?", "When?")))
    result = await bench.call("ask_question", question="How often?")
    assert result == {
        "status": "success",
        "question": "How often?",
        "answer": "One blast [1].",
        "session_id": "ses_1",
        "conversation_id": CHAT1,
        "notebook_id": NB,
        "notebook_url": URL + NB,
        "session_info": {"age_seconds": 0, "message_count": 1, "last_activity": "2023-11-14T22:13:20Z"},
        "suggested_questions": ["Why?", "When?"],
        "_provenance": {
            "provider": "gemini-notebook",
            "via": "chrome-devtools",
            "grounding": "user-documents",
            "ai_generated": True,
            "simulated": False,
        },
    }
    assert bench.caller.calls == ["rLM1Ne", "chat", "hPTbtc"]
    wire = [[[[S1]], [[S2]]], "How often?", None, [2, None, [1], [1]], None, None, None, NB, 1]
    assert asked(bench)[0].encode() == wire


CITED = [citation(S1, "one\nlong   blast", 40), citation(S2, "x" * 300), citation("gone", "lost")]
TEXT = "Blast [1], bell [2, 3] and more [1-3]; not [4], not [x]."


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("none", TEXT),
        ("json", TEXT),
        ("inline", "Blast [1: Fog], bell [2: Horns; 3: gone] and more [1: Fog; 3: gone]; not [4], not [x]."),
        (
            "footnotes",
            f"{TEXT}\n\nSources:\n[1] Fog: “one long blast”\n[2] Horns: “{'x' * 199}…”\n[3] gone: “lost”",
        ),
    ],
)
async def test_citations_in_the_form_asked_for(bench: Bench, form: str, text: str) -> None:
    answers(bench, snapshot(TEXT, *CITED))
    result = await bench.call("ask_question", question="?", source_format=form)
    assert result["answer"] == text
    if form == "none":
        assert "sources" not in result
    else:
        assert result["sources"][0] == {
            "index": 1,
            "source_id": S1,
            "title": "Fog",
            "excerpt": "one\nlong   blast",
            "start": 40,
            "end": 56,
        }
        assert [cited["source_id"] for cited in result["sources"]] == [S1, S2, "gone"]
        assert "title" not in result["sources"][2]


@pytest.mark.parametrize("form", ["none", "inline", "footnotes", "json"])
async def test_an_answer_without_citations(bench: Bench, form: str) -> None:
    answers(bench, snapshot("Nothing [1]."))
    result = await bench.call("ask_question", question="?", source_format=form)
    assert result["answer"] == "Nothing [1]."
    assert "sources" not in result


async def test_a_citation_that_cannot_be_read_shifts_no_number(bench: Bench) -> None:
    answers(bench, snapshot("a [1] b [2]", ["bad"], citation(S2, "bell")))
    result = await bench.call("ask_question", question="?", source_format="inline")
    assert result["answer"] == "a [1] b [2: Horns]"
    assert [cited["index"] for cited in result["sources"]] == [2]
    assert result["undecoded"][0].startswith("citation 1")


async def test_an_answer_cut_short_is_marked(bench: Bench) -> None:
    answers(bench, snapshot("Half an", final=False), conversation=None)
    result = await bench.call("ask_question", question="?")
    assert (result["answer"], result["truncated"]) == ("Half an", True)


async def test_characters_that_nobody_sees_are_kept_and_counted(bench: Bench) -> None:
    bench.caller.simulated = True
    answers(bench, snapshot("fog\u200b \u202e \x07"))
    result = await bench.call("ask_question", question="?")
    assert result["answer"] == "fog\u200b \u202e \x07"
    assert result["_provenance"]["flags"] == {"invisible": 1, "bidi": 1, "control": 1}
    assert result["_provenance"]["simulated"] is True


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([snapshot("pondering", kind=2, final=False)], "SERVICE"),
        ([snapshot("")], "SERVICE"),
        ([], "RATE_LIMITED"),
    ],
)
async def test_no_answer_is_an_error_and_leaves_no_session(bench: Bench, rows: list[Any], code: str) -> None:
    answers(bench, *rows)
    assert (await bench.fails("ask_question", question="?")).code == code
    assert bench.store.rows == {}
    assert bench.caller.sent(chat.LIST_CHATS) == []


@pytest.mark.parametrize("failure", [lost(), RateLimited("enough"), refused(3), Service("x", outcome=Outcome.UNKNOWN)])
async def test_a_question_is_never_sent_twice(bench: Bench, failure: NlmError) -> None:
    bench.caller.script(chat.ASK, failure)
    bench.caller.script(chat.LIST_CHATS, None)
    assert await bench.fails("ask_question", question="?") is failure
    assert len(asked(bench)) == 1
    assert bench.store.rows == {}


# Which notebook, which sources


async def test_the_sources_a_question_goes_to(bench: Bench) -> None:
    answers(bench, snapshot("Yes."))
    await bench.call("ask_question", question="?")
    await bench.call("ask_question", question="?", source_ids=[S3])
    assert [request.sources for request in asked(bench)] == [[S1, S2], [S3]]
    error = await bench.fails("ask_question", question="?", source_ids=[S1, "nothing"])
    assert (error.code, error.details) == ("NOT_FOUND", {"source_ids": ["nothing"]})
    assert (await bench.fails("ask_question", question="?", source_ids=[])).code == "INVALID_ARGUMENT"
    assert (await bench.fails("ask_question", question="")).code == "INVALID_ARGUMENT"
    assert len(asked(bench)) == 2


@pytest.mark.parametrize(("rows", "state"), [((), "empty"), ((source(S1, status=1), source(S2, status=3)), None)])
async def test_without_a_ready_source_nothing_is_asked(bench: Bench, rows: Any, state: str | None) -> None:
    with_notebook(bench, *rows)
    error = await bench.fails("ask_question", question="?")
    assert (error.code, error.state, error.outcome) == ("NOT_READY", state, Outcome.NOT_SENT)
    assert error.hint


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ({}, NB),
        ({"notebook": NB2}, NB2),
        ({"notebook_url": URL + NB2}, NB2),
        ({"notebook": "Other"}, NB2),
        ({"notebook": NB2, "notebook_url": URL + NB2}, NB2),
        ({"session_id": "ses_1"}, NB2),
        ({"session_id": "ses_1", "notebook": "Other"}, NB2),
    ],
)
async def test_the_notebook_a_question_goes_to(bench: Bench, arguments: dict[str, Any], meant: str) -> None:
    await bench.store.create_session(NB2)
    bench.caller.script(notebooks.LIST, [[notebook(NB), notebook(NB2, "Other")]])
    bench.caller.script(notebooks.GET, lambda request: [notebook(request.notebook_id, sources=(source(S1),))])
    answers(bench, snapshot("Yes."))
    assert (await bench.call("ask_question", question="?", **arguments))["notebook_id"] == meant
    assert asked(bench)[0].notebook_id == meant


@pytest.mark.parametrize(
    "arguments",
    [
        {"notebook": NB, "notebook_url": URL + NB2},
        {"session_id": "ses_1", "notebook": NB},
        {"notebook_url": "https://evil.test/notebook/" + NB},
    ],
)
async def test_a_contradiction_is_refused(bench: Bench, arguments: dict[str, Any]) -> None:
    await bench.store.create_session(NB2)
    error = await bench.fails("ask_question", question="?", **arguments)
    assert error.code == "INVALID_ARGUMENT"
    assert bench.caller.requests == []


async def test_a_session_nobody_knows(bench: Bench) -> None:
    for name, more in (
        ("ask_question", {"question": "?"}),
        ("get_conversation", {}),
        ("reset_session", {}),
        ("close_session", {}),
    ):
        error = await bench.fails(name, session_id="ses_9", **more)
        assert error.code == "NOT_FOUND"
        assert "list_sessions" in error.hint
    assert bench.caller.requests == []


# The conversation


async def test_the_conversation_is_the_services_own(bench: Bench) -> None:
    """What the answer's row calls its conversation is not it; the list of conversations says."""
    answers(bench, snapshot("One."))
    first = await bench.call("ask_question", question="1")
    second = await bench.call("ask_question", question="2", session_id=first["session_id"])
    assert [request.conversation_id for request in asked(bench)] == [None, CHAT1]
    assert second["session_id"] == first["session_id"]
    assert second["conversation_id"] == CHAT1
    assert second["session_info"]["message_count"] == 2
    third = await bench.call("ask_question", question="3")
    assert third["session_id"] != first["session_id"]
    assert asked(bench)[2].conversation_id == CHAT1
    assert bench.caller.sent(chat.LIST_CHATS)[0].encode() == [[], None, NB, 1]


async def test_a_conversation_the_service_replaced(bench: Bench) -> None:
    answers(bench, snapshot("One."))
    session = (await bench.call("ask_question", question="1"))["session_id"]
    answers(bench, snapshot("Two."), conversation=CHAT2)
    assert (await bench.call("ask_question", question="2", session_id=session))["conversation_id"] == CHAT2
    await bench.call("ask_question", question="3", session_id=session)
    assert [request.conversation_id for request in asked(bench)] == [None, CHAT1, CHAT2]


@pytest.mark.parametrize("failure", [Network("offline"), refused(13), refused(16)])
async def test_the_answer_stands_where_the_conversation_cannot_be_asked(bench: Bench, failure: NlmError) -> None:
    answers(bench, snapshot("Fog."))
    bench.caller.script(chat.LIST_CHATS, failure)
    result = await bench.call("ask_question", question="?")
    assert result["answer"] == "Fog."
    assert "conversation_id" not in result
    assert failure.code in result["note"]
    assert result["session_info"]["message_count"] == 1
    answers(bench, snapshot("Horns."))
    await bench.call("ask_question", question="?", session_id=result["session_id"])
    bench.caller.script(chat.LIST_CHATS, failure)
    later = await bench.call("ask_question", question="?", session_id=result["session_id"])
    assert later["conversation_id"] == CHAT1


@pytest.mark.parametrize("row", [None, [], [[]]])
async def test_a_notebook_without_conversations(bench: Bench, row: Any) -> None:
    answers(bench, snapshot("Fog."))
    bench.caller.script(chat.LIST_CHATS, row)
    assert "conversation_id" not in await bench.call("ask_question", question="?")
    assert await bench.call("get_conversation") == {
        "notebook_id": NB,
        "turns": [],
        "has_more": False,
        "_provenance": {
            "provider": "gemini-notebook",
            "via": "chrome-devtools",
            "grounding": "user-documents",
            "ai_generated": True,
            "simulated": False,
        },
    }


class Chatting:
    """A service that gives every overlapping first question a conversation of its own."""

    def __init__(self, bench: Bench) -> None:
        self.busy, self.made, self.most = 0, 0, 0
        bench.caller.script(chat.ASK, self.answer)
        bench.caller.script(chat.LIST_CHATS, lambda request: [[[f"chat-{self.made}"]]])

    async def answer(self, request: Any) -> list[Any]:
        self.busy += 1
        self.most = max(self.most, self.busy)
        self.made += request.conversation_id is None
        await trio.sleep(20)
        self.busy -= 1
        return [snapshot("Yes.")]


@pytest.mark.parametrize("with_session", [False, True])
async def test_questions_to_one_notebook_go_one_after_the_other(bench: Bench, with_session: bool) -> None:
    service = Chatting(bench)
    session = {"session_id": (await bench.store.create_session(NB)).id} if with_session else {}
    async with trio.open_nursery() as nursery:
        for number in range(3):
            nursery.start_soon(lambda n: bench.call("ask_question", question=str(n), **session), number)
    assert (service.most, service.made) == (1, 1)
    assert [request.conversation_id for request in asked(bench)] == [None, "chat-1", "chat-1"]
    counts = [row.message_count for row in bench.store.rows.values()]
    assert counts == ([3] if with_session else [1, 1, 1])


async def test_questions_to_two_notebooks_go_side_by_side(bench: Bench) -> None:
    bench.caller.script(notebooks.GET, lambda request: [notebook(request.notebook_id, sources=(source(S1),))])
    service = Chatting(bench)
    async with trio.open_nursery() as nursery:
        for each in (NB, NB2):
            nursery.start_soon(lambda each: bench.call("ask_question", question="?", notebook=each), each)
    assert service.most == 2
    assert trio.current_time() == 20


async def test_a_session_that_was_closed_while_it_was_asked_costs_no_answer(bench: Bench) -> None:
    session = (await bench.store.create_session(NB)).id
    answers(bench, 20, snapshot("Fog."))
    results = []

    async def ask() -> None:
        results.append(await bench.call("ask_question", question="?", session_id=session))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        await trio.sleep(10)
        await bench.call("close_session", session_id=session)
    assert results[0]["answer"] == "Fog."
    assert results[0]["session_id"] in bench.store.rows
    assert session not in bench.store.rows


async def test_progress_while_the_answer_streams(bench: Bench) -> None:
    thought = snapshot("**Weighing [red]x[/red]**\n\nmore", kind=2, final=False)
    rows = [thought, *[snapshot("Fog" * count, final=False) for count in range(1, 9)]]
    answers(bench, rows[0], *(part for row in rows[1:] for part in (0.25, row)), 3, snapshot("Fog, done."))
    await bench.call("ask_question", question="?")
    assert bench.progress[0] == "thinking: Weighing [red]x[/red]"
    assert [said.split(":")[0] for said in bench.progress[1:]] == [
        f"answering ({size} characters)" for size in (6, 12, 18, 24, 10)
    ]


# get_conversation


def turns(*rows: Any) -> list[Any]:
    return [list(rows)]


def question(text: str | None, at: int = 0) -> list[Any]:
    return ["q", [START + at], 1, text]


def reply(text: str, *cited: str, at: int = 0) -> list[Any]:
    entries = [[["chunk"], citation(each, "quote")] for each in cited]
    return ["a", [START + at], 2, None, [[text, None, None, None, [[], None, None, entries, 1]]]]


async def test_a_conversation_from_its_beginning(bench: Bench) -> None:
    bench.caller.script(chat.LIST_CHATS, [[[CHAT1], [CHAT2]]])
    rows = turns(reply("Two [1]", S2, S1, S2, at=3), question("2", 2), reply("One", at=1), question("1"))
    bench.caller.script(chat.LIST_TURNS, rows)
    result = await bench.call("get_conversation")
    assert result["conversation_id"] == CHAT1
    assert result["turns"] == [
        {"role": "user", "text": "1", "time": "2023-11-14T22:13:20Z"},
        {"role": "assistant", "text": "One", "time": "2023-11-14T22:13:21Z"},
        {"role": "user", "text": "2", "time": "2023-11-14T22:13:22Z"},
        {"role": "assistant", "text": "Two [1]", "time": "2023-11-14T22:13:23Z", "sources": [S2, S1]},
    ]
    assert result["has_more"] is False
    (request,) = bench.caller.sent(chat.LIST_TURNS)
    assert (request.conversation_id, request.limit) == (CHAT1, 20)


async def test_a_conversation_as_markdown_and_in_part(bench: Bench) -> None:
    bench.caller.script(chat.LIST_CHATS, [[[CHAT1]]])
    bench.caller.script(chat.LIST_TURNS, [[reply("One\n\n- a"), question("1")], "more"])
    result = await bench.call("get_conversation", format="markdown", limit="2")
    assert result["markdown"] == "**You:** 1\n\n**Notebook:** One\n\n- a"
    assert "turns" not in result
    assert result["has_more"] is True
    assert bench.caller.sent(chat.LIST_TURNS)[0].limit == 2


async def test_turns_that_are_not_as_they_should_be_are_told_and_pair_nothing_wrongly(bench: Bench) -> None:
    bench.caller.script(chat.LIST_CHATS, [[[CHAT1]]])
    rows = turns(question("3"), ["x", None, 7, "odd"], ["malformed"], reply("One"), question(None), question("1"))
    bench.caller.script(chat.LIST_TURNS, rows)
    result = await bench.call("get_conversation")
    assert [(turn["role"], turn["text"]) for turn in result["turns"]] == [
        ("user", "1"),
        ("assistant", "One"),
        ("user", "3"),
    ]
    assert len(result["undecoded"]) == 3
    assert [part for part in result["undecoded"] if part.startswith(".1[2]")]
    assert [part for part in result["undecoded"] if "role 7" in part]


async def test_old_citations_that_cannot_be_read_cost_no_text(bench: Bench) -> None:
    bench.caller.script(chat.LIST_CHATS, [[[CHAT1]]])
    row = reply("One", S1)
    row[4][0][4][3] = [["strange"]]
    bench.caller.script(chat.LIST_TURNS, turns(row))
    (turn,) = (await bench.call("get_conversation"))["turns"]
    assert turn["text"] == "One"
    assert "sources" not in turn


@pytest.mark.parametrize("row", [["x"], [["x", "y"]], [{"bad": 1}]])
async def test_a_history_of_another_shape_is_no_empty_one(bench: Bench, row: Any) -> None:
    bench.caller.script(chat.LIST_CHATS, [[[CHAT1]]])
    bench.caller.script(chat.LIST_TURNS, row)
    assert (await bench.fails("get_conversation")).code == "DRIFT"


async def test_the_conversation_of_a_session(bench: Bench) -> None:
    session = await bench.store.create_session(NB2)
    await bench.store.touch_session(session.id, CHAT2)
    bench.caller.script(chat.LIST_TURNS, None)
    result = await bench.call("get_conversation", session_id=session.id)
    assert (result["notebook_id"], result["conversation_id"]) == (NB2, CHAT2)
    assert bench.caller.sent(chat.LIST_CHATS) == []
    assert (await bench.fails("get_conversation", session_id=session.id, notebook=NB)).code == "INVALID_ARGUMENT"


# Sessions, over the store itself


@asynccontextmanager
async def stored(tmp_path: Path) -> AsyncIterator[Bench]:
    async with open_store(tmp_path / "store.sqlite3", now=lambda: clock[0]) as store:
        bench = Bench(store)
        with_notebook(bench, source(S1))
        answers(bench, snapshot("Yes."))
        yield bench


clock = [1000.0]


@pytest.mark.realtime
async def test_a_session_from_beginning_to_end(tmp_path: Path) -> None:
    clock[0] = 1000.0
    async with stored(tmp_path) as bench:
        assert await bench.call("list_sessions") == {"sessions": []}
        first = (await bench.call("ask_question", question="1", notebook=NB))["session_id"]
        clock[0] = 1060.5
        second = (await bench.call("ask_question", question="2", notebook=NB))["session_id"]
        answer = await bench.call("ask_question", question="3", session_id=first)
        assert answer["session_info"] == {
            "age_seconds": 60,
            "message_count": 2,
            "last_activity": "1970-01-01T00:17:40Z",
        }
        clock[0] = 1100.0
        await bench.call("ask_question", question="4", session_id=first)
        rows = (await bench.call("list_sessions"))["sessions"]
        assert [row["id"] for row in rows] == [first, second]
        assert rows[0] == {
            "id": first,
            "notebook_id": NB,
            "conversation_id": CHAT1,
            "age_seconds": 100,
            "message_count": 3,
            "last_activity": "1970-01-01T00:18:20Z",
        }
        reset = (await bench.call("reset_session", session_id=first))["session"]
        assert (reset["id"], reset["message_count"]) == (first, 0)
        assert "conversation_id" not in reset
        await bench.call("ask_question", question="5", session_id=first)
        assert asked(bench)[-1].conversation_id is None

        assert await bench.call("close_session", session_id=first) == {"status": "closed", "session_id": first}
        assert (await bench.fails("close_session", session_id=first)).code == "NOT_FOUND"
        assert (await bench.fails("ask_question", question="6", session_id=first)).code == "NOT_FOUND"
        assert [row["id"] for row in (await bench.call("list_sessions"))["sessions"]] == [second]


@pytest.mark.realtime
async def test_selecting_and_deleting_reach_the_store(tmp_path: Path) -> None:
    async with stored(tmp_path) as bench:
        await bench.call("select_notebook", notebook=NB)
        assert (await bench.call("ask_question", question="?"))["notebook_id"] == NB
        bench.caller.script(notebooks.DELETE, [])
        await bench.call("delete_notebook", notebook=NB, confirm=True)
        assert await bench.call("list_sessions") == {"sessions": []}
        assert (await bench.fails("ask_question", question="?")).code == "INVALID_ARGUMENT"


@pytest.mark.realtime
async def test_a_clock_that_was_set_back_makes_no_age_negative(tmp_path: Path) -> None:
    clock[0] = 2000.0
    async with stored(tmp_path) as bench:
        await bench.call("ask_question", question="?", notebook=NB)
        clock[0] = 1000.0
        assert (await bench.call("list_sessions"))["sessions"][0]["age_seconds"] == 0


async def test_a_store_that_cannot_be_used_says_so_before_quota_is_spent(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: Any) -> Any:
        raise FileRefused("There is no folder to keep the local store in.")

    monkeypatch.setattr(bench.store, "sessions", refuse)
    assert (await bench.fails("ask_question", question="?")).code == "FILE_REFUSED"
    assert asked(bench) == []
