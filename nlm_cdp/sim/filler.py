"""Made-up text of any size: numbered paragraphs of a thousand ASCII characters, never kept, the same each time."""

from __future__ import annotations

from collections.abc import Iterator

PARAGRAPH = 1_000
SENTENCE = "This is made-up text of the simulator, repeated up to the size that was asked for. "
BODY = (SENTENCE * (PARAGRAPH // len(SENTENCE) + 1))[: PARAGRAPH - 9]
BATCH = 64


def paragraphs(size: int) -> Iterator[str]:
    for number, start in enumerate(range(0, size, PARAGRAPH)):
        yield f"{number:08d} {BODY}"[: size - start]


def element_rows(size: int) -> Iterator[str]:
    """The structural elements of such a text as JSON, some at a time; all of them joined fill an array."""
    at, batch = 0, []
    for text in paragraphs(size):
        end = at + len(text)
        batch.append(f'{"," if at else ""}[{at},{end},[[[{at},{end},["{text}"]]],[null,1]]]')
        at = end
        if len(batch) == BATCH:
            yield "".join(batch)
            batch.clear()
    yield "".join(batch)
