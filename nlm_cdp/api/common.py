"""What every noun shares: small messages of the wire, arguments, and windows over lists and texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar

from pydantic import Field

from nlm_cdp.errors import Drift, InvalidArgument
from nlm_cdp.rpc import Args, Result
from nlm_cdp.wire.pblite import Message, Tag

T = TypeVar("T")

# The wire


class Empty(Message):
    """An answer whose only news is that the call took effect."""


class Timestamp(Message):
    seconds: Annotated[int, Tag(1)]
    nanos: Annotated[int, Tag(2)] = 0

    @property
    def iso(self) -> str | None:
        """UTC in ISO 8601; None for a number that is no date."""
        try:
            return datetime.fromtimestamp(self.seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        except (OverflowError, OSError, ValueError):
            return None


class Provenance(Message):
    origin: Annotated[int, Tag(1)] = 1
    flags: Annotated[list[int] | None, Tag(11)] = [1]


class RequestContext(Message):
    """What the web app says of itself in most calls; the default is the form of today, `[2]` the one before May 2026.

    Capabilities: 1 LaTeX, 2 notebook-OS agency, 3 compute metering; `app` lists API capabilities for artifact calls.
    """

    client_type: Annotated[int | None, Tag(1)] = 2
    capabilities: Annotated[list[int], Tag(3)] = []
    provenance: Annotated[Provenance | None, Tag(4)] = Provenance()
    app: Annotated[list[int], Tag(5, 1)] = []


SHORT = RequestContext(provenance=None)
"""`[2]`: still what the web app and both maintained clients send with most reads and deletes."""


class InNotebook(Message):
    """How many calls begin."""

    context: Annotated[RequestContext, Tag(1)] = RequestContext()
    notebook_id: Annotated[str, Tag(2)]


# Names and times


def named(names: Mapping[int, str], code: int | None) -> str:
    """The name of a number; one that nobody knows stays visible."""
    return names.get(code or 0, f"unknown({code or 0})")


def iso(at: Timestamp | None) -> str | None:
    return at.iso if at is not None else None


# Arguments that many tools take

Limit = Annotated[int, Field(ge=1, le=1000)]
Offset = Annotated[int, Field(ge=0)]
MaxChars = Annotated[int, Field(ge=1, le=200_000)]


class NoArgs(Args):
    pass


class NotebookArgs(Args):
    notebook: str | None = None


# Windows


class Page(Result, Generic[T]):
    """A window of a list; `undecoded` names rows that could not be read, by wire path."""

    total: int
    has_more: bool
    undecoded: list[str] | None = None


def window(items: list[T], limit: int, offset: int) -> tuple[list[T], dict[str, Any]]:
    """The items asked for, and the counts that a list result carries."""
    shown = items[offset : offset + limit]
    return shown, {"total": len(items), "has_more": offset + len(shown) < len(items)}


def legible(rows: Iterable[T], undecoded: Sequence[str]) -> list[T]:
    """The rows of a listing. Raises Drift when none of them could be read: that is no empty list."""
    found = list(rows)
    if not found and undecoded:
        raise Drift("no row of the listing could be read", details={"undecoded": list(undecoded[:20])})
    return found


def text_window(text: str, offset: int, max_chars: int) -> tuple[str, dict[str, Any]]:
    """Part of a text, counted in characters."""
    shown = text[offset : offset + max_chars]
    return shown, {"total_chars": len(text), "has_more": offset + len(shown) < len(text)}


# Refusals


def refuse(message: str, hint: str = "", **details: Any) -> InvalidArgument:
    """The error for an argument that is wrong before anything was sent."""
    return InvalidArgument(message, hint=hint, details=details)
