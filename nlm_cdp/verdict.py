"""What one answer means: transport first, then the reply in it. Pure."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from time import time
from typing import Any, Protocol

from nlm_cdp.errors import DecodeError, Drift, Network, Outcome, RateLimited, Service, SignedOut
from nlm_cdp.rpc import A, Effect, Q, Rpc
from nlm_cdp.wire import batchexecute
from nlm_cdp.wire.batchexecute import Reply


class Transported(Protocol):
    """An answer as the page reports it."""

    sent: bool
    status: int
    redirected: bool
    retry_after: str | None
    failed: str | None


class StaleToken(SignedOut):
    """HTTP 400: the anti-forgery token is old, or the request is no longer understood."""


class Unauthorized(SignedOut):
    """HTTP 401 or 403."""


class Redirected(SignedOut):
    """The call was sent on to another page."""


class NotSent(Network):
    """The page had no tokens to send with."""


def check_transport(answer: Transported) -> None:
    """Raise what an answer's transport says went wrong; an answer that passes has a body to read."""
    status = answer.status
    if not answer.sent:
        raise NotSent("the page had no token")
    if answer.redirected:
        raise Redirected("the service sent the call to another page", state="signed_out", outcome=Outcome.REJECTED)
    if answer.failed == "TooLarge":
        raise Service("the answer is too large to carry", hint="Ask for a smaller part.", outcome=Outcome.UNKNOWN)
    if answer.failed and status in (0, 200):
        raise Network("the browser could not complete the request", details={"error": answer.failed})
    if status == 400:
        raise StaleToken("the service refused the page's token", state="signed_out", outcome=Outcome.REJECTED)
    if status in (401, 403):
        raise Unauthorized("the service refused this page's credentials", state="signed_out")
    if status == 404:
        raise Drift("the service has no such endpoint", outcome=Outcome.REJECTED)
    if status == 429:
        raise RateLimited("the service asks for a pause", retry_after_s=retry_after(answer.retry_after))
    if status != 200:
        raise Service(f"the service failed with HTTP {status}", retry_after_s=retry_after(answer.retry_after))


def retry_after(header: str | None) -> float | None:
    """Seconds, from either form of the header."""
    if header is None:
        return None
    if header.strip().isdecimal():
        return float(header) if len(header) < 12 else None
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time())
    except (ValueError, OverflowError):
        return None


def read_reply(rpc: Rpc[Any, Any], boxed: list[str | bytes]) -> Reply:
    """The reply in a body; takes the text out of its box. Raises what a refusal means."""
    reply = batchexecute.read_replies(boxed.pop()).of(rpc.id)
    if reply.status is not None and reply.status.code not in rpc.harmless:
        error = reply.status.error()
        if error.code == "INVALID_ARGUMENT" and rpc.effect is not Effect.READ:
            error.hint = "If the arguments are right, the call's form may have changed: record it with nlm-capture."
        raise error
    return reply


def read_answer(rpc: Rpc[Q, A], boxed: list[str | bytes]) -> A:
    """The message in a body. Raises what the reply says instead, or Drift for a row of another shape."""
    reply = read_reply(rpc, boxed)
    row: Any = reply.row
    if row is None:
        if not (rpc.null or not rpc.response.model_fields or reply.status is not None):
            raise Drift("the service answered with nothing where data belongs")
        row = []
    try:
        return rpc.response.decode(row)
    except DecodeError as exc:
        exc.details["path"] = exc.path
        raise
