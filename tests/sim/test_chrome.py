"""The throwaway Chromium starts, is reached, and leaves neither a process nor a folder behind."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import trio

from nlm_cdp.browser.channels import find_executable
from nlm_cdp.browser.discovery import Mode, locate
from nlm_cdp.errors import ChromeLost, ChromeNotFound
from nlm_cdp.sim import chrome
from nlm_cdp.sim.chrome import removed, throwaway_chrome

if TYPE_CHECKING:
    from collections.abc import Iterator

NOWHERE = ["--host-resolver-rules=MAP * ~NOTFOUND"]
posix = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in browser is a shell script")


@pytest.fixture
def chromium() -> Path:
    executable = find_executable()
    if executable is None:
        pytest.skip("no Chrome or Chromium is installed")
    return executable


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary folder of its own; pytest's are too long for the sockets that Chrome makes in them."""
    with tempfile.TemporaryDirectory(prefix="t") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


def entries(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def script(folder: Path, text: str) -> Path:
    path = folder / "browser"
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def commands_with(word: str) -> list[str]:
    """The command lines of living processes that hold this word; a zombie has none."""
    commands = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().decode("utf-8", "replace")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        if word in command:
            commands.append(command)
    return commands


async def until_gone(word: str) -> None:
    """A killed process takes a moment to leave, and nobody tells us when."""
    for _ in range(1000):
        if not commands_with(word):
            return
        await trio.sleep(0.01)
    assert commands_with(word) == []


@pytest.mark.browser
@pytest.mark.realtime
async def test_it_runs_is_found_and_leaves_nothing_behind(chromium: Path, temporary: Path) -> None:
    async with throwaway_chrome(NOWHERE, executable=chromium) as browser:
        assert browser.profile.is_relative_to(temporary)
        found = await locate(str(browser.profile))
        assert found.url == browser.endpoint
        assert found.mode is Mode.CLASSIC
        port = browser.endpoint.split("/")[2]
        by_port = await locate(f"http://{port}")
        assert by_port.url == browser.endpoint
        assert by_port.browser.startswith(("Chrome/", "HeadlessChrome/"))
    assert browser.process.returncode is not None
    assert entries(temporary) == []
    if sys.platform == "linux":
        await until_gone(str(browser.profile))
    with pytest.raises(ChromeNotFound) as caught:
        await locate(browser.endpoint)
    assert caught.value.state == "port_closed"


@pytest.mark.browser
@pytest.mark.realtime
async def test_two_run_at_once_and_a_cancellation_ends_both(chromium: Path, temporary: Path) -> None:
    profiles: list[Path] = []

    async def run(task_status: trio.TaskStatus[Path]) -> None:
        async with throwaway_chrome(NOWHERE, executable=chromium) as browser:
            task_status.started(browser.profile)
            await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        profiles += [await nursery.start(run), await nursery.start(run)]
        assert profiles[0] != profiles[1]
        nursery.cancel_scope.cancel()
    assert entries(temporary) == []
    if sys.platform == "linux":
        for profile in profiles:
            await until_gone(str(profile))


@pytest.mark.browser
@pytest.mark.realtime
async def test_the_callers_error_comes_through(chromium: Path, temporary: Path) -> None:
    with pytest.raises(KeyError, match="mine"):
        async with throwaway_chrome(NOWHERE, executable=chromium):
            raise KeyError("mine")
    assert entries(temporary) == []


@posix
@pytest.mark.realtime
async def test_a_browser_that_ends_at_once_is_quoted(tmp_path: Path, temporary: Path) -> None:
    program = script(tmp_path, "for i in 1 2 3 4 5 6 7; do echo line $i >&2; done; exit 21")
    with pytest.raises(ChromeLost) as caught:
        async with throwaway_chrome([], executable=program):
            pytest.fail("it never got ready")
    assert "exit code 21" in caught.value.message
    assert "line 7" in caught.value.message
    assert "line 2" not in caught.value.message
    assert entries(temporary) == []


@posix
@pytest.mark.realtime
async def test_a_browser_that_never_gets_ready_is_ended_with_its_children(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chrome, "START_DEADLINE_S", 0.3)
    monkeypatch.setattr(chrome, "EXIT_DEADLINE_S", 0.1)
    # The shell and its child both ignore SIGTERM, as a hung browser does.
    program = script(tmp_path, f"trap '' TERM; echo asleep >&2\nsh -c 'sleep 1000; : {tmp_path}' & sleep 1000")
    with pytest.raises(ChromeLost, match="does not get ready") as caught:
        async with throwaway_chrome([], executable=program):
            pytest.fail("it never got ready")
    assert "asleep" in caught.value.message
    assert entries(temporary) == []
    if sys.platform == "linux":
        await until_gone(str(tmp_path))


@posix
@pytest.mark.realtime
async def test_the_flags_and_the_port_file(tmp_path: Path, temporary: Path) -> None:
    # It writes the port file as Chrome may: first empty, then whole.
    program = script(
        tmp_path,
        """for flag; do case "$flag" in --user-data-dir=*) profile="${flag#*=}";; esac; done
        mkdir "$profile"; : > "$profile/DevToolsActivePort"; echo "$@" > "$profile/flags"
        printf '45678\\n/devtools/browser/abc' > "$profile/DevToolsActivePort"; exec sleep 1000""",
    )
    async with throwaway_chrome(["--mine"], executable=program, headless=False) as browser:
        assert browser.endpoint == "ws://127.0.0.1:45678/devtools/browser/abc"
        flags = (browser.profile / "flags").read_text().split()
    assert flags[-2:] == ["--mine", "about:blank"]
    assert "--remote-debugging-port=0" in flags
    assert "--disable-quic" in flags
    assert "--headless=new" not in flags
    root = sys.platform == "linux" and os.geteuid() == 0
    assert ("--no-sandbox" in flags) == root


async def test_no_browser_is_a_clear_error(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chrome, "find_executable", lambda: None)
    with pytest.raises(ChromeNotFound, match=r"No Chrome or Chromium is installed") as caught:
        async with throwaway_chrome([]):
            pytest.fail("there is no browser")
    assert "NLM_CDP_CHROME" in caught.value.hint
    assert entries(temporary) == []


@pytest.mark.realtime
async def test_a_program_that_cannot_run_is_a_clear_error(tmp_path: Path, temporary: Path) -> None:
    with pytest.raises(ChromeNotFound, match="cannot be run"):
        async with throwaway_chrome([], executable=tmp_path / "absent"):
            pytest.fail("there is no browser")
    assert entries(temporary) == []


@pytest.mark.realtime
async def test_a_folder_in_use_is_removed_at_a_later_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "busy"
    folder.mkdir()
    tries = []

    def at_the_third(target: Path) -> bool:
        tries.append(target)
        return len(tries) > 2 and removed(target)

    monkeypatch.setattr(chrome, "removed", at_the_third)
    await chrome.remove(folder)
    assert tries == [folder] * 3
    assert not folder.exists()


@posix
def test_a_snap_gets_a_folder_that_it_can_see(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert chrome.temporary_parent(Path("/snap/bin/chromium")) == tmp_path / "snap/chromium/common"
    assert (tmp_path / "snap/chromium/common").is_dir()
    assert chrome.temporary_parent(Path("/usr/bin/chromium")) is None
