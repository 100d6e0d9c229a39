"""Where each Chromium browser keeps its user data and its program: one table for Linux, macOS and Windows.

A place is `base/rest`: the base is a folder of this machine (`Machine.bases`), or `path` for a program on PATH. A base
that the machine does not have, because HOME or LOCALAPPDATA is unset, drops its places and nothing else. The order of
the table is the order of preference.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nlm_cdp.errors import ChromeNotFound

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True)
class Machine:
    """What the table needs to know of a computer; `platform` is one of `sys.platform`'s words."""

    platform: str
    environ: Mapping[str, str]
    home: Path | None

    @classmethod
    def here(cls) -> Machine:
        """The computer and the user that run this program."""
        try:
            home: Path | None = Path.home()
        except RuntimeError:  # neither an environment variable nor the user database knows one
            home = None
        return cls(sys.platform, os.environ, home)

    def bases(self) -> dict[str, list[Path]]:
        """The folders that places are relative to; an unknown one is an empty list."""
        match self.platform:
            case "win32":
                local = self.folders("LOCALAPPDATA", default="AppData/Local")
                return {
                    "local": local,
                    "roaming": self.folders("APPDATA", default="AppData/Roaming"),
                    "programs": [*self.folders("PROGRAMFILES"), *self.folders("PROGRAMFILES(X86)"), *local],
                }
            case "darwin":
                support = [] if self.home is None else [self.home / "Library/Application Support"]
                applications = [] if self.home is None else [self.home / "Applications"]
                return {"support": support, "applications": [Path("/Applications"), *applications]}
            case _:
                return {
                    "config": self.folders("CHROME_CONFIG_HOME", "XDG_CONFIG_HOME", default=".config"),
                    "home": [] if self.home is None else [self.home],
                }

    def folders(self, *variables: str, default: str = "") -> list[Path]:
        """The first of these environment variables that is set, else `default` below the home folder."""
        for variable in variables:
            if value := self.environ.get(variable):
                return [Path(value)]
        return [self.home / default] if default and self.home is not None else []

    def resolve(self, place: str) -> Iterator[Path]:
        """The paths that a place of the table means here."""
        base, _, rest = place.partition("/")
        if base == "path":
            found = shutil.which(rest, path=self.environ.get("PATH", ""))
            yield from () if found is None else (Path(found),)
        else:
            yield from (folder / rest for folder in self.bases().get(base, ()))


@dataclass(frozen=True, slots=True)
class Places:
    """A browser's user-data folders and programs on one platform."""

    folders: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Channel:
    """One browser, by the name its user knows, and its places on each platform."""

    browser: str
    linux: Places = Places()
    darwin: Places = Places()
    win32: Places = Places()

    def on(self, platform: str) -> Places:
        return {"darwin": self.darwin, "win32": self.win32}.get(platform, self.linux)


def application(browser: str, *folders: str) -> Places:
    """A macOS browser, whose program has the application's own name."""
    return Places(folders, (f"applications/{browser}.app/Contents/MacOS/{browser}",))


