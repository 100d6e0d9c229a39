"""Whether an administrator forbids remote debugging: the policy RemoteDebuggingAllowed, where each system keeps it.

Files and the registry are read as anyone may read them, so nothing ever asks the user. What cannot be read forbids
nothing: a browser that does not listen then says so itself. A policy that comes from Google's cloud is not seen here.
"""

from __future__ import annotations

import json
import plistlib
from typing import TYPE_CHECKING, NamedTuple
from xml.parsers.expat import ExpatError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nlm_cdp.browser.machine import Machine

POLICY = "RemoteDebuggingAllowed"
HIVES = ("HKEY_LOCAL_MACHINE", "HKEY_CURRENT_USER")


class Places(NamedTuple):
    """Where the policies of a browser's every channel are: folders below /etc, a preferences domain, a registry key."""

    linux: tuple[str, ...]
    darwin: str
    win32: str


FAMILIES = {
    "Google Chrome": Places(("opt/chrome",), "com.google.Chrome", r"Google\Chrome"),
    "Chromium": Places(("chromium", "chromium-browser"), "org.chromium.Chromium", "Chromium"),
    "Microsoft Edge": Places(("opt/edge",), "com.microsoft.Edge", r"Microsoft\Edge"),
    "Brave": Places(("brave",), "com.brave.Browser", r"BraveSoftware\Brave"),
    "Vivaldi": Places(("opt/vivaldi",), "com.vivaldi.Vivaldi", "Vivaldi"),
}
"""By the words that the names of a browser's channels begin with."""


def forbidding(machine: Machine, browser: str) -> str:
    """Where a policy forbids this browser remote debugging; empty where none does."""
    places = next((places for family, places in FAMILIES.items() if browser.startswith(family)), None)
    if places is None:
        return ""
    match machine.platform:
        case "win32":
            found = registered(machine, places.win32)
        case "darwin":
            found = preferred(machine, places.darwin)
        case _:
            found = configured(machine, places.linux)
    where, allowed = next(found, ("", None))  # the first that says anything decides
    return where if allowed is False else ""


def configured(machine: Machine, folders: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """Linux: every file of a folder, the alphabet's last one first."""
    if machine.root is None:
        return
    for folder in folders:
        for path in sorted(files_in(machine.root / "etc" / folder / "policies/managed"), reverse=True):
            try:
                policies = json.loads(path.read_bytes())
            except (OSError, ValueError, RecursionError):
                continue
            yield from stated(str(path), policies)


def files_in(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_file()]
    except OSError:
        return []


def preferred(machine: Machine, domain: str) -> Iterator[tuple[str, bool]]:
    """macOS: what a configuration profile sets, for this user and for all."""
    if machine.root is None:
        return
    managed = machine.root / "Library/Managed Preferences"
    folders = [managed] if machine.home is None else [managed / machine.home.name, managed]
    for folder in folders:
        path = folder / f"{domain}.plist"
        try:
            policies = plistlib.loads(path.read_bytes())
        except (OSError, ValueError, ExpatError, plistlib.InvalidFileException):
            continue
        yield from stated(str(path), policies)


def registered(machine: Machine, key: str) -> Iterator[tuple[str, bool]]:
    """Windows: the computer's policies, then the user's."""
    for hive in HIVES:
        path = rf"Software\Policies\{key}"
        value = machine.registry(hive, path, POLICY)
        if value in (0, 1):
            yield rf"{hive}\{path}", value == 1


def stated(where: str, policies: object) -> Iterator[tuple[str, bool]]:
    value = policies.get(POLICY) if isinstance(policies, dict) else None
    if isinstance(value, bool):
        yield where, value
