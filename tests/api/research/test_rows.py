"""Every row that some client sends about research is one declared call; rows of answers read to the last cell."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api import classify
from nlm_cdp.api.research import research
from nlm_cdp.api.research.research import FoundSource, Task, Tasks
from nlm_cdp.errors import DecodeError
from nlm_cdp.rpc import Rpc
from nlm_cdp.wire.pblite import canonical, unclaimed
from tests.api.rows import writes_itself_back

N = None
NB, TASK = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
CTX3C = [2, N, [1], [1, *[N] * 9, [1, 3]]]
WEB = [N, N, ["https://a.test/x", "A page"], *[N] * 7, 2]
REPORT = [N, ["The report", "# Fog"], N, 3, *[N] * 6, 3]
DOCUMENT = "application/vnd.google-apps.document"

REQUESTS: list[tuple[Rpc[Any, Any], list[Any]]] = [
    (research.START_FAST, [["fog horns", 1], N, 1, NB]),
    (research.START_FAST, [["fog horns", 2], N, 1, NB]),
    (research.START_DEEP, [N, [1], ["fog horns", 1], 5, NB]),
    (research.START_DEEP, [CTX3C, [1], ["fog horns", 1], 5, NB]),
    (research.POLL, [N, N, NB]),
    (research.POLL, [CTX3C, N, NB]),
    (research.CANCEL, [N, N, TASK]),
    (research.CANCEL, [CTX3C, N, TASK]),
    *[(research.DISCOVER, [["history of the transistor", 1], N, mode, NB]) for mode in (1, 2, 5, 6)],
    *[(research.DISCOVER, [["", 1], N, mode, NB]) for mode in (3, 4)],
    (research.IMPORT, [N, [1], TASK, NB, []]),
    (research.IMPORT, [N, [1], TASK, NB, [WEB]]),
    (research.IMPORT, [CTX3C, [1], TASK, NB, [WEB]]),
    (research.IMPORT, [N, [1], TASK, NB, [REPORT, WEB, [N, N, ["https://b.test/", "Untitled"], *[N] * 7, 2]]]),
    (research.IMPORT, [N, [1], TASK, NB, [[["doc1", DOCUMENT, 1, "A document"], *[N] * 9, 2]]]),
    (research.IMPORT, [N, [1], TASK, NB, [[["doc1", DOCUMENT, 1, "A document"], *[N] * 9, 1]]]),
    (research.IMPORT, [N, [1], TASK, NB, [[["doc1", DOCUMENT, N, "A document"], *[N] * 9, 1]]]),
]


@pytest.mark.parametrize(("rpc", "row"), REQUESTS, ids=[f"{rpc.id}-{at}" for at, (rpc, _) in enumerate(REQUESTS)])
def test_a_request_is_one_call_and_writes_itself_back(rpc: Rpc[Any, Any], row: list[Any]) -> None:
    writes_itself_back(rpc.id, row, rpc)


@pytest.mark.parametrize(
    ("rpc", "row"),
    [
        ("Ljjv0c", [["fog", 1], N, 1]),
        ("QA9ei", [N, [1], ["fog", 1], 5]),
        ("LBwxtb", [N, [1], TASK, NB]),
        ("LBwxtb", [N, [1], TASK, NB, [[*WEB[:1], ["a", "b"], *WEB[2:]]]]),
        ("LBwxtb", [N, [1], TASK, NB, [[N] * 11]]),
        ("Zbrupe", [N, N, TASK, NB]),
        ("e3bVqc", []),
    ],
)
def test_other_rows_are_no_call(rpc: str, row: list[Any]) -> None:
    assert classify(rpc, row) is None


# Answers

AT, LATER = [1768963819, 310388000], [1768963825, 1]
BODY = [[[[0, 4, [[[0, 4, ["Fog."]]]]]]], N, N, N, 1]
FAST_ROW = ["https://a.test/x", "A page", "why", 1]
REPORT_ROW = [N, "The report", N, 5, N, N, ["# Fog", 3, N, N, N, BODY]]
SEVEN = ["https://b.test/y", "B", "why", 1, N, "https://t0.gstatic.com/faviconV2", ["text", 2, "snippet"]]
NINE = ["https://c.test/z", "C", "why", 1, N, "https://t1.gstatic.com/faviconV2", [N, 1, "snippet"], N, 1]
EIGHT = ["https://d.test/", "D", "why", 1, N, N, N, True]


def task(job: list[Any], *rest: Any) -> list[Any]:
    return [TASK, job, LATER, AT, *rest]


TASKS = {
    "pending in January": task([NB, ["fog", 1], 1, N, 1]),
    "pending": task([N, ["fog", 1], 1, N, 1], "400237754469"),
    "fast": task([N, ["fog", 1], 1, [[FAST_ROW, EIGHT], "summary"], 2], "400237754469"),
    "deep": task(
        [N, ["fog", 1], 5, [[REPORT_ROW, SEVEN, NINE], "s"], 2, ["ses", "QmFzZTY0", 5, N, "deep_research.flash.prod"]]
    ),
    "deep at first": task([N, ["fog", 1], 5, N, 1, ["ses", N, 1, N, "deep_research.flash.prod"]]),
    "nothing in Drive": task([N, ["fog", 2], 1, [N, N, N, N, 1], 3]),
    "discovered": task([N, ["", 1], 3, [[FAST_ROW], "overview", [TASK]], 2]),
}


@pytest.mark.parametrize("row", TASKS.values(), ids=TASKS)
def test_a_task_is_read_to_the_last_cell(row: list[Any]) -> None:
    for answer in ([[row]], [[row, row]]):
        message = Tasks.decode(answer)
        assert message.undecoded == ()
        assert list(unclaimed(Tasks, answer)) == []
        assert canonical(message.encode()) == canonical(answer)
    assert Tasks.decode([row]).encode() == Tasks.decode([[row]]).encode()
    assert len(Tasks.decode([row, row]).tasks or []) == 2


@pytest.mark.parametrize("row", [[], [N], [[]]])
def test_no_task_is_no_fault(row: list[Any]) -> None:
    assert Tasks.decode(row).tasks in (None, [])


def test_the_report_is_told_from_what_else_has_no_address() -> None:
    rows = Task.decode(TASKS["deep"])
    assert rows.report_text == "# Fog"
    assert {index: row.url for index, row in rows.sources.items()} == {1: "https://b.test/y", 2: "https://c.test/z"}
    for row, expected in (
        (REPORT_ROW, True),
        ([N, "The report", N, 5], True),
        ([N, "The report", N, N, N, N, ["# Fog", 3]], True),
        ([N, "A letter", N, 4, N, N, ["text", 1]], False),
        (NINE, False),
        (["https://a.test/report", "A page", N, 5], False),
    ):
        assert FoundSource.decode(row).is_report is expected


def test_one_bad_row_hides_no_good_one() -> None:
    answer = Tasks.decode([[TASKS["fast"], ["no job"], TASKS["deep"]]])
    assert [item.id for item in answer.tasks or []] == [TASK, TASK]
    assert [why.partition(":")[0] for why in answer.undecoded] == [".1[1].2"]
    inside = task([N, ["fog", 1], 1, [[FAST_ROW, "no row", NINE], "s"], 2])
    answer = Tasks.decode([[inside]])
    assert [row.url for row in (answer.tasks or [])[0].found] == ["https://a.test/x", "https://c.test/z"]
    assert [why.partition(":")[0] for why in answer.undecoded] == [".1[0].2.4.1[1]"]


@pytest.mark.parametrize("row", ["x", ["x"], [{"a": 1}], [3]])
def test_what_is_no_listing_is_a_fault(row: Any) -> None:
    with pytest.raises(DecodeError):
        Tasks.decode(row)


@pytest.mark.parametrize(
    ("code", "found", "status"),
    [
        (1, [], "running"),
        (2, [FAST_ROW], "done"),
        (3, [], "no_results"),
        (3, [FAST_ROW], "unknown(3)"),
        (4, [], "cancelled"),
        (6, [FAST_ROW], "done"),
        (0, [], "unknown(0)"),
        (7, [FAST_ROW], "unknown(7)"),
    ],
)
def test_a_status_that_nobody_knows_stays_visible(code: int, found: list[Any], status: str) -> None:
    assert Task.decode(task([N, ["fog", 1], 1, [found, "s"], code])).status == status
