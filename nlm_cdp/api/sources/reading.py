"""Sources: list, read, and the service's own guide to one."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field

from nlm_cdp.api.common import Limit, MaxChars, NotebookArgs, Offset, Page, legible, refuse, text_window, window
from nlm_cdp.api.labels import labels
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.provenance import OriginField, provenance
from nlm_cdp.api.sources.freshness import CHECK, freshness_of
from nlm_cdp.api.sources.rows import FAILED, STATUS, WEB_PAGE, Source, SourceInfo, source_info
from nlm_cdp.api.sources.sources import GUIDE, LOAD, GuideSources, LoadSource, SourceGuideRow, listing, located
from nlm_cdp.errors import NotReady
from nlm_cdp.rpc import Args, Effect, Result, Scope, ToolContext, tool
from nlm_cdp.wire.document import markdown, plain_text

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
    origin: OriginField


class SourceGuide(Result):
    source_id: str
    summary: str
    keywords: list[str]
    origin: OriginField


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
    return set((await labels.listing(ctx, notebook)).meant(reference).members)


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
