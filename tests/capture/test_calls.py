"""Exchanges into calls."""

from __future__ import annotations

import re

import pytest

from nlm_cdp.capture.calls import calls_of
from nlm_cdp.capture.exchange import Body, Exchange, Kind, Part
from nlm_cdp.wire.batchexecute import Call, chat_f_req, form, read_replies
from nlm_cdp.wire.frames import frame_body
from tests.capture.scripts import CHAT, UPLOAD, exchange, reply


def test_each_call_of_a_batch_has_its_own_answer_in_a_body_with_true_counts() -> None:
    calls = [Call("aaaaaa", [1]), Call("bbbbbb", ["🧪"])]
    first, second = calls_of(exchange(calls, [reply("bbbbbb", ["b 🧪"]), reply("aaaaaa", ["a"])]))
    assert (first.rpc, first.params, second.rpc, second.params) == ("aaaaaa", [1], "bbbbbb", ["🧪"])
    for call, row in ((first, ["a"]), (second, ["b 🧪"])):
        replies = read_replies(call.body or "")
        assert replies.faults == []
        assert [found.row for found in replies.replies] == [row]
    assert (first.lost, first.status, first.took) == (None, 200, 0.25)


def test_two_calls_of_one_id_are_told_apart_by_their_discriminators() -> None:
    calls = [Call("aaaaaa", [1], "1"), Call("aaaaaa", [2], "2")]
    frames = [reply("aaaaaa", ["two"], discriminator="2"), reply("aaaaaa", ["one"], discriminator="1")]
    found = [read_replies(call.body or "").replies[0].row for call in calls_of(exchange(calls, frames))]
    assert found == [["one"], ["two"]]


def test_an_error_of_the_whole_batch_is_each_calls() -> None:
    error = ["er", None, None, None, None, 400, None, None, None, 9]
    for call in calls_of(exchange([Call("aaaaaa", []), Call("bbbbbb", [])], [error])):
        assert read_replies(call.body or "").replies[0].status is not None


def test_the_stream_of_an_answer_is_one_call_by_the_name_that_the_registry_gives_it() -> None:
    found = Exchange(1, Kind.CHAT, CHAT, 0.0, 0.0, status=200)
    found.bodies[Part.REQUEST] = Body(form(chat_f_req([[], "Why?"]), "token"))
    found.bodies[Part.RESPONSE] = Body(frame_body([[["wrb.fr", None, "[1]"]], [["wrb.fr", None, "[2]"]]]))
    (call,) = calls_of(found)
    assert (call.rpc, call.params) == ("chat", [[], "Why?"])
    assert call.source_path == "/notebook/68a9f400-ac16-41fd-b3dc-d411565a29d9"
    assert [found.row for found in read_replies(call.body or "").replies] == [[1], [2]]


def test_the_start_of_an_upload_is_its_description() -> None:
    found = Exchange(1, Kind.UPLOAD, UPLOAD, 0.0, 0.0, status=200)
    found.bodies = {Part.REQUEST: Body('{"SOURCE_NAME": "a.pdf"}'), Part.RESPONSE: Body("")}
    (call,) = calls_of(found)
    assert (call.rpc, call.params, call.body, call.lost) == ("upload", {"SOURCE_NAME": "a.pdf"}, None, None)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (Body(lost="the tab was closed"), "the tab was closed"),
        (Body("<!doctype html>"), "not an RPC reply"),
        (Body(b"\xff\xfe"), "not an RPC reply"),
        (Body(""), "empty"),
        (Body(')]}\'\n\n30\n[["wrb.fr","aaaaaa","[1'), "cut"),
        (Body(frame_body([[reply("aaaaaa", [1])]]).rsplit("\n", 3)[0] + "\n"), "cut"),
    ],
)
def test_an_answer_that_is_none_is_lost_with_its_reason(body: Body, why: str) -> None:
    found = exchange([Call("aaaaaa", [1])], None)
    found.bodies[Part.RESPONSE] = body
    (call,) = calls_of(found)
    assert (call.params, call.body) == ([1], None)
    assert call.lost is not None
    assert why in call.lost


def test_a_request_that_is_lost_is_named_by_its_address_and_has_no_parameters() -> None:
    found = exchange([Call("aaaaaa", [1]), Call("bbbbbb", [1])], [reply("aaaaaa", [1])])
    found.bodies[Part.REQUEST] = Body(lost="Chrome no longer has it")
    calls = calls_of(found)
    assert [(call.rpc, call.params) for call in calls] == [("aaaaaa", None), ("bbbbbb", None)]
    assert all(call.lost == "the request: Chrome no longer has it" for call in calls)


def test_a_request_that_is_no_form_is_lost_too() -> None:
    found = exchange([Call("aaaaaa", [1])], [reply("aaaaaa", [1])])
    for content in ("nonsense", b"\xac\xed\x00\x05"):
        found.bodies[Part.REQUEST] = Body(content)
        assert calls_of(found)[0].params is None


def test_a_page_that_gave_an_answer_up_is_named_beside_what_is_missing() -> None:
    found = exchange([Call("aaaaaa", [1])], None)
    found.bodies[Part.RESPONSE] = Body(")]}'\n\n30\n[[\"wrb")
    found.failed = "the page gave it up"
    assert (calls_of(found)[0].lost or "").endswith("; the page gave it up")


def test_false_counts_are_faults_and_the_body_is_framed_anew() -> None:
    found = exchange([Call("aaaaaa", [1])], None)
    found.bodies[Part.RESPONSE] = Body(re.sub(r"\n\d+\n", "\n99\n", frame_body([[reply("aaaaaa", [1])]]), count=1))
    (call,) = calls_of(found)
    assert call.faults
    assert read_replies(call.body or "").faults == []
