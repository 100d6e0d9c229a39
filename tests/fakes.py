"""A scripted page in place of Chrome, a store in memory, and the tools over both.

`Bench.call` runs a tool the way the server and the shell do, and checks the result against the tool's own output
schema. What a script does not foresee fails the test, even where the code under test catches exceptions.
"""

from __future__ import annotations

import inspect
import json
import sqlite3
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import jsonschema
import pytest
import trio

from nlm_cdp.api import TOOLS
from nlm_cdp.api.chat import chat
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.application import Application
from nlm_cdp.browser.transfer import Downloaded
from nlm_cdp.errors import NlmError, NotFound, Outcome, UnconfirmedWrite
from nlm_cdp.granted import SCOPES
from nlm_cdp.jobs import Jobs, side_by_side
from nlm_cdp.local.database import Database
from nlm_cdp.local.files import Roots
from nlm_cdp.local.store import MIGRATIONS, ChatSession, Store
from nlm_cdp.localfiles import saved
from nlm_cdp.rpc import Caller, Rpc, Saved, ToolContext
from nlm_cdp.schema import output_schema
from nlm_cdp.wire.batchexecute import answer_frame
from nlm_cdp.wire.chat import ANSWER, Answer, ChatReader, Snapshot
from nlm_cdp.wire.frames import PREFIX, frame_chunk, trailer
from nlm_cdp.wire.page import Health
from nlm_cdp.wire.pblite import Message
from nlm_cdp.wire.status import Status

START = 1_700_000_000
"""What the clock says when a test begins: 2023-11-14T22:13:20Z."""

NB, NB2, NB3 = (f"{digit * 8}-{digit * 4}-4{digit * 3}-8{digit * 3}-{digit * 12}" for digit in "123")
S1, S2, S3, S4 = (f"{digit * 8}-{digit * 4}-4{digit * 3}-8{digit * 3}-{digit * 12}" for digit in "abcd")
CHAT1, CHAT2 = "c1c1c1c1-0000-4000-8000-000000000001", "c2c2c2c2-0000-4000-8000-000000000002"

T = TypeVar("T")


def present(value: T | None) -> T:
    """What must be there."""
    assert value is not None
    return value


# The page


class FakeCaller:
    """`rpc.Caller` over scripts: what each call is answered, in turn; a script's last answer repeats.

    An answer is a row, an exception to raise, or a function of the request that gives (or is awaited for) one of these.
    A streamed answer is a list of snapshot rows, with seconds to wait among them. `browser` says what was done to it.
    """

    def __init__(self) -> None:
        self.scripts: dict[Rpc[Any, Any], list[Any]] = {}
        self.requests: list[tuple[Rpc[Any, Any], Any]] = []
        self.simulated = False
        self.browser: list[str] = []
        self.no_tab: NlmError | None = None
        self.transfers: list[NlmError | None] = []
        self.state = Health("ok", "Chrome/156.0", "port", "http://127.0.0.1:9222", "https://notebook.google.com")

    def script(self, rpc: Rpc[Any, Any], *answers: Any) -> None:
        self.scripts[rpc] = list(answers)

    def sent(self, rpc: Rpc[Any, Any]) -> list[Any]:
        """The requests of one call, as messages."""
        return [request for each, request in self.requests if each is rpc]

    @property
    def calls(self) -> list[str]:
        return [rpc.id for rpc, _ in self.requests]

    async def __call__(
        self, rpc: Rpc[Any, Any], request: Message, *, notebook: str | None = None, timeout: float | None = None
    ) -> Any:
        row = await self.answer(rpc, request)
        if row is None and not rpc.null:
            pytest.fail(f"the session refuses an empty answer to {rpc.name}")
        return rpc.response.decode(json.loads(json.dumps(row or [])))

    async def ask(
        self,
        rpc: Rpc[Any, Any],
        request: Message,
        *,
        notebook: str,
        timeout: float,
        watch: Callable[[Snapshot], Awaitable[None]],
    ) -> Answer:
        reader, size, frames = ChatReader(), 0, 1
        for row in await self.answer(rpc, request):
            if isinstance(row, int | float):
                await trio.sleep(row)
                continue
            chunk = ("" if size else f"{PREFIX}\n\n") + frame_chunk([answer_frame(None, row)])
            size, frames = size + len(chunk.encode()), frames + 1
            for snapshot in reader.feed(chunk):
                await watch(snapshot)
        for _ in reader.feed(trailer(frames, size)):
            pass
        return reader.close()

    async def answer(self, rpc: Rpc[Any, Any], request: Message) -> Any:
        row = json.loads(json.dumps(request.encode()))
        assert rpc.request.decode(row).encode() == row
        self.requests.append((rpc, request))
        await trio.lowlevel.checkpoint()
        answers = self.scripts.get(rpc)
        if not answers:
            pytest.fail(f"{rpc.name} is not in the script")
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        if callable(found):
            found = found(request)
            if inspect.isawaitable(found):
                found = await found
        if isinstance(found, BaseException):
            raise found
        return found

    def notebook_url(self, notebook: str) -> str:
        return f"https://notebook.google.com/notebook/{notebook}"

    def health(self) -> Health:
        return self.state

    async def upload(self, path: Path, *, notebook: str, source: str, mime: str, progress: Any, timeout: float) -> None:
        await trio.lowlevel.checkpoint()
        self.browser.append(f"upload {path.name} as {mime} for {source}")
        if self.transfers and (error := self.transfers.pop(0)) is not None:
            raise error
        await progress(path.stat().st_size, path.stat().st_size)

    async def download(
        self, url: str, destination: Path, *, overwrite: bool, progress: Any, timeout: float
    ) -> Downloaded:
        await trio.lowlevel.checkpoint()
        self.browser.append(f"download {url}")
        if self.transfers and (error := self.transfers.pop(0)) is not None:
            raise error
        await progress(4, 4)
        return Downloaded(destination, 4, "audio/mp4", "0" * 64, verified=True)

    async def open_tab(self, path: str) -> str:
        await trio.lowlevel.checkpoint()
        if self.no_tab is not None:
            raise self.no_tab
        self.browser.append(f"open {path}")
        return f"https://notebook.google.com{path}"

    async def drop_page(self) -> None:
        await trio.lowlevel.checkpoint()
        self.browser.append("drop page")


