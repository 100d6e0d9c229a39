"""The Source row in the forms that were seen, and how it is shown."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api.notebooks.notebooks import GotNotebook
from nlm_cdp.api.sources.rows import DRIVE_STATUS, KINDS, STATUS, Source, distinct, source_info
from nlm_cdp.errors import DecodeError
from nlm_cdp.wire.pblite import canonical, unclaimed

STAMP = [1767225600, 5]
ROW = [
    ["s1"],
    "Title",
    [None, 3765, STAMP, ["revision", STAMP], 5, None, 1, ["https://example.org/a"]],
    [None, 2],
]


def row(*, meta: list[Any] | None = None, state: list[Any] | None = None, id: Any = None) -> Source:
    return Source.decode([id or ["s1"], "Title", meta, state])


def test_a_row_is_read_shown_and_written_back() -> None:
    source = Source.decode(ROW)
    assert list(unclaimed(Source, ROW)) == []
    assert canonical(source.encode()) == canonical(ROW)
    shown = source_info(source)
    assert shown.id == "s1"
    assert (shown.title, shown.kind, shown.type_code, shown.status) == ("Title", "web_page", 5, "ready")
    assert (shown.url, shown.words, shown.added) == ("https://example.org/a", 3765, "2026-01-01T00:00:00Z")
    assert (shown.mime, shown.drive_status) == (None, None)


def test_the_id_stands_in_two_places_and_must_stand_in_one() -> None:
    assert Source.decode([["s1"]]).id == "s1"
    wrapped = [[None, True, ["s2"]]]
    assert Source.decode(wrapped).id == "s2"
    assert canonical(Source.decode(wrapped).encode()) == wrapped
    bad: list[Any]
    for bad in ([], [None, "Title"], [[]], [[None, True]], [[None, True, []]]):
        with pytest.raises(DecodeError, match="a source without an id"):
            Source.decode(bad)


@pytest.mark.parametrize(
    ("meta", "url"),
    [
        ([*[None] * 7, ["https://example.org/a"]], "https://example.org/a"),
        ([*[None] * 5, ["https://youtu.be/x", "x", "channel"], None, None], "https://youtu.be/x"),
        ([*[None] * 5, ["https://youtu.be/x"], None, ["https://example.org/a"]], "https://example.org/a"),
        ([["https://docs.google.com/elsewhere"]], None),
        ([*[None] * 9, ["https://drive.google.com/elsewhere"]], None),
        ([*[None] * 7, []], None),
        ([], None),
        (None, None),
    ],
)
def test_an_address_is_taken_from_its_two_places_only(meta: list[Any] | None, url: str | None) -> None:
    assert source_info(row(meta=meta)).url == url


@pytest.mark.parametrize("code", [*STATUS, 0, 6, 99])
def test_a_status_is_named_and_an_unknown_one_keeps_its_number(code: int) -> None:
    assert source_info(row(state=[None, code])).status == STATUS.get(code, f"unknown({code})")
    assert source_info(row()).status == "unknown(0)"


@pytest.mark.parametrize("code", [*KINDS, 21, 999])
def test_a_kind_is_named_and_an_unknown_one_keeps_its_number(code: int) -> None:
    shown = source_info(row(meta=[None, None, None, None, code]))
    assert (shown.kind, shown.type_code) == (KINDS.get(code, f"unknown({code})"), code)


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        ([None, 2, None, 1], "inaccessible"),
        ([None, 2, None, 3], "active"),
        ([None, 2, None, 99], "unknown(99)"),
        ([None, 2, None, 0], None),
        ([None, 2], None),
        ([], None),
        (None, None),
    ],
)
def test_the_state_in_drive_is_shown_where_there_is_one(state: list[Any] | None, shown: str | None) -> None:
    assert source_info(row(state=state)).drive_status == shown
    assert set(DRIVE_STATUS.values()) == {"inaccessible", "syncing", "active", "deleted", "ai_access_denied"}


def test_a_type_comes_from_either_place() -> None:
    drive = [*[None] * 9, ["file", None, "application/pdf"]]
    assert source_info(row(meta=drive)).mime == "application/pdf"
    assert source_info(row(meta=[*drive, *[None] * 9, "text/plain"])).mime == "text/plain"


@pytest.mark.parametrize("added", [["x"], "x", [[1]], [1.5]])
def test_junk_in_a_time_costs_one_row_and_not_the_listing(added: Any) -> None:
    bad = [["s2"], "Bad", [None, None, added]]
    got = GotNotebook.decode([["T", [ROW, bad], "nb"]])
    assert [source.id for source in got.notebook.sources] == ["s1"]
    assert len(got.undecoded) == 1
    assert got.undecoded[0].startswith(".1.2[1].3.3")


def test_an_absurd_time_costs_only_itself() -> None:
    got = GotNotebook.decode([["T", [[["s1"], "T", [None, None, [99999999999999, 0]]]], "nb"]])
    assert [source_info(source).added for source in got.notebook.sources] == [None]


def test_every_count_sees_the_same_sources() -> None:
    got = GotNotebook.decode([["T", [ROW, [["s2"]], ROW, [None, "no id"], [["s3"], None, "junk"]], "nb"]])
    assert [source.id for source in distinct(got.notebook.sources)] == ["s1", "s2"]
    assert [text.partition(":")[0] for text in got.undecoded] == [".1.2[3]", ".1.2[4].3"]
