"""What this program remembers between runs: the active notebook, the chat sessions and the library.

Several processes share the memory, so nothing of it is kept in this one: each call asks the database.
"""

from __future__ import annotations

import secrets
import time
from contextlib import asynccontextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nlm_cdp.errors import NotFound
from nlm_cdp.local.database import Database
from nlm_cdp.local.files import data_folder
from nlm_cdp.local.library import TABLE, Library, count_use, forget

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncIterator, Callable

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
        """
        CREATE TABLE chat_session (
            id TEXT PRIMARY KEY,
            notebook_id TEXT NOT NULL,
            conversation_id TEXT,
            created REAL NOT NULL,
            last_activity REAL NOT NULL,
            message_count INTEGER NOT NULL
        )
        """,
    ),
    TABLE,
)
"""A step is never changed once released: a new one is appended."""

SELECT_SESSION = (
    "SELECT id, notebook_id, conversation_id, created, last_activity, message_count FROM chat_session WHERE id = ?"
)
SELECT_SESSIONS = (
    "SELECT id, notebook_id, conversation_id, created, last_activity, message_count FROM chat_session"
    " ORDER BY last_activity DESC, rowid DESC"
)
INSERT_SESSION = (
    "INSERT INTO chat_session (id, notebook_id, conversation_id, created, last_activity, message_count)"
    " VALUES (?, ?, ?, ?, ?, ?)"
)
TOUCH_SESSION = (
    "UPDATE chat_session SET message_count = message_count + 1, last_activity = ?,"
    " conversation_id = coalesce(?, conversation_id) WHERE id = ?"
)


@dataclass(frozen=True, slots=True)
class ChatSession:
    """A chat with one notebook; times are seconds since the epoch."""

    id: str
    notebook_id: str
    conversation_id: str | None
    created: float
    last_activity: float
    message_count: int


class Store:
    """The memory, as calls; each is one transaction."""

    def __init__(self, database: Database, now: Callable[[], float]) -> None:
        self.database = database
        self.now = now
        self.library = Library(database, now)

    async def active_notebook(self) -> str | None:
        def work(db: sqlite3.Connection) -> str | None:
            row = db.execute("SELECT value FROM setting WHERE name = 'active_notebook'").fetchone()
            return None if row is None else str(row[0])

        return await self.database.read(work)

    async def set_active_notebook(self, notebook_id: str | None) -> None:
        def work(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM setting WHERE name = 'active_notebook'")
            if notebook_id is not None:
                db.execute("INSERT INTO setting (name, value) VALUES ('active_notebook', ?)", [notebook_id])

        await self.database.write(work)

    async def create_session(self, notebook_id: str) -> ChatSession:
        now = self.now()
        session = ChatSession("ses_" + secrets.token_urlsafe(15), notebook_id, None, now, now, 0)
        await self.database.write(lambda db: db.execute(INSERT_SESSION, astuple(session)))
        return session

    async def session(self, session_id: str) -> ChatSession | None:
        return await self.database.read(lambda db: select_session(db, session_id))

    async def sessions(self) -> list[ChatSession]:
        """Every session, the one used last first."""
        return await self.database.read(lambda db: [ChatSession(*row) for row in db.execute(SELECT_SESSIONS)])

    async def touch_session(self, session_id: str, conversation_id: str | None) -> ChatSession:
        """Count a message; a conversation that is given takes the place of the one before."""
        now = self.now()

        def work(db: sqlite3.Connection) -> ChatSession | None:
            db.execute(TOUCH_SESSION, [now, conversation_id, session_id])
            session = select_session(db, session_id)
            if session is not None:
                count_use(db, session.notebook_id, now)
            return session

        session = await self.database.write(work)
        if session is None:
            raise NotFound("There is no such chat session.", hint="list_sessions shows the ones there are.")
        return session

    async def reset_session(self, session_id: str) -> ChatSession | None:
        """Forget the conversation, keep the session."""

        def work(db: sqlite3.Connection) -> ChatSession | None:
            db.execute("UPDATE chat_session SET conversation_id = NULL, message_count = 0 WHERE id = ?", [session_id])
            return select_session(db, session_id)

        return await self.database.write(work)

    async def close_session(self, session_id: str) -> bool:
        """Whether there was one to close."""
        deletion = "DELETE FROM chat_session WHERE id = ?"
        return await self.database.write(lambda db: db.execute(deletion, [session_id]).rowcount > 0)

    async def forget_notebook(self, notebook_id: str) -> None:
        """Drop everything that refers to a notebook."""

        def work(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM chat_session WHERE notebook_id = ?", [notebook_id])
            db.execute("DELETE FROM setting WHERE name = 'active_notebook' AND value = ?", [notebook_id])
            forget(db, notebook_id)

        await self.database.write(work)

    async def forget_sessions(self) -> None:
        """Drop every chat session, and which notebook is the active one."""

        def work(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM chat_session")
            db.execute("DELETE FROM setting WHERE name = 'active_notebook'")

        await self.database.write(work)

    async def files(self) -> list[tuple[Path, int]]:
        """The files all this is in, with their bytes; asking makes none."""
        return await self.database.files()

    async def remove_files(self) -> bool:
        """Remove them; whether that could be done, for another process may be using them."""
        return await self.database.remove()


@asynccontextmanager
async def open_store(path: Path | None = None, *, now: Callable[[], float] = time.time) -> AsyncIterator[Store]:
    """The store at this path, else in the user's data folder or the one that NLM_CDP_DATA_DIR names."""
    database = Database(default_path if path is None else lambda: path, MIGRATIONS)
    try:
        yield Store(database, now)
    finally:
        await database.aclose()


def select_session(db: sqlite3.Connection, session_id: str) -> ChatSession | None:
    row = db.execute(SELECT_SESSION, [session_id]).fetchone()
    return None if row is None else ChatSession(*row)


def default_path() -> Path:
    return data_folder() / "nlm-cdp.sqlite3"
