"""Importing what research found over scripted rows, with all its doubts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
import trio

from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.research import research
from nlm_cdp.errors import Network, NlmError, Outcome
from nlm_cdp.rpc import ToolContext
from tests.api.research.tasks import (
    CANCELLED,
    DONE,
    NO_RESULTS,
    R1,
    R2,
    REPORT,
    RUNNING,
    SESSION,
    looks,
    task,
)
from tests.fakes import NB, S1, S2, S3, S4, START, Bench, every_refusal, lost, notebook, refused, source

A, B, C = "https://a.test/x", "https://b.test/y", "https://c.test/z"
VIDEO, SHORT = "https://www.youtube.com/watch?v=abc123", "https://youtu.be/abc123"
DOC = "https://drive.google.com/open?id=1DOCUMENT-x&usp=drive"
SHEET = "https://docs.google.com/spreadsheets/d/1SHEET-abcd/edit"
PDF = "https://drive.google.com/file/d/1PDF_abcdef/view"
MARKDOWN = REPORT[6][0]


def found(*urls: str | None, kind: int = 1) -> list[Any]:
    return [[url, f"Page {number}", "why", kind] for number, url in enumerate(urls, start=1)]


def web(url: str, title: str) -> list[Any]:
    return [None, None, [url, title], *[None] * 7, 2]


REPORT_ENTRY = [None, ["The report", MARKDOWN], None, 3, *[None] * 6, 3]


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.store.active = NB
    looks(bench, [task(R1, DONE, *found(A, B, C))])
    listings(bench, [])
    return bench


def listings(bench: Bench, *rows: Any, limit: int | None = None) -> None:
    """What each look at the notebook shows; the last one repeats. Exceptions are raised."""
    answers = []
    for row in rows:
        if not isinstance(row, Exception):
            row = notebook(NB, sources=tuple(row))  # noqa: PLW2901
            row[10] = [6, 100, limit, 500_000] if limit is not None else None
            row = [row]  # noqa: PLW2901
        answers.append(row)
    bench.caller.script(notebooks.GET, *answers)


def entries(bench: Bench) -> list[Any]:
    return [request.encode()[4] for request in bench.caller.sent(research.IMPORT)]


def indices(rows: list[dict[str, Any]]) -> list[int | None]:
    return [row.get("index") for row in rows]


# What is sent


async def test_everything_that_was_found(bench: Bench) -> None:
    rows = [source(S1, "A", url=A), source(S2, "B", url=B, status=1), source(S3, "C", url=C)]
    bench.caller.script(research.IMPORT, [rows])
    result = await bench.call("import_research", research_id=R1)
    assert result == {
        "research_id": R1,
        "notebook_id": NB,
        "imported": [
            {"index": 1, "title": "A", "url": A, "source_id": S1, "status": "ready"},
            {"index": 2, "title": "B", "url": B, "source_id": S2, "status": "processing"},
            {"index": 3, "title": "C", "url": C, "source_id": S3, "status": "ready"},
        ],
        "already_present": [],
        "failed": [],
    }
    (request,) = bench.caller.sent(research.IMPORT)
    pages = [web(A, "Page 1"), web(B, "Page 2"), web(C, "Page 3")]
    assert request.encode() == [None, [1], R1, NB, pages]
    assert bench.caller.calls == ["e3bVqc", "rLM1Ne", "LBwxtb"]


async def test_the_report_goes_first_and_under_the_id_that_is_listed(bench: Bench) -> None:
    looks(bench, [task(R1, DONE, *found(A), REPORT, deep=True)])
    bench.caller.script(research.IMPORT, [[source(S1, "The report", kind=8), source(S2, url=A)]])
    result = await bench.call("import_research", research_id=SESSION, sources=[1])
    assert bench.caller.sent(research.IMPORT)[0].research_id == R1
    assert entries(bench) == [[REPORT_ENTRY, web(A, "Page 1")]]
    assert result["imported"][0] == {"report": True, "title": "The report", "source_id": S1, "status": "ready"}
    await bench.call("import_research", research_id=R1, sources=[1], include_report=False)
    await bench.call("import_research", research_id=R1, sources=[])
    assert entries(bench)[1:] == [[web(A, "Page 1")], [REPORT_ENTRY]]


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        ([2], [2]),
        ([3, 1], [3, 1]),
        ([B], [2]),
        (["https://www.b.test/y/#part"], [2]),
        ([B, 2, "2"], [2]),
        ("3,1", [3, 1]),
        ("[2, 3]", [2, 3]),
        (A, [1]),
        (None, [1, 2, 3]),
    ],
)
async def test_sources_by_index_and_by_address(bench: Bench, wanted: Any, chosen: list[int]) -> None:
    urls = [A, B, C]
    bench.caller.script(research.IMPORT, [[source(S1, url=urls[chosen[0] - 1])]])
    result = await bench.call("import_research", research_id=R1, sources=wanted)
    assert entries(bench) == [[web(urls[number - 1], f"Page {number}") for number in chosen]]
    assert indices([*result["imported"], *result["failed"]]) == chosen


async def test_max_sources_counts_the_first_ones_whether_they_are_there_or_not(bench: Bench) -> None:
    looks(bench, [task(R1, DONE, REPORT, *found(A, B, C))])
    listings(bench, [source(S4, url=A)])
    bench.caller.script(research.IMPORT, [[source(S1, "The report", kind=8), source(S2, url=B)]])
    result = await bench.call("import_research", research_id=R1, max_sources=2)
    assert entries(bench) == [[REPORT_ENTRY, web(B, "Page 2")]]
    assert (indices(result["imported"]), indices(result["already_present"])) == ([None, 2], [1])


@pytest.mark.parametrize(
    ("url", "kind", "entry"),
    [
        (DOC, 2, [["1DOCUMENT-x", "application/vnd.google-apps.document", 1, "Page 1"], *[None] * 9, 2]),
        (SHEET, 8, [["1SHEET-abcd", "application/vnd.google-apps.spreadsheet", 1, "Page 1"], *[None] * 9, 2]),
        (SHEET, 1, [["1SHEET-abcd", "application/vnd.google-apps.spreadsheet", 1, "Page 1"], *[None] * 9, 2]),
        (PDF, 6, [["1PDF_abcdef", "application/pdf", 1, "Page 1"], *[None] * 9, 2]),
        (PDF, 7, web(PDF, "Page 1")),
        ("https://drive.google.com/drive/my-drive", 2, web("https://drive.google.com/drive/my-drive", "Page 1")),
        ("https://a.test/open?id=DOC1", 2, web("https://a.test/open?id=DOC1", "Page 1")),
        ("https://[broken", 2, web("https://[broken", "Page 1")),
        (VIDEO, 1, web(VIDEO, "Page 1")),
    ],
)
async def test_what_is_sent_for_each_kind(bench: Bench, url: str, kind: int, entry: list[Any]) -> None:
    looks(bench, [task(R1, DONE, *found(url, kind=kind), corpus=2)])
    bench.caller.script(research.IMPORT, [[source(S1)]])
    await bench.call("import_research", research_id=R1)
    assert entries(bench) == [[entry]]


async def test_a_page_without_a_title_goes_by_its_address(bench: Bench) -> None:
    looks(bench, [task(R1, DONE, [A, None, None, 1])])
    bench.caller.script(research.IMPORT, [[source(S1, url=A)]])
    await bench.call("import_research", research_id=R1)
    assert entries(bench) == [[web(A, A)]]


# What cannot be imported


@pytest.mark.parametrize(
    "arguments",
    [
        {"sources": [4]},
        {"sources": [0]},
        {"sources": [-1]},
        {"sources": ["7"]},
        {"sources": [1, "https://other.test/"]},
        {"sources": [True]},
        {"sources": [1.5]},
        {"sources": []},
        {"max_sources": 0},
        {"cited_only": True},
        {"cited": True},
        {"include_report": "maybe"},
    ],
)
async def test_what_this_research_did_not_find_is_refused_before_anything_is_sent(
    bench: Bench, arguments: dict[str, Any]
) -> None:
    error = await bench.fails("import_research", research_id=R1, **arguments)
    assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.NOT_SENT)
    assert set(bench.caller.calls) <= {"e3bVqc"}


async def test_what_another_research_found_is_refused_and_named(bench: Bench) -> None:
    looks(bench, [task(R1, DONE, *found(A)), task(R2, DONE, *found(A, B))])
    error = await bench.fails("import_research", research_id=R1, sources=[A, B])
    assert (error.code, error.details["research"]) == ("INVALID_ARGUMENT", [R2])
    assert (await bench.fails("import_research", research_id=R1, sources=[2])).code == "INVALID_ARGUMENT"
    assert set(bench.caller.calls) == {"e3bVqc"}


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([], "NOT_FOUND"),
        ([task(R2, DONE, *found(A))], "NOT_FOUND"),
        ([task(R1, RUNNING, *found(A))], "NOT_READY"),
        ([task(R1, NO_RESULTS)], "INVALID_ARGUMENT"),
        ([task(R1, CANCELLED)], "INVALID_ARGUMENT"),
        ([task(R1, DONE, *found(None))], "INVALID_ARGUMENT"),
        ([task(R1, DONE, [None, "R", None, 5])], "INVALID_ARGUMENT"),
    ],
)
async def test_research_that_has_nothing_to_import(bench: Bench, rows: list[Any], code: str) -> None:
    looks(bench, rows)
    error = await bench.fails("import_research", research_id=R1)
    assert (error.code, error.outcome) == (code, Outcome.NOT_SENT)
    assert bench.caller.sent(research.IMPORT) == []


async def test_what_has_no_address_is_told_beside_the_rest(bench: Bench) -> None:
    looks(bench, [task(R1, DONE, [None, "R", None, 5], *found(None, A))])
    bench.caller.script(research.IMPORT, [[source(S1, url=A)]])
    result = await bench.call("import_research", research_id=R1)
    assert entries(bench) == [[web(A, "Page 2")]]
    assert [(each.get("index"), each["code"], each["outcome"]) for each in result["failed"]] == [
        (None, "INVALID_ARGUMENT", "not_sent"),
        (1, "INVALID_ARGUMENT", "not_sent"),
    ]
    assert "report" in result["failed"][0]["message"]


@every_refusal
async def test_before_anything_is_imported_everything_must_be_readable(bench: Bench, status: int, code: str) -> None:
    listings(bench, refused(status))
    assert (await bench.fails("import_research", research_id=R1)).code == code
    looks(bench, refused(status))
    assert (await bench.fails("import_research", research_id=R1)).code == code
    assert bench.caller.calls == ["e3bVqc", "rLM1Ne", "e3bVqc"]


async def test_a_notebook_of_which_nothing_can_be_read_is_no_empty_one(bench: Bench) -> None:
    bad = source(S1, url=A)
    bad[0] = None
    listings(bench, [bad])
    assert (await bench.fails("import_research", research_id=R1)).code == "DRIFT"
    listings(bench, [bad, source(S2)])
    bench.caller.script(research.IMPORT, [[source(S3, url=A)]])
    result = await bench.call("import_research", research_id=R1)
    assert [why.partition(":")[0] for why in result["undecoded"]] == [".1.2[0]"]


# What is there already


async def test_what_is_there_is_not_sent_again(bench: Bench) -> None:
    looks(bench, [task(R1, DONE, *found(A, VIDEO, C, DOC, kind=2))])
    doc = source(S4, "Doc", kind=1)
    doc[2][0] = ["1DOCUMENT-x", "rev", 3]
    processing = source(S3, C, status=1)
    listings(bench, [source(S1, url=f"{A}/#top"), source(S2, video=SHORT, kind=9), processing, doc])
    result = await bench.call("import_research", research_id=R1)
    assert (result["imported"], result["failed"]) == ([], [])
    assert [(row["index"], row["source_id"]) for row in result["already_present"]] == [
        (1, S1),
        (2, S2),
        (3, S3),
        (4, S4),
    ]
    assert bench.caller.sent(research.IMPORT) == []


async def test_a_report_is_there_unless_it_is_that_of_an_earlier_research(bench: Bench) -> None:
    looks(bench, [task(R1, DONE, REPORT, at=START - 5)])
    listings(bench, [source(S1, "The report", kind=8)])
    result = await bench.call("import_research", research_id=R1)
    assert [(row["report"], row["source_id"]) for row in result["already_present"]] == [(True, S1)]
    assert bench.caller.sent(research.IMPORT) == []
    for rows in ([source(S1, "The report", kind=8)], [source(S1, "The report", url=A)]):
        looks(bench, [task(R1, DONE, REPORT, at=START + 5)])
        listings(bench, rows)
        bench.caller.script(research.IMPORT, [[source(S2, "The report", kind=8)]])
        result = await bench.call("import_research", research_id=R1)
        assert [row["source_id"] for row in result["imported"]] == [S2]


async def test_one_address_twice_is_sent_once(bench: Bench) -> None:
    looks(bench, [task(R1, DONE, *found(A, B, f"{A}/"))])
    bench.caller.script(research.IMPORT, [[source(S1, url=A), source(S2, url=B)]])
    result = await bench.call("import_research", research_id=R1)
    assert entries(bench) == [[web(A, "Page 1"), web(B, "Page 2")]]
    assert (indices(result["imported"]), indices(result["already_present"])) == ([1, 2], [3])
    assert result["already_present"][0]["source_id"] == S1


# What came of it


async def test_what_the_service_leaves_out_is_told(bench: Bench) -> None:
    bench.caller.script(research.IMPORT, [[source(S1, url=A), source(S3, url=C)]])
    result = await bench.call("import_research", research_id=R1)
    assert indices(result["imported"]) == [1, 3]
    (failed,) = result["failed"]
    assert (failed["index"], failed["url"], failed["code"], failed["outcome"]) == (2, B, "SERVICE", "rejected")
    assert (trio.current_time(), len(bench.caller.requests)) == (0, 3)


async def test_a_page_that_led_elsewhere(bench: Bench) -> None:
    moved = source(S2, "Moved", url="https://elsewhere.test/")
    bench.caller.script(research.IMPORT, [[source(S1, url=A), moved, source(S3, url=C)]])
    result = await bench.call("import_research", research_id=R1)
    assert [(row["index"], row["source_id"]) for row in result["imported"]] == [(1, S1), (2, S2), (3, S3)]
    bench.caller.script(research.IMPORT, [[source(S1, url=A), moved]])
    result = await bench.call("import_research", research_id=R1)
    assert [(row.get("index"), row["source_id"]) for row in result["imported"]] == [(1, S1), (None, S2)]
    assert [(each["index"], each["outcome"]) for each in result["failed"]] == [(2, "unknown"), (3, "unknown")]


@pytest.mark.parametrize("answer", [None, [], [None], [[]], [[source(S4, url=A)]]])
async def test_an_answer_without_a_new_row_is_no_success(bench: Bench, answer: Any) -> None:
    listings(bench, [source(S4, url="https://d.test/")])
    bench.caller.script(research.IMPORT, answer)
    error = await bench.fails("import_research", research_id=R1)
    assert (error.code, error.outcome) == ("SERVICE", Outcome.REJECTED)
    assert len(bench.caller.sent(research.IMPORT)) == 1
    listings(bench, [source(S4, url="https://d.test/")], [source(S4, url="https://d.test/"), source(S1, url=A)])
    result = await bench.call("import_research", research_id=R1, sources=[1])
    assert [row["source_id"] for row in result["imported"]] == [S1]


async def test_a_row_that_cannot_be_read_is_looked_for(bench: Bench) -> None:
    bad = source(S2, url=B)
    bad[0] = None
    bench.caller.script(research.IMPORT, [[source(S1, url=A), bad]])
    listings(bench, [], [source(S1, url=A), source(S2, url=B)])
    result = await bench.call("import_research", research_id=R1, sources=[1, 2])
    assert [row["source_id"] for row in result["imported"]] == [S1, S2]
    listings(bench, [], Network("offline"))
    result = await bench.call("import_research", research_id=R1, sources=[1, 2])
    assert [(each["index"], each["outcome"]) for each in result["failed"]] == [(2, "unknown")]


PLAIN = [(5, "NOT_FOUND"), (7, "PERMISSION"), (8, "RATE_LIMITED"), (13, "SERVICE"), (16, "SIGNED_OUT")]


@pytest.mark.parametrize(("status", "code"), PLAIN)
async def test_a_plain_refusal_is_believed(bench: Bench, status: int, code: str) -> None:
    listings(bench, [source(S4, url=A)])
    bench.caller.script(research.IMPORT, refused(status))
    error = await bench.fails("import_research", research_id=R1)
    assert (error.code, error.outcome) == (code, Outcome.REJECTED)
    assert bench.caller.calls == ["e3bVqc", "rLM1Ne", "LBwxtb"]


def pages(count: int) -> tuple[list[str], list[Any]]:
    urls = [f"https://a.test/{number}" for number in range(1, count + 1)]
    return urls, [source(f"{number:08}-0000-4000-8000-000000000000", url=url) for number, url in enumerate(urls)]


DOUBTS: list[Callable[[], NlmError]] = [lambda: refused(3), lambda: refused(9), lost]
doubtful = pytest.mark.parametrize("doubt", DOUBTS, ids=["status 3", "status 9", "lost"])


@doubtful
async def test_a_partial_import_is_read_back_and_the_next_one_sends_what_is_missing(
    bench: Bench, doubt: Callable[[], NlmError]
) -> None:
    urls, rows = pages(10)
    failure = doubt()
    looks(bench, [task(R1, DONE, *found(*urls))])
    listings(bench, [], rows[:2], rows[:4], rows[:6], rows[:6])
    bench.caller.script(research.IMPORT, failure)
    result = await bench.call("import_research", research_id=R1)
    assert indices(result["imported"]) == [1, 2, 3, 4, 5, 6]
    assert [each["index"] for each in result["failed"]] == [7, 8, 9, 10]
    assert {(each["code"], each["outcome"]) for each in result["failed"]} == {(failure.code, failure.outcome)}
    assert ("add_source" in result["note"]) is (failure.code == "NOT_READY")
    assert bench.caller.calls == ["e3bVqc", "rLM1Ne", "LBwxtb", *["rLM1Ne"] * 4]
    assert bench.progress[-1] == "looking what was imported: 6 of 10 are there"

    listings(bench, rows[:6])
    bench.caller.script(research.IMPORT, [rows[6:]])
    result = await bench.call("import_research", research_id=R1)
    assert entries(bench)[1] == [web(url, f"Page {number}") for number, url in enumerate(urls[6:], start=7)]
    assert (indices(result["already_present"]), indices(result["imported"])) == ([1, 2, 3, 4, 5, 6], [7, 8, 9, 10])
    assert result["failed"] == []


@doubtful
async def test_a_second_attempt_that_is_refused_tells_what_is_there(
    bench: Bench, doubt: Callable[[], NlmError]
) -> None:
    urls, rows = pages(3)
    failure = doubt()
    looks(bench, [task(R1, DONE, *found(*urls))])
    listings(bench, rows[:2])
    bench.caller.script(research.IMPORT, failure)
    result = await bench.call("import_research", research_id=R1)
    assert (indices(result["already_present"]), result["imported"]) == ([1, 2], [])
    assert [(each["index"], each["code"]) for each in result["failed"]] == [(3, failure.code)]


@doubtful
async def test_a_doubtful_import_of_which_nothing_came(bench: Bench, doubt: Callable[[], NlmError]) -> None:
    listings(bench, [])
    failure = doubt()
    bench.caller.script(research.IMPORT, failure)
    error = await bench.fails("import_research", research_id=R1)
    assert error is failure
    assert error.message.endswith("no new source is there.")
    assert error.outcome is (Outcome.UNKNOWN if error.code == "UNCONFIRMED_WRITE" else Outcome.REJECTED)
    listings(bench, [], Network("offline"))
    failure = doubt()
    bench.caller.script(research.IMPORT, failure)
    error = await bench.fails("import_research", research_id=R1)
    assert error.message.endswith("could not be read afterwards.")
    assert len(bench.caller.sent(research.IMPORT)) == 2


async def test_one_look_that_fails_is_not_the_end(bench: Bench) -> None:
    listings(bench, [], Network("offline"), [source(S1, url=A), source(S2, url=B), source(S3, url=C)])
    bench.caller.script(research.IMPORT, lost())
    assert indices((await bench.call("import_research", research_id=R1))["imported"]) == [1, 2, 3]


async def test_a_notebook_of_300_sources(bench: Bench) -> None:
    _, rows = pages(300)
    looks(bench, [task(R1, DONE, *found(A, B, "https://a.test/7"))])
    listings(bench, rows[:299], limit=300)
    bench.caller.script(research.IMPORT, [[source(S1, url=A)]])
    result = await bench.call("import_research", research_id=R1)
    assert (indices(result["imported"]), indices(result["already_present"])) == ([1], [3])
    assert [(each["index"], each["code"], each["outcome"]) for each in result["failed"]] == [(2, "QUOTA", "rejected")]
    assert "300" in result["failed"][0]["message"]

    looks(bench, [task(R1, DONE, *found(A, B))])
    listings(bench, rows, limit=300)
    for answer in (None, refused(3)):
        bench.caller.script(research.IMPORT, answer)
        error = await bench.fails("import_research", research_id=R1)
        assert (error.code, error.outcome) == ("QUOTA", Outcome.REJECTED)
    bench.caller.script(research.IMPORT, lost())
    assert (await bench.fails("import_research", research_id=R1)).code == "UNCONFIRMED_WRITE"


async def test_imports_and_adds_to_one_notebook_happen_one_after_the_other(bench: Bench) -> None:
    there: list[Any] = []
    busy = 0

    async def take(request: Any) -> Any:
        nonlocal busy
        busy += 1
        assert busy == 1
        await trio.sleep(5)
        busy -= 1
        there[:] = [source(S1, url=A), source(S2, url=B), source(S3, url=C)]
        return [there]

    bench.caller.script(research.IMPORT, take)
    bench.caller.script(notebooks.GET, lambda request: [notebook(NB, sources=tuple(there))])
    results = []

    async def run() -> None:
        results.append(await bench.call("import_research", research_id=R1))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        nursery.start_soon(run)
    assert sorted(len(result["imported"]) for result in results) == [0, 3]
    assert len(bench.caller.sent(research.IMPORT)) == 1


async def test_the_deadline_grows_with_what_is_imported(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float | None] = []
    call = type(bench.caller).__call__

    async def noted(self: Any, rpc: Any, request: Any, **options: Any) -> Any:
        if rpc is research.IMPORT:
            given.append(options["timeout"])
        return await call(self, rpc, request, **options)

    monkeypatch.setattr(type(bench.caller), "__call__", noted)
    for count in (1, 3, 100):
        urls, rows = pages(count)
        looks(bench, [task(R1, DONE, *found(*urls))])
        bench.caller.script(research.IMPORT, [rows])
        await bench.call("import_research", research_id=R1)
    assert given == [63, 69, 240]


# Only what the report links to


def reported(text: str, *urls: str) -> list[Any]:
    return task(R1, DONE, [None, "The report", None, 5, None, None, [text, 3]], *found(*urls))


async def test_only_what_the_report_links_to(bench: Bench) -> None:
    text = f"# Fog\n[B]({B}/?#part), not {C}zz and {A}/more but [v]({SHORT}) and [doc]({DOC})."
    looks(bench, [reported(text, A, B, C, VIDEO, DOC)])
    bench.caller.script(research.IMPORT, [[source(S1, "The report", kind=8), source(S2, url=B)]])
    result = await bench.call("import_research", research_id=R1, cited_only=True)
    assert [entry[2] for entry in entries(bench)[0]] == [None, [B, "Page 2"], [VIDEO, "Page 4"], [DOC, "Page 5"]]
    assert indices(result["imported"]) == [None, 2]
    await bench.call("import_research", research_id=R1, cited_only=True, max_sources=1, sources=[5, 3, 2, 1])
    assert [entry[2] for entry in entries(bench)[1]] == [None, [DOC, "Page 5"]]


async def test_a_report_that_links_to_nothing(bench: Bench) -> None:
    looks(bench, [reported("# Fog", A)])
    error = await bench.fails("import_research", research_id=R1, cited_only=True, include_report=False)
    assert error.code == "INVALID_ARGUMENT"
    bench.caller.script(research.IMPORT, [[source(S1, "The report", kind=8)]])
    result = await bench.call("import_research", research_id=R1, cited_only=True)
    assert (indices(result["imported"]), result["failed"]) == ([None], [])


HOSTILE = [
    "[x](" + "a" * 100_000,
    "![" * 50_000,
    "[x](" * 50_000,
    "https://" * 50_000,
    "https://a(" * 50_000,
    "https://a.test/x)" * 50_000,
    "https://a.test/" + "(" * 100_000 + ")" * 100_000,
    "https://a.test/" + "." * 200_000,
    "http" * 100_000,
    "\\" * 200_000,
]


@pytest.mark.realtime
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
async def test_no_report_holds_up_anything(text: str) -> None:
    """The links are read in a thread, in time linear in the text, while other calls are answered."""
    bench = Bench()
    bench.store.active = NB
    looks(bench, [reported(f"{text} [B]({B})", A, B)])
    listings(bench, [])
    bench.caller.script(research.IMPORT, [[source(S1, "The report", kind=8), source(S2, url=B)]])
    make_context, answered = bench.app.make_context, trio.Event()

    async def offload(work: Callable[[], Any]) -> Any:
        found = await trio.to_thread.run_sync(work, abandon_on_cancel=True)
        await answered.wait()
        return found

    async def threaded(progress: Callable[[str], Awaitable[None]]) -> ToolContext:
        return replace(await make_context(progress), offload=offload)

    async def ping() -> None:
        await bench.call("list_sources")
        answered.set()

    bench.app.make_context = threaded
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ping)
            result = await bench.call("import_research", research_id=R1, cited_only=True)
    assert indices(result["imported"]) == [None, 2]
