"""Events and exchanges for the tests of capture, as Chrome would tell of them."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from nlm_cdp.capture.exchange import Begun, Body, Ended, Exchange, Fold, Kind, Output, Part, Question
from nlm_cdp.cdp.generated.network import (
    LoadingFailed,
    LoadingFinished,
    MonotonicTime,
    Request,
    RequestId,
    RequestWillBeSent,
    Response,
    ResponseReceived,
    TimeSinceEpoch,
)
from nlm_cdp.wire.batchexecute import CHAT_PATH, PATH, UPLOAD_PATH, Call, answer_frame, f_req, form, query
from nlm_cdp.wire.frames import frame_body

HOST = "https://notebook.google.com"
RPCS = f"{HOST}{PATH}?" + urlencode(query(["wXbhsf"], "/", 1) | {"bl": "boq_labs-tailwind-frontend_20261112.04_p0"})
CHAT = f"{HOST}{CHAT_PATH}?rt=c&source-path=%2Fnotebook%2F68a9f400-ac16-41fd-b3dc-d411565a29d9"
UPLOAD = f"{HOST}{UPLOAD_PATH}?authuser=0"
FORM = form(f_req([Call("wXbhsf", [None, 1, None, [2]])]), "token")


def sent(id: str, url: str = RPCS, post: str | None = FORM, *, method: str = "POST", more: bool = False, at: float = 1.0,
         redirected: int | None = None) -> RequestWillBeSent:  # fmt: skip
    request = Request(url, method, post, has_post_data=more or post is not None)
    redirect = Response(url, redirected) if redirected is not None else None
    return RequestWillBeSent(RequestId(id), request, MonotonicTime(at), TimeSinceEpoch(1_795_996_800), redirect)


def received(id: str, status: int = 200) -> ResponseReceived:
    return ResponseReceived(RequestId(id), Response(RPCS, status))


def finished(id: str, at: float = 2.5) -> LoadingFinished:
    return LoadingFinished(RequestId(id), MonotonicTime(at))


def failed(id: str, error: str = "net::ERR_ABORTED", *, canceled: bool = True) -> LoadingFailed:
    return LoadingFailed(RequestId(id), MonotonicTime(2.0), error, canceled)


class Script:
    """A fold that is fed, and everything it said."""

    def __init__(self, *, answers: bool = True) -> None:
        self.fold, self.answers = Fold(), answers
        self.questions: list[Question] = []
        self.begun: list[Exchange] = []
        self.ended: list[Exchange] = []

    def feed(self, *events: object) -> Script:
        for event in events:
            self.take(list(self.fold.receive(event)))
        return self

    def answer(self, question: Question, body: Body) -> Script:
        return self.take(list(self.fold.answer(question, body)))

    def take(self, outputs: list[Output]) -> Script:
        for output in outputs:
            match output:
                case Question():
                    self.questions.append(output)
                    if self.answers:
                        self.answer(output, Body(f"the {output.part}"))
                case Begun(exchange):
                    self.begun.append(exchange)
                case Ended(exchange):
                    self.ended.append(exchange)
        return self


def exchange(calls: list[Call], frames: list[list[Any]] | None, *, url: str = "", lost: str | None = None) -> Exchange:
    """An exchange that is over: these calls, answered by these frames."""
    where = url or f"{HOST}{PATH}?" + urlencode(query([call.rpc for call in calls], "/", 1))
    found = Exchange(1, Kind.RPC, where, 1_795_996_800.0, 0.0, status=200, took=0.25)
    found.bodies[Part.REQUEST] = Body(form(f_req(calls), "secret-token"))
    body = frame_body([[*frames, ["di", 12], ["af.httprm", 12, "-77", 10]]]) if frames is not None else None
    found.bodies[Part.RESPONSE] = Body(body, lost)
    return found


def reply(rpc: str, row: Any, status: list[Any] | None = None, discriminator: str = "generic") -> list[Any]:
    return answer_frame(rpc, row, status, discriminator)
