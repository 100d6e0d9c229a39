"""What may be known of a request that was sent: which, how large, how it ended; never what was in it. Pure."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass

TOOL: ContextVar[str] = ContextVar("TOOL", default="")
"""What the running task works for: a tool, or a command; the tasks that it starts inherit it."""


@dataclass(slots=True)
class Exchange:
    """One request; sizes are those of its payload and its answer's, in bytes."""

    rpc: str
    method: str
    effect: str
    notebook: str | None = None
    sent: int = 0
    received: int = 0
    status: int | None = None
    code: str | None = None
    outcome: str = "ok"
    seconds: float = 0.0

    def failed(self, code: str, became: str) -> None:
        """`became`: what became of it if it was a write (an `errors.Outcome`); a read that failed is just that."""
        self.code = code
        self.outcome = "failed" if self.effect == "read" else became


Observer = Callable[[Exchange], None]
"""Is told of a request once it has ended; must not raise, and must not wait."""


def size(body: str | bytes) -> int:
    """Bytes of a text as UTF-8."""
    return len(body) if isinstance(body, bytes) or body.isascii() else len(body.encode("utf-8", "replace"))
