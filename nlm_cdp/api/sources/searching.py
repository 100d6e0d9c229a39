"""The passages of a notebook's sources that fit a query, as the service itself ranks them for an answer."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from nlm_cdp.api.common import legible
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.provenance import OriginField, provenance
from nlm_cdp.api.sources.rows import Source
from nlm_cdp.api.sources.sources import chosen, listing
from nlm_cdp.rpc import Args, Effect, Result, Rpc, Scope, ToolContext, tool
from nlm_cdp.wire.document import Range
from nlm_cdp.wire.pblite import Message, Tag

# Messages. N: September 2026.


class SearchSources(Message):
    """All sources where none is named."""

    notebook_id: Annotated[str, Tag(1)]
    query: Annotated[str, Tag(2)]
    mode: Annotated[int | None, Tag(4, 1)] = 1
    source_ids: Annotated[list[str] | None, Tag(5, 1, each=(1,))] = None


class Chunk(Message):
    """`rank` counts over all sources, the best first."""

    parts: Annotated[list[str], Tag(1, 1, 1)] = []
    rank: Annotated[int, Tag(2)] = 0
    ranges: Annotated[list[Range], Tag(3)] = []


class Found(Message):
    source_id: Annotated[str, Tag(1)]
    chunks: Annotated[list[Chunk], Tag(2, lenient=True)] = []


class SearchResult(Message):
    sources: Annotated[list[Found] | None, Tag(1, lenient=True)] = None


SEARCH = Rpc("ASU5Oe", "RetrieveRelevantChunks", SearchSources, SearchResult, Effect.READ, null=True, grade="N")

# The tool


class SearchArgs(Args):
    query: str = Field(min_length=1)
    notebook: str | None = None
    source_ids: list[str] | None = Field(None, min_length=1)
    limit: int = Field(20, ge=1, le=200)


class Passage(Result):
    """`start` and `end`: UTF-16 offsets in the service's own text of the source, which has no line breaks."""

    source_id: str
    title: str | None = None
    text: str
    rank: int
    start: int | None = None
    end: int | None = None


class Passages(Result):
    notebook_id: str
    passages: list[Passage]
    total: int
    has_more: bool
    undecoded: list[str] | None = None
    origin: OriginField


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(SEARCH, notebooks.GET))
async def search_sources(ctx: ToolContext, args: SearchArgs) -> Passages:
    """Find passages that fit a query, best first."""
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    rows = (await listing(ctx, notebook)).rows
    if args.source_ids is not None:
        chosen(args.source_ids, rows)
    request = SearchSources(notebook_id=notebook, query=args.query, source_ids=args.source_ids)
    answer = await ctx.call(SEARCH, request)
    found = [
        passage(row.source_id, rows.get(row.source_id), chunk)
        for row in legible(answer.sources or [], answer.undecoded)
        for chunk in row.chunks
    ]
    found.sort(key=lambda item: item.rank)
    shown = found[: args.limit]
    return Passages(
        notebook_id=notebook,
        passages=shown,
        total=len(found),
        has_more=len(found) > len(shown),
        undecoded=list(answer.undecoded) or None,
        origin=provenance(ctx, "\n".join(item.text for item in shown), ai_generated=False),
    )


def passage(source_id: str, source: Source | None, chunk: Chunk) -> Passage:
    at = chunk.ranges[0] if chunk.ranges else None
    return Passage(
        source_id=source_id,
        title=source.name if source else None,
        text="".join(chunk.parts),
        rank=chunk.rank,
        start=(at.start or 0) if at else None,
        end=chunk.ranges[-1].end if at else None,
    )
