"""Scripts of messages in and out, most of them hostile. Each defect of another client's protocol layer is a test here."""

from __future__ import annotations

import contextlib
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlm_cdp.cdp.generated import EVENTS, browser, inspector, network, page, runtime, target
from nlm_cdp.cdp.generated.runtime import CallArgument, ExecutionContextId
from nlm_cdp.cdp.generated.target import SessionID, TargetID
from nlm_cdp.cdp.protocol import (
    GONE,
    BadMessage,
    CommandRefused,
    Event,
    Failure,
    Protocol,
    Reply,
    ReplyUnreadable,
    SessionLost,
    UnknownEvent,
)
from nlm_cdp.errors import NlmError, Outcome

ROOT = Path(__file__).parents[2]
SESSION = SessionID("S1")
SECRET = "the-payload-of-the-user"


def sent(protocol: Protocol, command, session: SessionID | None = None) -> tuple[int, dict[str, Any]]:
    id_, text = protocol.send(command, session)
    return id_, json.loads(text)


def receive(protocol: Protocol, message: object) -> list[Any]:
    return protocol.receive(message if isinstance(message, str) else json.dumps(message))


def failure(protocol: Protocol, message: object) -> NlmError:
    (item,) = receive(protocol, message)
    assert isinstance(item, Failure)
    return item.error


# Commands


def test_a_command_is_a_request_and_its_reply_is_what_the_command_returns() -> None:
    protocol = Protocol()
    command = target.create_target("https://app.test/robots.txt", background=True, hidden=True)
    id_, request = sent(protocol, command)
    assert request == {
        "id": id_,
        "method": "Target.createTarget",
        "params": {"url": "https://app.test/robots.txt", "background": True, "hidden": True},
    }
    assert receive(protocol, {"id": id_, "result": {"targetId": "T1"}}) == [Reply(id_, TargetID("T1"))]
    assert not protocol.pending


def test_sessions_are_flat_and_named_in_each_message() -> None:
    protocol = Protocol()
    _, request = sent(protocol, page.enable(), SESSION)
    assert request["sessionId"] == "S1"
    assert "sessionId" not in sent(protocol, browser.get_version())[1]


def test_an_answer_of_several_values_is_a_tuple_and_optional_ones_may_be_missing() -> None:
    protocol = Protocol()
    id_, _ = sent(protocol, page.navigate("https://app.test/"), SESSION)
    assert receive(protocol, {"id": id_, "result": {"frameId": "F", "extra": 1}, "sessionId": "S1"}) == [
        Reply(id_, (page.FrameId("F"), None, None, None))
    ]
    id_, _ = sent(protocol, page.navigate("https://app.test/"), SESSION)
    (reply,) = receive(protocol, {"id": id_, "result": {"frameId": "F", "loaderId": "L", "errorText": None}})
    assert reply.value[1] == network.LoaderId("L")


def test_arguments_travel_as_data() -> None:
    call = runtime.call_function_on(
        "(argument) => argument",
        arguments=[CallArgument(value={"text": "\ud83d \u6f22 \0 </script>", "none": None})],
        execution_context_id=ExecutionContextId(3),
        await_promise=True,
        return_by_value=True,
    )
    id_, text = Protocol().send(call, SESSION)
    assert text.isascii()  # a lone surrogate has no other way out
    assert json.loads(text) == {
        "id": id_,
        "method": "Runtime.callFunctionOn",
        "params": {
            "functionDeclaration": "(argument) => argument",
            "arguments": [{"value": {"text": "\ud83d \u6f22 \0 </script>", "none": None}}],
            "returnByValue": True,
            "awaitPromise": True,
            "executionContextId": 3,
        },
        "sessionId": "S1",
    }


def test_replies_may_come_in_any_order() -> None:
    protocol = Protocol()
    first, second = sent(protocol, browser.get_version())[0], sent(protocol, target.get_targets())[0]
    assert receive(protocol, {"id": second, "result": {"targetInfos": []}}) == [Reply(second, [])]
    assert list(protocol.pending) == [first]


