"""Ids that the service has changed, as one machine knows them."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from nlm_cdp import overrides
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.errors import InvalidArgument
from nlm_cdp.overrides import Overrides


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "mine.json"
    monkeypatch.setenv(overrides.VARIABLE, str(path))
    return path


def test_what_was_saved_is_loaded(file: Path) -> None:
    overrides.save(file, {"wXbhsf": "Qx91Zz", "rLM1Ne": "Ab12Cd"})
    found = overrides.load()
    assert (found.ids, found.path) == ({"rLM1Ne": "Ab12Cd", "wXbhsf": "Qx91Zz"}, file)
    if sys.platform != "win32":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_call_is_sent_by_its_new_id_and_recognised_by_it() -> None:
    found = Overrides({"wXbhsf": "Qx91Zz"})
    assert found.applied(notebooks.LIST).id == "Qx91Zz"
    assert found.applied(notebooks.LIST).method == notebooks.LIST.method
    assert found.applied(notebooks.GET) is notebooks.GET
    assert (found.declared("Qx91Zz"), found.declared("rLM1Ne")) == ("wXbhsf", "rLM1Ne")


def test_without_a_file_there_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(overrides.VARIABLE, raising=False)
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path))
    assert overrides.location() == tmp_path / "overrides.json"
    assert overrides.load() == Overrides()


def test_an_empty_variable_turns_them_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path))
    overrides.save(tmp_path / "overrides.json", {"wXbhsf": "Qx91Zz"})
    monkeypatch.setenv(overrides.VARIABLE, "")
    assert (overrides.location(), overrides.load()) == (None, Overrides())


def test_a_file_that_was_named_and_is_not_there_is_an_error(file: Path) -> None:
    with pytest.raises(InvalidArgument, match="no such file"):
        overrides.load()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": 2, "ids": {}}',
        '{"format": 1, "ids": []}',
        '{"format": 1, "ids": {"wXbhsf": 7}}',
        '{"format": 1, "ids": {"wXbhsf": "../../x"}}',
        '{"format": 1, "ids": {"wXbhsf": "Qx91Zz", "rLM1Ne": "Qx91Zz"}}',
        "[" * 100_000,
    ],
)
def test_a_file_that_holds_something_else_is_an_error_that_names_it(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(InvalidArgument, match=r"mine\.json"):
        overrides.load()


def test_a_folder_in_its_place_is_an_error(file: Path) -> None:
    file.mkdir()
    with pytest.raises(InvalidArgument):
        overrides.load()
