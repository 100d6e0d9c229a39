"""The computer, as far as finding a browser depends on it: one value, so that a test can be any computer.

A place is `base/rest`: the base is a folder of this machine (`Machine.bases`), or `path` for a program on PATH. A base
that the machine does not have, because HOME or LOCALAPPDATA is unset, drops its places and nothing else.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nlm_cdp.errors import FileRefused
from nlm_cdp.local.files import data_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


def no_registry(hive: str, key: str, name: str) -> object:
    """The registry of a computer that has none."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What is asked of a computer; `platform` is one of `sys.platform`'s words.

    `root`: where /etc and /Library are, `data`: our own data folder, `registry`: a value of Windows' registry; a
    machine without them has no policies and no browser of ours.
    """

    platform: str
    environ: Mapping[str, str]
    home: Path | None
    root: Path | None = None
    data: Path | None = None
    registry: Callable[[str, str, str], object] = no_registry

    @classmethod
    def here(cls) -> Machine:
        """The computer and the user that run this program."""
        try:
            home: Path | None = Path.home()
        except RuntimeError:  # neither an environment variable nor the user database knows one
            home = None
        try:
            data: Path | None = data_folder()
        except FileRefused:
            data = None
        return cls(sys.platform, os.environ, home, Path("/"), data, registry_value)

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


def registry_value(hive: str, key: str, name: str) -> object:
    """A value of this computer's registry; None where there is none, or no registry."""
    if sys.platform == "win32":
        import winreg

        try:
            with winreg.OpenKey(getattr(winreg, hive), key) as opened:
                value: object = winreg.QueryValueEx(opened, name)[0]
                return value
        except OSError:
            return None
    return None
