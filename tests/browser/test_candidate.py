"""What a user-data folder says, whatever its files hold."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from nlm_cdp.browser.candidate import MEANING, ActivePort, Candidate, State, is_open, read_folder


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9222\n/devtools/browser/a-b", (9222, "/devtools/browser/a-b")),
        ("9222\n/devtools/browser/a-b\n", (9222, "/devtools/browser/a-b")),
        ("9222\r\n/devtools/browser/a-b\r\n", (9222, "/devtools/browser/a-b")),
        ("65535\n/", (65535, "/")),
        ("", None),
        ("9222", None),
        ("9222\n", None),
        ("0\n/devtools/browser", None),
        ("65536\n/devtools/browser", None),
        ("-1\n/devtools/browser", None),
        ("٣\n/devtools/browser", None),
        ("9222\ndevtools/browser", None),
        ("9222\n/devtools browser", None),
        ("9222\n//x\n/y", None),
        ("ws://evil\n/devtools/browser", None),
    ],
)
def test_the_two_lines_of_a_port_file(text: str, expected: tuple[int, str] | None) -> None:
    assert ActivePort.parse(text) == expected


@pytest.mark.parametrize(
    "local_state",
    [
        b"",
        b'{"devtools": {"remote_',
        b"[]",
        b"null",
        b'{"devtools": []}',
        b"\xff",
        b'{"devtools": {"remote_debugging": {"user-enabled": "yes"}}}',
    ],
)
def test_a_local_state_that_does_not_say_yes_is_a_no(tmp_path: Path, local_state: bytes) -> None:
    (tmp_path / "Local State").write_bytes(local_state)
    assert read_folder("Chrome", tmp_path).state is State.DEBUGGING_OFF


def test_a_folder_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert read_folder("Chrome", tmp_path).state is State.UNREADABLE


def test_every_state_has_a_meaning() -> None:
    assert set(MEANING) == set(State)
    for state in State:
        candidate = Candidate("Chrome {x}", None, state)
        assert candidate.finding.startswith("Chrome {x}: ")
        assert state.listening or candidate.hint
        assert "{browser}" not in candidate.hint


posix = pytest.mark.skipif(sys.platform == "win32", reason="the lock is another there")


@posix
@pytest.mark.parametrize(
    ("lock", "found"),
    [
        (f"{socket.gethostname()}-{os.getpid()}", True),
        (f"{socket.gethostname()}-1", True),
        (f"{socket.gethostname()}-999999999", False),
        (f"{socket.gethostname()}-{10**30}", False),
        ("another-host-999999999", True),
        (f"{socket.gethostname()}-x", True),
        ("nonsense", True),
    ],
)
def test_a_lock_tells_whether_a_browser_has_the_folder_open(tmp_path: Path, lock: str, found: bool) -> None:
    assert not is_open(tmp_path)
    (tmp_path / "SingletonLock").symlink_to(lock)
    assert is_open(tmp_path) is found


@posix
def test_the_lock_of_a_flatpak_names_a_process_that_only_it_knows(tmp_path: Path) -> None:
    folder = tmp_path / ".var/app/com.google.Chrome/config/google-chrome"
    folder.mkdir(parents=True)
    (folder / "SingletonLock").symlink_to(f"{socket.gethostname()}-999999999")
    assert is_open(folder)


def test_the_lock_of_windows_is_a_file_that_goes_with_its_holder(tmp_path: Path) -> None:
    (tmp_path / "lockfile").touch()
    assert is_open(tmp_path)
