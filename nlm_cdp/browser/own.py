"""A browser beside the everyday one: started here, with a profile folder and a debugging port of its own.

What was started is on record in our data folder: its process, its port, and the path of its debugging socket, which
Chrome draws at random for each run. So a port that another browser has by now is not taken for it, and a process is
asked to close only while its command line names the profile folder.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from nlm_cdp.browser.candidate import ActivePort, Candidate, State
from nlm_cdp.browser.launch import ANSWER_S, PAUSE_S, Launched, data_of, launch
from nlm_cdp.browser.partfile import patiently
from nlm_cdp.browser.port import LOOPBACK, ask
from nlm_cdp.browser.processes import Run, ask_to_close, output_of, was_given
from nlm_cdp.errors import ChromeLost, FileRefused, NlmError
from nlm_cdp.local.filelock import locked
from nlm_cdp.local.files import write_whole
from nlm_cdp.wire.page import APP_HOSTS

if TYPE_CHECKING:
    from nlm_cdp.browser.machine import Machine

NAME = "nlm-cdp's own browser"
STOP_S, TURN_S = 15.0, 60.0


@dataclass(frozen=True, slots=True)
class Report:
    """What a command found or did, for its user."""

    running: bool
    text: str


def read_record(machine: Machine) -> Launched | None:
    """The record of a start; None where there is none that can be read."""
    if machine.data is None:
        return None
    try:
        found = json.loads((machine.data / "browser.json").read_bytes())
        record = Launched(**found)
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    numbers = type(record.pid) is int and record.pid > 1 and type(record.port) is int
    texts = all(type(text) is str for text in (record.path, record.profile, record.program))
    if not (numbers and texts):
        return None
    return record if ActivePort.parse(f"{record.port}\n{record.path}") == (record.port, record.path) else None


def write_record(machine: Machine, record: Launched) -> None:
    data = json.dumps(asdict(record), indent=1).encode()
    patiently(lambda: write_whole(data_of(machine) / "browser.json", data))


def candidate(machine: Machine) -> Candidate | None:
    """Where discovery may find the browser, if one was ever started; whether it listens is for its port to say."""
    record = read_record(machine)
    if record is None:
        return None
    return Candidate(NAME, Path(record.profile), State.OWN_STOPPED, ActivePort(record.port, record.path), own=True)


# The commands


async def start(machine: Machine, *, headless: bool = False, run: Run = output_of) -> Report:
    """Start the browser, or find it running."""
    async with turn(machine):
        record = read_record(machine)
        if record is not None and await listens(record):
            return Report(running=True, text=f"{NAME} is running already.\n{told(record)}\n{NEXT}")
        if record is not None and was_given(machine, record.pid, record.argument, run):
            raise ChromeLost(
                f"{NAME} is running (process {record.pid}), but its debugging port does not answer.",
                hint="Run `nlm-cdp browser --stop`, then `nlm-cdp browser` again.",
                state="silent",
            )
        record = await launch(machine, headless=headless)
        try:
            await trio.to_thread.run_sync(write_record, machine, record)
        except OSError as exc:  # what is not on record could not be found again
            ask_to_close(machine, record.pid, run)
            raise FileRefused(
                f"What was started cannot be put on record ({exc.strerror}), so it was closed again.",
                hint=f"Make {data_of(machine)} a folder that can be written to.",
                state="not_recorded",
            ) from exc
    return Report(running=True, text=f"Started {record.program}.\n{told(record)}\n{NEXT}")


async def status(machine: Machine) -> Report:
    """Whether the browser runs, and where; changes nothing."""
    record = read_record(machine)
    if record is None:
        return Report(running=False, text=f"{NAME} was never started here. `nlm-cdp browser` starts it.")
    if await listens(record):
        return Report(running=True, text=f"{NAME} is running.\n{told(record)}")
    text = f"{NAME} is not running. `nlm-cdp browser` starts it again.\nIts profile is in {record.profile}"
    return Report(running=False, text=text)


async def stop(machine: Machine, *, run: Run = output_of) -> Report:
    """Ask the browser to close, and wait until it has; its profile stays."""
    async with turn(machine):
        record = read_record(machine)
        if record is None:
            return Report(running=False, text=f"{NAME} was never started here.")
        if not was_given(machine, record.pid, record.argument, run):
            if await listens(record):
                raise NlmError(
                    f"{NAME} listens, but process {record.pid} is not the one that was started; nothing was closed.",
                    hint="Close its window by hand.",
                    state="not_ours",
                )
            return Report(running=False, text=f"{NAME} is not running.")
        ask_to_close(machine, record.pid, run)
        with trio.move_on_after(STOP_S):
            while was_given(machine, record.pid, record.argument, run):  # noqa: ASYNC110  (nobody tells of its end)
                await trio.sleep(PAUSE_S)
            return Report(running=False, text=f"Closed {NAME}. Its profile stays in {record.profile}")
    raise ChromeLost(
        f"{NAME} (process {record.pid}) was asked to close and has not done so within {STOP_S:g} s.",
        hint="A page of it may be asking something: look at its window, or close that by hand.",
        state="closing",
    )


NEXT = f"""\
Next: sign in to Gemini Notebook (https://{APP_HOSTS[0]}) in its window, once; then run `nlm-cdp doctor`.
It stays open when this command ends. While it runs, --endpoint auto uses it before any other browser.
`nlm-cdp browser --stop` closes it."""


def told(record: Launched) -> str:
    return f"Process {record.pid} listens on 127.0.0.1:{record.port}; its profile is in {record.profile}"


# How they do it


@asynccontextmanager
async def turn(machine: Machine) -> AsyncIterator[None]:
    """One start or stop at a time on this computer; whoever comes later finds what the first one did."""
    last = trio.current_time() + TURN_S
    while trio.current_time() < last:
        with locked(data_of(machine) / "browser.lock", wait=False) as mine:
            if mine:
                yield
                return
        await trio.sleep(PAUSE_S)
    raise ChromeLost(f"Another `nlm-cdp browser` has been at work for {TURN_S:g} s.", hint="Try again when it is done.")


async def listens(record: Launched) -> bool:
    """Whether this very run of the browser answers at its port."""
    return (await ask(LOOPBACK, record.port, ANSWER_S, path=record.path)).state is State.CLASSIC
