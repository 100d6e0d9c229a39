"""Where fixtures are written: `<rpc id>-<Method>/<scenario>.json`, numbered in the order of their requests.

A name is taken when the request is known, so that what answers first does not change it. Of exchanges that turn out the
same, only the first keeps a file.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

from nlm_cdp.capture.calls import Recorded
from nlm_cdp.capture.fixture import Fixture, checked, folder_of
from nlm_cdp.capture.reading import declared
from nlm_cdp.local.files import write_whole
from nlm_cdp.overrides import Overrides


class Folder:
    """Fixtures of one recording. `written` counts files, `same` the exchanges that were like one before."""

    def __init__(self, root: Path, scenario: str = "", overrides: Overrides | None = None) -> None:
        self.root, self.scenario, self.overrides = root, scenario, overrides or Overrides()
        self.taken = Counter[str]()
        self.hashes: dict[bytes, Path] = {}
        self.written = self.same = 0

    def claim(self, call: Recorded) -> Path:
        """The next name for a call."""
        rpc = declared(call, self.overrides)
        stem = "-".join(filter(None, (self.scenario, rpc.variant if rpc is not None else ""))) or "plain"
        name = f"{folder_of(call, rpc)}/{stem}"
        self.taken[name] += 1
        number = f"-{self.taken[name]}" if self.taken[name] > 1 else ""
        return self.root / f"{name}{number}.json"

    def write(self, path: Path, fixture: Fixture) -> Path | None:
        """Put a fixture into its place; None where an equal one has one. Raises LooksPersonal, having written nothing.

        An equal one with a later number gives way, so that the files do not depend on which answer came first.
        """
        text = checked(fixture.text).encode()
        digest = hashlib.sha256(text).digest()
        before = self.hashes.get(digest)
        if before is not None and before.parent == path.parent:
            self.same += 1
            if number(before) < number(path):
                return None
            before.unlink()
            self.written -= 1
        write_whole(path, text)
        self.hashes[digest] = path
        self.written += 1
        return path


def number(path: Path) -> int:
    tail = path.stem.rpartition("-")[2]
    return int(tail) if tail.isdecimal() else 1
