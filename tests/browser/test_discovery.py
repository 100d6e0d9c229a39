"""Trees of user-data folders and ports of our own making, and what discovery makes of them."""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import trio

from nlm_cdp.browser.candidate import Endpoint, Mode, State, is_open, read_folder
from nlm_cdp.browser.channels import find_executable, user_data_folders
from nlm_cdp.browser.discovery import locate, survey
from nlm_cdp.browser.machine import Machine
from nlm_cdp.errors import ChromeDebuggingOff, ChromeNotFound, ChromePolicyBlocked, InvalidArgument
from nlm_cdp.sim import chrome
from tests.fakes import present

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

GUID = "/devtools/browser/0f2c-41"
ALLOWED = {"devtools": {"remote_debugging": {"user-enabled": True}}}
realtime = pytest.mark.realtime


@dataclass
class Port:
    """A listening port that gives the same answer to every request, and remembers them."""

    number: int
    answer: bytes | None
    requests: list[bytes] = field(default_factory=list)

    async def handle(self, stream: trio.SocketStream) -> None:
        request = b""
        async for chunk in stream:
            request += chunk
            if b"\r\n\r\n" in request:
                self.requests.append(request)
                break
        if self.answer is None:
            await trio.sleep_forever()
        elif request:
            await stream.send_all(self.answer)


@asynccontextmanager
async def listening(answer: bytes | None, host: str = "127.0.0.1", number: int = 0) -> AsyncIterator[Port]:
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(number, host=host)
        port = Port(listeners[0].socket.getsockname()[1], answer)
        nursery.start_soon(trio.serve_listeners, port.handle, listeners)
        try:
            yield port
        finally:
            nursery.cancel_scope.cancel()


def http(status: str, body: bytes = b"") -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status.encode(), len(body), body)


def classic(path: str = GUID, browser: str = "Chrome/156.0.1.2", agent: str = "Mozilla/5.0 Chrome/156") -> bytes:
    version = {"Browser": browser, "User-Agent": agent, "webSocketDebuggerUrl": f"ws://192.0.2.7:1{path}"}
    return http("200 OK", json.dumps(version).encode())


APPROVAL = http("404 Not Found")


def closed_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        number: int = unused.getsockname()[1]
        return number


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine("linux", {}, tmp_path)


def profile(
    machine: Machine,
    name: str = "google-chrome",
    port: int | None = None,
    local_state: object = None,
    path: str = GUID,
    *,
    is_open: bool = True,
) -> Path:
    assert machine.home is not None
    folder = machine.home / ".config" / name
    folder.mkdir(parents=True)
    if is_open:
        (folder / "SingletonLock").symlink_to(f"{socket.gethostname()}-{os.getpid()}")
    if port is not None:
        (folder / "DevToolsActivePort").write_bytes(f"{port}\n{path}".encode())
    if local_state is not None:
        (folder / "Local State").write_text(json.dumps(local_state))
    return folder


# Every state, by a survey


