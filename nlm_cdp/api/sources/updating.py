"""Sources over time: read again what they were made of, or append to what was pasted."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from nlm_cdp.api.common import Empty, RequestContext, refuse
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.sources.freshness import CHECK, REFRESH, RefreshSource, check
from nlm_cdp.api.sources.reading import SourceArgs, SourceResult
from nlm_cdp.api.sources.rows import KINDS, MARKDOWN, TEXT, Source, SourceInfo, source_info
from nlm_cdp.api.sources.sources import LOAD, LoadSource, listing, located
from nlm_cdp.api.writes import afterwards, in_doubt
from nlm_cdp.errors import NlmError
from nlm_cdp.rpc import Effect, Result, Rpc, Scope, ToolContext, tool
from nlm_cdp.wire.document import plain_text
from nlm_cdp.wire.pblite import Message, Tag

APPENDABLE = (TEXT, MARKDOWN)

# Messages


class AppendSource(Message):
    """N (September 2026): the body lands at the end of the text, the header nowhere in it."""

    context: Annotated[RequestContext | None, Tag(1)] = None
    source_id: Annotated[str, Tag(2, 1)]
    header: Annotated[str, Tag(4, 2, 1)]
    body: Annotated[str, Tag(4, 2, 2)]


APPEND = Rpc("QsNTEd", "AppendSource", AppendSource, Empty, Effect.CREATE, null=True, timeout=60.0, grade="P")

# Tools


class RefreshArgs(SourceArgs):
    only_if_stale: bool = False


class Refreshed(Result):
    """`fresh`: whether it was before; None where that was not asked."""

    notebook_id: str
    fresh: bool | None = None
    refreshed: bool
    source: SourceInfo


@tool(scope=Scope.WRITE, effect=Effect.SET, rpcs=(REFRESH, CHECK, notebooks.GET))
async def refresh_source(ctx: ToolContext, args: RefreshArgs) -> Refreshed:
    """Read a web page or Drive file anew."""
    notebook, row = await located(ctx, args.source, args.notebook)
    if row.url is None and row.drive_id is None:
        raise refuse(
            "only web pages and Drive files can be read again",
            "Add the text or file anew, and delete this source.",
            source=row.id,
            kind=KINDS.get(row.type),
        )
    fresh = await check(ctx, notebook, row.id) if args.only_if_stale else None
    if fresh:
        return Refreshed(notebook_id=notebook, fresh=True, refreshed=False, source=source_info(row))
    await ctx.call(REFRESH, RefreshSource(source_id=row.id), notebook=notebook)
    return Refreshed(
        notebook_id=notebook, fresh=fresh, refreshed=True, source=source_info(await again(ctx, notebook, row))
    )


async def again(ctx: ToolContext, notebook: str, row: Source) -> Source:
    """The source as it is now; as it was where that cannot be read: what was done stays done."""
    try:
        return (await listing(ctx, notebook)).rows.get(row.id, row)
    except NlmError:
        return row


class AppendArgs(SourceArgs):
    text: str = Field(min_length=1)
    header: str = Field("", description="not shown")


@tool(scope=Scope.WRITE, effect=Effect.CREATE, rpcs=(APPEND, LOAD, notebooks.GET))
async def append_to_source(ctx: ToolContext, args: AppendArgs) -> SourceResult:
    """Append text to a pasted-text source."""
    notebook, row = await located(ctx, args.source, args.notebook)
    if row.type not in APPENDABLE:
        raise refuse(
            "only pasted texts can be appended to",
            "Add the text as a source of its own.",
            source=row.id,
            kind=KINDS.get(row.type),
        )
    request = AppendSource(source_id=row.id, header=args.header, body=args.text)
    try:
        await ctx.call(APPEND, request, notebook=notebook)
    except NlmError as exc:
        await confirm_append(ctx, notebook, row, args.text, in_doubt(exc))
    return SourceResult(notebook_id=notebook, source=source_info(await again(ctx, notebook, row)))


async def confirm_append(ctx: ToolContext, notebook: str, row: Source, text: str, lost: NlmError) -> None:
    """Look whether a lost append took place: the source changed and ends with the text. Raises the loss otherwise."""

    async def look() -> tuple[Source, str]:
        loaded = await ctx.call(LOAD, LoadSource(source_id=row.id), notebook=notebook)
        return loaded.source, plain_text(loaded.document.row) if loaded.document is not None else ""

    now, whole = await afterwards(lost, "source", look())
    if not (changed(row, now) and flat(whole).endswith(flat(text))):
        raise lost.also("The source was read afterwards: the text is not at its end.") from None


def changed(before: Source, after: Source) -> bool:
    """Whether a source has another revision or another length than it had."""
    old, new = before.meta, after.meta
    if old is None or new is None:
        return False
    return old.revision != new.revision or old.words != new.words


def flat(text: str) -> str:
    """A text without its line breaks and spaces, which the service sets anew."""
    return "".join(text.split())
