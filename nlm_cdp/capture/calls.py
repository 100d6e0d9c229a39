"""Exchanges into calls: one `Recorded` for each call of a request, with the frames that answer it and no others.

Nothing is judged here: a body that is no reply, or that was cut, is a call whose answer is lost, with the reason.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from nlm_cdp.api.chat.chat import ASK
from nlm_cdp.capture.exchange import Body, Exchange, Kind, Part
from nlm_cdp.errors import Drift, NlmError
from nlm_cdp.wire.batchexecute import GENERIC, Call, parse_form
from nlm_cdp.wire.frames import FrameReader, frame_body, loosely

UPLOAD = "upload"
"""What the start of an upload goes by, which is no RPC."""
REPLY, TRAILER = "wrb.fr", "e"
LINE = re.compile(r"[^\n]*\n|[^\n]+")

PENDING = Body(lost="it has not come yet")

Frame = list[Any]


@dataclass(slots=True)
class Recorded:
    """One call as it was on the wire. `params` is None where the request is lost; `chunks` are the answer's frames.

    `status` is HTTP's; `lost` says what is missing and why; `faults` is what the framing got wrong.
    """

    rpc: str
    params: Any
    source_path: str
    host: str
    bl: str
    status: int | None = None
    chunks: list[list[Frame]] | None = None
    lost: str | None = None
    faults: list[str] = field(default_factory=list)
    began: float = 0.0
    took: float | None = None

    @property
    def body(self) -> str | None:
        """The framed text of the answer, its counts true."""
        return None if self.chunks is None else frame_body(self.chunks)


def calls_of(exchange: Exchange) -> list[Recorded]:
    """The calls of an exchange whose request is known; where that is lost, one of unknown parameters for each id."""
    query, missing_request = exchange.query, exchange.request.lost
    try:
        calls = requested(exchange)
    except Drift as exc:
        calls, missing_request = [], exc.message
    if not calls:
        calls = [Call(id, []) for id in named(exchange)]
        missing_request = f"the request: {missing_request}"
    chunks, faults, missing = answered(exchange.kind, exchange.bodies.get(Part.RESPONSE, PENDING))
    if missing is not None and exchange.failed is not None and exchange.failed not in missing:
        missing = f"{missing}; {exchange.failed}"
    repeated = {id for id, times in Counter(call.rpc for call in calls).items() if times > 1}
    return [
        Recorded(
            rpc=call.rpc,
            params=None if missing_request else call.params,
            source_path=query.get("source-path", "/"),
            host=exchange.host,
            bl=query.get("bl", ""),
            status=exchange.status,
            chunks=None if chunks is None else only(chunks, call, by_name=call.rpc in repeated),
            lost="; ".join(filter(None, (missing_request, missing))) or None,
            faults=faults,
            began=exchange.began,
            took=exchange.took,
        )
        for call in calls
    ]


def named(exchange: Exchange) -> list[str]:
    """What the address says of the calls."""
    if exchange.kind is Kind.RPC:
        return exchange.query.get("rpcids", "").split(",")
    return [ASK.id if exchange.kind is Kind.CHAT else UPLOAD]


def requested(exchange: Exchange) -> list[Call]:
    """The calls that the request body holds. Raises Drift."""
    content = exchange.request.content
    if content is None:
        return []
    if not isinstance(content, str):
        raise Drift("the body is not text")
    if exchange.kind is Kind.UPLOAD:
        try:
            return [Call(UPLOAD, json.loads(content))]
        except (ValueError, RecursionError):
            raise Drift("the start of an upload is not JSON") from None
    return [Call(call.rpc or ASK.id, call.params, call.discriminator) for call in parse_form(content)]


def answered(kind: Kind, body: Body) -> tuple[list[list[Frame]] | None, list[str], str | None]:
    """The chunks of an answer, its framing faults, and why there are no chunks."""
    if body.content is None:
        return None, [], f"the answer: {body.lost}"
    if kind is Kind.UPLOAD:
        return None, [], None  # an upload's start is answered by headers alone
    text = body.content if isinstance(body.content, str) else loosely(body.content)
    reader = FrameReader()
    try:
        chunks = [list(reader.feed(line)) for line in LINE.findall(text)]
        chunks.append(list(reader.rest()))
        reader.close()
    except NlmError as exc:
        return None, reader.faults, f"the answer: {exc.message}"
    return chunks, reader.faults, None


def only(chunks: list[list[Frame]], call: Call, *, by_name: bool) -> list[list[Frame]]:
    """The frames for one call of a batch: its replies, errors of the whole batch, and the bookkeeping."""

    def kept(frame: Frame) -> bool:
        if frame[0] == TRAILER:
            return False
        if frame[0] != REPLY or call.rpc == ASK.id:
            return True
        return frame[1:2] == [call.rpc] and (not by_name or (frame[6:7] or [GENERIC])[0] == call.discriminator)

    return [mine for chunk in chunks if (mine := [frame for frame in chunk if kept(frame)])]