@realtime
async def test_a_survey_tells_every_state_apart(machine: Machine) -> None:
    closed = closed_port()
    async with listening(classic()) as plain, listening(APPROVAL) as asking, listening(None) as silent:
        profile(machine, "google-chrome")
        profile(machine, "google-chrome-beta", local_state=ALLOWED)
        profile(machine, "google-chrome-unstable", port=closed)
        profile(machine, "google-chrome-canary", port=closed, local_state=ALLOWED)
        profile(machine, "chromium", port=plain.number)
        profile(machine, "microsoft-edge", port=asking.number)
        profile(machine, "vivaldi", port=silent.number)
        profile(machine, "opera", port=plain.number, path="/devtools/browser/another")
        profile(machine, "opera-beta", local_state=ALLOWED, is_open=False)
        profile(machine, "microsoft-edge-dev", local_state=ALLOWED, port=closed, is_open=False)
        found = {
            c.browser: c
            for c in await survey(machine, fallback_port=closed, deadline_s=0.5)
            if c.state is not State.NOT_INSTALLED
        }
    assert {browser: candidate.state for browser, candidate in found.items()} == {
        "Google Chrome": State.DEBUGGING_OFF,
        "Google Chrome Beta": State.RESTART_NEEDED,
        "Google Chrome Dev": State.STALE_PORT_FILE,
        "Google Chrome Canary": State.RESTART_NEEDED,
        "Chromium": State.CLASSIC,
        "Microsoft Edge": State.APPROVAL,
        "Vivaldi": State.SILENT,
        "Opera": State.STALE_PORT_FILE,
        "Opera Beta": State.NOT_RUNNING,
        "Microsoft Edge Dev": State.NOT_RUNNING,
        f"port {closed}": State.PORT_CLOSED,
    }
    assert found["Microsoft Edge"].endpoint is not None
    assert found["Vivaldi"].endpoint is None
    for port in (plain, asking, silent):
        for request in port.requests:
            assert request.startswith(b"GET /json/version HTTP/1.1\r\n")
            assert b"upgrade" not in request.lower()
            assert b"origin" not in request.lower()
            assert f"host: 127.0.0.1:{port.number}".encode() in request.lower()


@realtime
@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"",
        http("200 OK", b"<html>"),
        http("200 OK", b"{}"),
        http("200 OK", b"[1]"),
        http("200 OK", b'{"webSocketDebuggerUrl": 5}'),
        http("200 OK", b'{"webSocketDebuggerUrl": "ws://[/"}'),
        http("200 OK", b"[" * 60000),
        http("200 OK", b" " * 70000),
        http("200 OK", b"{}")[:-1],
        http("500 Internal Server Error"),
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
    ],
)
async def test_whatever_else_answers_is_not_chrome(machine: Machine, answer: bytes) -> None:
    async with listening(answer) as port:
        with pytest.raises(ChromeNotFound) as caught:
            await locate(f"http://127.0.0.1:{port.number}")
        assert caught.value.state == State.NOT_CHROME
        assert caught.value.details["tried"] == [
            {"browser": f"127.0.0.1:{port.number}", "path": "", "state": "not_chrome"}
        ]
        folder = profile(machine, port=port.number)
        with pytest.raises(ChromeDebuggingOff) as off:
            await locate(str(folder))
        assert off.value.state == State.STALE_PORT_FILE


# auto


@realtime
async def test_auto_takes_the_first_channel_that_listens(machine: Machine) -> None:
    async with listening(classic()) as edge, listening(APPROVAL) as beta:
        profile(machine, "google-chrome")
        profile(machine, "microsoft-edge", port=edge.number)
        folder = profile(machine, "google-chrome-beta", port=beta.number)
        found = await locate(machine=machine, fallback_port=closed_port())
    assert found == Endpoint(f"ws://127.0.0.1:{beta.number}{GUID}", Mode.APPROVAL, "Google Chrome Beta", folder)


@realtime
@pytest.mark.parametrize(
    ("browser", "agent"), [("HeadlessChrome/131", "Mozilla/5.0"), ("Chrome/156", "Mozilla/5.0 HeadlessChrome/156")]
)
async def test_a_headless_browser_comes_last_and_never_by_its_port_alone(
    machine: Machine, browser: str, agent: str
) -> None:
    async with listening(classic(browser=browser, agent=agent)) as headless, listening(classic()) as plain:
        with pytest.raises(ChromeNotFound):
            await locate(machine=machine, fallback_port=headless.number)
        profile(machine, "google-chrome", port=headless.number)
        alone = await locate(machine=machine, fallback_port=closed_port())
        assert (alone.browser, alone.mode) == ("Google Chrome", Mode.CLASSIC)
        by_port = await locate(machine=machine, fallback_port=plain.number)
        assert by_port.browser == f"port {plain.number}"
        profile(machine, "vivaldi", port=plain.number)
        assert (await locate(machine=machine, fallback_port=headless.number)).browser == "Vivaldi"


