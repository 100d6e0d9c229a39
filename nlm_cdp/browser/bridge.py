"""Our side of `bridge.js`: what it is given, what it is asked, and what it says. Pure."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from nlm_cdp.errors import ChromeLost
from nlm_cdp.wire import batchexecute
from nlm_cdp.wire import page as app

LARGEST = 100_000_000
"""Characters of one answer that still fit a protocol message when every one is escaped."""

LARGE = 1_000_000
"""Characters above which an answer that is not ASCII travels as bytes: as text it could take four times the memory."""

FACTS: dict[str, Any] = {
    "patterns": {
        "token": app.value_pattern(app.TOKEN),
        "session_id": app.value_pattern(app.SESSION_ID),
        "build": app.value_pattern(app.BUILD),
        "build_fallback": app.value_pattern(app.BUILD_FALLBACK),
        "authuser": app.value_pattern(app.AUTHUSER),
        "email": app.value_pattern(app.EMAIL),
        "user": app.value_pattern(app.USER_ID),
    },
    "build": app.DEFAULT_BUILD,
    "content_type": batchexecute.CONTENT_TYPE,
    "largest": LARGEST,
    "large": LARGE,
}
INVOKE = "function(key, name, ...args) { return globalThis[key][name](...args); }"


def source() -> str:
    """The script: a function of the world's key and the facts."""
    return files("nlm_cdp.browser").joinpath("bridge.js").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Request:
    """What the bridge sends; it adds the tokens and what the page alone knows."""

    path: str
    query: dict[str, str]
    f_req: str

    def as_json(self) -> dict[str, Any]:
        return {"path": self.path, "query": self.query, "f_req": self.f_req}


@dataclass(slots=True)
class Answer:
    """What came back. `failed`: the name of the page's own error; `sent`: whether the request may have left."""

    sent: bool
    status: int = 0
    type: str | None = None
    redirected: bool = False
    retry_after: str | None = None
    failed: str | None = None
    body: str | bytes = ""

    @classmethod
    def read(cls, said: Any) -> Answer:
        """The bridge's own answer. Raises ChromeLost for what it never says."""
        if not isinstance(said, dict):
            raise ChromeLost("our page in Chrome gave no answer")
        try:
            body = b64decode(said.pop("base64")) if "base64" in said else said.pop("body", "")
            return cls(**said, body=body)
        except (TypeError, ValueError):
            raise ChromeLost("our page in Chrome gave an answer of another shape") from None


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """What the app page says of itself; the tokens stay in the page."""

    build: str | None
    authuser: str | None
    email: str | None
    simulated: bool
    user: str | None = None
    """The account's number, to know it by; it is kept in memory and told nobody."""
