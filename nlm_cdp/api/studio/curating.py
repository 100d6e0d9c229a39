"""Artifacts that are there: rename, export, delete. What is kept as a note goes through the calls for notes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nlm_cdp.api.common import SHORT, Empty, RequestContext, refuse
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.notes import notes
from nlm_cdp.api.notes.writing import write
from nlm_cdp.api.studio.artifacts import READY, kind_of, state
from nlm_cdp.api.studio.blocks import REPORT, TABLE, Artifact
from nlm_cdp.api.studio.reading import ArtifactResult, info
from nlm_cdp.api.studio.studio import LIST, listing, located, map_row
from nlm_cdp.api.writes import Deleted, delete
from nlm_cdp.errors import NlmError, NotReady
from nlm_cdp.rpc import Args, Effect, Result, Rpc, Scope, ToolContext, tool
from nlm_cdp.wire.pblite import Message, Tag

EXPORTS = {"docs": 1, "sheets": 2}

# Messages


class RenameArtifact(Message):
    artifact_id: Annotated[str, Tag(1, 1)]
    title: Annotated[str, Tag(1, 2)]
    mask: Annotated[list[Literal["title"]], Tag(2, 1)] = ["title"]


class DeleteArtifact(Message):
    context: Annotated[RequestContext, Tag(1)] = SHORT
    artifact_id: Annotated[str, Tag(2)]


class ExportArtifact(Message):
    """`content`: what stands in the file in place of the artifact's own (M)."""

    artifact_id: Annotated[str, Tag(2)]
    content: Annotated[str | None, Tag(3)] = None
    title: Annotated[str | None, Tag(4)] = None
    type: Annotated[int, Tag(5)]


class ExportText(Message):
    """P: a text that is no artifact."""

    content: Annotated[str, Tag(3)]
    title: Annotated[str | None, Tag(4)] = None
    type: Annotated[int, Tag(5)]


class Exported(Message):
    url: Annotated[str, Tag(1)]


# Calls

RENAME = Rpc("rc3d8d", "UpdateArtifact", RenameArtifact, Artifact, Effect.SET, variant="title")
DELETE = Rpc("V5N4be", "DeleteArtifact", DeleteArtifact, Empty, Effect.DELETE)
EXPORT = Rpc("Krh3pd", "ExportArtifact", ExportArtifact, Exported, Effect.CREATE, variant="artifact", timeout=120.0)
EXPORT_TEXT = Rpc(
    "Krh3pd", "ExportArtifact", ExportText, Exported, Effect.CREATE, variant="text", timeout=120.0, grade="P"
)

# Results


class ExportResult(Result):
    notebook_id: str
    artifact_id: str
    url: str


# Tools


class RenameArgs(Args):
    artifact: str
    title: str = Field(min_length=1)
    notebook: str | None = None


@tool(scope=Scope.WRITE, effect=Effect.SET, rpcs=(RENAME, LIST, notes.LIST, notes.UPDATE))
async def rename_artifact(ctx: ToolContext, args: RenameArgs) -> ArtifactResult:
    """Change an artifact's title."""
    notebook, row, studio = await located(ctx, args.artifact, args.notebook)
    if row.id in studio.maps:
        content = studio.maps[row.id].content or ""
        written = await write(ctx, notebook, row.id, args.title, content)
        renamed = row.model_copy(update={"title": written.title, "modified": map_row(written).modified})
    else:
        renamed = await ctx.call(RENAME, RenameArtifact(artifact_id=row.id, title=args.title), notebook=notebook)
    return ArtifactResult(notebook_id=notebook, artifact=info(renamed))


class ExportArgs(Args):
    artifact: str
    to: Literal["docs", "sheets"]
    title: str | None = Field(None, min_length=1)
    notebook: str | None = None


@tool(scope=Scope.WRITE, effect=Effect.CREATE, rpcs=(EXPORT, LIST, notes.LIST))
async def export_artifact(ctx: ToolContext, args: ExportArgs) -> ExportResult:
    """Copy a report or data table to a new file in the user's Google Drive."""
    notebook, row, _ = await located(ctx, args.artifact, args.notebook)
    if row.type not in (REPORT, TABLE):
        raise refuse(f"only reports and data tables can be exported, and this is: {kind_of(row).name}", artifact=row.id)
    if row.status != READY:
        raise NotReady("the artifact is not ready", state=state(row), details={"artifact": row.id})
    request = ExportArtifact(artifact_id=row.id, title=args.title or row.title, type=EXPORTS[args.to])
    answer = await ctx.call(EXPORT, request, notebook=notebook)
    return ExportResult(notebook_id=notebook, artifact_id=row.id, url=answer.url)


class DeleteArgs(Args):
    artifacts: list[str] = Field(min_length=1)
    notebook: str | None = None
    confirm: bool = False


@tool(scope=Scope.DELETE, effect=Effect.DELETE, rpcs=(DELETE, LIST, notes.LIST, notes.DELETE))
async def delete_artifact(ctx: ToolContext, args: DeleteArgs) -> Deleted:
    """Delete artifacts from a notebook. Cannot be undone; quota does not come back."""
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    studio = await listing(ctx, notebook)

    async def send(ids: list[str]) -> None:
        maps = [id for id in ids if id in studio.maps]
        deleted: list[str] = []
        try:
            if maps:
                await ctx.call(notes.DELETE, notes.DeleteNotes(notebook_id=notebook, note_ids=maps))
                deleted += maps
            for id in ids:
                if id not in maps:
                    await ctx.call(DELETE, DeleteArtifact(artifact_id=id), notebook=notebook)
                    deleted.append(id)
        except NlmError as exc:
            exc.details["deleted"] = deleted
            left = len(ids) - len(deleted)
            raise exc.also(f"Deleted before that: {len(deleted)}; not deleted or in doubt: {left}.") from None

    return await delete(
        notebook,
        args.artifacts,
        studio.meant,
        confirm=args.confirm,
        would=lambda row: f"delete {kind_of(row).name} {row.title!r} ({row.id})",
        send=send,
    )
