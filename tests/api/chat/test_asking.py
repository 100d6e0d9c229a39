"""Answers whose stream was lost, and answers in the background."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio

from nlm_cdp.api.chat import chat
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.errors import Drift, Network, NlmError, Outcome, RateLimited, Service, UnconfirmedWrite
from tests.fakes import (
    CHAT1,
    CHAT2,
    NB,
    NB2,
    S1,
    S2,
    START,
    Bench,
    answers,
    background,
    citation,
    lost,
    notebook,
    refused,
    snapshot,
    source,
    with_notebook,
)

VIEWED = START + 60
"""The service's clock when the notebook is read: a minute ahead of ours."""


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.store.active = NB
    with_notebook(bench, source(S1, "Fog"), source(S2, "Horns"))
    bench.caller.script(chat.LIST_CHATS, [[[CHAT1]]])
    bench.caller.script(chat.STATUS, [None, 1])
    return bench


def reply(text: str, *cited: Any, at: int = VIEWED, later: bool = False) -> list[Any]:
    """An answer of the conversation; `later`: with the citations one cell further on."""
    table = [[["chunk"], each] for each in cited]
    document = [[], None, None, None, table, 1] if later else [[], None, None, table, 1]
    return ["a", [at], 2, None, [[text, None, None, None, document]]]


def question(text: str = "?", at: int | None = VIEWED) -> list[Any]:
    return ["q", [at] if at is not None else None, 1, text]


def turns(bench: Bench, *pages: Any) -> None:
    """What each look at the conversation shows."""
    bench.caller.script(chat.LIST_TURNS, *(page if isinstance(page, Exception) else [list(page)] for page in pages))


def asked(bench: Bench) -> list[Any]:
    return bench.caller.sent(chat.ASK)


# A lost stream

LOST: list[Callable[[], NlmError]] = [
    lost,
    lambda: Drift("unreadable", outcome=Outcome.UNKNOWN),
    lambda: UnconfirmedWrite("x; the change may have been made", outcome=Outcome.UNKNOWN, details={"cause": "TIMEOUT"}),
]


@pytest.mark.parametrize("failure", LOST)
@pytest.mark.parametrize("later", [False, True])
async def test_an_answer_whose_stream_was_lost_is_read_back(
    bench: Bench, failure: Callable[[], NlmError], later: bool
) -> None:
    bench.caller.script(chat.ASK, failure())
    turns(bench, [reply("One blast [1].", citation(S1, "blast", 4), later=later), question(), reply("old")])
    result = await bench.call("ask_question", question="?", source_format="inline")
    assert result["answer"] == "One blast [1: Fog]."
    assert result["sources"][0]["source_id"] == S1
    assert "read back" in result["note"]
    assert (result["status"], result["conversation_id"]) == ("success", CHAT1)
    assert result["session_info"]["message_count"] == 1
    assert len(asked(bench)) == 1
    assert trio.current_time() == 0.5
    assert bench.caller.calls == ["rLM1Ne", "chat", "hPTbtc", "oXwmh", "khqZz"]


@pytest.mark.parametrize(
    "page",
    [
        [],
        [question()],
        [reply("other"), question("another question")],
        [reply("older"), question(at=VIEWED - 1)],
        [reply("without a time"), question(at=None)],
        [reply("  "), question()],
        [question("?"), reply("of the one before"), question("before")],
        [reply("next"), question("next"), question()],
        [reply("beside what cannot be read"), ["broken"], question()],
    ],
)
async def test_what_is_not_surely_the_answer_is_not_taken_for_it(bench: Bench, page: list[Any]) -> None:
    failure = lost()
    bench.caller.script(chat.ASK, failure)
    turns(bench, page)
    error = await bench.fails("ask_question", question="?")
    assert error is failure
    assert error.message.endswith("no answer to this question is there.")
    assert len(asked(bench)) == 1
    assert trio.current_time() == 5
    assert bench.store.rows == {}


async def test_the_services_clock_decides_what_is_newer(bench: Bench) -> None:
    """Ours may be wrong by hours; the notebook that was just read says when that was, there."""
    row = notebook(NB, sources=(source(S1),))
    row[5][5] = [START + 10_000, 600_000_000]
    bench.caller.script(notebooks.GET, [row])
    bench.caller.script(chat.ASK, lost())
    turns(bench, [reply("before", at=START + 10_001), question(at=START + 9_999)])
    await bench.fails("ask_question", question="?")
    exact = question()
    exact[1] = [START + 10_000, 500_000_000]
    turns(bench, [reply("a moment before"), exact])
    await bench.fails("ask_question", question="?")
    turns(bench, [reply("after", at=START + 10_020), question(at=START + 10_010)])
    assert (await bench.call("ask_question", question="?"))["answer"] == "after"


