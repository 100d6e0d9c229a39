"""The commands that need no browser, through the real command line."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from nlm_cdp import overrides
from nlm_cdp.capture.calls import Recorded
from nlm_cdp.capture.cli import main
from nlm_cdp.capture.commands import fixtures
from nlm_cdp.capture.fixture import fixture, redactor
from nlm_cdp.capture.folder import Folder
from tests.capture.scripts import reply
from tests.capture.test_drift import GET, project
from tests.capture.test_fixture import LISTING, recorded
from tests.capture.test_har import entry
from tests.capture.test_reading import call

KEY = redactor(b"key")


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The overrides of this test, which are none at first."""
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv(overrides.VARIABLE, raising=False)
    return tmp_path / "data" / "overrides.json"


def folder(tmp_path: Path, *calls: Recorded) -> str:
    found = Folder(tmp_path / "fixtures")
    for each in calls:
        found.write(found.claim(each), fixture(each, KEY, origin="live", captured="2026-11-30"))
    return str(found.root)


BROKEN = [["Title", None, 7]]


@pytest.mark.parametrize(
    ("calls", "code", "says"),
    [
        ([recorded(LISTING)], 0, "No drift in 1 calls"),
        ([recorded([1], [1, 2], "Zz9Yy8")], 0, "new       Zz9Yy8"),
        ([recorded(BROKEN, GET, "rLM1Ne")], 1, "breaking  rLM1Ne-GetProject"),
        ([recorded(project(), GET, "Qx91Zz")], 1, "gone      rLM1Ne-GetProject"),
        ([call("rLM1Ne", GET, reply("rLM1Ne", None, [16]))], 4, "Could not look: this browser is signed out"),
    ],
)
def test_drift_says_what_and_its_exit_code_how_bad(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], calls: list[Recorded], code: int, says: str
) -> None:
    assert main(["drift", folder(tmp_path, *calls)]) == code
    assert says in capsys.readouterr().out


def test_drift_without_anything_to_look_at_could_not_look(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["drift", str(tmp_path)]) == 4
    assert "no fixtures" in capsys.readouterr().err


def test_a_file_that_is_no_fixture_is_a_usage_error_that_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = folder(tmp_path, recorded(LISTING))
    (tmp_path / "fixtures" / "x").mkdir()
    (tmp_path / "fixtures" / "x" / "y.json").write_text("{}")
    assert main(["drift", where]) == 2
    assert "y.json" in capsys.readouterr().err


def test_drift_as_json_and_as_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = folder(tmp_path, recorded(BROKEN, GET, "rLM1Ne"))
    assert main(["drift", where, "--json", "--html", str(tmp_path / "out" / "drift.html")]) == 1
    assert json.loads(capsys.readouterr().out)["drift"] == "breaking"
    assert "rLM1Ne" in (tmp_path / "out" / "drift.html").read_text()


def test_only_what_is_asked_for_is_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = folder(tmp_path, recorded(BROKEN, GET, "rLM1Ne"), recorded(LISTING))
    assert main(["drift", where, "--rpc", "ListRecentlyViewedProjects"]) == 0
    assert main(["drift", where, "--rpc", "rLM1Ne", "--rpc", "wXbhsf"]) == 1


