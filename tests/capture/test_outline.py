"""The cells around a wire path."""

from __future__ import annotations

from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.capture.outline import outline
from tests.capture.test_fixture import LISTING, NOTEBOOK


def test_each_level_shows_what_is_beside_the_way_down() -> None:
    lines = outline(notebooks.LIST.response, LISTING, ".1[0].3")
    assert [(line.depth, line.path, line.seen) for line in lines[:2]] == [
        (0, ".1", "array of 1"),
        (1, ".1[0]", "array of 4"),
    ]
    shown = {line.path: line for line in lines}
    assert (shown[".1[0].3"].name, shown[".1[0].3"].seen, shown[".1[0].3"].marked) == ("id", "string", True)
    assert shown[".1[0].1"].name == "title"
    assert sum(line.marked for line in lines) == 1


def test_no_value_is_shown() -> None:
    text = repr(outline(notebooks.LIST.response, LISTING, ".1[0].2[0].2"))
    assert "ecret" not in text
    assert NOTEBOOK not in text


def test_a_path_that_leads_nowhere_is_marked_where_it_would_be() -> None:
    lines = outline(notebooks.LIST.response, [], ".1[0].3")
    assert (lines[-1].path, lines[-1].seen) != ("", "")
    assert [line.seen for line in lines if line.marked] == ["null"]
    assert outline(notebooks.LIST.response, "no row", ".1")[0].seen == "null"


def test_an_undeclared_cell_has_no_name() -> None:
    (line,) = [line for line in outline(notebooks.LIST.response, [[], None, None, None, 7], ".5") if line.marked]
    assert (line.name, line.seen) == ("", "number")