async def test_an_answer_that_is_still_being_written_is_waited_for(bench: Bench) -> None:
    bench.caller.script(chat.ASK, lost())
    bench.caller.script(chat.STATUS, *[["token", 2]] * 6, [None, 1])
    turns(bench, *[[question()]] * 6, [reply("At last."), question()])
    result = await bench.call("ask_question", question="?", timeout_s=60)
    assert result["answer"] == "At last."
    assert trio.current_time() == 0.5 + 6 * 3
    assert "looking for the answer" in bench.progress[0]


async def test_half_of_what_is_being_written_is_not_the_answer(bench: Bench) -> None:
    bench.caller.script(chat.ASK, lost())
    bench.caller.script(chat.STATUS, ["token", 2], ["token", 2], [None, 1])
    turns(bench, [reply("At"), question()], [reply("At la"), question()], [reply("At last."), question()])
    assert (await bench.call("ask_question", question="?"))["answer"] == "At last."
    bench.caller.script(chat.STATUS, ["token", 2])
    turns(bench, [question("next"), reply("Mine."), question()])
    assert (await bench.call("ask_question", question="?"))["answer"] == "Mine."


async def test_waiting_for_it_ends_with_the_deadline(bench: Bench) -> None:
    bench.caller.script(chat.ASK, lost())
    bench.caller.script(chat.STATUS, ["token", 2])
    turns(bench, [question()])
    error = await bench.fails("ask_question", question="?", timeout_s=30)
    assert (error.code, error.outcome, error.state) == ("UNCONFIRMED_WRITE", Outcome.UNKNOWN, "generating")
    assert "get_conversation" in error.hint
    assert 30 <= trio.current_time() <= 40


async def test_a_conversation_that_cannot_be_read_settles_nothing(bench: Bench) -> None:
    failure = lost()
    bench.caller.script(chat.ASK, failure)
    turns(bench, Network("offline"))
    assert await bench.fails("ask_question", question="?") is failure
    assert failure.message.endswith("could not be read afterwards.")
    bench.caller.script(chat.LIST_CHATS, Network("offline"), Network("offline"), [[[CHAT1]]])
    turns(bench, [reply("Yes."), question()])
    assert (await bench.call("ask_question", question="?"))["answer"] == "Yes."


async def test_the_conversation_that_the_service_made_is_the_one_that_is_read(bench: Bench) -> None:
    session = await bench.store.create_session(NB)
    await bench.store.touch_session(session.id, CHAT2)
    bench.caller.script(chat.ASK, lost())
    turns(bench, [reply("Yes."), question()])
    result = await bench.call("ask_question", question="?", session_id=session.id)
    assert (result["session_id"], result["conversation_id"]) == (session.id, CHAT1)
    assert [request.conversation_id for request in bench.caller.sent(chat.LIST_TURNS)] == [CHAT1]


async def test_the_whole_of_an_answer_that_was_cut(bench: Bench) -> None:
    answers(bench, snapshot("Half an", final=False))
    turns(bench, [reply("Half an answer is not enough."), question()])
    result = await bench.call("ask_question", question="?")
    assert result["answer"] == "Half an answer is not enough."
    assert "truncated" not in result
    turns(bench, [question()])
    result = await bench.call("ask_question", question="?")
    assert (result["answer"], result["truncated"]) == ("Half an", True)


@pytest.mark.parametrize("failure", [refused(3), refused(5), refused(7), refused(8), refused(9), refused(13)])
async def test_after_a_plain_refusal_nothing_is_looked_for(bench: Bench, failure: NlmError) -> None:
    bench.caller.script(chat.ASK, failure)
    assert await bench.fails("ask_question", question="?") is failure
    assert failure.outcome is Outcome.REJECTED
    assert bench.caller.calls == ["rLM1Ne", "chat"]


async def test_an_answer_of_nothing_is_not_looked_for(bench: Bench) -> None:
    failure = Service("empty", outcome=Outcome.UNKNOWN, details={"reason": 1})
    bench.caller.script(chat.ASK, failure)
    assert await bench.fails("ask_question", question="?") is failure
    assert bench.caller.calls == ["rLM1Ne", "chat"]