CHANNELS = (
    Channel(
        "Google Chrome",
        Places(
            ("config/google-chrome", "home/.var/app/com.google.Chrome/config/google-chrome"),
            ("path/google-chrome-stable", "path/google-chrome"),
        ),
        application("Google Chrome", "support/Google/Chrome"),
        Places(("local/Google/Chrome/User Data",), ("programs/Google/Chrome/Application/chrome.exe",)),
    ),
    Channel(
        "Google Chrome Beta",
        Places(("config/google-chrome-beta",), ("path/google-chrome-beta",)),
        application("Google Chrome Beta", "support/Google/Chrome Beta"),
        Places(("local/Google/Chrome Beta/User Data",), ("programs/Google/Chrome Beta/Application/chrome.exe",)),
    ),
    Channel(
        "Google Chrome Dev",
        Places(
            ("config/google-chrome-unstable", "home/.var/app/com.google.ChromeDev/config/google-chrome-unstable"),
            ("path/google-chrome-unstable",),
        ),
        application("Google Chrome Dev", "support/Google/Chrome Dev"),
        Places(("local/Google/Chrome Dev/User Data",), ("programs/Google/Chrome Dev/Application/chrome.exe",)),
    ),
    Channel(
        "Google Chrome Canary",
        Places(("config/google-chrome-canary",), ("path/google-chrome-canary",)),
        application("Google Chrome Canary", "support/Google/Chrome Canary"),
        Places(("local/Google/Chrome SxS/User Data",), ("programs/Google/Chrome SxS/Application/chrome.exe",)),
    ),
    Channel(
        "Chromium",
        Places(
            (
                "config/chromium",
                "home/snap/chromium/common/chromium",
                "home/.var/app/org.chromium.Chromium/config/chromium",
            ),
            ("path/chromium", "path/chromium-browser"),
        ),
        application("Chromium", "support/Chromium"),
        Places(("local/Chromium/User Data",), ("programs/Chromium/Application/chrome.exe",)),
    ),
    Channel(
        "Microsoft Edge",
        Places(
            ("config/microsoft-edge", "home/.var/app/com.microsoft.Edge/config/microsoft-edge"),
            ("path/microsoft-edge-stable", "path/microsoft-edge"),
        ),
        application("Microsoft Edge", "support/Microsoft Edge"),
        Places(("local/Microsoft/Edge/User Data",), ("programs/Microsoft/Edge/Application/msedge.exe",)),
    ),
    Channel(
        "Brave",
        Places(
            (
                "config/BraveSoftware/Brave-Browser",
                "home/snap/brave/current/.config/BraveSoftware/Brave-Browser",
                "home/.var/app/com.brave.Browser/config/BraveSoftware/Brave-Browser",
            ),
            ("path/brave-browser", "path/brave"),
        ),
        application("Brave Browser", "support/BraveSoftware/Brave-Browser"),
        Places(
            ("local/BraveSoftware/Brave-Browser/User Data",),
            ("programs/BraveSoftware/Brave-Browser/Application/brave.exe",),
        ),
    ),
    Channel(
        "Vivaldi",
        Places(
            ("config/vivaldi", "home/.var/app/com.vivaldi.Vivaldi/config/vivaldi"),
            ("path/vivaldi-stable", "path/vivaldi"),
        ),
        application("Vivaldi", "support/Vivaldi"),
        Places(("local/Vivaldi/User Data",), ("programs/Vivaldi/Application/vivaldi.exe",)),
    ),
    Channel(
        "Arc",
        darwin=application("Arc", "support/Arc/User Data"),
        win32=Places(("local/Packages/TheBrowserCompany.Arc_ttt1ap7aakyb4/LocalCache/Local/Arc/User Data",)),
    ),
    Channel(
        "Opera",
        Places(("config/opera", "home/.var/app/com.opera.Opera/config/opera"), ("path/opera",)),
        application("Opera", "support/com.operasoftware.Opera"),
        Places(("roaming/Opera Software/Opera Stable",), ("local/Programs/Opera/opera.exe",)),
    ),
)


def user_data_folders(machine: Machine) -> Iterator[tuple[str, Path]]:
    """Every (browser, user-data folder) that may exist on this machine, the preferred ones first."""
    for channel in CHANNELS:
        for place in channel.on(machine.platform).folders:
            for folder in machine.resolve(place):
                yield channel.browser, folder


def find_executable(machine: Machine | None = None) -> Path | None:
    """The browser that NLM_CDP_CHROME names, else the first one installed."""
    machine = machine or Machine.here()
    if named := machine.environ.get("NLM_CDP_CHROME"):
        found = shutil.which(named, path=machine.environ.get("PATH", ""))
        if found is None:
            raise ChromeNotFound(
                f"NLM_CDP_CHROME names {named}, which is not a program here.",
                hint="Set NLM_CDP_CHROME to the browser's program, or unset it to use an installed one.",
                state="no_browser",
            )
        return Path(found)
    programs = (
        path
        for channel in CHANNELS
        for place in channel.on(machine.platform).programs
        for path in machine.resolve(place)
    )
    return next((path for path in programs if path.is_file()), None)
