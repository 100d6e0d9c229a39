"""The protocol without its socket: commands become text, text becomes replies and events.

A command is a generator (see `shape.Command`): `send` takes its request and gives it an id; `receive` hands it Chrome's
result object and returns what it made of that. Sessions are flat: one socket, each message naming its session. Whatever
Chrome sends, a command in flight ends once at most, and an event that cannot be read keeps its name and nothing else.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from nlm_cdp.cdp.generated import COMMANDS, EVENTS
from nlm_cdp.cdp.generated.inspector import TargetCrashed
from nlm_cdp.cdp.generated.target import DetachedFromTarget, SessionID
from nlm_cdp.cdp.shape import Command, JsonObject, as_dict
from nlm_cdp.errors import NlmError, Outcome

GONE = (
    "Execution context was destroyed",
    "Cannot find context",
    "Promise was collected",
    "Inspected target navigated or closed",
    "Session with given id not found",
    "No target with given id",
    "Target closed",
)
"""Chrome's ways of saying that a page or its world no longer exists."""
UNREADABLE = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""What a generated wrapper raises on JSON of another shape than the protocol's."""


class BadMessage(NlmError):
    """Chrome sent something that is no message of the protocol."""


class ReplyUnreadable(NlmError):
    """Chrome carried out a command, and its reply lacks what we read of it."""


class CommandRefused(NlmError):
    """Chrome refused a command: `method`, the JSON-RPC `number` if it gave one, and `reason` in its own words."""

    advice = "This Chrome may be older or newer than nlm-cdp knows: update both; `nlm-cdp doctor` shows their versions."
    NEVER_STARTED: ClassVar = frozenset({-32700, -32600, -32601, -32602, -32001})  # the request or its session is wrong

    def __init__(self, method: str, number: int | None, reason: str) -> None:
        outcome = Outcome.REJECTED if number in self.NEVER_STARTED else Outcome.UNKNOWN
        super().__init__(f"Chrome refused {method}: {reason}", outcome=outcome)
        self.method, self.number, self.reason = method, number, reason

    @property
    def gone(self) -> bool:
        """Whether Chrome says that the page, or the world in it, no longer exists."""
        return any(words in self.reason for words in GONE)


class SessionLost(CommandRefused):
    """The page went away with the command in flight; Chrome never answers it."""

    @property
    def gone(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Reply:
    id: int
    value: Any


@dataclass(frozen=True, slots=True)
class Failure:
    id: int
    error: NlmError


@dataclass(frozen=True, slots=True)
class Event:
    """An event of one session, or of the browser: `value` is one of the generated classes, or an UnknownEvent."""

    session: SessionID | None
    value: object


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """An event we do not read, or cannot."""

    method: str


Received: TypeAlias = Reply | Failure | Event


@dataclass(frozen=True, slots=True)
class Pending:
    command: Command[Any]
    method: str
    session: SessionID | None


class Protocol:
    def __init__(self) -> None:
        self.pending: dict[int, Pending] = {}
        self._ids = itertools.count(1)

    def send(self, command: Command[Any], session: SessionID | None = None) -> tuple[int, str]:
        """The id and the text of a command, which is pending from here on."""
        request = next(command)
        method = request["method"]
        if method not in COMMANDS:
            raise NlmError(f"{method} is not on the allow-list of CDP commands.")
        id_ = next(self._ids)
        message = {"id": id_} | request | ({} if session is None else {"sessionId": session})
        # Chrome answers text that is no JSON without naming an id, so NaN must not get there.
        text = json.dumps(message, separators=(",", ":"), allow_nan=False)
        self.pending[id_] = Pending(command, method, session)
        return id_, text

    def forget(self, id_: int) -> None:
        """Nobody waits for this command any more; a late reply is ignored."""
        if (pending := self.pending.pop(id_, None)) is not None:
            pending.command.close()

    def receive(self, text: str) -> list[Received]:
        """What one message from Chrome means; BadMessage if it means nothing."""
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            raise BadMessage("Chrome sent text that is not JSON.") from None  # the cause would hold the payload
        if not isinstance(message, dict):
            raise BadMessage("Chrome sent JSON that is not an object.")
        if "id" in message:
            return self._reply(message)
        if isinstance(message.get("method"), str):
            return self._event(message["method"], message)
        raise BadMessage("Chrome sent an object that is neither a reply nor an event.")

    def _reply(self, message: JsonObject) -> list[Received]:
        id_ = message["id"]
        pending = self.pending.pop(id_, None) if type(id_) is int else None  # true and 1.0 would find 1
        if pending is None:
            return []
        if message.get("error") is not None:
            pending.command.close()
            return [Failure(id_, refused(pending.method, message["error"]))]
        try:
            pending.command.send(as_dict(message.get("result")))
            wrong = "has more to say than one request"
        except StopIteration as returned:
            return [Reply(id_, returned.value)]
        except KeyError as field:
            wrong = f"was answered without {field}"
        except UNREADABLE:
            wrong = "was answered in another shape than the protocol's"
        finally:
            pending.command.close()
        return [Failure(id_, ReplyUnreadable(f"{pending.method} {wrong}.", outcome=Outcome.UNKNOWN))]

    def _event(self, method: str, message: JsonObject) -> list[Received]:
        session = SessionID(message["sessionId"]) if isinstance(message.get("sessionId"), str) else None
        event = Event(session, read_event(method, message.get("params", {})))
        match event:
            case Event(value=DetachedFromTarget(session_id=gone)):
                return [event, *self._lose(gone, "its session was detached")]
            case Event(session=SessionID() as gone, value=TargetCrashed()):
                return [event, *self._lose(gone, "its page crashed")]
        return [event]

    def _lose(self, session: SessionID, reason: str) -> list[Failure]:
        lost = {id_: pending for id_, pending in self.pending.items() if pending.session == session}
        for id_ in lost:
            self.forget(id_)
        return [Failure(id_, SessionLost(pending.method, None, reason)) for id_, pending in lost.items()]


def read_event(method: str, params: JsonObject) -> object:
    if method not in EVENTS:
        return UnknownEvent(method)
    try:
        return EVENTS[method].from_json(params)
    except UNREADABLE:
        return UnknownEvent(method)


def refused(method: str, error: object) -> CommandRefused:
    """The refusal in an error reply, whatever is missing from it."""
    said = error if isinstance(error, dict) else {}
    number, reason = said.get("code"), said.get("message")
    return CommandRefused(
        method,
        number if type(number) is int else None,
        reason[:500] if isinstance(reason, str) and reason else "it gave no reason",
    )
