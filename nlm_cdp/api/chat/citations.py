"""An answer's citations, as a tool shows them. Pure."""

from __future__ import annotations

import re
from typing import Any

from nlm_cdp.rpc import Result
from nlm_cdp.wire.chat import Answer, AnswerRow, Cited, cite
from nlm_cdp.wire.document import Citation
from nlm_cdp.wire.pblite import Lazy

MARKER = re.compile(r"\[(\d{1,4}(?:\s*[,-]\s*\d{1,4})*)\]")


class CitedSource(Result):
    """`start` and `end`: UTF-16 offsets in the service's own text of the source, which has no line breaks."""

    index: int
    source_id: str
    title: str | None = None
    excerpt: str
    start: int | None = None
    end: int | None = None


def cited_source(cited: Cited, titles: dict[str, str | None]) -> CitedSource:
    return CitedSource(
        index=cited.index,
        source_id=cited.source_id,
        title=titles.get(cited.source_id),
        excerpt=cited.excerpt,
        start=cited.start,
        end=cited.end,
    )


def rendered(answer: Answer, cited: list[CitedSource], form: str) -> str:
    """The answer in the form asked for; markers that name no citation stay as they are."""
    if form == "inline":
        titles = {item.index: item.title or item.source_id for item in cited}
        return MARKER.sub(lambda marker: titled(marker, titles), answer.text)
    if form == "footnotes" and cited:
        notes = [f"[{item.index}] {item.title or item.source_id}: “{shortened(item.excerpt)}”" for item in cited]
        return "\n".join([answer.text, "", "Sources:", *notes])
    return answer.text


def titled(marker: re.Match[str], titles: dict[int, str]) -> str:
    numbers = [int(number) for number in re.findall(r"\d+", marker[1])]
    if not all(number in titles for number in numbers):
        return marker[0]
    return "[" + "; ".join(f"{number}: {titles[number]}" for number in numbers) + "]"


def numbers_of(marker: re.Match[str]) -> list[int]:
    """The citations a marker names, with those inside a range such as [1-3]."""
    found: list[int] = []
    for part in marker[1].split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def shortened(text: str, size: int = 200) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= size else flat[: size - 1] + "…"


# What the conversation keeps


def stored(row: AnswerRow) -> Answer:
    """An answer of the conversation, as if it had just been given; its follow-up questions are not kept."""
    citations, undecoded = cite(stored_citations(row))
    return Answer(
        text=row.text,
        citations=citations,
        follow_ups=[],
        turn=row.turn,
        document=row.document.row if row.document is not None else None,
        truncated=False,
        undecoded=undecoded,
    )


def stored_citations(row: AnswerRow) -> list[Lazy[Citation]]:
    """The citation table, known by its shape: in a stored answer it was seen one cell further on (N)."""
    cells = row.document.row if row.document is not None else []
    table: list[Any] = next((cell for cell in cells if is_table(cell)), []) if type(cells) is list else []
    return [Lazy(Citation, entry[1] if is_entry(entry) else entry) for entry in table]


def is_table(cell: Any) -> bool:
    return type(cell) is list and any(map(is_entry, cell))


def is_entry(entry: Any) -> bool:
    """Whether a cell pairs the id of a passage, wrapped once, with what is known of it."""
    if type(entry) is not list or len(entry) < 2 or type(entry[1]) is not list:
        return False
    return type(entry[0]) is list and len(entry[0]) == 1 and type(entry[0][0]) is str
