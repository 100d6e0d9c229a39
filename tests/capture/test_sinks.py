"""What is done with exchanges as they come."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

from nlm_cdp.capture.exchange import Body, Part
from nlm_cdp.capture.fixture import redactor
from nlm_cdp.capture.folder import Folder
from nlm_cdp.capture.sinks import Filter, Raw, Writer, line, told
from nlm_cdp.errors import FileRefused
from nlm_cdp.overrides import Overrides
from nlm_cdp.wire.batchexecute import Call
from tests.capture.scripts import exchange, reply
from tests.capture.test_drift import GET, project
from tests.capture.test_fixture import LISTING, recorded
from tests.capture.test_reading import call

NO = Overrides()


def writer(root: Path, said: list[str], *wanted: str) -> Writer:
    return Writer(
        folder=Folder(root),
        redact=redactor(b"key"),
        origin="live",
        captured="2026-11-30",
        wanted=Filter(frozenset(wanted), NO),
        say=said.append,
    )


def test_every_call_of_an_exchange_is_written_and_told(tmp_path: Path) -> None:
    said: list[str] = []
    sink = writer(tmp_path, said)
    calls = [Call("wXbhsf", [None, 1, None, [2]]), Call("rLM1Ne", GET)]
    found = exchange(calls, [reply("wXbhsf", LISTING), reply("rLM1Ne", project())])
    sink.begun(found)
    sink.ended(found)
    assert len(list(tmp_path.rglob("*.json"))) == 2
    assert [text.split()[1] for text in said] == ["wXbhsf", "rLM1Ne"]
    assert sink.summary == f"2 calls, 2 fixtures in {tmp_path}"
    assert sink.paths == {}


def test_only_wanted_calls_are_written_by_id_or_method(tmp_path: Path) -> None:
    for name in ("wXbhsf", "ListRecentlyViewedProjects"):
        sink = writer(tmp_path / name, [], name)
        calls = [Call("wXbhsf", [None, 1, None, [2]]), Call("rLM1Ne", GET)]
        found = exchange(calls, [reply("wXbhsf", LISTING), reply("rLM1Ne", project())])
        sink.begun(found)
        sink.ended(found)
        assert [path.parent.name for path in tmp_path.glob(f"{name}/*/*")] == ["wXbhsf-ListRecentlyViewedProjects"]


def test_what_still_looks_personal_is_counted_and_told_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    sink = writer(tmp_path, said)
    found = exchange([Call("wXbhsf", [None, 1, None, [2]])], [reply("wXbhsf", LISTING)])
    monkeypatch.setattr("nlm_cdp.capture.fixture.hits", lambda text: ["e-mail"])
    sink.begun(found)
    sink.ended(found)
    assert (sink.refused, list(tmp_path.rglob("*.json"))) == (1, [])
    assert "NOT WRITTEN" in said[-1]
    assert "Secret" not in said[-1]
    assert "1 NOT WRITTEN" in sink.summary


def test_a_line_says_what_is_new() -> None:
    assert line(recorded(LISTING), NO).endswith("known")
    assert "breaking: response .1.3" in line(recorded([["T", None, 7]], GET, "rLM1Ne"), NO)
    assert "new: id no call with this id" in line(recorded([1], [1, 2], "Zz9Yy8"), NO)
    assert line(call("rLM1Ne", GET, reply("rLM1Ne", None, [5])), NO).endswith("refused: NOT_FOUND")
    lost = recorded(LISTING)
    lost.lost = "the answer: it was cut"
    assert line(lost, NO).endswith("lost: the answer: it was cut")


def test_no_word_of_a_payload_is_in_a_line() -> None:
    assert "ecret" not in line(recorded(LISTING), NO)


def test_an_undeclared_call_is_told_whole() -> None:
    found = told(recorded([7], [1, 2], "Zz9Yy8"), NO)
    assert (found["method"], found["request"], found["rows"]) == (None, [1, 2], [[7]])


def test_raw_captures_are_their_owners_alone(tmp_path: Path) -> None:
    found = exchange([Call("wXbhsf", [1])], [reply("wXbhsf", LISTING)])
    Raw(tmp_path / "raw").ended(found)
    found.number, found.bodies[Part.REQUEST] = 2, Body(b"\xac\xed")
    found.bodies[Part.RESPONSE] = Body(lost="gone")
    Raw(tmp_path / "raw").ended(found)
    first, second = sorted((tmp_path / "raw").iterdir())
    assert "Secret title" in first.read_text()
    assert json.loads(second.read_text())["request"] == {"hex": "aced"}
    assert json.loads(second.read_text())["response"] == {"lost": "gone"}
    if sys.platform != "win32":
        assert stat.S_IMODE(first.stat().st_mode) == 0o600


def test_raw_captures_never_go_into_a_work_tree(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: elsewhere")
    with pytest.raises(FileRefused):
        Raw(tmp_path / "a" / "b")
