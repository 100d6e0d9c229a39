"""The local library: notebooks by share link, under names of the user's own.

There is one entry for each notebook and one notebook for each name, compared without regard to case. What an entry says
is the user's; the service never sees it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from nlm_cdp.errors import InvalidArgument, NotFound

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable

    from nlm_cdp.local.database import Database

TABLE = (
    """
    CREATE TABLE library (
        notebook_id TEXT PRIMARY KEY,
        url TEXT NOT NULL,
        name TEXT NOT NULL,
        folded_name TEXT NOT NULL UNIQUE,
        description TEXT NOT NULL,
        topics TEXT NOT NULL,
        content_types TEXT NOT NULL,
        use_cases TEXT NOT NULL,
        tags TEXT NOT NULL,
        added REAL NOT NULL,
        use_count INTEGER NOT NULL,
        last_used REAL
    )
    """,
)
SELECT = (
    "SELECT notebook_id, url, name, description, topics, content_types, use_cases, tags, added, use_count, last_used"
    " FROM library ORDER BY use_count DESC, folded_name"
)
INSERT = (
    "INSERT INTO library (notebook_id, url, name, description, topics, content_types, use_cases, tags, added,"
    " use_count, last_used, folded_name) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
LISTS = ("topics", "content_types", "use_cases", "tags")
"""Columns that hold a list, as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryEntry:
    """A notebook under a name of the user's; `use_count` counts the questions asked of it, `last_used` is the last's
    time in seconds since the epoch.
    """

    notebook_id: str
    url: str
    name: str
    description: str
    topics: list[str]
    content_types: list[str]
    use_cases: list[str]
    tags: list[str]
    added: float
    use_count: int = 0
    last_used: float | None = None

    @property
    def folded_name(self) -> str:
        return self.name.casefold()


class Library:
    """The entries, as calls; each is one transaction."""

    def __init__(self, database: Database, now: Callable[[], float]) -> None:
        self.database = database
        self.now = now

    async def entries(self) -> list[LibraryEntry]:
        """Every entry, the one used most first."""
        return await self.database.read(select)

    async def named(self, name: str) -> str | None:
        """The notebook of this name."""
        query = "SELECT notebook_id FROM library WHERE folded_name = ?"
        row = await self.database.read(lambda db: db.execute(query, [name.casefold()]).fetchone())
        return None if row is None else str(row[0])

    async def add(self, notebook_id: str, url: str, **said: Any) -> LibraryEntry:
        """A new entry. Raises InvalidArgument where the library has this notebook or this name already."""
        entry = LibraryEntry(notebook_id=notebook_id, url=url, added=self.now(), **said)

        def work(db: sqlite3.Connection) -> LibraryEntry:
            insert(db, entry, select(db))
            return entry

        return await self.database.write(work)

    async def change(self, notebook_id: str, said: dict[str, Any]) -> LibraryEntry:
        """The entry with other words in it, or for another notebook. Raises NotFound, or InvalidArgument as `add`."""

        def work(db: sqlite3.Connection) -> LibraryEntry:
            others = {entry.notebook_id: entry for entry in select(db)}
            if (before := others.pop(notebook_id, None)) is None:
                raise NotFound("The library has no entry for this notebook.")
            forget(db, notebook_id)
            entry = replace(before, **said)
            if entry.notebook_id != notebook_id:
                entry = replace(entry, use_count=0, last_used=None)
            insert(db, entry, others.values())
            return entry

        return await self.database.write(work)

    async def remove(self, notebook_id: str) -> None:
        await self.database.write(lambda db: forget(db, notebook_id))

    async def clear(self) -> None:
        await self.database.write(lambda db: db.execute("DELETE FROM library"))


def select(db: sqlite3.Connection) -> list[LibraryEntry]:
    found = []
    for row in db.execute(SELECT):
        columns = dict(zip(LibraryEntry.__slots__, row, strict=True))
        found.append(LibraryEntry(**columns | {name: json.loads(columns[name]) for name in LISTS}))
    return found


def insert(db: sqlite3.Connection, entry: LibraryEntry, others: Iterable[LibraryEntry]) -> None:
    for other in others:
        if other.notebook_id == entry.notebook_id:
            raise InvalidArgument(
                "The library has this notebook already.",
                hint="Change its entry with update_notebook.",
                details={"notebook": other.notebook_id, "name": other.name},
            )
        if other.folded_name == entry.folded_name:
            raise InvalidArgument(
                "The library has another notebook of this name.",
                hint="Choose another name.",
                details={"notebook": other.notebook_id, "name": other.name},
            )
    columns = asdict(entry) | {name: json.dumps(getattr(entry, name), ensure_ascii=False) for name in LISTS}
    db.execute(INSERT, [*columns.values(), entry.folded_name])


def forget(db: sqlite3.Connection, notebook_id: str) -> None:
    db.execute("DELETE FROM library WHERE notebook_id = ?", [notebook_id])


def count_use(db: sqlite3.Connection, notebook_id: str, now: float) -> None:
    db.execute("UPDATE library SET use_count = use_count + 1, last_used = ? WHERE notebook_id = ?", [now, notebook_id])
