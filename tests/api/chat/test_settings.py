"""The chat's settings, suggestions, and deleting the conversation."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api.chat import chat, questions
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.errors import Network, NlmError, Outcome
from tests.fakes import (
    CHAT1,
    CHAT2,
    NB,
    NB2,
    S1,
    S2,
    S3,
    Bench,
    every_refusal,
    lost,
    notebook,
    refused,
    source,
    with_notebook,
)


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.store.active = NB
    with_notebook(bench, source(S1), source(S2), source(S3, status=1))
    return bench


# configure_chat


def configured(bench: Bench, now: Any, echo: Any) -> None:
    with_notebook(bench, chat_settings=now)
    bench.caller.script(notebooks.CONFIGURE_CHAT, notebook(NB, chat_settings=echo))


@pytest.mark.parametrize(
    ("now", "arguments", "sent"),
    [
        (None, {"length": "longer"}, [[1], [4]]),
        ([[], []], {"length": "longer"}, [[1], [4]]),
        (None, {"goal": "learning_guide"}, [[3], [1]]),
        (None, {"goal": "custom", "prompt": "Be brief."}, [[2, "Be brief."], [1]]),
        (None, {"prompt": "Be brief."}, [[2, "Be brief."], [1]]),
        ([[2, "Old"], [5]], {"prompt": "New"}, [[2, "New"], [5]]),
        ([[2, "Old"], [5]], {"length": "default"}, [[2, "Old"], [1]]),
        ([[2, "Old"], [5]], {"goal": "default"}, [[1], [5]]),
        ([[1, "Old"], [5]], {"goal": "custom"}, [[2, "Old"], [5]]),
        ([[1, "Old"], [5]], {"length": "shorter"}, [[1], [5]]),
        ([[7, "Odd"], [9]], {"length": "longer"}, [[7, "Odd"], [4]]),
        ([[7], [9]], {"goal": "default"}, [[1], [9]]),
    ],
)
async def test_what_is_not_named_stays(bench: Bench, now: Any, arguments: dict[str, Any], sent: Any) -> None:
    configured(bench, now, sent)
    result = await bench.call("configure_chat", **arguments)
    (request,) = bench.caller.sent(notebooks.CONFIGURE_CHAT)
    assert request.encode() == [NB, [[*[None] * 7, sent]]]
    assert result["notebook_id"] == NB
    assert bench.caller.calls == ["rLM1Ne", "s0tc2d"]


async def test_the_settings_are_what_the_service_says(bench: Bench) -> None:
    configured(bench, None, [[1, "kept"], [5]])
    result = await bench.call("configure_chat", goal="learning_guide")
    assert result["settings"] == {"goal": "default", "prompt": "kept", "length": "shorter"}
    configured(bench, None, None)
    assert (await bench.call("configure_chat", length="longer"))["settings"] == {"goal": "default", "length": "default"}


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"goal": "default", "prompt": "ignored"},
        {"goal": "learning_guide", "prompt": "ignored"},
        {"goal": "sarcastic"},
        {"length": "endless"},
        {"prompt": ""},
        {"prompt": "x" * 10_001},
        {"goal": "default", "tone": "warm"},
    ],
)
async def test_settings_that_make_no_sense_are_refused_at_once(bench: Bench, arguments: dict[str, Any]) -> None:
    error = await bench.fails("configure_chat", **arguments)
    assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.NOT_SENT)
    assert bench.caller.requests == []


async def test_a_custom_goal_needs_a_prompt_of_now_or_before(bench: Bench) -> None:
    with_notebook(bench, chat_settings=[[1], [1]])
    error = await bench.fails("configure_chat", goal="custom")
    assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.NOT_SENT)
    assert bench.caller.sent(notebooks.CONFIGURE_CHAT) == []


@every_refusal
async def test_refused_settings(bench: Bench, status: int, code: str) -> None:
    bench.caller.script(notebooks.CONFIGURE_CHAT, refused(status))
    error = await bench.fails("configure_chat", goal="default")
    assert (error.code, error.outcome) == (code, Outcome.REJECTED)
    assert len(bench.caller.sent(notebooks.CONFIGURE_CHAT)) == 1


async def test_settings_whose_answer_was_lost(bench: Bench) -> None:
    failure = lost()
    bench.caller.script(notebooks.CONFIGURE_CHAT, failure)
    assert await bench.fails("configure_chat", goal="default") is failure


# suggest_questions


@pytest.mark.parametrize(
    ("surface", "mode"),
    [
        (None, 4),
        ("chat", 4),
        ("audio_deep_dive", 1),
        ("audio_brief", 2),
        ("audio_critique", 5),
        ("audio_debate", 6),
        ("video_explainer", 3),
        ("video_breakdown", 7),
        ("video_short", 10),
        ("quiz", 8),
        ("flashcards", 9),
    ],
)
async def test_suggestions_for_a_surface(bench: Bench, surface: str | None, mode: int) -> None:
    bench.caller.script(questions.SUGGEST_PROMPTS, [[["Fog", "Explain fog\u200b."], ["Horns", "Explain horns."]]])
    more = {"surface": surface} if surface else {}
    result = await bench.call("suggest_questions", about="sound", **more)
    assert result["suggestions"] == [
        {"title": "Fog", "prompt": "Explain fog\u200b."},
        {"title": "Horns", "prompt": "Explain horns."},
    ]
    assert (result["_provenance"]["ai_generated"], result["_provenance"]["flags"]) == (True, {"invisible": 1})
    context = [2, None, None, [1, *[None] * 9, [1]]]
    (request,) = bench.caller.sent(questions.SUGGEST_PROMPTS)
    assert request.encode() == [context, NB, [[S1], [S2]], mode, None, "sound"]


def test_every_surface_has_a_mode() -> None:
    surfaces = questions.SuggestArgs.model_json_schema()["properties"]["surface"]["enum"]
    assert set(surfaces) == {*questions.MODES, questions.NEXT_STEPS}
    assert sorted(questions.MODES.values()) == list(range(1, 11))


async def test_next_steps(bench: Bench) -> None:
    bench.caller.script(questions.SUGGEST_STEPS, [[["What is fog?", 9], ["Who rings?", 9]]])
    result = await bench.call("suggest_questions", surface="next_steps", source_ids=[S3])
    assert [item["prompt"] for item in result["suggestions"]] == ["What is fog?", "Who rings?"]
    assert bench.caller.sent(questions.SUGGEST_STEPS)[0].encode() == [None, NB, [[[S3]]]]
    error = await bench.fails("suggest_questions", surface="next_steps", about="fog")
    assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.NOT_SENT)


@pytest.mark.parametrize("surface", ["chat", "next_steps"])
async def test_no_suggestions_and_unreadable_ones(bench: Bench, surface: str) -> None:
    rpc = questions.SUGGEST_STEPS if surface == "next_steps" else questions.SUGGEST_PROMPTS
    row: Any
    for row in (None, [], [None], [[]]):
        bench.caller.script(rpc, row)
        assert (await bench.call("suggest_questions", surface=surface))["suggestions"] == []
    bench.caller.script(rpc, [[["Fog", "Explain."] if surface == "chat" else ["Fog?", 9], [7]]])
    result = await bench.call("suggest_questions", surface=surface)
    assert (len(result["suggestions"]), len(result["undecoded"])) == (1, 1)
    bench.caller.script(rpc, [[[7]]])
    assert (await bench.fails("suggest_questions", surface=surface)).code == "DRIFT"


async def test_suggestions_need_sources(bench: Bench) -> None:
    assert (await bench.fails("suggest_questions", source_ids=["x"])).code == "NOT_FOUND"
    assert (await bench.fails("suggest_questions", surface="podcast")).code == "INVALID_ARGUMENT"
    with_notebook(bench)
    assert (await bench.fails("suggest_questions")).code == "NOT_READY"
    assert bench.caller.sent(questions.SUGGEST_PROMPTS) == []


@every_refusal
async def test_refused_suggestions(bench: Bench, status: int, code: str) -> None:
    for surface, rpc in (("quiz", questions.SUGGEST_PROMPTS), ("next_steps", questions.SUGGEST_STEPS)):
        bench.caller.script(rpc, refused(status))
        assert (await bench.fails("suggest_questions", surface=surface)).code == code


# delete_conversation


def talked(bench: Bench, *pages: Any) -> None:
    bench.caller.script(chat.LIST_CHATS, [[[CHAT1]]])
    bench.caller.script(chat.LIST_TURNS, *pages)


TURNS = [[["a", None, 2, None, [["Yes."]]], ["q", None, 1, "?"]]]


async def test_nothing_is_deleted_without_a_yes(bench: Bench) -> None:
    talked(bench, TURNS)
    for confirm in ({}, {"confirm": False}, {"confirm": "false"}):
        assert await bench.call("delete_conversation", **confirm) == {
            "status": "needs_confirmation",
            "notebook_id": NB,
            "conversation_id": CHAT1,
            "would": f"delete the 2 turns of the conversation of notebook 'My notebook' ({NB}); call with confirm",
        }
    talked(bench, [*TURNS, "cursor"])
    assert "more than 2 turns" in (await bench.call("delete_conversation"))["would"]
    assert bench.caller.sent(chat.DELETE_TURNS) == []


async def test_a_deleted_conversation_is_no_sessions_any_more(bench: Bench) -> None:
    talked(bench, TURNS)
    bench.caller.script(chat.DELETE_TURNS, [])
    sessions = [await bench.store.create_session(each) for each in (NB, NB, NB2)]
    for session, conversation in zip(sessions, (CHAT1, CHAT2, CHAT1), strict=True):
        await bench.store.touch_session(session.id, conversation)
    assert await bench.call("delete_conversation", confirm=True) == {
        "status": "deleted",
        "notebook_id": NB,
        "conversation_id": CHAT1,
    }
    assert bench.caller.sent(chat.DELETE_TURNS)[0].encode() == [[], CHAT1, None, 1]
    rows = [bench.store.rows[session.id] for session in sessions]
    assert [(row.conversation_id, row.message_count) for row in rows] == [(None, 0), (CHAT2, 1), (None, 0)]


async def test_where_nothing_was_said_nothing_is_deleted(bench: Bench) -> None:
    talked(bench, None)
    assert (await bench.call("delete_conversation", confirm=True))["status"] == "empty"
    bench.caller.script(chat.LIST_CHATS, None)
    result = await bench.call("delete_conversation", confirm=True)
    assert result == {"status": "empty", "notebook_id": NB}
    bench.caller.script(notebooks.GET, refused(5))
    assert (await bench.fails("delete_conversation", confirm=True)).code == "NOT_FOUND"
    assert bench.caller.sent(chat.DELETE_TURNS) == []


async def test_turns_that_cannot_be_read_are_turns(bench: Bench) -> None:
    talked(bench, [[["broken"]]])
    assert "the 1 turns" in (await bench.call("delete_conversation"))["would"]


async def test_a_deletion_whose_answer_was_lost_is_looked_at(bench: Bench) -> None:
    talked(bench, TURNS, None)
    bench.caller.script(chat.DELETE_TURNS, lost())
    result = await bench.call("delete_conversation", confirm=True)
    assert result["status"] == "deleted"
    assert "empty" in result["note"]
    talked(bench, TURNS, refused(5))
    assert (await bench.call("delete_conversation", confirm=True))["status"] == "deleted"
    for after in (TURNS, Network("offline")):
        talked(bench, TURNS, after)
        error = await bench.fails("delete_conversation", confirm=True)
        assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", Outcome.UNKNOWN)
        assert "not known to be empty" in error.message
    assert len(bench.caller.sent(chat.DELETE_TURNS)) == 4


@every_refusal
async def test_a_refused_deletion(bench: Bench, status: int, code: str) -> None:
    talked(bench, TURNS)
    session = await bench.store.create_session(NB)
    await bench.store.touch_session(session.id, CHAT1)
    failure: NlmError = refused(status)
    bench.caller.script(chat.DELETE_TURNS, failure)
    assert await bench.fails("delete_conversation", confirm=True) is failure
    assert (failure.code, failure.outcome) == (code, Outcome.REJECTED)
    assert len(bench.caller.sent(chat.DELETE_TURNS)) == 1
    assert bench.store.rows[session.id].conversation_id == CHAT1
