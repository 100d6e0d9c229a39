"""Which host and path answers what: the app's pages, its RPCs and its chat, the sign-in host, the gate, nothing else.

RPCs need the session cookie and a request from the same origin, as the web app sends it; the token must be the current
one, else HTTP 400. A request that names an id nobody declared gets HTTP 400 with an `er` frame and no reply.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from urllib.parse import parse_qs, urlencode

import trio

from nlm_cdp.api import variants
from nlm_cdp.api.chat import chat as chat_api
from nlm_cdp.errors import Drift
from nlm_cdp.sim import media, orders, pages, uploads
from nlm_cdp.sim.answers import INVALID, Refusal, Stream
from nlm_cdp.sim.calls import run
from nlm_cdp.sim.faults import ANY, CHAT, Fault, Faults, Kind
from nlm_cdp.sim.framing import (
    Frame,
    LargeFrame,
    bookkeeping,
    chat_chunks,
    error_frame,
    miscounted,
    reply_frame,
    rpc_body,
    snapshot_frame,
)
from nlm_cdp.sim.http import Digest, Manner, Request, Response
from nlm_cdp.sim.log import Logged
from nlm_cdp.sim.records import Notebook, Writing
from nlm_cdp.sim.state import Account, Service
from nlm_cdp.wire.batchexecute import CHAT_PATH, PATH, Call, parse_form
from nlm_cdp.wire.frames import frame_body
from nlm_cdp.wire.page import APP_HOSTS, GATE_HOSTS, SIGN_IN_HOST

MEDIA_HOSTS = tuple(media.PATHS)
HOSTS = (*APP_HOSTS, SIGN_IN_HOST, *GATE_HOSTS, *MEDIA_HOSTS)
CURRENT, OLDER = APP_HOSTS[:2]
GATE = f"https://{GATE_HOSTS[1]}/?location=unsupported"
COOKIES = ("SID", "__Secure-1PSID", "__Secure-3PSID")
RPC_HEADERS = [
    ("content-type", "application/json; charset=utf-8"),
    ("content-disposition", "attachment; filename=\"response.bin\"; filename*=UTF-8''response.bin"),
    ("cache-control", "no-cache, no-store, max-age=0, must-revalidate"),
]


class Endpoints:
    """Every request goes through `respond`, which fills in its log entry."""

    def __init__(self, service: Service, faults: Faults) -> None:
        self.service, self.faults = service, faults

    def respond(self, request: Request, logged: Logged) -> Response:
        response = self.routed(request, logged)
        response.headers.append(("x-nlm-simulated", "1"))
        logged.status = response.status
        return response

    def receive(self, request: Request) -> Digest | None:
        """What takes in the body of a request in place of memory."""
        return uploads.receive(self.service, request) if request.host in APP_HOSTS else None

    def routed(self, request: Request, logged: Logged) -> Response:
        post = request.method == "POST" and request.host in APP_HOSTS
        if post and request.path == PATH:
            return self.authorised(request, logged, self.rpcs)
        if post and request.path == CHAT_PATH:
            return self.authorised(request, logged, self.chat)
        if post and request.path == uploads.PATH:
            return self.upload(request, logged)
        logged.fault = fault = self.faults.take({request.path})
        if fault is not None and (whole := fault.response()) is not None:
            return whole
        response = self.page(request)
        if fault is not None:
            response.manner = fault.manner
        return response

    # Pages

    def page(self, request: Request) -> Response:
        if request.host not in HOSTS:
            return pages.text(404, "The simulator stands for no such host.")
        if request.method not in ("GET", "HEAD"):
            return pages.text(405, "Method not allowed (simulated).")
        if request.host == SIGN_IN_HOST:
            return pages.sign_in(self.service)
        if request.host in GATE_HOSTS:
            return pages.gate()
        if request.host in MEDIA_HOSTS:
            found = self.service.media.get(request.query.get("id", ""))
            return media.answer(found, request, signed_in=self.has_cookie(request), sign_in=self.sign_in_url(request))
        match request.path:
            case "/robots.txt":
                return pages.redirect("/") if self.service.light_redirects else pages.text(200, "User-agent: *\n")
            case "/login":
                return pages.redirect(self.sign_in_url(request) if self.service.signed_out else "/")
            case orders.PATH:
                return self.order(request)
        if request.path == "/" or request.path.startswith("/notebook/"):
            return self.app(request)
        return pages.text(404, "Not found (simulated).")

    def app(self, request: Request) -> Response:
        """The app page; without a session cookie it signs the browser in, as an earlier sign-in would have."""
        service = self.service
        if service.gated:
            return pages.redirect(GATE)
        if request.host == OLDER and service.moved:
            query = f"?{urlencode(request.query)}" if request.query else ""
            return pages.redirect(f"https://{CURRENT}{request.path}{query}")
        account = service.account(request.query.get("authuser", "0"))
        if service.signed_out == "landing":
            return pages.landing(service)
        if service.signed_out or account is None:
            return pages.redirect(self.sign_in_url(request))
        response = pages.app(account, request.path.removeprefix("/notebook/").strip("/"))
        if not self.has_cookie(request):
            response.headers += [
                ("set-cookie", f"{name}={service.cookie}; Domain=.google.com; Path=/; Secure; HttpOnly; SameSite=None")
                for name in COOKIES
            ]
        return response

    def order(self, request: Request) -> Response:
        """What a button of the app's page is to send, for that page alone."""
        account = self.service.account(request.query.get("authuser", "0"))
        if not self.has_cookie(request) or account is None or self.service.signed_out:
            return pages.text(401, "Unauthorized (simulated).")
        if not is_same_origin(request):
            return pages.text(403, "Forbidden (simulated): the request does not come from the app's origin.")
        return orders.answer(account, request.query.get("name", ""), request.query.get("notebook", ""))

    def sign_in_url(self, request: Request) -> str:
        return f"https://{SIGN_IN_HOST}/ServiceLogin?" + urlencode({"continue": f"https://{request.host}/"})

    def has_cookie(self, request: Request) -> bool:
        return any(request.cookie(name) == self.service.cookie for name in COOKIES)

    # Uploads

    def upload(self, request: Request, logged: Logged) -> Response:
        """One step of an upload, with the same checks as a call has."""
        step = uploads.step(request)
        logged.fault = fault = self.faults.take({request.path, step or ""})
        response = pages.text(400, "Bad request (simulated).")
        if not self.has_cookie(request) or self.service.signed_out:
            response = pages.text(401, "Unauthorized (simulated).")
        elif not is_same_origin(request):
            response = pages.text(403, "Forbidden (simulated): the request does not come from the app's origin.")
        elif step is not None and (fault is None or fault.answers):
            response = uploads.answer(self.service, request)
        if fault is not None:
            response = fault.response() or response
            response.manner = fault.manner
        return response

    # Calls

    def authorised(
        self, request: Request, logged: Logged, answer: Callable[[Request, Logged, Account, list[Call]], Response]
    ) -> Response:
        """The checks that come before any call, then the calls."""
        try:
            calls = parse_form(request.body.decode("utf-8", "replace"))
        except Drift:
            calls = []
        logged.calls(calls)
        account = self.service.account(logged.authuser)
        if not self.has_cookie(request) or account is None or self.service.signed_out:
            if self.service.signed_out and self.service.signed_out_rpc == "status":
                return self.refused(calls, request.path == CHAT_PATH)
            return pages.text(401, "Unauthorized (simulated).")
        if not is_same_origin(request):
            return pages.text(403, "Forbidden (simulated): the request does not come from the app's origin.")
        token = parse_qs(request.body.decode("utf-8", "replace")).get("at", [""])[0]
        if token != account.token or not calls or request.query.get("rt") != "c":
            return bad_request()
        return answer(request, logged, account, calls)

    def refused(self, calls: list[Call], stream: bool) -> Response:
        """Status 16 for every call of a browser that is signed out."""
        refusal = Refusal(16)
        frames: list[Frame | LargeFrame] = [
            error_frame(refusal) if stream else reply_frame(call, refusal) for call in calls
        ]
        return Response(200, list(RPC_HEADERS), rpc_body(frames, self.service.number()))

    def rpcs(self, request: Request, logged: Logged, account: Account, calls: list[Call]) -> Response:
        """One reply for each call, with whatever a fault makes of them."""
        if request.query.get("rpcids", "").split(",") != [call.rpc for call in calls]:
            return bad_request()
        declared = [self.service.declared(call.rpc) or "" for call in calls]
        logged.fault = fault = self.faults.take({ANY, *(call.rpc for call in calls), *declared})
        whole = fault.response() if fault is not None else None
        frames: list[Frame | LargeFrame] = []
        if fault is None or fault.answers:
            if not all(variants(rpc) for rpc in declared):
                return bad_request()
            answers = [run(account, rpc, call.params) for rpc, call in zip(declared, calls, strict=True)]
            frames = [reply_frame(call, answer) for call, answer in zip(calls, answers, strict=True)]
        if whole is not None:
            return whole
        if fault is not None:
            frames = fault.rpc_frames(calls, frames)
        body = rpc_body(frames, self.service.number())
        if fault is not None and fault.kind is Kind.COUNT and isinstance(body, bytes):
            body = miscounted(body.decode(), int(fault.amount)).encode()
        return Response(200, list(RPC_HEADERS), body, fault.manner if fault is not None else Manner())

    def chat(self, request: Request, logged: Logged, account: Account, calls: list[Call]) -> Response:
        """The stream of one answer; its notebook is busy until the stream has ended."""
        logged.fault = fault = self.faults.take({ANY, CHAT})
        whole = fault.response() if fault is not None else None
        frames: list[Frame] = []
        over: list[Callable[[bool], None]] = []
        writing: Writing | None = None
        if fault is None or fault.answers:
            answer = run(account, chat_api.ASK.id, calls[0].params)
            if isinstance(answer, Stream):
                writing = answer.writing
                over.append(busy(answer.notebook))
                rows = [self.service.reshaped(chat_api.ASK.name, item.encode()) for item in answer.snapshots]
                frames = [snapshot_frame(row) for row in rows]
            else:
                frames = [error_frame(answer if isinstance(answer, Refusal) else Refusal(INVALID))]
        if whole is not None:
            whole.over += over
            return whole
        if fault is not None:
            frames = fault.chat_frames(frames)
        body = self.streamed(frames, fault, writing)
        return Response(200, list(RPC_HEADERS), body, fault.manner if fault is not None else Manner(), over)

    async def streamed(
        self, frames: list[Frame], fault: Fault | None, writing: Writing | None
    ) -> AsyncGenerator[bytes, None]:
        """The chunks one after the other, a pause before each but the first; nothing more once it was stopped."""
        off = int(fault.amount) if fault is not None and fault.kind is Kind.COUNT else 0
        for index, chunk in enumerate(chat_chunks(frames, self.service.number())):
            if index:
                await trio.sleep(self.service.pace)
            if writing is not None and writing.stopped:
                await trio.sleep_forever()
            yield (miscounted(chunk, off) if off else chunk).encode()


def busy(notebook: Notebook) -> Callable[[bool], None]:
    """Count an answer that is on its way; what is returned ends that."""
    notebook.answering += 1

    def over(_: bool) -> None:
        notebook.answering -= 1

    return over


def is_same_origin(request: Request) -> bool:
    """Whether the browser vouches for it; a request that says nothing of where it comes from is refused."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if origin is None and site is None:
        return False
    return origin in (None, f"https://{request.host}") and site in (None, "same-origin")


def bad_request() -> Response:
    frame = ["er", None, None, None, None, 400, None, None, None, 9]
    body = frame_body([[frame, *bookkeeping(0)]])
    return Response(400, list(RPC_HEADERS), body.encode())
