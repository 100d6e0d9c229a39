"""A screen that nobody looks at, and on it a Chromium in approval mode, whose dialog the tests answer by keyboard.

The dialog "Allow remote debugging?" is drawn inside the browser's window and is no X window of its own, so whether it
shows is read off the screen: the page below is pure green, and what covers its middle is the dialog. Cancel has the
focus when it opens, Tab leads to Allow. A newer dialog covers an older one, which shows again once that is answered.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import trio

from nlm_cdp.browser.discovery import find_executable
from nlm_cdp.sim.chrome import FLAGS, ThrowawayChrome, end, remove, temporary_parent, wait_for_endpoint
from nlm_cdp.sim.simulator import Simulator, simulator

WIDTH, HEIGHT = 1000, 800
DEADLINE_S = 20
POLL_S = 0.02
SETTLED_S = 0.5
"""Some ten times what Chrome takes from the request to the dialog."""

APPROVAL = {"devtools": {"remote_debugging": {"user-enabled": True}}}
"""What `Local State` holds once chrome://inspect/#remote-debugging is ticked."""
GREEN_PAGE = "data:text/html,<title>Lawn</title><body style='background:lime'>"
DIALOG = (WIDTH // 2, 225)
"""A point that the dialog covers, with and without an information bar above the page."""
TAB_STRIP = slice(0, 40)

missing = [program for program in ("Xvfb", "openbox", "xdotool") if shutil.which(program) is None]
missing += ["Chromium"] if find_executable() is None else []
needs_screen = pytest.mark.skipif(bool(missing), reason=f"Chrome's real dialog takes {', '.join(missing)}")
on_screen = [pytest.mark.browser, pytest.mark.realtime, needs_screen]


async def comes(true: Callable[[], bool], within: float) -> bool:
    """Whether something comes true in time that only looking can tell."""
    with trio.move_on_after(within):
        while not true():  # noqa: ASYNC110 -- no event tells
            await trio.sleep(POLL_S)
        return True
    return False


async def until(true: Callable[[], bool], what: str, within: float = DEADLINE_S) -> None:
    assert await comes(true, within), f"not within {within:g} s: {what}"


# The screen


@dataclass(frozen=True, slots=True)
class Screen:
    """A virtual display, and the file that holds its pixels."""

    name: str
    frame: Path

    @property
    def environ(self) -> dict[str, str]:
        environ = {**os.environ, "DISPLAY": self.name}
        environ.pop("WAYLAND_DISPLAY", None)
        return environ

    def rows(self, which: slice) -> list[bytes]:
        """Rows of pixels, four bytes each: blue, green, red, nothing."""
        data = self.frame.read_bytes()
        header = struct.unpack(">25I", data[:100])  # X Window Dump, version 7
        start, stride = header[0] + 12 * header[19], header[12]
        return [data[start + y * stride : start + y * stride + 4 * WIDTH] for y in range(HEIGHT)[which]]

    def colour(self, x: int, y: int) -> tuple[int, int, int]:
        blue, green, red = self.rows(slice(y, y + 1))[0][4 * x : 4 * x + 3]
        return red, green, blue

    async def keys(self, *keys: str) -> None:
        await trio.run_process(["xdotool", "key", *keys], env=self.environ)

    async def active_window(self) -> str:
        """The title of the window that has the keyboard; empty where none has."""
        found = await trio.run_process(
            ["xdotool", "getactivewindow", "getwindowname"],
            env=self.environ,
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
        return found.stdout.decode().strip()


@asynccontextmanager
async def virtual_screen() -> AsyncIterator[Screen]:
    """A display under a free number, with a window manager, which is what gives windows the keyboard."""
    with tempfile.TemporaryDirectory(prefix="nlm-cdp-screen-") as folder:
        reader, writer = os.pipe()
        try:
            server = ["Xvfb", "-displayfd", str(writer), "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-fbdir", folder]
            xvfb = await quietly([*server, "-nolisten", "tcp", "-noreset"], dict(os.environ), pass_fds=[writer])
        except BaseException:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        try:
            screen = Screen(f":{await announced(reader)}", Path(folder) / "Xvfb_screen0")
            openbox = await quietly(["openbox", "--sm-disable"], screen.environ)
            try:
                yield screen
            finally:
                await ended(openbox)
        finally:
            await ended(xvfb)


async def announced(reader: int) -> str:
    """The number of the display, which the server tells once it is ready."""
    number = b""
    try:
        with trio.fail_after(DEADLINE_S):
            while not number.endswith(b"\n"):  # a pipe closed earlier ends the server
                await trio.lowlevel.wait_readable(reader)
                got = os.read(reader, 16)
                assert got, "Xvfb does not start"
                number += got
    finally:
        os.close(reader)
    return number.decode().strip()


async def quietly(
    command: list[str], environ: dict[str, str], *, pass_fds: Sequence[int] = (), stderr: int = subprocess.DEVNULL
) -> trio.Process:
    return await trio.lowlevel.open_process(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        env=environ,
        pass_fds=pass_fds,
        start_new_session=True,
    )


async def ended(process: trio.Process) -> None:
    with trio.CancelScope(shield=True):
        await end(process)


# The browser


@dataclass(frozen=True, slots=True)
class AskingChrome(ThrowawayChrome):
    """A browser with a window, in which it asks before it lets anyone in."""

    screen: Screen

    @property
    def asks(self) -> bool:
        """Whether a dialog shows."""
        red, _, blue = self.screen.colour(*DIALOG)
        return (red, blue) != (0, 0)  # a dialog dims the green around it, and lets none through

    def tab_strip(self) -> list[bytes]:
        return self.screen.rows(TAB_STRIP)

    async def settled_tab_strip(self) -> list[bytes]:
        """The tab strip once nothing in it moves any more."""
        strip: list[bytes] = []
        with trio.fail_after(DEADLINE_S):
            while strip != (strip := self.tab_strip()):  # noqa: ASYNC110 -- no event tells
                await trio.sleep(SETTLED_S)
        return strip

    async def asked(self) -> None:
        await until(lambda: self.asks, "Chrome asks")

    async def unasked(self) -> None:
        await until(lambda: not self.asks, "the dialog goes away")

    async def quiet(self) -> bool:
        """Whether the dialog that was just answered goes away, and no other shows: below it, or a moment later."""
        await comes(lambda: not self.asks, SETTLED_S)
        return not await comes(lambda: self.asks, SETTLED_S)

    async def allow(self) -> None:
        """Wait for the dialog and press Allow in the newest."""
        await self.asked()
        await self.screen.keys("Tab", "space")

    async def cancel(self) -> None:
        """Wait for the dialog and press Cancel in the newest."""
        await self.asked()
        await self.screen.keys("space")

    async def turn_off(self) -> None:
        """Wait for the dialog and press "Turn off in settings" in the newest."""
        await self.asked()
        await self.screen.keys("shift+Tab", "space")


@asynccontextmanager
async def asking_chrome(flags: Sequence[str]) -> AsyncIterator[AskingChrome]:
    """A Chromium in approval mode on a screen of its own, ready and showing nothing but a green page."""
    program = find_executable()
    assert program is not None
    async with virtual_screen() as screen:
        folder = Path(tempfile.mkdtemp(prefix="nlm-cdp-", dir=temporary_parent(program)))
        profile = folder / "profile"
        try:
            profile.mkdir()
            (profile / "Local State").write_text(json.dumps(APPROVAL))
            with (folder / "stderr").open("wb") as stderr:
                command = [str(program), *options(profile), *flags, GREEN_PAGE]
                process = await quietly(command, screen.environ, stderr=stderr.fileno())
            try:
                endpoint = await wait_for_endpoint(process, folder)
                chrome = AskingChrome(endpoint, profile, process, screen)
                await until(lambda: screen.colour(*DIALOG) == (0, 255, 0), "the green page shows")
                with trio.fail_after(DEADLINE_S):
                    while not (await screen.active_window()).startswith("Lawn"):  # noqa: ASYNC110 -- no event tells
                        await trio.sleep(POLL_S)
                yield chrome
            finally:
                await ended(process)
        finally:
            with trio.CancelScope(shield=True):
                await remove(folder)


@asynccontextmanager
async def asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Simulator, AskingChrome]]:
    """The same with a simulator that it takes for the real hosts."""
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path / "data"))
    async with simulator() as service, asking_chrome(service.chrome_flags) as chrome:
        yield service, chrome


def options(profile: Path) -> list[str]:
    flags = [flag for flag in FLAGS if not flag.startswith("--remote-debugging-")]  # it would win over approval mode
    flags += [f"--user-data-dir={profile}", "--ozone-platform=x11", "--password-store=basic"]
    flags += ["--window-position=0,0", f"--window-size={WIDTH},{HEIGHT}"]
    return [*flags, "--no-sandbox"] if os.geteuid() == 0 else flags
