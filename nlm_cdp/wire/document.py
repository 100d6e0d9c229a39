"""The document tree that source texts, answers, citations and reports share, and its two readings.

Offsets count UTF-16 units of the bare concatenation of all texts: no separator stands between paragraphs, and an inline
image counts one unit (`PLACEHOLDER`). Source: chat_ask, sources_get_fulltext, artifacts_list (January 2026, grade C).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from nlm_cdp.errors import DecodeError
from nlm_cdp.wire.pblite import Message, Row, Tag, kind, slots
from nlm_cdp.wire.rows import Misfit, reach

PLACEHOLDER = "\N{OBJECT REPLACEMENT CHARACTER}"
MAX_DEPTH = 64
"""Tables may nest; a document nested deeper than this was never seen and is refused."""


PIECE = 1 << 20
"""Characters encoded at a time, where only the length is wanted."""


class TextStyle(Message):
    bold: Annotated[bool, Tag(1)] = False
    italic: Annotated[bool, Tag(2)] = False
    underline: Annotated[bool, Tag(3)] = False
    link: Annotated[str | None, Tag(4)] = None
    code: Annotated[bool, Tag(8)] = False


class InlineImage(Message):
    url: Annotated[str, Tag(1)]
    id: Annotated[str | None, Tag(3)] = None


class TextElement(Message):
    start: Annotated[int, Tag(1)]
    end: Annotated[int, Tag(2)]
    text: Annotated[str | None, Tag(3, 1)] = None
    style: Annotated[TextStyle | None, Tag(3, 2)] = None
    image: Annotated[InlineImage | None, Tag(4)] = None


class Bullet(Message):
    """January 2026 rows are dense with 104 cells; newer ones keep fields 101 and up in a trailing object (N)."""

    PIVOT: ClassVar[int] = 101
    level: Annotated[int | None, Tag(3)] = None
    glyph: Annotated[str | None, Tag(101)] = None
    kind: Annotated[int | None, Tag(102)] = None  # 0, 1 unordered, 2 ordered
    ordinal: Annotated[int | None, Tag(103)] = None
    counter: Annotated[int | None, Tag(104)] = None


class Paragraph(Message):
    texts: Annotated[list[TextElement], Tag(1)] = []
    style: Annotated[int | None, Tag(2, 2)] = None  # 1 normal, 2 title, 3 subtitle, 4-9 heading 1-6
    quote: Annotated[bool | None, Tag(2, 3)] = None
    bullet: Annotated[Bullet | None, Tag(4)] = None


class TableCell(Message):
    start: Annotated[int, Tag(1)]
    end: Annotated[int, Tag(2)]
    elements: Annotated[list[Element], Tag(3)] = []


class TableRow(Message):
    start: Annotated[int, Tag(1)]
    end: Annotated[int, Tag(2)]
    cells: Annotated[list[TableCell], Tag(3)] = []


class Table(Message):
    n_rows: Annotated[int, Tag(1)]
    n_columns: Annotated[int, Tag(2)]
    rows: Annotated[list[TableRow], Tag(3)] = []


class Element(Message):
    """Exactly one of the blocks is set; blocks that no recording holds (image, code, embed ...) stay unclaimed."""

    start: Annotated[int, Tag(1)]
    end: Annotated[int, Tag(2)]
    paragraph: Annotated[Paragraph | None, Tag(3)] = None
    table: Annotated[Table | None, Tag(5)] = None


class Range(Message):
    start: Annotated[int | None, Tag(2)] = None
    end: Annotated[int, Tag(3)]


class Annotation(Message):
    chunk_id: Annotated[str, Tag(1, 1)]
    at: Annotated[Range, Tag(2)]


class Body(Message):
    elements: Annotated[list[Element], Tag(1)] = []
    annotations: Annotated[list[Annotation], Tag(2)] = []


class Passage(Message):
    source_id: Annotated[str, Tag(1, 1)]
    revision_id: Annotated[str | None, Tag(2)] = None


class Citation(Message):
    """One quoted passage; its elements carry absolute offsets in the source."""

    score: Annotated[float | None, Tag(3)] = None
    ranges: Annotated[list[Range], Tag(4)] = []
    elements: Annotated[list[Element], Tag(5, 1)] = []
    passages: Annotated[list[Passage], Tag(6)] = []
    chunk_id: Annotated[str, Tag(7, 1)]


class CitationEntry(Message):
    chunk_id: Annotated[str, Tag(1, 1)]
    citation: Annotated[Citation, Tag(2)]


class Document(Message):
    body: Annotated[Body, Tag(1)] = Body()
    citations: Annotated[list[CitationEntry], Tag(4)] = []
    kind: Annotated[int | None, Tag(5)] = None


def place(message: type[Message], field: str) -> int:
    """The index of a top-level field, for the readers that walk rows without building models."""
    return next(slot.path[0] for slot in slots(message) if slot.name == field) - 1


BODY, ELEMENTS = place(Document, "body"), place(Body, "elements")
PARAGRAPH, TABLE = place(Element, "paragraph"), place(Element, "table")
TEXTS, TEXT, IMAGE = place(Paragraph, "texts"), place(TextElement, "text"), place(TextElement, "image")
QUOTE, QUOTED = (number - 1 for slot in slots(Citation) if slot.name == "elements" for number in slot.path)
ROWS, CELLS, CELL_ELEMENTS = place(Table, "rows"), place(TableRow, "cells"), place(TableCell, "elements")


def paragraphs(elements: Row, depth: int = 0) -> Iterator[str]:
    """The text of each paragraph in order, table cells row by row; straight from rows, for texts of many megabytes."""
    if depth == MAX_DEPTH:
        raise too_deep()
    for element in elements:
        if (paragraph := cell(element, PARAGRAPH)) is not None:
            yield "".join(map(text_of, items(paragraph, TEXTS)))
        for row in items(cell(element, TABLE), ROWS):
            for table_cell in items(row, CELLS):
                yield from paragraphs(items(table_cell, CELL_ELEMENTS), depth + 1)


def text_of(element: Any) -> str:
    text = cell(cell(element, TEXT), 0)
    if type(text) is str:
        return text
    if text is not None:
        raise DecodeError(Document.__name__, "", f"expected a text, got {kind(text)}")
    return PLACEHOLDER if cell(element, IMAGE) is not None else ""


def cell(row: Any, index: int) -> Any:
    """A cell of a row, None where either is absent. Raises DecodeError for something that is no row."""
    if type(row) is list and (not row or type(row[-1]) is not dict):
        return row[index] if index < len(row) else None
    try:
        return reach(row, (index + 1,))
    except Misfit as misfit:
        raise misfit.error(Document) from None


def items(row: Any, index: int) -> Row:
    """The list in a cell, [] where it is absent. Raises DecodeError for something that is no list."""
    found = cell(row, index)
    if type(found) is list:
        return found
    if found is not None:
        raise DecodeError(Document.__name__, "", f"expected an array, got {kind(found)}")
    return []


def too_deep() -> DecodeError:
    return DecodeError(Document.__name__, "", "tables are nested too deeply")


def texts(document: Row) -> list[str]:
    """The paragraphs of a document. Raises DecodeError, with the wire path where a declaration can name it."""
    try:
        return list(paragraphs(items(cell(document, BODY), ELEMENTS)))
    except DecodeError:
        Document.decode(document)
        raise


def plain_text(document: Row) -> str:
    """The text with a line break after each paragraph, as a person reads it."""
    return "\n".join(texts(document))


def wire_text(document: Row) -> str:
    """The text that the wire's offsets index: no separators, one placeholder unit for an image."""
    return "".join(texts(document))


