"""batchexecute: calls into `f.req`, and frames back into replies.

A body ends as one of a closed set: data, a typed rejection, drift, not an RPC reply, or a cut transport.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any
from urllib.parse import parse_qs, urlencode

from nlm_cdp.errors import Drift, Network
from nlm_cdp.wire.frames import FrameReader, NotRpcReply, compact, packed, parsed
from nlm_cdp.wire.pblite import Row
from nlm_cdp.wire.status import HTTP_STATUS, Status

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


# Replies


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


def answer_frame(rpc: str | None, row: Any, status: list[Any] | None = None, discriminator: str = GENERIC) -> list[Any]:
    """What the service would answer a call with, for the simulator and for fixtures."""
    return ["wrb.fr", rpc, None if row is None else compact(row), None, None, status, discriminator]
