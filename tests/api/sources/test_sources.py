"""Source tools over scripted rows, adding with all its doubts among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio

from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.sources import additions, sources
from nlm_cdp.errors import Drift, Network, NlmError, Outcome
from tests.fakes import NB, S1, S2, S3, S4, Bench, lost, notebook, refused, source, text_element, with_notebook

A, B, C = "https://a.test/x", "https://b.test/y", "https://c.test/z"
VIDEO, SHORT = "https://www.youtube.com/watch?v=abc123", "https://m.youtube.com/shorts/abc123"


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.store.active = NB
    return bench


def listings(bench: Bench, *looks: Any) -> None:
    """What each look at the notebook shows; the last one repeats. Exceptions are raised."""
    rows = [look if isinstance(look, Exception) else [notebook(NB, sources=tuple(look))] for look in looks]
    bench.caller.script(notebooks.GET, *rows)


# list_sources


async def test_sources_once_each_with_kind_and_status(bench: Bench) -> None:
    drive = source(S4, "Sheet", kind=7)
    drive[2] = [*drive[2], ["file", None, "application/vnd.google-apps.spreadsheet"]]
    drive[3] = [None, 2, None, 3]
    wrapped = source(S3, "Doc", kind=1, status=5)
    wrapped[0] = [None, True, [S3]]
    rows = (source(S1, url=A), source(S2, "Clip", kind=9, status=1, video=VIDEO), wrapped, drive, source(S1, url=A))
    listings(bench, rows)
    result = await bench.call("list_sources")
    assert (result["total"], result["has_more"], result["notebook_id"]) == (4, False, NB)
    shown = [(row["id"], row["kind"], row["status"], row.get("url")) for row in result["sources"]]
    assert shown == [
        (S1, "web_page", "ready", A),
        (S2, "youtube", "processing", VIDEO),
        (S3, "google_doc", "preparing", None),
        (S4, "google_sheet", "ready", None),
    ]
    assert result["sources"][3]["mime"] == "application/vnd.google-apps.spreadsheet"
    assert result["sources"][3]["drive_status"] == "active"


async def test_a_window_and_a_status(bench: Bench) -> None:
    rows = [source(f"{number:08}-0000-4000-8000-000000000000", status=1 + number % 3) for number in range(300)]
    listings(bench, rows)
    result = await bench.call("list_sources", limit=10, offset=295)
    assert (len(result["sources"]), result["total"], result["has_more"]) == (5, 300, False)
    result = await bench.call("list_sources", status="error", limit=30)
    assert (len(result["sources"]), result["total"], result["has_more"]) == (30, 100, True)
    assert {row["status"] for row in result["sources"]} == {"error"}
    result = await bench.call("list_sources")
    assert (len(result["sources"]), result["has_more"]) == (100, True)


async def test_an_empty_notebook_is_empty_and_a_strange_one_is_drift(bench: Bench) -> None:
    listings(bench, ())
    assert (await bench.call("list_sources")) == {"total": 0, "has_more": False, "notebook_id": NB, "sources": []}
    for row in ([], ["x"], [["t", {"bad": 1}, NB]], [["t", "str", NB]], [["t", [["no id"]], NB]]):
        bench.caller.script(notebooks.GET, row)
        assert (await bench.fails("list_sources")).code == "DRIFT"


async def test_a_source_that_cannot_be_read_is_told(bench: Bench) -> None:
    bad = source(S2)
    bad[0] = [None]
    listings(bench, [source(S1), bad])
    result = await bench.call("list_sources")
    assert [row["id"] for row in result["sources"]] == [S1]
    assert (result["total"], len(result["undecoded"])) == (1, 1)
    assert result["undecoded"][0].startswith(".1.2[1]")


# References


async def test_references_to_sources(bench: Bench) -> None:
    bench.caller.script(sources.GUIDE, [[[None, ["About it"], [["fog"]]]]])
    listings(bench, [source(S1, "Fog"), source(S2, "Fog horns"), source(S3, "Horns"), source(S4, None)])
    for reference, found in ((S2, S2), ("Fog", S1), ("fog", S1), ("fog h", S2), ("cccc", S3), (S4, S4)):
        assert (await bench.call("get_source_guide", source=reference))["source_id"] == found
    listings(bench, [source(S1, "Fog"), source(S2, "Fog"), source(S3, "Fog horns")])
    error = await bench.fails("get_source_guide", source="Fog")
    assert error.code == "AMBIGUOUS"
    assert error.details["candidates"] == [{"id": S1, "title": "Fog"}, {"id": S2, "title": "Fog"}]
    error = await bench.fails("get_source_guide", source="mist")
    assert (error.code, error.hint) == ("NOT_FOUND", "List the sources to see what is there.")


async def test_a_notebook_that_was_not_read_whole_proves_no_title(bench: Bench) -> None:
    bad = source(S2, "Fog")
    bad[0] = None
    listings(bench, [source(S1, "Fog"), bad])
    bench.caller.script(sources.DELETE, [])
    for name, arguments in (
        ("rename_source", {"source": "Fog", "title": "New"}),
        ("delete_source", {"sources": [S1, "Fog"], "confirm": True}),
        ("delete_source", {"sources": ["nothing"], "confirm": True}),
    ):
        error = await bench.fails(name, **arguments)
        assert (error.code, error.hint) == ("DRIFT", "Use the source's id.")
    assert bench.caller.sent(sources.DELETE) == []
    assert (await bench.call("delete_source", sources=[S1], confirm=True))["deleted"] == [S1]


# add_source


async def test_one_page(bench: Bench) -> None:
    listings(bench, [source(S1)], [source(S1), source(S2, "B", url=B)])
    added = source(S2, "B", url=B)
    added[3] = [None, 1]
    bench.caller.script(additions.ADD, [[added]])
    result = await bench.call("add_source", content=f" {B} ")
    assert result == {
        "notebook_id": NB,
        "sources": [
            {
                "id": S2,
                "title": "B",
                "kind": "web_page",
                "type_code": 5,
                "status": "processing",
                "url": B,
                "words": 229,
                "added": "2023-11-14T22:13:20Z",
            }
        ],
        "failed": [],
        "source_count_before": 1,
        "source_count_after": 2,
        "added": True,
    }
    (request,) = bench.caller.sent(additions.ADD)
    row = [None, None, [B], *[None] * 7, 1]
    assert request.encode() == [[row], NB, [2, None, None, [1, *[None] * 9, [1]]]]


@pytest.mark.parametrize(
    ("arguments", "row"),
    [
        ({"content": VIDEO}, [*[None] * 7, [VIDEO], None, None, 1]),
        ({"content": "https://youtu.be/abc"}, [*[None] * 7, ["https://youtu.be/abc"], None, None, 1]),
        ({"content": SHORT}, [*[None] * 7, [SHORT], None, None, 1]),
        ({"content": VIDEO, "type": "url"}, [None, None, [VIDEO], *[None] * 7, 1]),
        ({"content": "# Fog\n\nhorns"}, [None, ["Fog", "# Fog\n\nhorns"], None, 2, *[None] * 6, 1]),
        ({"content": "fog", "title": "Mist"}, [None, ["Mist", "fog"], None, 2, *[None] * 6, 1]),
        ({"content": A, "type": "text", "title": "T"}, [None, ["T", A], None, 2, *[None] * 6, 1]),
        ({"content": '["a"]', "type": "text", "title": "T"}, [None, ["T", '["a"]'], None, 2, *[None] * 6, 1]),
    ],
)
async def test_what_is_sent_for_each_kind(bench: Bench, arguments: dict[str, Any], row: list[Any]) -> None:
    listings(bench, [])
    bench.caller.script(additions.ADD, [[source(S1)]])
    await bench.call("add_source", **arguments)
    (request,) = bench.caller.sent(additions.ADD)
    assert request.encode()[0] == [row]


@pytest.mark.parametrize(
    "arguments",
    [
        {"content": ""},
        {"content": "  \n "},
        {"content": []},
        {"content": [A, ""]},
        {"content": [A, "some text"]},
        {"content": [A, B], "type": "text"},
        {"content": [A, B], "title": "both"},
        {"content": A, "title": ""},
        {"content": "ftp://a.test/x"},
        {"content": "https://[broken/x"},
        {"content": "https://[broken/x", "type": "youtube"},
        {"content": "https://a.test/x https://b.test/y", "type": "url"},
        {"content": "file:///etc/passwd"},
        {"content": "no url", "type": "url"},
        {"content": "https://vimeo.com/1", "type": "youtube"},
        {"content": "https://www.youtube.com/@channel", "type": "youtube"},
        {"content": "http://localhost:8080/"},
        {"content": "http://127.0.0.1/"},
        {"content": "http://192.168.1.1/"},
        {"content": "http://[::1]/"},
        {"content": "https://printer.local/"},
        {"content": 5},
    ],
)
async def test_what_cannot_be_added_is_refused_before_anything_is_sent(bench: Bench, arguments: dict[str, Any]) -> None:
    error = await bench.fails("add_source", **arguments)
    assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.NOT_SENT)
    assert bench.caller.requests == []


async def test_a_single_address_is_one_request(bench: Bench) -> None:
    listings(bench, [])
    bench.caller.script(additions.ADD, [[source(S1, url=A)]])
    await bench.call("add_source", content=A)
    (request,) = bench.caller.sent(additions.ADD)
    assert [item.web for item in request.contents] == [A]


async def test_a_batch_of_which_the_service_leaves_out_some(bench: Bench) -> None:
    listings(bench, [source(S4)])
    bench.caller.script(additions.ADD, [[source(S1, url=A + "/"), source(S3, "Clip", kind=9, video=VIDEO)]])
    result = await bench.call("add_source", content=[A, B, VIDEO])
    assert [row["id"] for row in result["sources"]] == [S1, S3]
    assert result["added"] is True
    (failed,) = result["failed"]
    assert failed["input"] == B
    assert (failed["code"], failed["outcome"]) == ("SERVICE", "rejected")
    assert trio.current_time() == 0
    assert len(bench.caller.sent(additions.ADD)) == 1


async def test_rows_of_a_full_answer_are_taken_in_their_order(bench: Bench) -> None:
    listings(bench, [])
    moved = source(S1, url="https://elsewhere.test/after-a-redirect")
    bench.caller.script(additions.ADD, [[moved, source(S2, url=B)]])
    result = await bench.call("add_source", content=[A, B])
    assert [row["id"] for row in result["sources"]] == [S1, S2]
    assert result["failed"] == []


@pytest.mark.parametrize("answer", [[], [None], [[]], [[source(S4, url=A)]]])
async def test_an_answer_without_a_new_row_is_no_success(bench: Bench, answer: list[Any]) -> None:
    listings(bench, [source(S4, url=A)])
    bench.caller.script(additions.ADD, answer)
    error = await bench.fails("add_source", content=A)
    assert (error.code, error.outcome) == ("SERVICE", Outcome.REJECTED)
    assert "none of it" in error.message
    assert len(bench.caller.sent(additions.ADD)) == 1


DOUBTS: list[Callable[[], NlmError]] = [lambda: refused(3), lambda: refused(9), lost]
doubtful = pytest.mark.parametrize("doubt", DOUBTS, ids=["status 3", "status 9", "lost"])


@doubtful
@pytest.mark.parametrize("look", [1, 2, 3])
async def test_refused_and_yet_it_happened(bench: Bench, doubt: Callable[[], NlmError], look: int) -> None:
    old = source(S4, url=B)
    listings(bench, *[[old]] * look, [old, source(S1, url=A)])
    bench.caller.script(additions.ADD, doubt())
    result = await bench.call("add_source", content=A)
    assert [row["id"] for row in result["sources"]] == [S1]
    assert (result["added"], result["failed"]) == (True, [])
    assert (result["source_count_before"], result["source_count_after"]) == (1, 2)
    assert len(bench.caller.sent(additions.ADD)) == 1
    assert len(bench.caller.sent(notebooks.GET)) == 1 + look + 1
    assert trio.current_time() == sum((1, 2, 4)[:look])


@doubtful
@pytest.mark.parametrize("content", [A, "fog"])
async def test_refused_and_never_seen(bench: Bench, doubt: Callable[[], NlmError], content: str) -> None:
    """What was there before is no proof, and neither is something else that is new."""
    old = [source(S1, "fog", kind=4), source(S2, url=A), source(S4, "http://[broken")]
    listings(bench, old, [*old, source(S3, url=B), source(NB, "https://[broken as well")])
    failure = doubt()
    bench.caller.script(additions.ADD, failure)
    error = await bench.fails("add_source", content=content, title="fog" if content == "fog" else None)
    assert error is failure
    assert error.outcome is (Outcome.UNKNOWN if error.code == "UNCONFIRMED_WRITE" else Outcome.REJECTED)
    assert error.message.endswith("The notebook was read afterwards: no new source is there.")
    assert trio.current_time() == 7
    assert len(bench.caller.sent(additions.ADD)) == 1


@doubtful
async def test_a_doubtful_batch_is_sorted_out(bench: Bench, doubt: Callable[[], NlmError]) -> None:
    listings(bench, [], [source(S2, url=B)])
    failure = doubt()
    bench.caller.script(additions.ADD, failure)
    result = await bench.call("add_source", content=[A, B, C])
    assert [row["id"] for row in result["sources"]] == [S2]
    assert [(each["input"], each["code"], each["outcome"]) for each in result["failed"]] == [
        (A, failure.code, failure.outcome),
        (C, failure.code, failure.outcome),
    ]


@doubtful
async def test_two_equal_items_need_two_new_rows(bench: Bench, doubt: Callable[[], NlmError]) -> None:
    listings(bench, [], [source(S1, url=A)])
    bench.caller.script(additions.ADD, doubt())
    result = await bench.call("add_source", content=[A, A])
    assert [row["id"] for row in result["sources"]] == [S1]
    assert len(result["failed"]) == 1


@doubtful
async def test_doubt_that_cannot_be_settled_stays(bench: Bench, doubt: Callable[[], NlmError]) -> None:
    failure = doubt()
    listings(bench, [], Network("offline"))
    bench.caller.script(additions.ADD, failure)
    error = await bench.fails("add_source", content=A)
    assert error is failure
    assert error.message.endswith("The notebook could not be read afterwards.")


async def test_one_look_that_fails_is_not_the_end(bench: Bench) -> None:
    listings(bench, [], Network("offline"), [source(S1, url=A)])
    bench.caller.script(additions.ADD, lost())
    assert (await bench.call("add_source", content=A))["added"] is True


@pytest.mark.parametrize(
    ("status", "code"), [(5, "NOT_FOUND"), (7, "PERMISSION"), (8, "RATE_LIMITED"), (16, "SIGNED_OUT")]
)
async def test_a_plain_refusal_is_believed(bench: Bench, status: int, code: str) -> None:
    listings(bench, [])
    bench.caller.script(additions.ADD, refused(status))
    error = await bench.fails("add_source", content=[A, B])
    assert (error.code, error.outcome) == (code, Outcome.REJECTED)
    assert bench.caller.calls == ["rLM1Ne", "izAoDd"]


async def test_an_added_row_that_cannot_be_read_is_looked_for(bench: Bench) -> None:
    bad = source(S2, url=B)
    bad[0] = None
    bench.caller.script(additions.ADD, [[source(S1, url=A), bad]])
    listings(bench, [], [source(S1, url=A), source(S2, url=B)])
    result = await bench.call("add_source", content=[A, B])
    assert ([row["id"] for row in result["sources"]], result["failed"]) == ([S1, S2], [])

    listings(bench, [], Network("offline"))
    result = await bench.call("add_source", content=[A, B])
    assert [(each["input"], each["outcome"]) for each in result["failed"]] == [(B, "unknown")]
    bench.caller.script(additions.ADD, [[bad]])
    listings(bench, [], Network("offline"))
    error = await bench.fails("add_source", content=B)
    assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", Outcome.UNKNOWN)


async def test_added_although_the_notebook_cannot_be_read_afterwards(bench: Bench) -> None:
    listings(bench, [source(S4)], Network("offline"))
    bench.caller.script(additions.ADD, [[source(S1, url=A, status=1)]])
    result = await bench.call("add_source", content=A)
    assert (result["added"], [row["id"] for row in result["sources"]]) == (True, [S1])
    assert "source_count_after" not in result
    assert "NETWORK" in result["note"]
    listings(bench, [source(S4)], Network("offline"))
    result = await bench.call("add_source", content=A, wait=True)
    assert [(row["id"], row["status"]) for row in result["sources"]] == [(S1, "processing")]
    assert "NETWORK" in result["note"]


async def test_before_anything_is_added_the_notebook_must_be_readable(bench: Bench) -> None:
    listings(bench, Network("offline"))
    error = await bench.fails("add_source", content=A)
    assert (error.code, error.outcome) == ("NETWORK", Outcome.NOT_SENT)
    assert bench.caller.sent(additions.ADD) == []


async def test_counts_agree_although_ids_repeat(bench: Bench) -> None:
    listings(bench, [source(S1), source(S1)], [source(S1), source(S2, url=A), source(S2, url=A), source(S1)])
    bench.caller.script(additions.ADD, [[source(S2, url=A), source(S2, url=A)]])
    result = await bench.call("add_source", content=A)
    assert len(result["sources"]) == 1
    assert (result["source_count_before"], result["source_count_after"]) == (1, 2)


async def test_adding_to_one_notebook_happens_one_after_the_other(bench: Bench) -> None:
    """Each add compares before and after: at once, one would take the other's source for its own."""
    there: list[Any] = []
    busy = 0

    async def add(request: Any) -> Any:
        nonlocal busy
        busy += 1
        assert busy == 1
        await trio.sleep(5)
        busy -= 1
        there.append(source(S1 if not there else S2, url=A))
        return refused(3)

    bench.caller.script(additions.ADD, add)
    bench.caller.script(notebooks.GET, lambda request: [notebook(NB, sources=tuple(there))])
    results = []

    async def run() -> None:
        results.append(await bench.call("add_source", content=A))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        nursery.start_soon(run)
    assert [[row["id"] for row in result["sources"]] for result in results] == [[S1], [S2]]


