"""The browser of `nlm-cdp browser`: started, found, told apart from others, closed; by a program that plays one."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio

from nlm_cdp.browser import launch, own
from nlm_cdp.browser.candidate import Mode, State
from nlm_cdp.browser.discovery import locate, survey
from nlm_cdp.browser.machine import Machine
from nlm_cdp.browser.processes import was_given
from nlm_cdp.errors import ChromeLost, ChromeNotFound, ChromePolicyBlocked, FileRefused, NlmError
from tests.browser.test_discovery import classic, closed_port, listening, profile

pytestmark = [
    pytest.mark.realtime,
    pytest.mark.skipif(sys.platform == "win32", reason="the program that plays a browser is a script"),
]

BROWSER = f"""#!{sys.executable}
import json, os, signal, socket, sys, time
flags = dict(word.partition("=")[::2] for word in sys.argv[1:])
if "--exit" in flags:
    print("one line\\nlast words", file=sys.stderr)
    sys.exit(int(flags["--exit"]))
if "--stubborn" in flags:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open(os.path.join(flags["--user-data-dir"], "starts"), "a") as starts:
    starts.write("x")
server = socket.create_server(("127.0.0.1", int(flags["--remote-debugging-port"])))
url = f"ws://127.0.0.1/devtools/browser/{{os.getpid()}}-{{time.time_ns()}}"
body = json.dumps({{"Browser": "Chrome/1", "User-Agent": "HeadlessChrome", "webSocketDebuggerUrl": url}})
while True:
    client, _ = server.accept()
    client.recv(65536)
    client.sendall(f"HTTP/1.1 200 OK\\r\\nContent-Length: {{len(body)}}\\r\\n\\r\\n{{body}}".encode())
    client.close()
