"""A file in the making: it stands beside its destination, and gets its name when it is complete.

It is made new and for its owner alone, so nobody else's file or link is ever written to. Taking an existing name needs
`overwrite`, and even a file that appears at the last moment is not clobbered without it. All calls block, so threads
run them.
"""

from __future__ import annotations

import errno
import hashlib
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from nlm_cdp import media
from nlm_cdp.errors import FileRefused

WINDOWS = os.name == "nt"
PAUSES_S = (0.05, 0.1, 0.2, 0.4, 0.8)
"""A virus scanner or an indexer holds a new file for a moment on Windows."""

NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV}
"""How file systems without hard links refuse one."""


class PartFile:
    """Open from the start; ends with `publish` or `discard`."""

    def __init__(self, destination: Path) -> None:
        self.destination = destination
        self.path = destination.parent / f".nlm-{token_hex(8)}.part"
        self.size, self.hash, self.head = 0, hashlib.sha256(), b""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
        try:
            destination.parent.mkdir(parents=True, exist_ok=True)
            self.file = os.fdopen(os.open(self.path, flags, 0o600), "w+b")
        except OSError as exc:
            raise unwritable(destination, exc) from None

    def write(self, data: bytes) -> None:
        if self.size < media.HEAD:
            self.head += data[: media.HEAD - self.size]
        self.hash.update(data)
        self.size += len(data)
        try:
            self.file.write(data)
        except OSError as exc:
            raise unwritable(self.destination, exc) from None

    def has_its_end(self, mime: str) -> bool | None:
        return media.has_its_end(self.file, mime)

    def publish(self, *, overwrite: bool) -> None:
        """Give the file its name; its bytes are on the disk by then."""
        try:
            self.file.flush()
            os.fsync(self.file.fileno())
            self.file.close()
            patiently(lambda: self.replace() if overwrite else self.claim())
        except FileExistsError:
            raise exists(self.destination) from None
        except OSError as exc:
            raise unwritable(self.destination, exc) from None

    def replace(self) -> None:
        self.path.replace(self.destination)

    def claim(self) -> None:
        """Take the name only if nobody has it."""
        if WINDOWS:
            self.path.rename(self.destination)  # refuses a name that is taken, which POSIX does not
            return
        try:
            os.link(self.path, self.destination)
        except OSError as exc:
            if exc.errno not in NO_LINKS:
                raise
            self.destination.touch(0o600, exist_ok=False)  # the name is ours from here on
            self.replace()
        else:
            self.path.unlink()

    def discard(self) -> None:
        """Leave nothing behind; after `publish` there is nothing."""
        with suppress(OSError):  # what could not be written is not wanted any more
            self.file.close()
        patiently(lambda: self.path.unlink(missing_ok=True))


def patiently(move: Callable[[], None]) -> None:
    """Windows refuses a file that another program has open: try again a few times."""
    for pause in PAUSES_S:
        try:
            return move()
        except PermissionError:
            if not WINDOWS:
                raise
            time.sleep(pause)
    return move()


def refuse_existing(destination: Path) -> None:
    """Raise FileRefused where something has the name already, be it a broken link."""
    if os.path.lexists(destination):
        raise exists(destination)


def exists(destination: Path) -> FileRefused:
    hint = "Say overwrite to replace it, or choose another name."
    return FileRefused(f"{destination.name} exists already", hint=hint, details={"path": str(destination)})


def unwritable(destination: Path, exc: OSError) -> FileRefused:
    why = exc.strerror or type(exc).__name__
    return FileRefused(f"{destination.name} cannot be written: {why}", details={"path": str(destination)})