# Titles


async def test_a_title_of_ones_own(bench: Bench) -> None:
    listings(bench, [], [source(S1, "Mine", url=A)])
    bench.caller.script(additions.ADD, [[source(S1, "Theirs", url=A)]])
    bench.caller.script(sources.RENAME, [source(S1, "Mine", url=A)])
    result = await bench.call("add_source", content=A, title="Mine")
    assert result["title_override_applied"] is True
    assert result["sources"][0]["title"] == "Mine"
    assert bench.caller.sent(sources.RENAME)[0].encode() == [None, [S1], [[["Mine"]]]]


async def test_a_title_the_service_did_not_take_is_no_failure_to_add(bench: Bench) -> None:
    listings(bench, [])
    bench.caller.script(additions.ADD, [[source(S1, "Theirs", url=A)]])
    for failure in (refused(13), lost(), Network("offline")):
        bench.caller.script(sources.RENAME, failure)
        result = await bench.call("add_source", content=A, title="Mine")
        assert (result["added"], result["title_override_applied"]) == (True, False)
        assert result["sources"][0]["title"] == "Theirs"


async def test_a_title_that_is_there_already_and_the_title_of_a_text(bench: Bench) -> None:
    listings(bench, [])
    bench.caller.script(additions.ADD, [[source(S1, "Mine", url=A)]])
    assert (await bench.call("add_source", content=A, title="Mine"))["title_override_applied"] is True
    bench.caller.script(additions.ADD, [[source(S1, "Mine", kind=4)]])
    assert "title_override_applied" not in await bench.call("add_source", content="fog", title="Mine")
    assert bench.caller.sent(sources.RENAME) == []


