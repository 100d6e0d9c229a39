"""References, windows, times and what a reader cannot see."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlm_cdp.api.common import (
    SHORT,
    RequestContext,
    Timestamp,
    legible,
    refuse,
    text_window,
    window,
)
from nlm_cdp.api.provenance import unseen
from nlm_cdp.api.references import Candidate, resolve
from nlm_cdp.errors import Ambiguous, DecodeError, Drift, InvalidArgument, NotFound, Outcome
from nlm_cdp.wire.pblite import canonical

# Times


@pytest.fixture(params=["America/New_York", "Asia/Kathmandu"])
def elsewhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    if not hasattr(time, "tzset"):
        pytest.skip("this system has no tzset")
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield os.environ["TZ"]
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("row", "iso"),
    [
        ([1767225600, 5], "2026-01-01T00:00:00Z"),
        ([1767225600], "2026-01-01T00:00:00Z"),
        ([0, 0], "1970-01-01T00:00:00Z"),
        ([99999999999999, 0], None),
        ([10**30, 0], None),
        ([-(10**30)], None),
    ],
)
def test_times_are_utc_whatever_the_zone(elsewhere: str, row: list[int], iso: str | None) -> None:
    assert Timestamp.decode(row).iso == iso


def test_a_time_before_the_epoch_is_no_crash() -> None:
    assert Timestamp.decode([-1, 0]).iso in {"1969-12-31T23:59:59Z", None}


@pytest.mark.parametrize("row", [["x"], [], [None, 5], [1.5], [True], [[1767225600]]])
def test_a_time_that_is_none_is_drift(row: list[Any]) -> None:
    with pytest.raises(DecodeError, match=r"^Timestamp\.1: "):
        Timestamp.decode(row)


def test_the_context_has_the_form_of_today_or_the_short_one() -> None:
    assert RequestContext().encode() == [2, None, None, [1, *[None] * 9, [1]]]
    assert canonical(SHORT.encode()) == [2]
    assert RequestContext.decode([2]).provenance is None


# References

NOTEBOOKS = [
    Candidate("aaaa-1", "Harbour"),
    Candidate("aaaa-2", "Harbour logs"),
    Candidate("bbbb-3", "harbour LOGS"),
    Candidate("cccc-4", "Ærø"),
    Candidate("dddd-5", ""),
    Candidate("eeee-6", "aaaa-1"),
]


@pytest.mark.parametrize(
    ("reference", "id"),
    [
        ("aaaa-1", "aaaa-1"),  # an id before a title
        ("Harbour", "aaaa-1"),  # an exact title before a prefix
        ("HARBOUR", "aaaa-1"),
        ("Harbour logs", "aaaa-2"),
        ("harbour LOGS", "bbbb-3"),
        ("bbbb", "bbbb-3"),
        ("ærø", "cccc-4"),
        ("æ", "cccc-4"),
    ],
)
def test_a_reference_is_an_id_a_title_or_a_unique_prefix(reference: str, id: str) -> None:
    assert resolve(reference, NOTEBOOKS, "notebook") == id


@pytest.mark.parametrize(
    ("reference", "ids"), [("HARBOUR LOGS", {"aaaa-2", "bbbb-3"}), ("aaaa-", {"aaaa-1", "aaaa-2", "eeee-6"})]
)
def test_two_that_match_are_ambiguous_and_both_are_named(reference: str, ids: set[str]) -> None:
    with pytest.raises(Ambiguous) as caught:
        resolve(reference, NOTEBOOKS, "notebook")
    assert {item["id"] for item in caught.value.details["candidates"]} == ids
    assert caught.value.outcome is Outcome.NOT_SENT


@pytest.mark.parametrize("reference", ["nothing", "aaaa-11", "arbour", " ", "bbbb-3 "])
def test_nothing_is_found_by_a_guess(reference: str) -> None:
    with pytest.raises(NotFound, match="no notebook has this id"):
        resolve(reference, NOTEBOOKS, "notebook")


def test_an_empty_reference_is_no_prefix_of_everything() -> None:
    with pytest.raises(NotFound):
        resolve("", NOTEBOOKS[:4], "notebook")


@pytest.mark.parametrize("reference", ["aaaa", "paper", "https://x"])
def test_one_that_matches_under_two_titles_is_one(reference: str) -> None:
    titles = ("Paper on fog", "Paper", "https://x.test/Paper.pdf")
    assert resolve(reference, [Candidate("aaaa-1", title) for title in titles], "source") == "aaaa-1"


def test_a_crowd_of_candidates_is_shortened() -> None:
    with pytest.raises(Ambiguous, match=r"^50 notebooks match") as caught:
        resolve("x", [Candidate(f"x{n}", "") for n in range(50)], "notebook")
    assert len(caught.value.details["candidates"]) == 20


# Windows


@settings(deadline=None)
@given(st.lists(st.integers(), max_size=30), st.integers(1, 10), st.integers(0, 40))
def test_windows_tile_a_list(items: list[int], limit: int, offset: int) -> None:
    shown, counts = window(items, limit, offset)
    assert shown == items[offset:][:limit]
    assert counts == {"total": len(items), "has_more": bool(items[offset + limit :])}
    seen, at = [], 0
    while True:
        part, counts = window(items, limit, at)
        seen += part
        at += limit
        if not counts["has_more"]:
            break
    assert seen == items


@settings(deadline=None)
@given(st.text(max_size=40), st.integers(1, 10))
def test_windows_tile_a_text(text: str, size: int) -> None:
    seen, at = "", 0
    while True:
        part, counts = text_window(text, at, size)
        seen, at = seen + part, at + size
        assert counts["total_chars"] == len(text)
        if not counts["has_more"]:
            break
    assert seen == text


def test_a_window_behind_the_end_is_empty_and_the_last() -> None:
    assert window([1, 2], 5, 9) == ([], {"total": 2, "has_more": False})
    assert text_window("ab", 9, 5) == ("", {"total_chars": 2, "has_more": False})


def test_a_listing_of_which_nothing_can_be_read_is_no_empty_list() -> None:
    assert legible([], ()) == []
    assert legible([1], (".1[0]: why",)) == [1]
    with pytest.raises(Drift) as caught:
        legible([], tuple(f".1[{n}]: why" for n in range(30)))
    assert len(caught.value.details["undecoded"]) == 20


# Texts


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("plain ASCII\n\ttext\r\n", {}),
        ("é 🧪 “quotes” \u00a0\u3000", {}),
        ("a\u200bb\u200cc\ufeff", {"invisible": 3}),
        ("tag \U000e0041\U000e0042", {"invisible": 2}),
        ("bidi \u202e\u2066\u200f\u061c", {"bidi": 4}),
        ("control \x00\x1b\x7f\x85", {"control": 4}),
        ("private \ue000\U000f0000", {"private_use": 2}),
        ("lone \ud83d", {}),
        ("all \u202e\u200b\x07\ue000", {"bidi": 1, "invisible": 1, "control": 1, "private_use": 1}),
    ],
)
def test_what_a_reader_cannot_see_is_counted(text: str, flags: dict[str, int]) -> None:
    assert unseen(text) == flags


def test_a_refusal_of_an_argument_was_never_sent() -> None:
    error = refuse("no", "Do that.", field="x")
    assert type(error) is InvalidArgument
    assert (error.hint, error.details, error.outcome) == ("Do that.", {"field": "x"}, Outcome.NOT_SENT)
