"""Sources: rename and delete."""

from __future__ import annotations

from pydantic import Field

from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.sources.reading import SourceArgs, SourceResult
from nlm_cdp.api.sources.rows import source_info
from nlm_cdp.api.sources.sources import DELETE, RENAME, DeleteSources, RenameSource, listing, located
from nlm_cdp.api.writes import Deleted, delete
from nlm_cdp.rpc import Args, Effect, Scope, ToolContext, tool


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
async def delete_source(ctx: ToolContext, args: DeleteArgs) -> Deleted:
    """Delete sources from a notebook. Cannot be undone."""
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    there = await listing(ctx, notebook)

    async def send(ids: list[str]) -> None:
        await ctx.call(DELETE, DeleteSources(source_ids=ids), notebook=notebook)

    return await delete(
        notebook,
        args.sources,
        there.meant,
        confirm=args.confirm,
        would=lambda row: f"delete {row.name!r} ({row.id})",
        send=send,
    )