async def test_a_title_is_set_once_the_source_has_settled(bench: Bench) -> None:
    """While it is processed, the service titles a page itself."""
    processing, ready = source(S1, A, url=A, status=1), source(S1, "Theirs", url=A)
    listings(bench, [], [processing], [processing], [ready])
    bench.caller.script(additions.ADD, [[processing]])
    bench.caller.script(sources.RENAME, None)
    result = await bench.call("add_source", content=A, title="Mine", wait=True)
    assert result["sources"][0]["title"] == "Mine"
    assert result["sources"][0]["status"] == "ready"
    assert bench.caller.calls == ["rLM1Ne", "izAoDd", *["rLM1Ne"] * 3, "b7Wfje", "rLM1Ne"]


# Waiting


async def test_waiting_until_everything_is_ready_or_failed(bench: Bench) -> None:
    one, two = source(S1, url=A, status=1), source(S2, url=B, status=5)
    listings(bench, [], [one, two], [source(S1, url=A), two], [source(S1, url=A), source(S2, url=B, status=3)])
    bench.caller.script(additions.ADD, [[one, two]])
    result = await bench.call("add_source", content=[A, B], wait=True)
    assert [row["status"] for row in result["sources"]] == ["ready", "error"]
    assert "note" not in result
    assert bench.progress == [f"{done} of 2 sources processed" for done in (0, 0, 1)]


