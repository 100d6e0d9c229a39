"""What is asked of another process, on computers of every kind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nlm_cdp.browser.machine import Machine
from nlm_cdp.browser.processes import ask_to_close, command_line, output_of, was_given

PROFILE = "/Users/a b/Library/Application Support/nlm-cdp/browser"
FLAG = f"--user-data-dir={PROFILE}"


class Tool:
    """A tool of the system that prints one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.commands: list[list[str]] = []

    def __call__(self, command: list[str]) -> str:
        self.commands.append(command)
        return self.text


def test_linux_reads_proc(tmp_path: Path) -> None:
    machine = Machine("linux", {}, None, tmp_path)
    folder = tmp_path / "proc/77"
    folder.mkdir(parents=True)
    (folder / "cmdline").write_bytes(f"/opt/chrome\0{FLAG}\0--x\0".encode())
    assert was_given(machine, 77, FLAG)
    assert not was_given(machine, 77, FLAG.removesuffix("r"))
    assert not was_given(machine, 78, FLAG)
    (folder / "cmdline").write_bytes(b"")
    assert not was_given(machine, 77, FLAG)


def test_macos_asks_ps() -> None:
    tool = Tool(f"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome {FLAG} --no-first-run\n")
    machine = Machine("darwin", {}, None)
    assert was_given(machine, 77, FLAG, tool)
    assert not was_given(machine, 77, FLAG.removesuffix("/browser"), tool)
    assert tool.commands[0] == ["ps", "-ww", "-o", "args=", "-p", "77"]
    assert not was_given(machine, 77, FLAG, Tool(""))


def test_windows_asks_powershell_without_a_prompt() -> None:
    tool = Tool(
        rf'"C:\Program Files\Google\Chrome\Application\chrome.exe" "--user-data-dir=C:\Users\Zoë\b" --x{chr(13)}'
    )
    machine = Machine("win32", {}, None)
    assert was_given(machine, 77, r"--user-data-dir=C:\Users\Zoë\b", tool)
    assert not was_given(machine, 77, r"--user-data-dir=C:\Users\Zoë", tool)
    assert tool.commands[0][:3] == ["powershell", "-NoProfile", "-NonInteractive"]
    assert "ProcessId=77" in tool.commands[0][-1]


def test_windows_asks_to_close_and_never_forces() -> None:
    tool = Tool("")
    ask_to_close(Machine("win32", {}, None), 77, tool)
    assert tool.commands == [["taskkill", "/PID", "77"]]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_posix_sends_a_term_and_a_process_that_is_gone_is_no_error() -> None:
    sleeper = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(sleeper) as process:
        ask_to_close(Machine.here(), process.pid)
        assert process.wait() == -15
    ask_to_close(Machine.here(), 2**22 + 1)


def test_this_process_is_found() -> None:
    assert sys.executable.rpartition(os.sep)[2].split(".")[0] in command_line(Machine.here(), os.getpid())
    assert output_of(["no-such-tool-here"]) == ""
    assert output_of([sys.executable, "-c", "raise SystemExit(1)"]) == ""
