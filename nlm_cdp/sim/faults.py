"""Faults on request: what the service, the proxy in front of it, or the line can do to one answer.

A fault is used up in the order it was added, by the first request it is meant for. Whether a write takes effect before
it is said by `commit`; a kind that spoils an answer on its way (`ON_THE_WAY`) needs that answer, so there the write
always takes effect.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from nlm_cdp.sim.answers import Refusal
from nlm_cdp.sim.framing import Frame, LargeFrame, error_frame
from nlm_cdp.sim.http import Manner, Response
from nlm_cdp.wire.batchexecute import GENERIC, Call
from nlm_cdp.wire.frames import PREFIX

ANY = "*"
CHAT = "chat"
FOREIGN_ID = "ZZZZZZ"
DISPLAYABLE = "type.googleapis.com/google.internal.labs.tailwind.orchestration.v1.UserDisplayableError"
WALL = "<!doctype html><title>Sorry</title><p>Simulated wall: our systems have detected unusual traffic.</p>"


class Kind(StrEnum):
    """What goes wrong. The numbers and texts a kind uses are named behind it."""

    STATUS = "status"  # code, details: a typed rejection
    ER = "er"  # code: a batch-level error frame
    NULL = "null"  # a null payload without a status
    PAYLOAD = "payload"  # body: the payload's text, whatever it is
    FOREIGN = "foreign"  # only the answer to another id
    SEVERAL = "several"  # foreign, doubled and null replies around the true one, in reverse order
    BOOKKEEPING = "bookkeeping"  # no result frame at all: the chat's used-up allowance
    HTTP = "http"  # code, headers, body: an HTTP error
    WALL = "wall"  # 200 with HTML
    EMPTY = "empty"  # 200 with an empty body
    PREFIX = "prefix"  # 200 with nothing but the prefix
    SILENT = "silent"  # never an answer
    CLOSE = "close"  # closed before any byte
    RESET = "reset"  # reset before any byte; amount: after that much of the body
    LATE = "late"  # the true answer, seconds later
    SLOW = "slow"  # byte by byte, seconds between two
    CUT = "cut"  # amount: the connection closes after that many bytes, or below 1 that part, of the body
    SHORT = "short"  # amount: the same, but HTTP ends properly
    COUNT = "count"  # amount: every length of the framing is off by that much
    THINKING = "thinking"  # chat: thoughts, and no answer
    UNFINISHED = "unfinished"  # chat: no final frame
    BROKEN = "broken"  # chat: code, details: an error frame in the middle


ON_THE_WAY = {
    Kind.SEVERAL,
    Kind.LATE,
    Kind.SLOW,
    Kind.CUT,
    Kind.SHORT,
    Kind.COUNT,
    Kind.THINKING,
    Kind.UNFINISHED,
    Kind.BROKEN,
}


@dataclass(frozen=True, slots=True)
class Fault:
    """`on`: an rpc id, `CHAT`, a path such as "/", or `ANY` (every call, but no page).

    `seconds` delays every kind but SLOW, which it paces.
    """

    kind: Kind
    on: str = ANY
    times: int = 1
    commit: bool = False
    code: int = 13
    details: list[Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""
    amount: float = 0
    seconds: float = 0

    @property
    def answers(self) -> bool:
        """Whether the true answer is needed, and so made."""
        return self.commit or self.kind in ON_THE_WAY or (self.kind is Kind.RESET and self.amount > 0)

    @property
    def refusal(self) -> Refusal:
        return Refusal(self.code, self.details)

    def response(self) -> Response | None:
        """The whole response of a kind that leaves nothing of the true one."""
        html = [("content-type", "text/html; charset=utf-8")]
        json_text = [("content-type", "application/json; charset=utf-8")]
        match self.kind:
            case Kind.HTTP:
                return Response(self.code, [*html, *self.headers.items()], self.body.encode(), self.manner)
            case Kind.WALL:
                return Response(200, html, (self.body or WALL).encode(), self.manner)
            case Kind.EMPTY:
                return Response(200, json_text, b"", self.manner)
            case Kind.PREFIX:
                return Response(200, json_text, f"{PREFIX}\n\n".encode(), self.manner)
            case Kind.SILENT | Kind.CLOSE:
                return Response(200, [], b"", self.manner)
            case Kind.RESET if not self.amount:
                return Response(200, [], b"", self.manner)
        return None

    @property
    def manner(self) -> Manner:
        match self.kind:
            case Kind.SILENT:
                return Manner(silent=True)
            case Kind.SLOW:
                return Manner(slow=self.seconds)
            case Kind.CLOSE:
                return Manner(self.seconds, limit=-1, ending="close")
            case Kind.RESET:
                return Manner(self.seconds, limit=self.amount or -1, ending="reset")
            case Kind.CUT:
                return Manner(self.seconds, limit=self.amount, ending="close")
            case Kind.SHORT:
                return Manner(self.seconds, limit=self.amount)
        return Manner(self.seconds)

    def rpc_frames(self, calls: list[Call], frames: list[Frame | LargeFrame]) -> list[Frame | LargeFrame]:
        """The result frames that are sent; `frames` are the true ones where they were made."""
        match self.kind:
            case Kind.STATUS:
                return [["wrb.fr", call.rpc, None, None, None, self.refusal.row, call.discriminator] for call in calls]
            case Kind.NULL:
                return [["wrb.fr", call.rpc, None, None, None, None, call.discriminator] for call in calls]
            case Kind.PAYLOAD:
                return [["wrb.fr", call.rpc, self.body, None, None, None, call.discriminator] for call in calls]
            case Kind.ER:
                return [["er", None, None, None, None, self.code, None, None, None, 9]]
            case Kind.FOREIGN:
                return [["wrb.fr", FOREIGN_ID, "[]", None, None, None, GENERIC]]
            case Kind.BOOKKEEPING:
                return []
            case Kind.SEVERAL:
                nulls = [["wrb.fr", call.rpc, None, None, None, None, call.discriminator] for call in calls]
                return [nulls[0], ["wrb.fr", FOREIGN_ID, "[]", None, None, None, GENERIC], *frames[::-1], *nulls]
        return frames

    def chat_frames(self, frames: list[Frame]) -> list[Frame]:
        match self.kind:
            case Kind.STATUS:
                return [error_frame(self.refusal)]
            case Kind.NULL:
                return [["wrb.fr", None, None]]
            case Kind.PAYLOAD:
                return [["wrb.fr", None, self.body]]
            case Kind.ER:
                return [["er", None, None, None, None, self.code, None, None, None, 9]]
            case Kind.FOREIGN | Kind.BOOKKEEPING:
                return []
            case Kind.SEVERAL:
                return [["wrb.fr", None, "[]"], *frames]
            case Kind.THINKING:
                return frames[:2]
            case Kind.UNFINISHED:
                return frames[:-1]
            case Kind.BROKEN:
                return [*frames[: len(frames) // 2], error_frame(self.refusal)]
        return frames


class Faults:
    """The faults that are still to come."""

    def __init__(self) -> None:
        self.pending: list[tuple[Fault, int]] = []

    def add(self, *faults: Fault) -> None:
        self.pending += [(fault, fault.times) for fault in faults]

    def clear(self) -> None:
        self.pending.clear()

    def take(self, names: set[str]) -> Fault | None:
        """The next fault for a request that goes by these names, one time used up."""
        for index, (fault, times) in enumerate(self.pending):
            if fault.on in names:
                self.pending[index : index + 1] = [(fault, times - 1)] if times > 1 else []
                return fault
        return None


def displayable(*payload: Any) -> list[Any]:
    """The details of a refusal that the service wants a person to see: with text, with numbers only, or null."""
    return [[DISPLAYABLE, list(payload) if payload else None]]