async def test_media_pass_through_the_error_state(bench: Bench) -> None:
    def media(status: int) -> list[Any]:
        return source(S1, "Clip", kind=10, status=status, url=A)

    bench.caller.script(additions.ADD, [[media(1)]])
    listings(bench, [], [media(3)], [media(1)], [media(3)], [media(2)])
    assert (await bench.call("add_source", content=A, wait=True))["sources"][0]["status"] == "ready"
    listings(bench, [], [media(1)], [media(3)], [media(3)], [media(2)])
    assert (await bench.call("add_source", content=A, wait=True))["sources"][0]["status"] == "error"


async def test_a_wait_that_runs_out_is_no_error(bench: Bench) -> None:
    row = source(S1, url=A, status=1)
    bench.caller.script(additions.ADD, [[row]])
    listings(bench, [], [row])
    result = await bench.call("add_source", content=A, wait=True, timeout_s=30)
    assert (result["added"], result["sources"][0]["status"]) == (True, "processing")
    assert "list_sources" in result["note"]
    assert 20 <= trio.current_time() <= 30
    assert len(bench.progress) >= 5


async def test_without_waiting_nothing_is_waited_for(bench: Bench) -> None:
    row = source(S1, url=A, status=1)
    bench.caller.script(additions.ADD, [[row]])
    listings(bench, [], [row])
    assert (await bench.call("add_source", content=A))["sources"][0]["status"] == "processing"
    assert (trio.current_time(), bench.progress) == (0, [])