def quoted(citation: Row) -> str:
    """The passage a citation quotes, all its fragments in order."""
    return "\n".join(paragraphs(items(cell(citation, QUOTE), QUOTED)))


def units(text: str) -> int:
    """Length in UTF-16 code units, which is what every count and offset on the wire means."""
    if text.isascii():
        return len(text)
    pieces = (text[at : at + PIECE] for at in range(0, len(text), PIECE))
    return sum(len(piece.encode("utf-16-le", "surrogatepass")) for piece in pieces) // 2


# Markdown


def markdown(document: Document) -> str:
    return "\n\n".join(blocks(document.body.elements)).strip()


def blocks(elements: list[Element], depth: int = 0) -> Iterator[str]:
    """Paragraphs and tables as markdown blocks; the items of one list stay together."""
    if depth == MAX_DEPTH:
        raise too_deep()
    listed: list[str] = []
    for element in elements:
        paragraph = element.paragraph
        if paragraph is not None and paragraph.bullet is not None:
            listed.append(list_item(paragraph, paragraph.bullet))
            continue
        if listed:
            yield "\n".join(listed)
            listed = []
        if paragraph is not None:
            yield paragraph_block(paragraph)
        elif element.table is not None:
            yield table_block(element.table, depth + 1)
    if listed:
        yield "\n".join(listed)


def list_item(paragraph: Paragraph, bullet: Bullet) -> str:
    ordered = bullet.kind == 2
    marker = f"{bullet.ordinal or 1}." if ordered else "-"
    return f"{'    ' * (bullet.level or 0)}{marker} {inline(paragraph.texts)}"


def paragraph_block(paragraph: Paragraph) -> str:
    text = inline(paragraph.texts)
    if paragraph.quote:
        return "\n".join(f"> {line}" for line in text.split("\n"))
    style = paragraph.style or 1
    if style in (2, 3):
        return f"{'#' * (style - 1)} {text}"
    return f"{'#' * (style - 3)} {text}" if 4 <= style <= 9 else text


def table_block(table: Table, depth: int) -> str:
    """A pipe table; a line break inside a cell becomes <br>, a pipe is escaped."""
    rows = [[cell_text(item, depth) for item in row.cells] for row in table.rows]
    if not any(rows):
        return ""
    width = max(len(row) for row in rows)
    lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])


def cell_text(item: TableCell, depth: int) -> str:
    return "\n".join(blocks(item.elements, depth)).replace("|", r"\|").replace("\n", "<br>")


def inline(texts: list[TextElement]) -> str:
    return "".join(styled(element) for element in texts)


def styled(element: TextElement) -> str:
    if element.text is None:
        return f"![]({element.image.url})" if element.image is not None else ""
    style, text = element.style, element.text
    bare = text.strip()
    if style is None or not bare:
        return text
    head, tail = text[: text.index(bare)], text[text.index(bare) + len(bare) :]
    marks = "`" if style.code else "**" * style.bold + "*" * style.italic
    bare = f"{marks}{bare}{marks[::-1]}"
    if style.link:
        bare = f"[{bare}]({style.link})"
    return f"{head}{bare}{tail}"
