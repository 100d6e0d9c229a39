"""An answer's citations, as a tool shows them. Pure."""

from __future__ import annotations

import re

from nlm_cdp.rpc import Result
from nlm_cdp.wire.chat import Answer, Cited

MARKER = re.compile(r"\[(\d+(?:\s*[,-]\s*\d+)*)\]")


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


def shortened(text: str, size: int = 200) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= size else flat[: size - 1] + "…"