# get_source_content


def loaded(*texts: str, **options: Any) -> list[Any]:
    paragraphs, at = [], 0
    for text in texts:
        paragraphs.append(text_element(text, at))
        at += len(text)
    return [source(S1, **options), None, None, [[paragraphs]]]


async def test_the_text_of_a_source_by_windows(bench: Bench) -> None:
    listings(bench, [source(S1)])
    long = "fog 😀 日本\u200b " * 30_000
    bench.caller.script(sources.LOAD, loaded(long, "end"))
    whole, offset = "", 0
    while True:
        result = await bench.call("get_source_content", source=S1, offset=offset, max_chars=70_001)
        whole += result["content"]
        offset = len(whole)
        assert result["total_chars"] == len(long) + 4
        if not result["has_more"]:
            break
    assert whole == f"{long}\nend"
    result = await bench.call("get_source_content", source=S1)
    assert len(result["content"]) == 20_000
    assert result["_provenance"]["ai_generated"] is False
    assert result["_provenance"]["flags"] == {"invisible": result["content"].count("\u200b")}
    result = await bench.call("get_source_content", source=S1, offset=10**9)
    assert (result["content"], result["has_more"]) == ("", False)
    assert bench.caller.sent(sources.LOAD)[0].encode() == [[S1], [2], [2]]


