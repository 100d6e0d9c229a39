"""Answers as frames, and frames as bodies: RPC replies at once, answers of the chat one chunk at a time.

Layout as recorded: small replies share a chunk with the bookkeeping, large ones stand alone; every count is true.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nlm_cdp.sim.answers import Answer, Pieces, Refusal, Reshaped
from nlm_cdp.sim.http import Sized
from nlm_cdp.wire.batchexecute import Call
from nlm_cdp.wire.document import units
from nlm_cdp.wire.frames import PREFIX, compact, frame_body, frame_chunk, trailer
from nlm_cdp.wire.pblite import Message

LARGE = 1_800
"""Characters of a reply that gets a chunk of its own (recorded: 1,491 does not, 2,378 does)."""
SURROGATE = re.compile(r"[\ud800-\udfff]")

Frame = list[Any]


@dataclass(frozen=True, slots=True)
class LargeFrame:
    """A reply whose payload is made piece by piece."""

    call: Call
    pieces: Pieces

    @property
    def head(self) -> str:
        return f'[["wrb.fr",{compact(self.call.rpc)},"'

    @property
    def tail(self) -> str:
        return f'",null,null,null,{compact(self.call.discriminator)}]]'

    def text(self) -> Iterator[str]:
        yield self.head
        for piece in self.pieces.text():
            yield json.dumps(piece, ensure_ascii=False)[1:-1]
        yield self.tail


def payload(row: Any) -> str:
    """A row as JSON text; half a surrogate pair is escaped, as the service does."""
    return SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", compact(row))


def reply_frame(call: Call, answer: Answer) -> Frame | LargeFrame:
    """One call's frame: a payload, nothing, or a status."""
    if isinstance(answer, Pieces):
        return LargeFrame(call, answer)
    text = payload(answer.encode()) if isinstance(answer, Message | Reshaped) else None
    status = answer.row if isinstance(answer, Refusal) else None
    return ["wrb.fr", call.rpc, text, None, None, status, call.discriminator]


def snapshot_frame(row: Any) -> Frame:
    return ["wrb.fr", None, payload(row)]


def error_frame(refusal: Refusal) -> Frame:
    return ["wrb.fr", None, None, None, None, refusal.row]


def bookkeeping(number: int, milliseconds: int = 12) -> list[Frame]:
    return [["di", milliseconds], ["af.httprm", milliseconds, str(number), 10]]


def rpc_body(frames: list[Frame | LargeFrame], number: int) -> bytes | Sized:
    """The body of an RPC answer."""
    if any(isinstance(frame, LargeFrame) for frame in frames):
        return sized(frames, number)
    plain = [frame for frame in frames if not isinstance(frame, LargeFrame)]
    if sum(len(frame[2] or "") for frame in plain if len(frame) > 2 and isinstance(frame[2], str)) > LARGE:
        chunks = [*([frame] for frame in plain), bookkeeping(number)]
    else:
        chunks = [[*plain, *bookkeeping(number)]]
    return frame_body(chunks).encode()


def sized(frames: list[Frame | LargeFrame], number: int) -> Sized:
    """A body with a reply that is too large to hold: made once to be counted, and again to be sent."""
    counted = [counts(frame) for frame in frames]
    notes = frame_chunk(bookkeeping(number))
    size = len(f"{PREFIX}\n\n{notes}") + sum(size for _, size in counted)
    end = trailer(len(frames) + 3, size)

    def pieces() -> Iterator[bytes]:
        yield f"{PREFIX}\n\n".encode()
        for frame, (length, _) in zip(frames, counted, strict=True):
            yield f"{length}\n".encode()
            for piece in text_of(frame):
                yield piece.encode()
            yield b"\n"
        yield f"{notes}{end}".encode()

    return Sized(pieces, size + len(end))


def counts(frame: Frame | LargeFrame) -> tuple[int, int]:
    """A chunk's declared length, and all the bytes it takes."""
    length, size = 2, 0
    for piece in text_of(frame):
        length += units(piece)
        size += len(piece) if piece.isascii() else len(piece.encode())
    return length, size + len(f"{length}\n\n")


def text_of(frame: Frame | LargeFrame) -> Iterator[str]:
    return frame.text() if isinstance(frame, LargeFrame) else iter([compact([frame])])


def chat_chunks(frames: list[Frame], number: int) -> Iterator[str]:
    """The chunks of a stream, its trailer last."""
    size, count = 0, 1
    for chunk in [*([frame] for frame in frames), bookkeeping(number)]:
        text = frame_chunk(chunk) if size else f"{PREFIX}\n\n{frame_chunk(chunk)}"
        size += len(text.encode())
        count += len(chunk)
        yield text
    yield trailer(count, size)


def miscounted(body: str, off: int) -> str:
    """The same body with every length wrong by this much."""
    return re.sub(r"^\d+$", lambda match: str(int(match[0]) + off), body, flags=re.MULTILINE)
