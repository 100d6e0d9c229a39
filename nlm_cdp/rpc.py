"""What the product can do, as data: one `Rpc` per wire call, one `Tool` per MCP tool.

Everything else derives from these: retry, hints, scopes, classification of recorded traffic, docs. The unit is the
call, not the id: `s0tc2d` is three variants, told apart by which request model reads a row with nothing left over.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict

from nlm_cdp.wire.page import Health
from nlm_cdp.wire.pblite import Message

if TYPE_CHECKING:
    from pathlib import Path as FilePath

    from nlm_cdp.browser.transfer import Downloaded
    from nlm_cdp.errors import NlmError
    from nlm_cdp.local.store import Store
    from nlm_cdp.wire.chat import Answer, Snapshot

Sent = Callable[[int, int], Awaitable[None]]
Received = Callable[[int, int | None], Awaitable[None]]
"""Progress in bytes: so many, of so many where that is known."""

Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)
T = TypeVar("T")


class Effect(StrEnum):
    """What a replay would do; has no default anywhere."""

    READ = "read"
    SET = "set"  # a replay leaves the same state
    CREATE = "create"  # a replay may duplicate or bill again: never replayed
    DELETE = "delete"  # never replayed either


class Scope(StrEnum):
    READ = "read"
    CHAT = "chat"
    WRITE = "write"
    DELETE = "delete"
    SHARE = "share"


class Path(StrEnum):
    """What a call sends as `source-path`; not authoritative for the service (C)."""

    ACCOUNT = "/"
    NOTEBOOK = "/notebook/"


@dataclass(frozen=True)
class Rpc(Generic[Q, A]):
    """One call of the private API.

    `null`: an empty payload without a status is a legitimate answer, read as an empty row. `harmless`: statuses the
    service sends although the call took effect. `grade`: how well the rows are known (C recorded by us, N newer
    recording, P and M stated by one client).
    """

    id: str
    method: str
    request: type[Q]
    response: type[A]
    effect: Effect
    _: KW_ONLY
    path: Path = Path.NOTEBOOK
    variant: str = ""
    null: bool = False
    harmless: frozenset[int] = frozenset()
    timeout: float = 30.0
    grade: str = "C"
    stream: bool = False

    @property
    def name(self) -> str:
        return f"{self.id}-{self.method}" + (f"-{self.variant}" if self.variant else "")

    def source_path(self, notebook: str | None) -> str:
        return self.path if self.path is Path.ACCOUNT else f"{self.path}{notebook or ''}"


class Caller(Protocol):
    """A signed-in page: the only way out."""

    async def __call__(
        self, rpc: Rpc[Q, A], request: Q, *, notebook: str | None = None, timeout: float | None = None
    ) -> A:
        """One call. `notebook` is for requests that do not name it themselves."""
        ...

    async def ask(
        self, rpc: Rpc[Q, A], request: Q, *, notebook: str, timeout: float, watch: Callable[[Snapshot], Awaitable[None]]
    ) -> Answer:
        """One streamed answer; `watch` sees each snapshot as it arrives."""
        ...

    def notebook_url(self, notebook: str) -> str:
        """The web app's URL of a notebook, on the host and account in use."""
        ...

    def health(self) -> Health: ...

    async def upload(
        self, path: FilePath, *, notebook: str, source: str, mime: str, progress: Sent, timeout: float
    ) -> None:
        """The bytes of a registered source, straight from disk."""
        ...

    async def download(
        self, url: str, destination: FilePath, *, overwrite: bool, progress: Received, timeout: float
    ) -> Downloaded:
        """A file of the service's, with the browser's cookies; there whole, or not at all."""
        ...

    async def open_tab(self, path: str) -> str:
        """Show the user a tab of theirs at a path of the app's; gives its URL."""
        ...

    async def drop_page(self) -> None:
        """Close our page; the next call makes another, as the user's tabs then say."""
        ...

    @property
    def simulated(self) -> bool:
        """Whether the service behind the page says that it is a simulation."""
        ...


@dataclass(frozen=True, slots=True)
class Saved:
    """A file that was written."""

    path: FilePath
    size: int
    sha256: str


