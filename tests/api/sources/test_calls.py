"""Every row of a source call that somebody is known to send: one declared call, and the same row back."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api import classify
from nlm_cdp.api.sources import additions, freshness, searching, sources, updating, webapp
from nlm_cdp.rpc import Rpc
from nlm_cdp.wire.pblite import canonical, unclaimed
from tests.api.rows import writes_itself_back
from tests.fakes import NB, NB2, S1, S2

CTX = [2, None, None, [1, *[None] * 9, [1]]]
P1 = [1, *[None] * 9, [1]]
WEB = [None, None, ["https://a.test/x"], *[None] * 7, 1]
VIDEO = [*[None] * 7, ["https://youtu.be/abc"], None, None, 1]
TEXT = [None, ["T", "A text."], None, 2, *[None] * 6, 1]
DRIVE = [["file-id-1234", "application/pdf", 1, "T"], *[None] * 9, 1]
BOOK = [*[None] * 10, 1, *[None] * 4, [1, "book", "T", "<p>A book</p>", "https://a.test/c.png", 4.5, ["A. Author"]]]
OLD = [None, None, ["https://a.test/x"], *[None] * 5]


def entry(url: str, kind: int) -> list[Any]:
    return [[None, url, 627], [*[None] * 9, [None, None, kind]], 1]


PANEL = [["notebook_lm_state.saved_source_panel_view"]]
ROWS = [
    *(
        pytest.param("izAoDd", [specs, NB, *tail], additions.ADD, id=f"add {name}, {form}")
        for name, specs in (
            ("page", [WEB]),
            ("video", [VIDEO]),
            ("text", [TEXT]),
            ("drive", [DRIVE]),
            ("all", [WEB, VIDEO, TEXT, DRIVE]),
        )
        for form, tail in (("today", [CTX]), ("January", [[2], None, None]), ("M", [[2], P1]))
    ),
    pytest.param("izAoDd", [[OLD], NB, [2], None, None], additions.ADD, id="add page, eight cells"),
    pytest.param("X1snv", [[WEB], NB, CTX], webapp.ADD_ASYNC, id="add later"),
    pytest.param("X1snv", [[BOOK, WEB], NB, CTX], webapp.ADD_ASYNC, id="add a book later"),
    pytest.param("ozz5Z", [[entry("https://a.test", 1)]], webapp.ADD_ENTRIES, id="add otherwise, M"),
    pytest.param(
        "ozz5Z", [[entry("https://a.test", 1), entry("https://b.test", 1)]], webapp.ADD_ENTRIES, id="add two so, M"
    ),
    pytest.param("ozz5Z", [[entry("1", 2)]], webapp.ASK_TIER, id="tier, M"),
    pytest.param("tGMBJ", [[[S1], [S2]]], sources.DELETE, id="delete"),
    pytest.param("tGMBJ", [[[S1], [S2]], [2]], sources.DELETE, id="delete, M"),
    pytest.param("b7Wfje", [None, [S1], [[["New"]]]], sources.RENAME, id="rename"),
    pytest.param("hizoJc", [[S1], [2], [2]], sources.LOAD, id="load text"),
    pytest.param("hizoJc", [[S1], [3], [3]], sources.LOAD, id="load HTML"),
    pytest.param("tr032e", [[[[S1]]]], sources.GUIDE, id="guide"),
    pytest.param("FLmJqe", [None, [S1], [2]], freshness.REFRESH, id="refresh"),
    pytest.param("FLmJqe", [None, [S1], CTX], freshness.REFRESH, id="refresh, full context"),
    pytest.param("yR9Yof", [None, [S1], [2]], freshness.CHECK, id="freshness"),
    pytest.param("ASU5Oe", [NB, "fog", None, [1]], searching.SEARCH, id="search"),
    pytest.param("ASU5Oe", [NB, "fog", None, [1], [[[S1], [S2]]]], searching.SEARCH, id="search in sources"),
    pytest.param("QsNTEd", [None, [S1], None, [None, ["H", "more"]]], updating.APPEND, id="append"),
    pytest.param("QsNTEd", [None, [S1], None, [None, ["", "more"]]], updating.APPEND, id="append without a header"),
    pytest.param("R27wvc", [None, None, [[S1], [S2]], NB2], webapp.COPY_SOURCES, id="copy to another notebook"),
    pytest.param("mVtEUb", [None, 1], webapp.LIST_BOOKS, id="books"),
    pytest.param("ub2Bae", [[2, None, [1], [1, *[None] * 9, [1, 3]]]], webapp.OPEN_HOME, id="home, M"),
    pytest.param("rG2vCb", ["projects/P/locations/L", None, None, 1], webapp.LIST_LOCATION, id="enterprise, M"),
    pytest.param("LQhfEb", [None, NB, [None, [None, 1]], PANEL], webapp.SET_SOURCE_PANEL, id="panel by labels, M"),
    pytest.param("LQhfEb", [None, NB, [None, [None, 2]], PANEL], webapp.SET_SOURCE_PANEL, id="panel as a list, M"),
]


@pytest.mark.parametrize(("rpc", "row", "expected"), ROWS)
def test_a_request_is_one_call_and_writes_itself_back(rpc: str, row: list[Any], expected: Rpc[Any, Any]) -> None:
    writes_itself_back(rpc, row, expected)


@pytest.mark.parametrize(
    ("rpc", "row"),
    [
        ("izAoDd", [[[None] * 10 + [1]], NB, CTX]),
        ("izAoDd", [[[None, ["T", "x"], ["https://a.test"], 2, *[None] * 6, 1]], NB, CTX]),
        ("ozz5Z", [[entry("https://a.test", 1), entry("1", 2)]]),
        ("ozz5Z", [[entry("1", 3)]]),
        ("ASU5Oe", [NB, "fog", None, [1], [[S1]]]),
        ("QsNTEd", [None, [S1], None, [None, "more"]]),
        ("FLmJqe", [None, S1, [2]]),
        ("R27wvc", [None, None, [S1], NB2]),
    ],
)
def test_anything_else_is_none_of_them(rpc: str, row: list[Any]) -> None:
    assert classify(rpc, row) is None


STUB = [[S1], "https://a.test/x", [None, None, None, None, 5]]
CHUNK = [[[["The horn ", "sounds."]]], 1, [[None, 0, 16]]]
COPY = [[S1], [[S2], "Copy", [None, None, None, None, 8], [None, 1]]]
LISTED = ["book", 1, "T", "<p>A book</p>", "https://a.test/c.png", False, None, ["A. Author"], 4.5, [1760000000]]


@pytest.mark.parametrize(
    ("message", "row"),
    [
        (webapp.Started, [[STUB], None, [[STUB, 0]]]),
        (webapp.CopiedSources, [[COPY]]),
        (webapp.Books, [[LISTED]]),
        (webapp.Books, []),
        (freshness.Checked, []),
        (freshness.Checked, [[None, True, [S1]]]),
        (freshness.Checked, [[None, False, [S1]]]),
        (searching.SearchResult, [[[S1, [CHUNK, CHUNK]], [S2, [CHUNK]]]]),
        (searching.SearchResult, []),
        (searching.SearchResult, [None]),
        (searching.SearchResult, [[]]),
    ],
)
def test_an_answer_writes_itself_back(message: Any, row: list[Any]) -> None:
    assert list(unclaimed(message, row)) == []
    assert canonical(message.decode(row).encode()) == canonical(row)
