"""One holder at a time, within a process and between them; a holder that dies lets go."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from nlm_cdp.local.filelock import locked

HOLDER = "import sys, pathlib; from nlm_cdp.local.filelock import locked\nwith locked(pathlib.Path(sys.argv[1])): print(1, flush=True); sys.stdin.read()"


def test_a_lock_that_is_held_is_not_given_again(tmp_path: Path) -> None:
    path = tmp_path / "folder/it.lock"
    with locked(path) as first, locked(path, wait=False) as second:
        assert first
        assert not second
    with locked(path, wait=False) as third:
        assert third
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 or sys.platform == "win32"


def test_a_holder_that_is_killed_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "it.lock"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == b"1"
        with locked(path, wait=False) as mine:
            assert not mine
        process.kill()
    with locked(path, wait=False) as mine:
        assert mine


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_in_the_place_of_a_lock_is_refused(tmp_path: Path) -> None:
    (tmp_path / "it.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=r"it\.lock"), locked(tmp_path / "it.lock"):
        pass
    assert not (tmp_path / "elsewhere").exists()
