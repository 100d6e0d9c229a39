"""The commands as processes: a raw client over pipes, the tour, the doctor, every way to name an endpoint."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from nlm_cdp.sim.chrome import throwaway_chrome
from nlm_cdp.sim.simulator import simulator
from tests.e2e.world import in_chromium, needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium]
NLM = [sys.executable, "-m", "nlm_cdp.cli"]


class Client:
    """Writes lines, reads lines; every line read must be JSON-RPC."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.seen: list[dict[str, Any]] = []

    def send(self, method: str, params: dict[str, Any] | None = None, id: int | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}} | ({} if id is None else {"id": id})
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self, id: int) -> dict[str, Any]:
        while True:
            assert self.process.stdout
            line = self.process.stdout.readline()
            assert line, "the server closed its output"
            self.seen.append(json.loads(line))
            assert self.seen[-1]["jsonrpc"] == "2.0"
            if self.seen[-1].get("id") == id:
                return self.seen[-1]

    def ask(self, id: int, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        self.send(method, params, id)
        return self.answer(id)

    def call(self, id: int, tool: str, **arguments: Any) -> dict[str, Any]:
        result: dict[str, Any] = self.ask(id, "tools/call", {"name": tool, "arguments": arguments})["result"]
        return result

    def ends(self, how: str, within: float = 4) -> None:
        """End the server by closing its input (`eof`) or by a signal; it must go quietly and soon."""
        assert self.process.stdin
        if how == "eof":
            self.process.stdin.close()
            self.process.stdin = None
        else:
            self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=within) == 0
        assert self.process.stderr
        assert b"Traceback" not in self.process.stderr.read()


