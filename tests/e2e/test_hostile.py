"""Every fault at every stage of a call, between the product and a real Chromium.

Whatever Chrome, the socket or a page does, a call ends in its time with the truth about what became of it, no write is
sent twice, the next call works, and nothing is left behind. Each row of a table is a stage, a fault, and what may come
of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import trio

from nlm_cdp.browser import loader as transfer_loader
from nlm_cdp.errors import NlmError, Outcome
from nlm_cdp.sim.faults import Fault, Kind
from tests.e2e.world import in_chromium
from tests.proxy import messages as do
from tests.proxy.messages import Act, Ending, Way, When, bridge, command, event, reply
from tests.proxy.proxy import Door
from tests.proxy.stage import Stage, There, hurried, stage

pytestmark = in_chromium

LIST, CREATE, DELETE = "wXbhsf", "CCqFvf", "WWINqb"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Stage]:
    with stage() as held:
        yield held


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path / "data"))


# Before the request: attaching

NEVER_SEEN = {"method": "Foo.neverSeen", "params": {"x": 1}, "sessionId": None}
UNKNOWN: list[dict[str, Any]] = [
    NEVER_SEEN,
    {"method": "Network.policyUpdated", "params": {}},
    {"method": "Target.detachedFromTarget", "params": {}},
    {"method": "Target.detachedFromTarget", "params": {"sessionId": "another's"}},
    {"method": "Runtime.executionContextsCleared", "params": {}, "sessionId": "another's"},
    {"method": "Page.frameNavigated", "params": {"frame": {"id": 7}}, "sessionId": None},
    {"method": "Page.javascriptDialogOpening", "params": {"type": "anchorClick"}, "sessionId": None},
    {"method": "Runtime.bindingCalled", "params": {"name": "x"}, "sessionId": None},
    {"method": "Inspector.detached", "params": None},
    {"id": 987_654_321, "result": {}},
    {"id": None, "error": {"code": -32700, "message": "JSON: syntax error"}},
    {"id": True, "result": {}},
    {"id": "1", "result": {}},
    {"neither": "nor"},
]

ATTACH_STAGES: dict[str, str | tuple[str, str]] = {
    "version": "Browser.getVersion",
    "targets": "Target.getTargets",
    "createTarget": "Target.createTarget",
    "attach": "Target.attachToTarget",
    "page": "Page.enable",
    "navigate": "Page.navigate",
    "tree": "Page.getFrameTree",
    "world": "Page.createIsolatedWorld",
    "binding": "Runtime.addBinding",
    "bridge": ("Runtime.callFunctionOn", "install"),
    "bootstrap": ("Runtime.callFunctionOn", "bootstrap"),
}
RARE = {"refused without a word", "reply a list", "reset instead", "goodbye that lingers", "cut in the header"}
USUAL = {"version", "targets", "createTarget", "attach", "navigate", "world", "bootstrap"}
HAS_PAGE = set(ATTACH_STAGES) - {"version", "targets", "createTarget", "attach"}


def at(where: str, way: Way) -> When:
    found = ATTACH_STAGES[where]
    if isinstance(found, tuple):
        return bridge(way, found[1])
    return command(found) if way is Way.COMMAND else reply(found)


C, R = Way.COMMAND, Way.REPLY
FINE: set[str] = set()
LOST = {"CHROME_LOST"}
ATTACH_FAULTS: dict[str, tuple[Way, Act, set[str]]] = {
    "command dropped": (C, do.dropped, {"TIMEOUT"}),
    "reply dropped": (R, do.dropped, {"TIMEOUT"}),
    "refused": (C, do.refused(-32000, "Not supported"), {"INTERNAL"}),
    "refused as unknown": (C, do.refused(-32601, "'X' wasn't found"), {"INTERNAL"}),
    "refused without a word": (C, do.refused(None, ""), {"INTERNAL"}),
    "context destroyed": (C, do.refused(-32000, "Execution context was destroyed."), {"CHROME_LOST", "INTERNAL"}),
    "reply empty": (R, do.replaced({}, "result"), {"INTERNAL", "DRIFT", "CHROME_LOST"}),
    "reply a list": (R, do.replaced([], "result"), {"INTERNAL", "DRIFT", "CHROME_LOST"}),
    "reply no JSON": (R, do.rubbish("{", b"\xff\xfe{}", "[]", "null"), {"TIMEOUT"}),
    "reply doubled": (R, do.doubled, FINE),
    "strangers ahead": (R, do.surrounded(*UNKNOWN), FINE),
    "strangers behind": (R, do.surrounded(*UNKNOWN, after=True), FINE),
    "hangup instead": (R, do.ends(Ending.WORDLESS), LOST),
    "hangup after": (R, do.ends(Ending.WORDLESS, first=True), LOST),
    "reset instead": (R, do.ends(Ending.RESET), LOST),
    "goodbye after": (R, do.ends(Ending.GOODBYE, first=True), LOST),
    "goodbye that lingers": (R, do.ends(Ending.LINGERING), LOST),
    "cut in the header": (R, do.cut(1), LOST),
    "cut in the middle": (R, do.cut(0.5), LOST),
}
ON_A_PAGE: dict[str, tuple[Way, Act, set[str]]] = {
    "page crashed before": (C, do.does(do.crash), LOST),
    "page crashed after": (R, do.does(do.crash), LOST),
    "target closed before": (C, do.does(do.close_target), LOST | {"INTERNAL"}),
    "target closed after": (R, do.does(do.close_target), LOST),
}
ATTACHING = [
    pytest.param(
        where,
        *fault,
        id=f"{where}: {name}",
        marks=() if where in USUAL and (name not in RARE or where == "attach") else pytest.mark.long,
    )
    for where in ATTACH_STAGES
    for name, fault in (ATTACH_FAULTS | (ON_A_PAGE if where in HAS_PAGE else {})).items()
]


@pytest.mark.parametrize(("where", "way", "act", "codes"), ATTACHING)
def test_what_goes_wrong_while_attaching_sends_nothing_and_the_next_call_works(
    chromium: Stage, where: str, way: Way, act: Act, codes: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if "TIMEOUT" in codes or where == "createTarget":
        hurried(monkeypatch)

    async def scenario(there: There) -> None:
        there.proxy.add(at(where, way), act, times=1)
        title = uuid4().hex
        with trio.fail_after(8):
            got = await there.attempt("create_notebook", title=title)
        if isinstance(got, NlmError):
            # what happens after the last reply may find the request on its way
            last = where == "bootstrap" and got.code == "UNCONFIRMED_WRITE"
            outcomes = {Outcome.UNKNOWN} if last else {Outcome.NOT_SENT, Outcome.REJECTED}
            assert (got.code in codes or last, got.outcome in outcomes) == (True, True), explained(got)
            assert there.sent(CREATE) <= last
            with trio.fail_after(8):
                if there.sent(CREATE):
                    await there.call("list_notebooks")
                else:
                    await there.call("create_notebook", title=title)
        assert there.sent(CREATE) == 1
        assert len(there.proxy.sockets) <= 2
        await there.clean()

    chromium.play(scenario)


def explained(error: NlmError) -> tuple[Any, ...]:
    return error.code, error.outcome, error.message, error.details


# The request itself


async def redone(there: There, tool: str, title: str) -> dict[str, Any]:
    """The arguments of a tool, and what it needs."""
    if tool == "list_notebooks":
        return {}
    if tool == "delete_notebook":
        made = await there.call("create_notebook", title=title)
        return {"notebook": made["notebook"]["id"], "confirm": True}
    return {"title": title}


WRITES = {"create_notebook": CREATE, "delete_notebook": DELETE}
NEVER = "the request never left"
CALL_FAULTS: dict[str, tuple[Way, Act, set[str], int]] = {
    # what happens, the codes a read may end in (or "ok"), how many requests of a write the service saw
    "command dropped": (C, do.dropped, {"TIMEOUT"}, 0),
    "reply dropped": (R, do.dropped, {"TIMEOUT"}, 1),
    "reply no JSON": (R, do.rubbish("{", b"\xff\xfe{}"), {"TIMEOUT"}, 1),
    "reply doubled": (R, do.doubled, {"ok"}, 1),
    "reply overtaken": (R, do.overtaken, {"ok", "TIMEOUT"}, 1),
    "strangers ahead": (R, do.surrounded(*UNKNOWN), {"ok"}, 1),
    "reply empty": (R, do.replaced({}, "result"), {"INTERNAL"}, 1),
    "no value": (R, do.replaced({"result": {"type": "undefined"}}, "result"), {"CHROME_LOST", "ok"}, 1),
    "another value": (
        R,
        do.replaced({"result": {"type": "object", "value": {"new": 1}}}, "result"),
        {"INTERNAL", "DRIFT", "ok"},
        1,
    ),
    "a new type": (R, do.replaced("quux", "result", "result", "type"), {"ok"}, 1),
    "a field more": (R, do.replaced({"x": 1}, "result", "result", "newField"), {"ok"}, 1),
    "an exception": (
        R,
        do.replaced(
            {
                "result": {"type": "object"},
                "exceptionDetails": {"exceptionId": 1, "text": "x", "lineNumber": 1, "columnNumber": 1},
            },
            "result",
        ),
        {"INTERNAL"},
        1,
    ),
    "context destroyed": (C, do.refused(-32000, "Execution context was destroyed."), {"ok"}, 0),
    "no such context": (C, do.refused(-32000, "Cannot find context with specified id"), {"ok"}, 0),
    "promise collected": (C, do.refused(-32000, "Promise was collected"), {"ok"}, 0),
    "navigated or closed": (C, do.refused(-32000, "Inspected target navigated or closed"), {"ok"}, 0),
    "no such session": (C, do.refused(-32001, "Session with given id not found."), {"ok"}, 0),
    "refused": (C, do.refused(-32000, "Odd"), {"INTERNAL"}, 0),
    "invalid": (C, do.refused(-32602, "Invalid parameters"), {"INTERNAL"}, 0),
    "page crashed before": (C, do.does(do.crash), {"ok"}, 0),
    "page crashed after": (R, do.does(do.crash, then=do.dropped), {"ok"}, 1),
    "target closed before": (C, do.does(do.close_target), {"ok"}, 0),
    "target closed after": (R, do.does(do.close_target, then=do.dropped), {"ok"}, 1),
    "hangup before": (C, do.ends(Ending.WORDLESS), {"ok"}, 0),
    "hangup instead": (R, do.ends(Ending.WORDLESS), {"ok"}, 1),
    "hangup after": (R, do.ends(Ending.WORDLESS, first=True), {"ok"}, 1),
    "reset before": (C, do.ends(Ending.RESET), {"ok"}, 0),
    "reset instead": (R, do.ends(Ending.RESET), {"ok"}, 1),
    "goodbye instead": (R, do.ends(Ending.GOODBYE), {"ok"}, 1),
    "goodbye that lingers": (R, do.ends(Ending.LINGERING), {"ok"}, 1),
    "cut in the header": (R, do.cut(3), {"ok"}, 1),
    "cut in the middle": (R, do.cut(0.5), {"ok"}, 1),
    "cut at the last byte": (R, do.cut(0.9999), {"ok"}, 1),
    "reset in the middle": (R, do.cut(0.5, Ending.RESET), {"ok"}, 1),
}
BEFORE_THE_FACT = {"invalid"}
CALLING = [
    pytest.param(tool, *fault, name, id=f"{tool}: {name}", marks=pytest.mark.long if tool == "delete_notebook" else ())
    for tool in ("list_notebooks", "create_notebook", "delete_notebook")
    for name, fault in CALL_FAULTS.items()
]


@pytest.mark.parametrize(("tool", "way", "act", "codes", "seen", "name"), CALLING)
def test_what_goes_wrong_around_a_request_is_told_and_no_write_is_sent_twice(
    chromium: Stage,
    tool: str,
    way: Way,
    act: Act,
    codes: set[str],
    seen: int,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if "TIMEOUT" in codes:
        hurried(monkeypatch)

    async def scenario(there: There) -> None:
        await there.call("list_notebooks")
        title = uuid4().hex
        arguments = await redone(there, tool, title)
        rpc = WRITES.get(tool, LIST)
        before = there.sent(rpc)
        rule = there.proxy.add(bridge(way, "call", rpc), act, times=1)
        with trio.fail_after(10):
            got = await there.attempt(tool, **arguments)
        assert rule.done.is_set(), got
        code = got.code if isinstance(got, NlmError) else "ok"
        sent = there.sent(rpc) - before
        if tool == "list_notebooks":
            assert code in codes, explained(got) if isinstance(got, NlmError) else got
            assert sent <= 2
        elif isinstance(got, NlmError):
            expected = {"INTERNAL"} if name in BEFORE_THE_FACT else {"UNCONFIRMED_WRITE"}
            expected |= codes & {"DRIFT"}
            assert (code in expected, got.outcome) == (
                True,
                Outcome.REJECTED if name in BEFORE_THE_FACT else Outcome.UNKNOWN,
            ), explained(got)
            assert sent == seen
        else:
            # it went well, or was seen to have been done
            assert sent == seen == 1
        with trio.fail_after(8):
            listed = await there.call("list_notebooks", query=title)
        if tool == "create_notebook":
            assert listed["total"] == seen
        if tool == "delete_notebook":
            assert listed["total"] == 1 - seen
        assert len(there.proxy.sockets) <= 2
        await there.clean()

    chromium.play(scenario)


# A stream

CHUNK = event("Runtime.bindingCalled")
QUESTION = "What do tests ask the simulator for?"
STREAM_FAULTS: dict[str, tuple[When, Act, int]] = {
    "a chunk dropped": (CHUNK, do.dropped, 2),
    "a chunk doubled": (CHUNK, do.doubled, 2),
    "a chunk overtaken": (CHUNK, do.overtaken, 2),
    "a chunk of rubbish": (CHUNK, do.replaced("no JSON", "params", "payload"), 2),
    "a chunk of another's": (CHUNK, do.replaced('{"id": 4096, "chunk": "x"}', "params", "payload"), 2),
    "a chunk without its id": (CHUNK, do.replaced("{}", "params", "payload"), 2),
    "a chunk without its text": (CHUNK, do.replaced('{"id": 1}', "params", "payload"), 2),
    "a chunk that is none": (CHUNK, do.replaced("[7]", "params", "payload"), 2),
    "a chunk without its field": (CHUNK, do.without("params", "payload"), 2),
    "strangers between": (CHUNK, do.surrounded(*UNKNOWN), 2),
    "page crashed": (CHUNK, do.does(do.crash), 2),
    "target closed": (CHUNK, do.does(do.close_target), 2),
    "hangup": (CHUNK, do.ends(Ending.WORDLESS), 2),
    "reset": (CHUNK, do.ends(Ending.RESET), 2),
    "goodbye": (CHUNK, do.ends(Ending.GOODBYE), 2),
    "cut in the middle": (CHUNK, do.cut(0.5), 2),
    "the end dropped": (lambda said: CHUNK(said) and '"end":true' in said.message["params"]["payload"], do.dropped, 0),
    "the reply dropped": (bridge(R, "call", "chat"), do.dropped, 0),
    "another value": (
        bridge(R, "call", "chat"),
        do.replaced({"result": {"type": "object", "value": {"new": 1}}}, "result"),
        0,
    ),
    "no value": (bridge(R, "call", "chat"), do.replaced({"result": {"type": "undefined"}}, "result"), 0),
    "refused": (bridge(C, "call", "chat"), do.refused(-32000, "Odd"), 0),
    "invalid": (bridge(C, "call", "chat"), do.refused(-32602, "Invalid parameters"), 0),
}


@pytest.mark.parametrize(("when", "act", "after"), STREAM_FAULTS.values(), ids=STREAM_FAULTS)
def test_what_goes_wrong_in_a_stream_ends_it_and_asks_nothing_twice(
    chromium: Stage, when: When, act: Act, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurried(monkeypatch, step=5, call=2)

    async def scenario(there: There) -> None:
        await there.call("list_notebooks")
        there.service.service.pace = 0.02
        rule = there.proxy.add(when, act, times=1, after=after)
        with trio.fail_after(15):
            got = await there.attempt("ask_question", question=QUESTION, notebook="About")
        assert rule.done.is_set(), got
        assert there.sent("chat") <= 1
        if isinstance(got, NlmError):
            assert got.code in {"UNCONFIRMED_WRITE", "INTERNAL", "DRIFT"}, explained(got)
            assert got.outcome in {Outcome.UNKNOWN, Outcome.REJECTED}
        else:
            assert got["answer"]
        there.service.service.pace = 0.0
        with trio.fail_after(8):
            assert (await there.call("list_notebooks"))["total"]
        assert len(there.proxy.sockets) <= 2
        await there.clean()

    chromium.play(scenario)


# A download

# Its page has committed nothing, so there is no renderer that could crash.
PAUSED = event("Fetch.requestPaused")
PIECE = reply("IO.read")
DOWNLOAD_FAULTS: dict[str, tuple[When, Act, int]] = {
    "no page": (command("Target.createTarget"), do.refused(-32000, "Not now"), 0),
    "no session": (command("Target.attachToTarget"), do.refused(-32602, "No target with given id found"), 0),
    "no interception": (command("Fetch.enable"), do.refused(-32000, "Odd"), 0),
    "interception never confirmed": (reply("Fetch.enable"), do.dropped, 0),
    "navigation never begun": (command("Page.navigate"), do.dropped, 0),
    "navigation refused": (command("Page.navigate"), do.refused(-32000, "Cannot navigate to invalid URL"), 0),
    "first hop untold": (PAUSED, do.dropped, 0),
    "second hop untold": (PAUSED, do.dropped, 1),
    "hop told twice": (PAUSED, do.doubled, 0),
    "hop without its address": (PAUSED, do.without("params", "request"), 0),
    "hop without its number": (PAUSED, do.without("params", "requestId"), 0),
    "hop failed for a new reason": (PAUSED, do.replaced("Quux", "params", "responseErrorReason"), 1),
    "hop with a new method": (PAUSED, do.replaced("QUUX", "params", "request", "method"), 0),
    "not let on": (command("Fetch.continueRequest"), do.refused(-32602, "Invalid InterceptionId."), 0),
    "no stream": (command("Fetch.takeResponseBodyAsStream"), do.refused(-32000, "Odd"), 0),
    "stream without a handle": (reply("Fetch.takeResponseBodyAsStream"), do.replaced({}, "result"), 0),
    "piece never sent": (PIECE, do.dropped, 0),
    "piece refused": (command("IO.read"), do.refused(-32000, "Read failed"), 0),
    "piece without its end": (PIECE, do.without("result", "eof"), 0),
    "piece without data": (PIECE, do.without("result", "data"), 0),
    "piece of no base64": (PIECE, do.replaced("%%%%é", "result", "data"), 0),
    "closed at the first hop": (PAUSED, do.does(do.close_target), 0),
    "closed in the body": (PIECE, do.does(do.close_target), 0),
    "hangup at a hop": (PAUSED, do.ends(Ending.WORDLESS), 1),
    "hangup in the body": (PIECE, do.ends(Ending.WORDLESS), 0),
    "reset in the body": (PIECE, do.ends(Ending.RESET), 0),
    "goodbye in the body": (PIECE, do.ends(Ending.GOODBYE), 0),
    "cut in a piece": (PIECE, do.cut(0.5), 0),
    "strangers between": (PIECE, do.surrounded(*UNKNOWN), 0),
    "stream never closed": (reply("IO.close"), do.dropped, 0),
    "close unanswered": (reply("Target.closeTarget"), do.dropped, 0),
}


async def with_audio(there: There) -> None:
    listed = await there.call("list_artifacts", notebook="About")
    if not listed["artifacts"]:
        await there.call("generate_artifact", type="audio", notebook="About", wait=True)


@pytest.mark.parametrize(("when", "act", "after"), DOWNLOAD_FAULTS.values(), ids=DOWNLOAD_FAULTS)
def test_what_goes_wrong_in_a_download_leaves_no_file_and_no_page(
    chromium: Stage, when: When, act: Act, after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "files"
    monkeypatch.setattr(transfer_loader, "GOODBYE_S", 0.3)
    hurried(monkeypatch, step=5, call=1.2)

    async def scenario(there: There) -> None:
        await with_audio(there)
        # a refused page is asked for twice: hidden, and not hidden
        rule = there.proxy.add(when, act, times=2 if when is NO_PAGE else 1, after=after)
        with trio.fail_after(15):
            got = await there.attempt("download_artifact", type="audio", notebook="About")
        assert rule.done.is_set(), got
        files = [path for path in root.rglob("*") if path.is_file()]
        if isinstance(got, NlmError):
            assert files == []
            assert got.code in {"CHROME_LOST", "TIMEOUT", "NETWORK", "INTERNAL", "SERVICE", "DRIFT"}, explained(got)
        else:
            assert [str(path) for path in files] == [got["file_path"]]
            assert files[0].stat().st_size == got["size_bytes"]
        assert there.sent("R7cb6c") <= 1
        with trio.fail_after(8):
            await there.call("download_artifact", type="audio", notebook="About", overwrite=True)
        assert len(there.proxy.sockets) <= 2
        await there.clean()

    chromium.play(scenario, files_root=root)


NO_PAGE = DOWNLOAD_FAULTS["no page"][0]


def test_a_page_is_found_though_the_reply_that_names_it_is_lost(
    chromium: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurried(monkeypatch)

    async def scenario(there: There) -> None:
        lost = there.proxy.add(reply("Target.createTarget"), do.dropped, times=1)
        assert (await there.call("list_notebooks"))["total"]
        assert lost.done.is_set()
        assert len(there.proxy.sent("Target.createTarget")) == 1
        await there.clean()

    chromium.play(scenario)


# What Chrome of another age does


def test_where_hidden_is_unknown_a_background_tab_takes_its_place(chromium: Stage) -> None:
    async def scenario(there: There) -> None:
        there.proxy.add(command("Target.createTarget"), do.refused_parameter("hidden"))
        assert (await there.call("list_notebooks"))["total"]
        first, second = there.proxy.sent("Target.createTarget")
        assert (first.params["hidden"], second.params["background"], "hidden" in second.params) == (True, True, False)
        await there.clean()

    chromium.play(scenario)


def test_a_background_tab_that_outlived_its_socket_is_closed_unless_its_user_went_on_in_it(chromium: Stage) -> None:
    async def scenario(there: There) -> None:
        control = there.proxy.control
        there.proxy.add(command("Target.createTarget"), do.refused_parameter("hidden"))
        await there.call("list_notebooks")
        for went_on in (False, True):
            page = there.session.page
            assert page is not None
            await there.proxy.sockets[-1].end(Ending.WORDLESS)
            if went_on:
                session = (await control.ask("Target.attachToTarget", {"targetId": page.target_id, "flatten": True}))[
                    "sessionId"
                ]
                await control.ask("Page.navigate", {"url": "about:blank"}, session)
                there.pages.add(str(page.target_id))
            assert (await there.call("list_notebooks"))["total"]
            await there.clean()

    chromium.play(scenario)


def test_a_chrome_that_answers_no_pings_is_not_asked_and_one_that_asks_is_answered(chromium: Stage) -> None:
    async def scenario(there: There) -> None:
        there.proxy.answers_pings = False
        await there.call("list_notebooks")
        await there.proxy.sockets[0].ping()
        there.service.faults.add(Fault(Kind.LATE, LIST, seconds=1))
        await there.call("list_notebooks")
        assert there.proxy.pings == 0
        assert there.proxy.sockets[0].ponged.is_set()
        assert len(there.proxy.sockets) == 1

    chromium.play(scenario)


def test_a_reply_that_comes_too_late_is_nobodys(chromium: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    hurried(monkeypatch)

    async def scenario(there: There) -> None:
        await there.call("list_notebooks")
        late = trio.Event()
        there.proxy.add(bridge(R, "call", LIST), do.delayed(late), times=1)
        assert (await there.fails("list_notebooks")).code == "TIMEOUT"
        late.set()
        assert (await there.call("list_notebooks"))["total"]
        await there.clean()

    chromium.play(scenario)


def test_stuck_calls_hold_up_no_others_and_leave_no_trace(chromium: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    hurried(monkeypatch, call=0.5)

    async def scenario(there: There) -> None:
        await there.call("list_notebooks")
        guide = "rLM1Ne"
        for _ in range(3):
            there.service.faults.add(Fault(Kind.SILENT, guide, times=10))
            errors: list[NlmError] = []

            async def stuck(errors: list[NlmError] = errors) -> None:
                errors.append(await there.fails("get_notebook", notebook="About"))

            async with trio.open_nursery() as nursery:
                for _ in range(10):
                    nursery.start_soon(stuck)
                with trio.fail_after(3):
                    assert (await there.call("list_notebooks"))["total"]
            assert [error.code for error in errors] == ["TIMEOUT"] * 10
            await there.clean()
        page = there.session.page
        assert page is not None
        running = await page.evaluate("function(key) { return globalThis[key].running.size; }", page.key)
        assert running == 0

    chromium.play(scenario)


# Where there is nothing to talk to

DOORS = {
    Door.DENIED: "CHROME_APPROVAL_DENIED",
    Door.BUSY: "CHROME_DEBUGGING_OFF",
    Door.RUBBISH: "CHROME_DEBUGGING_OFF",
    Door.CUT: "CHROME_LOST",
    Door.HANGUP: "CHROME_LOST",
    Door.RESET: "CHROME_LOST",
}


@pytest.mark.parametrize(("door", "code"), DOORS.items())
def test_an_upgrade_that_fails_is_told_once_and_the_next_call_dials_again(
    chromium: Stage, door: Door, code: str
) -> None:
    async def scenario(there: There) -> None:
        there.proxy.open_door(door)
        error = await there.fails("create_notebook", title="Never")
        assert (error.code, error.outcome) == (code, Outcome.NOT_SENT), explained(error)
        assert len(there.proxy.sockets) == 1
        there.proxy.open_door()
        assert (await there.call("list_notebooks", query="Never"))["total"] == 0
        assert len(there.proxy.sockets) == 2
        await there.clean()

    chromium.play(scenario)


def more(value: Any) -> Any:
    """The same with a field nobody knows in every object."""
    if isinstance(value, dict):
        return {"newField": {"deep": [1, None]}} | {name: more(item) for name, item in value.items()}
    return [more(item) for item in value] if isinstance(value, list) else value


def grown(message: Any) -> None:
    for part in ("result", "params"):
        if part in message and "exceptionDetails" not in message[part]:
            kept = message[part].get("result", {}).get("value") if part == "result" else None  # the bridge's own
            message[part] = more(message[part])
            if kept is not None:
                message[part]["result"]["value"] = kept


async def whole_use(there: There) -> list[dict[str, Any] | NlmError]:
    """A read, a stream and a download."""
    return [
        await there.attempt("list_notebooks"),
        await there.attempt("ask_question", question=QUESTION, notebook="About"),
        await there.attempt("download_artifact", type="audio", notebook="About", overwrite=True),
    ]


def test_a_newer_chrome_with_more_to_say_changes_nothing(chromium: Stage, tmp_path: Path) -> None:
    async def scenario(there: There) -> None:
        there.proxy.add(lambda said: said.way is not Way.COMMAND, do.edited(grown))
        await with_audio(there)
        assert [got for got in await whole_use(there) if isinstance(got, NlmError)] == []
        await there.clean()

    chromium.play(scenario, files_root=tmp_path / "files")


@pytest.mark.long
def test_any_field_may_be_missing_from_any_message(
    chromium: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each field of each reply and event of an ordinary use, left out once: calls end, and the next use is whole."""
    seen: set[tuple[Way, str, str, str]] = set()

    async def look(there: There) -> None:
        await with_audio(there)
        await whole_use(there)
        for said in there.proxy.said:
            for part in ("result", "params"):
                if said.way is not Way.COMMAND and isinstance(said.message.get(part), dict):
                    seen.update((said.way, said.method, part, name) for name in said.message[part])

    async def scenario(there: There, way: Way, method: str, part: str, name: str) -> None:
        there.proxy.add(
            lambda said: said.way is way and said.method == method and name in said.message.get(part, {}),
            do.without(part, name),
            times=1,
        )
        with trio.fail_after(20):
            await whole_use(there)
        assert [got for got in await whole_use(there) if isinstance(got, NlmError)] == [], (method, name)

    root = tmp_path / "files"
    chromium.play(look, files_root=root)
    hurried(monkeypatch, step=5, call=2)
    assert len(seen) > 20
    for case in sorted(seen):
        chromium.play(scenario, *case, files_root=root)
