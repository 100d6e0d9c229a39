"""A fixture: one recorded call, redacted, as a file that tells its story: folder = rpc, file = scenario.

The text of a fixture is canonical, so the same exchange and the same key give the same bytes. Nothing reaches a file
before the scanner has looked at the finished text and found nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from nlm_cdp.api import RPCS
from nlm_cdp.capture.calls import UPLOAD, Frame, Recorded, answered, only
from nlm_cdp.capture.exchange import Body, Kind
from nlm_cdp.capture.reading import declared, read
from nlm_cdp.errors import FileRefused, InvalidArgument
from nlm_cdp.rpc import Rpc
from nlm_cdp.wire.batchexecute import UPLOAD_FIELDS, Call
from nlm_cdp.wire.pblite import Message, canonical
from nlm_cdp.wire.redact import Redactor
from nlm_cdp.wire.secrets import hits
from nlm_cdp.wire.slots import slots

SURROGATE = re.compile("[\ud800-\udfff]")
ID = re.compile("[A-Za-z0-9]{4,12}|generic|[0-9]{1,3}")
Origin = Literal["live", "simulator"]
CLOCK = 1_795_996_800
"""Seconds since the epoch at which a simulated session always is: its bytes depend on nothing but the code."""


class LooksPersonal(FileRefused):
    """What is about to be written looks like a credential or a person."""

    advice = "Nothing was written. Please report which rule matched: the redaction has a gap."


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


class Request(Part):
    """`params` is the decoded row, null where the request is lost."""

    params: Any
    source_path: str


class Response(Part):
    """`body` is the framed text; `lost` says why there is none, or what else is missing."""

    status: int | None
    body: str | None
    lost: str | None = None


class Fixture(Part):
    """`expect` is what the answer decodes to, `unclaimed` the wire paths in it that no field claims."""

    format: Literal[1]
    origin: Origin
    captured: str
    host: str
    bl: str
    rpc: str
    variant: str
    request: Request
    response: Response
    expect: Any
    unclaimed: list[str]

    @property
    def text(self) -> str:
        """The file's content. Half a surrogate pair, which UTF-8 cannot hold, is escaped."""
        plain = self.model_dump(mode="json")
        if self.response.lost is None:
            del plain["response"]["lost"]
        text = json.dumps(plain, ensure_ascii=False, indent=1) + "\n"
        return SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)

    @property
    def recorded(self) -> Recorded:
        """The call as it would have come from the wire."""
        chunks, faults, missing = answered(Kind.RPC, Body(self.response.body, self.response.lost or "it is not kept"))
        return Recorded(
            rpc=self.rpc,
            params=self.request.params,
            source_path=self.request.source_path,
            host=self.host,
            bl=self.bl,
            status=self.response.status,
            chunks=None if chunks is None else only(chunks, Call(self.rpc, []), by_name=False),
            lost=self.response.lost or (missing if self.response.body is not None else None),
            faults=faults,
        )


def parse(text: str) -> Fixture:
    """Raises InvalidArgument for what is no fixture of this format; old formats are captured anew, not converted."""
    try:
        return Fixture.model_validate(json.loads(text))  # pydantic's own parser refuses half a surrogate pair
    except (ValueError, RecursionError) as exc:
        if not isinstance(exc, ValidationError):
            raise InvalidArgument("not a fixture: it is not JSON") from None
        where = ".".join(map(str, exc.errors()[0]["loc"])) or "the whole"
        raise InvalidArgument(f"not a fixture of format 1: {where} is wrong") from None


@cache
def known_strings() -> frozenset[str]:
    """Every string that a declaration names: constants of the protocol, the same for everybody."""
    reached: list[type[Message]] = []
    for message in (model for rpc in RPCS for model in (rpc.request, rpc.response)):
        reached += [message] if message not in reached else []
    found = set[str]()
    for message in reached:
        reached += [slot.message for slot in slots(message) if slot.message and slot.message not in reached]
        for field in message.model_fields.values():
            found |= {value for value in literals(field.annotation) if isinstance(value, str)}
    return frozenset(found)


def literals(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    else:
        for inner in get_args(annotation)[: 1 if get_origin(annotation) is Annotated else None]:
            yield from literals(inner)


def redactor(key: bytes) -> Redactor:
    """Same key, same placeholders."""
    return Redactor(key, keep=known_strings() | set(UPLOAD_FIELDS))


def fixture(call: Recorded, redact: Redactor, *, origin: Origin, captured: str) -> Fixture:
    """A call without anything of its user's; the answer is read anew from what is left."""
    safe = Recorded(
        rpc=call.rpc if ID.fullmatch(call.rpc) else redact.text(call.rpc),
        params=redact.row(call.params),
        source_path=redact.path(call.source_path),
        host=call.host,
        bl=redact.text(call.bl),
        status=call.status,
        chunks=None if call.chunks is None else [[without(frame, redact) for frame in chunk] for chunk in call.chunks],
        lost=call.lost,
    )
    rpc = declared(safe)
    reading = read(safe, rpc)
    return Fixture(
        format=1,
        origin=origin,
        captured=captured,
        host=safe.host,
        bl=safe.bl,
        rpc=safe.rpc,
        variant=rpc.variant if rpc is not None else "",
        request=Request(params=safe.params, source_path=safe.source_path),
        response=Response(status=safe.status, body=safe.body, lost=safe.lost),
        expect=reading.expect,
        unclaimed=reading.unclaimed,
    )


def without(frame: Frame, redact: Redactor) -> Frame:
    """A frame with what it says of the protocol, and placeholders for what it says of its user."""
    return [
        cell if index == 0 or (index in (1, 6) and isinstance(cell, str) and ID.fullmatch(cell)) else redact.row(cell)
        for index, cell in enumerate(frame)
    ]


def folder_of(call: Recorded, rpc: Rpc[Any, Any] | None) -> str:
    return f"{rpc.id}-{rpc.method}" if rpc is not None else call.rpc


def checked(text: str) -> str:
    """The text, if nothing in it looks personal; raises LooksPersonal naming the rules, never what they matched."""
    if found := hits(text):
        raise LooksPersonal(f"the fixture still holds what looks like: {', '.join(sorted(set(found)))}")
    return text


def problems(text: str, folder: str) -> Iterator[str]:
    """Everything that is wrong with a fixture as it stands in a folder."""
    yield from (f"looks like it holds {rule}" for rule in sorted(set(hits(text))))
    try:
        found = parse(text)
    except InvalidArgument as exc:
        yield exc.message
        return
    if found.text != text:
        yield "is not in canonical form"
    call = found.recorded
    if call.faults:
        yield f"has false counts: {call.faults[0]}"
    elif call.body != found.response.body:
        yield "is not framed as a recording is"
    if call.rpc == UPLOAD:
        return
    rpc = declared(call)
    if rpc is None:
        yield "its request is no declared call" if call.params is not None else "its request is lost"
        return
    if rpc.variant != found.variant:
        yield f"its request is the variant {rpc.variant or 'plain'!r}, not {found.variant or 'plain'!r}"
    if folder_of(call, rpc) != folder:
        yield f"belongs into {folder_of(call, rpc)}"
    if canonical(rpc.request.decode(call.params).encode()) != canonical(call.params):
        yield "its request does not encode to itself"
    reading = read(call, rpc)
    if reading.failure is not None:
        yield f"its answer does not decode: {reading.failure}"
    if reading.expect != found.expect:
        yield "its answer decodes to something else than it expects"
    if reading.unclaimed != found.unclaimed:
        yield "its answer leaves other cells unclaimed than it says"
