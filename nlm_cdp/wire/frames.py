"""Length-prefixed frames: the framing of every answer, read in any pieces and written with true counts.

Frames are read line by line (their JSON never holds a raw line break), so a wrong count loses nothing; every count is
still checked and what disagrees is kept in `faults`. Source: 456 chunks of January 2026 (C): a count is UTF-16 units
+ 2.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic_core import from_json

from nlm_cdp.errors import Drift, Network, NlmError
from nlm_cdp.wire.document import units

PREFIX = ")]}'"


class NotRpcReply(NlmError):
    """The body is no batchexecute reply at all: a wall, a login page, or nothing."""

    code = "SERVICE"
    retriable = True
    advice = "The service answered with something other than data; open the notebook in Chrome to see what it shows."


# Reading


class FrameReader:
    """Bytes or text in, in any pieces; frames out.

    `faults` lists what the counts or the layout got wrong although the data could be read. `close` raises Network for a
    body that ends inside a chunk or before its trailer, NotRpcReply for one that never was an RPC reply.
    """

    def __init__(self) -> None:
        self.pending: list[bytes] = []
        self.declared: int | None = None
        self.started = False
        self.seen = 0
        self.frames = 0
        self.trailer: list[Any] | None = None
        self.faults: list[str] = []

    def feed(self, data: bytes | str) -> Iterator[list[Any]]:
        if isinstance(data, str):
            data = data.encode("utf-8", "surrogatepass")
        self.seen += len(data)
        *lines, tail = data.split(b"\n")
        del data  # it may be large, and so may its parse be
        lines.reverse()
        while lines:
            self.pending.append(lines.pop())
            yield from self.take()
        if tail:
            self.pending.append(tail)

    def rest(self) -> Iterator[list[Any]]:
        """Frames of a last line that no line break ends: to be read before `close`."""
        if self.pending:
            yield from self.take(last=True)

    def close(self) -> None:
        for _ in self.rest():
            pass
        if not self.started:
            raise NotRpcReply("the reply is empty" if not self.seen else "the reply is not an RPC reply")
        if self.declared is not None:
            raise Network("the reply was cut inside a chunk")
        if self.trailer is None:
            raise Network("the reply was cut before its end")
        count, total = (self.trailer + [None] * 5)[1:5:3]
        if count != self.frames:
            self.faults.append(f"the trailer counts {count} frames, {self.frames} came")
        if total != self.seen:
            self.faults.append(f"the trailer counts {total} bytes, {self.seen} came")

    def take(self, *, last: bool = False) -> Iterator[list[Any]]:
        line = b"".join(self.pending).removesuffix(b"\r")
        self.pending.clear()
        if not line or (not self.started and line == PREFIX.encode()):
            return
        if line.isdigit() and len(line) < 12:
            if self.declared is not None:
                self.faults.append("a length without its chunk")
            self.declared = int(line)
            return
        units = utf16_units(line)  # counted before the parse: both at once would hold a copy more of a large line
        try:
            frames = parsed(line)
        except (ValueError, RecursionError):
            if not self.started and not line.startswith(b"["):
                raise NotRpcReply("the reply is not an RPC reply") from None
            if last:
                raise Network("the reply was cut inside a chunk") from None
            raise Drift("a chunk of the reply is not JSON") from None
        if type(frames) is not list or not all(type(frame) is list and frame for frame in frames):
            raise Drift("a chunk of the reply is not a list of frames")
        self.check(units)
        del line
        self.started = True
        for frame in frames:
            self.frames += 1
            if frame[0] == "e":
                self.trailer = frame
            yield frame

    def check(self, units: int) -> None:
        """A count is units + 2 from the live service, + 0 in recordings that were edited and framed again."""
        if self.declared is None:
            self.faults.append("a chunk without its length")
        elif self.declared - units not in (2, 0):
            self.faults.append(f"a length says {self.declared}, the chunk has {units} + 2 units")
        self.declared = None


PIECE = 1 << 20
CONTINUATION, FOUR_BYTES = bytes(range(0x80, 0xC0)), bytes(range(0xF0, 0xF8))


def utf16_units(line: bytes) -> int:
    """UTF-16 units of a UTF-8 line: one for each character, two for those of four bytes."""
    if line.isascii():
        return len(line)
    return len(line.translate(None, CONTINUATION)) + len(line) - len(line.translate(None, FOUR_BYTES))


def parsed(text: bytes | bytearray | str) -> Any:
    """JSON by the faster parser; what that one is too strict for (lone surrogates) by the tolerant one.

    Bytes are parsed as they are: one character beyond U+FFFF makes a str of them four times as large.
    """
    try:
        return from_json(text, cache_strings="none")
    except (ValueError, TypeError):
        return json.loads(text if isinstance(text, str) else loosely(text))


def packed(text: str) -> bytearray:
    """UTF-8, piece by piece: to encode a text at once takes four bytes for each character of it."""
    found = bytearray()
    for at in range(0, len(text), PIECE):
        found += text[at : at + PIECE].encode("utf-8", "surrogatepass")
    return found


def loosely(text: bytes | bytearray) -> str:
    try:
        return text.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return text.decode("utf-8", "replace")


# Writing, for the simulator and for fixtures that must carry true counts


def frame_body(chunks: Iterable[list[Any]]) -> str:
    """A framed body: each chunk is a list of frames; the trailer with its true counts is added."""
    text, count = f"{PREFIX}\n\n", 1
    for chunk in chunks:
        text += frame_chunk(chunk)
        count += len(chunk)
    size = len(text.encode("utf-8", "surrogatepass"))
    return text + trailer(count, size)


def frame_chunk(frames: list[Any]) -> str:
    line = compact(frames)
    return f"{units(line) + 2}\n{line}\n"


def trailer(count: int, size: int) -> str:
    """The last chunk; `size` is what came before it, and its own digits count too."""
    total = size
    while (text := frame_chunk([["e", count, None, None, total]])) and size + len(text) != total:
        total = size + len(text)
    return text


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
