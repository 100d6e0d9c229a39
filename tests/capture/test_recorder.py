"""Which tab is recorded; the recording itself is tested in a real browser (tests/e2e/test_capture*.py)."""

from __future__ import annotations

import pytest

from nlm_cdp.capture.recorder import choose, decoded
from nlm_cdp.cdp.generated.target import TargetID, TargetInfo
from nlm_cdp.errors import Ambiguous, NotFound

HOME, ONE = "https://notebook.google.com/", "https://notebook.google.com/notebook/68a9f400"


def tab(url: str) -> TargetInfo:
    return TargetInfo(TargetID(url), "page", url, attached=False)


def test_the_only_tab_needs_no_choice() -> None:
    assert choose([tab(ONE)], None).url == ONE
    with pytest.raises(NotFound, match="no notebook tab is open"):
        choose([], None)


def test_of_several_one_is_chosen_by_number_or_by_its_address() -> None:
    found = [tab(HOME), tab(ONE)]
    assert choose(found, "2").url == ONE
    assert choose(found, "68a9").url == ONE
    for wanted in (None, "notebook.google.com", "3", "0", "4", "elsewhere"):
        with pytest.raises(Ambiguous) as caught:
            choose(found, wanted)
        assert caught.value.details["tabs"] == [f"1: {HOME}", f"2: {ONE}"]


def test_what_comes_as_base64_is_text_where_it_is_text() -> None:
    assert decoded("w6Twn6eq") == "ä🧪"
    assert decoded("rO0ABQ==") == b"\xac\xed\x00\x05"
