"""The file in the making: made alone, published whole, discarded without a trace, on file systems of every kind."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import sys
from pathlib import Path

import pytest

from nlm_cdp.browser import partfile
from nlm_cdp.browser.partfile import PartFile, refuse_existing
from nlm_cdp.errors import FileRefused

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes and links")


@pytest.fixture
def destination(tmp_path: Path) -> Path:
    return tmp_path / "out.bin"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_nothing_has_the_name_before_it_is_complete(destination: Path) -> None:
    part = PartFile(destination)
    part.write(b"one ")
    part.write(b"two")
    assert not destination.exists()
    (beside,) = names(destination.parent)
    assert beside.endswith(".part")
    part.publish(overwrite=False)
    part.discard()
    assert names(destination.parent) == ["out.bin"]
    assert destination.read_bytes() == b"one two"
    assert (part.size, part.head, part.hash.digest()) == (7, b"one two", hashlib.sha256(b"one two").digest())


def test_the_head_is_kept_and_no_more(destination: Path) -> None:
    part = PartFile(destination)
    for piece in (b"a" * 40_000, b"b" * 40_000, b"c" * 40_000):
        part.write(piece)
    assert part.head == b"a" * 40_000 + b"b" * 25_536
    part.discard()
    assert names(destination.parent) == []


@posix
def test_it_is_the_owners_alone_whatever_the_umask(destination: Path) -> None:
    before = os.umask(0)
    try:
        part = PartFile(destination)
        assert stat.S_IMODE(part.path.stat().st_mode) == 0o600
        part.publish(overwrite=False)
    finally:
        os.umask(before)
    assert stat.S_IMODE(destination.stat().st_mode) == 0o600


def test_an_existing_name_needs_overwrite(destination: Path) -> None:
    destination.write_bytes(b"mine")
    part = PartFile(destination)
    part.write(b"new")
    with pytest.raises(FileRefused, match="exists already"):
        part.publish(overwrite=False)
    part.discard()
    assert (names(destination.parent), destination.read_bytes()) == (["out.bin"], b"mine")
    with pytest.raises(FileRefused):
        refuse_existing(destination)
    again = PartFile(destination)
    again.write(b"new")
    again.publish(overwrite=True)
    assert destination.read_bytes() == b"new"
    refuse_existing(destination.parent / "another")


@posix
def test_a_link_is_a_name_that_is_taken(destination: Path) -> None:
    victim = destination.parent / "victim"
    destination.symlink_to(victim)
    with pytest.raises(FileRefused):
        refuse_existing(destination)
    part = PartFile(destination)
    with pytest.raises(FileRefused):
        part.publish(overwrite=False)
    part.discard()
    assert not victim.exists()


@posix
@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOTSUP])
@pytest.mark.parametrize("taken", [False, True])
def test_file_systems_without_links(
    number: int, taken: bool, destination: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    part = PartFile(destination)
    part.write(b"new")
    if taken:
        destination.write_bytes(b"mine")
        with pytest.raises(FileRefused, match="exists already"):
            part.publish(overwrite=False)
    else:
        part.publish(overwrite=False)
    part.discard()
    assert names(destination.parent) == ["out.bin"]
    assert destination.read_bytes() == (b"mine" if taken else b"new")


def test_windows_is_asked_again_while_another_program_has_the_file(
    destination: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[Path] = []
    rename = Path.rename

    def busy(self: Path, to: Path) -> Path:
        tries.append(self)
        if len(tries) < 3:
            raise PermissionError(errno.EACCES, "in use")
        return rename(self, to)

    monkeypatch.setattr(partfile, "WINDOWS", True)
    monkeypatch.setattr(partfile, "PAUSES_S", (0.0, 0.0, 0.0))
    monkeypatch.setattr(Path, "rename", busy)
    part = PartFile(destination)
    part.write(b"new")
    part.publish(overwrite=False)
    assert len(tries) == 3
    assert destination.read_bytes() == b"new"


@pytest.mark.parametrize("windows", [True, False])
def test_a_permission_that_is_never_given(windows: bool, destination: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[Path] = []

    def refuse(self: Path, _: Path) -> None:
        tries.append(self)
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(partfile, "WINDOWS", windows)
    monkeypatch.setattr(partfile, "PAUSES_S", (0.0, 0.0))
    monkeypatch.setattr(Path, "replace", refuse)
    part = PartFile(destination)
    with pytest.raises(FileRefused, match=r"out\.bin cannot be written: Permission denied"):
        part.publish(overwrite=True)
    assert len(tries) == (3 if windows else 1)
    part.discard()
    assert names(destination.parent) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told_and_leaves_nothing(destination: Path) -> None:
    part = PartFile(destination)
    part.file.close()
    part.file = Path("/dev/full").open("w+b")  # noqa: SIM115 - it is the part file's to close
    with pytest.raises(FileRefused, match="No space left"):
        part.write(bytes(1_000_000))
    part.discard()
    assert names(destination.parent) == []


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(FileRefused, match="cannot be written") as caught:
        PartFile(tmp_path / "file" / "out")
    assert caught.value.details == {"path": str(tmp_path / "file" / "out")}
