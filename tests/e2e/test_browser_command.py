"""`nlm-cdp browser` with a real Chromium: started by one process, found by the next, closed by a third."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from nlm_cdp.browser import own
from nlm_cdp.browser.attach import notebook_tabs
from nlm_cdp.browser.discovery import locate
from nlm_cdp.browser.launch import FLAGS_VARIABLE
from nlm_cdp.browser.machine import Machine
from nlm_cdp.browser.processes import was_given
from nlm_cdp.cdp.connection import open_connection
from nlm_cdp.cdp.generated import runtime, target
from nlm_cdp.sim.simulator import Simulator, simulator
from tests.e2e.world import in_chromium

pytestmark = in_chromium
Nlm = Callable[..., Awaitable[subprocess.CompletedProcess[str]]]


@asynccontextmanager
async def shell(tmp_path: Path) -> AsyncIterator[tuple[Nlm, Simulator, Machine]]:
    """A user with an empty home, whose browser sees the simulator as the real hosts."""
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "NLM_CDP_DATA_DIR": str(tmp_path / "data")}

    async with simulator() as service:
        environ = {**os.environ, **home, FLAGS_VARIABLE: shlex.join(service.chrome_flags)}

        async def nlm(*words: str) -> subprocess.CompletedProcess[str]:
            done = await trio.run_process(
                [sys.executable, "-m", "nlm_cdp.cli", *words],
                capture_stdout=True, capture_stderr=True, check=False, env=environ,
            )  # fmt: skip
            return subprocess.CompletedProcess(words, done.returncode, done.stdout.decode(), done.stderr.decode())

        try:
            yield nlm, service, Machine(sys.platform, environ, tmp_path, data=tmp_path / "data")
        finally:
            with trio.CancelScope(shield=True):
                await nlm("browser", "--stop")


async def test_start_find_call_stop_and_start_again(tmp_path: Path) -> None:
    async with shell(tmp_path) as (nlm, service, machine):
        assert (await nlm("browser", "--status")).returncode == 3
        async with trio.open_nursery() as nursery:  # two at once make one
            for _ in range(2):
                nursery.start_soon(nlm, "browser", "--headless")
        record = own.read_record(machine)
        assert record is not None
        again = await nlm("browser", "--headless")
        assert (again.returncode, "running already" in again.stdout) == (0, True)
        assert own.read_record(machine) == record
        assert (await nlm("browser", "--status")).returncode == 0

        listed = await nlm("call", "list_notebooks")
        assert listed.returncode == 0, listed.stderr
        assert json.loads(listed.stdout)["total"] == len(service.service.owner.notebooks)
        doctor = await nlm("doctor", "--json")
        steps = {step["step"]: step["detail"] for step in json.loads(doctor.stdout)["steps"]}
        assert "used before any other" in steps[own.NAME]
        assert "notebooks listed" in steps["One real call"]
        audit = await nlm("audit", "--json")
        tools = [json.loads(line)["tool"] for line in audit.stdout.splitlines()]
        assert tools == ["list_notebooks"] * 2 + ["doctor"] * 2  # a page, and the call

        stopped = await nlm("browser", "--stop")
        assert (stopped.returncode, "Closed" in stopped.stdout) == (0, True)
        assert (await nlm("browser", "--stop")).returncode == 0
        assert Path(record.profile, "Local State").is_file()
        refused = await nlm("call", "list_notebooks")
        assert refused.returncode == 3
        assert "nlm-cdp browser" in json.loads(refused.stdout)["hint"]

        assert (await nlm("browser", "--headless")).returncode == 0
        second = own.read_record(machine)
        assert second is not None
        assert second.profile == record.profile
        assert second.pid != record.pid
        assert (await nlm("call", "list_notebooks")).returncode == 0


async def test_its_window_is_on_the_app_and_no_page_is_told_that_it_is_automated(tmp_path: Path) -> None:
    async with shell(tmp_path) as (nlm, _, machine):
        assert (await nlm("browser", "--headless")).returncode == 0
        found = await locate(machine=machine, fallback_port=9)
        async with open_connection(found.url) as connection:
            with trio.fail_after(20):
                while not await notebook_tabs(connection):  # noqa: ASYNC110
                    await trio.sleep(0.05)
            infos = await connection.execute(target.get_targets())
            page = next(info.target_id for info in infos if info.type_ == "page")
            session = await connection.execute(target.attach_to_target(page, flatten=True))
            seen, _ = await connection.execute(runtime.evaluate("navigator.webdriver"), session=session)
        assert seen.value is False


async def test_a_process_that_died_leaves_no_trap(tmp_path: Path) -> None:
    async with shell(tmp_path) as (nlm, _, machine):
        assert (await nlm("browser", "--headless")).returncode == 0
        record = own.read_record(machine)
        assert record is not None
        os.kill(record.pid, 9)
        with trio.fail_after(10):
            while was_given(machine, record.pid, record.argument):  # noqa: ASYNC110
                await trio.sleep(0.02)
        assert (await nlm("browser", "--status")).returncode == 3
        started = await nlm("browser", "--headless")
        assert started.returncode == 0, started.stderr
        assert (await nlm("call", "list_notebooks")).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="windows need no display there")
async def test_without_a_display_the_error_says_what_the_browser_said(tmp_path: Path) -> None:
    async with shell(tmp_path) as (nlm, _, machine):
        if os.environ.get("DISPLAY") or sys.platform == "darwin":
            pytest.skip("there is a display")
        done = await nlm("browser")
        assert done.returncode == 3
        assert done.stdout == ""
        assert "not_started" not in done.stderr
        assert "display" in done.stderr.lower()
        assert own.read_record(machine) is None
