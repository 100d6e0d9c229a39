"""What an observer is told of a session's requests: one for each that left, with its outcome, and nothing of content."""

from __future__ import annotations

from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import trio

from nlm_cdp.api.notebooks.notebooks import CREATE, LIST, RENAME, CreateNotebook, RenameNotebook
from nlm_cdp.browser import transfer
from nlm_cdp.browser.bridge import Answer
from nlm_cdp.errors import FileRefused, Network, NlmError, Outcome
from nlm_cdp.local.traffic import TOOL, Exchange
from nlm_cdp.session import open_session
from tests.fakes import NB, REFUSALS
from tests.test_session import REQUESTS, FakeChrome, FakePage, body, ok

SERVER = Answer(sent=True, status=500)


@asynccontextmanager
async def observed(chrome: FakeChrome) -> Any:
    """A session, and what was told of the calls it made; opening a page is left out."""
    told: list[Exchange] = []
    async with trio.open_nursery() as nursery:
        async with open_session(nursery, chrome, observe=told.append) as session:
            await session.current_page()
            assert [(seen.rpc, seen.method) for seen in told] == [("page", "OpenPage")]
            told.clear()
            yield session, told
        nursery.cancel_scope.cancel()


async def told_of(rpc: Any, *steps: Any) -> list[tuple[str, int | None, str, str | None]]:
    async with observed(FakeChrome(list(steps))) as (session, told):
        with suppress(NlmError):
            await session(rpc, REQUESTS[rpc])
    return [(seen.rpc, seen.status, seen.outcome, seen.code) for seen in told]


async def test_a_call_is_told_with_its_sizes() -> None:
    async with observed(FakeChrome([ok(RENAME)])) as (session, told):
        await session(RENAME, REQUESTS[RENAME])
    (seen,) = told
    request = REQUESTS[RENAME]
    assert isinstance(request, RenameNotebook)
    assert (seen.rpc, seen.method, seen.effect) == (RENAME.id, RENAME.method, "set")
    assert seen.notebook == request.notebook_id
    assert seen.received == len(ok(RENAME).body)
    assert 20 < seen.sent < 200


async def test_every_request_of_a_retry_is_told() -> None:
    assert await told_of(LIST, Network("cut"), ok(LIST)) == [
        ("wXbhsf", None, "failed", "NETWORK"),
        ("wXbhsf", 200, "ok", None),
    ]
    assert await told_of(CREATE, Answer(sent=True, status=400), ok(CREATE)) == [
        ("CCqFvf", 400, "rejected", "SIGNED_OUT"),
        ("page", None, "ok", None),
        ("CCqFvf", 200, "ok", None),
    ]


async def test_what_never_left_is_not_told() -> None:
    assert await told_of(CREATE, Answer(sent=False), ok(CREATE)) == [
        ("page", None, "ok", None),
        ("CCqFvf", 200, "ok", None),
    ]


@pytest.mark.parametrize(("status", "code"), REFUSALS)
async def test_every_refusal_is_told(status: int, code: str) -> None:
    told = await told_of(CREATE, *[Answer(sent=True, status=200, body=body(CREATE, None, [status]))] * 2)
    assert told[0] == ("CCqFvf", 200, "rejected", code)


async def test_a_write_that_was_lost_is_told_as_unknown() -> None:
    assert await told_of(CREATE, SERVER) == [("CCqFvf", 500, "unknown", "SERVICE")]


async def test_a_deadline_and_a_cancellation_are_told_apart() -> None:
    async def never(page: Any, request: Any) -> Answer:
        await trio.sleep_forever()
        raise AssertionError

    async with observed(FakeChrome([never, never])) as (session, told):
        with pytest.raises(NlmError):
            await session(CREATE, REQUESTS[CREATE], timeout=5)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(session, LIST, REQUESTS[LIST])
            await trio.sleep(3)
            nursery.cancel_scope.cancel()
    assert [(seen.code, seen.outcome, seen.seconds) for seen in told] == [
        ("TIMEOUT", "unknown", pytest.approx(5, abs=0.1)),
        ("CANCELLED", "failed", pytest.approx(3, abs=0.1)),
    ]


async def test_the_tool_is_the_one_whose_task_calls() -> None:
    tools: list[tuple[str, str]] = []

    async def work(session: Any, tool: str) -> None:
        TOOL.set(tool)
        await session(LIST, REQUESTS[LIST])

    async with trio.open_nursery() as outer:
        chrome = FakeChrome(otherwise=ok(LIST))
        opening = open_session(outer, chrome, observe=lambda seen: tools.append((seen.rpc, TOOL.get())))
        async with opening as session, trio.open_nursery() as nursery:
            for tool in ("one", "two"):
                nursery.start_soon(work, session, tool)
        outer.cancel_scope.cancel()
    assert sorted(tool for rpc, tool in tools if rpc == "wXbhsf") == ["one", "two"]


async def test_nothing_of_a_request_or_its_answer_is_told() -> None:
    async with observed(FakeChrome([ok(CREATE)])) as (session, told):
        await session(CREATE, CreateNotebook(title="canary title"))
    assert "canary" not in str([asdict(seen) for seen in told])


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (None, "ok"),
        (FileRefused("it is empty"), "not_sent"),
        (Network("cut", outcome=Outcome.UNKNOWN), "unknown"),
        (Network("no", outcome=Outcome.REJECTED), "rejected"),
    ],
)
async def test_uploads_and_downloads_are_told(
    error: NlmError | None, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def moved(*args: Any, progress: Any, **options: Any) -> None:
        await progress(70, 100)
        if error is not None:
            raise error

    async def progress(done: int, total: int | None) -> None:
        reported.append(done)

    monkeypatch.setattr(FakePage, "connection", None, raising=False)
    monkeypatch.setattr(transfer, "upload", moved)
    monkeypatch.setattr(transfer, "download", moved)
    reported: list[int] = []
    async with observed(FakeChrome()) as (session, told):
        for call in (
            lambda: session.upload(Path("x"), notebook=NB, source="s", mime="a/b", progress=progress, timeout=5),
            lambda: session.download("https://x", Path("y"), overwrite=False, progress=progress, timeout=5),
        ):
            try:
                await call()
            except NlmError:
                assert error is not None
    up, down = told
    assert (up.rpc, up.effect, up.notebook, up.sent, up.outcome) == ("upload", "create", NB, 70, outcome)
    assert (down.rpc, down.effect, down.received) == ("download", "read", 70)
    assert down.outcome == ("ok" if error is None else "failed")
    assert reported == [70, 70]
