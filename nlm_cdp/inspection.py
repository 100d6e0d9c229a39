"""Recorded payloads, read without a browser: what `nlm-cdp wire` prints. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from nlm_cdp import api
from nlm_cdp.errors import DecodeError, Drift, Network, NlmError
from nlm_cdp.overrides import Overrides
from nlm_cdp.rpc import Rpc
from nlm_cdp.wire.batchexecute import Reply, read_replies, reply_of
from nlm_cdp.wire.chat import ChatReader, Snapshot
from nlm_cdp.wire.frames import FrameReader, NotRpcReply
from nlm_cdp.wire.pblite import Row, unclaimed

CHAT = "chat"
NONE = Overrides()


def decode_body(body: bytes, rpc: str | None = None, overrides: Overrides = NONE) -> dict[str, Any]:
    """Every reply of a batchexecute body, with what its declaration leaves over."""
    try:
        found = read_replies(body)
    except Drift as exc:
        return {"replies": [entry(rpc, "drift", message=exc.message)]}
    except NlmError as exc:
        return {"replies": [entry(rpc, "not_rpc", message=exc.message)]}
    faults = found.faults + ([found.cut.message] if found.cut is not None else [])
    replies = [describe(reply, overrides) for reply in found.replies if rpc in (None, reply.rpc)]
    if not replies:
        seen = sorted({reply.rpc for reply in found.replies})
        message = f"the body answers {', '.join(seen)}" if seen else "the body holds no answer"
        replies = [entry(rpc, "drift" if seen else "not_rpc", message=message)]
    return {"replies": replies} | ({"framing": faults} if faults else {})


def describe(reply: Reply, overrides: Overrides) -> dict[str, Any]:
    if reply.status is not None:
        said = reply.status.message or reply.status.name
        return entry(reply.rpc, "rejected", status=reply.status.code, message=said)
    if reply.row is None:
        return entry(reply.rpc, "empty")
    if not (calls := api.variants(overrides.declared(reply.rpc))):
        return entry(reply.rpc, "drift", message="no call with this id is declared")
    readings = [reading(call, reply) for call in calls]
    return min(readings, key=lambda item: (item["outcome"] != "data", len(item["unclaimed"]) + len(item["undecoded"])))


def reading(call: Rpc[Any, Any], reply: Reply) -> dict[str, Any]:
    """The reply as one variant reads it."""
    try:
        message = call.response.decode(reply.row)
    except DecodeError as exc:
        return entry(reply.rpc, "drift", message=exc.message)
    left = list(unclaimed(call.response, reply.row))
    return entry(reply.rpc, "data", unclaimed=left, undecoded=list(message.undecoded)) | {
        "variant": call.variant or None
    }


def entry(
    rpc: str | None,
    outcome: str,
    *,
    status: int | None = None,
    message: str | None = None,
    unclaimed: list[str] | None = None,
    undecoded: list[str] | None = None,
) -> dict[str, Any]:
    return {
        "rpc": rpc,
        "outcome": outcome,
        "status": status,
        "message": message,
        "unclaimed": unclaimed or [],
        "undecoded": undecoded or [],
    }


def decode_chat(body: bytes) -> dict[str, Any]:
    """The final answer of a recorded stream, its citations, and what the frames hold that nobody declared."""
    reader, left = ChatReader(), set[str]()
    try:
        for frame in frames_of(body):
            reply = reply_of(frame)
            if reply is not None and isinstance(reply.row, list):
                left.update(unclaimed(Snapshot, reply.row))
        for _ in reader.feed(body):
            pass
        answer = reader.close()
    except (NotRpcReply, Network) as exc:
        return entry(CHAT, "not_rpc", message=exc.message)
    except Drift as exc:
        return entry(CHAT, "drift", message=exc.message)
    except NlmError as exc:
        return entry(CHAT, "rejected", status=exc.details.get("status_code"), message=exc.message)
    return entry(CHAT, "data", unclaimed=sorted(left), undecoded=answer.undecoded) | {
        "answer": answer.text,
        "citations": [
            {key: value for key, value in asdict(cited).items() if key != "row"} for cited in answer.citations
        ],
        "follow_ups": answer.follow_ups,
        "truncated": answer.truncated,
    }


def frames_of(body: bytes) -> Iterator[list[Any]]:
    """Every whole frame; how a body ends is judged elsewhere."""
    reader = FrameReader()
    yield from reader.feed(body)
    with suppress(Network, NotRpcReply):
        yield from reader.rest()


def classify_params(rpc: str, params: Row, overrides: Overrides = NONE) -> dict[str, Any]:
    """Which declared call a request row is, read and written back."""
    rpc = overrides.declared(rpc)
    call = api.classify(rpc, params)
    if call is None:
        near = {item.variant or item.method: api.leftover(item, params) for item in api.variants(rpc)}
        readable = [paths for paths in near.values() if paths is not None]
        closest = min(readable, key=len) if readable else []
        return {"variant": None, "request": None, "unclaimed": closest, "reencoded": None}
    request = call.request.decode(params)
    return {
        "variant": call.variant or call.method,
        "request": request.model_dump(mode="json", exclude_none=True),
        "unclaimed": [],
        "reencoded": request.encode(),
    }


def registry(overrides: Overrides = NONE) -> list[dict[str, Any]]:
    """Every declared call; `now` is the id it goes by where an override says so."""
    return [
        {
            "id": call.id,
            "method": call.method,
            "variant": call.variant or None,
            "effect": str(call.effect),
            "path": str(call.path),
            "grade": call.grade,
        }
        | ({"now": overrides.ids[call.id]} if call.id in overrides.ids else {})
        for call in api.RPCS
    ]
