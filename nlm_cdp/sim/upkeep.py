"""Searching sources, keeping them fresh, and appending to them."""

from __future__ import annotations

from typing import Any

from nlm_cdp.api.common import Empty
from nlm_cdp.api.sources import freshness, searching
from nlm_cdp.api.sources import updating as api
from nlm_cdp.api.sources.rows import READY
from nlm_cdp.sim.answers import DENIED, INVALID, NOT_FOUND, Handler, Refusal
from nlm_cdp.sim.records import PROCESSING, Source
from nlm_cdp.sim.retrieval import Chunk, ranked, texts
from nlm_cdp.sim.state import Account
from nlm_cdp.wire.document import Range

PASSAGES = 20


def search(account: Account, request: searching.SearchSources) -> searching.SearchResult | Refusal:
    """The passages by source, each with its rank among all."""
    notebook = account.notebooks.get(request.notebook_id)
    if notebook is None:
        return Refusal(NOT_FOUND)
    wanted = request.source_ids if request.source_ids is not None else list(notebook.sources)
    sources = [notebook.sources[source_id] for source_id in wanted if source_id in notebook.sources]
    found = ranked(request.query, [source for source in sources if source.status == READY], PASSAGES)
    groups: dict[str, list[searching.Chunk]] = {}
    for rank, (_, chunk) in enumerate(found, start=1):
        groups.setdefault(chunk.source.id, []).append(passage(rank, chunk))
    rows = [searching.Found(source_id=source_id, chunks=chunks) for source_id, chunks in groups.items()]
    return searching.SearchResult(sources=rows or None)


def passage(rank: int, chunk: Chunk) -> searching.Chunk:
    at = Range(start=chunk.start, end=chunk.end)
    return searching.Chunk(parts=list(texts(chunk.elements)), rank=rank, ranges=[at])


def check(account: Account, request: freshness.CheckFreshness) -> freshness.Checked | Refusal:
    """Of anything but a Drive file there is nothing to report (C)."""
    if (place := account.located(request.source_id)) is None:
        return Refusal(NOT_FOUND)
    source = place[1]
    if source.docs is None:
        return freshness.Checked()
    return freshness.Checked(source=freshness.Freshness(fresh=not source.stale, source_id=source.id))


def refresh(account: Account, request: freshness.RefreshSource) -> Empty | Refusal:
    """The source is processed again."""
    source = changeable(account, request.source_id)
    if isinstance(source, Refusal):
        return source
    if source.docs is None and source.url is None:
        return Refusal(INVALID)
    source.stale, source.revision = False, account.service.new_id()
    source.status, source.slow_reads = PROCESSING, 0
    return Empty()


def append(account: Account, request: api.AppendSource) -> Empty | Refusal:
    """The body lands at the end of the text, the header nowhere (N)."""
    source = changeable(account, request.source_id)
    if isinstance(source, Refusal):
        return source
    if source.type not in api.APPENDABLE:
        return Refusal(INVALID)
    source.text, source.rows = f"{source.text}\n\n{request.body}", None
    source.revision = account.service.new_id()
    return Empty()


def changeable(account: Account, source_id: str) -> Source | Refusal:
    if (place := account.located(source_id)) is None:
        return Refusal(NOT_FOUND)
    notebook, source = place
    return source if notebook.writable else Refusal(DENIED)


HANDLERS: tuple[Handler[Any, Any], ...] = (
    Handler(searching.SEARCH, search),
    Handler(freshness.CHECK, check),
    Handler(freshness.REFRESH, refresh),
    Handler(api.APPEND, append),
)
