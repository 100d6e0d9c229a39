"""Generating: what costs quota. Each order goes out once; after a lost reply the studio says what came of it.

A new artifact proves nothing about whose it is, so one that appeared meanwhile is told with the error, never returned.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.notes import notes
from nlm_cdp.api.sources.rows import READY as SOURCE_READY
from nlm_cdp.api.sources.rows import Source
from nlm_cdp.api.sources.sources import listing
from nlm_cdp.api.studio import vocabulary
from nlm_cdp.api.studio.artifacts import SUGGESTED, kind_of, state
from nlm_cdp.api.studio.blocks import Artifact
from nlm_cdp.api.studio.contents import tree
from nlm_cdp.api.studio.creation import CREATIONS, DRAW_MIND_MAP, Created, DrawMindMap, Order, Pair
from nlm_cdp.api.studio.reading import ArtifactResult, Type, info
from nlm_cdp.api.studio.studio import GET, LIST, ListArtifacts, map_row, settle
from nlm_cdp.api.writes import in_doubt, looked
from nlm_cdp.errors import NlmError, NotFound, NotReady, Outcome, Service
from nlm_cdp.rpc import Args, Effect, Rpc, Scope, ToolContext, tool
from nlm_cdp.wire.pblite import Message

STARTED = "started: poll get_artifact"

# Once, and then looking


async def order(ctx: ToolContext, notebook: str, rpc: Rpc[Any, Created], request: Message, kind: str) -> Artifact:
    """Send what makes an artifact of this kind, once. Raises what is known where no artifact came back."""
    before = {row.id for row in await rows(ctx, notebook)}
    try:
        answer = await ctx.call(rpc, request, notebook=notebook)
    except NlmError as exc:
        raise await looked_for(ctx, notebook, kind, before, in_doubt(exc)) from None
    if answer.artifact is None:
        raise await looked_for(ctx, notebook, kind, before, nothing()) from None
    return answer.artifact


async def rows(ctx: ToolContext, notebook: str) -> list[Artifact]:
    return (await ctx.call(LIST, ListArtifacts(notebook_id=notebook))).artifacts or []


def nothing() -> Service:
    return Service(
        "the service answered without an artifact",
        hint="This feature may not be part of this account's plan; try another format or type.",
        outcome=Outcome.REJECTED,
    )


async def looked_for(ctx: ToolContext, notebook: str, kind: str, before: set[str], error: NlmError) -> NlmError:
    """The error, with what the studio shows of a new artifact of this kind."""

    async def look() -> list[Artifact]:
        new = [row for row in await rows(ctx, notebook) if row.id not in before and row.status != SUGGESTED]
        return [row for row in new if kind_of(row).name == kind]

    if seen := await looked(ctx, look, bool):
        error.outcome = Outcome.UNKNOWN
        error.details["seen"] = [{"id": row.id, "title": row.title, "status": state(row)} for row in seen]
        error.hint = "It is most likely this one (details.seen): follow it with get_artifact, do not generate again."
        return error.also(f"A new {kind} has appeared in the notebook.")
    if seen is None:
        return error.also("The notebook's artifacts could not be read afterwards.")
    if error.outcome is Outcome.UNKNOWN:
        error.hint = "Look with list_artifacts in a minute before you try again: it costs quota each time."
    return error.also(f"The notebook was read afterwards: no new {kind} is there.")


# Tools


class GenerateArgs(Args):
    type: Type
    notebook: str | None = None
    instructions: str | None = Field(None, min_length=1)
    source_ids: list[str] | None = Field(None, min_length=1)
    language: str | None = Field(None, min_length=2, description="default: the account's")
    options: dict[str, str] | None = Field(None, description=f"an error lists all words. {vocabulary.told()}")
    wait: bool = False
    timeout_s: float = Field(600, ge=1, le=3600)


@tool(
    scope=Scope.CHAT,
    effect=Effect.CREATE,
    rpcs=(
        *(creation.rpc for creation in CREATIONS.values()),
        DRAW_MIND_MAP,
        notes.SAVE_MIND_MAP,
        notebooks.GET,
        LIST,
        GET,
    ),
    was=("generate_audio",),
)
async def generate_artifact(ctx: ToolContext, args: GenerateArgs) -> ArtifactResult:
    """Start generating an artifact. Costs quota; audio, video and slides take minutes."""
    values = vocabulary.chosen(args.type, args.options or {}, args.instructions)
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    sources = usable(args.source_ids, (await listing(ctx, notebook)).rows)
    wanted = Order(notebook, sources, args.instructions, args.language, values)
    if values.get("kept_as") == "note":
        return ArtifactResult(notebook_id=notebook, artifact=info(await drawn(ctx, wanted)))
    creation = CREATIONS[args.type]
    async with ctx.exclusive(f"generate:{notebook}"):  # what appears meanwhile is another program's, not ours
        row = await order(ctx, notebook, creation.rpc, creation.request(wanted), args.type)
    note: str | None = STARTED
    if args.wait:
        row, note = await settle(ctx, notebook, row, args.timeout_s)
    return ArtifactResult(notebook_id=notebook, artifact=info(row, whole=True), note=note)


def usable(wanted: list[str] | None, there: Mapping[str, Source]) -> list[str]:
    """The sources to generate from: those named, or all that are ready."""
    ready = [row.id for row in there.values() if row.status == SOURCE_READY]
    if wanted is not None:
        if unknown := sorted(set(wanted) - there.keys()):
            raise NotFound("these sources are not in the notebook", details={"source_ids": unknown})
        return wanted
    if not there:
        raise NotReady("the notebook has no sources to generate from", hint="Add a source first.", state="empty")
    if not ready:
        raise NotReady("none of the notebook's sources is ready", hint="list_sources shows their status.")
    return ready


async def drawn(ctx: ToolContext, wanted: Order) -> Artifact:
    """A mind map at once, kept as a note."""
    request = DrawMindMap(
        sources=wanted.sources,
        values=[Pair(key="[CONTEXT]", value=wanted.prompt or "")],
        language=wanted.language or "",
    )
    answer = await ctx.call(DRAW_MIND_MAP, request, notebook=wanted.notebook)
    title = tree(map_row(notes.Note(id="", content=answer.json_text))).name
    save = notes.SaveMindMap(notebook_id=wanted.notebook, content=answer.json_text, sources=wanted.sources, title=title)
    try:
        saved = (await ctx.call(notes.SAVE_MIND_MAP, save)).note
    except NlmError as exc:
        raise exc.also("The map was drawn, but keeping it failed.") from None
    meta = saved.meta or notes.NoteMeta()
    update = {"content": answer.json_text, "title": saved.title or title}
    return map_row(saved.model_copy(update=update | {"meta": meta.model_copy(update={"sources": wanted.sources})}))
