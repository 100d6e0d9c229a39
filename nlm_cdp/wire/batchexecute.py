"""batchexecute: calls into `f.req`, and length-prefixed frames back into replies.

A body ends as one of a closed set: data, a typed rejection, drift, not an RPC reply, or a cut transport. Frames are
read line by line (their JSON never holds a raw line break), so a wrong count loses nothing; every count is still
checked and what disagrees is kept in `faults`. Source: 456 chunks of January 2026 (C): a count is UTF-16 units + 2.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any
from urllib.parse import parse_qs, urlencode

from pydantic_core import from_json

from nlm_cdp.errors import (
    Cancelled,
    Drift,
    InvalidArgument,
    Network,
    NlmError,
    NotFound,
    NotReady,
    Outcome,
    Permission,
    RateLimited,
    Service,
    SignedOut,
    Timeout,
)
from nlm_cdp.wire.document import units
from nlm_cdp.wire.pblite import Row

PREFIX = ")]}'"
GENERIC = "generic"
PATH = "/_/LabsTailwindUi/data/batchexecute"
CHAT_PATH = (
    "/_/LabsTailwindUi/data/google.internal.labs.tailwind.orchestration.v1"
    ".LabsTailwindOrchestrationService/GenerateFreeFormStreamed"
)
UPLOAD_PATH = "/upload/_/"
UPLOAD_FIELDS = ("PROJECT_ID", "SOURCE_NAME", "SOURCE_ID")
"""What the start of an upload says of its file, as JSON (C)."""
CONTENT_TYPE = "application/x-www-form-urlencoded;charset=UTF-8"
USER_DISPLAYABLE = "UserDisplayableError"


class NotRpcReply(NlmError):
    """The body is no batchexecute reply at all: a wall, a login page, or nothing."""

    code = "SERVICE"
    retriable = True
    advice = "The service answered with something other than data; open the notebook in Chrome to see what it shows."


# The request


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a request; `discriminator` is echoed by its reply."""

    rpc: str
    params: Row
    discriminator: str = GENERIC


def f_req(calls: Iterable[Call]) -> str:
    return compact([[[call.rpc, compact(call.params), None, call.discriminator] for call in calls]])


def chat_f_req(params: Row) -> str:
    return compact([None, compact(params)])


def query(rpcs: Iterable[str], source_path: str, reqid: int) -> dict[str, str]:
    """The query's known part; the page adds `bl`, `f.sid`, `hl` and a non-default `authuser`."""
    return {"rpcids": ",".join(rpcs), "source-path": source_path, "_reqid": str(reqid), "rt": "c"}


def form(f_req_text: str, at: str) -> str:
    """The body as the web app sends it, trailing ampersand included."""
    return urlencode({"f.req": f_req_text, "at": at}) + "&"


def parse_form(body: str) -> list[Call]:
    """The calls of a recorded request body, a chat stream's as one call without a name. Raises Drift."""
    try:
        outer = json.loads(parse_qs(body, keep_blank_values=True, strict_parsing=False)["f.req"][0])
        if outer[0] is None:
            return [Call("", json.loads(outer[1]))]
        return [Call(call[0], json.loads(call[1]), (call[3:] or [GENERIC])[0]) for call in outer[0]]
    except (KeyError, IndexError, TypeError, ValueError, RecursionError):
        raise Drift("the request body is not a batchexecute form") from None


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# Frames


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


# Replies

STATUS = (
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)
"""google.rpc.Code by number."""

ERRORS: dict[int, type[NlmError]] = {
    1: Cancelled,
    3: InvalidArgument,
    4: Timeout,
    5: NotFound,
    6: InvalidArgument,
    7: Permission,
    8: RateLimited,
    9: NotReady,
    11: InvalidArgument,
    12: Drift,
    16: SignedOut,
}

HTTP_STATUS = {400: 3, 401: 16, 403: 7, 404: 5, 429: 8, 500: 13, 503: 14}
"""An `er` frame carries HTTP-style codes (known to peers, never recorded)."""


