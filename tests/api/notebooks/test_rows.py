"""Every row of a notebook call that somebody is known to send: one declared call, and the same row back."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api import classify
from nlm_cdp.api.notebooks import notebooks, reading, writing
from nlm_cdp.api.notebooks.project import ChatSettings, Notebook
from nlm_cdp.rpc import Rpc
from nlm_cdp.wire.pblite import canonical, unclaimed
from tests.api.rows import writes_itself_back
from tests.fakes import NB, NB2

CTX = [2, None, None, [1, *[None] * 9, [1]]]
OLD = [1, *[None] * 9, [1]]
VIEW = [[None, None, []], [[]], [None, []]]


def change(*cells: Any) -> list[Any]:
    return [NB, [list(cells)]]


ROWS = [
    pytest.param("wXbhsf", [None, 1, None, [2]], notebooks.LIST, id="list, January and today"),
    pytest.param("wXbhsf", [None, 1, None, CTX, None, VIEW], notebooks.LIST, id="list, web app"),
    pytest.param("wXbhsf", [None, 1, True, CTX, None, VIEW], notebooks.LIST, id="list with audio, web app"),
    pytest.param("CCqFvf", ["T", None, None, CTX], notebooks.CREATE, id="create"),
    pytest.param("CCqFvf", ["T", None, None, [2], [1]], notebooks.CREATE, id="create, January"),
    pytest.param("CCqFvf", ["T", None, None, [2], OLD], notebooks.CREATE, id="create, M"),
    pytest.param("CCqFvf", ["", None, None, [2], OLD], notebooks.CREATE, id="create without a title, M"),
    pytest.param("te3DCe", [CTX, NB, "Copy"], writing.COPY, id="copy"),
    pytest.param("rLM1Ne", [NB, None, CTX, None, 0], notebooks.GET, id="get"),
    pytest.param("rLM1Ne", [NB, None, [2], None, 0], notebooks.GET, id="get, January and M"),
    pytest.param("rLM1Ne", [NB, None, CTX, None, 0, [[None, None, []]]], notebooks.GET, id="get, web app"),
    pytest.param("rLM1Ne", [NB, None, CTX, None, 1, [[None, None, []]]], notebooks.GET, id="get anew, web app"),
    pytest.param("s0tc2d", change(None, None, None, [None, "T"]), notebooks.RENAME, id="title"),
    pytest.param("s0tc2d", change(None, None, None, [None, "T", "🚀"]), notebooks.RENAME, id="title and emoji"),
    pytest.param("s0tc2d", change(None, None, None, [None, None, "🚀"]), notebooks.RENAME, id="emoji"),
    pytest.param("s0tc2d", change(None, None, None, [None, None, ""]), notebooks.RENAME, id="emoji cleared"),
    pytest.param("s0tc2d", change(*[None] * 7, [[1], [1]]), notebooks.CONFIGURE_CHAT, id="default chat"),
    pytest.param("s0tc2d", change(*[None] * 7, [[2, "Be brief."], [5]]), notebooks.CONFIGURE_CHAT, id="custom chat"),
    pytest.param("s0tc2d", change(*[None] * 7, [[3], [4]]), notebooks.CONFIGURE_CHAT, id="learning guide"),
    pytest.param("s0tc2d", change(*[None] * 8, [[0]]), notebooks.SET_VIEW_LEVEL, id="whole notebook"),
    pytest.param("s0tc2d", change(*[None] * 8, [[1]]), notebooks.SET_VIEW_LEVEL, id="chat only"),
    pytest.param("WWINqb", [[NB], [2]], notebooks.DELETE, id="delete"),
    pytest.param("WWINqb", [[NB, NB2], [2]], notebooks.DELETE, id="delete two"),
    pytest.param("fejl7e", [NB], writing.FORGET, id="forget"),
    pytest.param("VfAZjd", [NB, [2]], notebooks.GUIDE, id="guide"),
    pytest.param("VfAZjd", [NB, CTX], notebooks.GUIDE, id="guide, full context"),
]


@pytest.mark.parametrize(("rpc", "row", "expected"), ROWS)
def test_a_request_is_one_call_and_writes_itself_back(rpc: str, row: list[Any], expected: Rpc[Any, Any]) -> None:
    writes_itself_back(rpc, row, expected)


@pytest.mark.parametrize(
    ("rpc", "row"),
    [
        ("wXbhsf", [None, 1, None, [2], None, None, 7]),
        ("te3DCe", [CTX, NB]),
        ("te3DCe", [NB, CTX, "Copy"]),
        ("fejl7e", []),
        ("fejl7e", [NB, [2]]),
        ("s0tc2d", change(None, None, None, [None, "T"], None, None, None, [[1], [1]])),
        ("s0tc2d", [NB, [[]]]),
        ("rLM1Ne", [[NB], None, CTX, None, 0]),
    ],
)
def test_anything_else_is_none_of_them(rpc: str, row: list[Any]) -> None:
    assert classify(rpc, row) is None


@pytest.mark.parametrize("cell", [None, [], [[], []], [[1], [1]], [[2, "Be brief."], [4]]])
def test_chat_settings_that_are_empty_are_the_defaults(cell: Any) -> None:
    row = ["T", None, NB, "", None, None, None, cell]
    settings = Notebook.decode(row).chat or ChatSettings()
    assert reading.chat_settings(settings).goal == ("custom" if cell and cell[0] and cell[0][0] == 2 else "default")


def test_a_copy_answers_with_a_bare_row() -> None:
    meta = [1, False, True, None, None, None, 1, False, [1788032332, 486064000], *[None] * 3, False, True, 1, False]
    row = ["Copy", None, NB2, "📤", None, [*meta, None, True, 3, None, None, None, False, None, None, 1]]
    assert list(unclaimed(Notebook, row)) == []
    assert canonical(Notebook.decode(row).encode()) == canonical(row)
