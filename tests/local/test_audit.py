"""The record of what was sent: by several processes at once, rotated, never in a call's way, without content."""

from __future__ import annotations

import json
import logging
import os
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nlm_cdp.local.audit import Audit, audit
from nlm_cdp.local.traffic import TOOL, Exchange, size

NB = "11111111-2222-4333-8444-555555555555"
NOW = 1_780_000_000.25
posix = pytest.mark.skipif(sys.platform == "win32", reason="modes and links are others there")


def seen(**changes: Any) -> Exchange:
    return replace(Exchange("wXbhsf", "List", "read", notebook=NB, sent=3), **changes)


def at(folder: Path, **options: Any) -> Audit:
    return Audit(folder / "data/audit.jsonl", **{"now": lambda: NOW} | options)


def test_a_line_says_what_was_sent(tmp_path: Path) -> None:
    record = at(tmp_path)
    token = TOOL.set("list_notebooks")
    record(seen(received=7, status=200, seconds=0.0123))
    TOOL.reset(token)
    failed = seen(effect="create", notebook=None)
    failed.failed("TIMEOUT", "unknown")
    record(failed)
    first, second = (json.loads(text) for text in record.path.read_text().splitlines())
    assert first == {
        "time": "2026-05-28T20:26:40.250Z", "tool": "list_notebooks", "rpc": "wXbhsf", "method": "List",
        "effect": "read", "notebook": NB, "sent": 3, "received": 7, "status": 200, "outcome": "ok", "code": None,
        "ms": 12,
    }  # fmt: skip
    assert (second["tool"], second["outcome"], second["code"]) == (None, "unknown", "TIMEOUT")


@pytest.mark.parametrize("notebook", ["My secret title", f"{NB} x", f"{NB}\n", "", None, "../../etc"])
def test_what_is_no_notebook_id_is_not_written(tmp_path: Path, notebook: str | None) -> None:
    record = at(tmp_path)
    record(seen(notebook=notebook))
    assert [row["notebook"] for row in record.lines()] == [None]


@posix
def test_it_is_for_its_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        at(tmp_path)(seen())
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "data/audit.jsonl").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700


@posix
def test_a_link_in_its_place_is_not_followed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    record = at(tmp_path)
    record.path.parent.mkdir()
    record.path.symlink_to(tmp_path / "elsewhere")
    record(seen())
    assert not (tmp_path / "elsewhere").exists()
    assert len(caplog.records) == 1


def test_a_file_that_has_grown_becomes_the_older_one(tmp_path: Path) -> None:
    record = at(tmp_path, largest=1000)
    for number in range(20):
        record(seen(sent=number))
    assert record.path.stat().st_size <= 1000 if record.path.exists() else True
    assert 1000 < record.older.stat().st_size < 1300
    kept = [row["sent"] for row in record.lines()]
    assert kept == list(range(kept[0], 20))
    assert len(kept) >= 5
    assert sorted(path.name for path in record.path.parent.iterdir()) in (
        ["audit.jsonl", "audit.lock", "audit.older.jsonl"],
        ["audit.lock", "audit.older.jsonl"],
    )


def test_a_file_that_another_process_has_just_rotated_is_left_alone(tmp_path: Path) -> None:
    record = at(tmp_path)
    record(seen())
    record.rotate()
    assert not record.older.exists()


WRITER = """
import sys
from pathlib import Path
from nlm_cdp.local.audit import Audit
from nlm_cdp.local.traffic import Exchange
record = Audit(Path(sys.argv[1]), largest=int(sys.argv[3]))
sys.stdin.read()
for number in range(int(sys.argv[4])):
    record(Exchange("x" * (number % 40), sys.argv[2], "read", sent=number))
"""


@pytest.mark.parametrize(("largest", "kept"), [(10**9, 4 * 400), (60_000, None)])
def test_several_processes_write_at_once(tmp_path: Path, largest: int, kept: int | None) -> None:
    record = at(tmp_path)
    command = [sys.executable, "-c", WRITER, str(record.path)]
    writers = [subprocess.Popen([*command, str(name), str(largest), "400"], stdin=subprocess.PIPE) for name in range(4)]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.close()
    assert [writer.wait() for writer in writers] == [0, 0, 0, 0]
    texts = [text for path in (record.older, record.path) if path.exists() for text in path.read_bytes().splitlines()]
    rows = [json.loads(text) for text in texts]  # every line is whole
    if kept is not None:
        assert len(rows) == kept
    for name in range(4):
        mine = [row["sent"] for row in rows if row["method"] == str(name)]
        assert len(mine) == len(set(mine))
        if kept is None:  # what a rotation drops is the oldest; a line that crosses one may change places
            assert sorted(mine) == list(range(min(mine, default=400), 400))


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_told_once_and_fails_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    record = Audit(Path("/dev/full"))
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            record(seen())
    assert len(caplog.records) == 1
    assert "cannot be written" in caplog.text
    assert "NLM_CDP_AUDIT=0" in caplog.text


def test_a_disk_that_recovers_is_written_to_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "data").write_text("a file where the folder belongs")
    record = at(tmp_path)
    record(seen())
    (tmp_path / "data").unlink()
    record(seen())
    assert len(list(record.lines())) == 1
    assert len(caplog.records) == 1


def test_reading_leaves_out_what_is_damaged_or_old(tmp_path: Path) -> None:
    record = at(tmp_path)
    assert list(record.lines()) == []
    record(seen(sent=1))
    with record.path.open("ab") as file:
        file.write(b'{"time": "2026-0\n[]\n{}\n{"time": 5}\n\xff\nnull\n{"time": "2020-01-01T00:00:00Z", "sent": 0}\n')
    record(seen(sent=2))
    assert [row["sent"] for row in record.lines()] == [1, 0, 2]
    assert [row["sent"] for row in record.lines(NOW - 1)] == [1, 2]


def test_clearing_removes_both_files(tmp_path: Path) -> None:
    record = at(tmp_path, largest=100)
    record(seen())
    record(seen())
    record.clear()
    assert list(record.lines()) == []
    record.clear()


def test_it_can_be_turned_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path))
    found = audit()
    assert found is not None
    assert found.path == tmp_path / "audit.jsonl"
    monkeypatch.setenv("NLM_CDP_AUDIT", "0")
    assert audit() is None
    monkeypatch.delenv("NLM_CDP_AUDIT")
    monkeypatch.setenv("NLM_CDP_DATA_DIR", "not/absolute")
    assert audit() is None


def test_sizes_are_those_of_the_bytes() -> None:
    assert [size(""), size("abc"), size("é🧪"), size(b"\xff\xff"), size("\ud800")] == [0, 3, 6, 2, 1]


def test_a_line_costs_little(tmp_path: Path) -> None:
    record = at(tmp_path)
    record(seen())
    fastest = 1.0
    for _ in range(300):
        began = time.perf_counter()
        record(seen())
        fastest = min(fastest, time.perf_counter() - began)
    assert fastest < 0.0002
