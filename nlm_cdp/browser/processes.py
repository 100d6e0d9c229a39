"""Another process of this computer: what it was started with, and how it is asked to close. Each system has its way."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nlm_cdp.browser.machine import Machine

Run = Callable[[list[str]], str]

TOOL_DEADLINE_S = 20
COMMAND_LINE = (
    "[Console]::OutputEncoding = [Text.Encoding]::UTF8;"
    " (Get-CimInstance Win32_Process -Filter 'ProcessId={pid}').CommandLine"
)


def output_of(command: list[str]) -> str:
    """What a tool of the system prints; nothing where it fails or is missing."""
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=TOOL_DEADLINE_S)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def command_line(machine: Machine, pid: int, run: Run = output_of) -> str:
    """The words a process was started with, in one text; empty for one that has ended."""
    match machine.platform:
        case "linux":
            try:  # empty for a zombie, too
                return ((machine.root or Path("/")) / f"proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
            except OSError:
                return ""
        case "win32":
            return run(["powershell", "-NoProfile", "-NonInteractive", "-Command", COMMAND_LINE.format(pid=pid)])
    return run(["ps", "-ww", "-o", "args=", "-p", str(pid)])


def was_given(machine: Machine, pid: int, argument: str, run: Run = output_of) -> bool:
    """Whether a process is alive and was started with an argument."""
    _, found, after = command_line(machine, pid, run).partition(argument)
    return bool(found) and after[:1] in ("", "\0", " ", '"', "\r", "\n")


def ask_to_close(machine: Machine, pid: int, run: Run = output_of) -> None:
    """Ask; never force. A process that is gone is no error."""
    if machine.platform == "win32":
        run(["taskkill", "/PID", str(pid)])
        return
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        return
