"""nlm-capture as a process of its own, and everything it says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio

COMMAND = [sys.executable, "-m", "nlm_cdp.capture.cli"]
Output = trio.abc.ReceiveStream


class Process:
    """One run: what it told its user, and its results."""

    def __init__(self, process: trio.Process, told: Output, results: Output) -> None:
        self.process = process
        self.streams = told, results
        self.said = self.results = ""
        self.open = 2
        self.news = trio.lowlevel.ParkingLot()

    async def hear(self) -> None:
        async for piece in pieces(self.streams[0]):
            self.said += piece
            self.news.unpark_all()
        self.ended()

    async def read(self) -> None:
        async for piece in pieces(self.streams[1]):
            self.results += piece
            self.news.unpark_all()
        self.ended()

    def ended(self) -> None:
        self.open -= 1
        self.news.unpark_all()

    async def until(self, text: str, *, times: int = 1) -> None:
        """Wait for a text, or for as many of it; a run that ends without fails at once."""
        with trio.fail_after(30):
            while (self.said + self.results).count(text) < times:
                assert self.open, f"it never said {text!r}: {self.said}{self.results}"
                await self.news.park()


async def pieces(stream: Output) -> AsyncIterator[str]:
    try:
        async for piece in stream:
            yield piece.decode()
    except trio.BrokenResourceError:  # how a terminal ends whose other side is closed
        return


@asynccontextmanager
async def running(endpoint: str, folder: Path, *arguments: str) -> AsyncIterator[Process]:
    """A run without a terminal, which has ended when this is left."""
    process = await started(endpoint, folder, arguments, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    assert process.stdout is not None
    run = Process(process, process.stderr, process.stdout)
    async with attended(run):
        yield run


@asynccontextmanager
async def attended(run: Process) -> AsyncIterator[None]:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(run.hear)
        nursery.start_soon(run.read)
        try:
            yield
            with trio.fail_after(20):
                await run.process.wait()
        finally:
            if run.process.returncode is None:
                run.process.kill()
                await run.process.wait()


async def started(endpoint: str, folder: Path, arguments: tuple[str, ...], **pipes: Any) -> trio.Process:
    environ = dict(os.environ) | {"NLM_CDP_DATA_DIR": str(folder / "data"), "NLM_CDP_OVERRIDES": ""}
    command = [*COMMAND, *arguments, "--endpoint", endpoint]
    return await trio.lowlevel.open_process(command, stdout=subprocess.PIPE, env=environ, **pipes)


# At a terminal


class Seated(Process):
    """A run whose standard input and standard error are one terminal, at which somebody types."""

    def __init__(self, process: trio.Process, terminal: Any) -> None:
        assert process.stdout is not None
        super().__init__(process, terminal, process.stdout)
        self.terminal = terminal

    async def types(self, keys: str) -> None:
        await self.terminal.send_all(keys.encode())


@asynccontextmanager
async def seated(endpoint: str, folder: Path, *arguments: str) -> AsyncIterator[Seated]:
    import pty

    outer, inner = pty.openpty()
    async with trio.lowlevel.FdStream(outer) as terminal:
        try:
            process = await started(endpoint, folder, arguments, stdin=inner, stderr=inner)
        finally:
            os.close(inner)
        run = Seated(process, terminal)
        async with attended(run):
            yield run