async def test_a_stream_without_an_answer_and_no_turn_is_an_allowance_used_up(bench: Bench) -> None:
    """The session can only say that it is not known what became of the question; the conversation knows."""
    said = "the chat allowance is probably used up"
    details = {"cause": "RATE_LIMITED"}
    bench.caller.script(chat.ASK, UnconfirmedWrite(f"{said}; x", outcome=Outcome.UNKNOWN, details=details))
    turns(bench, [])
    error = await bench.fails("ask_question", question="?")
    assert isinstance(error, RateLimited)
    assert (error.outcome, error.message, error.retriable) == (Outcome.REJECTED, said, True)
    turns(bench, Network("offline"))
    bench.caller.script(chat.ASK, UnconfirmedWrite(f"{said}; x", outcome=Outcome.UNKNOWN, details=details))
    assert (await bench.fails("ask_question", question="?")).outcome is Outcome.UNKNOWN


# In the background


async def test_an_answer_in_the_background(bench: Bench) -> None:
    answers(bench, snapshot("Thin", final=False), 20.5, snapshot("One blast [1].", citation(S1, "blast")))
    async with background(bench):
        started = await bench.call("ask_question", question="How?", background=True, source_format="json")
        answer_id = started["answer_id"]
        assert started == {
            "status": "running",
            "answer_id": answer_id,
            "question": "How?",
            "notebook_id": NB,
            "notebook_url": f"https://notebook.google.com/notebook/{NB}",
            "note": "not answered yet; call get_answer with wait: true",
        }
        assert trio.current_time() == 0
        await trio.sleep(1)
        running = await bench.call("get_answer", answer_id=answer_id)
        assert running["status"] == "running"
        assert running["note"].startswith("answering (4 characters)")
        result = await bench.call("get_answer", answer_id=answer_id, wait=True)
        assert trio.current_time() == 20.5
        assert (result["status"], result["answer"], result["answer_id"]) == ("success", "One blast [1].", answer_id)
        assert result["sources"][0]["title"] == "Fog"
        assert result["session_info"]["message_count"] == 1
        assert "_provenance" in result
        sent = list(bench.caller.calls)
        assert await bench.call("get_answer", answer_id=answer_id) == result
        assert bench.caller.calls == sent == ["rLM1Ne", "chat", "hPTbtc"]
        assert bench.progress == ["answering (4 characters): …Thin"]


async def test_a_wait_that_runs_out_is_no_error(bench: Bench) -> None:
    answers(bench, 100, snapshot("Late."))
    async with background(bench):
        answer_id = (await bench.call("ask_question", question="?", background=True))["answer_id"]
        result = await bench.call("get_answer", answer_id=answer_id, wait=True, timeout_s=30)
        assert (result["status"], trio.current_time()) == ("running", 30)
        assert "get_answer" in result["note"]


async def test_what_is_wrong_is_told_before_anything_runs(bench: Bench) -> None:
    async with background(bench) as jobs:
        assert (await bench.fails("ask_question", question="?", background=True, source_ids=["x"])).code == "NOT_FOUND"
        bench.caller.script(notebooks.GET, refused(5))
        assert (await bench.fails("ask_question", question="?", background=True)).code == "NOT_FOUND"
        assert jobs.jobs == {}
    assert asked(bench) == []


async def test_there_may_only_be_so_many(bench: Bench) -> None:
    bench.caller.script(notebooks.GET, lambda request: [notebook(request.notebook_id, sources=(source(S1),))])
    answers(bench, 20, snapshot("Yes."))
    async with background(bench, running=2):
        for each in (NB, NB2):
            await bench.call("ask_question", question="?", notebook=each, background=True)
        error = await bench.fails("ask_question", question="?", background=True)
        assert (error.code, error.retriable, error.outcome) == ("RATE_LIMITED", True, Outcome.NOT_SENT)
        await trio.sleep(30)
        assert (await bench.call("ask_question", question="?", background=True))["status"] == "running"
        assert len(asked(bench)) == 2


async def test_the_error_of_an_answer_is_told_as_often_as_asked(bench: Bench) -> None:
    failure = refused(3, "too long")
    bench.caller.script(chat.ASK, failure)
    async with background(bench):
        answer_id = (await bench.call("ask_question", question="?", background=True))["answer_id"]
        for _ in range(2):
            assert await bench.fails("get_answer", answer_id=answer_id, wait=True) is failure
        assert bench.caller.calls == ["rLM1Ne", "chat"]


