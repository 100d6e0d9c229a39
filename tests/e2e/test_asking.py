"""Answers in the background and answers whose stream is cut, in a real Chromium against the simulator."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from nlm_cdp.sim.faults import Fault, Kind
from tests.e2e.world import in_chromium, world

pytestmark = in_chromium
QUESTION = "What do tests ask the simulator for?"


async def test_an_answer_in_the_background(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        there.service.service.pace = 0.2
        started = await there.call(
            "ask_question", question=QUESTION, notebook="About", background=True, source_format="json"
        )
        assert started["status"] == "running"
        assert (await there.call("get_answer", answer_id=started["answer_id"]))["status"] == "running"
        done = await there.call("get_answer", answer_id=started["answer_id"], wait=True, timeout_s=30)
        assert done["status"] == "success"
        assert done["sources"]
        assert any(note.startswith("answering") for note in there.notes)
        assert await there.call("get_answer", answer_id=started["answer_id"]) == done
        assert there.sent("chat") == 1
        turns = (await there.call("get_conversation", notebook="About"))["turns"]
        assert [turn["text"] for turn in turns] == [QUESTION, done["answer"]]


async def test_cancelling_reaches_the_page_and_the_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        there.service.service.pace = 3600
        started = await there.call("ask_question", question=QUESTION, notebook="About", background=True)
        await there.service.requests.wait_for(lambda logged: "chat" in logged.rpc_ids)
        with trio.fail_after(20):
            stopped = await there.call("cancel_answer", answer_id=started["answer_id"])
        assert stopped == {"status": "cancelled", "answer_id": started["answer_id"]}
        assert there.sent("XgrPMd") == 1
        with trio.fail_after(5):
            await there.service.requests.wait_for(lambda logged: "chat" in logged.rpc_ids and bool(logged.aborted))
        assert (await there.fails("get_answer", answer_id=started["answer_id"])).code == "CANCELLED"
        turns = (await there.call("get_conversation", notebook="About"))["turns"]
        assert [turn["role"] for turn in turns] == ["user"]
        there.service.service.pace = 0.0
        assert (await there.call("ask_question", question=QUESTION, notebook="About"))["answer"]


CUTS = [
    pytest.param(Fault(Kind.CUT, "chat", amount=1), id="before a word"),
    pytest.param(Fault(Kind.RESET, "chat", amount=0.4), id="reset on the way"),
    pytest.param(Fault(Kind.CUT, "chat", amount=0.8), id="in the middle"),
    pytest.param(Fault(Kind.HTTP, "chat", code=500, commit=True), id="500 after the fact"),
    pytest.param(Fault(Kind.EMPTY, "chat", commit=True), id="nothing after the fact"),
]


@pytest.mark.parametrize("fault", CUTS)
async def test_an_answer_whose_stream_is_cut_is_read_back(
    fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, monkeypatch) as there:
        before = await there.call("ask_question", question=QUESTION, notebook="About", source_format="json")
        there.service.service.pace = 0.1
        there.service.faults.add(fault)
        answer = await there.call("ask_question", question=QUESTION, notebook="About", source_format="json")
        assert "read back" in answer["note"]
        assert "truncated" not in answer
        assert answer["answer"] == before["answer"]
        assert [cited["excerpt"] for cited in answer["sources"]] == [cited["excerpt"] for cited in before["sources"]]
        assert there.sent("chat") == 2
        turns = (await there.call("get_conversation", notebook="About"))["turns"]
        assert [turn["role"] for turn in turns] == ["user", "assistant"] * 2


async def test_a_question_that_never_arrived_is_not_answered_by_an_older_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, monkeypatch) as there:
        await there.call("ask_question", question=QUESTION, notebook="About")
        there.service.faults.add(Fault(Kind.HTTP, "chat", code=500))
        error = await there.fails("ask_question", question=QUESTION, notebook="About")
        assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", "unknown")
        assert there.sent("chat") == 2


async def test_the_rest_of_the_chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        call = there.call
        notebook = there.service.service.owner.recent()[0].id
        await call("select_notebook", notebook=notebook)
        configured = await call("configure_chat", goal="custom", prompt="Speak like a keeper.", length="shorter")
        settings = {"goal": "custom", "prompt": "Speak like a keeper.", "length": "shorter"}
        assert configured["settings"] == settings
        assert (await call("get_notebook"))["chat"] == settings
        assert (await call("configure_chat", goal="default"))["settings"]["length"] == "shorter"

        suggested = await call("suggest_questions", surface="flashcards", about="lamps")
        assert all("lamps" in item["prompt"] for item in suggested["suggestions"])
        assert len((await call("suggest_questions", surface="next_steps"))["suggestions"]) == 3

        answer = await call("ask_question", question=QUESTION, source_format="json")
        saved = await call("save_answer", session_id=answer["session_id"], title="Kept")
        assert saved["citations"] == len(answer["sources"])
        note = await call("get_note", note=saved["note"]["id"])
        assert (note["note"]["title"], note["content"]) == ("Kept", answer["answer"])

        assert (await call("delete_conversation"))["status"] == "needs_confirmation"
        assert there.sent("J7Gthc") == 0
        assert (await call("delete_conversation", confirm=True))["status"] == "deleted"
        assert (await call("get_conversation"))["turns"] == []
        assert (await call("delete_conversation", confirm=True))["status"] == "empty"
        assert (await call("list_sessions"))["sessions"][0]["message_count"] == 0


async def test_a_process_that_ends_takes_its_answers_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        there.service.service.pace = 3600
        started = await there.call("ask_question", question=QUESTION, notebook="About", background=True)
        await there.service.requests.wait_for(lambda logged: "chat" in logged.rpc_ids)
        context = await there.runtime.context(there.note)
        job = context.background.find(started["answer_id"])
        assert job is not None
        began = trio.current_time()
        await there.runtime.stack.aclose()
        assert job.status == "cancelled"
        assert trio.current_time() - began < 2