async def test_the_text_as_markdown(bench: Bench) -> None:
    listings(bench, [source(S1)])
    row = loaded("Fog", "horns")
    row[3][0][0][0][2].append([None, 4])
    bench.caller.script(sources.LOAD, row)
    assert (await bench.call("get_source_content", source=S1, format="markdown"))["content"] == "# Fog\n\nhorns"


async def test_a_source_without_text(bench: Bench) -> None:
    for status, state in ((1, "processing"), (3, "error")):
        listings(bench, [source(S1, status=status)])
        bench.caller.script(sources.LOAD, [source(S1, status=status)])
        error = await bench.fails("get_source_content", source=S1)
        assert (error.code, error.state) == ("NOT_READY", state)
    bench.caller.script(sources.LOAD, loaded(""))
    listings(bench, [source(S1)])
    assert (await bench.call("get_source_content", source=S1))["total_chars"] == 0


@pytest.mark.parametrize("form", ["text", "markdown"])
@pytest.mark.parametrize("document", [["x"], [["x"]], [[[["x"]]]], [[[[0, 1, "paragraph"]]]]])
async def test_a_text_of_another_shape_is_no_empty_text(bench: Bench, form: str, document: Any) -> None:
    listings(bench, [source(S1)])
    bench.caller.script(sources.LOAD, [source(S1), None, None, document])
    assert (await bench.fails("get_source_content", source=S1, format=form)).code == "DRIFT"


