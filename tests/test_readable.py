"""Results and errors as text, and what a shell learns from the exit code."""

from __future__ import annotations

import pytest

from nlm_cdp import errors
from nlm_cdp.errors import (
    Ambiguous,
    ChromeLost,
    ChromeNotFound,
    DecodeError,
    NlmError,
    Outcome,
    RateLimited,
    SignedOut,
)
from nlm_cdp.readable import error_result, error_text, exit_code, result_text


def test_the_text_says_what_the_structure_says() -> None:
    result = {
        "status": "success",
        "answer": "Fog:\n\n- one blast [1]",
        "session_info": {"age_seconds": 3, "last_activity": "2026-01-01T00:00:00Z"},
        "sources": [
            {"index": 1, "excerpt": "one\n long  blast"},
            {"index": 2, "tags": ["a", "b"], "inner": {"k": True}},
        ],
        "suggested_questions": ["Why?", "How?"],
        "failed": [],
        "truncated": False,
        "_provenance": {"simulated": True},
    }
    assert result_text(result).split("\n") == [
        "Fog:",
        "",
        "- one blast [1]",
        "",
        "status: success",
        "session_info:",
        "  age_seconds: 3",
        "  last_activity: 2026-01-01T00:00:00Z",
        "sources:",
        "- index: 1, excerpt: one long blast",
        "- index: 2, tags: a; b, inner: k=yes",
        "suggested_questions: Why?; How?",
        "failed: none",
        "truncated: no",
    ]


def test_a_text_alone_and_nothing_at_all() -> None:
    assert result_text({"content": "only\ntext"}) == "only\ntext"
    assert result_text({}) == ""
    assert result_text({"summary": "s", "keywords": ["k"]}) == "s\n\nkeywords: k"


def test_an_error_is_told_in_full() -> None:
    error = RateLimited(
        "the service asks for a pause.",
        outcome=Outcome.REJECTED,
        retry_after_s=90.0,
        state="busy",
        details={"status_code": 8},
    )
    assert error_result(error) == {
        "code": "RATE_LIMITED",
        "message": "the service asks for a pause.",
        "hint": "Wait before trying again: minutes, not seconds.",
        "outcome": "rejected",
        "retriable": True,
        "retry_after_s": 90.0,
        "state": "busy",
        "details": {"status_code": 8},
    }
    said = (
        "RATE_LIMITED: the service asks for a pause. Wait before trying again: minutes, not seconds. Retry after 90 s."
    )
    assert error_text(error) == said


def test_what_an_error_does_not_have_is_left_out() -> None:
    assert error_result(NlmError("x")) == {
        "code": "INTERNAL",
        "message": "x",
        "hint": "",
        "outcome": "not_sent",
        "retriable": False,
    }
    assert error_text(NlmError("x")) == "INTERNAL: x."
    assert error_result(Ambiguous("2 match", retry_after_s=0.0))["retry_after_s"] == 0.0


def test_an_error_that_learns_more() -> None:
    error = ChromeLost("Chrome closed the connection.").also("Nothing was changed.")
    assert str(error) == error.message == "Chrome closed the connection. Nothing was changed."


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ChromeNotFound("x"), 3),
        (ChromeLost("x"), 3),
        (errors.ChromePolicyBlocked("x"), 3),
        (SignedOut("x"), 4),
        (errors.AccessGated("x"), 4),
        (errors.AccountAmbiguous("x"), 1),
        (DecodeError("Row", ".1", "empty"), 1),
        (NlmError("x"), 1),
    ],
)
def test_exit_codes(error: NlmError, code: int) -> None:
    assert exit_code(error) == code
