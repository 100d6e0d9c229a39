"""One answer, one meaning: every transport failure and every kind of reply becomes its own error."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlm_cdp import verdict
from nlm_cdp.api import RPCS
from nlm_cdp.api.chat.chat import LIST_CHATS
from nlm_cdp.api.notebooks.notebooks import CREATE, DELETE, GET, LIST
from nlm_cdp.api.sources.sources import LOAD
from nlm_cdp.errors import (
    DecodeError,
    Drift,
    InvalidArgument,
    Network,
    NlmError,
    NotFound,
    Outcome,
    RateLimited,
    Service,
    SignedOut,
)
from nlm_cdp.rpc import Rpc
from nlm_cdp.verdict import NotSent, Redirected, StaleToken, Unauthorized, check_transport, read_answer, retry_after
from nlm_cdp.wire.batchexecute import answer_frame
from nlm_cdp.wire.frames import NotRpcReply, frame_body

PAYLOAD = "private" + "-payload"
PROJECT = ["T", None, "nb-1", ""]


@dataclass
class Answer:
    """An answer that came through, unless told otherwise."""

    sent: bool = True
    status: int = 200
    redirected: bool = False
    retry_after: str | None = None
    failed: str | None = None


def body(rpc: Rpc[Any, Any], row: Any, status: list[Any] | None = None) -> str:
    return frame_body([[answer_frame(rpc.id, row, status)], [["di", 1]]])


def boxed(rpc: Rpc[Any, Any], row: Any, status: list[Any] | None = None) -> list[str | bytes]:
    return [body(rpc, row, status)]


# Transport


def test_an_answer_that_came_through_passes() -> None:
    check_transport(Answer())


CASES: list[tuple[Answer, type[NlmError], dict[str, Any]]] = [
    (Answer(sent=False, status=0, failed="NoTokens"), NotSent, {"code": "NETWORK", "outcome": Outcome.NOT_SENT}),
    (Answer(redirected=True, status=0), Redirected, {"code": "SIGNED_OUT", "state": "signed_out"}),
    (Answer(status=0, failed="TypeError"), Network, {"details": {"error": "TypeError"}}),
    (Answer(status=200, failed="AbortError"), Network, {"details": {"error": "AbortError"}}),
    (Answer(failed="TooLarge"), Service, {"outcome": Outcome.UNKNOWN, "hint": "Ask for a smaller part."}),
    (Answer(status=400), StaleToken, {"code": "SIGNED_OUT", "outcome": Outcome.REJECTED}),
    (Answer(status=400, failed="TypeError"), StaleToken, {"outcome": Outcome.REJECTED}),
    (Answer(status=401), Unauthorized, {"code": "SIGNED_OUT"}),
    (Answer(status=403), Unauthorized, {"code": "SIGNED_OUT"}),
    (Answer(status=404), Drift, {"code": "DRIFT", "outcome": Outcome.REJECTED}),
    (Answer(status=429, retry_after="7"), RateLimited, {"retry_after_s": 7.0}),
    (Answer(status=429), RateLimited, {"retry_after_s": None}),
    (Answer(status=500), Service, {"retriable": True, "message": "the service failed with HTTP 500"}),
    (Answer(status=503, retry_after="30"), Service, {"retry_after_s": 30.0}),
    (Answer(status=302), Service, {"message": "the service failed with HTTP 302"}),
    (Answer(status=0), Service, {"message": "the service failed with HTTP 0"}),
]


@pytest.mark.parametrize(("answer", "kind", "expected"), CASES)
def test_a_transport_failure_is_its_own_error(answer: Answer, kind: type[NlmError], expected: dict[str, Any]) -> None:
    with pytest.raises(NlmError) as caught:
        check_transport(answer)
    assert type(caught.value) is kind
    assert {name: getattr(caught.value, name) for name in expected} == expected


def test_only_a_refusal_claims_that_nothing_was_changed() -> None:
    for status in (401, 403, 429, 500, 503):
        with pytest.raises(NlmError) as caught:
            check_transport(Answer(status=status))
        assert caught.value.outcome is not Outcome.REJECTED


NOW = 1_767_225_600.0  # 2026-01-01T00:00:00Z


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("0", 0.0),
        ("120", 120.0),
        (" 5 ", 5.0),
        ("Thu, 01 Jan 2026 00:02:00 GMT", 120.0),
        ("Thu, 01 Jan 2026 01:02:00 +0100", 120.0),
        ("Wed, 31 Dec 2025 23:00:00 GMT", 0.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("9" * 400, None),
        ("Thu, 01 Jan 99999 00:00:00 GMT", None),
        ("Thu, 01 Jan 99999999999999999999 00:00:00 GMT", None),
        ("Thu, 99 Jan 2026 00:00:00 GMT", None),
    ],
)
def test_retry_after_reads_both_forms(
    header: str | None, seconds: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verdict, "time", lambda: NOW)
    assert retry_after(header) == seconds


@settings(deadline=None)
@given(st.text(max_size=20) | st.from_regex(r"[A-Z][a-z]{2}, [0-9]{1,3} Jan [0-9]{1,6} [0-9:]{1,9} [+-]?[A-Z0-9]{1,6}"))
def test_any_header_is_seconds_or_nothing(header: str) -> None:
    assert (retry_after(header) or 0.0) >= 0


# Replies


def test_the_text_leaves_its_box() -> None:
    box = boxed(LIST, [[PROJECT]])
    assert [row.id for row in read_answer(LIST, box).notebooks or []] == ["nb-1"]
    assert box == []


@pytest.mark.parametrize("rpc", RPCS, ids=lambda rpc: f"{rpc.id}-{rpc.variant or rpc.method}")
@pytest.mark.parametrize("code", [3, 5, 7, 8, 9, 13, 16])
def test_a_refusal_is_never_a_success(rpc: Rpc[Any, Any], code: int) -> None:
    if code in rpc.harmless:
        read_answer(rpc, boxed(rpc, None, [code]))
        return
    with pytest.raises(NlmError) as caught:
        read_answer(rpc, boxed(rpc, None, [code]))
    assert caught.value.outcome is Outcome.REJECTED
    assert caught.value.details["status_code"] == code


def test_a_harmless_status_is_a_success_and_only_that_one() -> None:
    harmless = replace(DELETE, harmless=frozenset({13}))
    read_answer(harmless, boxed(harmless, None, [13]))
    with pytest.raises(NotFound):
        read_answer(harmless, boxed(harmless, None, [5]))
    with pytest.raises(Service):
        read_answer(DELETE, boxed(DELETE, None, [13]))


def test_a_refused_write_hints_at_a_changed_form_and_a_refused_read_does_not() -> None:
    with pytest.raises(InvalidArgument) as caught:
        read_answer(CREATE, boxed(CREATE, None, [3]))
    assert "nlm-capture" in caught.value.hint
    with pytest.raises(InvalidArgument) as caught:
        read_answer(GET, boxed(GET, None, [3]))
    assert "nlm-capture" not in caught.value.hint


def test_nothing_is_an_answer_only_where_it_is_declared() -> None:
    assert read_answer(LIST_CHATS, boxed(LIST_CHATS, None)).chats == []
    read_answer(DELETE, boxed(DELETE, None))
    others: list[Rpc[Any, Any]] = [LIST, GET, CREATE, LOAD]
    for rpc in others:
        with pytest.raises(Drift, match="nothing where data belongs"):
            read_answer(rpc, boxed(rpc, None))


def test_a_word_in_place_of_a_payload_is_drift() -> None:
    for text in ("undefined", "", "<html>"):
        drifted = frame_body([[["wrb.fr", LIST.id, text, None, None, None, "generic"]]])
        with pytest.raises(Drift):
            read_answer(LIST, [drifted])


@pytest.mark.parametrize(
    ("row", "path"),
    [
        ([], ".1"),
        ([PAYLOAD], ".1"),
        ([["t", {PAYLOAD: 1}, "id"]], ".1.2"),
        ([["t", PAYLOAD, "id"]], ".1.2"),
        ([["t", None]], ".1.3"),
        ([[5, None, "id"]], ".1.1"),
        (PAYLOAD, ""),
        ({"1": PAYLOAD}, ""),
    ],
)
def test_a_row_of_another_shape_is_drift_at_its_path_and_no_empty_list(row: Any, path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_answer(GET, boxed(GET, row))
    assert caught.value.path == caught.value.details["path"] == path
    assert PAYLOAD not in str(caught.value)
    assert PAYLOAD not in str(caught.value.details)


def test_an_empty_list_is_one() -> None:
    assert read_answer(GET, boxed(GET, [["t", None, "id"]])).notebook.sources == []
    assert read_answer(LIST, boxed(LIST, [None])).notebooks is None


def test_a_bad_row_of_a_listing_leaves_the_others() -> None:
    answer = read_answer(LIST, boxed(LIST, [[PROJECT, ["no id"], ["T", [["junk"]], "nb-3", ""]]]))
    assert [row.id for row in answer.notebooks or []] == ["nb-1", "nb-3"]
    assert [text.partition(":")[0] for text in answer.undecoded] == [".1[1].3", ".1[2].2[0].1"]


def test_three_kinds_of_nothing_are_three_errors() -> None:
    with pytest.raises(Drift, match="another call") as drift:
        read_answer(LIST, [frame_body([[answer_frame("ZZZZZZ", [])]])])
    assert drift.value.details["seen"] == ["ZZZZZZ"]
    for other in ("<html>unusual traffic</html>", "", ")]}'", frame_body([[["di", 1]]])):
        with pytest.raises(NotRpcReply):
            read_answer(LIST, [other])
    with pytest.raises(Network, match="cut"):
        read_answer(LIST, [body(LIST, [[PROJECT]])[:40]])


def test_a_reply_that_is_whole_stands_although_the_body_was_cut_after_it() -> None:
    text = body(LIST, [[PROJECT]])
    assert read_answer(LIST, [text[: text.index('[["e"') + 3]]).notebooks


def test_a_signed_out_reply_is_signed_out() -> None:
    with pytest.raises(SignedOut):
        read_answer(LIST, boxed(LIST, None, [16]))
