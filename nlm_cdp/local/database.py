"""One private SQLite file, shared safely by several processes and several tasks.

Every call is one transaction in a worker thread, so a write happens whole or not at all, whatever is cancelled. The
file is its user's alone from the moment it exists. Whatever SQLite or the filesystem has to complain of is translated
here: NotReady for a file that another process keeps locked, FileRefused for one that cannot be used.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
import threading
from contextlib import closing
from itertools import takewhile
from typing import TYPE_CHECKING, TypeVar

import trio

from nlm_cdp.errors import FileRefused, InvalidArgument, NlmError, NotReady

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

T = TypeVar("T")

BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
BUSY_TRIES = 20
BUSY_WAIT_S = 0.25
"""SQLite waits this long for another process; a cancellation is heard between the tries."""

SUFFIXES = ("-wal", "-shm", "-journal", "")
"""Of the files that make up a database; the one that tells whether there is a database goes last when they go."""

OPENING = threading.Lock()
"""Closing a file drops all locks that this process has on it: nobody may use one while it is being made."""


class Database:
    """The file, made and opened by the first call; `migrations` are the steps from an empty one to today's schema.

    A file's `user_version` counts the steps it has taken, so steps are only ever appended.
    """

    def __init__(self, locate: Callable[[], Path], migrations: Sequence[Sequence[str]]) -> None:
        self.locate = locate
        self.migrations = migrations
        self.lock = trio.Lock()
        self.connection: sqlite3.Connection | None = None
        self.closed = False

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self.transaction("BEGIN", work)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self.transaction("BEGIN IMMEDIATE", work)

    async def transaction(self, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        for _ in range(BUSY_TRIES):
            async with self.lock:
                if self.closed:
                    raise trio.ClosedResourceError
                try:
                    return await trio.to_thread.run_sync(self.attempt, begin, work)
                except sqlite3.OperationalError:
                    # Only for a lock, see below; SQLite may refuse at once where two wait for each other.
                    await trio.sleep(0.02)
        raise NotReady("Another process keeps the local store locked.", hint="Try again shortly.", state="locked")

    def attempt(self, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        """The transaction, in a worker thread; a sqlite3.OperationalError comes through for a lock, and only then."""
        path = self.locate()
        try:
            if not path.exists():  # removed under us, by a clean-up
                self.disconnect()
            self.connection = self.connection or open_database(path, self.migrations)
            with self.connection as db:  # commits or rolls back
                db.execute(begin)
                return work(db)
        except UnicodeEncodeError:
            raise InvalidArgument("An id holds half of a character.") from None
        except (sqlite3.Error, OSError) as error:
            if error_code(error) in BUSY:
                raise
            self.disconnect()  # by the next call the file may have been repaired, or moved away
            raise translate(error, path) from error

    async def files(self) -> list[tuple[Path, int]]:
        """The files there are, with their bytes; asking makes none."""
        return await trio.to_thread.run_sync(self.measure)

    def measure(self) -> list[tuple[Path, int]]:
        path = self.locate()
        try:
            return [(file, file.lstat().st_size) for file in files_of(path) if file.exists() or file.is_symlink()]
        except OSError as error:
            raise translate(error, path) from error

    async def remove(self) -> bool:
        """Remove the files; False where another process has them open. The next call makes new ones."""
        async with self.lock:
            if self.closed:
                raise trio.ClosedResourceError
            return await trio.to_thread.run_sync(self.unlink)

    def unlink(self) -> bool:
        path = self.locate()
        self.disconnect()
        with OPENING:
            refuse_links(path)
            if path.exists() and in_use(path):
                return False
            try:
                for file in files_of(path):
                    file.unlink(missing_ok=True)
            except OSError as error:
                raise translate(error, path) from error
        return True

    def disconnect(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    async def aclose(self) -> None:
        with trio.CancelScope(shield=True):
            async with self.lock:
                self.closed = True
                await trio.to_thread.run_sync(self.disconnect)


def open_database(path: Path, migrations: Sequence[Sequence[str]]) -> sqlite3.Connection:
    with OPENING:
        make_private(path)
        db = sqlite3.connect(path, timeout=BUSY_WAIT_S, isolation_level=None, check_same_thread=False)
        try:
            use_wal(db)
            migrate(db, path, migrations)
        except BaseException:
            db.close()
            raise
        return db


def make_private(path: Path) -> None:
    """Make the file, for its user only; modes are set again after the making because of the umask."""
    for folder in reversed(list(takewhile(lambda folder: not folder.exists(), path.parents))):
        folder.mkdir(0o700, exist_ok=True)
        folder.chmod(0o700)
    refuse_links(path)
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            raise FileRefused(f"{path} is not a file.", state="unusable") from None
        if sys.platform != "win32" and mode & 0o077:
            path.chmod(0o600)
        return
    try:
        if sys.platform != "win32":
            os.fchmod(file, 0o600)
    finally:
        os.close(file)


def files_of(path: Path) -> list[Path]:
    return [path.with_name(path.name + suffix) for suffix in SUFFIXES]


def refuse_links(path: Path) -> None:
    for file in files_of(path):
        if file.is_symlink():
            hint = "Move the link away: an empty store takes its place."
            raise FileRefused(f"{file} is a symbolic link.", hint=hint, state="symlink")


def in_use(path: Path) -> bool:
    """Whether another process has this database open: only then can it not be had for us alone."""
    try:
        with closing(sqlite3.connect(path, timeout=BUSY_WAIT_S, isolation_level=None)) as db:
            db.execute("PRAGMA locking_mode = EXCLUSIVE")
            db.execute("BEGIN EXCLUSIVE")
            db.execute("ROLLBACK")
    except sqlite3.Error as error:  # what is no database, or a damaged one, is nobody's
        return error_code(error) in BUSY
    return False


def use_wal(db: sqlite3.Connection) -> None:
    """Let readers and a writer work at once, where the filesystem can."""
    try:
        db.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if error_code(error) in BUSY:
            raise
        db.execute("PRAGMA journal_mode = DELETE")


def migrate(db: sqlite3.Connection, path: Path, migrations: Sequence[Sequence[str]]) -> None:
    if user_version(db) < len(migrations):
        with db:
            db.execute("BEGIN IMMEDIATE")
            taken = user_version(db)  # another process may have been faster
            for number, step in enumerate(migrations[taken:], taken + 1):
                for statement in step:
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {number}")
    if user_version(db) > len(migrations):
        hint = "Update nlm-cdp, or set NLM_CDP_DATA_DIR to another folder."
        raise FileRefused(f"The local store {path} is of a newer nlm-cdp.", hint=hint, state="newer_schema")


def user_version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def error_code(error: Exception) -> int:
    """SQLite's primary result code, 0 if the error is not SQLite's."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def translate(error: sqlite3.Error | OSError, path: Path) -> NlmError:
    details = {"path": str(path)}
    if error_code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        hint = "Move the file away: an empty one takes its place."
        return FileRefused(f"The local store {path} is damaged.", hint=hint, state="corrupt", details=details)
    why = error.strerror if isinstance(error, OSError) else getattr(error, "sqlite_errorname", "")
    hint = "Check the folder's permissions and free space, or set NLM_CDP_DATA_DIR to another folder."
    message = f"The local store {path} cannot be used: {why or type(error).__name__}."
    return FileRefused(message, hint=hint, state="unusable", details=details)
