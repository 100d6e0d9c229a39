"""The calls about sources that no tool of ours makes."""

from __future__ import annotations

from typing import Any

from nlm_cdp.api.common import Empty
from nlm_cdp.api.sources import additions
from nlm_cdp.api.sources import webapp as api
from nlm_cdp.api.sources.rows import Source as SourceRow
from nlm_cdp.api.sources.rows import SourceMeta, SourceState
from nlm_cdp.sim.answers import INVALID, NOT_FOUND, Handler, Refusal
from nlm_cdp.sim.notebooks import changeable, twin
from nlm_cdp.sim.records import PROCESSING, Notebook, Source
from nlm_cdp.sim.rows import source_row
from nlm_cdp.sim.sources import add_one
from nlm_cdp.sim.state import Account

EXPERT = 20


def add_async(account: Account, request: additions.AddSources) -> api.Started | Refusal:
    """Stubs at once; every source is processing for one look."""
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    added = [source for content in request.contents if (source := begun(account, notebook, content)) is not None]
    if not added:
        return Refusal(INVALID)
    rows = [SourceRow(plain_id=source.id, title=source.title, meta=SourceMeta(type=source.type)) for source in added]
    return api.Started(sources=rows, acknowledged=[api.Acknowledged(source=row, f2=0) for row in rows])


def begun(account: Account, notebook: Notebook, content: additions.Content) -> Source | None:
    book = content.book
    if book is not None:
        text = f"This is a simulated book; the simulator has no library and read nothing of {book.content_id}."
        source: Source | None = account.add_source(notebook, book.title or book.content_id, text, kind=EXPERT)
    else:
        source = add_one(account, notebook, content)
    if source is not None and source.slow_reads is None:
        source.later_title, source.title = source.title, source.url or source.title
        source.status, source.slow_reads = PROCESSING, 0
    return source


def add_entries(account: Account, request: api.AddEntries) -> Refusal:
    """Only the source path names a notebook, and that is not authoritative: there is nowhere to add to."""
    return Refusal(INVALID)


def ask_tier(account: Account, request: api.AskTier) -> Empty:
    return Empty()


def copy_sources(account: Account, request: api.CopySources) -> api.CopiedSources | Refusal:
    target = changeable(account, request.target_id)
    if isinstance(target, Refusal):
        return target
    copies = []
    for source_id in request.source_ids:
        if (place := account.located(source_id)) is None:
            return Refusal(NOT_FOUND)
        copy = twin(account, place[1])
        target.sources[copy.id] = copy
        row = source_row(copy).model_copy(update={"state": SourceState(status=PROCESSING)})
        copies.append(api.CopiedSource(original_id=source_id, source=row))
    return api.CopiedSources(copies=copies)


def list_books(account: Account, request: api.ListBooks) -> api.Books:
    return api.Books(
        books=[
            api.Book(
                content_id="simulated-book-1",
                provider=1,
                title="Simulated Lighthouses",
                description="<p>A book that does not exist.</p>",
                cover_url="https://books.google.com/simulated",
                export_disabled=False,
                authors=["A. Simulated Author"],
                rating=4.5,
                at=account.service.stamp(),
            )
        ]
    )


def set_source_panel(account: Account, request: api.SetSourcePanel) -> Empty | Refusal:
    return Empty() if request.notebook_id in account.notebooks else Refusal(NOT_FOUND)


def nothing(_account: Account, _request: api.OpenHome | api.ListLocation) -> None:
    """What the live service answers is not known: a null payload invents nothing."""


HANDLERS: tuple[Handler[Any, Any], ...] = (
    Handler(api.ADD_ASYNC, add_async),
    Handler(api.ADD_ENTRIES, add_entries),
    Handler(api.ASK_TIER, ask_tier),
    Handler(api.COPY_SOURCES, copy_sources),
    Handler(api.LIST_BOOKS, list_books),
    Handler(api.SET_SOURCE_PANEL, set_source_panel),
    Handler(api.OPEN_HOME, nothing),
    Handler(api.LIST_LOCATION, nothing),
)
