"""What doctor says of this machine before it touches a browser; the rest is tested in a real one (tests/e2e)."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlm_cdp import overrides
from nlm_cdp.browser.candidate import Candidate, State
from nlm_cdp.doctor import Report, note_overrides
from nlm_cdp.errors import ChromeDebuggingOff, Network


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(overrides.VARIABLE, str(tmp_path / "mine.json"))
    return tmp_path / "mine.json"


def test_overrides_in_force_are_shown_with_their_file(file: Path) -> None:
    overrides.save(file, {"wXbhsf": "Qx91Zz", "ZZZZZZ": "Yy11Yy"})
    report = Report()
    note_overrides(report)
    (step,) = report.steps
    assert (step["step"], step["ok"]) == ("Overrides", None)
    assert step["detail"] == f"ZZZZZZ goes by Yy11Yy, wXbhsf goes by Qx91Zz ({file}); not declared: ZZZZZZ"


def test_without_overrides_there_is_nothing_to_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(overrides.VARIABLE, "")
    report = Report()
    note_overrides(report)
    assert report.steps == []


def test_overrides_that_cannot_be_used_are_a_failed_step(file: Path) -> None:
    file.write_text("nonsense")
    report = Report()
    note_overrides(report)
    assert report.steps[0]["ok"] is False
    assert "not JSON" in report.steps[0]["detail"]


# Browsers


def surveyed(state: State, *, own: bool = False) -> Report:
    found = Candidate("Chrome", None, state, own=own)
    made = Report()
    made.note(found.browser, ok=None, detail=found.told, fix=found.hint)
    return made


def test_every_state_has_a_line_of_its_own() -> None:
    told = {surveyed(state).steps[0]["detail"] for state in State}
    assert len(told) == len(State)


def test_a_fix_stands_by_each_browser_where_chrome_is_what_fails() -> None:
    for state in State:
        made = surveyed(state)
        made.error = ChromeDebuggingOff("off")
        text = made.as_text()
        assert ("-> " in text) is not state.listening
        assert text.endswith(f"Fix: {made.error.hint}")
        assert (made.as_json()["steps"][0].get("fix") is None) is state.listening


def test_where_chrome_is_found_nobody_is_told_to_open_another() -> None:
    made = surveyed(State.DEBUGGING_OFF)
    assert "->" not in made.as_text()
    made.error = Network("no way")
    assert "->" not in made.as_text()


def test_the_browser_that_the_user_started_is_said_to_come_first() -> None:
    assert "used before any other" in surveyed(State.CLASSIC, own=True).as_text()
    assert "used before any other" not in surveyed(State.OWN_STOPPED, own=True).as_text()
    assert "nlm-cdp browser" in surveyed(State.OWN_STOPPED, own=True).steps[0]["fix"]
