"""A place where a browser might listen: what its user-data folder says, and what each finding means to the user.

Two files are read and nothing else: DevToolsActivePort (a port and a path), and one boolean of Local State.
"""

from __future__ import annotations

import json
import re
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
    SILENT = "silent"
    STALE_PORT_FILE = "stale_port_file"
    DEBUGGING_OFF = "debugging_off"
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
        "Start {browser}; if it is open already, quit it completely and start it again.",
    ),
    State.SILENT: ("its port accepts connections and answers nothing", "Restart the browser, then try again."),
    State.STALE_PORT_FILE: ("not listening; its DevToolsActivePort file is left over", "Start {browser}. " + ALLOW),
    State.DEBUGGING_OFF: ("remote debugging is off", ALLOW),
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
    """One place where a browser might listen; without a folder it is a bare port of this computer."""

    browser: str
    folder: Path | None
    state: State
    active: ActivePort | None = None
    headless: bool = False
    endpoint: Endpoint | None = None

    @property
    def installed(self) -> bool:
        return self.folder is not None and self.state is not State.NOT_INSTALLED

    @property
    def finding(self) -> str:
        return f"{self.browser}: {MEANING[self.state][0]}"

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
            return Candidate(browser, folder, State.RESTART_NEEDED if allowed else State.DEBUGGING_OFF)
    except OSError:
        return Candidate(browser, folder, State.UNREADABLE)
    state = State.RESTART_NEEDED if allowed else State.STALE_PORT_FILE
    return Candidate(browser, folder, state, ActivePort.parse(text))


def allows_debugging(folder: Path) -> bool:
    """Whether chrome://inspect/#remote-debugging is ticked, as far as Local State tells."""
    try:
        state = json.loads((folder / "Local State").read_bytes())
        return state["devtools"]["remote_debugging"]["user-enabled"] is True
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return False