@contextmanager
def serving(*options: str, **environment: str) -> Iterator[Client]:
    process = subprocess.Popen(
        [*NLM, "serve", *options],
        env=dict(os.environ) | environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield Client(process)
    finally:
        process.kill()
        process.communicate()


def initialized(client: Client, version: str = "2025-11-25") -> dict[str, Any]:
    about = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    result: dict[str, Any] = client.ask(1, "initialize", about)["result"]
    client.send("notifications/initialized")
    return result


def test_a_raw_client_gets_a_cited_streamed_answer() -> None:
    with serving("--demo", "--scopes", "read,chat,write,delete", PYTHONIOENCODING="cp1252", LC_ALL="C") as client:
        assert initialized(client)["protocolVersion"] == "2025-11-25"
        tools = {tool["name"] for tool in client.ask(2, "tools/list")["result"]["tools"]}
        assert {"ask_question", "delete_notebook"} <= tools
        notebook = client.call(3, "create_notebook", title="→ — “ 🧪")["structuredContent"]["notebook"]
        assert notebook["title"] == "→ — “ 🧪"
        text = "The horn sounds every ninety seconds. The lamp is lit at sunset."
        added = client.call(4, "add_source", notebook=notebook["id"], content=text, title="Horns")
        assert added["structuredContent"]["added"]
        arguments = {"question": "When does the horn sound?", "notebook": notebook["id"], "source_format": "footnotes"}
        client.send("tools/call", {"name": "ask_question", "arguments": arguments, "_meta": {"progressToken": 0}}, 5)
        result = client.answer(5)["result"]
        told = [seen["params"] for seen in client.seen if seen.get("method") == "notifications/progress"]
        assert [step["progress"] for step in told] == sorted({step["progress"] for step in told})
        assert any("answering" in step["message"] for step in told)
        assert result["structuredContent"]["sources"][0]["title"] == "Horns"
        assert "Sources:\n[1] Horns" in result["structuredContent"]["answer"]
        assert "ninety seconds" in result["content"][0]["text"]
        refused = client.call(6, "set_sharing", notebook=notebook["id"])
        assert refused["isError"]
        assert (
            client.call(7, "delete_notebook", notebook=notebook["id"], confirm="true")["structuredContent"]["status"]
            == "deleted"
        )


def test_the_stateless_form_works_too() -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    with serving("--demo") as client:
        found = client.ask(1, "server/discover", {"_meta": meta})["result"]
        assert "2026-07-28" in found["supportedVersions"]
        listed = client.ask(2, "tools/list", {"_meta": meta})["result"]
        assert listed["ttlMs"] > 0
        called = client.ask(3, "tools/call", {"name": "list_notebooks", "arguments": {}, "_meta": meta})["result"]
        assert called["structuredContent"]["total"] == 1


@pytest.mark.parametrize("end", ["eof", "sigterm"])
def test_it_ends_within_two_seconds_and_takes_its_browser_along(end: str) -> None:
    with serving("--demo") as client:
        initialized(client)
        client.call(2, "list_notebooks")
        children = subprocess.run(["pgrep", "-P", str(client.process.pid)], capture_output=True, text=True, check=True)
        client.ends(end)
        for child in children.stdout.split():
            assert not Path(f"/proc/{child}").exists()


def test_a_call_that_waits_is_cancelled_and_never_answered() -> None:
    with serving("--demo") as client:
        initialized(client)
        client.call(2, "list_notebooks")
        client.send("tools/call", {"name": "ask_question", "arguments": {"question": "?", "notebook": "About"}}, 3)
        client.send("notifications/cancelled", {"requestId": 3, "reason": "test"})
        assert client.call(4, "list_notebooks")["structuredContent"]["total"] == 1
        assert all(seen.get("id") != 3 for seen in client.seen)


def test_the_tour() -> None:
    done = subprocess.run([*NLM, "demo", "--json"], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    steps = [json.loads(line) for line in done.stdout.splitlines()]
    tools = [step.get("tool") for step in steps]
    assert tools[:6] == [None, "get_health", "create_notebook", "add_source", "ask_question", "get_conversation"]
    asked = steps[4]
    assert asked["result"]["sources"]
    assert "simulated" in asked["result"]["answer"]
    assert asked["progress"]
    assert steps[-1]["result"]["status"] == "deleted"


def test_the_tour_without_a_browser_says_so() -> None:
    environment = dict(os.environ) | {"NLM_CDP_CHROME": "/nonexistent/chrome"}
    done = subprocess.run([*NLM, "demo"], capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert done.returncode == 3
    assert "NLM_CDP_CHROME" in done.stdout


def test_doctor_on_the_simulator() -> None:
    done = subprocess.run([*NLM, "doctor", "--demo", "--json"], capture_output=True, text=True, timeout=60, check=False)
    report = json.loads(done.stdout)
    assert (done.returncode, report["ok"]) == (0, True)
    assert [step["step"] for step in report["steps"]] == ["nlm-cdp", "Chrome", "Page", "Account", "One real call"]


def test_doctor_without_a_chrome() -> None:
    done = subprocess.run(
        [*NLM, "doctor", "--json", "--endpoint", "http://127.0.0.1:9"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    report = json.loads(done.stdout)
    assert (done.returncode, report["ok"]) == (3, False)
    assert report["error"]["code"].startswith("CHROME_")
    assert report["fix"]


def run(*words: str, timeout: float = 60) -> tuple[int, Any]:
    done = subprocess.run([*NLM, *words], capture_output=True, text=True, timeout=timeout, check=False)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.realtime
async def test_every_way_to_name_an_endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path))
    async with simulator() as service, throwaway_chrome(service.chrome_flags) as chrome:
        port = chrome.endpoint.split(":")[2].split("/")[0]
        for endpoint in (chrome.endpoint, f"http://127.0.0.1:{port}", f"http://localhost:{port}", str(chrome.profile)):
            code, found = await trio.to_thread.run_sync(run, "call", "list_notebooks", "--endpoint", endpoint)
            assert (code, found["total"]) == (0, 1), endpoint
        code, found = await trio.to_thread.run_sync(
            run, "rpc", "wXbhsf", "[null,1,null,[2]]", "--endpoint", chrome.endpoint
        )
        assert (code, found[0][0][0]) == (0, "About this simulation")
        code, found = await trio.to_thread.run_sync(
            run, "call", "get_notebook", "notebook=nothing like it", "--endpoint", chrome.endpoint
        )
        assert (code, found["code"]) == (1, "NOT_FOUND")
        service.service.sign_out("landing")
        code, found = await trio.to_thread.run_sync(run, "call", "list_notebooks", "--endpoint", chrome.endpoint)
        assert (code, found["code"]) == (4, "SIGNED_OUT")


@pytest.mark.realtime
async def test_a_port_that_never_speaks_and_one_that_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path))
    (mute,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = mute.socket.getsockname()[1]
    with trio.fail_after(20):
        code, found = await trio.to_thread.run_sync(
            run, "call", "list_notebooks", "--endpoint", f"http://127.0.0.1:{port}"
        )
    assert code == 3
    assert found["outcome"] == "not_sent"
    assert found["hint"]
    await mute.aclose()
    with trio.fail_after(20):
        code, found = await trio.to_thread.run_sync(
            run, "call", "list_notebooks", "--endpoint", f"http://127.0.0.1:{port}"
        )
    assert code == 3


@pytest.mark.realtime
async def test_the_server_answers_before_there_is_a_chrome_and_works_once_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dialogue(endpoint: str) -> Client:
        client = stack.enter_context(serving("--endpoint", endpoint, NLM_CDP_DATA_DIR=str(tmp_path / "data")))
        initialized(client, "2025-06-18")
        assert client.ask(2, "tools/list")["result"]["tools"]
        failed = client.call(3, "list_notebooks")
        assert failed["isError"]
        assert failed["structuredContent"]["code"].startswith("CHROME_")
        return client

    from contextlib import ExitStack

    profile = tmp_path / "profile"
    profile.mkdir()
    with ExitStack() as stack:
        client = await trio.to_thread.run_sync(dialogue, str(profile))
        async with simulator() as service, throwaway_chrome(service.chrome_flags) as chrome:
            (profile / "DevToolsActivePort").write_text((chrome.profile / "DevToolsActivePort").read_text())
            result = await trio.to_thread.run_sync(lambda: client.call(4, "list_notebooks"))
            assert result["structuredContent"]["total"] == 1


def test_sim_prints_one_line_about_itself() -> None:
    with subprocess.Popen([*NLM, "sim"], stdout=subprocess.PIPE) as process:
        assert process.stdout
        about = json.loads(process.stdout.readline())
        process.terminate()
    assert set(about) == {"port", "hosts", "ca", "spki", "chrome_flags"}
    assert "notebook.google.com" in about["hosts"]
    assert any(f"127.0.0.1:{about['port']}" in flag for flag in about["chrome_flags"])


assert in_chromium
