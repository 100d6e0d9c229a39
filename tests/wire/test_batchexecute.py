"""Requests read back as their calls, and replies in any order: read whole, or an error that says so."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlm_cdp.errors import (
    Drift,
)
from nlm_cdp.wire.batchexecute import (
    Call,
    Replies,
    Reply,
    chat_f_req,
    f_req,
    form,
    parse_form,
    query,
    read_replies,
    reply_of,
)
from nlm_cdp.wire.frames import PREFIX, NotRpcReply, frame_body, frame_chunk
from tests.wire.bodies import DEEP, NOISE, body, data, status

# Requests


ROWS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=8,
).map(lambda value: [value])
CALLS = st.builds(Call, st.text("abcXYZ019", min_size=1), ROWS, st.sampled_from(["generic", "1", "2"]))


@settings(deadline=None)
@given(st.lists(CALLS, min_size=1, max_size=3), st.text(max_size=10))
def test_a_form_reads_back_as_its_calls(calls: list[Call], token: str) -> None:
    token = token.encode("utf-8", "replace").decode()
    sent = form(f_req(calls), token)
    assert sent.isascii()
    assert sent.endswith("&")
    assert parse_form(sent) == calls


@settings(deadline=None)
@given(ROWS)
def test_a_chat_form_reads_back_as_one_call_without_a_name(row: list[Any]) -> None:
    assert parse_form(form(chat_f_req(row), "token")) == [Call("", row)]


def test_f_req_is_compact_with_its_params_as_text() -> None:
    assert f_req([Call("wXbhsf", [None, 1, None, ["é"]])]) == '[[["wXbhsf","[null,1,null,[\\"é\\"]]",null,"generic"]]]'
    assert chat_f_req([1, "q"]) == '[null,"[1,\\"q\\"]"]'
    assert query(["wXbhsf", "CCqFvf"], "/", 5) == {
        "rpcids": "wXbhsf,CCqFvf",
        "source-path": "/",
        "_reqid": "5",
        "rt": "c",
    }


NO_FORMS = ["", "at=1&", "f.req=", "f.req=x", "f.req=[]", "f.req={}", "f.req=null", "f.req=5", "f.req=[[[]]]"]
NO_FORMS += ["f.req=[[5]]", "f.req=[[[%22a%22]]]", "f.req=[[[%22a%22,5]]]", "f.req=[[[%22a%22,%22x%22]]]"]
NO_FORMS += ["f.req=[null]", "f.req=[null,5]", f"f.req={DEEP}", f"f.req=[null,%22{DEEP}%22]"]


@pytest.mark.parametrize("text", NO_FORMS)
def test_a_form_that_is_none_is_drift(text: str) -> None:
    with pytest.raises(Drift, match=r"^the request body is not a batchexecute form$"):
        parse_form(text)


# Replies


def test_replies_may_come_in_any_order_and_chunk() -> None:
    ours, other = data("a", ["A"], "2"), data("b", ["B"], "1")
    for text in (
        frame_body([[other, ours], NOISE]),
        frame_body([[other], [ours], NOISE]),
        frame_body([[data("foreign", [1]), ours, ["unknown", 1], other]]),
    ):
        found = read_replies(text)
        assert found.of("a", "2").row == ["A"]
        assert found.of("b", "1").row == ["B"]


def test_the_last_reply_that_says_something_wins() -> None:
    heartbeat = data("a", None)
    for frames, row in (
        ([heartbeat, data("a", [1])], [1]),
        ([data("a", [1]), heartbeat], [1]),
        ([data("a", [1]), data("a", [2]), heartbeat], [2]),
        ([data("a", []), heartbeat], []),
        ([heartbeat, heartbeat], None),
    ):
        reply = read_replies(body(*frames)).of("a")
        assert (reply.row, reply.status) == (row, None)
    refused = read_replies(body(data("a", [1]), status("a", [5]))).of("a")
    assert refused.status is not None


def test_discriminators_tell_equal_ids_apart() -> None:
    found = read_replies(body(data("a", ["first"], "1"), data("a", ["second"], "2"), data("a", None, "1")))
    assert found.of("a", "1").row == ["first"]
    assert found.of("a", "2").row == ["second"]
    assert found.of("a").row == ["second"]  # nothing has ours: all of them count


@pytest.mark.parametrize(("text", "row"), [("[]", []), ("null", None), ('"x"', "x"), ("0", 0), ("false", False)])
def test_the_payload_is_whatever_its_json_says(text: str, row: Any) -> None:
    assert read_replies(body(["wrb.fr", "a", text, None, None, None, "generic"])).of("a").row == row


@pytest.mark.parametrize("text", ["", "undefined", "<html>", "[1", "NaN1", DEEP, "9" * 5000, "\ud83d"])
def test_a_payload_that_is_not_json_is_drift_without_its_text(text: str) -> None:
    with pytest.raises(Drift, match=r"^a reply's payload is not JSON$") as caught:
        read_replies(body(["wrb.fr", "a", text, None, None, None, "generic"]))
    assert caught.value.details == {"rpc": "a"}


@pytest.mark.parametrize("payload", [5, True, [1], {"a": 1}])
def test_a_payload_that_is_no_text_is_drift(payload: Any) -> None:
    with pytest.raises(Drift, match="payload is not text"):
        read_replies(body(["wrb.fr", "a", payload, None, None, None, "generic"]))


@pytest.mark.parametrize("rpc", [5, True, ["a"], {"a": 1}])
def test_a_call_is_named_by_text_or_not_at_all(rpc: Any) -> None:
    with pytest.raises(Drift, match="names its call by something other than an id"):
        read_replies(body(["wrb.fr", rpc, "[]", None, None, None, "generic"]))


def test_an_answer_to_another_call_is_drift_that_names_what_came() -> None:
    with pytest.raises(Drift, match="answered another call") as caught:
        read_replies(body(data("ZZZZZZ", [1]), data("YYYYYY", None))).of("a")
    assert caught.value.details == {"rpc": "a", "seen": ["YYYYYY", "ZZZZZZ"]}


@pytest.mark.parametrize("frame", [["wrb.fr", "a"], ["wrb.fr", "a", None], ["wrb.fr", "a", "null"]])
def test_a_short_frame_is_an_empty_success(frame: list[Any]) -> None:
    assert reply_of(frame) == Reply("a")


@pytest.mark.parametrize("frame", [["wrb.fr"], ["er"], ["e"], ["di", 5], ["x", "a", "[]"], [None], [["wrb.fr"]], [{}]])
def test_bookkeeping_is_passed_over(frame: list[Any]) -> None:
    reply = reply_of(frame)
    assert reply is None or reply.rpc == ""


@pytest.mark.parametrize("tail", ['[["e",4,null,null,707]]', '[["e",24,null,null,441040]]', '[["e"]]', '[["e",null]]'])
def test_a_trailer_is_no_error(tail: str) -> None:
    text = f"{PREFIX}\n\n" + frame_chunk([data("a", [1])]) + f"{len(tail) + 2}\n{tail}\n"
    assert read_replies(text).of("a").row == [1]


def test_replies_of_nothing() -> None:
    with pytest.raises(NotRpcReply):
        Replies().of("a")
