"""What a terminal shows."""

from __future__ import annotations

from nlm_cdp.capture.calls import Recorded
from nlm_cdp.capture.drift import compare
from nlm_cdp.capture.sinks import told
from nlm_cdp.capture.terminal import follow_text, report_text, short
from nlm_cdp.overrides import Overrides
from tests.capture.scripts import reply
from tests.capture.test_drift import GET, project
from tests.capture.test_fixture import LISTING, recorded
from tests.capture.test_reading import call


def shown(found: Recorded, *, colour: bool = False) -> str:
    return follow_text("head", told(found, Overrides()), colour=colour)


def test_the_worst_comes_first_and_what_was_not_seen_is_no_news() -> None:
    calls = [recorded([1], [1, 2], "Zz9Yy8"), recorded([["T", None, 7]], GET, "rLM1Ne"), recorded(LISTING)]
    lines = report_text(compare(calls), "a test").splitlines()
    assert lines[0] == "breaking  rLM1Ne-GetProject"
    assert lines[1].startswith("          response .1.3: ")
    assert lines[2] == "new       Zz9Yy8"
    assert "2 changes in 3 calls of 3 kinds (a test)." in lines
    assert lines[-1].startswith("Not seen, which says nothing")


def test_nothing_to_look_at_is_not_no_drift() -> None:
    assert report_text(compare([]), "a test") == "Could not look: no calls were seen."


def test_a_call_is_shown_with_its_fields() -> None:
    text = shown(recorded(LISTING))
    assert "Secret title" in text
    assert "UNCLAIMED" not in text


def test_whatever_does_not_fit_is_pointed_out() -> None:
    assert "DOES NOT DECODE .1.3" in shown(recorded([["T", None, 7]], GET, "rLM1Ne"))
    assert "UNCLAIMED .9: string" in shown(recorded([*LISTING, *[None] * 7, "novel"]))
    text = shown(recorded(project(), [*GET, None, "novel"], "rLM1Ne"))
    assert "UNCLAIMED request; nearest: rLM1Ne-GetProject" in text
    assert "    .7: string" in text
    assert "refused  NOT_FOUND" in shown(call("rLM1Ne", GET, reply("rLM1Ne", None, [5])))
    lost = call("rLM1Ne", GET)
    lost.lost = "the answer: the tab was closed"
    assert "LOST the answer: the tab was closed" in shown(lost)


def test_colour_is_only_paint() -> None:
    plain, painted = (shown(recorded(LISTING), colour=colour) for colour in (False, True))
    assert "\x1b[" not in plain
    assert "\x1b[" in painted


def test_somebodys_text_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in shown(recorded([[["\x1b[2Jtitle\u202e", None, "68a9f400-ac16-41fd-b3dc-d411565a29d9"]]]))
    assert short("x" * 5_000).endswith("characters)")
