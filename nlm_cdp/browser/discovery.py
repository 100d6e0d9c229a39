"""Where Chrome listens, and why it does not.

Every browser's folder is read, every port found there is asked who it is, and the best listener wins; if there is none,
the error says what was found at each place. No websocket is opened here: in approval mode each one is a dialog on the
user's screen.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

import trio

from nlm_cdp.browser import own
from nlm_cdp.browser.candidate import ActivePort, Candidate, Endpoint, Mode, State, read_folder
from nlm_cdp.browser.channels import find_executable, user_data_folders
from nlm_cdp.browser.machine import Machine
from nlm_cdp.browser.policy import forbidding
from nlm_cdp.browser.port import LOOPBACK, Reply, ask, dial
from nlm_cdp.errors import ChromeDebuggingOff, ChromeNotFound, ChromePolicyBlocked, InvalidArgument, NlmError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Candidate", "Endpoint", "Machine", "Mode", "State", "find_executable", "locate", "survey"]

FORMS = "Use auto, http://host:port, ws://host:port/path, or the path of a user-data folder."
DEFAULT_PORTS = {"http": 80, "ws": 80, "wss": 443}
ERRORS: dict[State, type[NlmError]] = {
    State.DEBUGGING_OFF: ChromeDebuggingOff,
    State.RESTART_NEEDED: ChromeDebuggingOff,
    State.STALE_PORT_FILE: ChromeDebuggingOff,
    State.POLICY_BLOCKED: ChromePolicyBlocked,
}
"""Where nothing listens; every other state is ChromeNotFound."""


async def locate(
    endpoint: str = "auto", *, machine: Machine | None = None, fallback_port: int = 9222, deadline_s: float = 5
) -> Endpoint:
    """Find the browser to attach to: auto, or the one at http://host:port, ws://... or in a user-data folder."""
    machine = machine or Machine.here()
    if endpoint == "auto":
        return choose(await survey(machine, fallback_port=fallback_port, deadline_s=deadline_s))
    if "://" in endpoint:
        return await locate_url(endpoint, deadline_s)
    if not endpoint:
        raise InvalidArgument("The endpoint is empty.", hint=FORMS)
    # A home folder on a network may hang: its thread is then left behind, never waited for.
    candidate = await trio.to_thread.run_sync(read_named, machine, endpoint, abandon_on_cancel=True)
    candidate = await probe(candidate, deadline_s)
    if candidate.endpoint is None:
        raise explain([candidate])
    return candidate.endpoint


async def survey(
    machine: Machine | None = None, *, fallback_port: int = 9222, deadline_s: float = 5
) -> list[Candidate]:
    """Every place where a browser might listen, the preferred ones first, and what was found there."""
    candidates = await trio.to_thread.run_sync(read_all, machine or Machine.here(), abandon_on_cancel=True)
    # A fixed --remote-debugging-port leaves no file behind: only the port itself tells.
    candidates.append(Candidate(f"port {fallback_port}", None, State.PORT_CLOSED, ActivePort(fallback_port, "")))

    async def fill(index: int) -> None:
        candidates[index] = await probe(candidates[index], deadline_s)

    async with trio.open_nursery() as nursery:
        for index in range(len(candidates)):
            nursery.start_soon(fill, index)
    return candidates


def read_all(machine: Machine) -> list[Candidate]:
    mine = own.candidate(machine)  # who started it by our command wants it used, so it comes first
    found = [read_place(machine, browser, folder) for browser, folder in user_data_folders(machine)]
    return found if mine is None else [mine, *found]


def read_place(machine: Machine, browser: str, folder: Path) -> Candidate:
    """What a folder and the administrator's policies say."""
    candidate = read_folder(browser, folder)
    if candidate.installed and (where := forbidding(machine, browser)):
        return replace(candidate, state=State.POLICY_BLOCKED, detail=where)
    return candidate


def read_named(machine: Machine, endpoint: str) -> Candidate:
    folder = Path(endpoint)
    if folder.parts[:1] == ("~",) and machine.home is not None:
        folder = machine.home.joinpath(*folder.parts[1:])
    known = (browser for browser, default in user_data_folders(machine) if default == folder)
    return read_place(machine, next(known, folder.name), folder)


async def probe(candidate: Candidate, deadline_s: float) -> Candidate:
    """The candidate, corrected by what its port says."""
    if candidate.active is None:
        return candidate
    port, path = candidate.active
    reply = await ask(LOOPBACK, port, deadline_s, path=path or None)
    if reply.state.listening:
        url = f"ws://{host_and_port(reply.address, port)}{path or reply.path}"
        endpoint = Endpoint(url, Mode(reply.state), candidate.browser, candidate.folder)
        return replace(candidate, state=reply.state, headless=reply.headless, endpoint=endpoint)
    if candidate.folder is None or reply.state is State.SILENT:
        return replace(candidate, state=reply.state)
    return candidate


def choose(candidates: Sequence[Candidate]) -> Endpoint:
    """The endpoint of the best listener, or the error that explains why there is none."""
    # A headless browser is some program's tool, not the user's own: the last choice, and never by its port alone.
    listening = [c for c in candidates if c.folder or (c.state is State.CLASSIC and not c.headless)]
    for candidate in sorted(listening, key=lambda c: c.headless and not c.own):
        if candidate.endpoint is not None:
            return candidate.endpoint
    installed = [c for c in candidates if c.installed]
    if not installed:
        message = "No Chrome was found on this computer."
        raise ChromeNotFound(message, state=State.NOT_INSTALLED, details=tried(candidates))
    raise explain(installed)


def explain(candidates: Sequence[Candidate]) -> NlmError:
    """The error for places where nothing listens, led by the one that tells most of what its user wants."""
    lead = min(candidates, key=lambda candidate: list(State).index(candidate.state))
    others = [candidate.finding for candidate in candidates if candidate is not lead]
    error = ERRORS.get(lead.state, ChromeNotFound)
    message = "; ".join([lead.finding, *others]) + "."
    return error(message, hint=lead.hint, state=lead.state, details=tried(candidates))


def tried(candidates: Sequence[Candidate]) -> dict[str, list[dict[str, str]]]:
    return {"tried": [candidate.line for candidate in candidates]}


async def locate_url(endpoint: str, deadline_s: float) -> Endpoint:
    try:
        url = urlsplit(endpoint)
        default_port = DEFAULT_PORTS[url.scheme]
        host, port = url.hostname, url.port or default_port
    except (ValueError, KeyError):
        host = None
    if not host:
        raise InvalidArgument("The endpoint is no address of a browser.", hint=FORMS)
    # Chrome listens on 127.0.0.1, where `localhost` may mean ::1 first.
    addresses = LOOPBACK if host == "localhost" else (host,)
    if url.scheme == "http":
        reply = await ask(addresses, port, deadline_s)
        if reply.state.listening:
            return Endpoint(f"ws://{host_and_port(reply.address, port)}{reply.path}", Mode(reply.state), reply.browser)
    else:
        address = await dial(addresses, port, deadline_s)
        if address is not None:
            return Endpoint(endpoint if address == host else renamed(url, address, port), Mode.EXPLICIT)
        reply = Reply(State.PORT_CLOSED)
    # The path of a websocket address may hold a secret: only host and port are told.
    raise explain([Candidate(host_and_port(host, port), None, reply.state)])


def renamed(url: SplitResult, address: str, port: int) -> str:
    user, at, _ = url.netloc.rpartition("@")
    return url._replace(netloc=f"{user}{at}{host_and_port(address, port)}").geturl()


def host_and_port(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
