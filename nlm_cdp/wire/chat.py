"""The streamed answer: cumulative snapshots in, one final answer with its citations out.

Each frame replaces the one before it; a frame of kind THINKING is never an answer; exactly the last frame is marked
final. Source: chat_ask, chat_ask_with_source_ids (January 2026, C); slots 7 and 8 of a snapshot: August 2026 (P).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from nlm_cdp.errors import DecodeError, Network, NlmError, RateLimited, Service
from nlm_cdp.wire.batchexecute import Reply, reply_of
from nlm_cdp.wire.document import Citation, Document, Range, cell, items, place, quoted
from nlm_cdp.wire.frames import FrameReader, NotRpcReply
from nlm_cdp.wire.pblite import Lazy, Message, Row, Tag
from nlm_cdp.wire.status import Status

ANSWER, THINKING = 1, 2
UNANSWERABLE, FILTERED = 1, 2
KIND, CITATIONS = place(Document, "kind"), place(Document, "citations")


class TurnRef(Message):
    conversation_id: Annotated[str, Tag(1)]
    turn_id: Annotated[str, Tag(2)]
    number: Annotated[int | None, Tag(3)] = None


class AnswerRow(Message):
    """`text` is markdown with [1], [2, 3] markers; a marker is a 1-based position in the citation table."""

    text: Annotated[str, Tag(1)] = ""
    turn: Annotated[TurnRef | None, Tag(3)] = None
    empty_reason: Annotated[int | None, Tag(4)] = None
    document: Annotated[Lazy[Document] | None, Tag(5)] = None

    @property
    def kind(self) -> int | None:
        """ANSWER or THINKING; None where the row does not say."""
        return cell(self.document.row, KIND) if self.document is not None else None


class Chip(Message):
    text: Annotated[str, Tag(1)]
    kind: Annotated[int, Tag(2)] = 0


class Mark(Message):
    at: Annotated[Range, Tag(1)]
    citations: Annotated[list[int], Tag(2)]


class Snapshot(Message):
    """A factory is cheaper than the copy of a default, and there are many snapshots to an answer."""

    answer: Annotated[AnswerRow | None, Tag(1)] = None
    citations: Annotated[list[Lazy[Citation]], Tag(2)] = Field(default_factory=list)
    marks: Annotated[list[Mark], Tag(3)] = Field(default_factory=list)
    follow_ups: Annotated[list[str], Tag(4, 1)] = Field(default_factory=list)
    final: Annotated[bool, Tag(5)] = False
    next_steps: Annotated[list[Chip], Tag(6, 1)] = []
    f7: Annotated[bool | None, Tag(7)] = None
    agency_session: Annotated[str | None, Tag(8)] = None


@dataclass(frozen=True, slots=True)
class Cited:
    """One citation; `index` is the number its markers carry. Offsets: UTF-16, in the source's own text."""

    index: int
    source_id: str
    excerpt: str
    start: int | None
    end: int | None
    row: Row


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of a stream. `truncated`: it ended without its final frame; `undecoded`: citations that did not read."""

    text: str
    citations: list[Cited]
    follow_ups: list[str]
    turn: TurnRef | None
    document: Row | None
    truncated: bool
    undecoded: list[str]


class ChatReader:
    """Chunks of the stream in, in any split; `feed` yields each snapshot as it completes, `close` gives the answer.

    `feed` raises what an error frame says; a frame that does not decode raises DecodeError.
    """

    def __init__(self) -> None:
        self.frames = FrameReader()
        self.last: Snapshot | None = None
        self.thought = False

    def feed(self, data: bytes | str) -> Iterator[Snapshot]:
        yield from self.take(self.frames.feed(data))

    def take(self, frames: Iterator[list[Any]]) -> Iterator[Snapshot]:
        for frame in frames:
            reply = reply_of(frame)
            if reply is None:
                continue
            if reply.status is not None:
                raise refusal(reply.status)
            if (snapshot := snapshot_of(reply)) is None:
                continue
            if snapshot.answer is not None and snapshot.answer.kind == THINKING:
                self.thought = True
            elif snapshot.answer is not None and (self.last is None or not self.last.final):
                self.last = snapshot
            yield snapshot

    def close(self) -> Answer:
        """The answer. Raises for a stream without one: cut, empty, filtered, or an exhausted allowance."""
        cut: NlmError | None = None
        try:
            for _ in self.take(self.frames.rest()):
                pass
            self.frames.close()
        except (Network, NotRpcReply) as exc:
            cut = exc
        if self.last is None or self.last.answer is None:
            raise cut or self.nothing()
        answer = self.last.answer
        if not answer.text.strip():
            raise cut or no_answer(answer.empty_reason)
        citations, undecoded = cite(self.last.citations or cited_in(answer.document))
        return Answer(
            text=answer.text,
            citations=citations,
            follow_ups=self.last.follow_ups or [chip.text for chip in self.last.next_steps],
            turn=answer.turn,
            document=answer.document.row if answer.document is not None else None,
            truncated=not self.last.final,
            undecoded=undecoded,
        )

    def nothing(self) -> NlmError:
        if self.thought:
            return Service("the model stopped while still thinking; there is no answer")
        return RateLimited("the service ended the stream without an answer: the chat allowance is probably used up")


def snapshot_of(reply: Reply) -> Snapshot | None:
    """The snapshot in one reply; None for a heartbeat."""
    if reply.row is None or reply.row == []:
        return None
    if type(reply.row) is not list:
        raise DecodeError(Snapshot.__name__, "", "expected an array")
    return Snapshot.decode(reply.row)


def cited_in(document: Lazy[Document] | None) -> list[Lazy[Citation]]:
    """The document's own citation table, where the snapshot does not repeat it."""
    rows = items(document.row, CITATIONS) if document is not None else []
    return [Lazy(Citation, row[1] if type(row) is list and len(row) > 1 else row) for row in rows]


def cite(rows: list[Lazy[Citation]]) -> tuple[list[Cited], list[str]]:
    """Citations with the numbers their markers carry; one that does not decode leaves a hole, never a shift."""
    found, undecoded = [], []
    for index, lazy in enumerate(rows, start=1):
        try:
            found.append(cited(index, lazy))
        except DecodeError as exc:
            undecoded.append(f"citation {index}{exc.path}: {exc.why}")
    return found, undecoded


def cited(index: int, lazy: Lazy[Citation]) -> Cited:
    citation = lazy.decode()
    if not citation.passages:
        raise DecodeError(Citation.__name__, ".6", "no passage names the source")
    at: Any = citation.ranges[0] if citation.ranges else None
    return Cited(
        index,
        citation.passages[0].source_id,
        quoted(lazy.row),
        (at.start or 0) if at else None,
        at.end if at else None,
        lazy.row,
    )


def no_answer(reason: int | None) -> NlmError:
    why = {UNANSWERABLE: "the sources do not answer this question", FILTERED: "the service filtered its answer"}
    said = why.get(reason or 0, "the service answered with empty text")
    return Service(said, hint="Ask differently, or add sources that cover it.", details={"reason": reason})


def refusal(status: Status) -> NlmError:
    """The error an error frame stands for."""
    error = status.error()
    if status.code == 3 and not status.user_displayable:
        error.hint = "Shorten the question (about 12 KB is the limit) and check that the notebook has sources."
    return error
