"""What the registry makes of recorded calls."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.sources import sources
from nlm_cdp.capture.calls import Recorded
from nlm_cdp.capture.reading import declared, nearest, read, read_upload
from nlm_cdp.overrides import Overrides
from tests.capture.scripts import reply

NOTEBOOK = "68a9f400-ac16-41fd-b3dc-d411565a29d9"


def call(rpc: str, params: Any, *frames: list[Any]) -> Recorded:
    return Recorded(rpc, params, "/", "notebook.google.com", "", 200, [list(frames)] if frames else None)


LISTING = call("wXbhsf", [None, 1, None, [2]], reply("wXbhsf", [[["Title", None, NOTEBOOK]]]))


def test_a_request_that_one_variant_claims_is_that_call() -> None:
    assert declared(LISTING) is notebooks.LIST
    assert declared(call("ZZZZZZ", [1])) is None
    assert declared(call("wXbhsf", None)) is None
    assert declared(call("wXbhsf", [1, 2, 3, 4, 5])) is None


def test_an_override_leads_to_the_declared_call() -> None:
    moved = Overrides({"wXbhsf": "Qx91Zz"})
    assert declared(call("Qx91Zz", LISTING.params), moved) is notebooks.LIST
    assert declared(LISTING, moved) is notebooks.LIST


def test_the_nearest_variant_is_told_with_what_stands_in_its_way() -> None:
    found = nearest(call("wXbhsf", [None, 1, None, [2], "novel"]))
    assert found is not None
    assert (found[0], found[1]) == (notebooks.LIST, [".5: string"])
    found = nearest(call("rLM1Ne", [7, None, [2], None, 0]))
    assert found is not None
    assert found[0] is notebooks.GET
    assert found[1][0].startswith(".1: ")
    assert nearest(call("ZZZZZZ", [])) is None


def test_an_answer_is_read_as_its_call_declares_it() -> None:
    found = read(LISTING, notebooks.LIST)
    assert found.failure is None
    assert found.unclaimed == []
    assert found.expect["notebooks"][0]["id"] == NOTEBOOK


def test_cells_that_no_field_claims_are_told_by_path() -> None:
    novel = call("wXbhsf", [], reply("wXbhsf", [[["Title", None, NOTEBOOK, *[None] * 40, "novel"]]]))
    assert read(novel, notebooks.LIST).unclaimed == [".1[0].44: string"]


def test_a_row_of_another_shape_is_a_failure_with_its_path_and_never_its_value() -> None:
    wrong = call("rLM1Ne", [], reply("rLM1Ne", [["Title", None, 7]]))
    found = read(wrong, notebooks.GET)
    assert found.failure is not None
    assert found.failure.startswith(".1.3: ")
    assert "Title" not in found.failure


def test_one_bad_row_of_a_lenient_list_is_a_failure_and_the_good_ones_are_read() -> None:
    mixed = call("wXbhsf", [], reply("wXbhsf", [[["Title", None, NOTEBOOK], ["Bad", None, 7]]]))
    found = read(mixed, notebooks.LIST)
    assert len(found.expect["notebooks"]) == 1
    assert ".1[1].3" in (found.failure or "")


def test_a_refusal_is_the_services_word() -> None:
    found = read(call("rLM1Ne", [], reply("rLM1Ne", None, [5])), notebooks.GET)
    assert (found.expect, found.failure) == ({"refused": 5}, None)
    assert found.refused is not None


def test_nothing_where_data_belongs_is_a_failure_and_elsewhere_is_not() -> None:
    assert read(call("wXbhsf", [], reply("wXbhsf", None)), notebooks.LIST).failure == (
        None if notebooks.LIST.null else ".: nothing came where data belongs"
    )
    assert read(call("rLM1Ne", [], reply("rLM1Ne", None)), notebooks.GET).failure is not None
    assert read(call("tGMBJ", [], reply("tGMBJ", [])), sources.DELETE).failure is None


def test_frames_that_cannot_be_read_are_a_failure() -> None:
    assert read(call("rLM1Ne", [], ["wrb.fr", 7, "[]"]), notebooks.GET).failure is not None
    assert read(call("rLM1Ne", [], ["wrb.fr", "rLM1Ne", "{broken"]), notebooks.GET).failure is not None


def test_of_an_undeclared_call_the_rows_are_kept() -> None:
    assert read(call("ZZZZZZ", [], reply("ZZZZZZ", [1])), None).rows == [[1]]


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"PROJECT_ID": "a", "SOURCE_NAME": "b", "SOURCE_ID": "c"}, []),
        ({"PROJECT_ID": "a", "SOURCE_NAME": "b"}, [".SOURCE_ID: missing"]),
        ({"PROJECT_ID": "a", "SOURCE_NAME": "b", "SOURCE_ID": "c", "MORE": 1}, [".MORE: unknown"]),
        ([1], [".: expected an object"]),
    ],
)
def test_the_start_of_an_upload_is_compared_with_ours(params: Any, said: list[str]) -> None:
    assert read_upload(params) == said
