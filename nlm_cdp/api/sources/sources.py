"""Sources: their calls, and which one a reference means. Tools: `reading`, `writing`, `adding` and others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from nlm_cdp.api.common import Empty, RequestContext
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.references import Listing
from nlm_cdp.api.sources.rows import READY, Source
from nlm_cdp.errors import NotFound, NotReady
from nlm_cdp.rpc import Effect, Rpc, ToolContext
from nlm_cdp.wire.document import Document
from nlm_cdp.wire.pblite import Lazy, Message, Tag

# Messages


class DeleteSources(Message):
    source_ids: Annotated[list[str], Tag(1, each=(1,))]
    context: Annotated[RequestContext | None, Tag(2)] = None


class RenameSource(Message):
    source_id: Annotated[str, Tag(2, 1)]
    title: Annotated[str, Tag(3, 1, 1, 1)]


class GotSource(Message):
    source: Annotated[Source | None, Tag(1)] = None


class LoadSource(Message):
    """`[[id],[2],[2]]` asks for text; form 3 asks for HTML."""

    source_id: Annotated[str, Tag(1, 1)]
    form: Annotated[list[int], Tag(2)] = [2]
    form2: Annotated[list[int], Tag(3)] = [2]


class Loaded(Message):
    source: Annotated[Source, Tag(1)]
    document: Annotated[Lazy[Document] | None, Tag(4)] = None
    html: Annotated[str | None, Tag(5, 2)] = None


class GuideSources(Message):
    source_ids: Annotated[list[str], Tag(1, each=(1, 1))]


class SourceGuideRow(Message):
    """Not understood: 4, always empty."""

    summary: Annotated[str, Tag(2, 1)] = ""
    keywords: Annotated[list[str], Tag(3, 1)] = []
    f4: Annotated[Empty | None, Tag(4)] = None


class SourceGuides(Message):
    guides: Annotated[list[SourceGuideRow], Tag(1)] = []


# Calls

DELETE = Rpc("tGMBJ", "DeleteSources", DeleteSources, Empty, Effect.DELETE)
RENAME = Rpc("b7Wfje", "MutateSource", RenameSource, GotSource, Effect.SET, null=True)
LOAD = Rpc("hizoJc", "LoadSource", LoadSource, Loaded, Effect.READ, timeout=120.0)
GUIDE = Rpc("tr032e", "GenerateDocumentGuides", GuideSources, SourceGuides, Effect.READ, null=True, timeout=60.0)

# References


async def located(ctx: ToolContext, reference: str, notebook: str | None) -> tuple[str, Source]:
    """The notebook and the source meant by a reference; the source is one of that notebook's."""
    where = await notebooks.notebook_id(ctx, notebook)
    return where, (await listing(ctx, where)).meant(reference)


async def listing(ctx: ToolContext, notebook: str) -> Listing[Source]:
    got = await notebooks.get(ctx, notebook)
    rows = {row.id: row for row in got.notebook.sources}
    return Listing("source", rows, titles, list(got.undecoded))


def titles(row: Source) -> list[str]:
    """The name a source is shown by, and its title where that is another."""
    return list(dict.fromkeys((row.name or "", row.title or "")))


def chosen(wanted: list[str] | None, there: Mapping[str, Source]) -> list[str]:
    """The sources a question goes to: those named, or all that are ready."""
    if wanted is not None:
        unknown = [source for source in wanted if source not in there]
        if unknown:
            raise NotFound("these sources are not in the notebook", details={"source_ids": unknown})
        return wanted
    ready = [row.id for row in there.values() if row.status == READY]
    if not there:
        raise NotReady("the notebook has no sources to answer from", hint="Add a source first.", state="empty")
    if not ready:
        raise NotReady(
            "none of the notebook's sources is ready", hint="Wait for them: list_sources shows their status."
        )
    return ready
