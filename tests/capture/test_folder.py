"""Names and files of fixtures."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from nlm_cdp.capture.calls import Recorded
from nlm_cdp.capture.fixture import LooksPersonal, fixture, redactor
from nlm_cdp.capture.folder import Folder
from tests.capture.test_fixture import LISTING, NOTEBOOK, recorded

REDACT = redactor(b"key")


def written(folder: Folder, call: Recorded) -> Path | None:
    return folder.write(folder.claim(call), fixture(call, REDACT, origin="live", captured="2026-11-30"))


def rename(title: str) -> Recorded:
    params = [NOTEBOOK, [[None, None, None, [None, title]]]]
    return recorded([[title, None, NOTEBOOK]], params, "s0tc2d")


def names(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def test_a_folder_is_named_for_the_call_and_a_file_for_the_scenario(tmp_path: Path) -> None:
    assert written(Folder(tmp_path), rename("a")) == tmp_path / "s0tc2d-MutateProject" / "rename.json"
    written(Folder(tmp_path, "my-day"), rename("a"))
    written(Folder(tmp_path), recorded(LISTING))
    written(Folder(tmp_path, "my-day"), recorded(LISTING))
    written(Folder(tmp_path), recorded([1], [1], "Zz9Yy8"))
    assert names(tmp_path) == [
        "Zz9Yy8/plain.json",
        "s0tc2d-MutateProject/my-day-rename.json",
        "s0tc2d-MutateProject/rename.json",
        "wXbhsf-ListRecentlyViewedProjects/my-day.json",
        "wXbhsf-ListRecentlyViewedProjects/plain.json",
    ]


def test_names_are_numbered_in_the_order_of_the_requests_whatever_is_answered_first(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    calls = [rename("one"), rename("twoo"), rename("three")]
    paths = [folder.claim(call) for call in calls]
    for call, path in [*zip(calls, paths, strict=True)][::-1]:
        folder.write(path, fixture(call, REDACT, origin="live", captured="2026-11-30"))
    assert names(tmp_path) == [f"s0tc2d-MutateProject/rename{end}.json" for end in ("-2", "-3", "")]
    assert len((tmp_path / "s0tc2d-MutateProject/rename-3.json").read_text()) > 0


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_that_are_alike_the_first_request_keeps_its_file(tmp_path: Path, order: tuple[int, int]) -> None:
    folder = Folder(tmp_path)
    paths = [folder.claim(rename("same")) for _ in range(2)]
    for index in order:
        folder.write(paths[index], fixture(rename("same"), REDACT, origin="live", captured="2026-11-30"))
    assert names(tmp_path) == ["s0tc2d-MutateProject/rename.json"]
    assert (folder.written, folder.same) == (1, 1)


def test_recording_again_gives_the_same_files(tmp_path: Path) -> None:
    for _ in range(2):
        folder = Folder(tmp_path)
        written(folder, rename("a"))
        before = (tmp_path / "s0tc2d-MutateProject/rename.json").read_bytes()
    assert names(tmp_path) == ["s0tc2d-MutateProject/rename.json"]
    assert (tmp_path / "s0tc2d-MutateProject/rename.json").read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="file modes are POSIX")
def test_a_fixture_is_its_owners_alone(tmp_path: Path) -> None:
    path = written(Folder(tmp_path), rename("a"))
    assert path is not None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_looks_personal_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def leaky(text: str) -> list[str]:
        return ["e-mail"]

    monkeypatch.setattr("nlm_cdp.capture.fixture.hits", leaky)
    with pytest.raises(LooksPersonal):
        written(Folder(tmp_path), rename("a"))
    assert names(tmp_path) == []


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(Folder(tmp_path), rename("a"))
    assert path is not None
    before = path.read_bytes()

    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fdopen", full)
    with pytest.raises(OSError, match="No space"):
        written(Folder(tmp_path), rename("bb"))
    assert path.read_bytes() == before
    assert names(tmp_path) == ["s0tc2d-MutateProject/rename.json"]
