"""MCP over the standard input and output of this process.

While serving, descriptors 0 and 1 belong to the protocol: whoever else reads finds nothing, whoever else writes
reaches stderr. Blocking calls stay in worker threads, so neither an idle nor a stuck client holds anything up, and
every end (end of input, a signal, a dead parent, a closed output) is a quiet one within two seconds.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import trio

from nlm_cdp.errors import InvalidArgument
from nlm_cdp.mcp.jsonrpc import serve, ungrouped

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Awaitable, Callable, Iterator

    from mcp.server.lowlevel import Server

if sys.platform == "win32":
    import ctypes
    import msvcrt
else:
    import fcntl

__all__ = ["serve", "serve_stdio"]

CHUNK = 64 * 1024  # a pipe's capacity
PARENT_CHECK_S = 1
CLIENT_GONE = {errno.EPIPE, errno.ECONNRESET, errno.EIO}  # EIO: a terminal that hung up
if sys.platform == "win32":
    CLIENT_GONE.add(errno.EINVAL)  # what its C library makes of a closed pipe


async def serve_stdio(server: Server[Any], *, stdin_fd: int = 0, stdout_fd: int = 1) -> None:
    """Run `server` on standard input and output until its client is gone or a signal stops it; in the main thread.

    Both descriptors are what they were when it returns.
    """
    if not (is_open(stdin_fd) and is_open(stdout_fd)):
        raise InvalidArgument("Serving takes an open standard input and an open standard output.")
    signals = [signal.SIGTERM, signal.SIGINT]
    if sys.platform == "win32":
        signals.append(signal.SIGBREAK)
    serving = trio.CancelScope()
    parent = os.getppid()

    async def stop_on_signal(deliveries: AsyncIterable[int]) -> None:
        async for _ in deliveries:  # the later ones too: left over, they would strike once we are done
            serving.cancel()

    async def stop_when_orphaned() -> None:
        while os.getppid() == parent:  # noqa: ASYNC110 -- no event tells; Windows never changes its answer
            await trio.sleep(PARENT_CHECK_S)
        serving.cancel()

    with (
        ungrouped(),
        claimed(stdin_fd, open_nothing) as stdin,
        claimed(stdout_fd, open_stderr) as stdout,
        flushed_stdout(),
        trio.open_signal_receiver(*signals) as deliveries,
    ):
        async with trio.open_nursery() as watchers:
            watchers.start_soon(stop_on_signal, deliveries)
            watchers.start_soon(stop_when_orphaned)
            with serving:
                await serve(server, stdin.receive, stdout.send)
            watchers.cancel_scope.cancel()


class Descriptor:
    """A private duplicate of a descriptor. Only worker threads block on it; one stuck at the end stays behind."""

    def __init__(self, fd: int) -> None:
        if sys.platform == "win32":
            self.fd = os.dup(fd)
            msvcrt.setmode(self.fd, os.O_BINARY)
        else:
            self.fd = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)  # where no one expects a standard stream
        self.thread = trio.CapacityLimiter(1)
        self.waits = True

    async def receive(self) -> bytes:
        if await self.is_ready(trio.lowlevel.wait_readable):
            return read_some(self.fd)
        return await trio.to_thread.run_sync(read_some, self.fd, abandon_on_cancel=True, limiter=self.thread)

    async def send(self, data: bytes) -> None:
        # a pipe that is ready takes this much at once
        if (
            sys.platform != "win32"
            and len(data) <= select.PIPE_BUF
            and await self.is_ready(trio.lowlevel.wait_writable)
        ):
            write_all(self.fd, data)
        else:
            await trio.to_thread.run_sync(write_all, self.fd, data, abandon_on_cancel=True, limiter=self.thread)

    async def is_ready(self, wait: Callable[[int], Awaitable[None]]) -> bool:
        """Wait until the descriptor is ready; False for what cannot be waited for (files, some devices, Windows)."""
        if sys.platform == "win32" or not self.waits:
            return False
        try:
            await wait(self.fd)
        except OSError:
            self.waits = False
        return self.waits

    def close(self) -> None:
        if not self.thread.borrowed_tokens:  # a number that a thread still uses must not become another file's
            os.close(self.fd)


def read_some(fd: int) -> bytes:
    while True:
        try:
            return os.read(fd, CHUNK)
        except BlockingIOError:  # another holder of this pipe made it so
            select.select([fd], [], [])
        except OSError as error:
            if error.errno in CLIENT_GONE:
                return b""
            raise


def write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(fd, rest) :]
        except BlockingIOError:
            select.select([], [fd], [])
        except OSError as error:
            if error.errno in CLIENT_GONE:
                raise trio.BrokenResourceError from error
            raise


@contextmanager
def claimed(fd: int, open_substitute: Callable[[], int]) -> Iterator[Descriptor]:
    """Keep `fd` for the protocol alone: whoever else uses it meanwhile gets the substitute."""
    private = Descriptor(fd)
    try:
        substitute = open_substitute()
        try:
            redirect(fd, substitute)
            yield private
        finally:
            redirect(fd, private.fd)
            os.close(substitute)
    finally:
        private.close()


def redirect(fd: int, target: int) -> None:
    os.dup2(target, fd)
    if sys.platform == "win32" and fd in (0, 1):  # what child processes inherit
        ctypes.windll.kernel32.SetStdHandle(-10 - fd, ctypes.c_void_p(msvcrt.get_osfhandle(fd)))


def open_nothing() -> int:
    return os.open(os.devnull, os.O_RDONLY)


def open_stderr() -> int:
    return os.dup(2) if is_open(2) else os.open(os.devnull, os.O_WRONLY)


def is_open(fd: int) -> bool:
    if fd <= 2 and (sys.__stdin__, sys.__stdout__, sys.__stderr__)[fd] is None:
        return False  # closed when the process began: by now the number may be any file's
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


@contextmanager
def flushed_stdout() -> Iterator[None]:
    """What is printed before or meanwhile goes where descriptor 1 leads now, not later."""
    flush_stdout()
    try:
        yield
    finally:
        flush_stdout()


def flush_stdout() -> None:
    if sys.stdout is not None and not sys.stdout.closed:
        with suppress(BrokenPipeError):  # stderr is gone, too
            sys.stdout.flush()
