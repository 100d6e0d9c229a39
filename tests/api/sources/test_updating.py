"""Searching sources, refreshing and appending to them, Drive files, and what is wrong with a source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio

from nlm_cdp.api.labels import labels
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.sources import additions, freshness, searching, sources, updating
from nlm_cdp.api.sources.rows import WEB_PAGE
from nlm_cdp.errors import Network, NlmError, Outcome
from tests.fakes import (
    NB,
    S1,
    S2,
    S3,
    S4,
    Bench,
    FakeFiles,
    every_refusal,
    lost,
    notebook,
    refused,
    source,
    text_element,
    with_notebook,
)

URL = "https://a.test/x"


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.store.active = NB
    with_notebook(bench, source(S1, "Page", url=URL), drive(S2, "Doc"), source(S3, "Note", kind=4))
    return bench


def drive(source_id: str, title: str = "Doc", *, kind: int = 1, health: int | None = None) -> list[Any]:
    row = source(source_id, title, kind=kind)
    row[2][0] = [f"file-of-{source_id}", "revision", 3]
    row[3] = [None, 2, None, health]
    return row


# search_sources


def chunk(rank: int, *parts: str, start: int | None = 0, end: int = 10) -> list[Any]:
    return [[[list(parts)]], rank, [[None, start, end]]]


async def test_passages_best_first(bench: Bench) -> None:
    rows = [[S2, [chunk(2, "bell"), chunk(4, "hand")]], [S1, [chunk(1, "The horn ", "sounds.", start=40, end=56)]]]
    bench.caller.script(searching.SEARCH, [rows])
    result = await bench.call("search_sources", query="fog", limit=2)
    assert result["passages"] == [
        {"source_id": S1, "title": "Page", "text": "The horn sounds.", "rank": 1, "start": 40, "end": 56},
        {"source_id": S2, "title": "Doc", "text": "bell", "rank": 2, "start": 0, "end": 10},
    ]
    assert (result["total"], result["has_more"]) == (3, True)
    assert result["_provenance"]["ai_generated"] is False
    assert bench.caller.sent(searching.SEARCH)[0].encode() == [NB, "fog", None, [1]]


async def test_a_search_in_some_sources(bench: Bench) -> None:
    bench.caller.script(searching.SEARCH, [[[S1, [chunk(1, "x", start=None)]], ["gone", [chunk(2, "y")]]]])
    result = await bench.call("search_sources", query="fog", source_ids=[S1, S3])
    assert bench.caller.sent(searching.SEARCH)[0].encode() == [NB, "fog", None, [1], [[[S1], [S3]]]]
    assert [item["start"] for item in result["passages"]] == [0, 0]
    assert "title" not in result["passages"][1]
    assert (await bench.fails("search_sources", query="fog", source_ids=["x"])).code == "NOT_FOUND"
    for arguments in ({}, {"query": ""}, {"query": "x", "source_ids": []}, {"query": "x", "limit": 0}):
        assert (await bench.fails("search_sources", **arguments)).code == "INVALID_ARGUMENT"
    assert len(bench.caller.sent(searching.SEARCH)) == 1


@pytest.mark.parametrize("row", [None, [], [None], [[]], [[[S1, []]]], [[[S1]]]])
async def test_a_search_that_finds_nothing(bench: Bench, row: Any) -> None:
    bench.caller.script(searching.SEARCH, row)
    assert (await bench.call("search_sources", query="fog"))["passages"] == []


async def test_a_search_that_cannot_be_read(bench: Bench) -> None:
    bench.caller.script(searching.SEARCH, [[[S1, [["x"], chunk(1, "fog")]], [7]]])
    result = await bench.call("search_sources", query="fog")
    assert [item["text"] for item in result["passages"]] == ["fog"]
    assert len(result["undecoded"]) == 2
    for row in ([[["x", "y"]]], ["x"], [[1, 2]]):
        bench.caller.script(searching.SEARCH, row)
        assert (await bench.fails("search_sources", query="fog")).code == "DRIFT"


@every_refusal
async def test_a_refused_search(bench: Bench, status: int, code: str) -> None:
    bench.caller.script(searching.SEARCH, refused(status))
    assert (await bench.fails("search_sources", query="fog")).code == code


# refresh_source


async def test_reading_again_what_a_source_was_made_of(bench: Bench) -> None:
    answer: Any
    for answer in (None, []):
        bench.caller.script(freshness.REFRESH, answer)
        result = await bench.call("refresh_source", source="Page")
        assert (result["refreshed"], result["source"]["id"]) == (True, S1)
        assert "fresh" not in result
    assert bench.caller.sent(freshness.REFRESH)[0].encode() == [None, [S1], [2]]
    assert bench.caller.sent(freshness.CHECK) == []
    assert bench.caller.calls[:3] == ["rLM1Ne", "FLmJqe", "rLM1Ne"]


@pytest.mark.parametrize(
    ("answer", "fresh"), [([], True), ([[None, True, [S2]]], True), ([[None, False, [S2]]], False)]
)
async def test_only_what_is_stale(bench: Bench, answer: Any, fresh: bool) -> None:
    bench.caller.script(freshness.CHECK, answer)
    bench.caller.script(freshness.REFRESH, [])
    result = await bench.call("refresh_source", source="Doc", only_if_stale=True)
    assert (result["fresh"], result["refreshed"]) == (fresh, not fresh)
    assert bench.caller.sent(freshness.CHECK)[0].encode() == [None, [S2], [2]]
    assert len(bench.caller.sent(freshness.REFRESH)) == (not fresh)


async def test_a_pasted_text_cannot_be_read_again(bench: Bench) -> None:
    error = await bench.fails("refresh_source", source="Note")
    assert (error.code, error.outcome, error.details["kind"]) == ("INVALID_ARGUMENT", Outcome.NOT_SENT, "text")
    assert bench.caller.calls == ["rLM1Ne"]


@every_refusal
async def test_a_refused_refresh(bench: Bench, status: int, code: str) -> None:
    bench.caller.script(freshness.REFRESH, refused(status))
    error = await bench.fails("refresh_source", source="Page")
    assert (error.code, error.outcome) == (code, Outcome.REJECTED)
    bench.caller.script(freshness.CHECK, refused(status))
    assert (await bench.fails("refresh_source", source="Doc", only_if_stale=True)).code == code
    assert len(bench.caller.sent(freshness.REFRESH)) == 1


async def test_a_refresh_whose_answer_was_lost(bench: Bench) -> None:
    failure = lost()
    bench.caller.script(freshness.REFRESH, failure)
    assert await bench.fails("refresh_source", source="Page") is failure


# append_to_source


def loaded(*texts: str, words: int = 300) -> list[Any]:
    at, paragraphs = 0, []
    for text in texts:
        paragraphs.append(text_element(text, at))
        at += len(text)
    return [source(S3, "Note", kind=4, words=words), None, None, [[paragraphs]]]


async def test_appending(bench: Bench) -> None:
    bench.caller.script(updating.APPEND, [])
    result = await bench.call("append_to_source", source="Note", text='{"k": 1}')
    assert (result["source"]["id"], result["notebook_id"]) == (S3, NB)
    assert bench.caller.sent(updating.APPEND)[0].encode() == [None, [S3], None, [None, ["", '{"k": 1}']]]
    bench.caller.script(updating.APPEND, None)
    await bench.call("append_to_source", source="Note", text="x", header="May")
    assert bench.caller.sent(updating.APPEND)[1].encode() == [None, [S3], None, [None, ["May", "x"]]]
    assert len(bench.caller.sent(updating.APPEND)) == 2


async def test_only_texts_are_appended_to(bench: Bench) -> None:
    for title in ("Page", "Doc"):
        error = await bench.fails("append_to_source", source=title, text="x")
        assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.NOT_SENT)
    assert (await bench.fails("append_to_source", source="Note", text="")).code == "INVALID_ARGUMENT"
    assert bench.caller.sent(updating.APPEND) == []


async def test_an_append_whose_answer_was_lost_is_looked_for(bench: Bench) -> None:
    bench.caller.script(updating.APPEND, lost())
    bench.caller.script(sources.LOAD, loaded("Old text.", "One  line", "more."))
    assert (await bench.call("append_to_source", source="Note", text="One line\n\nmore."))["source"]["id"] == S3
    for answer in (
        loaded("Old text.", "One line more.", words=229),
        loaded("One line more.", "Old text."),
        [source(S3, kind=4)],
        Network("offline"),
    ):
        bench.caller.script(sources.LOAD, answer)
        error = await bench.fails("append_to_source", source="Note", text="One line more.")
        assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", Outcome.UNKNOWN)
        assert "afterwards" in error.message
    assert len(bench.caller.sent(updating.APPEND)) == 5


@every_refusal
async def test_a_refused_append(bench: Bench, status: int, code: str) -> None:
    bench.caller.script(updating.APPEND, refused(status))
    error = await bench.fails("append_to_source", source="Note", text="x")
    assert (error.code, error.outcome) == (code, Outcome.REJECTED)
    assert bench.caller.calls == ["rLM1Ne", "QsNTEd"]


# list_sources


async def test_freshness_of_many_is_checked_some_at_a_time(bench: Bench) -> None:
    rows = [drive(f"{number:08}-0000-4000-8000-000000000000") for number in range(50)]
    with_notebook(bench, *rows, source(S1, url=URL))
    busy = most = 0

    async def check(request: Any) -> Any:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        await trio.sleep(0.3)
        busy -= 1
        number = int(request.source_id[:8])
        return refused(13) if number == 7 else [[None, number % 2 == 0, [request.source_id]]]

    bench.caller.script(freshness.CHECK, check)
    listed = (await bench.call("list_sources", freshness=True))["sources"]
    assert [row.get("fresh") for row in listed[:8]] == [True, False, True, False, True, False, True, None]
    assert "fresh" not in listed[-1]
    assert most == 8
    assert trio.current_time() < 5
    assert len(bench.caller.sent(freshness.CHECK)) == 50
    await bench.call("list_sources", freshness=True, limit=3)
    assert len(bench.caller.sent(freshness.CHECK)) == 53
    assert "fresh" not in (await bench.call("list_sources"))["sources"][0]


async def test_the_sources_under_a_label(bench: Bench) -> None:
    rows = [["Fog", [[S1], [S3], ["gone"]], "l1", "🌫"], ["Foghorns", None, "l2", ""]]
    bench.caller.script(labels.LIST, [rows])
    result = await bench.call("list_sources", label="fog")
    assert ([row["id"] for row in result["sources"]], result["total"]) == ([S1, S3], 2)
    assert (await bench.call("list_sources", label="l2"))["sources"] == []
    assert (await bench.fails("list_sources", label="mist")).code == "NOT_FOUND"
    bench.caller.script(labels.LIST, [[["Fog", None, "l1", ""], ["Fog", None, "l2", ""]]])
    assert (await bench.fails("list_sources", label="Fog")).code == "AMBIGUOUS"
    bench.caller.script(labels.LIST, [[rows[0], ["x"]]])
    assert (await bench.fails("list_sources", label="Fog")).code == "DRIFT"


@pytest.mark.parametrize(
    ("health", "status", "said"),
    [
        (None, None, None),
        (0, None, None),
        (1, "inaccessible", "cannot open"),
        (2, "syncing", None),
        (3, "active", None),
        (4, "deleted", "deleted"),
        (5, "ai_access_denied", "AI"),
        (99, "unknown(99)", None),
    ],
)
async def test_the_health_of_a_drive_file(bench: Bench, health: int | None, status: str | None, said: str) -> None:
    with_notebook(bench, drive(S2, health=health))
    (row,) = (await bench.call("list_sources"))["sources"]
    assert row.get("drive_status") == status
    assert (said in row["problem"]) if said else ("problem" not in row)


async def test_a_source_that_failed_says_what_to_do(bench: Bench) -> None:
    """The row is as it was reported: an uploaded file that came to nothing."""
    failed: list[Any] = [
        [S1],
        "file-A.txt",
        [None, None, [1_700_000_000], None, 0],
        [None, 3, [None, None, None, None, []]],
    ]
    fetched = source(S2, "Page", url=URL, status=3)
    fetched[3] = [None, 3, [*[None] * 6, [4]]]
    with_notebook(bench, failed, fetched, source(S3, "Clip", kind=10, status=3), source(S4, "Fine"))
    rows = (await bench.call("list_sources"))["sources"]
    assert [row["status"] for row in rows] == ["error", "error", "error", "ready"]
    assert "delete it and add it again" in rows[0]["problem"]
    assert "fetch error 4" in rows[1]["problem"]
    assert "look again" in rows[2]["problem"]
    assert "problem" not in rows[3]
    assert [row["id"] for row in (await bench.call("list_sources", status="error"))["sources"]] == [S1, S2, S3]


PDF_URL = "https://h.test/p/Some%20Paper.pdf?x=1"


@pytest.mark.parametrize(
    ("title", "url", "kind", "shown"),
    [
        (PDF_URL, PDF_URL, 3, "Some Paper"),
        ("https://h.test/a.PDF", "https://h.test/a.PDF", 3, "a"),
        ("https://mine.test/x.pdf", PDF_URL, 3, "https://mine.test/x.pdf"),
        ("https://h.test/download?file=x.pdf", "https://h.test/download?file=x.pdf", 3, None),
        ("https://h.test/.pdf", "https://h.test/.pdf", 3, None),
        ("https://[h/x.pdf", "https://[h/x.pdf", 3, None),
        (PDF_URL, PDF_URL, 5, None),
        ("Paper", PDF_URL, 3, None),
    ],
)
async def test_a_pdf_goes_by_its_files_name(bench: Bench, title: str, url: str, kind: int, shown: str | None) -> None:
    with_notebook(bench, source(S1, title, url=url, kind=kind))
    (row,) = (await bench.call("list_sources"))["sources"]
    assert row["title"] == (shown or title)
    bench.caller.script(sources.GUIDE, [[[None, ["About it"], [["fog"]]]]])
    for reference in {title, row["title"]}:
        assert (await bench.call("get_source_guide", source=reference))["source_id"] == S1


# get_source_content


@pytest.mark.parametrize(
    ("text", "kind", "suspicious"),
    [
        ("Checking your browser before accessing the site.", WEB_PAGE, True),
        ("Just a moment... Verify you are human", WEB_PAGE, True),
        ("Please enable JavaScript and cookies to continue", WEB_PAGE, True),
        ("Checking your browser is what walls do. " + "A long article. " * 200, WEB_PAGE, False),
        ("The fog horn sounds.", WEB_PAGE, False),
        ("Checking your browser", 4, False),
    ],
)
async def test_a_page_that_keeps_robots_out_is_flagged(bench: Bench, text: str, kind: int, suspicious: bool) -> None:
    row = [source(S1, "Page", url=URL, kind=kind), None, None, [[[text_element(text)]]]]
    bench.caller.script(sources.LOAD, row)
    result = await bench.call("get_source_content", source=S1)
    assert ("suspicious" in result) is suspicious
    assert result["content"] == text


async def test_the_whole_text_into_a_file(bench: Bench, tmp_path: Path) -> None:
    bench.files = FakeFiles(tmp_path)
    text = "fog 🧪 " * 10_000
    bench.caller.script(sources.LOAD, [source(S1, "Page", url=URL), None, None, [[[text_element(text)]]]])
    result = await bench.call("get_source_content", source=S1, to_file="notes/fog.txt")
    assert (tmp_path / "notes/fog.txt").read_text(encoding="utf-8") == text
    assert result["file_path"] == str(tmp_path / "notes/fog.txt")
    assert (result["total_chars"], result["has_more"], "content" in result) == (len(text), False, False)
    error = await bench.fails("get_source_content", source=S1, to_file="notes/fog.txt")
    assert error.code == "FILE_REFUSED"
    assert (tmp_path / "notes/fog.txt").read_text(encoding="utf-8") == text
    sent = len(bench.caller.requests)
    for name in ("../fog.txt", "/etc/fog.txt", ".ssh/fog.txt", "a\0b", "CON"):
        assert (await bench.fails("get_source_content", source=S1, to_file=name)).code == "FILE_REFUSED"
    for more in ({"offset": 0}, {"max_chars": 10}):
        error = await bench.fails("get_source_content", source=S1, to_file="x.txt", **more)
        assert error.code == "INVALID_ARGUMENT"
    assert len(bench.caller.requests) == sent
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["fog.txt"]


# add_source, Drive

FILE = "1nUn_EBWNlEKhJa47ywGnp3HRZGHZTntwOT0j36Noip5"
DOC = f"https://docs.google.com/document/d/{FILE}/edit"
MIME = "application/vnd.google-apps.document"
OLD = [[2], [1, *[None] * 9, [1]]]


def of_file(source_id: str, title: str = "Their title") -> list[Any]:
    row = drive(source_id, title)
    row[2][0] = [FILE, "revision", 1]
    return row


@pytest.mark.parametrize(
    ("arguments", "title"),
    [
        ({"content": DOC}, FILE),
        ({"content": DOC, "type": "drive"}, FILE),
        ({"content": f" {FILE} ", "type": "drive", "mime_type": MIME}, FILE),
        ({"content": DOC, "title": "Mine"}, "Mine"),
    ],
)
async def test_a_drive_file(bench: Bench, arguments: dict[str, Any], title: str) -> None:
    bench.caller.script(additions.ADD, [[of_file(S4)]])
    bench.caller.script(sources.RENAME, [of_file(S4, "Mine")])
    result = await bench.call("add_source", **arguments)
    (request,) = bench.caller.sent(additions.ADD)
    assert request.encode() == [[[[FILE, MIME, 1, title], *[None] * 9, 1]], NB, *OLD]
    assert result["sources"][0]["title"] == ("Mine" if title == "Mine" else "Their title")
    assert result.get("title_override_applied") == (True if title == "Mine" else None)


async def test_drive_files_and_pages_in_one_call(bench: Bench) -> None:
    bench.caller.script(additions.ADD, [[of_file(S4)]])
    result = await bench.call("add_source", content=[URL + "y", DOC])
    (request,) = bench.caller.sent(additions.ADD)
    assert request.encode()[1:] == [NB, *OLD]
    assert [row["id"] for row in result["sources"]] == [S4]
    assert [item["input"] for item in result["failed"]] == [URL + "y"]


async def test_a_drive_file_that_was_added_although_the_answer_was_lost(bench: Bench) -> None:
    bench.caller.script(additions.ADD, lost())
    with_notebook(bench)
    bench.caller.script(sources.RENAME, lost())
    looks = [[notebook(NB)], [notebook(NB, sources=(source(S1, url=URL), of_file(S4)))]]
    bench.caller.script(notebooks.GET, *looks)
    result = await bench.call("add_source", content=DOC)
    assert [row["id"] for row in result["sources"]] == [S4]
    assert len(bench.caller.sent(additions.ADD)) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"content": FILE, "type": "drive"},
        {"content": FILE, "type": "drive", "mime_type": "video/mp4"},
        {"content": DOC, "mime_type": "application/pdf"},
        {"content": URL, "type": "drive"},
        {"content": URL, "mime_type": MIME},
        {"content": "some text", "mime_type": MIME},
        {"content": [DOC, DOC], "title": "both"},
        {"content": f"https://drive.google.com/file/d/{FILE}/view"},
    ],
)
async def test_a_drive_file_that_cannot_be_added(bench: Bench, arguments: dict[str, Any]) -> None:
    error = await bench.fails("add_source", **arguments)
    assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.NOT_SENT)
    assert bench.caller.requests == []


async def test_a_published_document_is_a_page(bench: Bench) -> None:
    published = "https://docs.google.com/document/d/e/2PACX-1vQabcdefgh/pub"
    bench.caller.script(additions.ADD, [[source(S4, url=published)]])
    await bench.call("add_source", content=published)
    assert bench.caller.sent(additions.ADD)[0].contents[0].web == published


async def test_an_add_of_a_drive_file_that_is_answered_with_nothing(bench: Bench) -> None:
    failure: NlmError = refused(9)
    bench.caller.script(additions.ADD, failure)
    error = await bench.fails("add_source", content=DOC)
    assert error is failure
    assert "read afterwards" in error.message