class Files(Protocol):
    """The files a tool may touch; whatever is refused is refused before anything is opened."""

    async def readable(self, path: str) -> FilePath: ...

    async def writable(self, path: str) -> FilePath: ...

    async def save(self, destination: FilePath, data: bytes, *, overwrite: bool) -> Saved: ...


JobStatus = Literal["running", "done", "failed", "cancelled"]


class Job(Protocol):
    """Work that goes on after the call that began it; `about` is its starter's own, `said` its latest progress."""

    id: str
    about: Any
    status: JobStatus
    said: str
    result: Any
    error: NlmError | None

    async def report(self, message: str) -> None: ...

    async def finished(self, within: float) -> bool:
        """Whether it has ended, after waiting that many seconds for it at most."""
        ...


class Background(Protocol):
    """The jobs of this process; their number and that of the results kept are bounded."""

    def start(self, kind: str, about: Any, work: Callable[[Job], Awaitable[Any]]) -> Job:
        """Begin a job; its id begins with `kind`. Raises RateLimited while too many are running."""
        ...

    def find(self, job_id: str) -> Job | None: ...

    async def cancel(self, job_id: str) -> None:
        """End a job and wait until it has; one that ended before keeps its result."""
        ...


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """What a tool works with. Tools do no I/O of their own: time and threads come from here too.

    `together`: what several awaitable functions give, in order, that many of them under way at once.
    """

    call: Caller
    store: Store
    progress: Callable[[str], Awaitable[None]]
    sleep: Callable[[float], Awaitable[None]]
    now: Callable[[], float]
    offload: Callable[[Callable[[], Any]], Awaitable[Any]]
    exclusive: Callable[[str], Any]
    files: Files
    background: Background
    together: Callable[[Sequence[Callable[[], Awaitable[Any]]], int], Awaitable[list[Any]]]
    config: dict[str, Any] = field(default_factory=dict)


class Args(BaseModel):
    """Arguments of a tool."""

    model_config = ConfigDict(
        extra="forbid", strict=True, hide_input_in_errors=True, use_enum_values=True, defer_build=True
    )


class Result(BaseModel):
    """Result of a tool; optional fields that are None are left out."""

    model_config = ConfigDict(extra="forbid", serialize_by_alias=True, populate_by_name=True, defer_build=True)


I = TypeVar("I", bound=Args)  # noqa: E741
O = TypeVar("O", bound=Result)  # noqa: E741


@dataclass(frozen=True, kw_only=True)
class Tool(Generic[I, O]):
    name: str
    description: str
    args: type[I]
    result: type[O]
    run: Callable[[ToolContext, I], Awaitable[O]]
    scope: Scope
    effect: Effect
    toolset: str
    rpcs: tuple[Rpc[Any, Any], ...]
    was: tuple[str, ...]
    order: int

    @property
    def read_only(self) -> bool:
        return self.effect is Effect.READ

    @property
    def destructive(self) -> bool:
        return self.effect is Effect.DELETE or self.scope in (Scope.DELETE, Scope.SHARE)

    @property
    def idempotent(self) -> bool:
        return self.effect is not Effect.CREATE

    @property
    def open_world(self) -> bool:
        return bool(self.rpcs)


def tool(
    *,
    scope: Scope,
    effect: Effect,
    rpcs: tuple[Rpc[Any, Any], ...] = (),
    was: tuple[str, ...] = (),
) -> Callable[[Callable[[ToolContext, I], Awaitable[O]]], Tool[I, O]]:
    """Declare a tool: its name is the function's, its description the docstring, its schemas the annotations.

    The set it belongs to is its noun: the module or package of `api` in which it stands.
    """

    def declare(run: Callable[[ToolContext, I], Awaitable[O]]) -> Tool[I, O]:
        hints = get_type_hints(run)
        name = run.__name__
        return Tool(
            name=name,
            description=" ".join((inspect.getdoc(run) or "").split()),
            args=hints["args"],
            result=hints["return"],
            run=run,
            scope=scope,
            effect=effect,
            toolset=run.__module__.removeprefix("nlm_cdp.api.").partition(".")[0],
            rpcs=rpcs,
            was=was,
            order=run.__code__.co_firstlineno,
        )

    return declare