@realtime
async def test_a_classic_port_without_a_folder_is_the_last_resort(machine: Machine) -> None:
    async with listening(classic()) as plain, listening(APPROVAL) as unknown:
        profile(machine, "google-chrome")
        found = await locate(machine=machine, fallback_port=plain.number)
        assert found == Endpoint(f"ws://127.0.0.1:{plain.number}{GUID}", Mode.CLASSIC, f"port {plain.number}")
        with pytest.raises(ChromeDebuggingOff):
            await locate(machine=machine, fallback_port=unknown.number)


@realtime
async def test_a_port_file_does_not_adopt_the_browser_that_has_its_port_now(machine: Machine) -> None:
    async with listening(classic("/devtools/browser/foreign", "HeadlessChrome/156")) as foreign:
        profile(machine, port=foreign.number)
        with pytest.raises(ChromeDebuggingOff) as caught:
            await locate(machine=machine, fallback_port=foreign.number)
    assert caught.value.state == State.STALE_PORT_FILE


@realtime
async def test_chrome_on_the_ipv6_loopback_is_found_behind_a_stranger_on_the_other(machine: Machine) -> None:
    async with listening(b"SSH-2.0-x\r\n") as stranger:
        try:
            async with listening(classic(), "::1", stranger.number) as port:
                folder = profile(machine, port=port.number)
                found = await locate(machine=machine, fallback_port=closed_port())
        except* OSError:
            pytest.skip("no IPv6 loopback here")
    assert found == Endpoint(f"ws://[::1]:{stranger.number}{GUID}", Mode.CLASSIC, "Google Chrome", folder)


@realtime
async def test_nothing_installed_lists_every_place(machine: Machine) -> None:
    home = machine.home
    assert home is not None
    port = closed_port()
    with pytest.raises(ChromeNotFound) as caught:
        await locate(machine=machine, fallback_port=port)
    tried = caught.value.details["tried"]
    assert {
        "browser": "Google Chrome",
        "path": str(home / ".config/google-chrome"),
        "state": "not_installed",
    } in tried
    assert len(tried) == len(list(user_data_folders(machine))) + 1
    assert json.dumps(tried)
    assert caught.value.state == "not_installed"
    assert caught.value.hint


@realtime
async def test_the_error_is_led_by_what_tells_most(machine: Machine) -> None:
    profile(machine, "google-chrome")
    with pytest.raises(ChromeDebuggingOff) as off:
        await locate(machine=machine, fallback_port=closed_port())
    assert off.value.message == "Google Chrome: remote debugging is off."
    assert "chrome://inspect/#remote-debugging in Google Chrome" in off.value.hint
    assert off.value.state == "debugging_off"
    profile(machine, "vivaldi", local_state=ALLOWED)
    with pytest.raises(ChromeDebuggingOff) as restart:
        await locate(machine=machine, fallback_port=closed_port())
    assert restart.value.message.startswith(
        "Vivaldi: remote debugging is allowed, but nothing listens; Google Chrome: "
    )
    assert restart.value.state == "restart_needed"
    assert "Quit Vivaldi completely" in restart.value.hint
    assert [entry["state"] for entry in restart.value.details["tried"]] == ["debugging_off", "restart_needed"]


# An endpoint that is given


