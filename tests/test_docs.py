"""The generator of the README's tables, and the measure of what a model has to read."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlm_cdp.api import TOOLS
from nlm_cdp.errors import NlmError
from nlm_cdp.granted import SCOPES
from tools import generate_docs
from tools.bench import tools_list
from tools.generate_docs import errors_table, tools_table, written_anew

BARE = "# Title\n\n<!-- tools:begin -->\n<!-- tools:end -->\n\nEnd.\n"


def test_the_tables_stand_between_their_markers(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(BARE + "<!-- errors:begin -->\nold\n<!-- errors:end -->\n", encoding="utf-8")
    assert generate_docs.main([str(readme)]) == 0
    text = readme.read_text(encoding="utf-8")
    assert text == (
        f"# Title\n\n<!-- tools:begin -->\n{tools_table()}\n<!-- tools:end -->\n\nEnd.\n"
        f"<!-- errors:begin -->\n{errors_table()}\n<!-- errors:end -->\n"
    )
    assert written_anew(text) == text
    assert b"\r" not in readme.read_bytes()


def test_check_changes_nothing_and_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(BARE, encoding="utf-8")
    assert generate_docs.main(["--check", str(readme)]) == 1
    assert readme.read_text(encoding="utf-8") == BARE
    assert "README.md is not what tools/generate_docs.py writes" in capsys.readouterr().err
    assert generate_docs.main([str(readme)]) == 0
    before = readme.stat().st_mtime_ns
    assert generate_docs.main(["--check", str(readme)]) == 0
    assert generate_docs.main([str(readme)]) == 0
    assert readme.stat().st_mtime_ns == before
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# Title\n", "there is no <!-- tools:begin -->"),
        ("<!-- tools:begin -->\n", "there is no <!-- tools:begin -->"),
        (BARE + "<!-- errors:begin -->\n", "not in pairs"),
        (BARE + "<!-- tools:end -->\n", "not in pairs"),
        (BARE + "<!-- poems:begin -->\n<!-- poems:end -->\n", "no table called poems"),
    ],
)
def test_what_it_cannot_work_on(text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(text, encoding="utf-8")
    for arguments in ([str(readme)], ["--check", str(readme)]):
        assert generate_docs.main(arguments) == 1
        assert said in capsys.readouterr().err
    assert readme.read_text(encoding="utf-8") == text


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate_docs.main(["--check", str(tmp_path / "README.md")]) == 1
    assert "does not exist" in capsys.readouterr().err


def test_every_tool_has_a_row() -> None:
    head, _, *rows = tools_table().split("\n")
    assert head.count("|") == 6
    assert [row.split("`")[1] for row in rows] == list(TOOLS)
    assert all(row.replace(r"\|", "").count("|") == 6 for row in rows)
    (row,) = (row for row in rows if row.startswith("| `delete_notebook`"))
    assert "| `notebook`* `expected_title` `confirm` |" in row
    assert row.endswith("| delete (on request) | delete |")


def test_every_error_has_a_row() -> None:
    codes = [row.split("`")[1] for row in errors_table().split("\n")[2:]]
    assert len(codes) == len(set(codes))
    assert {kind.code for kind in NlmError.__subclasses__()} <= set(codes)


# What a model reads


def test_the_budgets_hold() -> None:
    measured = tools_list.measure()
    assert {name: count for name, count in measured.items() if count > tools_list.BUDGETS[name]} == {}
    assert set(measured) == set(tools_list.BUDGETS)
    assert tools_list.BUDGETS == {
        "default set": 14_000,
        "all tools": 26_000,
        "largest tool": 1_600,
        "instructions": 700,
    }


def test_the_measure_counts_bytes_of_what_is_sent(capsys: pytest.CaptureFixture[str]) -> None:
    assert tools_list.size({"name": "é", "n": [1, 2]}) == len('{"name":"é","n":[1,2]}'.encode())
    everything = tools_list.sizes(SCOPES, ("all",))
    assert list(everything) == list(TOOLS)
    assert sum(tools_list.sizes(("read",), ("system",)).values()) < sum(everything.values())
    assert tools_list.main() == 0
    printed = capsys.readouterr().out
    assert "EXCEEDED" not in printed
    assert f"{sum(everything.values()):,} of 26,000  all tools" in printed


def test_a_budget_that_is_exceeded_fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(tools_list.BUDGETS, "largest tool", 1)
    assert tools_list.main() == 1
    assert capsys.readouterr().out.count("EXCEEDED") == 1
