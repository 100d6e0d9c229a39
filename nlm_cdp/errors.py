"""Everything that can go wrong, on one screen.

Every error carries a stable `code`, whether it is worth trying again, and what became of a write. A message says what
happened and never holds a payload, a token or an rpc id; ids that help a repairer go to `details`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, ClassVar, Self


class Outcome(StrEnum):
    """What became of the write that failed."""

    NOT_SENT = "not_sent"
    REJECTED = "rejected"
    UNKNOWN = "unknown"


class NlmError(Exception):
    """Base of every error a caller may meet; as it stands, a fault of our own."""

    code: ClassVar[str] = "INTERNAL"
    retriable: ClassVar[bool] = False
    advice: ClassVar[str] = ""

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        outcome: Outcome = Outcome.NOT_SENT,
        retry_after_s: float | None = None,
        state: str | None = None,
        details: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or self.advice
        self.outcome = outcome
        self.retry_after_s = retry_after_s
        self.state = state
        self.details = details or {}

    def again(self) -> Self:
        """The same error for another caller, who may add to it without the first one's hearing of it."""
        twin = type(self).__new__(type(self), *self.args)
        twin.__dict__ |= self.__dict__ | {"details": dict(self.details)}
        return twin

    def also(self, news: str) -> Self:
        """The same error with a sentence more, for what its raiser could not know."""
        self.message = f"{self.message.rstrip('.')}. {news}"
        self.args = (self.message,)
        return self


# Chrome


class ChromeNotFound(NlmError):
    code = "CHROME_NOT_FOUND"
    retriable = True
    advice = "Start Chrome, or name its endpoint with --endpoint; `nlm-cdp doctor` shows every place that was tried."


class ChromeDebuggingOff(NlmError):
    code = "CHROME_DEBUGGING_OFF"
    retriable = True
    advice = "Open chrome://inspect/#remote-debugging in Chrome, allow remote debugging, then try again."


class ChromeApprovalPending(NlmError):
    code = "CHROME_APPROVAL_PENDING"
    retriable = True
    advice = "Click Allow in Chrome's remote-debugging dialog, then call again; the request stays open meanwhile."


class ChromeApprovalDenied(NlmError):
    code = "CHROME_APPROVAL_DENIED"
    retriable = True
    advice = "Call again and click Allow when Chrome asks."


class ChromePolicyBlocked(NlmError):
    code = "CHROME_POLICY_BLOCKED"
    advice = "An administrator's policy forbids remote debugging in this browser; use another browser."


class ChromeLost(NlmError):
    code = "CHROME_LOST"
    retriable = True
    advice = "Call again: the next call connects anew."


# The account and the page


class SignedOut(NlmError):
    code = "SIGNED_OUT"
    retriable = True
    advice = "Sign in to Gemini Notebook in a tab of this Chrome, then call again."


class AccessGated(NlmError):
    code = "ACCESS_GATED"
    advice = "Google shows this account or region a landing page instead of the app; open it in Chrome to see why."


class AccountAmbiguous(NlmError):
    code = "ACCOUNT_AMBIGUOUS"
    advice = "Keep one notebook tab open, or choose an account with --account."


# What the service or the caller said


class NotFound(NlmError):
    code = "NOT_FOUND"
    advice = "Check the id; a notebook of another account is not found either."


class Permission(NlmError):
    code = "PERMISSION"
    advice = "This account may not do that here; ask the notebook's owner, or use the owner's account."


class InvalidArgument(NlmError):
    code = "INVALID_ARGUMENT"
    advice = "Check the arguments."


class Ambiguous(NlmError):
    code = "AMBIGUOUS"
    advice = "Use one of the ids listed in details."


class Quota(NlmError):
    code = "QUOTA"
    advice = "An allowance or limit of this account is used up; wait for it to reset or free some room."


class RateLimited(NlmError):
    code = "RATE_LIMITED"
    retriable = True
    advice = "Wait before trying again: minutes, not seconds."


class NotReady(NlmError):
    code = "NOT_READY"
    retriable = True
    advice = "It is still being processed; try again shortly."


class FileRefused(NlmError):
    code = "FILE_REFUSED"


class ScopeMissing(NlmError):
    code = "SCOPE"


class Cancelled(NlmError):
    code = "CANCELLED"


# The way there and back


class Timeout(NlmError):
    code = "TIMEOUT"
    retriable = True
    advice = "Try again, with a longer timeout_s where the tool has one."


class Network(NlmError):
    code = "NETWORK"
    retriable = True
    advice = "The browser could not reach the service; check the connection."


class Service(NlmError):
    code = "SERVICE"
    retriable = True
    advice = "The service failed, not the request: try again in a moment."


class UnconfirmedWrite(NlmError):
    code = "UNCONFIRMED_WRITE"
    advice = "The change may have been made: look before you try again."


class Drift(NlmError):
    """The service answered something the declarations do not know."""

    code = "DRIFT"
    advice = "The private API may have changed: record the same action in the web app with nlm-capture."


class DecodeError(Drift):
    """A row does not have the declared shape: `path` is the wire path, `why` the reason, never the payload."""

    def __init__(self, message: str, path: str, why: str, *, details: dict[str, Any] | None = None) -> None:
        super().__init__(f"{message}{path}: {why}", details=details)
        self.path, self.why = path, why
