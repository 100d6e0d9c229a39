"""google.rpc statuses: what the service refuses with, and the error that each is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nlm_cdp.errors import (
    Cancelled,
    Drift,
    InvalidArgument,
    NlmError,
    NotFound,
    NotReady,
    Outcome,
    Permission,
    RateLimited,
    Service,
    SignedOut,
    Timeout,
)

USER_DISPLAYABLE = "UserDisplayableError"

STATUS = (
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)
"""google.rpc.Code by number."""

ERRORS: dict[int, type[NlmError]] = {
    1: Cancelled,
    3: InvalidArgument,
    4: Timeout,
    5: NotFound,
    6: InvalidArgument,
    7: Permission,
    8: RateLimited,
    9: NotReady,
    11: InvalidArgument,
    12: Drift,
    16: SignedOut,
}

HTTP_STATUS = {400: 3, 401: 16, 403: 7, 404: 5, 429: 8, 500: 13, 503: 14}
"""An `er` frame carries HTTP-style codes (known to peers, never recorded)."""


@dataclass(frozen=True, slots=True)
class Status:
    """A refusal: google.rpc code, and what the service wants a person to read, where it says so."""

    code: int
    message: str = ""
    user_displayable: bool = False

    @property
    def name(self) -> str:
        return STATUS[self.code] if 0 <= self.code < len(STATUS) else f"status {self.code}"

    @classmethod
    def read(cls, status: Any) -> Status:
        code = status[0] if type(status) is list and status and type(status[0]) is int else 2
        strings = list(strings_in(status))
        types = [text for text in strings if text.startswith("type.googleapis.com/")]
        words = [text for text in strings if text not in types and (" " in text or not text.isascii())]
        return cls(code, words[0] if words else "", any(USER_DISPLAYABLE in text for text in types))

    def error(self) -> NlmError:
        """The refusal as an error: nothing was changed."""
        kind = RateLimited if self.user_displayable else ERRORS.get(self.code, Service)
        said = self.message or f"the service refused: {self.name.lower().replace('_', ' ')}"
        return kind(said, outcome=Outcome.REJECTED, details={"status": self.name, "status_code": self.code})


def strings_in(value: Any) -> Iterator[str]:
    stack = [value]
    while stack:
        top = stack.pop()
        if type(top) is str:
            yield top
        elif type(top) is list:
            stack.extend(reversed(top))
