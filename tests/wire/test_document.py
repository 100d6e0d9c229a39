"""The document tree: its offsets, its plain text and its markdown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlm_cdp.errors import DecodeError
from nlm_cdp.wire.batchexecute import read_replies
from nlm_cdp.wire.document import (
    MAX_DEPTH,
    PLACEHOLDER,
    Citation,
    Document,
    markdown,
    paragraphs,
    plain_text,
    quoted,
    units,
    wire_text,
)
from nlm_cdp.wire.pblite import Row

WIRE = Path(__file__).resolve().parents[3] / "shared" / "wire"
PAYLOAD = "private" + "-payload"
IMAGE = ["https://lh3.example/x", None, "image-id"]


class Ruler:
    """Builds elements with the offsets the service would give them."""

    def __init__(self) -> None:
        self.at = 0

    def span(self, length: int) -> tuple[int, int]:
        start, self.at = self.at, self.at + length
        return start, self.at

    def text(self, text: str, *attributes: Any) -> Row:
        return [*self.span(units(text)), [text, list(attributes)] if attributes else [text]]

    def image(self) -> Row:
        return [*self.span(1), None, IMAGE]

    def paragraph(self, *texts: Row, style: Row | None = None, bullet: Row | None = None) -> Row:
        row: Row = [texts[0][0] if texts else self.at, self.at, [list(texts), style, None, bullet]]
        return row

    def table(self, *rows: list[list[Row]]) -> Row:
        cells = [[[0, 0, elements] for elements in row] for row in rows]
        return [0, self.at, None, None, [len(rows), len(rows[0]) if rows else 0, [[0, 0, row] for row in cells]]]


def document(*elements: Any, kind: int | None = None) -> Row:
    return [[list(elements)], None, None, None, kind]


def style(number: int) -> Row:
    return [None, number]


def bullet(level: int | None = None, kind: int | None = None, ordinal: int | None = None) -> Row:
    return [None, None, level, *[None] * 97, "●", kind, ordinal, 0]


# Offsets


def test_offsets_index_the_bare_concatenation_in_utf16() -> None:
    ruler = Ruler()
    row = document(
        ruler.paragraph(ruler.text("Family 👨‍👩‍👧 and "), ruler.text("𝕊ets", True)),
        ruler.paragraph(ruler.image(), ruler.text("é after the image")),
        ruler.paragraph(),
        ruler.table([[ruler.paragraph(ruler.text("cell"))], [ruler.paragraph(ruler.text("🧪"))]]),
        ruler.paragraph(ruler.text("end")),
    )
    text = wire_text(row)
    assert text == f"Family 👨‍👩‍👧 and 𝕊ets{PLACEHOLDER}é after the imagecell🧪end"
    assert units(text) == ruler.at
    wide = text.encode("utf-16-le")
    seen = []
    for element in Document.decode(row).body.elements:
        inner = element.paragraph.texts if element.paragraph else []
        for piece in inner:
            cut = wide[2 * piece.start : 2 * piece.end].decode("utf-16-le")
            assert cut == (piece.text if piece.text is not None else PLACEHOLDER)
            seen.append(cut)
    assert len(seen) == 5


def test_plain_text_breaks_lines_between_paragraphs() -> None:
    ruler = Ruler()
    row = document(
        ruler.paragraph(ruler.text("one "), ruler.text("line")),
        ruler.paragraph(),
        ruler.table([[ruler.paragraph(ruler.text("a")), ruler.paragraph(ruler.text("b"))], []], [[], []]),
        ruler.paragraph(ruler.image()),
    )
    assert plain_text(row) == f"one line\n\na\nb\n{PLACEHOLDER}"


@pytest.mark.parametrize("row", [[], [None], [[]], [[None]], [[[]]], [None, None, None, None, 1]])
def test_an_empty_document_has_no_text(row: Row) -> None:
    assert plain_text(row) == wire_text(row) == ""


@settings(deadline=None)
@given(st.lists(st.lists(st.text(max_size=5), max_size=3), max_size=4))
def test_texts_are_all_there_in_order(pieces: list[list[str]]) -> None:
    ruler = Ruler()
    row = document(*(ruler.paragraph(*(ruler.text(piece) for piece in paragraph)) for paragraph in pieces))
    assert wire_text(row) == "".join("".join(paragraph) for paragraph in pieces)
    assert plain_text(row) == "\n".join("".join(paragraph) for paragraph in pieces)
    assert units(wire_text(row)) == ruler.at


def test_sparse_rows_have_the_same_text_as_dense_ones() -> None:
    ruler = Ruler()
    dense = document(
        ruler.paragraph(ruler.text("one")), ruler.table([[ruler.paragraph(ruler.text("two"), bullet=bullet(1))]])
    )

    def sparse(value: Any) -> Any:
        """Every third cell and on in a trailing object."""
        if type(value) is not list:
            return value
        cells = [sparse(cell) for cell in value]
        return [*cells[:2], {str(n): cell for n, cell in enumerate(cells, 1) if n > 2}] if len(cells) > 2 else cells

    row = sparse(dense)
    assert row[0][0][0][2] == {"3": [[[0, 3, {"3": ["one"]}]], None, {"3": None, "4": None}]}
    assert plain_text(row) == plain_text(dense) == "one\ntwo"
    assert Document.decode(row) == Document.decode(dense)


# Drift is an error, never a shorter text


def drifted() -> dict[str, tuple[Row, str]]:
    ruler = Ruler()
    good = ruler.paragraph(ruler.text("good"))

    def table(rows: Any) -> Row:
        return [0, 1, None, None, [1, 1, rows]]

    return {
        "body": ([PAYLOAD], ".1"),
        "elements": ([[PAYLOAD]], ".1.1"),
        "elements, truthy": ([[5]], ".1.1"),
        "element": (document(good, PAYLOAD), ".1.1[1]"),
        "paragraph": (document([0, 1, PAYLOAD]), ".1.1[0].3"),
        "texts": (document([0, 1, [PAYLOAD]]), ".1.1[0].3.1"),
        "texts, a number": (document([0, 1, [7]]), ".1.1[0].3.1"),
        "text element": (document([0, 1, [[[0, 1, ["x"]], PAYLOAD]]]), ".1.1[0].3.1[1]"),
        "text": (document([0, 1, [[[0, 1, PAYLOAD]]]]), ".1.1[0].3.1[0].3"),
        "text's text": (document([0, 1, [[[0, 1, [[PAYLOAD]]]]]]), ".1.1[0].3.1[0].3.1"),
        "table": (document([0, 1, None, None, PAYLOAD]), ".1.1[0].5"),
        "rows": (document(table(PAYLOAD)), ".1.1[0].5.3"),
        "row": (document(table([PAYLOAD])), ".1.1[0].5.3[0]"),
        "cells": (document(table([[0, 1, 7]])), ".1.1[0].5.3[0].3"),
        "cell": (document(table([[0, 1, [PAYLOAD]]])), ".1.1[0].5.3[0].3[0]"),
        "cell elements": (document(table([[0, 1, [[0, 1, PAYLOAD]]]])), ".1.1[0].5.3[0].3[0].3"),
    }


@pytest.mark.parametrize(("row", "path"), drifted().values(), ids=drifted())
def test_a_string_where_a_list_belongs_is_drift_at_its_path(row: Row, path: str) -> None:
    for reading in (plain_text, wire_text, Document.decode):
        with pytest.raises(DecodeError) as caught:
            reading(row)
        assert caught.value.path == path
        assert PAYLOAD not in str(caught.value)


@pytest.mark.parametrize("row", [PAYLOAD, 5, {}, {"1": []}])
def test_a_document_that_is_no_row_is_drift(row: Any) -> None:
    for reading in (plain_text, wire_text, quoted):
        with pytest.raises(DecodeError, match="expected an array"):
            reading(row)


def nested(depth: int) -> Row:
    element: Row = [0, 1, [[[0, 1, ["deep"]]]]]
    for _ in range(depth):
        element = [0, 1, None, None, [1, 1, [[0, 1, [[0, 1, [element]]]]]]]
    return document(element)


def test_tables_nest_so_deep_and_no_deeper() -> None:
    at_most = nested(MAX_DEPTH - 1)
    assert plain_text(at_most) == "deep"
    assert "deep" in markdown(Document.decode(at_most))
    for depth in (MAX_DEPTH, MAX_DEPTH + 1, 20_000):
        with pytest.raises(DecodeError, match="nested too deeply"):
            plain_text(nested(depth))
    with pytest.raises(DecodeError, match="nested too deeply"):
        markdown(Document.decode(nested(MAX_DEPTH)))


# Markdown


def test_styles_become_headings() -> None:
    ruler = Ruler()
    row = document(*(ruler.paragraph(ruler.text(f"s{n}"), style=style(n)) for n in range(10)))
    assert markdown(Document.decode(row)).split("\n\n") == [
        "s0",
        "s1",
        "# s2",
        "## s3",
        "# s4",
        "## s5",
        "### s6",
        "#### s7",
        "##### s8",
        "###### s9",
    ]


def test_lists_keep_their_items_together_nested_and_numbered() -> None:
    ruler = Ruler()
    row = document(
        ruler.paragraph(ruler.text("before")),
        ruler.paragraph(ruler.text("a"), bullet=bullet(0, 1)),
        ruler.paragraph(ruler.text("b"), bullet=bullet(1, 1)),
        ruler.paragraph(ruler.text("none"), bullet=bullet(None, 0, 0)),
        ruler.paragraph(ruler.text("between")),
        ruler.paragraph(ruler.text("first"), bullet=bullet(None, 2, 1)),
        ruler.paragraph(ruler.text("second"), bullet=[None, None, 2, {"101": "2", "102": 2, "103": 2}]),
    )
    assert markdown(Document.decode(row)) == (
        "before\n\n- a\n    - b\n- none\n\nbetween\n\n1. first\n        2. second"
    )


def test_a_quote_marks_every_line() -> None:
    ruler = Ruler()
    row = document(ruler.paragraph(ruler.text("one\ntwo"), style=[None, None, True]))
    assert markdown(Document.decode(row)) == "> one\n> two"


def test_inline_styles_stand_close_to_the_words() -> None:
    ruler = Ruler()
    link = "https://example.org/"
    row = document(
        ruler.paragraph(
            ruler.text("plain "),
            ruler.text("bold ", True),
            ruler.text(" both", True, True),
            ruler.text(" "),
            ruler.text("it", None, True),
            ruler.text("   ", True),
            ruler.text("code()", None, None, None, None, None, None, None, True),
            ruler.text(" here", None, None, None, link),
            ruler.text(" attrs", *[]),
            ruler.image(),
        )
    )
    assert markdown(Document.decode(row)) == (
        f"plain **bold**  ***both*** *it*   `code()` [here]({link}) attrs![]({IMAGE[0]})"
    )


def test_a_table_keeps_breaks_and_pipes_inside_its_cells() -> None:
    ruler = Ruler()

    def cell(*lines: str) -> list[Row]:
        return [ruler.paragraph(ruler.text(line)) for line in lines]

    row = document(
        ruler.table([cell("h1"), cell("h|2")], [cell("two", "paragraphs"), cell("a\nbreak")], [cell("short")]),
        ruler.table(),
        ruler.table([]),
    )
    assert markdown(Document.decode(row)) == (
        "| h1 | h\\|2 |\n| --- | --- |\n| two<br>paragraphs | a<br>break |\n| short |  |"
    )


def test_a_table_in_a_cell_stays_in_its_line() -> None:
    ruler = Ruler()
    inner = ruler.table([[ruler.paragraph(ruler.text("x"))]])
    text = markdown(Document.decode(document(ruler.table([[inner]], [[ruler.paragraph(ruler.text("y"))]]))))
    assert text == "| \\| x \\|<br>\\| --- \\| |\n| --- |\n| y |"


# Quotations


def test_a_quotation_has_all_its_fragments() -> None:
    ruler = Ruler()
    fragments = [
        ruler.paragraph(ruler.text("Alpha")),
        ruler.paragraph(ruler.text("be"), ruler.text("ta")),
        ruler.table(
            [[ruler.paragraph(ruler.text("1"))], [ruler.paragraph(ruler.text("2"))]],
            [[ruler.paragraph(ruler.text("3"))], [ruler.paragraph(ruler.text("4"))]],
        ),
    ]
    row = [None, None, 0.5, [[None, 0, 9]], [fragments], [[["source"], "revision"]], ["chunk"]]
    assert quoted(row) == "Alpha\nbeta\n1\n2\n3\n4"
    assert Citation.decode(row).passages[0].source_id == "source"


def test_paragraphs_come_straight_from_rows() -> None:
    assert list(paragraphs([[0, 1, [[[0, 1, ["x"]]]]], [0, 1], [0, 1, None, None, [0, 0]]])) == ["x"]


def test_recorded_documents_are_contiguous() -> None:
    if not WIRE.is_dir():
        pytest.skip("no recordings beside the checkout")
    exchanges = json.loads((WIRE / "sources_get_fulltext.json").read_text(encoding="utf-8"))["exchanges"]
    bodies = [exchange["response_body"] for exchange in exchanges if exchange["rpc_ids"] == ["hizoJc"]]
    assert bodies
    for body in bodies:
        row = read_replies(body).of("hizoJc").row[3]
        last = Document.decode(row).body.elements[-1]
        assert units(wire_text(row)) == last.end
        assert len(markdown(Document.decode(row))) > len(plain_text(row)) > 1000


def test_units_are_utf16() -> None:
    assert [units(text) for text in ("", "abc", "é", "🧪", "👨‍👩‍👧", "\ud83d", "a\ud83d\ude00")] == [
        0,
        3,
        1,
        2,
        8,
        1,
        3,
    ]
    assert units("é🧪" * 1_500_000) == 4_500_000
