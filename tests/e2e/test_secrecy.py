"""A session with canaries in it, as a process: nothing secret in what it says, keeps or is started with, no open port."""

from __future__ import annotations

import os
import socket
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
import trio

from nlm_cdp.sim.chrome import throwaway_chrome
from nlm_cdp.sim.faults import Fault, Kind
from nlm_cdp.sim.simulator import Simulator, simulator
from tests.e2e.test_process import Client, initialized, serving
from tests.e2e.world import in_chromium

pytestmark = in_chromium
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc tells of processes on Linux alone")
TITLE = "Canary's secret title"
FAILING: list[tuple[Fault | None, str, dict[str, Any]]] = [
    (Fault(Kind.HTTP, code=500, times=2), "list_notebooks", {}),
    (Fault(Kind.WALL, body="<title>SID=walled-canary</title>"), "list_notebooks", {}),
    (Fault(Kind.CUT, amount=0.5, times=2), "list_notebooks", {}),
    (Fault(Kind.PAYLOAD, body='[[["canary-cell",7,{"canary-key":1}]]]'), "list_notebooks", {}),
    (Fault(Kind.PAYLOAD, body="canary-text"), "list_notebooks", {}),
    (Fault(Kind.STATUS, code=13), "create_notebook", {"title": "canary-argument"}),
    (Fault(Kind.CUT, amount=0.5), "create_notebook", {"title": "canary-argument"}),
    (None, "get_notebook", {"notebook": "no such notebook"}),
    (None, "get_notebook", {"notebook": 7, "canary-name": "canary-value"}),
]
CANARIES = ("walled-canary", "canary-cell", "canary-key", "canary-text", "canary-value")


def session(service: Simulator, endpoint: str, folder: Path) -> tuple[str, str, str, list[str]]:
    """What a session says on its two outputs, in its errors alone, and the sockets and arguments of its process."""
    with serving("--endpoint", endpoint, NLM_CDP_DATA_DIR=str(folder), PYTHONDEVMODE="1") as client:
        initialized(client)
        client.call(2, "create_notebook", title=TITLE)
        client.call(3, "ask_question", notebook="About this simulation", question="What do faults do?")
        errors = [str(failed(client, service, number, case)) for number, case in enumerate(FAILING, start=10)]
        about = process_of(client.process.pid)
        assert client.process.stdin is not None
        client.process.stdin.close()
        client.process.stdin = None  # there is nothing left to flush
        assert client.process.stdout is not None
        assert client.process.stderr is not None
        out = str(client.seen) + client.process.stdout.read().decode()
        return out, client.process.stderr.read().decode(), "\n".join(errors), about


def failed(client: Client, service: Simulator, number: int, case: tuple[Fault | None, str, dict[str, Any]]) -> Any:
    fault, tool, arguments = case
    if fault is not None:
        service.faults.add(fault)
    result = client.call(number, tool, **arguments)
    service.faults.clear()
    assert result["isError"] or result["structuredContent"].get("undecoded"), result
    return result


def process_of(pid: int) -> list[str]:
    """The listening sockets of a process, and its arguments."""
    if sys.platform != "linux":
        return []
    folder = Path(f"/proc/{pid}")
    mine = {str(entry.readlink()) for entry in folder.glob("fd/*") if entry.is_symlink()}
    rows = [line.split() for name in ("tcp", "tcp6") for line in (folder / "net" / name).read_text().splitlines()[1:]]
    listening = [f"listens on {row[1]}" for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in mine]
    return [*listening, (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()]


async def test_no_secret_in_what_it_says_keeps_or_is_started_with(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with simulator() as service, throwaway_chrome(service.chrome_flags) as chrome:
        service.service.pace = 0.0
        out, err, errors, about = await trio.to_thread.run_sync(session, service, chrome.endpoint, folder)
        owner, cookie = service.service.owner, service.service.cookie
        secrets = (cookie, owner.token, owner.session_id, owner.user_id)
    assert TITLE in out
    for secret in secrets:
        for where in (out, err, "\n".join(about)):
            assert secret not in where
    for private in (*secrets, owner.email, TITLE, "canary-argument", *CANARIES):
        assert private not in errors
        assert private not in err
    assert not [line for line in about if line.startswith("listens")]
    for path in folder.rglob("*"):
        held = path.read_bytes() if path.is_file() else b""
        assert not [secret for secret in (*secrets, owner.email) if secret.encode() in held], path.name
        if sys.platform != "win32":
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path.name


@on_linux
def test_the_look_at_sockets_sees_one() -> None:
    """What the test above finds nothing with does find a listening socket."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        found = process_of(os.getpid())
        assert any(line.endswith(f":{server.getsockname()[1]:04X}") for line in found), found
