"""A place where a browser might listen: what its user-data folder says, and what each finding means to the user.

Two files are read and nothing else: DevToolsActivePort (a port and a path), and one boolean of Local State; whether a
browser has the folder open is what its lock says.
"""

from __future__ import annotations

import json
import os
import re
import socket
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path


class Mode(StrEnum):
    """How an endpoint treats a client."""

    CLASSIC = "classic"
    """A debugging port opened by a command-line flag: it asks nobody."""
    APPROVAL = "approval"
    """Chrome asks its user, once for each websocket."""
    EXPLICIT = "explicit"
    """A websocket address as it was given: what it is shows when it is opened."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A browser's websocket; `browser` is empty and `profile` None where only an address is known."""

    url: str
    mode: Mode
    browser: str = ""
    profile: Path | None = None


class State(StrEnum):
    """What was found at a place; the earlier ones tell more of what the user wants."""

    CLASSIC = "classic"
    APPROVAL = "approval"
    RESTART_NEEDED = "restart_needed"
    NOT_RUNNING = "not_running"
    OWN_STOPPED = "own_stopped"
    SILENT = "silent"
    STALE_PORT_FILE = "stale_port_file"
    DEBUGGING_OFF = "debugging_off"
    POLICY_BLOCKED = "policy_blocked"
    UNREADABLE = "unreadable"
    NOT_INSTALLED = "not_installed"
    PORT_CLOSED = "port_closed"
    NOT_CHROME = "not_chrome"

    @property
    def listening(self) -> bool:
        return self in (State.CLASSIC, State.APPROVAL)


ALLOW = "Open chrome://inspect/#remote-debugging in {browser}, allow remote debugging, then try again."
MEANING = {
    State.CLASSIC: ("listens on a debugging port", ""),
    State.APPROVAL: ("listens, and asks its user at each connection", ""),
    State.RESTART_NEEDED: (
        "remote debugging is allowed, but nothing listens",
        "Quit {browser} completely and start it again.",
    ),
    State.NOT_RUNNING: ("remote debugging is allowed, but it is not running", "Start {browser}, then try again."),
    State.OWN_STOPPED: ("it is not running", "Run `nlm-cdp browser` to start it, then try again."),
    State.SILENT: ("its port accepts connections and answers nothing", "Restart the browser, then try again."),
    State.STALE_PORT_FILE: ("not listening; its DevToolsActivePort file is left over", "Start {browser}. " + ALLOW),
    State.DEBUGGING_OFF: ("remote debugging is off", ALLOW),
    State.POLICY_BLOCKED: (
        "an administrator's policy forbids remote debugging",
        "Use another browser, or ask whoever administers this computer to set RemoteDebuggingAllowed.",
    ),
    State.UNREADABLE: ("its user-data folder cannot be read", "Let this program read the folder, or use --endpoint."),
    State.NOT_INSTALLED: ("no such folder", "Start {browser}, or name another endpoint with --endpoint."),
    State.PORT_CLOSED: ("nothing listens", "Start a browser with this debugging port, or use --endpoint auto."),
    State.NOT_CHROME: ("something else than a browser answers", "Name another endpoint with --endpoint."),
}
"""What each state says of a browser, and what its user can do."""


class ActivePort(NamedTuple):
    """The two lines of a DevToolsActivePort file."""

    port: int
    path: str

    @classmethod
    def parse(cls, text: str) -> ActivePort | None:
        """None for a file that is half written or holds something else."""
        match = re.fullmatch(r"([0-9]{1,5})\r?\n(/[!-~]*)\s*", text)
        if match is None or not 0 < int(match[1]) < 65536:
            return None
        return cls(int(match[1]), match[2])


@dataclass(frozen=True, slots=True)
class Candidate:
    """One place where a browser might listen; without a folder it is a bare port of this computer.

    `own`: the user started it by `nlm-cdp browser`. `detail`: where what its state says was found.
    """

    browser: str
    folder: Path | None
    state: State
    active: ActivePort | None = None
    headless: bool = False
    endpoint: Endpoint | None = None
    own: bool = False
    detail: str = ""

    @property
    def installed(self) -> bool:
        return self.folder is not None and self.state is not State.NOT_INSTALLED

    @property
    def told(self) -> str:
        """What its state says of it."""
        where = f" ({self.detail})" if self.detail and not self.state.listening else ""
        if self.own and self.state.listening:
            where = "; used before any other, because you started it by `nlm-cdp browser`"
        return f"{MEANING[self.state][0]}{where}"

    @property
    def finding(self) -> str:
        return f"{self.browser}: {self.told}"

    @property
    def hint(self) -> str:
        return MEANING[self.state][1].format(browser=self.browser)

    @property
    def line(self) -> dict[str, str]:
        """What a report or an error's details say of it."""
        return {"browser": self.browser, "path": str(self.folder or ""), "state": str(self.state)}


def read_folder(browser: str, folder: Path) -> Candidate:
    """What a user-data folder says; the state is the one that holds if nothing turns out to listen."""
    try:
        if not folder.is_dir():
            return Candidate(browser, folder, State.NOT_INSTALLED)
        allowed = allows_debugging(folder)
        try:
            text = (folder / "DevToolsActivePort").read_bytes().decode("ascii", "replace")
        except FileNotFoundError:
            text = ""
            state = State.DEBUGGING_OFF
        else:
            state = State.STALE_PORT_FILE
        if allowed:
            state = State.RESTART_NEEDED if is_open(folder) else State.NOT_RUNNING
    except OSError:
        return Candidate(browser, folder, State.UNREADABLE)
    return Candidate(browser, folder, state, ActivePort.parse(text))


def allows_debugging(folder: Path) -> bool:
    """Whether chrome://inspect/#remote-debugging is ticked, as far as Local State tells."""
    try:
        state = json.loads((folder / "Local State").read_bytes())
        return state["devtools"]["remote_debugging"]["user-enabled"] is True
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return False


def is_open(folder: Path) -> bool:
    """Whether a browser has the folder open, as far as its lock tells; a lock that cannot be judged counts."""
    pid = holder(folder)
    if pid is None:
        return os.path.lexists(folder / "SingletonLock") or (folder / "lockfile").exists()
    return ".var" in folder.parts or is_alive(pid)  # a flatpak counts its processes by itself


def holder(folder: Path) -> int | None:
    """The process of this computer that a folder's lock names; Windows' lock, `lockfile`, names none."""
    try:
        host, _, pid = str((folder / "SingletonLock").readlink()).rpartition("-")
    except OSError:
        return None
    return int(pid) if host == socket.gethostname() and pid.isdecimal() else None


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it is another user's
        return True
    return True
