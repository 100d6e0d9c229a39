"""A throwaway Chromium: a browser of our own, with a profile that is made for it and gone with it.

It runs in a folder of its own and, on POSIX, in a process group of its own; leaving the context ends the whole group
and removes the folder, also after a cancellation. If this program itself is killed outright (SIGKILL, a power cut),
nobody is left to do that: the browser goes on until it is ended by hand, and its folder stays in the temporary folder.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trio

from nlm_cdp.browser.candidate import ActivePort
from nlm_cdp.browser.channels import find_executable
from nlm_cdp.errors import ChromeLost, ChromeNotFound, NlmError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

START_DEADLINE_S = 30
EXIT_DEADLINE_S = 5
CLEANUP_DEADLINE_S = 15

FLAGS = (
    "--remote-debugging-port=0",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
)


@dataclass(frozen=True, slots=True)
class ThrowawayChrome:
    """A running browser: its websocket, its user-data folder, its process."""

    endpoint: str
    profile: Path
    process: trio.Process


@asynccontextmanager
async def throwaway_chrome(
    flags: Sequence[str], *, headless: bool = True, executable: Path | None = None
) -> AsyncIterator[ThrowawayChrome]:
    """Run a Chromium with these flags as well, until the context is left."""
    program = executable or find_executable()
    if program is None:
        raise ChromeNotFound(
            "No Chrome or Chromium is installed here.",
            hint="Install one, or set NLM_CDP_CHROME to its program.",
            state="no_browser",
        )
    folder = Path(tempfile.mkdtemp(prefix="nlm-cdp-", dir=temporary_parent(program)))
    try:
        process = await start(program, folder, flags, headless=headless)
        try:
            yield ThrowawayChrome(await wait_for_endpoint(process, folder), folder / "profile", process)
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + CLEANUP_DEADLINE_S):
                await end(process)
    finally:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + CLEANUP_DEADLINE_S):
            await remove(folder)


def temporary_parent(program: Path) -> Path | None:
    """Where this browser can see its temporary folder: a snap has a /tmp of its own."""
    if program.parent == Path("/snap/bin"):
        parent = Path.home() / "snap" / program.name / "common"
        parent.mkdir(parents=True, exist_ok=True)
        return parent
    return None


async def start(program: Path, folder: Path, flags: Sequence[str], *, headless: bool) -> trio.Process:
    options = [f"--user-data-dir={folder / 'profile'}", *FLAGS]
    if headless:
        options.append("--headless=new")
    if sys.platform == "linux" and os.geteuid() == 0:
        options.append("--no-sandbox")  # the sandbox refuses to run as root
    environ = dict(os.environ)
    # Chrome leaves its lock's socket in TMPDIR when it is ended early; the socket's path may have 107 bytes.
    if sys.platform == "linux" and len(os.fsencode(folder)) < 60:
        environ["TMPDIR"] = str(folder)
    # A Ctrl-C in our terminal is ours to handle, and one signal must reach every child.
    own_group: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        own_group = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    with (folder / "stderr").open("wb") as stderr:
        try:
            return await trio.lowlevel.open_process(
                [program, *options, *flags, "about:blank"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                env=environ,
                **own_group,
            )
        except OSError as error:
            raise ChromeNotFound(f"{program} cannot be run: {error.strerror}.", state="not_runnable") from error


async def wait_for_endpoint(process: trio.Process, folder: Path) -> str:
    """The websocket that the browser announces in its user-data folder."""
    with trio.move_on_after(START_DEADLINE_S):
        while process.poll() is None:
            if (active := read_active_port(folder)) is not None:
                return f"ws://127.0.0.1:{active.port}{active.path}"
            await trio.sleep(0.02)
    code = process.returncode
    what = "does not get ready" if code is None else f"ended with exit code {code} instead of getting ready"
    lines = (folder / "stderr").read_text("utf-8", "replace").splitlines()[-5:]
    raise ChromeLost(
        "\n".join([f"The throwaway Chromium {what}.", *lines]),
        hint="Start the browser by hand to see why, or set NLM_CDP_CHROME to the program of another one.",
        state="not_started",
    )


def read_active_port(folder: Path) -> ActivePort | None:
    try:
        text = (folder / "profile" / "DevToolsActivePort").read_text("ascii")
    except (FileNotFoundError, PermissionError):  # Windows refuses a file that is open for writing
        return None
    return ActivePort.parse(text)


async def end(process: trio.Process) -> None:
    """End the browser and everything it started."""
    if sys.platform == "win32":
        # Windows has no group to signal: taskkill walks the tree, which needs its root alive.
        if process.poll() is None:
            await trio.run_process(
                ["taskkill", "/F", "/T", "/PID", str(process.pid)],
                capture_stdout=True,
                capture_stderr=True,
                check=False,
            )
        await process.wait()
        return
    signal_group(process.pid, signal.SIGTERM)
    with trio.move_on_after(EXIT_DEADLINE_S):
        await process.wait()
    # The browser waits for no child of its own: what is left of its group ends here.
    signal_group(process.pid, signal.SIGKILL)
    await process.wait()


def signal_group(group: int, number: int) -> None:
    if sys.platform != "win32":
        try:
            os.killpg(group, number)
        except (ProcessLookupError, PermissionError):  # macOS says the latter of a group of zombies
            return


async def remove(folder: Path) -> None:
    """Remove the folder, which dying processes may still hold open (Windows) or write to."""
    for pause_s in (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2):
        if await trio.to_thread.run_sync(removed, folder):
            return
        await trio.sleep(pause_s)
    message = "The throwaway Chromium is gone, but its folder could not be removed."
    raise NlmError(message, details={"path": str(folder)})


def removed(folder: Path) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()
