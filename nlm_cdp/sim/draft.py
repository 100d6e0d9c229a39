"""An answer while it is written: claims with the passages they rest on, cut at any length into text, document, marks.

The markdown has `[1]` or `[1, 2]` behind a claim; the document has the same text without these, and offsets into it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from nlm_cdp.sim.markup import UNORDERED, Block, Run, elements
from nlm_cdp.sim.retrieval import Chunk
from nlm_cdp.wire.chat import Mark
from nlm_cdp.wire.document import Annotation, Body, Bullet, Citation, CitationEntry, Document, Passage, Range, units


@dataclass(frozen=True, slots=True)
class Quote:
    """A passage of a source, and how well it fits (0 to 1)."""

    chunk: Chunk
    score: float


@dataclass(frozen=True, slots=True)
class Claim:
    """A stretch of the answer; `cites` are indexes of quotes."""

    text: str
    cites: tuple[int, ...] = ()
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One paragraph, or one item of a list."""

    claims: tuple[Claim, ...]
    item: bool = False

    @property
    def markdown(self) -> str:
        return ("*   " if self.item else "") + "".join(map(marked, self.claims))


def marked(claim: Claim) -> str:
    text = f"**{claim.text}**" if claim.bold else claim.text
    return text + (f" [{', '.join(str(number + 1) for number in claim.cites)}]" if claim.cites else "")


@dataclass(slots=True)
class Draft:
    quotes: list[Quote]
    lines: list[Line] = field(default_factory=list)

    def add(self, *claims: Claim, item: bool = False) -> None:
        self.lines.append(Line(claims, item))

    @property
    def size(self) -> int:
        """Characters of the whole text, without its marks."""
        return sum(len(claim.text) for line in self.lines for claim in line.claims)

    def cut(self, size: int) -> Draft:
        """The first `size` characters; a claim that is cut loses its mark."""
        lines: list[Line] = []
        for line in self.lines:
            kept: list[Claim] = []
            for claim in line.claims:
                if size >= len(claim.text):
                    kept.append(claim)
                elif size > 0:
                    kept.append(replace(claim, text=claim.text[:size], cites=()))
                size -= len(claim.text)
            if kept:
                lines.append(replace(line, claims=tuple(kept)))
        return Draft(self.quotes, lines)

    @property
    def markdown(self) -> str:
        text = ""
        for before, line in zip([None, *self.lines], self.lines, strict=False):
            glue = "" if before is None else "\n" if before.item and line.item else "\n\n"
            text += glue + line.markdown
        return text

    def spans(self, held_back: int = 0) -> list[tuple[Range, tuple[int, ...]]]:
        """Where the claims with citations stand in the document, without the last ones."""
        at, found = 0, []
        for claim in (claim for line in self.lines for claim in line.claims):
            end = at + units(claim.text)
            if claim.cites:
                found.append((Range(start=at, end=end), claim.cites))
            at = end
        return found[: len(found) - held_back] if held_back else found

    def quoted(self, held_back: int = 0) -> int:
        """How many quotes the claims so far rest on; they come in the order of their numbers."""
        return max((index + 1 for _, cites in self.spans(held_back) for index in cites), default=0)

    def marks(self, held_back: int = 0) -> list[Mark]:
        return [Mark(at=span, citations=list(cites)) for span, cites in self.spans(held_back)]

    def citations(self, number: int, chunk_ids: list[str]) -> list[CitationEntry]:
        return [
            CitationEntry(chunk_id=chunk_id, citation=citation(quote, chunk_id))
            for quote, chunk_id in zip(self.quotes[:number], chunk_ids, strict=False)
        ]

    def document(self, kind: int, citations: list[CitationEntry], chunk_ids: list[str], held_back: int) -> Document:
        """The answer as a tree; cells for citations exist once there are some."""
        found = list(elements(blocks(self.lines)))
        if not citations:
            return Document(body=Body(elements=found), kind=kind)
        annotations = [
            Annotation(chunk_id=chunk_ids[index], at=span) for span, cites in self.spans(held_back) for index in cites
        ]
        return Document(body=Body(elements=found, annotations=annotations), citations=citations, kind=kind)


def blocks(lines: list[Line]) -> list[Block]:
    """Only list items carry a style (C, chat_ask)."""
    found, counter = [], 0
    for line in lines:
        block = Block([Run(claim.text, bold=claim.bold) for claim in line.claims], style=None)
        if line.item:
            block.style = 1
            block.bullet = Bullet(level=0, glyph="•", kind=UNORDERED, ordinal=counter + 1, counter=counter)
        counter = counter + 1 if line.item else 0
        found.append(block)
    return found


def citation(quote: Quote, chunk_id: str) -> Citation:
    chunk = quote.chunk
    return Citation(
        score=quote.score,
        ranges=[Range(start=chunk.start, end=chunk.end)],
        elements=chunk.elements,
        passages=[Passage(source_id=chunk.source.id, revision_id=chunk.source.revision)],
        chunk_id=chunk_id,
    )
