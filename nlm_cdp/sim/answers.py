"""What a handler may answer, and the pair of a declared call and the function that answers it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from nlm_cdp.rpc import Rpc
from nlm_cdp.sim.records import Notebook, Writing
from nlm_cdp.sim.state import Account
from nlm_cdp.wire.chat import Snapshot
from nlm_cdp.wire.pblite import Message, Row

INVALID, NOT_FOUND, DENIED, INTERNAL = 3, 5, 7, 13

Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)


class Refusal(NamedTuple):
    """A status instead of a payload: google.rpc code, and its details where there are any."""

    code: int
    details: list[Any] | None = None

    @property
    def row(self) -> list[Any]:
        return [self.code] if self.details is None else [self.code, None, self.details]


@dataclass(frozen=True, slots=True)
class Pieces:
    """A row too large to build: its JSON text, made piece by piece as often as asked."""

    text: Callable[[], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Stream:
    """The snapshots of an answer, the notebook it is given in, and what tells when it has been stopped."""

    snapshots: list[Snapshot]
    notebook: Notebook
    writing: Writing


@dataclass(frozen=True, slots=True)
class Reshaped:
    """A row that is none of ours any more."""

    row: Row

    def encode(self) -> Row:
        return self.row


Answer = Message | Reshaped | Refusal | Pieces | Stream | None
"""None is an empty success."""


@dataclass(frozen=True, slots=True)
class Handler(Generic[Q, A]):
    """`run` answers one declared call."""

    rpc: Rpc[Q, A]
    run: Callable[[Account, Q], A | Refusal | Pieces | Stream | None]
