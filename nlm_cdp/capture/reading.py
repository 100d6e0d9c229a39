"""What the registry makes of a recorded call: which declared call it is, and what its answer holds.

One reading serves fixtures, `follow`, `drift` and `learn`; nothing in it raises for what the wire says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from nlm_cdp.api import classify, leftover, variants
from nlm_cdp.capture.calls import UPLOAD, Recorded
from nlm_cdp.errors import DecodeError, NlmError
from nlm_cdp.overrides import Overrides
from nlm_cdp.rpc import Rpc
from nlm_cdp.wire.batchexecute import UPLOAD_FIELDS, reply_of
from nlm_cdp.wire.chat import ChatReader
from nlm_cdp.wire.pblite import Message, Row, unclaimed
from nlm_cdp.wire.status import Status

NONE = Overrides()


@dataclass(slots=True)
class Reading:
    """An answer, read. At most one of `refused` and `failure` is set; `failure` is a wire path and the reason."""

    rows: list[Row] = field(default_factory=list)
    message: Message | None = None
    refused: Status | None = None
    failure: str | None = None
    unclaimed: list[str] = field(default_factory=list)
    expect: Any = None


def declared(call: Recorded, overrides: Overrides = NONE) -> Rpc[Any, Any] | None:
    """The declared call that this is; None where the id is unknown or no single variant claims the request."""
    return classify(overrides.declared(call.rpc), call.params) if isinstance(call.params, list) else None


def nearest(call: Recorded, overrides: Overrides = NONE) -> tuple[Rpc[Any, Any], list[str]] | None:
    """The variant that reads most of an unclaimed request, and what stands in its way; None for an unknown id."""
    found: list[tuple[bool, int, Rpc[Any, Any], list[str]]] = []
    for rpc in variants(overrides.declared(call.rpc)):
        left = leftover(rpc, call.params)
        found.append((left is None, len(left or ()), rpc, left if left is not None else misfit(rpc, call.params)))
    return min(found, key=lambda item: item[:2])[2:] if found else None


def misfit(rpc: Rpc[Any, Any], row: Row) -> list[str]:
    """Why a request model does not read a row."""
    try:
        rpc.request.decode(row)
    except DecodeError as exc:
        return [f"{exc.path or '.'}: {exc.why}"]
    return []


def read_upload(params: Any) -> list[str]:
    """What is unlike the start of an upload that we send."""
    if not isinstance(params, dict):
        return [".: expected an object"]
    return [f".{name}: missing" for name in UPLOAD_FIELDS if name not in params] + [
        f".{name}: unknown" for name in params if name not in UPLOAD_FIELDS
    ]


def read(call: Recorded, rpc: Rpc[Any, Any] | None) -> Reading:
    """The answer of a call as `rpc` declares it; of an undeclared one, its rows alone."""
    found = Reading()
    if call.chunks is None or call.rpc == UPLOAD:
        return found
    try:
        for reply in (reply_of(list(frame)) for chunk in call.chunks for frame in chunk):
            if reply is not None and reply.status is not None:
                found.refused = reply.status
            elif reply is not None and reply.row is not None:
                found.rows.append(reply.row)
    except NlmError as exc:
        found.failure = exc.message
        return found
    if found.refused is not None and not (rpc is not None and found.refused.code in rpc.harmless):
        found.expect = {"refused": found.refused.code}
        return found
    if rpc is not None:
        try:
            (understand_stream if rpc.stream else understand)(found, rpc, call)
        except DecodeError as exc:
            found.failure = f"{exc.path or '.'}: {exc.why}"
    return found


def understand(found: Reading, rpc: Rpc[Any, Any], call: Recorded) -> None:
    if not found.rows and not (rpc.null or not rpc.response.model_fields or found.refused is not None):
        found.failure = ".: nothing came where data belongs"
        return
    row = found.rows[-1] if found.rows else []
    found.message = rpc.response.decode(row)
    found.expect = found.message.model_dump(mode="json", exclude_none=True)
    found.failure = "; ".join(found.message.undecoded) or None
    found.unclaimed = list(unclaimed(rpc.response, row))


def understand_stream(found: Reading, rpc: Rpc[Any, Any], call: Recorded) -> None:
    """An answer that came to nothing (filtered, out of allowance) is the service's word, no change of shape."""
    reader = ChatReader()
    try:
        for _ in reader.feed(call.body or ""):
            pass
        answer = reader.close()
        found.expect = {"answer": answer.text, "cited": [cited.source_id for cited in answer.citations]}
        found.failure = "; ".join(answer.undecoded) or None
    except DecodeError:
        raise
    except NlmError as exc:
        found.expect = {"ended": exc.code}
    rows = [row for row in found.rows if isinstance(row, list)]
    found.unclaimed = sorted({path for row in rows for path in unclaimed(rpc.response, row)})