@dataclass(frozen=True, slots=True)
class Status:
    """A refusal: google.rpc code, and what the service wants a person to read, where it says so."""

    code: int
    message: str = ""
    user_displayable: bool = False

    @property
    def name(self) -> str:
        return STATUS[self.code] if 0 <= self.code < len(STATUS) else f"status {self.code}"

    @classmethod
    def read(cls, status: Any) -> Status:
        code = status[0] if type(status) is list and status and type(status[0]) is int else 2
        strings = list(strings_in(status))
        types = [text for text in strings if text.startswith("type.googleapis.com/")]
        words = [text for text in strings if text not in types and (" " in text or not text.isascii())]
        return cls(code, words[0] if words else "", any(USER_DISPLAYABLE in text for text in types))

    def error(self) -> NlmError:
        """The refusal as an error: nothing was changed."""
        kind = RateLimited if self.user_displayable else ERRORS.get(self.code, Service)
        said = self.message or f"the service refused: {self.name.lower().replace('_', ' ')}"
        return kind(said, outcome=Outcome.REJECTED, details={"status": self.name, "status_code": self.code})


@dataclass(frozen=True, slots=True)
class Reply:
    """What one call was answered: a row, a refusal, or (both None) an empty success."""

    rpc: str
    row: Any = None
    status: Status | None = None
    discriminator: str = GENERIC


@dataclass(slots=True)
class Replies:
    """Every reply of one body, the framing faults beside them, and whether the body was cut after them."""

    replies: list[Reply] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    cut: Network | None = None

    def of(self, rpc: str, discriminator: str = GENERIC) -> Reply:
        """The reply to one call: complete even where the body was cut after it.

        Raises Network (cut before it), NotRpcReply (no reply at all) or Drift (others came instead).
        """
        mine = [reply for reply in self.replies if reply.rpc == rpc]
        exact = [reply for reply in mine if reply.discriminator == discriminator] or mine
        exact += [reply for reply in self.replies if not reply.rpc and reply.status]  # `er`: all calls are refused
        if not exact:
            if self.cut is not None:
                raise self.cut
            seen = sorted({reply.rpc for reply in self.replies})
            if not seen:
                raise NotRpcReply("the reply holds no answer")
            raise Drift("the service answered another call than the one sent", details={"rpc": rpc, "seen": seen})
        # a null heartbeat may come first; the last reply that says something wins
        return next((reply for reply in reversed(exact) if reply.row is not None or reply.status), exact[-1])


def read_replies(body: bytes | str) -> Replies:
    """All replies of a body. Raises NotRpcReply, Network (cut before any) or Drift (frames that cannot be read)."""
    reader = FrameReader()
    found = Replies()
    frames = chain(reader.feed(body), reader.rest())
    del body  # its lines live in the reader
    try:
        for frame in frames:
            if (reply := reply_of(frame)) is not None:
                found.replies.append(reply)
        reader.close()
    except Network as cut:
        if not found.replies:
            raise
        found.cut = cut
    found.faults = reader.faults
    return found


def reply_of(frame: list[Any]) -> Reply | None:
    """The reply in one frame; None for bookkeeping (`di`, `af.httprm`, `e`) and for tags nobody knows."""
    tag, size = frame[0], len(frame)
    if tag == "er":
        code = next((cell for cell in frame[2:] if type(cell) is int), 0)
        return Reply(str(frame[1] or "") if size > 1 else "", status=Status(HTTP_STATUS.get(code, 2)))
    if tag != "wrb.fr":
        return None
    _, rpc, text, _, _, status, discriminator, *_ = frame + [None] * 7
    if not isinstance(rpc, str | None):
        raise Drift("a reply names its call by something other than an id")
    frame[2:3] = ()  # a 60 MB text need not live beside its own parse
    if status and (refused := Status.read(status)).code:
        return Reply(rpc or "", status=refused, discriminator=discriminator or GENERIC)
    if text is None:
        return Reply(rpc or "", discriminator=discriminator or GENERIC)
    if type(text) is not str:
        raise Drift("a reply's payload is not text", details={"rpc": rpc})
    if not text.isascii():
        text = packed(text)
    try:
        row = parsed(text)
    except (ValueError, RecursionError):
        raise Drift("a reply's payload is not JSON", details={"rpc": rpc}) from None
    return Reply(rpc or "", row, discriminator=discriminator or GENERIC)


def strings_in(value: Any) -> Iterator[str]:
    stack = [value]
    while stack:
        top = stack.pop()
        if type(top) is str:
            yield top
        elif type(top) is list:
            stack.extend(reversed(top))


# The answering side, for the simulator and for fixtures that must carry true counts


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


def answer_frame(rpc: str | None, row: Any, status: list[Any] | None = None, discriminator: str = GENERIC) -> list[Any]:
    return ["wrb.fr", rpc, None if row is None else compact(row), None, None, status, discriminator]