def test_a_command_that_is_not_on_the_allow_list_cannot_be_sent() -> None:
    def get_cookies():
        yield {"method": "Network.getCookies"}

    protocol = Protocol()
    with pytest.raises(NlmError, match=r"Network\.getCookies is not on the allow-list"):
        protocol.send(get_cookies())
    assert not protocol.pending


@pytest.mark.parametrize("value", [float("nan"), object()])
def test_what_is_no_json_is_refused_here_and_leaves_nothing_pending(value: object) -> None:
    protocol = Protocol()
    with pytest.raises((TypeError, ValueError)):
        protocol.send(runtime.call_function_on("f", arguments=[CallArgument(value=value)]))
    assert not protocol.pending


def test_a_forgotten_command_is_closed_and_its_late_reply_ignored() -> None:
    protocol = Protocol()
    command = browser.get_version()
    id_, _ = protocol.send(command)
    protocol.forget(id_)
    protocol.forget(id_)
    assert inspect.getgeneratorstate(command) == inspect.GEN_CLOSED
    assert not protocol.pending
    assert receive(protocol, {"id": id_, "result": {}}) == []


def test_200_forgotten_commands_leave_no_growth() -> None:
    protocol = Protocol()
    ids = {protocol.send(page.enable(), SESSION)[0] for _ in range(200)}
    for id_ in ids:
        protocol.forget(id_)
    assert len(ids) == 200
    assert not protocol.pending


# Refusals


@pytest.mark.parametrize(
    ("error", "number", "reason"),
    [
        ({"code": -32000, "message": "Cannot navigate to invalid URL"}, -32000, "Cannot navigate to invalid URL"),
        ({"code": -32602, "message": "Invalid parameters", "data": SECRET}, -32602, "Invalid parameters"),
        ({"message": "no number"}, None, "no number"),
        ({"code": "-32000", "message": ["not text"]}, None, "it gave no reason"),
        ({"code": True, "message": ""}, None, "it gave no reason"),
        ({}, None, "it gave no reason"),
        ("Browser closed", None, "it gave no reason"),
        ([1, 2], None, "it gave no reason"),
        (0, None, "it gave no reason"),
    ],
)
def test_a_refusal_is_an_error_whatever_it_lacks(error: object, number: int | None, reason: str) -> None:
    protocol = Protocol()
    id_, _ = sent(protocol, page.navigate("x"), SESSION)
    refusal = failure(protocol, {"id": id_, "error": error, "sessionId": "S1"})
    assert type(refusal) is CommandRefused
    assert (refusal.method, refusal.number, refusal.reason) == ("Page.navigate", number, reason)
    assert refusal.message == f"Chrome refused Page.navigate: {reason}"
    assert SECRET not in repr(vars(refusal))
    assert not protocol.pending


def test_a_refusal_says_whether_the_command_may_have_begun() -> None:
    for number, outcome in ((-32601, Outcome.REJECTED), (-32001, Outcome.REJECTED), (-32000, Outcome.UNKNOWN)):
        assert CommandRefused("Page.enable", number, "").outcome is outcome


def test_a_huge_reason_is_cut() -> None:
    protocol = Protocol()
    id_, _ = sent(protocol, page.enable())
    assert len(failure(protocol, {"id": id_, "error": {"message": "x" * 10_000}}).message) < 600


@pytest.mark.parametrize(
    "rest",
    [
        {},
        {"result": None},
        {"result": []},
        {"result": SECRET},
        {"result": {}},
        {"result": {"targetId": None}},
        {"result": {"targetId": 7}},
        {"result": {"targetId": [SECRET]}},
    ],
)
def test_a_reply_without_what_we_read_is_an_error_and_never_an_invented_value(rest: dict[str, Any]) -> None:
    protocol = Protocol()
    id_, _ = sent(protocol, target.create_target("about:blank"))
    error = failure(protocol, {"id": id_} | rest)
    assert isinstance(error, ReplyUnreadable)
    assert error.outcome is Outcome.UNKNOWN
    assert "Target.createTarget" in str(error)
    assert SECRET not in repr(vars(error))


