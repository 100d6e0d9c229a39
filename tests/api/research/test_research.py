"""Starting, following and cancelling research over scripted rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio

from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.research import research
from nlm_cdp.errors import DecodeError, Drift, Network, NlmError, Outcome, SignedOut
from nlm_cdp.granted import DEFAULT_SCOPES, DEFAULT_TOOLSETS
from tests.api.research.tasks import (
    CANCELLED,
    DONE,
    NO_RESULTS,
    R1,
    R2,
    R3,
    REPORT,
    RUNNING,
    SESSION,
    A,
    B,
    looks,
    task,
)
from tests.fakes import NB, NB2, START, Bench, every_refusal, lost, notebook, refused


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.store.active = NB
    return bench


# start_research


@pytest.mark.parametrize(
    ("arguments", "rpc", "answer", "row"),
    [
        ({}, research.START_FAST, [R1], [["fog horns", 1], None, 1, NB]),
        ({"mode": "fast", "corpus": "web"}, research.START_FAST, [R1], [["fog horns", 1], None, 1, NB]),
        ({"corpus": "drive"}, research.START_FAST, [R1], [["fog horns", 2], None, 1, NB]),
        ({"mode": "deep"}, research.START_DEEP, [SESSION, R1], [None, [1], ["fog horns", 1], 5, NB]),
    ],
)
async def test_starting(bench: Bench, arguments: dict[str, str], rpc: Any, answer: Any, row: Any) -> None:
    looks(bench, [])
    bench.caller.script(rpc, answer)
    result = await bench.call("start_research", query="fog horns", **arguments)
    wanted = {"mode": "fast", "corpus": "web"} | arguments
    assert result == {"research_id": R1, "notebook_id": NB, "query": "fog horns", **wanted}
    assert [request.encode() for request in bench.caller.sent(rpc)] == [row]
    assert bench.caller.calls == ["e3bVqc", rpc.id]


async def test_another_notebook_by_its_title(bench: Bench) -> None:
    bench.caller.script(notebooks.LIST, [[notebook(NB, "Fog"), notebook(NB2, "Rain")]])
    looks(bench, [])
    bench.caller.script(research.START_FAST, [R1])
    assert (await bench.call("start_research", query="x", notebook="rain"))["notebook_id"] == NB2
    assert bench.caller.sent(research.START_FAST)[0].notebook_id == NB2


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": ""},
        {"query": " \n"},
        {},
        {"query": "x", "mode": "deep", "corpus": "drive"},
        {"query": "x", "mode": "slow"},
        {"query": "x", "corpus": "gmail"},
        {"query": "x", "source": "web"},
        {"query": 7},
    ],
)
async def test_what_cannot_be_started_is_refused_before_anything_is_sent(
    bench: Bench, arguments: dict[str, Any]
) -> None:
    error = await bench.fails("start_research", **arguments)
    assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.NOT_SENT)
    assert bench.caller.requests == []


@every_refusal
@pytest.mark.parametrize("mode", ["fast", "deep"])
async def test_a_refusal_to_start_is_believed(bench: Bench, status: int, code: str, mode: str) -> None:
    looks(bench, [])
    for rpc in (research.START_FAST, research.START_DEEP):
        bench.caller.script(rpc, refused(status))
    error = await bench.fails("start_research", query="fog", mode=mode)
    assert (error.code, error.outcome) == ("SERVICE" if (status, mode) == (3, "deep") else code, Outcome.REJECTED)
    assert error.details["status_code"] == status
    assert len(bench.caller.requests) == 2


async def test_deep_research_that_failed_for_the_moment_says_so(bench: Bench) -> None:
    looks(bench, [])
    bench.caller.script(research.START_DEEP, refused(3, "Too many runs at once."))
    error = await bench.fails("start_research", query="fog", mode="deep")
    assert (error.code, error.retriable, error.outcome) == ("SERVICE", True, Outcome.REJECTED)
    assert error.message == "the service did not start deep research: Too many runs at once."
    assert "try again" in error.hint


@pytest.mark.parametrize("answer", [None, [], [None, None]])
async def test_deep_research_that_is_not_to_be_had(bench: Bench, answer: Any) -> None:
    looks(bench, [])
    bench.caller.script(research.START_DEEP, answer)
    error = await bench.fails("start_research", query="fog", mode="deep")
    assert (error.code, error.outcome) == ("SERVICE", Outcome.REJECTED)
    assert len(bench.caller.sent(research.START_DEEP)) == 1


@pytest.mark.parametrize("look", [1, 2, 3])
async def test_a_start_whose_reply_was_lost_is_found(bench: Bench, look: int) -> None:
    old, other = task(R1), task(R3, RUNNING, query="rain")
    looks(bench, [old], *[[old, other]] * (look - 1), [task(R2, RUNNING), other, old])
    bench.caller.script(research.START_FAST, lost())
    result = await bench.call("start_research", query="fog horns")
    assert result["research_id"] == R2
    assert "lost" in result["note"]
    assert len(bench.caller.sent(research.START_FAST)) == 1
    assert bench.caller.calls == ["e3bVqc", "Ljjv0c", *["e3bVqc"] * look]


async def test_the_corpus_tells_two_starts_apart(bench: Bench) -> None:
    looks(bench, [], [task(R1, RUNNING), task(R2, RUNNING, corpus=2)])
    bench.caller.script(research.START_FAST, lost())
    assert (await bench.call("start_research", query="fog horns", corpus="drive"))["research_id"] == R2


@pytest.mark.parametrize(
    ("after", "said", "same"),
    [
        ([task(R1)], "No new one with this query showed.", []),
        ([task(R1), task(R2), task(R3)], "Several with this query were started meanwhile.", [R2, R3]),
        (Network("offline"), "No new one with this query showed.", []),
    ],
)
async def test_a_start_that_cannot_be_found_stays_unknown(bench: Bench, after: Any, said: str, same: Any) -> None:
    failure = lost()
    looks(bench, [task(R1)], after)
    bench.caller.script(research.START_DEEP, failure)
    error = await bench.fails("start_research", query="fog horns", mode="deep")
    assert error is failure
    assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", Outcome.UNKNOWN)
    assert error.message.endswith(said)
    assert error.details["same_query"] == same
    assert "get_research" in error.hint
    assert len(bench.caller.sent(research.START_DEEP)) == 1


async def test_an_answer_without_an_id_is_looked_into(bench: Bench) -> None:
    """The session says of a row that does not decode after a write: drift, outcome unknown."""
    drift = DecodeError("FastStarted", ".1", "the cell is empty")
    drift.outcome = Outcome.UNKNOWN
    looks(bench, [], [task(R2, RUNNING)])
    bench.caller.script(research.START_FAST, drift)
    assert (await bench.call("start_research", query="fog horns"))["research_id"] == R2
    bench.caller.script(research.START_FAST, [])
    looks(bench, [])
    assert (await bench.fails("start_research", query="fog horns")).code == "DRIFT"
    bench.caller.script(research.START_DEEP, [SESSION])
    error = await bench.fails("start_research", query="fog horns", mode="deep")
    assert (error.code, error.outcome) == ("DRIFT", Outcome.UNKNOWN)
    looks(bench, [], [task(R2, RUNNING, deep=True)])
    assert (await bench.call("start_research", query="fog horns", mode="deep"))["research_id"] == R2


async def test_old_research_that_cannot_be_read_is_no_reason_not_to_start(bench: Bench) -> None:
    looks(bench, [["no job"]])
    bench.caller.script(research.START_FAST, [R1])
    assert (await bench.call("start_research", query="fog"))["research_id"] == R1


async def test_without_the_scope_nothing_is_started() -> None:
    bench = Bench(scopes=("read",), toolsets=DEFAULT_TOOLSETS)
    for name in ("start_research", "cancel_research", "import_research"):
        assert (await bench.fails(name, query="fog")).code == "SCOPE"
    assert bench.contexts == 0
    offered = Bench(scopes=DEFAULT_SCOPES, toolsets=DEFAULT_TOOLSETS).app.catalogue.offered
    assert {"start_research", "get_research", "import_research", "cancel_research"} <= set(offered)


async def test_former_names(bench: Bench) -> None:
    for was, now in (("poll_research", "get_research"), ("import_research_sources", "import_research")):
        assert now in (await bench.fails(was)).message


# get_research


async def test_what_deep_research_found(bench: Bench) -> None:
    letter = [None, "A letter", None, 4]
    looks(bench, [task(R1, DONE, REPORT, A, letter, B, deep=True)])
    result = await bench.call("get_research", research_id=R1)
    assert result == {
        "research_id": R1,
        "notebook_id": NB,
        "status": "done",
        "status_code": 2,
        "query": "fog horns",
        "mode": "deep",
        "corpus": "web",
        "created": "2023-11-14T22:13:20Z",
        "sources": [
            {"index": 1, "title": "Page A", "url": "https://a.test/x", "hint": "why A", "kind": "web_page"},
            {"index": 2, "title": "A letter", "kind": "gmail"},
            {"index": 3, "title": "Page B", "url": "https://b.test/y", "hint": "why B", "kind": "web_page"},
        ],
        "summary": "In short",
        "report_title": "The report",
        "report": "# Fog\n\nSee [A](https://a.test/x).",
        "report_chars": 33,
        "_provenance": {
            "provider": "gemini-notebook",
            "via": "chrome-devtools",
            "grounding": "web",
            "ai_generated": True,
            "simulated": False,
        },
    }
    assert bench.caller.calls == ["e3bVqc"]


async def test_the_session_of_a_deep_run_names_it_too(bench: Bench) -> None:
    looks(bench, [task(R2), task(R1, DONE, A, deep=True)])
    for reference in (R1, SESSION, R1[:6]):
        assert (await bench.call("get_research", research_id=reference))["research_id"] == R1


async def test_a_query_names_its_research(bench: Bench) -> None:
    looks(
        bench, [task(R1, query="Fog"), task(R2, query="Fog horns"), task(R3, query="Rain"), task(SESSION, query="Rain")]
    )
    for reference, found in (("Fog", R1), ("fog h", R2), (R3, R3)):
        assert (await bench.call("get_research", research_id=reference))["research_id"] == found
    error = await bench.fails("get_research", research_id="rain")
    assert error.code == "AMBIGUOUS"
    assert error.details["candidates"] == [{"id": R3, "title": "Rain"}, {"id": SESSION, "title": "Rain"}]
    for name in ("get_research", "import_research", "cancel_research"):
        assert (await bench.fails(name, research_id="snow")).code == "NOT_FOUND"


async def test_one_task_never_shows_what_another_found(bench: Bench) -> None:
    looks(bench, [task(R1, DONE, A), task(R2, RUNNING, B, summary="other")])
    one = await bench.call("get_research", research_id=R1)
    two = await bench.call("get_research", research_id=R2)
    assert ([row["title"] for row in one["sources"]], one["status"]) == (["Page A"], "done")
    assert ([row["title"] for row in two["sources"]], two["status"]) == (["Page B"], "running")


async def test_tasks_of_another_notebook_are_not_this_ones(bench: Bench) -> None:
    looks(bench, [task(R1, DONE, A, in_notebook=NB2, at=START + 5), task(R2, DONE, B, in_notebook=NB)])
    result = await bench.call("get_research")
    assert (result["research_id"], "others" in result) == (R2, False)
    assert (await bench.call("get_research", research_id=R1))["status"] == "not_visible_yet"


async def test_without_an_id_the_latest_is_shown_and_named(bench: Bench) -> None:
    old, middle = task(R1, CANCELLED, at=START), task(R2, DONE, B, at=START + 10, query="rain")
    new = task(R3, NO_RESULTS, at=START + 20, corpus=2)
    for rows in ([old, middle, new], [new, middle, old], [middle, new, old]):
        looks(bench, rows)
        result = await bench.call("get_research")
        assert (result["research_id"], result["status"], result["status_code"]) == (R3, "no_results", 3)
        assert result["note"] == "the latest of 3, since none was named"
        assert result["others"] == [
            {"research_id": R2, "status": "done", "query": "rain", "mode": "fast", "created": "2023-11-14T22:13:30Z"},
            {
                "research_id": R1,
                "status": "cancelled",
                "query": "fog horns",
                "mode": "fast",
                "created": "2023-11-14T22:13:20Z",
            },
        ]
        assert (result["corpus"], result["_provenance"]["grounding"]) == ("drive", "user-documents")
    assert "others" not in await bench.call("get_research", research_id=R3)


@pytest.mark.parametrize("answer", [None, [], [None], [[]]])
async def test_a_notebook_without_research(bench: Bench, answer: Any) -> None:
    bench.caller.script(research.POLL, answer)
    result = await bench.call("get_research")
    assert (result["status"], result["sources"], "research_id" in result) == ("none", [], False)
    result = await bench.call("get_research", research_id=R1)
    assert (result["status"], result["research_id"], result["sources"]) == ("not_visible_yet", R1, [])
    assert "takes some seconds to show" in result["note"]
    assert trio.current_time() == 0


async def test_numbers_nobody_knows_stay_visible(bench: Bench) -> None:
    row = task(R1, 7, [*A[:3], 42], corpus=9)
    row[1][2] = 12
    looks(bench, [row])
    result = await bench.call("get_research", research_id=R1, wait=True)
    shown = (result["status"], result["status_code"], result["mode"], result["corpus"], result["sources"][0]["kind"])
    assert shown == ("unknown(7)", 7, "unknown(12)", "unknown(9)", "unknown(42)")
    assert trio.current_time() == 0


async def test_rows_that_cannot_be_read_are_told(bench: Bench) -> None:
    looks(bench, [task(R1, DONE, A, "no row", B), ["no job"]])
    result = await bench.call("get_research", research_id=R1)
    assert [row["index"] for row in result["sources"]] == [1, 2]
    assert sorted(why.partition(":")[0] for why in result["undecoded"]) == [".1[0].2.4.1[1]", ".1[1].2"]
    error = await bench.fails("get_research", research_id=R2)
    assert (error.code, len(error.details["undecoded"])) == ("DRIFT", 2)
    looks(bench, [["no job"]])
    assert (await bench.fails("get_research")).code == "DRIFT"
    bench.caller.script(research.POLL, ["no list"])
    assert (await bench.fails("get_research")).code == "DRIFT"


async def test_a_long_report_is_cut_and_says_so(bench: Bench) -> None:
    text = "# Fog\n" + "é😀" * 30_000 + "\u200b"
    looks(bench, [task(R1, DONE, [None, "R", None, 5, None, None, [text, 3]])])
    result = await bench.call("get_research", research_id=R1)
    assert (result["report"], result["report_chars"], result["report_truncated"]) == (text[:20_000], len(text), True)
    result = await bench.call("get_research", research_id=R1, report_max_chars=len(text))
    assert (result["report"], "report_truncated" in result) == (text, False)
    assert result["_provenance"]["flags"] == {"invisible": 1}
    result = await bench.call("get_research", research_id=R1, report_max_chars=0)
    assert ("report" in result, result["report_truncated"], result["report_title"]) == (False, True, "R")


async def test_a_report_without_its_text(bench: Bench) -> None:
    looks(bench, [task(R1, DONE, [None, "The report", None, 5], A)])
    result = await bench.call("get_research", research_id=R1)
    assert ("report" in result, result["report_title"]) == (False, "The report")
    assert "does not show its text" in result["note"]


@every_refusal
async def test_a_refused_look_is_no_empty_result(bench: Bench, status: int, code: str) -> None:
    looks(bench, refused(status))
    error = await bench.fails("get_research", wait=True)
    assert (error.code, error.outcome) == (code, Outcome.REJECTED)
    assert len(bench.caller.requests) == 1


# Waiting


async def test_a_task_that_does_not_show_at_first_is_waited_for(bench: Bench) -> None:
    running = task(R1, RUNNING, A)
    looks(bench, [], [], [], [running], [task(R1, DONE, A, B)])
    result = await bench.call("get_research", research_id=R1, wait=True)
    assert (result["status"], len(result["sources"]), "note" in result) == ("done", 2, False)
    assert len(bench.caller.requests) == 5
    assert bench.progress == [
        *["the research is not visible yet"] * 3,
        "fast research is running, 1 sources so far",
    ]


async def test_a_wait_that_runs_out_answers_the_state_and_how_to_go_on(bench: Bench) -> None:
    looks(bench, [task(R1, RUNNING, deep=True)])
    result = await bench.call("get_research", research_id=R1, wait=True, timeout_s=5)
    assert (result["status"], trio.current_time()) == ("running", 5)
    assert result["note"] == "still running: call get_research again with this id"
    assert len(bench.caller.requests) >= 4
    bench.caller.requests.clear()
    await bench.call("get_research", research_id=R1, timeout_s=5)
    assert (len(bench.caller.requests), trio.current_time()) == (1, 5)
    await bench.call("get_research", research_id=R1, wait=True, timeout_s=900)
    assert (trio.current_time(), len(bench.caller.requests) < 110) == (905, True)


async def test_what_shows_late_can_be_waited_for_without_an_id_and_is_not_exchanged(bench: Bench) -> None:
    mine, later = task(R1, RUNNING), task(R2, DONE, B, at=START + 60)
    looks(bench, [], [mine], [later, mine], [later, task(R1, DONE, A)])
    result = await bench.call("get_research", wait=True)
    assert (result["research_id"], result["status"]) == (R1, "done")
    assert [other["research_id"] for other in result["others"]] == [R2]


@pytest.mark.parametrize("failure", [Network("offline"), refused(13), refused(4)])
async def test_a_look_that_fails_does_not_end_a_wait(bench: Bench, failure: NlmError) -> None:
    looks(bench, [task(R1, RUNNING)], failure, failure, [task(R1, DONE, A)])
    result = await bench.call("get_research", research_id=R1, wait=True)
    assert (result["status"], "note" in result) == ("done", False)
    looks(bench, [task(R1, RUNNING)], failure)
    result = await bench.call("get_research", research_id=R1, wait=True, timeout_s=10)
    assert result["status"] == "running"
    assert f"the last look failed ({failure.code})" in result["note"]


async def test_a_look_that_was_refused_ends_it(bench: Bench) -> None:
    looks(bench, [task(R1, RUNNING)], SignedOut("signed out"))
    assert (await bench.fails("get_research", research_id=R1, wait=True)).code == "SIGNED_OUT"
    looks(bench, Network("offline"))
    assert (await bench.fails("get_research", research_id=R1, wait=True)).code == "NETWORK"


@pytest.mark.parametrize(
    "arguments",
    [
        {"timeout_s": 0},
        {"timeout_s": 901},
        {"report_max_chars": -1},
        {"wait": "perhaps"},
        {"research_id": 5},
        {"id": R1},
    ],
)
async def test_bad_arguments_are_refused(bench: Bench, arguments: dict[str, Any]) -> None:
    assert (await bench.fails("get_research", **arguments)).code == "INVALID_ARGUMENT"
    assert bench.caller.requests == []


# cancel_research


async def test_cancelling_reads_before_and_after(bench: Bench) -> None:
    running = task(R1, RUNNING, deep=True)
    looks(bench, [running], [running], [task(R1, CANCELLED, deep=True)])
    bench.caller.script(research.CANCEL, [])
    result = await bench.call("cancel_research", research_id=SESSION)
    assert result == {"research_id": R1, "notebook_id": NB, "status_before": "running", "status_after": "cancelled"}
    assert [request.encode() for request in bench.caller.sent(research.CANCEL)] == [[None, None, R1]]
    assert bench.caller.calls == ["e3bVqc", "Zbrupe", "e3bVqc", "e3bVqc"]


@pytest.mark.parametrize("status", [DONE, NO_RESULTS, CANCELLED, 7])
async def test_what_does_not_run_is_not_cancelled(bench: Bench, status: int) -> None:
    looks(bench, [task(R1, status)])
    result = await bench.call("cancel_research", research_id=R1)
    assert result["status_before"] == result["status_after"] != "running"
    assert "nothing was sent" in result["note"]
    assert bench.caller.calls == ["e3bVqc"]


@pytest.mark.parametrize(
    ("after", "status", "note"),
    [
        ([task(R1, RUNNING)], "running", "still shows it as running"),
        ([task(R1, DONE, A)], "done", "ended before it could be cancelled"),
        (Network("offline"), None, "could not be read"),
    ],
)
async def test_an_empty_reply_proves_nothing(bench: Bench, after: Any, status: str | None, note: str) -> None:
    looks(bench, [task(R1, RUNNING)], after)
    bench.caller.script(research.CANCEL, None)
    result = await bench.call("cancel_research", research_id=R1)
    assert (result["status_before"], result.get("status_after")) == ("running", status)
    assert note in result["note"]
    assert len(bench.caller.sent(research.CANCEL)) == 1


async def test_a_task_just_started_can_be_cancelled_once_it_shows(bench: Bench) -> None:
    looks(bench, [], [], [task(R1, RUNNING)], [task(R1, CANCELLED)])
    bench.caller.script(research.CANCEL, [])
    assert (await bench.call("cancel_research", research_id=R1))["status_after"] == "cancelled"


async def test_what_never_shows_is_not_cancelled(bench: Bench) -> None:
    """The service would cancel a task of any notebook, whichever is named, and answers the same for ids of nothing."""
    looks(bench, [task(R2, RUNNING)])
    error = await bench.fails("cancel_research", research_id=R1)
    assert (error.code, error.outcome) == ("NOT_FOUND", Outcome.NOT_SENT)
    assert error.details["research"] == [{"id": R2, "query": "fog horns"}]
    assert set(bench.caller.calls) == {"e3bVqc"}


@every_refusal
async def test_a_refused_cancellation_is_no_success(bench: Bench, status: int, code: str) -> None:
    looks(bench, [task(R1, RUNNING)])
    bench.caller.script(research.CANCEL, refused(status))
    error = await bench.fails("cancel_research", research_id=R1)
    assert (error.code, error.outcome) == (code, Outcome.REJECTED)
    assert bench.caller.calls == ["e3bVqc", "Zbrupe"]


DOUBTS: list[Callable[[], NlmError]] = [lost, lambda: Drift("x", outcome=Outcome.UNKNOWN)]


@pytest.mark.parametrize("doubt", DOUBTS)
async def test_a_cancellation_whose_reply_was_lost(bench: Bench, doubt: Callable[[], NlmError]) -> None:
    looks(bench, [task(R1, RUNNING)], [task(R1, CANCELLED)])
    bench.caller.script(research.CANCEL, doubt())
    assert (await bench.call("cancel_research", research_id=R1))["status_after"] == "cancelled"
    for after, said in (([task(R1, RUNNING)], "It showed as running"), (Network("offline"), "could not be read")):
        looks(bench, [task(R1, RUNNING)], after)
        failure = doubt()
        bench.caller.script(research.CANCEL, failure)
        error = await bench.fails("cancel_research", research_id=R1)
        assert error is failure
        assert (said in error.message, error.outcome) == (True, Outcome.UNKNOWN)
    assert len(bench.caller.sent(research.CANCEL)) == 3