async def test_an_answer_that_was_lost_may_be_found_later(bench: Bench) -> None:
    bench.caller.script(chat.ASK, lost())
    turns(bench, Network("offline"))
    async with background(bench):
        answer_id = (await bench.call("ask_question", question="?", background=True))["answer_id"]
        error = await bench.fails("get_answer", answer_id=answer_id, wait=True)
        assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", Outcome.UNKNOWN)
        turns(bench, [question()])
        assert (await bench.fails("get_answer", answer_id=answer_id)).code == "UNCONFIRMED_WRITE"
        turns(bench, [reply("Here it is."), question()])
        result = await bench.call("get_answer", answer_id=answer_id)
        assert (result["answer"], result["session_info"]["message_count"]) == ("Here it is.", 1)
        looks = len(bench.caller.sent(chat.LIST_TURNS))
        assert await bench.call("get_answer", answer_id=answer_id) == result
        assert len(bench.caller.sent(chat.LIST_TURNS)) == looks
        assert len(asked(bench)) == 1


@pytest.mark.parametrize("name", ["get_answer", "cancel_answer"])
async def test_an_id_nobody_knows(bench: Bench, name: str) -> None:
    async with background(bench) as jobs:
        other = jobs.start("ans", "not a question", lambda job: job.report("x"))
        for answer_id in ("ans_1", other.id):
            error = await bench.fails(name, answer_id=answer_id)
            assert error.code == "NOT_FOUND"
            assert "get_conversation" in error.hint
    assert bench.caller.requests == []


# Cancelling


async def test_cancelling_stops_the_service_first_and_then_the_stream(bench: Bench) -> None:
    answers(bench, snapshot("Thin", final=False), 1000, snapshot("Never."))
    bench.caller.script(chat.CANCEL, [])
    async with background(bench):
        answer_id = (await bench.call("ask_question", question="?", background=True))["answer_id"]
        await trio.sleep(5)
        assert await bench.call("cancel_answer", answer_id=answer_id) == {"status": "cancelled", "answer_id": answer_id}
        assert bench.caller.sent(chat.CANCEL)[0].encode() == [None, CHAT1]
        assert trio.current_time() == 5
        error = await bench.fails("get_answer", answer_id=answer_id)
        assert (error.code, error.outcome) == ("CANCELLED", Outcome.UNKNOWN)
        again = await bench.call("cancel_answer", answer_id=answer_id)
        assert again["status"] == "cancelled"
        assert len(bench.caller.sent(chat.CANCEL)) == 1
        answers(bench, snapshot("Next."))
        assert (await bench.call("ask_question", question="?"))["answer"] == "Next."


async def test_a_question_that_still_waits_stops_no_others_answer(bench: Bench) -> None:
    answers(bench, 50, snapshot("First."))
    async with background(bench):
        first = (await bench.call("ask_question", question="1", background=True))["answer_id"]
        await trio.sleep(1)
        second = (await bench.call("ask_question", question="2", background=True))["answer_id"]
        await trio.sleep(1)
        assert (await bench.call("cancel_answer", answer_id=second))["status"] == "cancelled"
        assert bench.caller.sent(chat.CANCEL) == []
        assert (await bench.call("get_answer", answer_id=first, wait=True))["answer"] == "First."
        assert len(asked(bench)) == 1


@pytest.mark.parametrize("failure", [Network("offline"), refused(7), lost()])
async def test_the_stream_ends_even_where_the_service_cannot_be_told(bench: Bench, failure: NlmError) -> None:
    answers(bench, 1000, snapshot("Never."))
    bench.caller.script(chat.CANCEL, failure)
    async with background(bench):
        answer_id = (await bench.call("ask_question", question="?", background=True))["answer_id"]
        await trio.sleep(5)
        result = await bench.call("cancel_answer", answer_id=answer_id)
        assert result["status"] == "cancelled"
        assert failure.code in result["note"]


async def test_cancelling_what_is_finished_changes_nothing(bench: Bench) -> None:
    answers(bench, snapshot("Done."))
    async with background(bench):
        answer_id = (await bench.call("ask_question", question="?", background=True))["answer_id"]
        await bench.call("get_answer", answer_id=answer_id, wait=True)
        assert (await bench.call("cancel_answer", answer_id=answer_id))["status"] == "finished"
        assert (await bench.call("get_answer", answer_id=answer_id))["answer"] == "Done."
    assert bench.caller.sent(chat.CANCEL) == []


async def test_questions_in_the_background_go_one_after_the_other_too(bench: Bench) -> None:
    answers(bench, 20, snapshot("Yes."))
    async with background(bench):
        ids = [(await bench.call("ask_question", question=str(n), background=True))["answer_id"] for n in range(3)]
        for answer_id in ids:
            await bench.call("get_answer", answer_id=answer_id, wait=True)
        assert trio.current_time() == 60
        assert [request.conversation_id for request in asked(bench)] == [None, CHAT1, CHAT1]
