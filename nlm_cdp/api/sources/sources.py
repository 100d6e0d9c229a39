"""Sources: list, read, guide, rename, delete. Adding them is `adding`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from nlm_cdp.api import writes
from nlm_cdp.api.common import (
    Empty,
    Limit,
    MaxChars,
    NotebookArgs,
    Offset,
    Origin,
    Page,
    RequestContext,
    legible,
    provenance,
    provenance_field,
    refuse,
    text_window,
    window,
)
from nlm_cdp.api.labels import labels
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.references import Listing
from nlm_cdp.api.sources.freshness import CHECK, freshness_of
from nlm_cdp.api.sources.rows import FAILED, READY, STATUS, WEB_PAGE, Source, SourceInfo, source_info
from nlm_cdp.errors import NotFound, NotReady
from nlm_cdp.rpc import Args, Effect, Result, Rpc, Scope, ToolContext, tool
from nlm_cdp.wire.document import Document, markdown, plain_text
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


# Results


class SourceList(Page[SourceInfo]):
    notebook_id: str
    sources: list[SourceInfo]


class SourceResult(Result):
    notebook_id: str
    source: SourceInfo


class SourceContent(SourceResult):
    """`suspicious`: why this may not be the page that was meant. `file_path`: where the whole text is instead."""

    content: str | None = None
    file_path: str | None = None
    suspicious: str | None = None
    total_chars: int
    has_more: bool
    origin: Origin = provenance_field()


class SourceGuide(Result):
    source_id: str
    summary: str
    keywords: list[str]
    origin: Origin = provenance_field()


# Tools


class ListArgs(NotebookArgs):
    label: str | None = None
    status: Literal["processing", "ready", "error", "deleting", "preparing"] | None = None
    freshness: bool = Field(False, description="compare Drive sources with their files")
    limit: Limit = 100
    offset: Offset = 0


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(notebooks.GET, labels.LIST, CHECK))
async def list_sources(ctx: ToolContext, args: ListArgs) -> SourceList:
    """List a notebook's sources with kind and status."""
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    there = await listing(ctx, notebook)
    wanted = await labelled(ctx, notebook, args.label) if args.label is not None else there.rows
    rows = [
        row
        for row in legible(there.rows.values(), there.undecoded)
        if args.status in (None, STATUS.get(row.status)) and row.id in wanted
    ]
    shown, counts = window(rows, args.limit, args.offset)
    fresh = await freshness_of(ctx, notebook, shown) if args.freshness else {}
    return SourceList(
        notebook_id=notebook,
        sources=[source_info(row).model_copy(update={"fresh": fresh.get(row.id)}) for row in shown],
        undecoded=there.undecoded or None,
        **counts,
    )


async def labelled(ctx: ToolContext, notebook: str, reference: str) -> set[str]:
    """The ids of the sources under a label."""
    return set((await labels.listing(ctx, notebook)).meant(reference).sources or [])


class SourceArgs(Args):
    source: str
    notebook: str | None = None


class ContentArgs(SourceArgs):
    format: Literal["text", "markdown"] = "text"
    offset: Offset = 0
    max_chars: MaxChars = 20_000
    to_file: str | None = Field(None, min_length=1, description="write it all there")


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(LOAD, notebooks.GET))
async def get_source_content(ctx: ToolContext, args: ContentArgs) -> SourceContent:
    """The text of a source, a window at a time or into a file."""
    if args.to_file is not None and {"offset", "max_chars"} & args.model_fields_set:
        raise refuse("to_file writes the whole text: leave out offset and max_chars")
    destination = await ctx.files.writable(args.to_file) if args.to_file is not None else None
    notebook, row = await located(ctx, args.source, args.notebook)
    loaded = await ctx.call(LOAD, LoadSource(source_id=row.id), notebook=notebook)
    document = loaded.document
    if document is None:
        raise NotReady(
            "this source has no text yet" if row.status != FAILED else "this source failed to process",
            state=source_info(row).status,
        )
    as_text = args.format == "text"
    text = await ctx.offload(lambda: plain_text(document.row) if as_text else markdown(document.decode()))
    if not text:
        document.decode()  # empty, or of a shape that the plain reading passes over?
    if destination is not None:
        await ctx.files.save(destination, text.encode("utf-8", "replace"), overwrite=False)
    shown, counts = text_window(text, args.offset, len(text) if destination is not None else args.max_chars)
    return SourceContent(
        notebook_id=notebook,
        source=source_info(loaded.source),
        content=shown if destination is None else None,
        file_path=str(destination) if destination is not None else None,
        suspicious="a page that keeps robots out seems to stand here" if is_wall(loaded.source, text) else None,
        origin=await ctx.offload(lambda: provenance(ctx, shown, ai_generated=False)),
        **counts,
    )


WALL = re.compile(
    r"checking (if the site connection is secure|your browser)|(verify|confirm|check) (that )?you are (a )?human"
    r"|are you a robot|not a robot|enable javascript and cookies|complete the (captcha|security check)"
    r"|unusual traffic|ddos protection|attention required|access denied",
    re.IGNORECASE,
)
WALL_CHARS = 1_500
"""Pages that keep robots out are short; a longer text that has their words is about something else."""


def is_wall(row: Source, text: str) -> bool:
    return row.type == WEB_PAGE and len(text) <= WALL_CHARS and WALL.search(text) is not None


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(GUIDE, notebooks.GET))
async def get_source_guide(ctx: ToolContext, args: SourceArgs) -> SourceGuide:
    """The service's summary and keywords of one source."""
    notebook, row = await located(ctx, args.source, args.notebook)
    answer = await ctx.call(GUIDE, GuideSources(source_ids=[row.id]), notebook=notebook)
    guide = answer.guides[0] if answer.guides else SourceGuideRow()
    if not guide.summary and not guide.keywords:
        raise NotReady("the service has no guide for this source yet", state=source_info(row).status)
    return SourceGuide(
        source_id=row.id,
        summary=guide.summary,
        keywords=guide.keywords,
        origin=provenance(ctx, guide.summary, ai_generated=True),
    )


class RenameArgs(SourceArgs):
    title: str = Field(min_length=1)


@tool(scope=Scope.WRITE, effect=Effect.SET, rpcs=(RENAME, notebooks.GET))
async def rename_source(ctx: ToolContext, args: RenameArgs) -> SourceResult:
    """Change a source's title."""
    notebook, row = await located(ctx, args.source, args.notebook)
    answer = await ctx.call(RENAME, RenameSource(source_id=row.id, title=args.title), notebook=notebook)
    renamed = answer.source or row.model_copy(update={"title": args.title})
    return SourceResult(notebook_id=notebook, source=source_info(renamed))


class DeleteArgs(Args):
    sources: list[str] = Field(min_length=1)
    notebook: str | None = None
    confirm: bool = False


@tool(scope=Scope.DELETE, effect=Effect.DELETE, rpcs=(DELETE, notebooks.GET))
async def delete_source(ctx: ToolContext, args: DeleteArgs) -> writes.Deleted:
    """Delete sources from a notebook. Cannot be undone."""
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    there = await listing(ctx, notebook)

    async def send(ids: list[str]) -> None:
        await ctx.call(DELETE, DeleteSources(source_ids=ids), notebook=notebook)

    return await writes.delete(
        notebook,
        args.sources,
        there.meant,
        confirm=args.confirm,
        would=lambda row: f"delete {row.name!r} ({row.id})",
        send=send,
    )
