"""Network events of a notebook tab into exchanges, sans-IO: events in, questions and exchanges out.

`Fold.receive` takes events in whatever order Chrome sends them, `Fold.answer` what Chrome said to a question. An
exchange comes out when its request is known (`Begun`) and when it is over (`Ended`), with its response or with the
reason why there is none. Only what is in flight is held, and headers are never looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from nlm_cdp.cdp.generated.network import (
    LoadingFailed,
    LoadingFinished,
    RequestId,
    RequestWillBeSent,
    ResponseReceived,
)
from nlm_cdp.wire.batchexecute import CHAT_PATH, PATH, UPLOAD_PATH
from nlm_cdp.wire.page import is_app

EVENTS = (RequestWillBeSent, ResponseReceived, LoadingFinished, LoadingFailed)


class Kind(StrEnum):
    """What an exchange is."""

    RPC = "rpc"
    CHAT = "chat"
    UPLOAD = "upload"

    @classmethod
    def of(cls, url: str, method: str) -> Kind | None:
        """None for everything that is not recorded; the bytes of an upload are the user's own and are not."""
        if method != "POST" or not is_app(url):
            return None
        parts = urlsplit(url)
        if parts.path == UPLOAD_PATH and "upload_id" not in parse_qs(parts.query):
            return cls.UPLOAD
        return {PATH: cls.RPC, CHAT_PATH: cls.CHAT}.get(parts.path)


class Part(StrEnum):
    REQUEST = "request"
    RESPONSE = "response"


@dataclass(frozen=True, slots=True)
class Body:
    """One body: its text, its bytes where they are no text, or why it is lost."""

    content: str | bytes | None = None
    lost: str | None = None


def text_of(data: bytes) -> str | bytes:
    """Bytes as text, where they are text."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


@dataclass(frozen=True, slots=True)
class Question:
    """A body that Chrome has to be asked for, at once: it may let go of it any moment."""

    number: int
    request_id: RequestId
    part: Part


@dataclass(slots=True)
class Exchange:
    """One request and its response. `number` counts requests, `began` is seconds since the epoch, `took` seconds."""

    number: int
    kind: Kind
    url: str
    began: float
    started: float  # on the browser's monotonic clock
    status: int | None = None
    took: float | None = None
    failed: str | None = None  # how it ended before its end, where it did; its body may be whole all the same
    bodies: dict[Part, Body] = field(default_factory=dict)

    @property
    def request(self) -> Body:
        return self.bodies[Part.REQUEST]

    @property
    def response(self) -> Body:
        return self.bodies[Part.RESPONSE]

    @property
    def query(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.url).query).items()}

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""


class Begun(NamedTuple):
    """The request is known."""

    exchange: Exchange


class Ended(NamedTuple):
    """Nothing more will come."""

    exchange: Exchange


Output = Question | Begun | Ended


class Fold:
    """The requests in flight of one tab. `seen` counts the exchanges that began."""

    def __init__(self) -> None:
        self.open: dict[RequestId, Exchange] = {}
        self.seen = 0

    def receive(self, event: object) -> Iterator[Output]:
        """What an event brings about; events of other requests, and what comes again, bring nothing."""
        if isinstance(event, RequestWillBeSent):
            yield from self.begin(event)
            return
        if not isinstance(event, EVENTS) or (exchange := self.open.get(event.request_id)) is None:
            return
        response = Question(exchange.number, event.request_id, Part.RESPONSE)
        match event:
            case ResponseReceived():
                exchange.status = event.response.status
            case LoadingFinished() if Part.RESPONSE not in exchange.bodies:
                exchange.took = event.timestamp - exchange.started
                yield response
            case LoadingFailed():
                exchange.failed = "the page gave it up" if event.canceled else f"it failed: {event.error_text}"
                if exchange.status is None:
                    yield from self.answer(response, Body(lost=exchange.failed))
                elif Part.RESPONSE not in exchange.bodies:
                    yield response  # a page that has read the last byte may end the request before Chrome does

    def begin(self, event: RequestWillBeSent) -> Iterator[Output]:
        id_, request = event.request_id, event.request
        if (before := self.open.get(id_)) is not None:
            if event.redirect_response is None:
                return  # told twice
            before.status = event.redirect_response.status
            yield from self.lose(id_, "the service redirected the request")
        kind = Kind.of(request.url, request.method)
        if kind is None:
            return
        self.seen += 1
        self.open[id_] = Exchange(self.seen, kind, request.url, event.wall_time, event.timestamp)
        question = Question(self.seen, id_, Part.REQUEST)
        if request.post_data is not None and request.post_data.isascii():
            yield from self.answer(question, Body(request.post_data))
        elif request.post_data is not None or request.has_post_data:
            yield question  # the event's text says nothing certain of bytes beyond ASCII
        else:
            yield from self.answer(question, Body(lost="Chrome told of no request body"))

    def answer(self, question: Question, body: Body) -> Iterator[Output]:
        """A body, or that it is lost; a second word on the same one is ignored."""
        exchange = self.open.get(question.request_id)
        if exchange is None or exchange.number != question.number or question.part in exchange.bodies:
            return
        exchange.bodies[question.part] = body
        if question.part is Part.REQUEST:
            yield Begun(exchange)
        if len(exchange.bodies) == len(Part):
            del self.open[question.request_id]
            yield Ended(exchange)

    def lose(self, id_: RequestId, why: str) -> Iterator[Output]:
        number = self.open[id_].number
        for part in Part:
            yield from self.answer(Question(number, id_, part), Body(lost=why))

    def end(self, why: str) -> Iterator[Output]:
        """The tab is gone or the recording over: what is still open ends here."""
        for id_ in list(self.open):
            yield from self.lose(id_, why)
