"""What doctor says of this machine before it touches a browser; the rest is tested in a real one (tests/e2e)."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlm_cdp import overrides
from nlm_cdp.doctor import Report, note_overrides


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
