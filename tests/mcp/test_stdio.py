"""Standard input and output: whose they are, what ends the serving, and that nothing ever waits for a client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import mcp_types
import pytest
import trio
import trio.testing
from mcp import Client, StdioServerParameters
from mcp.server.lowlevel import Server

from nlm_cdp.errors import InvalidArgument
from nlm_cdp.mcp.stdio import serve_stdio

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVER = Path(__file__).with_name("stdio_server.py")
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX descriptors and signals")
PING = b'{"jsonrpc":"2.0","id":"ping","method":"ping"}\n'
PONG = {"jsonrpc": "2.0", "id": "ping", "result": {}}


def call(tool: str, **arguments: Any) -> bytes:
    params = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": tool, "method": "tools/call", "params": params}).encode() + b"\n"


def initialize() -> bytes:
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    return json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).encode() + b"\n"


# In this process, over descriptors of our own


class Pipes:
    """A client's ends (`to_server`, `from_server`) and a server's (`stdin`, `stdout`)."""

    def __init__(self) -> None:
        self.stdin, self.to_server = os.pipe()
        self.from_server, self.stdout = os.pipe()
        self.open = {self.stdin, self.to_server, self.from_server, self.stdout}
        self.unread = b""

    def close(self, *fds: int) -> None:
        for fd in fds or tuple(self.open):
            os.close(fd)
            self.open.remove(fd)

    def ask(self, line: bytes) -> None:
        os.write(self.to_server, line)

    async def answer(self) -> dict[str, Any]:
        while b"\n" not in self.unread:
            self.unread += await trio.to_thread.run_sync(os.read, self.from_server, 65536)
        line, self.unread = self.unread.split(b"\n", 1)
        message: dict[str, Any] = json.loads(line)
        return message


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    pipes = Pipes()
    yield pipes
    pipes.close()


async def serve_on(pipes: Pipes) -> None:
    await serve_stdio(new_server(), stdin_fd=pipes.stdin, stdout_fd=pipes.stdout)


def new_server() -> Server[Any]:
    async def on_call(_ctx: Any, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        text = "x" * (params.arguments or {})["size"]
        return mcp_types.CallToolResult(content=[mcp_types.TextContent(type="text", text=text)])

    return Server("test", on_call_tool=on_call)


def identity(fd: int) -> tuple[int, int]:
    status = os.fstat(fd)
    return status.st_dev, status.st_ino


@pytest.mark.realtime
async def test_serving_again_and_the_descriptors_are_what_they_were(pipes: Pipes) -> None:
    before = identity(pipes.stdin), identity(pipes.stdout)
    devnull = os.open(os.devnull, os.O_RDONLY)
    meanwhile = identity(devnull), identity(2)
    os.close(devnull)
    for end in ("cancel", "cancel", "input"):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve_on, pipes)
            pipes.ask(PING)
            assert await pipes.answer() == PONG
            assert (identity(pipes.stdin), identity(pipes.stdout)) == meanwhile
            if end == "cancel":
                nursery.cancel_scope.cancel()
            else:
                pipes.close(pipes.to_server)
        assert (identity(pipes.stdin), identity(pipes.stdout)) == before
    assert not sys.stdin.closed
    assert not sys.stdout.closed
    assert not sys.stderr.closed


@POSIX
@pytest.mark.realtime
async def test_nothing_stays_open_or_running(pipes: Pipes) -> None:
    async def once() -> int:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve_on, pipes)
            pipes.ask(PING)
            assert await pipes.answer() == PONG
            nursery.cancel_scope.cancel()
        return len(os.listdir("/dev/fd"))  # noqa: PTH208

    assert await once() == await once()
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


@pytest.mark.realtime
async def test_a_client_that_stops_reading_does_not_stop_the_loop(pipes: Pipes) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve_on, pipes)
        pipes.ask(initialize())
        assert (await pipes.answer())["id"] == 0
        pipes.ask(call("fill", size=1_000_000))
        # its first bytes are here, the rest is more than a pipe holds
        pipes.unread += await trio.to_thread.run_sync(os.read, pipes.from_server, 1)
        pipes.close(pipes.to_server)
    left = await trio.to_thread.run_sync(os.read, pipes.from_server, 2_000_000)
    assert left.startswith(b'"jsonrpc"')


@pytest.mark.realtime
async def test_a_closed_output_ends_quietly(pipes: Pipes, capfd: pytest.CaptureFixture[str]) -> None:
    pipes.close(pipes.from_server)
    pipes.ask(PING)
    await serve_on(pipes)
    assert capfd.readouterr() == ("", "")


@POSIX
@pytest.mark.realtime
async def test_pipes_that_others_made_non_blocking(pipes: Pipes) -> None:
    os.set_blocking(pipes.stdin, False)
    os.set_blocking(pipes.stdout, False)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve_on, pipes)
        pipes.ask(initialize() + call("much", size=1_000_000))
        assert (await pipes.answer())["id"] == 0
        assert len((await pipes.answer())["result"]["content"][0]["text"]) == 1_000_000
        pipes.close(pipes.to_server)


@POSIX
@pytest.mark.realtime
async def test_a_terminal(pipes: Pipes) -> None:
    import tty  # POSIX only

    keyboard, terminal = os.openpty()
    tty.setraw(terminal)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: serve_stdio(new_server(), stdin_fd=terminal, stdout_fd=pipes.stdout))
        os.write(keyboard, PING)
        assert await pipes.answer() == PONG
        os.close(keyboard)  # hung up
    os.close(terminal)


@pytest.mark.realtime
async def test_a_parent_that_is_gone_ends_it(pipes: Pipes, monkeypatch: pytest.MonkeyPatch) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve_on, pipes)
        pipes.ask(PING)
        assert await pipes.answer() == PONG
        monkeypatch.setattr(os, "getppid", lambda: 1)


@pytest.mark.realtime
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_it_and_further_ones_change_nothing(pipes: Pipes, number: signal.Signals) -> None:
    started, tidied_up = trio.Event(), False

    async def on_call(_ctx: Any, _params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        nonlocal tidied_up
        try:
            started.set()
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True):
                signal.raise_signal(number)
                await trio.testing.wait_all_tasks_blocked()
            tidied_up = True
        raise AssertionError

    async with trio.open_nursery() as nursery:
        server: Server[Any] = Server("test", on_call_tool=on_call)
        nursery.start_soon(lambda: serve_stdio(server, stdin_fd=pipes.stdin, stdout_fd=pipes.stdout))
        pipes.ask(initialize() + call("linger"))
        await started.wait()
        signal.raise_signal(number)
    assert tidied_up


async def test_a_closed_descriptor_is_an_error_and_nothing_is_claimed(
    pipes: Pipes, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = identity(pipes.stdin)
    pipes.close(pipes.stdout)
    with pytest.raises(InvalidArgument, match="open standard output"):
        await serve_stdio(new_server(), stdin_fd=pipes.stdin, stdout_fd=pipes.stdout)
    monkeypatch.setattr(sys, "__stdout__", None)
    with pytest.raises(InvalidArgument, match="open standard output"):
        await serve_stdio(new_server(), stdin_fd=pipes.stdin)
    assert identity(pipes.stdin) == before


# A process of its own


def start(stdin: int, *arguments: str, **environ: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(SERVER.parents[2]), "PYTHONUNBUFFERED": "", **environ}
    command = [sys.executable, "-W", "error", "-X", "dev", *(arguments or (str(SERVER),))]
    return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)


async def finish(process: subprocess.Popen[bytes], stdin: bytes | None = None) -> tuple[list[dict[str, Any]], str]:
    """Close the input, expect a clean end, and return the messages and what stderr says."""
    with trio.fail_after(20):
        stdout, stderr = await trio.to_thread.run_sync(process.communicate, stdin, abandon_on_cancel=True)
    errors = stderr.decode()
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    assert errors.endswith(f"served{os.linesep}")
    assert b"\r" not in stdout
    assert stdout[-1:] in (b"\n", b"")
    return [json.loads(line) for line in stdout.decode("utf-8").split("\n")[:-1]], errors


async def said(stream: IO[bytes], line: bytes) -> None:
    while (heard := await trio.to_thread.run_sync(stream.readline)) != line:
        assert heard


@pytest.mark.realtime
async def test_code_pages_bad_bytes_and_dirt_on_the_output() -> None:
    process = start(subprocess.PIPE, PYTHONIOENCODING="cp1252", PYTHONUTF8="0", LC_ALL="C")
    text = "→ — “ 🧪"
    lines = initialize() + call("echo", text=text) + b"\xff\n" + call("dirt") + PING.replace(b"\n", b"\r\n")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(lines)
    process.stdin.flush()
    answers = [json.loads(await trio.to_thread.run_sync(process.stdout.readline)) for _ in range(5)]
    last, errors = await finish(process, b"{}")
    answers += last
    by_id = {answer["id"]: answer for answer in answers if answer["id"] is not None}
    assert by_id["echo"]["result"]["content"][0]["text"] == text
    assert by_id["dirt"]["result"]["content"][0]["text"] == "read b''"
    assert by_id["ping"] == PONG
    assert [answer["error"]["code"] for answer in answers if answer["id"] is None] == [-32700, -32600]
    for dirt in ("before", "printed", "written", "said by a child"):
        assert dirt in errors


@pytest.mark.realtime
async def test_end_of_input_while_idle_and_while_a_tool_runs() -> None:
    process = start(subprocess.PIPE)
    answers, _ = await finish(process, initialize())
    assert [answer["id"] for answer in answers] == [0]
    process = start(subprocess.PIPE)
    answers, errors = await finish(process, initialize() + call("sleep"))
    assert [answer["id"] for answer in answers] == [0, "sleep"]
    assert "tidied up" in errors


@POSIX
@pytest.mark.realtime
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_on_an_open_pipe(number: signal.Signals) -> None:
    read, write = os.pipe()
    idle, busy = start(read), start(subprocess.PIPE)
    os.close(read)
    os.write(write, PING)
    assert idle.stdout is not None
    assert json.loads(await trio.to_thread.run_sync(idle.stdout.readline)) == PONG
    idle.send_signal(number)
    answers, _ = await finish(idle)
    assert answers == []
    os.close(write)
    assert busy.stdin is not None
    assert busy.stderr is not None
    busy.stdin.write(initialize() + call("sleep"))
    busy.stdin.flush()
    await said(busy.stderr, b"sleeping\n")
    busy.send_signal(number)
    answers, errors = await finish(busy)
    assert [answer["id"] for answer in answers] == [0, "sleep"]
    assert "tidied up" in errors


@POSIX
@pytest.mark.realtime
@pytest.mark.parametrize("content", [None, b"", PING])
async def test_devnull_and_files_as_input(content: bytes | None, tmp_path: Path) -> None:
    path = Path(os.devnull)
    if content is not None:
        path = tmp_path / "input"
        path.write_bytes(content)
    with path.open("rb") as file:
        process = start(file.fileno())
    answers, _ = await finish(process)
    assert answers == ([PONG] if content else [])


@POSIX
@pytest.mark.realtime
async def test_the_parent_dies_while_a_sibling_holds_the_input_open() -> None:
    program = f"import subprocess, sys; subprocess.run([sys.executable, {str(SERVER)!r}])"
    read, write = os.pipe()
    parent = start(read, "-c", program)
    os.close(read)
    os.write(write, initialize() + call("sleep"))
    assert parent.stderr is not None
    await said(parent.stderr, b"sleeping\n")
    parent.kill()
    with trio.fail_after(20):
        _, stderr = await trio.to_thread.run_sync(parent.communicate, abandon_on_cancel=True)
    assert stderr.decode().endswith("tidied up\nserved\n")
    os.close(write)


@pytest.mark.realtime
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_sdk_client_in_both_of_its_eras(mode: Literal["legacy", "auto"]) -> None:
    environment = {"PYTHONPATH": str(SERVER.parents[2]), "PYTHONUNBUFFERED": ""}
    parameters = StdioServerParameters(command=sys.executable, args=[str(SERVER)], env=environment)
    async with Client(parameters, mode=mode) as client:
        result = await client.call_tool("echo", {"text": "→ 🧪"})
        assert result.content == [mcp_types.TextContent(type="text", text="→ 🧪")]
