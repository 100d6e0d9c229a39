"""The record of what this computer sent to the service: one JSON line for each request, without its content.

Several processes write to one file: a line is one append, which the system keeps whole, so writing takes no lock
(Windows does not promise that; there each line takes one). A file that has grown takes the place of the older one,
under a lock. What cannot be written is reported once and fails nobody's call.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import time
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nlm_cdp.errors import FileRefused
from nlm_cdp.local.filelock import locked
from nlm_cdp.local.files import data_folder
from nlm_cdp.local.traffic import TOOL, Exchange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

logger = logging.getLogger(__name__)

VARIABLE = "NLM_CDP_AUDIT"
LARGEST = 4 * 2**20
"""Bytes of a file before it becomes the older one: some 18,000 requests."""
NOTEBOOK = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
OPENING = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class Audit:
    """An `Observer` that writes lines; also reads them, and removes them."""

    def __init__(self, path: Path, *, largest: int = LARGEST, now: Callable[[], float] = time.time) -> None:
        self.path, self.largest, self.now = path, largest, now
        self.older = path.with_name(f"{path.stem}.older{path.suffix}")
        self.lock = path.with_name(f"{path.stem}.lock")
        self.reported = False

    @classmethod
    def here(cls) -> Audit:
        """The record of the user who runs this. Raises FileRefused where there is no folder for it."""
        return cls(data_folder() / "audit.jsonl")

    def __call__(self, seen: Exchange) -> None:
        try:
            self.append(line(seen, TOOL.get(), self.now()))
        except OSError as exc:
            if not self.reported:
                self.reported = True
                logger.warning(
                    "The audit record %s cannot be written (%s); calls go on without it. %s=0 turns it off.",
                    self.path, exc.strerror or type(exc).__name__, VARIABLE,
                )  # fmt: skip

    def append(self, data: bytes) -> None:
        with locked(self.lock) if sys.platform == "win32" else nullcontext():
            length = self.write(data)
        if length > self.largest:
            self.rotate()

    def write(self, data: bytes) -> int:
        """The file's length afterwards."""
        try:
            fd = os.open(self.path, OPENING, 0o600)
        except FileNotFoundError:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            fd = os.open(self.path, OPENING, 0o600)
        try:
            if os.write(fd, data) < len(data):
                raise OSError(0, "the disk is full")
            return os.fstat(fd).st_size
        finally:
            os.close(fd)

    def rotate(self) -> None:
        """Make the file the older one, unless another process does that or has just done it."""
        with locked(self.lock, wait=False) as mine:
            if mine and self.path.stat().st_size > self.largest:
                with suppress(PermissionError):  # another process has it open, on Windows: the next line tries again
                    self.path.replace(self.older)

    def lines(self, since: float = 0) -> Iterator[dict[str, Any]]:
        """What is on record from a time on, the oldest first; a damaged line is left out."""
        for path in (self.older, self.path):
            try:
                with path.open("rb") as file:
                    for text in file:
                        found = parsed(text)
                        if found is not None and moment(found) >= since:
                            yield found
            except FileNotFoundError:
                continue

    def clear(self) -> None:
        with locked(self.lock):
            for path in (self.older, self.path):
                path.unlink(missing_ok=True)


def audit() -> Audit | None:
    """The record of this user; None where it is turned off, or there is no folder for it."""
    if is_off():
        return None
    try:
        return Audit.here()
    except FileRefused:
        return None


def is_off() -> bool:
    return os.environ.get(VARIABLE) == "0"


def line(seen: Exchange, tool: str, now: float) -> bytes:
    time = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    about = {
        "time": time,
        "tool": tool or None,
        "rpc": seen.rpc,
        "method": seen.method,
        "effect": seen.effect,
        # a raw call's may be any text
        "notebook": seen.notebook if seen.notebook and NOTEBOOK.fullmatch(seen.notebook) else None,
        "sent": seen.sent,
        "received": seen.received,
        "status": seen.status,
        "outcome": seen.outcome,
        "code": seen.code,
        "ms": round(seen.seconds * 1000),
    }
    return json.dumps(about, separators=(",", ":")).encode() + b"\n"


def parsed(text: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
        moment(found)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def moment(found: dict[str, Any]) -> float:
    return datetime.fromisoformat(found["time"]).timestamp()
