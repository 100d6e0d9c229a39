"""A session over fake pages: retry by effect, outcome on every error, shared refresh, one connection, cancellation."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import trio

from nlm_cdp.api.chat.chat import ASK, ASK_CONTEXT, Ask
from nlm_cdp.api.notebooks.notebooks import (
    CREATE,
    DELETE,
    GET,
    LIST,
    RENAME,
    CreateNotebook,
    DeleteNotebooks,
    GetNotebook,
    ListNotebooks,
    Rename,
    RenameNotebook,
)
from nlm_cdp.browser.account import Place
from nlm_cdp.browser.bridge import Answer, Bootstrap
from nlm_cdp.errors import (
    AccountAmbiguous,
    ChromeApprovalPending,
    ChromeLost,
    ChromeNotFound,
    Drift,
    InvalidArgument,
    Network,
    NlmError,
    Outcome,
    RateLimited,
    Service,
    SignedOut,
    Timeout,
    UnconfirmedWrite,
)
from nlm_cdp.presence import JOIN
from nlm_cdp.session import Session, open_session
from nlm_cdp.wire.batchexecute import answer_frame
from nlm_cdp.wire.frames import NotRpcReply, frame_body
from nlm_cdp.wire.page import Health

NB = "11111111-2222-4333-8444-555555555555"
PROJECT = ["T", None, NB, ""]
GOOD = {
    LIST: [[PROJECT]],
    GET: [PROJECT],
    CREATE: PROJECT,
    RENAME: PROJECT,
    DELETE: [],
}
REQUESTS = {
    LIST: ListNotebooks(),
    GET: GetNotebook(notebook_id=NB),
    CREATE: CreateNotebook(title="T"),
    RENAME: RenameNotebook(notebook_id=NB, change=Rename(title="T")),
    DELETE: DeleteNotebooks(notebook_ids=[NB]),
}
PLACE = Place("https://notebooklm.google.com", None, "1")
FACTS = Bootstrap(None, "1", None, simulated=False)
CONNECTING = Health(state="connecting")


def body(rpc: Any, row: Any = None, status: list[Any] | None = None) -> str:
    return frame_body([[answer_frame(rpc.id, row, status), ["di", 1]]])


def ok(rpc: Any) -> Answer:
    return Answer(sent=True, status=200, body=body(rpc, GOOD[rpc]))


@dataclass
class FakePage:
    chrome: FakeChrome
    place: Place = PLACE
    facts: Bootstrap = FACTS
    generation: int = 1
    lost: str | None = None
    closed: bool = False
    aborted: int = 0

    async def bootstrap(self) -> None:
        self.chrome.bootstraps += 1
        await trio.sleep(0.01)
        if self.chrome.bootstrap_error is not None:
            raise self.chrome.bootstrap_error
        self.facts = replace(self.facts, user=self.chrome.user)
        self.generation += 1

    def lose(self, reason: str) -> None:
        self.lost = reason

    async def call(self, request: Any) -> Answer:
        self.chrome.requests.append(request)
        step = self.chrome.steps.pop(0) if self.chrome.steps else self.chrome.otherwise
        try:
            return await step(self, request) if callable(step) else self.told(step)
        except trio.Cancelled:
            self.aborted += 1
            raise

    async def stream(self, request: Any, chunk: Any) -> Answer:
        self.chrome.requests.append(request)
        step = self.chrome.steps.pop(0)
        if callable(step):
            answer: Answer = await step(self, chunk)
            return answer
        return self.told(step)

    def told(self, step: Any) -> Answer:
        if isinstance(step, NlmError):
            if isinstance(step, ChromeLost):
                self.lost = "gone"
            raise step
        assert isinstance(step, Answer)
        return replace(step)

    async def close(self) -> None:
        self.closed = True


@dataclass
class FakeChrome:
    steps: list[Any] = field(default_factory=list)
    otherwise: Any = None
    dial: Callable[[], Any] | None = None
    health: Health = CONNECTING
    requests: list[Any] = field(default_factory=list)
    pages: list[FakePage] = field(default_factory=list)
    dials: int = 0
    bootstraps: int = 0
    user: str = "1"
    bootstrap_error: NlmError | None = None
    page_error: NlmError | None = None
    attempts: int = 0
    dead: trio.Event = field(default_factory=trio.Event)
    tabs: list[str] = field(default_factory=list)

    async def open_tab(self, path: str) -> str:
        self.tabs.append(path)
        return f"https://app.test{path}"

    async def hold(self, connected: Any) -> None:
        self.dials += 1
        if self.dial is not None:
            await self.dial()
        connected(self.make_page)
        await self.dead.wait()

    async def make_page(self) -> FakePage:
        self.attempts += 1
        await trio.sleep(0.01)
        if self.page_error is not None:
            raise self.page_error
        self.pages.append(FakePage(self, facts=replace(FACTS, user=self.user)))
        return self.pages[-1]


@asynccontextmanager
async def session_on(chrome: FakeChrome) -> Any:
    async with trio.open_nursery() as nursery:
        async with open_session(nursery, chrome) as session:
            yield session
        nursery.cancel_scope.cancel()


async def outcome_of(chrome: FakeChrome, rpc: Any) -> tuple[Any, int]:
    """What a call gives or raises, and how many requests were sent for it."""
    async with session_on(chrome) as session:
        try:
            result: Any = await session(rpc, REQUESTS[rpc])
        except NlmError as exc:
            result = exc
    return result, len(chrome.requests)


async def test_a_call_carries_its_row_and_source_path() -> None:
    chrome = FakeChrome([ok(GET)])
    got, sent = await outcome_of(chrome, GET)
    assert got.notebook.id == NB
    assert sent == 1
    assert chrome.requests[0].query["rpcids"] == "rLM1Ne"
    assert chrome.requests[0].query["source-path"] == f"/notebook/{NB}"
    assert chrome.requests[0].query["rt"] == "c"
    assert '"rLM1Ne"' in chrome.requests[0].f_req
    assert chrome.pages[0].closed


async def test_account_calls_name_no_notebook() -> None:
    chrome = FakeChrome([ok(LIST)])
    await outcome_of(chrome, LIST)
    assert chrome.requests[0].query["source-path"] == "/"


async def test_links_use_the_host_and_account_of_the_page() -> None:
    chrome = FakeChrome([ok(LIST)])
    async with session_on(chrome) as session:
        await session(LIST, REQUESTS[LIST])
        assert session.notebook_url(NB) == f"https://notebooklm.google.com/notebook/{NB}?authuser=1"


@pytest.mark.parametrize("rpc", [LIST, RENAME, CREATE, DELETE])
async def test_a_stale_token_is_renewed_once_whatever_the_effect(rpc: Any) -> None:
    chrome = FakeChrome([Answer(sent=True, status=400), ok(rpc)])
    result, sent = await outcome_of(chrome, rpc)
    assert not isinstance(result, NlmError)
    assert (sent, chrome.bootstraps) == (2, 1)


async def test_concurrent_calls_share_one_refresh() -> None:
    async def stale_then_good(page: FakePage, request: Any) -> Answer:
        generation = page.generation
        await trio.sleep(0.001)
        return Answer(sent=True, status=400) if generation == 1 else ok(LIST)

    chrome = FakeChrome(otherwise=stale_then_good)
    async with session_on(chrome) as session, trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(session, LIST, REQUESTS[LIST])
    assert chrome.bootstraps == 1
    assert len(chrome.requests) == 10


async def test_a_page_that_cannot_be_made_is_tried_once_for_all_who_wait_and_each_hears_of_it_alone() -> None:
    errors: list[NlmError] = []
    chrome = FakeChrome()
    chrome.page_error = Timeout("our page in Chrome does not answer")
    async with session_on(chrome) as session:

        async def call() -> None:
            with pytest.raises(Timeout) as caught:
                await session(LIST, REQUESTS[LIST])
            errors.append(caught.value.also(f"That was call {len(errors)}."))

        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(call)
        assert chrome.attempts == 1
        assert [error.message[-2] for error in errors] == list("01234")
        assert all(error.message.count("That was") == 1 for error in errors)
        chrome.page_error, chrome.steps = None, [ok(LIST)]
        await session(LIST, REQUESTS[LIST])
    assert chrome.attempts == 2


async def test_a_refresh_that_fails_is_tried_once_for_all_who_wait() -> None:
    chrome = FakeChrome(otherwise=Answer(sent=True, status=400), bootstrap_error=Network("the line is down"))
    codes: list[str] = []
    async with session_on(chrome) as session:

        async def call() -> None:
            with pytest.raises(NlmError) as caught:
                await session(LIST, REQUESTS[LIST])
            codes.append(caught.value.code)

        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(call)
    assert chrome.bootstraps == 1
    assert codes == ["NETWORK"] * 5


@pytest.mark.parametrize("rpc", [LIST, CREATE, RENAME, DELETE])
async def test_no_call_begun_as_one_account_ends_as_another(rpc: Any) -> None:
    """Two calls find their tokens stale because somebody else signed in: neither is sent again."""
    chrome = FakeChrome(steps=[ok(LIST)], otherwise=Answer(sent=True, status=400))
    async with session_on(chrome) as session:
        await session(LIST, REQUESTS[LIST])
        chrome.user = "2"
        errors: list[NlmError] = []

        async def call() -> None:
            with pytest.raises(AccountAmbiguous) as caught:
                await session(rpc, REQUESTS[rpc], notebook=str(len(errors)))
            errors.append(caught.value)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            nursery.start_soon(call)
        assert [(error.state, error.outcome) for error in errors] == [("account_changed", Outcome.REJECTED)] * 2
        assert len(chrome.requests) <= 3
        chrome.steps = [ok(LIST)]
        await session(LIST, REQUESTS[LIST])
    assert (len(chrome.pages), chrome.pages[0].closed) == (2, True)


async def test_a_page_that_was_dropped_on_purpose_may_come_back_as_another_account() -> None:
    chrome = FakeChrome(otherwise=ok(LIST))
    async with session_on(chrome) as session:
        await session(LIST, REQUESTS[LIST])
        chrome.user = "2"
        await session.drop_page()
        await session(LIST, REQUESTS[LIST])
        chrome.user, chrome.pages[-1].lost = "3", "it crashed"
        with pytest.raises(AccountAmbiguous):
            await session(LIST, REQUESTS[LIST])


async def test_a_request_refused_with_a_fresh_token_is_drift_and_ends() -> None:
    chrome = FakeChrome([Answer(sent=True, status=400)] * 5)
    result, sent = await outcome_of(chrome, CREATE)
    assert isinstance(result, Drift)
    assert result.outcome is Outcome.REJECTED
    assert (sent, chrome.bootstraps) == (2, 1)


async def test_a_dead_refresh_is_an_error_not_a_loop() -> None:
    chrome = FakeChrome([Answer(sent=True, status=400)] * 5, bootstrap_error=SignedOut("out"))
    result, sent = await outcome_of(chrome, CREATE)
    assert isinstance(result, SignedOut)
    assert result.outcome is Outcome.NOT_SENT
    assert (sent, chrome.bootstraps) == (1, 1)


LOST = [
    pytest.param(Answer(sent=True, status=500), id="500"),
    pytest.param(Answer(sent=True, status=503), id="503"),
    pytest.param(Answer(sent=True, failed="TypeError"), id="fetch failed"),
    pytest.param(Answer(sent=True, status=200, failed="TypeError"), id="body failed"),
    pytest.param(Answer(sent=True, status=200, body=""), id="empty body"),
    pytest.param(Answer(sent=True, status=200, body="<html>unusual traffic</html>"), id="html"),
    pytest.param(ChromeLost("gone"), id="page lost"),
    pytest.param(Answer(sent=True, status=401), id="401"),
    pytest.param(Answer(sent=True, status=403), id="403"),
]


@pytest.mark.parametrize("step", LOST)
@pytest.mark.parametrize("rpc", [CREATE, DELETE])
async def test_a_lost_write_is_sent_once_and_is_unknown(rpc: Any, step: Any) -> None:
    chrome = FakeChrome([step, ok(rpc)])
    result, sent = await outcome_of(chrome, rpc)
    assert isinstance(result, UnconfirmedWrite)
    assert result.outcome is Outcome.UNKNOWN
    assert "may have been made" in result.message
    assert sent == 1


@pytest.mark.parametrize("step", [step for step in LOST if step.id not in ("empty body", "html")])
@pytest.mark.parametrize("rpc", [LIST, RENAME])
async def test_a_lost_read_or_setting_is_sent_twice_at_most(rpc: Any, step: Any) -> None:
    chrome = FakeChrome([step, ok(rpc)])
    result, sent = await outcome_of(chrome, rpc)
    assert not isinstance(result, NlmError)
    assert sent == 2
    chrome = FakeChrome([step] * 4)
    result, sent = await outcome_of(chrome, rpc)
    assert isinstance(result, NlmError)
    assert sent == 2


@pytest.mark.parametrize("rpc", [LIST, RENAME, CREATE, DELETE])
@pytest.mark.parametrize("code", [3, 5, 7, 8, 9, 13])
async def test_a_refusal_is_a_refusal_and_final(rpc: Any, code: int) -> None:
    chrome = FakeChrome([Answer(sent=True, status=200, body=body(rpc, None, [code]))] * 3)
    result, sent = await outcome_of(chrome, rpc)
    assert isinstance(result, NlmError)
    assert not isinstance(result, UnconfirmedWrite)
    assert result.outcome is Outcome.REJECTED
    assert result.details["status_code"] == code
    assert rpc.id not in result.message
    assert sent == 1


@pytest.mark.parametrize("rpc", [LIST, CREATE])
async def test_status_16_renews_the_token_once(rpc: Any) -> None:
    refused = Answer(sent=True, status=200, body=body(rpc, None, [16]))
    chrome = FakeChrome([refused, ok(rpc)])
    result, sent = await outcome_of(chrome, rpc)
    assert not isinstance(result, NlmError)
    assert (sent, chrome.bootstraps) == (2, 1)
    chrome = FakeChrome([refused] * 3)
    result, sent = await outcome_of(chrome, rpc)
    assert isinstance(result, SignedOut)
    assert (sent, chrome.bootstraps) == (2, 1)


async def test_a_pause_is_reported_with_its_length_and_not_retried() -> None:
    paused = Answer(sent=True, status=429, retry_after="7")
    result, sent = await outcome_of(FakeChrome([paused] * 3), LIST)
    assert isinstance(result, RateLimited)
    assert result.retry_after_s == 7
    assert sent == 1
    result, sent = await outcome_of(FakeChrome([paused] * 3), CREATE)
    assert result.outcome is Outcome.UNKNOWN
    assert result.retry_after_s == 7
    assert sent == 1


async def test_a_row_of_another_shape_is_drift_with_its_path() -> None:
    answer = Answer(sent=True, status=200, body=body(GET, [["T", "secret payload", NB]]))
    result, _ = await outcome_of(FakeChrome([answer]), GET)
    assert isinstance(result, Drift)
    assert result.details["path"] == ".1.2"
    assert "secret" not in result.message
    answer = Answer(sent=True, status=200, body=body(CREATE, ["T", "secret payload", NB]))
    result, sent = await outcome_of(FakeChrome([answer]), CREATE)
    assert isinstance(result, Drift)
    assert result.outcome is Outcome.UNKNOWN
    assert sent == 1


async def test_nothing_where_data_belongs_is_drift() -> None:
    result, _ = await outcome_of(FakeChrome([Answer(sent=True, status=200, body=body(GET))]), GET)
    assert isinstance(result, Drift)


async def test_html_instead_of_a_reply_is_not_an_empty_list() -> None:
    wall = Answer(sent=True, status=200, body="<html>unusual traffic</html>")
    result, _ = await outcome_of(FakeChrome([wall] * 2), LIST)
    assert isinstance(result, NotRpcReply)
    assert result.code == "SERVICE"


async def test_a_page_without_tokens_gets_them_first() -> None:
    result, sent = await outcome_of(FakeChrome([Answer(sent=False, failed="NoTokens"), ok(CREATE)]), CREATE)
    assert not isinstance(result, NlmError)
    assert sent == 2


async def test_a_redirected_call_says_what_the_refresh_found() -> None:
    chrome = FakeChrome([Answer(sent=True, redirected=True)], bootstrap_error=SignedOut("out", state="signed_out"))
    result, sent = await outcome_of(chrome, LIST)
    assert isinstance(result, SignedOut)
    assert (sent, chrome.bootstraps) == (1, 1)


async def never(page: FakePage, request: Any) -> Answer:
    await trio.sleep_forever()
    raise AssertionError


@pytest.mark.parametrize(("rpc", "kind"), [(LIST, Timeout), (CREATE, UnconfirmedWrite)])
async def test_a_deadline_ends_the_call_and_aborts_the_fetch(rpc: Any, kind: type[NlmError]) -> None:
    chrome = FakeChrome(otherwise=never)
    began = trio.current_time()
    result, sent = await outcome_of(chrome, rpc)
    assert isinstance(result, kind)
    assert (result.details.get("cause") or result.code) == "TIMEOUT"
    assert sent == 1
    assert chrome.pages[0].aborted == 1
    assert 29 < trio.current_time() - began < 32


async def test_a_stuck_call_holds_up_no_other() -> None:
    chrome = FakeChrome([never, ok(LIST)])
    async with session_on(chrome) as session, trio.open_nursery() as nursery:

        async def stuck() -> None:
            with pytest.raises(Timeout):
                await session(GET, REQUESTS[GET], timeout=3)

        nursery.start_soon(stuck)
        await trio.testing.wait_all_tasks_blocked()
        began = trio.current_time()
        await session(LIST, REQUESTS[LIST])
        assert trio.current_time() - began < 1


async def test_cancelling_a_call_aborts_it_and_leaves_the_session_working() -> None:
    chrome = FakeChrome([never, ok(LIST)])
    async with session_on(chrome) as session:
        with trio.move_on_after(1):
            await session(LIST, REQUESTS[LIST])
        assert chrome.pages[0].aborted == 1
        assert (await session(LIST, REQUESTS[LIST])).notebooks


async def test_writes_to_one_notebook_wait_for_each_other_and_reads_do_not() -> None:
    running: list[str] = []
    most: list[int] = []

    async def slow(page: FakePage, request: Any) -> Answer:
        running.append(request.query["rpcids"])
        most.append(running.count("s0tc2d"))
        await trio.sleep(1)
        running.remove(request.query["rpcids"])
        return ok(RENAME if request.query["rpcids"] == "s0tc2d" else GET)

    chrome = FakeChrome(otherwise=slow)
    async with session_on(chrome) as session:
        await session(GET, REQUESTS[GET])
        began = trio.current_time()
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(session, RENAME, REQUESTS[RENAME])
                nursery.start_soon(session, GET, REQUESTS[GET])
        assert max(most) == 1
        assert 2.9 < trio.current_time() - began < 3.2


async def test_reads_are_bounded() -> None:
    running = 0
    most = 0

    async def slow(page: FakePage, request: Any) -> Answer:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await trio.sleep(1)
        running -= 1
        return ok(LIST)

    async with session_on(FakeChrome(otherwise=slow)) as session, trio.open_nursery() as nursery:
        for _ in range(40):
            nursery.start_soon(session, LIST, REQUESTS[LIST])
    assert most == 16


# The connection


async def test_one_connection_and_one_page_for_many_calls() -> None:
    chrome = FakeChrome(otherwise=ok(LIST))
    async with session_on(chrome) as session:
        async with trio.open_nursery() as nursery:
            for _ in range(10):
                nursery.start_soon(session, LIST, REQUESTS[LIST])
        await session(LIST, REQUESTS[LIST])
    assert (chrome.dials, len(chrome.pages)) == (1, 1)


async def test_chrome_is_not_touched_before_the_first_call() -> None:
    chrome = FakeChrome()
    async with session_on(chrome):
        await trio.sleep(60)
    assert chrome.dials == 0


async def test_a_lost_page_is_made_again_on_the_same_connection() -> None:
    chrome = FakeChrome(otherwise=ok(LIST))
    async with session_on(chrome) as session:
        await session(LIST, REQUESTS[LIST])
        chrome.pages[0].lost = "it crashed"
        await session(LIST, REQUESTS[LIST])
    assert (chrome.dials, len(chrome.pages)) == (1, 2)


async def test_a_dead_connection_is_dialled_again_by_the_next_call_only() -> None:
    chrome = FakeChrome(otherwise=ok(LIST))
    async with session_on(chrome) as session:
        await session(LIST, REQUESTS[LIST])
        chrome.pages[0].lost = "the socket died"
        chrome.dead.set()
        await trio.sleep(60)
        assert chrome.dials == 1
        chrome.dead = trio.Event()
        await session(LIST, REQUESTS[LIST])
        assert chrome.dials == 2


async def test_no_chrome_is_said_and_the_next_call_tries_again() -> None:
    async def refuse() -> None:
        if chrome.dials == 1:
            raise ChromeNotFound("no Chrome")

    chrome = FakeChrome(otherwise=ok(LIST), dial=refuse)
    async with session_on(chrome) as session:
        with pytest.raises(ChromeNotFound):
            await session(LIST, REQUESTS[LIST])
        assert await session(LIST, REQUESTS[LIST])
    assert chrome.dials == 2


async def test_a_pending_consent_is_reported_after_30_s_and_not_dropped() -> None:
    allow = trio.Event()
    chrome = FakeChrome(otherwise=ok(LIST), dial=allow.wait, health=Health(state="approval_pending"))
    async with session_on(chrome) as session:
        began = trio.current_time()
        for _ in range(2):
            with pytest.raises(ChromeApprovalPending) as pending:
                await session(CREATE, REQUESTS[CREATE])
            assert pending.value.outcome is Outcome.NOT_SENT
        assert trio.current_time() - began == pytest.approx(2 * JOIN)
        allow.set()
        chrome.otherwise = ok(CREATE)
        await session(CREATE, REQUESTS[CREATE])
    assert chrome.dials == 1


# The stream

QUESTION = Ask(sources=["s"], question="?", context=ASK_CONTEXT, notebook_id=NB)


def snapshot(text: str, *, final: bool) -> list[Any]:
    row: list[Any] = [text, None, ["c", "t", 1], None, [[[]], None, None, None, 1]]
    return ["wrb.fr", None, json.dumps([row, None, None, None, final])]


async def asked(chrome: FakeChrome) -> Any:
    seen: list[str] = []

    async def watch(found: Any) -> None:
        seen.append(found.answer.text)

    async with session_on(chrome) as session:
        try:
            return await session.ask(ASK, QUESTION, notebook=NB, timeout=60, watch=watch), seen
        except NlmError as exc:
            return exc, seen


async def test_an_answer_streams_and_ends() -> None:
    async def stream(page: FakePage, chunk: Any) -> Answer:
        whole = frame_body([[snapshot("Half", final=False)], [snapshot("Half and half", final=True)]])
        for at in range(0, len(whole), 5):
            await chunk(whole[at : at + 5])
        return Answer(sent=True, status=200)

    answer, seen = await asked(FakeChrome([stream]))
    assert (answer.text, answer.truncated) == ("Half and half", False)
    assert seen == ["Half", "Half and half"]


async def test_a_cut_stream_with_text_is_a_truncated_answer() -> None:
    async def stream(page: FakePage, chunk: Any) -> Answer:
        whole = frame_body([[snapshot("Half", final=False)], [snapshot("Half and half", final=True)]])
        await chunk(whole[: len(whole) - 120])
        return Answer(sent=True, status=200, failed="TypeError")

    answer, _ = await asked(FakeChrome([stream]))
    assert (answer.text, answer.truncated) == ("Half", True)


@pytest.mark.parametrize(
    "step", [Answer(sent=True, status=500), Answer(sent=True, failed="TypeError"), ChromeLost("x")]
)
async def test_a_lost_question_is_never_asked_again(step: Any) -> None:
    chrome = FakeChrome([step, step])
    error, _ = await asked(chrome)
    assert isinstance(error, UnconfirmedWrite)
    assert len(chrome.requests) == 1


async def test_a_question_with_a_stale_token_is_sent_again() -> None:
    async def stream(page: FakePage, chunk: Any) -> Answer:
        await chunk(frame_body([[snapshot("Yes", final=True)]]))
        return Answer(sent=True, status=200)

    chrome = FakeChrome([Answer(sent=True, status=400), stream])
    answer, _ = await asked(chrome)
    assert answer.text == "Yes"
    assert (len(chrome.requests), chrome.bootstraps) == (2, 1)


async def test_a_refused_question_says_so() -> None:
    async def stream(page: FakePage, chunk: Any) -> Answer:
        await chunk(frame_body([[["wrb.fr", None, None, None, None, [3]]]]))
        return Answer(sent=True, status=200)

    error, _ = await asked(FakeChrome([stream]))
    assert isinstance(error, InvalidArgument)
    assert error.outcome is Outcome.REJECTED


async def test_no_network_and_no_service_are_not_a_sign_out() -> None:
    for step, kind in ((Answer(sent=True, failed="TypeError"), Network), (Answer(sent=True, status=503), Service)):
        result, _ = await outcome_of(FakeChrome([step] * 2), LIST)
        assert isinstance(result, kind)
        assert not isinstance(result, SignedOut)


def test_the_session_is_a_caller() -> None:
    from nlm_cdp.rpc import Caller

    assert {name for name in vars(Caller) if not name.startswith("_")} <= set(dir(Session)) | {"simulated"}


# Tabs and pages on request


async def test_a_tab_is_shown_over_the_one_connection() -> None:
    chrome = FakeChrome(otherwise=ok(LIST))
    async with session_on(chrome) as session:
        assert await session.open_tab("/login") == "https://app.test/login"
        await session(LIST, REQUESTS[LIST])
        assert await session.open_tab("/x") == "https://app.test/x"
    assert chrome.tabs == ["/login", "/x"]
    assert (chrome.dials, len(chrome.pages)) == (1, 1)


async def test_without_chrome_there_is_no_tab() -> None:
    async def nowhere() -> None:
        raise ChromeNotFound("none")

    chrome = FakeChrome(dial=nowhere)
    async with session_on(chrome) as session:
        with pytest.raises(ChromeNotFound):
            await session.open_tab("/login")
    assert chrome.tabs == []


async def test_a_dropped_page_is_closed_and_the_next_call_makes_another() -> None:
    chrome = FakeChrome(otherwise=ok(LIST))
    async with session_on(chrome) as session:
        await session.drop_page()
        assert (chrome.dials, chrome.pages) == (0, [])
        await session(LIST, REQUESTS[LIST])
        await session.drop_page()
        assert chrome.pages[0].closed
        await session.drop_page()
        await session(LIST, REQUESTS[LIST])
        assert [page.closed for page in chrome.pages] == [True, False]
    assert chrome.dials == 1
