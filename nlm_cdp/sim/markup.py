"""Text with a little markup (headings, lists, quotes, tables, bold, code, links) as the wire's structural elements.

Every line that is not blank becomes an element; offsets run on from one to the next in UTF-16 units, with nothing
counted in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from nlm_cdp.wire.document import (
    Bullet,
    Element,
    Paragraph,
    Table,
    TableCell,
    TableRow,
    TextElement,
    TextStyle,
    units,
)

NORMAL, HEADING = 1, 4
UNORDERED, ORDERED = 1, 2

LINE = re.compile(r"\r\n|\r|\n")
HEAD = re.compile(r"(#{1,6}) +(.+)")
ITEM = re.compile(r"( *)(?:[-*+]|(\d{1,9})[.)]) +(.+)")
QUOTE = re.compile(r"> ?(.*)")
CELLS = re.compile(r"\|(.+)\|\s*")
RULE = re.compile(r"[\s|:-]+")
INLINE = re.compile(r"\*\*(?P<bold>[^*]+)\*\*|`(?P<code>[^`]+)`|\[(?P<text>[^\]]+)\]\((?P<link>[^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of text of one look."""

    text: str
    bold: bool = False
    code: bool = False
    link: str | None = None

    @property
    def style(self) -> TextStyle | None:
        looks: dict[str, Any] = {"bold": self.bold, "code": self.code, "link": self.link}
        return TextStyle(**{name: value for name, value in looks.items() if value}) if any(looks.values()) else None


@dataclass(slots=True)
class Block:
    """What becomes one structural element: a paragraph, or the rows of a table."""

    runs: list[Run] = field(default_factory=list)
    style: int | None = NORMAL
    bullet: Bullet | None = None
    quote: bool = False
    rows: list[list[str]] | None = None


def blocks(text: str, *, inline: bool = True) -> list[Block]:
    """The blocks of a text; `inline` off keeps bold, code and link marks as they were written."""
    found: list[Block] = []
    numbers: dict[int, int] = {}
    for line in LINE.split(text):
        if not line.strip():
            numbers.clear()
            continue
        block = block_of(line, inline, numbers)
        if block.bullet is None:
            numbers.clear()
        if block.rows and found and found[-1].rows:
            found[-1].rows += [] if RULE.fullmatch(line) else block.rows
        else:
            found.append(block)
    return found


def block_of(line: str, inline: bool, numbers: dict[int, int]) -> Block:
    if match := HEAD.fullmatch(line):
        return Block(runs(match[2], inline), style=HEADING + len(match[1]) - 1)
    if match := ITEM.fullmatch(line):
        return Block(runs(match[3], inline), bullet=bullet(len(match[1]) // 2, match[2], numbers))
    if match := QUOTE.fullmatch(line):
        return Block(runs(match[1], inline), quote=True)
    if inline and (match := CELLS.fullmatch(line)):
        return Block(rows=[[cell.strip() for cell in match[1].split("|")]])
    return Block(runs(line, inline))


def bullet(level: int, number: str | None, numbers: dict[int, int]) -> Bullet:
    """Top-level items of source texts carry no level (C, sources_get_fulltext)."""
    counter = numbers.get(level, 0)
    numbers[level] = counter + 1
    ordinal = int(number) if number else counter + 1
    kind, glyph = (ORDERED, f"{number}.") if number else (UNORDERED, "•")
    place: dict[str, Any] = {"level": level} if level else {}
    return Bullet(glyph=glyph, kind=kind, ordinal=ordinal, counter=counter, **place)


def runs(text: str, inline: bool) -> list[Run]:
    found, at = [], 0
    for match in INLINE.finditer(text) if inline else ():
        found.append(Run(text[at : match.start()]))
        found.append(
            Run(
                match["bold"] or match["code"] or match["text"], bool(match["bold"]), bool(match["code"]), match["link"]
            )
        )
        at = match.end()
    found.append(Run(text[at:]))
    return [run for run in found if run.text] or [Run("")]


def elements(found: Iterable[Block], at: int = 0) -> Iterator[Element]:
    """The structural elements of blocks, the first one starting at `at`."""
    for block in found:
        element = table(block.rows, at) if block.rows else paragraph(block, at)
        at = element.end
        yield element


def paragraph(block: Block, at: int) -> Element:
    start, texts = at, []
    for run in block.runs:
        end = at + units(run.text)
        texts.append(TextElement(start=at, end=end, text=run.text, style=run.style))
        at = end
    given: dict[str, Any] = {"style": block.style} if block.style else {}
    if block.bullet is not None:
        given["bullet"] = block.bullet
    if block.quote:
        given["quote"] = True
    return Element(start=start, end=at, paragraph=Paragraph(texts=texts, **given))


def table(rows: list[list[str]], at: int) -> Element:
    start, made = at, []
    for row in rows:
        row_start, cells = at, []
        for cell in row:
            inner = paragraph(Block([Run(cell)]), at)
            cells.append(TableCell(start=at, end=inner.end, elements=[inner]))
            at = inner.end
        made.append(TableRow(start=row_start, end=at, cells=cells))
    width = max(len(row) for row in rows)
    return Element(start=start, end=at, table=Table(n_rows=len(rows), n_columns=width, rows=made))