def test_the_missing_field_is_named() -> None:
    protocol = Protocol()
    id_, _ = sent(protocol, target.create_target("about:blank"))
    assert str(failure(protocol, {"id": id_, "result": {}})) == "Target.createTarget was answered without 'targetId'."


def test_a_command_that_asks_twice_fails_alone() -> None:
    def twice():
        yield {"method": "Page.enable"}
        yield {"method": "Page.enable"}

    protocol = Protocol()
    id_, _ = protocol.send(twice())
    assert isinstance(failure(protocol, {"id": id_, "result": {}}), ReplyUnreadable)


@pytest.mark.parametrize("id_", ["1", True, 1.0, None, [1], 99, -1])
def test_unknown_ids_are_ignored(id_: object) -> None:
    protocol = Protocol()
    mine, _ = sent(protocol, page.enable())
    assert mine == 1
    assert receive(protocol, {"id": id_, "result": {}}) == []
    assert receive(protocol, {"id": id_, "error": {"code": -32700, "message": "x"}}) == []
    assert list(protocol.pending) == [1]


# Events


def test_an_event_is_typed_and_carries_its_session() -> None:
    event = {"name": "b", "payload": "p", "executionContextId": 2}
    assert receive(Protocol(), {"method": "Runtime.bindingCalled", "params": event, "sessionId": "S1"}) == [
        Event(SESSION, runtime.BindingCalled("b", "p", ExecutionContextId(2)))
    ]
    assert receive(Protocol(), {"method": "Inspector.targetCrashed"}) == [Event(None, inspector.TargetCrashed())]


def test_a_newer_chrome_may_add_fields_and_words() -> None:
    params = {"url": "u", "frameId": "F", "type": "aNewKind", "hasBrowserHandler": True, "defaultPrompt": 3, "more": {}}
    (event,) = receive(Protocol(), {"method": "Page.javascriptDialogOpening", "params": params, "sessionId": "S1"})
    assert event.value.type_ == "aNewKind"
    assert isinstance(event.value.type_, page.DialogType)
    assert event.value.type_.to_json() == "aNewKind"
    assert page.DialogType.from_json("alert") is page.DialogType.ALERT
    assert len(page.DialogType) == 4


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("Network.policyUpdated", {"x": SECRET}),
        ("Page.frameStartedNavigating", {"navigationType": SECRET}),
        ("Foo.neverSeen", None),
        ("Runtime.bindingCalled", {"name": "b", "payload": SECRET}),
        ("Runtime.bindingCalled", {"name": "b", "payload": {"text": SECRET}, "executionContextId": 2}),
        ("Runtime.bindingCalled", {"name": None, "payload": SECRET, "executionContextId": 2}),
        ("Runtime.bindingCalled", {"name": "b", "payload": SECRET, "executionContextId": "2"}),
        ("Runtime.bindingCalled", [SECRET]),
        ("Runtime.bindingCalled", SECRET),
        ("Runtime.bindingCalled", None),
        ("Page.frameNavigated", {"frame": {"id": "F"}}),
        ("Page.frameNavigated", {"frame": [SECRET]}),
        ("Target.detachedFromTarget", {"sessionId": None}),
    ],
)
def test_an_event_that_cannot_be_read_keeps_its_name_and_nothing_else(method: str, params: object) -> None:
    protocol = Protocol()
    id_, _ = sent(protocol, page.enable(), SESSION)
    (event,) = receive(protocol, {"method": method, "params": params, "sessionId": "S1"})
    assert event == Event(SESSION, UnknownEvent(method))
    assert SECRET not in repr(event)
    assert receive(protocol, {"id": id_, "result": {}}) == [Reply(id_, None)]


def test_a_session_that_ends_ends_its_commands_and_no_others() -> None:
    protocol = Protocol()
    mine = [sent(protocol, page.enable(), SESSION)[0] for _ in range(3)]
    other, root = sent(protocol, page.enable(), SessionID("S2"))[0], sent(protocol, browser.get_version())[0]
    event, *lost = receive(protocol, {"method": "Target.detachedFromTarget", "params": {"sessionId": "S1"}})
    assert event == Event(None, target.DetachedFromTarget(SESSION))
    assert [item.id for item in lost] == mine
    assert all(isinstance(item.error, SessionLost) and item.error.outcome is Outcome.UNKNOWN for item in lost)
    assert list(protocol.pending) == [other, root]