"""


async def freed(port: int) -> None:
    """Wait until nobody listens: a process that ends lets its command line go before its port."""
    with trio.fail_after(5):
        while True:
            try:
                stream = await trio.open_tcp_stream("127.0.0.1", port)
            except OSError:
                return
            await stream.aclose()


@pytest.fixture
def machine(tmp_path: Path) -> Any:
    program = tmp_path / "chrome"
    program.write_text(BROWSER)
    program.chmod(0o755)
    found = Machine("linux", {"NLM_CDP_CHROME": str(program)}, tmp_path / "home", data=tmp_path / "data")
    if sys.platform == "darwin":
        found = replace(found, platform="darwin")
    yield found
    record = own.read_record(found)
    if record is not None and was_given(found, record.pid, record.argument):
        os.kill(record.pid, signal.SIGKILL)


def with_flags(machine: Machine, flags: str) -> Machine:
    return replace(machine, environ={**machine.environ, launch.FLAGS_VARIABLE: flags})


def recorded(machine: Machine) -> launch.Launched:
    record = own.read_record(machine)
    assert record is not None
    return record


@asynccontextmanager
async def running(machine: Machine) -> AsyncIterator[launch.Launched]:
    await own.start(machine)
    yield recorded(machine)
    await own.stop(machine)


async def test_it_is_started_once_and_found_by_auto_before_any_other(machine: Machine) -> None:
    assert machine.data is not None
    assert not (await own.status(machine)).running
    assert own.candidate(machine) is None
    async with listening(classic()) as everyday, running(machine) as record:
        profile(machine, port=everyday.number)
        again = await own.start(machine)
        assert again.running
        assert "running already" in again.text
        assert recorded(machine) == record
        assert (machine.data / "browser/starts").read_text() == "x"
        found = await locate(machine=machine, fallback_port=closed_port())
        assert (found.browser, found.mode) == (own.NAME, Mode.CLASSIC)
        assert found.url == f"ws://127.0.0.1:{record.port}{record.path}"
        first = (await survey(machine, fallback_port=closed_port()))[0]
        assert "used before any other, because you started it by `nlm-cdp browser`" in first.told
        assert (await own.status(machine)).running
    assert not (await own.status(machine)).running
    assert (machine.data / "browser/starts").exists()
    assert stat.S_IMODE((machine.data / "browser").stat().st_mode) == 0o700
    assert stat.S_IMODE((machine.data / "browser.json").stat().st_mode) == 0o600


async def test_what_to_do_next_is_said(machine: Machine) -> None:
    said = await own.start(machine)
    for word in ("sign in", "nlm-cdp doctor", "--stop", "127.0.0.1:", str(machine.data)):
        assert word in said.text
    assert "Its profile stays" in (await own.stop(machine)).text
    assert not (await own.stop(machine)).running


async def test_two_starts_at_once_make_one_browser(machine: Machine) -> None:
    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(own.start, machine)
    assert machine.data is not None
    assert (machine.data / "browser/starts").read_text() == "x"
    await own.stop(machine)


async def test_a_browser_that_was_killed_is_started_again(machine: Machine) -> None:
    await own.start(machine)
    before = recorded(machine)
    os.kill(before.pid, signal.SIGKILL)
    os.waitpid(before.pid, 0)  # noqa: ASYNC222
    assert not (await own.status(machine)).running
    assert "is not running" in (await own.stop(machine)).text
    with pytest.raises(ChromeNotFound) as caught:
        await locate(machine=machine, fallback_port=closed_port())
    assert caught.value.state == State.OWN_STOPPED
    assert "nlm-cdp browser" in caught.value.hint
    async with running(machine) as after:
        assert after.pid != before.pid


async def test_a_stale_record_names_a_process_that_is_another_by_now(machine: Machine) -> None:
    await own.start(machine)
    await own.stop(machine)
    assert machine.data is not None
    path = machine.data / "browser.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"pid": os.getpid()}))
    assert "is not running" in (await own.stop(machine)).text  # and this process is still here


async def test_another_browser_at_the_recorded_port_is_not_ours(machine: Machine) -> None:
    await own.start(machine)
    await own.stop(machine)
    await freed(recorded(machine).port)
    async with listening(classic(), number=recorded(machine).port):
        assert not (await own.status(machine)).running
        with pytest.raises(ChromeNotFound):
            await locate(machine=machine, fallback_port=closed_port())


async def test_a_browser_whose_process_is_not_the_recorded_one_is_not_closed(machine: Machine) -> None:
    await own.start(machine)
    assert machine.data is not None
    path = machine.data / "browser.json"
    text = path.read_text()
    path.write_text(json.dumps(json.loads(text) | {"pid": os.getpid()}))
    with pytest.raises(NlmError, match="nothing was closed") as caught:
        await own.stop(machine)
    assert caught.value.state == "not_ours"
    path.write_text(text)
    await own.stop(machine)


async def test_a_browser_that_does_not_close_is_told_and_never_killed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own, "STOP_S", 0.3)
    await own.start(with_flags(machine, "--stubborn"))
    with pytest.raises(ChromeLost, match="has not done so") as caught:
        await own.stop(machine)
    assert caught.value.state == "closing"
    assert (await own.status(machine)).running


async def test_a_browser_that_answers_no_more_is_not_started_twice(machine: Machine) -> None:
    await own.start(machine)
    assert machine.data is not None
    path = machine.data / "browser.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"port": closed_port()}))
    with pytest.raises(ChromeLost, match="does not answer"):
        await own.start(machine)
    assert "Closed" in (await own.stop(machine)).text


@pytest.mark.parametrize(
    ("flags", "error", "state", "said"),
    [
        ("--exit=0", ChromeNotFound, "profile_in_use", "has .* open already"),
        ("--exit=3", ChromeLost, "not_started", "exit code 3"),
        ("--exit=3 --x='a b'", ChromeLost, "not_started", "last words"),
    ],
)
async def test_a_browser_that_does_not_come_up(
    machine: Machine, flags: str, error: type[NlmError], state: str, said: str
) -> None:
    with pytest.raises(error, match=said) as caught:
        await own.start(with_flags(machine, flags))
    assert caught.value.state == state
    assert caught.value.hint
    assert own.read_record(machine) is None


async def test_a_browser_that_is_not_ready_in_time_is_taken_back(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "START_S", 0.0)
    with pytest.raises(ChromeLost, match="does not get ready"):
        await own.start(machine)
    assert own.read_record(machine) is None


async def test_a_browser_that_cannot_be_put_on_record_is_closed_again(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched: list[launch.Launched] = []

    def refuse(machine: Machine, record: launch.Launched) -> None:
        launched.append(record)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(own, "write_record", refuse)
    with pytest.raises(FileRefused, match="No space left on device"):
        await own.start(machine)
    os.waitpid(launched[0].pid, 0)  # noqa: ASYNC222
    assert own.read_record(machine) is None


async def test_nothing_to_start(machine: Machine, tmp_path: Path) -> None:
    bare = Machine("linux", {"PATH": str(tmp_path / "none")}, tmp_path, data=tmp_path / "data")
    with pytest.raises(ChromeNotFound, match="No Chrome"):
        await own.start(bare)
    script = tmp_path / "broken"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    with pytest.raises(ChromeNotFound, match="cannot be run"):
        await own.start(replace(machine, environ={"NLM_CDP_CHROME": str(script)}))
    with pytest.raises(FileRefused):
        await own.start(replace(machine, data=None))


async def test_a_policy_leaves_the_choice_to_the_next_browser(machine: Machine, tmp_path: Path) -> None:
    folder = tmp_path / "root/etc/opt/chrome/policies/managed"
    folder.mkdir(parents=True)
    (folder / "it.json").write_text('{"RemoteDebuggingAllowed": false}')
    (tmp_path / "bin").mkdir()
    shutil.copy(tmp_path / "chrome", tmp_path / "bin/google-chrome")
    root = Path("/") if sys.platform == "darwin" else tmp_path / "root"
    managed = replace(machine, environ={"PATH": str(tmp_path / "bin")}, root=root, platform="linux")
    with pytest.raises(ChromePolicyBlocked, match=r"it\.json"):
        launch.chosen(managed)
    shutil.copy(tmp_path / "chrome", tmp_path / "bin/chromium")
    assert launch.chosen(managed) == tmp_path / "bin/chromium"


def test_a_snap_keeps_the_profile_where_it_can_see_it(machine: Machine) -> None:
    assert machine.home is not None
    snap = launch.profile_of(machine, Path("/snap/bin/chromium"))
    assert snap == machine.home / "snap/chromium/common/nlm-cdp-browser"


GOOD = {"pid": 77, "port": 9222, "path": "/devtools/browser/x", "profile": "/p", "program": "/c"}


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", json.dumps(GOOD | {"more": 1})]
    + [
        json.dumps(GOOD | bad)
        for bad in ({"pid": "77"}, {"pid": 0}, {"pid": True}, {"port": 0}, {"path": "//\n"}, {"profile": None})
    ],
)
def test_a_record_that_cannot_be_read_is_none(machine: Machine, text: str) -> None:
    assert machine.data is not None
    machine.data.mkdir()
    (machine.data / "browser.json").write_text(json.dumps(GOOD))
    assert own.read_record(machine) == launch.Launched(77, 9222, "/devtools/browser/x", "/p", "/c")
    (machine.data / "browser.json").write_text(text)
    assert own.read_record(machine) is None