@realtime
async def test_an_http_address_in_classic_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(variable, "socks5h://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "fe11::/16,::1")
    async with listening(classic()) as port:
        found = await locate(f"http://localhost:{port.number}/")
        assert found == Endpoint(f"ws://127.0.0.1:{port.number}{GUID}", Mode.CLASSIC, "Chrome/156.0.1.2")
        assert (await locate(f"http://127.0.0.1:{port.number}")).url == found.url
    async with listening(classic("/devtools/browser/x?token=t")) as port:
        assert (await locate(f"http://127.0.0.1:{port.number}")).url.endswith("/devtools/browser/x?token=t")


@realtime
async def test_an_http_address_in_approval_mode() -> None:
    async with listening(APPROVAL) as port:
        found = await locate(f"http://localhost:{port.number}")
    assert found == Endpoint(f"ws://127.0.0.1:{port.number}/devtools/browser", Mode.APPROVAL)


@realtime
async def test_a_websocket_address_is_connected_to_and_not_upgraded() -> None:
    async with listening(None) as port:
        url = f"ws://127.0.0.1:{port.number}/devtools/browser/x?token=t"
        assert await locate(url) == Endpoint(url, Mode.EXPLICIT)
        assert await locate(url.replace("127.0.0.1", "localhost")) == Endpoint(url, Mode.EXPLICIT)
        with_user = await locate(url.replace("127.0.0.1", "me:pass@localhost"))
        assert with_user.url == url.replace("127.0.0.1", "me:pass@127.0.0.1")
        assert port.requests == []


@realtime
@pytest.mark.parametrize(
    "endpoint", ["http://localhost:{}", "http://127.0.0.1:{}", "ws://u:hush@localhost:{}/hush", "ws://[::1]:{}/hush"]
)
async def test_nothing_at_an_address(endpoint: str) -> None:
    with pytest.raises(ChromeNotFound) as caught:
        await locate(endpoint.format(closed_port()))
    assert caught.value.state == State.PORT_CLOSED
    assert "nothing listens" in caught.value.message
    assert "hush" not in f"{caught.value} {caught.value.hint} {caught.value.details}"


@realtime
async def test_a_host_that_is_no_name() -> None:
    with pytest.raises(ChromeNotFound):
        await locate(f"http://{'a' * 70}.invalid:1")


@realtime
async def test_a_port_that_accepts_and_never_speaks(machine: Machine) -> None:
    async with listening(None) as port:
        folder = profile(machine, port=port.number)
        for endpoint in (f"http://127.0.0.1:{port.number}", str(folder)):
            with pytest.raises(ChromeNotFound) as caught:
                await locate(endpoint, deadline_s=0.2)
            assert caught.value.state == State.SILENT
            assert "answers nothing" in caught.value.message


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a full backlog refuses instead of dropping")
@realtime
async def test_a_port_whose_packets_are_dropped() -> None:
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for waiting in (first, second):
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        for scheme in ("http", "ws"):
            with pytest.raises(ChromeNotFound) as caught:
                await locate(f"{scheme}://127.0.0.1:{full.getsockname()[1]}", deadline_s=0.2)
            assert caught.value.state == State.PORT_CLOSED


@realtime
async def test_a_user_data_folder(machine: Machine) -> None:
    async with listening(classic()) as port:
        folder = profile(machine, "google-chrome", port=port.number)
        (folder / "DevToolsActivePort").write_bytes(f"{port.number}\r\n{GUID}\r\n".encode())
        expected = Endpoint(f"ws://127.0.0.1:{port.number}{GUID}", Mode.CLASSIC, "Google Chrome", folder)
        assert await locate(str(folder), machine=machine) == expected
        assert await locate("~/.config/google-chrome", machine=machine) == expected
        mine = profile(machine, "mine", port=port.number)
        assert (await locate(str(mine), machine=machine)).browser == "mine"


@realtime
@pytest.mark.parametrize(
    ("port_file", "local_state", "state"),
    [
        (None, None, State.DEBUGGING_OFF),
        (None, ALLOWED, State.RESTART_NEEDED),
        ("closed", None, State.STALE_PORT_FILE),
        ("closed", ALLOWED, State.RESTART_NEEDED),
        ("not a port", None, State.STALE_PORT_FILE),
    ],
)
async def test_a_user_data_folder_where_nothing_listens(
    machine: Machine, port_file: str | None, local_state: object, state: State
) -> None:
    folder = profile(machine, local_state=local_state)
    if port_file is not None:
        (folder / "DevToolsActivePort").write_text(port_file.replace("closed", f"{closed_port()}\n{GUID}"))
    with pytest.raises(ChromeDebuggingOff) as caught:
        await locate(str(folder), machine=machine)
    assert caught.value.state == state
    assert caught.value.details["tried"] == [{"browser": "Google Chrome", "path": str(folder), "state": state}]


@realtime
async def test_a_browser_that_only_has_to_be_started(machine: Machine) -> None:
    folder = profile(machine, local_state=ALLOWED, port=closed_port(), is_open=False)
    for endpoint in (str(folder), "auto"):
        with pytest.raises(ChromeNotFound) as caught:
            await locate(endpoint, machine=machine, fallback_port=closed_port())
        assert caught.value.state == State.NOT_RUNNING
        assert caught.value.hint == "Start Google Chrome, then try again."


# An administrator's policy


def blocked(machine: Machine, *names: str) -> Machine:
    root = present(machine.home) / "root"
    for name in names:
        folder = root / "etc" / name / "policies/managed"
        folder.mkdir(parents=True)
        (folder / "it.json").write_text('{"RemoteDebuggingAllowed": false}')
    return replace(machine, root=root)


@realtime
async def test_a_policy_is_told_where_nothing_listens(machine: Machine) -> None:
    managed = blocked(machine, "opt/chrome")
    folder = profile(machine, local_state=ALLOWED)
    for endpoint in ("auto", str(folder)):
        with pytest.raises(ChromePolicyBlocked) as caught:
            await locate(endpoint, machine=managed, fallback_port=closed_port())
        assert caught.value.state == State.POLICY_BLOCKED
        assert "etc/opt/chrome/policies/managed/it.json" in caught.value.message
        assert "another browser" in caught.value.hint
    profile(machine, "chromium")
    with pytest.raises(ChromeDebuggingOff) as off:
        await locate(machine=managed, fallback_port=closed_port())
    assert "in Chromium" in off.value.hint
    assert "Google Chrome: an administrator's policy forbids" in off.value.message


@realtime
async def test_a_browser_that_listens_is_not_blocked_whatever_a_policy_says(machine: Machine) -> None:
    async with listening(classic()) as port:
        profile(machine, port=port.number)
        found = await survey(blocked(machine, "opt/chrome"), fallback_port=closed_port())
    assert [(c.state, c.told) for c in found if c.installed] == [(State.CLASSIC, "listens on a debugging port")]


@realtime
async def test_a_folder_that_is_not_there(machine: Machine, tmp_path: Path) -> None:
    with pytest.raises(ChromeNotFound, match="absent: no such folder"):
        await locate(str(tmp_path / "absent"), machine=machine)


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "https://localhost:9222",
        "http://",
        "http://localhost:99999",
        "http://localhost:port",
        "ftp://x",
        "ws:///devtools",
        "http://[::1",
    ],
)
async def test_an_endpoint_of_no_known_form(endpoint: str, machine: Machine) -> None:
    with pytest.raises(InvalidArgument) as caught:
        await locate(endpoint, machine=machine)
    assert "user-data folder" in caught.value.hint


# The real one


@pytest.mark.browser
@realtime
async def test_chromium_in_approval_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    program = find_executable()
    if program is None:
        pytest.skip("no Chrome or Chromium is installed")
    monkeypatch.setattr(chrome, "FLAGS", [flag for flag in chrome.FLAGS if "remote-debugging" not in flag])
    with tempfile.TemporaryDirectory(prefix="t", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        profile = folder / "profile"
        profile.mkdir()
        (profile / "Local State").write_text(json.dumps(ALLOWED))
        before = read_folder("Chromium", profile)
        assert before.state is State.NOT_RUNNING
        process = await chrome.start(program, folder, ["--host-resolver-rules=MAP * ~NOTFOUND"], headless=True)
        try:
            url = await chrome.wait_for_endpoint(process, folder)
            found = await locate(str(profile))
            assert (found.url, found.mode) == (url, Mode.APPROVAL)
            bare = await locate(f"http://localhost:{url.split(':')[2].split('/')[0]}")
            assert bare.mode is Mode.APPROVAL
            assert is_open(profile)
        finally:
            await chrome.end(process)
        with pytest.raises(ChromeNotFound) as caught:
            await locate(str(profile))
        assert caught.value.state == State.NOT_RUNNING
