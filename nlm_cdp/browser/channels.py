"""Where each Chromium browser keeps its user data and its program: one table for Linux, macOS and Windows.

The places are `Machine.resolve`'s; the order of the table is the order of preference.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nlm_cdp.browser.machine import Machine
from nlm_cdp.errors import ChromeNotFound

if TYPE_CHECKING:
    from collections.abc import Iterator


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
                "home/.var/app/io.github.ungoogled_software.ungoogled_chromium/config/chromium",
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
    *(
        Channel(
            f"Microsoft Edge {name}",
            Places((f"config/microsoft-edge-{name.lower()}",), (f"path/microsoft-edge-{name.lower()}",)),
            application(f"Microsoft Edge {name}", f"support/Microsoft Edge {name}"),
            Places(
                (f"local/Microsoft/Edge {windows}/User Data",),
                (f"programs/Microsoft/Edge {windows}/Application/msedge.exe",),
            ),
        )
        for name, windows in (("Beta", "Beta"), ("Dev", "Dev"), ("Canary", "SxS"))
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
    *(
        Channel(
            f"Brave {name}",
            Places((f"config/BraveSoftware/Brave-Browser-{name}",), (f"path/brave-browser-{name.lower()}",)),
            application(f"Brave Browser {name}", f"support/BraveSoftware/Brave-Browser-{name}"),
            Places(
                (f"local/BraveSoftware/Brave-Browser-{name}/User Data",),
                (f"programs/BraveSoftware/Brave-Browser-{name}/Application/brave.exe",),
            ),
        )
        for name in ("Beta", "Nightly")
    ),
    Channel(
        "Vivaldi",
        Places(
            (
                "config/vivaldi",
                "home/snap/vivaldi/current/.config/vivaldi",
                "home/.var/app/com.vivaldi.Vivaldi/config/vivaldi",
            ),
            ("path/vivaldi-stable", "path/vivaldi"),
        ),
        application("Vivaldi", "support/Vivaldi"),
        Places(("local/Vivaldi/User Data",), ("programs/Vivaldi/Application/vivaldi.exe",)),
    ),
    Channel(
        "Vivaldi Snapshot",
        Places(("config/vivaldi-snapshot",), ("path/vivaldi-snapshot",)),
        application("Vivaldi Snapshot", "support/Vivaldi Snapshot"),
    ),
    Channel(
        "Arc",
        darwin=application("Arc", "support/Arc/User Data"),
        win32=Places(("local/Packages/TheBrowserCompany.Arc_ttt1ap7aakyb4/LocalCache/Local/Arc/User Data",)),
    ),
    Channel(
        "Opera",
        Places(
            (
                "config/opera",
                "home/snap/opera/current/.config/opera",
                "home/.var/app/com.opera.Opera/config/opera",
            ),
            ("path/opera",),
        ),
        application("Opera", "support/com.operasoftware.Opera"),
        Places(("roaming/Opera Software/Opera Stable",), ("local/Programs/Opera/opera.exe",)),
    ),
    Channel(
        "Opera Beta",
        Places(("config/opera-beta",), ("path/opera-beta",)),
        application("Opera Beta", "support/com.operasoftware.OperaNext"),
        Places(("roaming/Opera Software/Opera Next",), ("local/Programs/Opera beta/opera.exe",)),
    ),
    Channel(
        "Opera Developer",
        Places(("config/opera-developer",), ("path/opera-developer",)),
        application("Opera Developer", "support/com.operasoftware.OperaDeveloper"),
        Places(("roaming/Opera Software/Opera Developer",), ("local/Programs/Opera developer/opera.exe",)),
    ),
    Channel(
        "Opera GX",
        Places(("config/opera-gx",), ("path/opera-gx",)),
        application("Opera GX", "support/com.operasoftware.OperaGX"),
        Places(("roaming/Opera Software/Opera GX Stable",), ("local/Programs/Opera GX/opera.exe",)),
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
    return next((program for _, program in programs(machine or Machine.here())), None)


def programs(machine: Machine) -> Iterator[tuple[str, Path]]:
    """The browser that NLM_CDP_CHROME names and no other, else every (browser, program) installed."""
    if named := machine.environ.get("NLM_CDP_CHROME"):
        found = shutil.which(named, path=machine.environ.get("PATH", ""))
        if found is None:
            raise ChromeNotFound(
                f"NLM_CDP_CHROME names {named}, which is not a program here.",
                hint="Set NLM_CDP_CHROME to the browser's program, or unset it to use an installed one.",
                state="no_browser",
            )
        yield Path(found).name, Path(found)
        return
    for channel in CHANNELS:
        for place in channel.on(machine.platform).programs:
            for path in machine.resolve(place):
                if path.is_file():
                    yield channel.browser, path
