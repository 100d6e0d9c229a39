"""State as the wire's rows, with the constants that the recordings show where nobody knows their meaning.

Listings carry the newest form seen (26 cells of metadata, August 2026); the answers to a creation and to a mutation are
shorter, and have their own functions here.
"""

from __future__ import annotations

from typing import Any

from nlm_cdp.api.notebooks import project as wire
from nlm_cdp.api.sources.rows import READY, Revision, SourceMeta, SourceState
from nlm_cdp.api.sources.rows import Source as SourceRow
from nlm_cdp.sim.records import VIEWER, Notebook, Source
from nlm_cdp.sim.state import Account

OWNER_FLAGS, READER_FLAGS = [True, True, True], [True, True, False]


def source_row(source: Source) -> SourceRow:
    ready: dict[str, Any] = {"words": source.words, "tokens": source.tokens} if source.status == READY else {}
    meta = SourceMeta(
        docs=source.docs,
        added=source.added,
        revision=Revision(id=source.revision, at=source.added),
        type=source.type,
        youtube=source.youtube,
        origin=source.origin,
        url=source.url,
        **ready,
    )
    state = SourceState(status=source.status, fetch_error=source.fetch_error)
    return SourceRow(plain_id=source.id, title=source.title, meta=meta, state=state)


def notebook_row(account: Account, notebook: Notebook) -> wire.Notebook:
    """A row of a listing, sources included; an empty notebook has null in their place."""
    given: dict[str, Any] = {}
    if notebook.sources:
        given["sources"] = [source_row(source) for source in notebook.sources.values()]
    if notebook.chat_only is not None:
        given["access"] = wire.Access(chat_only=notebook.chat_only)
    return wire.Notebook(
        title=notebook.title,
        id=notebook.id,
        emoji=notebook.emoji,
        meta=full_meta(notebook),
        chat=notebook.settings,
        premium=READER_FLAGS if notebook.role == VIEWER else OWNER_FLAGS,
        limits=account.limits,
        **given,
    )


def full_meta(notebook: Notebook) -> wire.NotebookMeta:
    return wire.NotebookMeta(
        role=notebook.role,
        shared=notebook.shared,
        f3=True,
        viewed=notebook.viewed,
        f7=1,
        f8=False,
        created=notebook.created,
        public=notebook.public,
        f14=True,
        f15=1,
        f16=False,
        f18=True,
        f19=1,
        f23=False,
        product=1,
    )


def created_row(notebook: Notebook) -> wire.Notebook:
    """The answer to a creation: no emoji, short metadata, and the chat that was made with it."""
    return wire.Notebook(
        title=notebook.title,
        id=notebook.id,
        meta=wire.NotebookMeta(role=notebook.role, shared=False, f3=True, f7=1, public=False),
        chats=[chat.id for chat in notebook.chats],
    )


def copied_row(notebook: Notebook) -> wire.Notebook:
    """The answer to a copy: never viewed, its sources still to come (N, notebooks_copy)."""
    meta = full_meta(notebook).model_copy(update={"viewed": None, "f19": 3})
    return wire.Notebook(title=notebook.title, id=notebook.id, emoji=notebook.emoji, meta=meta)


def mutated_row(notebook: Notebook, **given: Any) -> wire.Notebook:
    """The answer to a mutation: no sources, no view time; `given` is what this mutation echoes beside."""
    return wire.Notebook(
        title=notebook.title,
        id=notebook.id,
        emoji=notebook.emoji,
        meta=wire.NotebookMeta(
            role=notebook.role,
            shared=notebook.shared,
            f3=True,
            f7=1,
            f8=False,
            created=notebook.created,
            public=notebook.public,
            f14=True,
            f15=1,
            f16=False,
        ),
        **given,
    )
