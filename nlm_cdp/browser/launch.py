"""Start an installed browser that outlives this process, with a profile folder and a debugging port of its own.

The port is a free one that is chosen here: for `--remote-debugging-port=0` Chrome tells every page that it is automated
(`navigator.webdriver`), and Google's sign-in may then refuse the user.
"""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import trio

from nlm_cdp.browser.candidate import State
from nlm_cdp.browser.channels import programs
from nlm_cdp.browser.policy import forbidding
from nlm_cdp.browser.port import LOOPBACK, ask
from nlm_cdp.errors import ChromeLost, ChromeNotFound, ChromePolicyBlocked, FileRefused, NlmError
from nlm_cdp.wire.page import APP_HOSTS

if TYPE_CHECKING:
    from nlm_cdp.browser.machine import Machine

FLAGS_VARIABLE = "NLM_CDP_BROWSER_FLAGS"
"""More flags for the browser, as a shell would write them: for tests alone."""
START_S, ANSWER_S, PAUSE_S = 30.0, 2.0, 0.05


@dataclass(frozen=True, slots=True)
class Launched:
    """A browser that runs: its process, its port, and the path of its debugging socket."""

    pid: int
    port: int
    path: str
    profile: str
    program: str

    @property
    def argument(self) -> str:
        """What its command line shows of its profile."""
        return f"--user-data-dir={self.profile}"


async def launch(machine: Machine, *, headless: bool) -> Launched:
    """Start the first browser that may be, and wait until it answers; on failure nothing is left running."""
    program = chosen(machine)
    profile = profile_of(machine, program)
    profile.mkdir(parents=True, exist_ok=True, mode=0o700)
    port = free_port()
    flags = [f"--user-data-dir={profile}", f"--remote-debugging-port={port}", "--no-first-run"]
    flags += ["--no-default-browser-check", *(["--headless=new"] if headless else [])]
    if sys.platform == "linux" and os.geteuid() == 0:
        flags.append("--no-sandbox")  # the sandbox refuses to run as root
    flags += shlex.split(machine.environ.get(FLAGS_VARIABLE, ""))
    with tempfile.TemporaryFile() as said:
        process = spawn([str(program), *flags, f"https://{APP_HOSTS[0]}/"], profile, said)
        try:
            path = await path_of(process, port)
            if path is None:
                raise not_started(process, program, profile, said)  # noqa: TRY301
        except BaseException:  # what is not on record could not be found again
            process.terminate()
            process.wait()
            raise
    process.returncode = 0  # it is to outlive us: nobody waits for it
    return Launched(process.pid, port, path, str(profile), str(program))


def chosen(machine: Machine) -> Path:
    """The first browser installed here that no policy forbids."""
    blocked = ""
    for browser, program in programs(machine):
        where = forbidding(machine, browser)
        if not where:
            return program
        blocked = f"{browser}: an administrator's policy forbids remote debugging ({where})."
    if blocked:
        raise ChromePolicyBlocked(blocked, state=State.POLICY_BLOCKED)
    raise ChromeNotFound(
        "No Chrome or Chromium is installed here.",
        hint="Install one, or set NLM_CDP_CHROME to its program.",
        state="no_browser",
    )


def profile_of(machine: Machine, program: Path) -> Path:
    """Our data folder's, but for a snap, which sees no hidden folder of its user's."""
    if program.parent == Path("/snap/bin") and machine.home is not None:
        return machine.home / "snap" / program.name / "common/nlm-cdp-browser"
    return data_of(machine) / "browser"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
        return number


def spawn(command: list[str], folder: Path, said: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a process that outlives this one and has no part of its terminal."""
    own_group: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        own_group = {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    quiet = subprocess.DEVNULL
    try:
        return subprocess.Popen(command, cwd=folder, stdin=quiet, stdout=quiet, stderr=said, **own_group)  # noqa: S603
    except OSError as exc:
        raise ChromeNotFound(f"{command[0]} cannot be run: {exc.strerror}.", state="not_runnable") from exc


async def path_of(process: subprocess.Popen[bytes], port: int) -> str | None:
    """The path of the debugging socket, once the browser answers; None where it ended or did not in time."""
    with trio.move_on_after(START_S):
        while process.poll() is None:
            reply = await ask(LOOPBACK, port, ANSWER_S)
            if reply.state is State.CLASSIC:
                return reply.path
            await trio.sleep(PAUSE_S)
    return None


def not_started(process: subprocess.Popen[bytes], program: Path, profile: Path, said: IO[bytes]) -> NlmError:
    """Why the browser is not there."""
    code = process.poll()
    if code == 0:  # it passed its address on to the one that is open
        return ChromeNotFound(
            f"A browser has {profile} open already, with no debugging port that is known here.",
            hint="Close that browser's windows, then run `nlm-cdp browser` again.",
            state="profile_in_use",
        )
    said.seek(0)
    lines = said.read(65536).decode("utf-8", "replace").splitlines()[-10:]
    what = "does not get ready" if code is None else f"ended with exit code {code} instead of getting ready"
    return ChromeLost(
        "\n".join([f"{program} {what}.", *lines]),
        hint="Start the browser by hand to see why, or set NLM_CDP_CHROME to the program of another one.",
        state="not_started",
    )


def data_of(machine: Machine) -> Path:
    if machine.data is None:
        hint = "Set NLM_CDP_DATA_DIR to the absolute path of a folder of yours."
        raise FileRefused("There is no folder to keep the browser's profile in.", hint=hint, state="no_folder")
    return machine.data