def test_a_crash_ends_the_commands_of_its_page() -> None:
    protocol = Protocol()
    mine, root = sent(protocol, page.enable(), SESSION)[0], sent(protocol, browser.get_version())[0]
    assert len(receive(protocol, {"method": "Inspector.targetCrashed", "params": {}})) == 1
    _, lost = receive(protocol, {"method": "Inspector.targetCrashed", "params": {}, "sessionId": "S1"})
    assert (lost.id, type(lost.error)) == (mine, SessionLost)
    assert list(protocol.pending) == [root]
    late = {"id": mine, "error": {"code": -32000, "message": "Target crashed"}}
    assert receive(protocol, late) == []


# Nonsense


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        "3",
        '"text"',
        "{}",
        '{"method": 3}',
        '{"result": {}}',
        '{"error": {"code": -32700, "message": "JSON: string literal expected at position 1"}}',
        f'{{"method": "Page.enable", "params": "{SECRET}',
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"id": ' + "1" * 5000 + "}",
        "\ufeff{}",
    ],
)
def test_a_message_that_means_nothing_is_a_clear_error_without_its_text(text: str) -> None:
    protocol = Protocol()
    id_, _ = sent(protocol, page.enable())
    with pytest.raises(BadMessage, match=r"^Chrome sent ") as caught:
        protocol.receive(text)
    error = caught.value
    assert SECRET not in str(error)
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None
    assert list(protocol.pending) == [id_]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(["frame", "id", "url", "name", "payload", "executionContextId", "sessionId", "type", "result"])


@given(st.sampled_from(sorted(EVENTS)), st.dictionaries(FIELDS, JSON) | JSON, JSON)
def test_no_event_breaks_the_reader(method: str, params: object, session: object) -> None:
    event, *_ = receive(Protocol(), {"method": method, "params": params, "sessionId": session})
    assert isinstance(event.value, UnknownEvent | EVENTS[method])


@given(
    st.fixed_dictionaries({}, optional={"id": st.just(1) | JSON, "result": JSON, "error": JSON, "method": JSON}) | JSON
)
def test_no_message_breaks_the_reader_or_answers_twice(message: object) -> None:
    protocol = Protocol()
    protocol.send(page.get_frame_tree(), SESSION)
    answers: list[Any] = []
    for _ in range(2):
        with contextlib.suppress(BadMessage):
            answers += receive(protocol, message)
    settled = [item for item in answers if isinstance(item, Reply | Failure)]
    assert len(settled) == (0 if protocol.pending else 1)


@given(JSON)
def test_a_type_is_read_or_refused_but_never_coerced(cell: object) -> None:
    info = {"targetId": "T", "type": "page", "url": "u", "attached": False, "subtype": cell}
    for field, kind in (("targetId", str), ("type", str), ("url", str), ("attached", bool)):
        mutated = info | {field: cell, "subtype": None}
        if isinstance(cell, kind):
            assert target.TargetInfo.from_json(mutated).to_json()[field] == cell
        else:
            with pytest.raises(TypeError):
                target.TargetInfo.from_json(mutated)
    if cell is None or isinstance(cell, str):
        assert target.TargetInfo.from_json(info).subtype == cell


def test_the_protocol_imports_no_io() -> None:
    banned = ("trio", "anyio", "websockets", "socket", "asyncio", "mcp")
    code = f"import sys, nlm_cdp.cdp.protocol; sys.exit([m for m in {banned} if m in sys.modules] or None)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("words", GONE)
def test_a_refusal_says_whether_the_page_is_gone(words: str) -> None:
    assert CommandRefused("Page.enable", -32000, f"{words}.").gone
    assert not CommandRefused("Page.enable", -32000, "Not now").gone
    assert SessionLost("Page.enable", None, "anything").gone