def test_learn_writes_what_it_found_when_told_to(
    tmp_path: Path, file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    where = folder(tmp_path, recorded(project(), GET, "Qx91Zz"))
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    assert main(["learn", where]) == 1
    assert not file.exists()
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert main(["learn", where]) == 0
    assert overrides.load().ids == {"rLM1Ne": "Qx91Zz"}
    assert "rLM1Ne-GetProject (1 of 1 calls match)" in capsys.readouterr().out
    assert main(["drift", where]) == 0
    assert "Overrides in force: rLM1Ne → Qx91Zz" in capsys.readouterr().out


def test_learn_keeps_earlier_overrides_and_finds_a_second_move_of_the_same_id(tmp_path: Path, file: Path) -> None:
    overrides.save(file, {"wXbhsf": "Old111", "rLM1Ne": "Old222"})
    where = folder(tmp_path, recorded(project(), GET, "Qx91Zz"))
    assert main(["learn", where, "--yes"]) == 0
    assert overrides.load().ids == {"wXbhsf": "Old111", "rLM1Ne": "Qx91Zz"}


def test_learn_writes_nothing_it_is_not_sure_of(tmp_path: Path, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", folder(tmp_path, recorded([7], [8, 9], "Zz9Yy8")), "--yes"]) == 1
    assert "nothing that is declared" in capsys.readouterr().out
    two = folder(tmp_path, recorded(project(), GET, "Qx91Zz"), recorded(project(), GET, "Qx92Zz"))
    assert main(["learn", two, "--yes"]) == 1
    assert "both have the shape of rLM1Ne" in capsys.readouterr().err
    assert not file.exists()


def test_learn_with_nothing_unknown_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", folder(tmp_path, recorded(LISTING)), "--yes"]) == 0
    assert "Nothing was learned" in capsys.readouterr().out


def test_a_har_becomes_fixtures_and_fixtures_a_har(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    har = tmp_path / "in.har"
    har.write_text(json.dumps({"log": {"version": "1.2", "entries": [entry(), entry()]}}))
    assert main(["import", str(har), "--out", str(tmp_path / "first"), "--key", "k"]) == 0
    assert "2 calls, 1 fixtures" in capsys.readouterr().err
    assert main(["check", str(tmp_path / "first")]) == 0
    assert main(["export", str(tmp_path / "first"), "--har", str(tmp_path / "out.har")]) == 0
    assert json.loads((tmp_path / "out.har").read_text())["log"]["version"] == "1.2"
    assert main(["import", str(tmp_path / "out.har"), "--out", str(tmp_path / "second"), "--key", "k"]) == 0
    assert main(["check", str(tmp_path / "second")]) == 0
    shapes = [json.loads(path.read_text())["response"]["body"] for path in tmp_path.glob("*/*/*.json")]
    assert len({len(body) for body in shapes}) == 1


def test_the_same_key_gives_the_same_bytes_and_no_key_a_new_one(tmp_path: Path) -> None:
    har = tmp_path / "in.har"
    har.write_text(json.dumps({"log": {"version": "1.2", "entries": [entry()]}}))
    found: dict[str, bytes] = {}
    for name, key in (("a", ["--key", "k"]), ("b", ["--key", "k"]), ("c", [])):
        assert main(["import", str(har), "--out", str(tmp_path / name), *key]) == 0
        ((path, _),) = fixtures(tmp_path / name)
        found[name] = path.read_bytes()
    assert found["a"] == found["b"] != found["c"]


def test_check_names_every_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = folder(tmp_path, recorded(LISTING))
    ((path, _),) = fixtures(Path(where))
    path.write_text(path.read_text().replace('"unclaimed": []', '"unclaimed": ["somebody@gmail.com"]'))
    assert main(["check", where]) == 1
    said = capsys.readouterr().out
    assert "looks like it holds" in said
    assert "somebody" not in said
    assert main(["check", str(tmp_path / "nowhere")]) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["import", "nowhere.har"],
        ["record", "--for", "soon"],
        ["record", "--for", "0s"],
        ["record", "--endpoint", "not an endpoint ://", "--for", "1s"],
    ],
)
def test_what_is_not_understood_is_a_usage_error(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert "nlm-capture: " in capsys.readouterr().err


def test_raw_captures_need_the_word_and_never_go_into_a_work_tree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("yes\n"))
    assert main(["record", "--raw-to", str(tmp_path / "raw"), "--for", "1s"]) == 2
    assert "nothing is recorded" in capsys.readouterr().err
    (tmp_path / "tree" / ".git").mkdir(parents=True)
    assert main(["record", "--raw-to", str(tmp_path / "tree" / "deep" / "raw"), "--for", "1s"]) != 0
    assert "git work tree" in capsys.readouterr().err
    assert not (tmp_path / "raw").exists()


def test_help_tells_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    said: Any = capsys.readouterr().out
    assert all(name in said for name in ("record", "follow", "drift", "learn", "import", "export", "check"))
