"""What counts as drift, of which class, and where."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.capture.calls import Recorded
from nlm_cdp.capture.drift import Class, compare
from nlm_cdp.overrides import Overrides
from tests.capture.scripts import reply
from tests.capture.test_fixture import LISTING, NOTEBOOK, recorded
from tests.capture.test_reading import call

GET = [NOTEBOOK, None, [2], None, 0]


def changes(*calls: Recorded) -> list[tuple[str, str, str, str]]:
    report = compare(calls)
    return [
        (entry.name, str(change.kind), change.where, change.path)
        for entry in report.changed
        for change in entry.changes.values()
    ]


def project(*more: Any) -> list[Any]:
    return [["Title", None, NOTEBOOK, "🧪", *more]]


def test_what_is_as_declared_is_no_drift() -> None:
    report = compare([recorded(LISTING), recorded(project(), GET, "rLM1Ne")])
    assert (report.kind, report.looked, report.changed) == (Class.OK, 2, [])
    assert "WWINqb-DeleteProjects" in report.unseen
    assert "wXbhsf-ListRecentlyViewedProjects" not in report.unseen


def test_a_cell_that_no_field_claims_is_new_once_however_often_it_comes() -> None:
    row = [["Title", None, NOTEBOOK, *[None] * 60, "novel"]]
    calls = [recorded([row * 3]), recorded([row])]
    assert changes(*calls) == [("wXbhsf-ListRecentlyViewedProjects", "new", "response", ".1[].64")]


def test_a_row_that_does_not_decode_is_breaking_with_the_cells_around_it() -> None:
    report = compare([recorded([["Title", None, 7]], GET, "rLM1Ne")])
    (entry,) = report.changed
    (change,) = entry.changes.values()
    assert (entry.kind, change.where, change.path) == (Class.BREAKING, "response", ".1.3")
    assert [(line.path, line.marked) for line in change.tree if line.marked] == [(".1.3", True)]
    assert ".1.1" in [line.path for line in change.tree]


def test_a_number_without_a_meaning_is_new() -> None:
    sources = [[[["0f4f5a3c-0000-4000-8000-000000000001"], "Source", [None, None, None, None, 999]]]]
    row = [["Title", sources[0], NOTEBOOK]]
    assert changes(recorded(row, GET, "rLM1Ne")) == [("rLM1Ne-GetProject", "new", "response", ".1.2[].3.5=999")]


def test_a_fuller_request_than_any_variant_claims_is_new_and_an_unreadable_one_breaking() -> None:
    fuller = recorded(project(), [*GET, None, "novel"], "rLM1Ne")
    assert changes(fuller) == [("rLM1Ne-GetProject", "new", "request", ".7")]
    other = recorded(project(), [7, *GET[1:]], "rLM1Ne")
    assert [change[:3] for change in changes(other)] == [("rLM1Ne-GetProject", "breaking", "request")]


def test_an_unknown_id_is_new_and_one_that_does_the_work_of_a_declared_one_makes_that_gone() -> None:
    assert changes(recorded([1], [1, 2, 3], "Zz9Yy8")) == [("Zz9Yy8", "new", "id", "")]
    moved = recorded(project(), GET, "Qx91Zz")
    assert changes(moved) == [("rLM1Ne-GetProject", "gone", "id", "Qx91Zz")]
    still_there = recorded(project(), GET, "rLM1Ne")
    assert changes(moved, still_there) == [("Qx91Zz", "new", "id", "")]


def test_an_id_that_the_service_calls_unknown_is_gone() -> None:
    assert changes(call("rLM1Ne", GET, reply("rLM1Ne", None, [12]))) == [("rLM1Ne-GetProject", "gone", "id", "")]


@pytest.mark.parametrize("status", [3, 5, 7, 8, 9, 13])
def test_a_refusal_is_no_drift(status: int) -> None:
    report = compare([call("rLM1Ne", GET, reply("rLM1Ne", None, [status]))])
    assert (report.kind, report.entries[0].refused, report.looked) == (Class.OK, 1, 1)


def test_being_signed_out_is_never_drift() -> None:
    report = compare([call("rLM1Ne", GET, reply("rLM1Ne", None, [16]))])
    assert (report.kind, report.looked, report.signed_out) == (Class.OK, 0, True)
    wall = call("rLM1Ne", GET)
    wall.status = 401
    assert compare([wall]).signed_out
    assert not compare([wall, recorded(LISTING)]).signed_out


def test_a_lost_body_is_counted_and_judged_by_nobody() -> None:
    lost = call("rLM1Ne", GET)
    lost.lost = "the answer: the tab was closed"
    report = compare([lost, call("rLM1Ne", None)])
    assert (report.kind, sum(entry.lost for entry in report.entries)) == (Class.OK, 2)


def test_an_upload_that_is_started_otherwise_is_told() -> None:
    fields = {"PROJECT_ID": "a", "SOURCE_NAME": "b", "SOURCE_ID": "c"}
    assert changes(call("upload", fields)) == []
    assert changes(call("upload", fields | {"MORE": 1})) == [("upload-Start", "new", "request", ".MORE")]
    assert changes(call("upload", {"PROJECT_ID": "a"}))[0][1] == "breaking"


def test_an_override_makes_the_new_id_known() -> None:
    moved = Overrides({"rLM1Ne": "Qx91Zz"})
    report = compare([recorded(project(), GET, "Qx91Zz")], moved)
    assert (report.kind, report.overrides) == (Class.OK, {"rLM1Ne": "Qx91Zz"})


def test_the_worst_comes_to_the_top_and_the_json_says_the_same() -> None:
    report = compare([recorded([["Title", None, 7]], GET, "rLM1Ne"), recorded([1], [1, 2, 3], "Zz9Yy8")])
    assert report.kind is Class.BREAKING
    plain = report.as_json()
    assert plain["drift"] == "breaking"
    assert {item["rpc"]: item["class"] for item in plain["rpcs"]} == {"rLM1Ne": "breaking", "Zz9Yy8": "new"}
    assert plain["rpcs"][0]["changes"][0]["path"] == ".1.3"