def refused(code: int, text: str = "", *, displayable: bool = False) -> NlmError:
    """What the session raises for a refusal by status."""
    return Status(code, text, displayable).error()


def lost(cause: str = "no answer within 30 s") -> NlmError:
    """What the session raises when nobody knows what became of a write."""
    return UnconfirmedWrite(f"{cause}; the change may have been made", outcome=Outcome.UNKNOWN)


# Files


class FakeFiles:
    """`rpc.Files` over one folder, without threads."""

    def __init__(self, folder: Path) -> None:
        self.roots = Roots((folder,), folder)

    async def readable(self, path: str) -> Path:
        return self.roots.readable(path)

    async def writable(self, path: str) -> Path:
        return self.roots.writable(path)

    async def save(self, destination: Path, data: bytes, *, overwrite: bool) -> Saved:
        return saved(destination, data, overwrite=overwrite)


# The store


class MemoryDatabase(Database):
    """A database without a file and without threads."""

    def __init__(self) -> None:
        super().__init__(nowhere, MIGRATIONS)
        self.memory = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False
        )  # closed where it is collected
        weakref.finalize(self, self.memory.close)
        for statement in (statement for step in MIGRATIONS for statement in step):
            self.memory.execute(statement)

    async def transaction(self, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        await trio.lowlevel.checkpoint()
        with self.memory as db:
            db.execute(begin)
            return work(db)


def nowhere() -> Path:
    pytest.fail("a database in memory has no file")


def clock() -> float:
    return START + trio.current_time()


class FakeStore(Store):
    """A store in memory: worker threads do not go with a mock clock."""

    def __init__(self) -> None:
        super().__init__(MemoryDatabase(), clock)
        self.active: str | None = None
        self.made = 0
        self.rows: dict[str, ChatSession] = {}

    async def active_notebook(self) -> str | None:
        return self.active

    async def set_active_notebook(self, notebook_id: str | None) -> None:
        self.active = notebook_id

    async def create_session(self, notebook_id: str) -> ChatSession:
        now = self.now()
        self.made += 1
        session = ChatSession(f"ses_{self.made}", notebook_id, None, now, now, 0)
        self.rows[session.id] = session
        return session

    async def session(self, session_id: str) -> ChatSession | None:
        return self.rows.get(session_id)

    async def sessions(self) -> list[ChatSession]:
        newest_first = list(reversed(self.rows.values()))
        newest_first.sort(key=lambda session: session.last_activity, reverse=True)
        return newest_first

    async def touch_session(self, session_id: str, conversation_id: str | None) -> ChatSession:
        await trio.lowlevel.checkpoint()
        if (old := self.rows.get(session_id)) is None:
            raise NotFound("There is no such chat session.")
        self.rows[session_id] = replace(
            old,
            conversation_id=conversation_id or old.conversation_id,
            last_activity=self.now(),
            message_count=old.message_count + 1,
        )
        return self.rows[session_id]

    async def reset_session(self, session_id: str) -> ChatSession | None:
        if (old := self.rows.get(session_id)) is not None:
            self.rows[session_id] = replace(old, conversation_id=None, message_count=0)
        return self.rows.get(session_id)

    async def close_session(self, session_id: str) -> bool:
        return self.rows.pop(session_id, None) is not None

    async def forget_notebook(self, notebook_id: str) -> None:
        self.active = None if self.active == notebook_id else self.active
        self.rows = {key: row for key, row in self.rows.items() if row.notebook_id != notebook_id}
        await self.library.remove(notebook_id)

    async def forget_sessions(self) -> None:
        self.active = None
        self.rows.clear()


# What the service refuses with


REFUSALS = [
    (3, "INVALID_ARGUMENT"),
    (5, "NOT_FOUND"),
    (7, "PERMISSION"),
    (8, "RATE_LIMITED"),
    (9, "NOT_READY"),
    (13, "SERVICE"),
    (16, "SIGNED_OUT"),
]
every_refusal = pytest.mark.parametrize(("status", "code"), REFUSALS)


# The tools


class Bench:
    """Tools over a caller and a store; `progress` holds what they reported. `page` may take the scripts' place."""

    def __init__(self, store: Any = None, **options: Any) -> None:
        self.caller = FakeCaller()
        self.page: Caller = self.caller
        self.store = FakeStore() if store is None else store
        self.progress: list[str] = []
        self.contexts = 0
        self.locks: dict[str, trio.Lock] = {}
        self.background: Any = None
        self.files: Any = None
        self.app = Application(self.context, **({"scopes": SCOPES, "toolsets": ("all",)} | options))

    async def context(self, progress: Callable[[str], Awaitable[None]]) -> ToolContext:
        self.contexts += 1

        async def offload(work: Callable[[], Any]) -> Any:
            return work()

        return ToolContext(
            call=self.page,
            store=self.store,
            progress=progress,
            sleep=trio.sleep,
            now=self.store.now,
            offload=offload,
            exclusive=lambda key: self.locks.setdefault(key, trio.Lock()),
            files=self.files,
            background=self.background,
            together=side_by_side,
            config={"endpoint": "auto", "scopes": list(SCOPES), "toolsets": ["all"]},
        )

    async def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """The structured result, as a client reads it."""

        async def report(message: str) -> None:
            self.progress.append(message)

        result: dict[str, Any] = json.loads(json.dumps(await self.app.run(name, arguments, report)))
        check(name, result)
        return result

    async def fails(self, name: str, /, **arguments: Any) -> NlmError:
        """The error that a call ends in."""
        with pytest.raises(NlmError) as caught:
            await self.call(name, **arguments)
        return caught.value


@asynccontextmanager
async def background(bench: Bench, **options: int) -> AsyncIterator[Jobs]:
    """Give a bench's tools jobs of their own, which end with the block."""
    async with trio.open_nursery() as nursery:
        bench.background = Jobs(nursery, **options)
        yield bench.background
        await bench.background.close()


def check(name: str, result: Any) -> None:
    """The result is what the tool's output schema says."""
    schema = output_schema(TOOLS[name].result)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(result, schema, cls=jsonschema.Draft202012Validator)


# Rows, as recordings show them


def source(
    source_id: str,
    title: str | None = "A page",
    *,
    kind: int = 5,
    status: int | None = 2,
    url: str | None = None,
    video: str | None = None,
    words: int | None = 229,
) -> list[Any]:
    youtube = [video, "v1", "A channel"] if video else None
    meta = [None, words, [START, 5], ["rev", [START]], kind, youtube, 1, [url] if url else None, 1329]
    return [[source_id], title, meta, [None, status]]


def notebook(
    notebook_id: str,
    title: str = "My notebook",
    sources: tuple[Any, ...] = (),
    *,
    emoji: str = "📓",
    role: int = 1,
    chat_settings: Any = None,
    limit: int | None = None,
) -> list[Any]:
    meta = [role, False, True, None, None, [START + 60, 1], 1, False, [START, 2], None, None, None, False]
    limits = [6, limit, 300, 500_000] if limit is not None else None
    return [
        title, list(sources) or None, notebook_id, emoji, None, meta, None, chat_settings, [False], [True], limits,
    ]  # fmt: skip


def text_element(text: str, start: int = 0) -> list[Any]:
    end = start + len(text)
    return [start, end, [[[start, end, [text]]]]]


def snapshot(
    text: str, *citations: Any, final: bool = True, kind: int = ANSWER, follow_ups: tuple[str, ...] = ()
) -> list[Any]:
    document = [[[text_element(text)]], None, None, None, kind]
    return [
        [text, None, ["not-the-conversation", "turn", 7], None, document],
        list(citations),
        None,
        [list(follow_ups)],
        final,
    ]


def citation(source_id: str, excerpt: str, start: int = 0) -> list[Any]:
    at = [None, start, start + len(excerpt)]
    return [None, None, 0.9, [at], [[text_element(excerpt, start)]], [[[source_id]]], ["chunk"]]


def with_notebook(bench: Bench, *sources: Any, **options: Any) -> None:
    """Script the notebook NB with these sources, for listing and for getting."""
    row = notebook(NB, sources=sources, **options)
    bench.caller.script(notebooks.LIST, [[row]])
    bench.caller.script(notebooks.GET, [row])


def answers(bench: Bench, *rows: Any, conversation: str | None = CHAT1) -> None:
    """Script one answer to every question, and the conversation's id that the service tells afterwards."""
    bench.caller.script(chat.ASK, list(rows))
    bench.caller.script(chat.LIST_CHATS, [[[conversation]]] if conversation else None)
