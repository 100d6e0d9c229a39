"""Finding the passages that a question is about: chunks of a source's elements, ranked by BM25 over its words.

A chunk carries fragments of the document with their absolute offsets, so that a citation of it is true.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nlm_cdp.sim.records import Source
from nlm_cdp.wire.document import Document, Element, Paragraph, TextElement, paragraphs, units

CHUNK = 500
"""Units after which a chunk is closed; the recorded ones have 500 to 800."""
LONGEST = 800
SEARCHED = 400_000
"""Characters of one source that are searched at all."""

WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
SENTENCE = re.compile(r"\S.*?(?:[.!?。！？]+(?=\s|$|(?<=[。！？]))|$)", re.MULTILINE)
COMMON_WORDS = (
    "a about an and any are as at be by can do does for from had has have how i if in into is it its me my no not of on"
    " or our say so that the their them there these they this those to was we were what when where which who why will"
    " with would you your source sources notebook tell explain"
)
COMMON = frozenset(COMMON_WORDS.split())


@dataclass(slots=True)
class Chunk:
    """Consecutive fragments of one source."""

    source: Source
    elements: list[Element] = field(default_factory=list)
    terms: Counter[str] = field(default_factory=Counter)

    @property
    def start(self) -> int:
        return self.elements[0].start

    @property
    def end(self) -> int:
        return self.elements[-1].end

    @property
    def text(self) -> str:
        return "\n".join(texts(self.elements))


def texts(elements: Iterable[Element]) -> Iterator[str]:
    return paragraphs([element.encode() for element in elements])


def terms(text: str) -> list[str]:
    """The words that count: lower case, without common ones, in the singular."""
    words = (match[0].casefold() for match in WORD.finditer(text))
    return [singular(word) for word in words if word not in COMMON]


def singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def sentences(text: str) -> Iterator[str]:
    for match in SENTENCE.finditer(text):
        if sentence := match[0].strip():
            yield sentence


def frequent(text: str, number: int) -> list[str]:
    """The most frequent words that count, longest first among equals."""
    counted = Counter(word for word in terms(text) if len(word) > 3 and not word.isdigit())
    return [word for word, _ in sorted(counted.items(), key=lambda item: (-item[1], -len(item[0]), item[0]))[:number]]


# Chunks


def chunks(source: Source) -> list[Chunk]:
    found: list[Chunk] = []
    for element in Document.decode(source.document).body.elements:
        if element.start > SEARCHED:
            break
        for fragment in fragments(element):
            heading = fragment.paragraph is not None and (fragment.paragraph.style or 0) > 1
            if not found or heading or found[-1].end - found[-1].start >= CHUNK:
                found.append(Chunk(source))
            found[-1].elements.append(fragment)
    for chunk in found:
        chunk.terms.update(terms(chunk.text))
    return found


def fragments(element: Element) -> Iterator[Element]:
    """An element whole, or a long paragraph in parts that end where sentences do."""
    paragraph = element.paragraph
    if paragraph is None or element.end - element.start <= LONGEST:
        yield element
        return
    held: list[TextElement] = []
    for text in paragraph.texts:
        for part in parts(text):
            if held and part.end - held[0].start > LONGEST:
                yield fragment_of(held, paragraph)
                held = []
            held.append(part)
    yield fragment_of(held, paragraph)


def parts(element: TextElement) -> Iterator[TextElement]:
    """A stretch of text cut behind its sentences, and where those are too long, anywhere."""
    text, at = element.text or "", element.start
    cuts = [match.end() for match in SENTENCE.finditer(text)]
    begin = 0
    for cut in [*cuts, len(text)]:
        while begin < cut:
            piece = text[begin : min(cut, begin + LONGEST // 2)]
            end = at + units(piece)
            yield TextElement(start=at, end=end, text=piece, style=element.style)
            begin, at = begin + len(piece), end


def fragment_of(held: list[TextElement], paragraph: Paragraph) -> Element:
    return Element(start=held[0].start, end=held[-1].end, paragraph=Paragraph(texts=held, style=paragraph.style))


# Ranking


def ranked(question: str, sources: Iterable[Source], number: int) -> list[tuple[float, Chunk]]:
    """The best chunks for a question, best first; none when no word of it occurs.

    A question without a word that counts ("What is this about?") gets the beginnings of the sources.
    """
    found = [chunks(source) for source in sources]
    wanted = set(terms(question))
    if not wanted:
        return [(1.0, beginning[0]) for beginning in found if beginning][:number]
    candidates = [chunk for part in found for chunk in part]
    scored = sorted(
        ((score, chunk) for chunk, score in zip(candidates, bm25(wanted, candidates), strict=True) if score > 0),
        key=lambda item: -item[0],
    )
    return scored[:number]


def bm25(wanted: set[str], candidates: list[Chunk]) -> list[float]:
    sizes = [chunk.terms.total() for chunk in candidates]
    mean = sum(sizes) / len(sizes) if sum(sizes) else 1.0
    weights = {term: rarity(sum(term in chunk.terms for chunk in candidates), len(candidates)) for term in wanted}
    return [
        sum(weights[term] * saturated(chunk.terms[term], size / mean) for term in wanted if term in chunk.terms)
        for chunk, size in zip(candidates, sizes, strict=True)
    ]


def rarity(having: int, total: int) -> float:
    return math.log(1 + (total - having + 0.5) / (having + 0.5))


def saturated(occurrences: int, length: float) -> float:
    return occurrences * 2.2 / (occurrences + 1.2 * (0.25 + 0.75 * length))


def best_sentence(question: str, chunk: Chunk, longest: int = 300) -> str:
    """The first sentence of a chunk that shares most words with the question."""
    wanted = set(terms(question))
    found = list(sentences(chunk.text)) or [chunk.text]
    best = max(found, key=lambda said: (len(wanted & set(terms(said))), said[-1] in ".!?。！？"))
    return best if len(best) <= longest else best[: longest - 1].rstrip() + "…"
