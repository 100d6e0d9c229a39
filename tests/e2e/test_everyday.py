"""A person's browser as it is: any of the app's hosts, a restart, tabs that come and go, a network that fails."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from nlm_cdp.application import silent
from nlm_cdp.browser.discovery import find_executable
from nlm_cdp.cdp.connection import open_connection
from nlm_cdp.cdp.generated import target
from nlm_cdp.errors import NlmError
from nlm_cdp.granted import SCOPES
from nlm_cdp.runtime import Options, open_runtime
from nlm_cdp.sim.chrome import end, start, throwaway_chrome, wait_for_endpoint
from nlm_cdp.sim.simulator import Simulator, simulator
from nlm_cdp.sim.visitor import open_app
from nlm_cdp.wire.page import APP_HOSTS
from tests.e2e.world import application_of, in_chromium, world

pytestmark = in_chromium


@asynccontextmanager
async def product(endpoint: str) -> AsyncIterator[Any]:
    """Calls of tools over an endpoint."""
    options = Options(endpoint=endpoint, scopes=SCOPES, toolsets=("all",))
    async with open_runtime(options) as runtime:
        application = application_of(runtime)

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            return await application.run(tool, arguments, silent)

        yield call


@pytest.mark.parametrize("host", APP_HOSTS)
async def test_the_app_is_found_on_any_of_its_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    async with world(tmp_path, monkeypatch) as there, open_connection(there.chrome.endpoint) as mine:
        there.service.service.moved = False
        await mine.execute(target.create_target(f"https://{host}/"))
        await there.service.requests.wait_for(lambda logged: logged.host == host and logged.path == "/")
        made = await there.call("create_notebook", title="Anywhere")
        assert made["notebook"]["url"].startswith(f"https://{host}/notebook/")
        assert {logged.host for logged in there.service.requests if logged.rpc_ids} == {host}


async def test_after_a_restart_of_the_browser_the_next_call_finds_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Same profile, another port: the server's process lives on, and no call fails for what is over."""
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path / "data"))
    program = find_executable()
    assert program is not None
    folder = Path(tempfile.mkdtemp(prefix="nlm-restart-"))
    try:
        async with simulator() as service:
            flags = service.chrome_flags
            first = await start(program, folder, flags, headless=True)
            await wait_for_endpoint(first, folder)
            async with product(str(folder / "profile")) as call:
                assert (await call("list_notebooks"))["notebooks"]
                await end(first)
                with pytest.raises(NlmError) as caught:
                    await call("list_notebooks")
                assert caught.value.code.startswith("CHROME_")
                (folder / "profile" / "DevToolsActivePort").unlink(missing_ok=True)
                second = await start(program, folder, flags, headless=True)
                try:
                    await wait_for_endpoint(second, folder)
                    assert (await call("list_notebooks"))["notebooks"]
                finally:
                    await end(second)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def test_tabs_that_come_and_go_do_not_change_who_a_session_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, monkeypatch) as there, open_connection(there.chrome.endpoint) as mine:
        second = await open_app(mine, "https://notebook.google.com/?authuser=1")
        assert (await there.call("get_account"))["authuser"] == "1"
        await open_app(mine, "https://notebook.google.com/")
        await mine.execute(target.close_target(second.target_id))
        assert (await there.call("get_account"))["authuser"] == "1"
        assert {logged.authuser for logged in there.service.requests if logged.rpc_ids} == {"1"}


UNREACHABLE: dict[str, Sequence[str]] = {
    "no such name": ["--host-resolver-rules=MAP * ~NOTFOUND"],
    "nothing listens": ["--host-resolver-rules=MAP * 127.0.0.1:9"],
}


@pytest.mark.parametrize("flags", UNREACHABLE.values(), ids=UNREACHABLE.keys())
async def test_trouble_with_the_network_is_no_sign_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: Sequence[str]
) -> None:
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path / "data"))
    async with throwaway_chrome(flags) as chrome, product(chrome.endpoint) as call:
        await is_network(call)


async def test_a_certificate_that_is_not_trusted_is_no_sign_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path / "data"))
    async with simulator() as service, throwaway_chrome(untrusted(service)) as chrome, product(chrome.endpoint) as call:
        await is_network(call)
        assert not service.requests


def untrusted(service: Simulator) -> list[str]:
    return [flag for flag in service.chrome_flags if "certificate" not in flag]


async def is_network(call: Any) -> None:
    with pytest.raises(NlmError) as caught:
        await call("list_notebooks")
    assert (caught.value.code, caught.value.retriable) == ("NETWORK", True)
    assert "sign in" not in f"{caught.value.message} {caught.value.hint}".lower()
