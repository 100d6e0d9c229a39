"""Errors are data: what they say can be added to, and each caller has one of its own."""

from __future__ import annotations

import pytest

from nlm_cdp.cdp.protocol import CommandRefused
from nlm_cdp.errors import DecodeError, NlmError, Outcome, Quota

ERRORS = [
    Quota("used up", outcome=Outcome.REJECTED, retry_after_s=5, state="gated", details={"limit": 3}),
    DecodeError("a row: ", ".1[2]", "the cell is empty", details={"rpc": "a"}),
    CommandRefused("Page.enable", -32000, "Not now"),
]


@pytest.mark.parametrize("error", ERRORS, ids=[type(error).__name__ for error in ERRORS])
def test_an_error_for_another_caller_says_the_same_and_changes_alone(error: NlmError) -> None:
    twin = error.again()
    assert type(twin) is type(error)
    assert vars(twin) == vars(error)
    assert str(twin) == str(error)
    twin.also("More.").details["seen"] = 1
    twin.outcome = Outcome.UNKNOWN
    assert "More." not in str(error)
    assert "seen" not in error.details
    assert error.outcome is not Outcome.UNKNOWN or isinstance(error, CommandRefused)


def test_a_sentence_is_added_after_one_full_stop() -> None:
    assert str(Quota("used up.").also("Wait.")) == "used up. Wait."
    assert Quota("used up").also("Wait.").message == "used up. Wait."
