"""What the service refuses with: each code a typed error, whatever shape the status has."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.errors import (
    Cancelled,
    Drift,
    InvalidArgument,
    NlmError,
    NotFound,
    NotReady,
    Outcome,
    Permission,
    RateLimited,
    Service,
    SignedOut,
    Timeout,
)
from nlm_cdp.wire.batchexecute import (
    read_replies,
)
from nlm_cdp.wire.status import STATUS, Status
from tests.wire.bodies import TYPE, body, data, status

KINDS: dict[int, type[NlmError]] = {
    1: Cancelled,
    2: Service,
    3: InvalidArgument,
    4: Timeout,
    5: NotFound,
    6: InvalidArgument,
    7: Permission,
    8: RateLimited,
    9: NotReady,
    10: Service,
    11: InvalidArgument,
    12: Drift,
    13: Service,
    14: Service,
    15: Service,
    16: SignedOut,
    17: Service,
    -1: Service,
}


@pytest.mark.parametrize(("code", "kind"), KINDS.items())
def test_a_status_is_a_typed_refusal(code: int, kind: type[NlmError]) -> None:
    reply = read_replies(body(status("a", [code]))).of("a")
    assert reply.status is not None
    error = reply.status.error()
    assert type(error) is kind
    assert error.outcome is Outcome.REJECTED
    assert error.details["status_code"] == code
    assert error.details["status"] == (STATUS[code] if 0 <= code < len(STATUS) else f"status {code}")
    assert "unknown" not in error.message or code == 2
    assert "sign" not in error.hint.lower() or code == 16


@pytest.mark.parametrize("value", [None, 0, [], "", False, [0]])
def test_no_status_and_ok_are_no_refusal(value: Any) -> None:
    assert read_replies(body(["wrb.fr", "a", "[1]", None, None, value, "generic"])).of("a").row == [1]


@pytest.mark.parametrize("value", ["text", {"code": 5}, [[5]], ["5"], [True], [None], 5])
def test_a_status_of_another_shape_is_a_refusal_all_the_same(value: Any) -> None:
    reply = read_replies(body(["wrb.fr", "a", None, None, None, value, "generic"])).of("a")
    assert reply.status is not None
    assert reply.status.code == 2


@pytest.mark.parametrize(
    ("details", "said"),
    [
        ([[TYPE, [1, 2, [3]]]], "the service refused: resource exhausted"),
        ([[TYPE, [None, [["You have used today's chats.", 5]]]]], "You have used today's chats."),
        ([[TYPE, None]], "the service refused: resource exhausted"),
        ([[TYPE, ["QUOTA_EXCEEDED"]]], "the service refused: resource exhausted"),
        ([[TYPE, ["本日の上限に達しました。"]]], "本日の上限に達しました。"),
        ([[TYPE]], "the service refused: resource exhausted"),
    ],
)
def test_quota_text_is_kept_and_a_type_url_is_no_text(details: Any, said: str) -> None:
    reply = read_replies(body(status("R7cb6c", [8, None, details]))).of("R7cb6c")
    assert reply.status is not None
    assert reply.status.user_displayable
    error = reply.status.error()
    assert type(error) is RateLimited
    assert error.retriable
    assert error.message == said
    assert "minutes" in error.hint


def test_a_displayable_refusal_is_a_limit_whatever_its_code() -> None:
    assert type(Status.read([3, None, [[TYPE, []]]]).error()) is RateLimited
    assert Status.read([9, "Wait for the import to end.", None]).error().message == "Wait for the import to end."
    assert not Status.read([3, None, [["type.googleapis.com/other", []]]]).user_displayable


@pytest.mark.parametrize(("code", "kind"), [(400, 3), (401, 16), (403, 7), (404, 5), (429, 8), (500, 13), (418, 2)])
def test_an_er_frame_refuses_all_calls(code: int, kind: int) -> None:
    frame = ["er", None, None, None, None, code, None, None, None, 9]
    for frames in ([frame], [data("a", [1]), frame], [frame, data("b", [1])]):
        reply = read_replies(body(*frames)).of("a", "1")
        assert reply.status == Status(kind)


def test_an_er_frame_for_another_call_is_not_ours() -> None:
    found = read_replies(body(["er", "b", 404], data("a", [1])))
    assert found.of("a").row == [1]
    assert found.of("b").status == Status(5)