# get_source_guide, rename_source


async def test_a_guide(bench: Bench) -> None:
    listings(bench, [source(S1)])
    bench.caller.script(sources.GUIDE, [[[None, ["About fog"], [["fog", "horn"]]]]])
    result = await bench.call("get_source_guide", source=S1)
    assert (result["summary"], result["keywords"]) == ("About fog", ["fog", "horn"])
    assert result["_provenance"]["ai_generated"] is True
    assert bench.caller.sent(sources.GUIDE)[0].encode() == [[[[S1]]]]
    row: Any
    for row in (None, [], [[]], [[[None, [""], []]]]):
        bench.caller.script(sources.GUIDE, row)
        assert (await bench.fails("get_source_guide", source=S1)).code == "NOT_READY"


@pytest.mark.parametrize("answer", [[source(S1, "New")], [], None])
async def test_a_new_title(bench: Bench, answer: Any) -> None:
    listings(bench, [source(S1, "Old")])
    bench.caller.script(sources.RENAME, answer)
    result = await bench.call("rename_source", source="Old", title="New")
    assert result["source"]["title"] == "New"
    assert result["source"]["id"] == S1
    assert bench.caller.calls == ["rLM1Ne", "b7Wfje"]


@pytest.mark.parametrize(
    ("status", "code"), [(3, "INVALID_ARGUMENT"), (5, "NOT_FOUND"), (7, "PERMISSION"), (13, "SERVICE")]
)
async def test_a_refused_rename_is_no_success(bench: Bench, status: int, code: str) -> None:
    listings(bench, [source(S1)])
    bench.caller.script(sources.RENAME, refused(status))
    error = await bench.fails("rename_source", source=S1, title="New")
    assert (error.code, error.outcome) == (code, Outcome.REJECTED)


# delete_source


async def test_nothing_is_deleted_without_a_yes(bench: Bench) -> None:
    listings(bench, [source(S1, "Fog"), source(S2)])
    for confirm in ({}, {"confirm": False}, {"confirm": "false"}):
        assert await bench.call("delete_source", sources=["Fog", "nothing"], **confirm) == {
            "status": "needs_confirmation",
            "notebook_id": NB,
            "deleted": [],
            "not_found": ["nothing"],
            "would": [f"delete 'Fog' ({S1})"],
        }
    assert bench.caller.sent(sources.DELETE) == []


async def test_deleting_several_at_once(bench: Bench) -> None:
    listings(bench, [source(S1, "Fog"), source(S2, "Horn"), source(S3, "Log")])
    bench.caller.script(sources.DELETE, [])
    result = await bench.call("delete_source", sources=["Fog", S2, S1, "nothing"], confirm=True)
    assert result == {"status": "deleted", "notebook_id": NB, "deleted": [S1, S2], "not_found": ["nothing"]}
    assert bench.caller.sent(sources.DELETE)[0].encode() == [[[S1], [S2]]]


async def test_what_is_not_there_is_not_deleted(bench: Bench) -> None:
    listings(bench, [source(S1)])
    for confirm in (True, False):
        result = await bench.call("delete_source", sources=["nothing"], confirm=confirm)
        assert (result["status"], result["deleted"], result["not_found"]) == ("not_found", [], ["nothing"])
    error = await bench.fails("delete_source", sources=[], confirm=True)
    assert error.code == "INVALID_ARGUMENT"
    assert bench.caller.sent(sources.DELETE) == []


async def test_one_ambiguous_reference_stops_the_whole_deletion(bench: Bench) -> None:
    listings(bench, [source(S1, "Fog"), source(S2, "Fog"), source(S3, "Log")])
    assert (await bench.fails("delete_source", sources=["Log", "Fog"], confirm=True)).code == "AMBIGUOUS"
    assert bench.caller.sent(sources.DELETE) == []


@pytest.mark.parametrize("failure", [refused(7), lost(), Drift("x", outcome=Outcome.UNKNOWN)])
async def test_a_deletion_that_failed_is_sent_once(bench: Bench, failure: NlmError) -> None:
    with_notebook(bench, source(S1))
    bench.caller.script(sources.DELETE, failure)
    assert await bench.fails("delete_source", sources=[S1], confirm=True) is failure
    assert len(bench.caller.sent(sources.DELETE)) == 1
