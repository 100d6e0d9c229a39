"""Generating again: an artifact that failed, and slides that should be otherwise. Both cost quota."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from nlm_cdp.api.common import SHORT, RequestContext, refuse
from nlm_cdp.api.notes.notes import LIST as LIST_NOTES
from nlm_cdp.api.studio.artifacts import FAILED, READY, kind_of, state
from nlm_cdp.api.studio.blocks import SLIDES
from nlm_cdp.api.studio.creation import CONTEXT, Created
from nlm_cdp.api.studio.generating import STARTED, nothing, order, rows
from nlm_cdp.api.studio.reading import ArtifactArgs, ArtifactResult, info
from nlm_cdp.api.studio.studio import LIST, located
from nlm_cdp.api.writes import afterwards, in_doubt
from nlm_cdp.errors import NlmError, NotReady
from nlm_cdp.rpc import Args, Effect, Rpc, Scope, ToolContext, tool
from nlm_cdp.wire.pblite import Message, Tag

# Messages


class RetryArtifact(Message):
    """N; an id inside a list is refused."""

    context: Annotated[RequestContext, Tag(1)] = CONTEXT
    artifact_id: Annotated[str, Tag(2)]


class SlideChange(Message):
    """`slide` counts from 0."""

    slide: Annotated[int, Tag(1)]
    prompt: Annotated[str, Tag(2)]


class ReviseSlides(Message):
    """N. The answer is a new artifact; the old one stays."""

    context: Annotated[RequestContext, Tag(1)] = SHORT
    artifact_id: Annotated[str, Tag(2)]
    changes: Annotated[list[SlideChange], Tag(3, 1)]


# Calls

RETRY = Rpc("Rytqqe", "RetryArtifact", RetryArtifact, Created, Effect.CREATE, null=True, timeout=120.0, grade="N")
REVISE = Rpc("KmcKPe", "DeriveArtifact", ReviseSlides, Created, Effect.CREATE, null=True, timeout=120.0, grade="N")

# Tools


@tool(scope=Scope.CHAT, effect=Effect.CREATE, rpcs=(RETRY, LIST, LIST_NOTES))
async def retry_artifact(ctx: ToolContext, args: ArtifactArgs) -> ArtifactResult:
    """Generate a failed artifact again. Costs quota."""
    notebook, row, _ = await located(ctx, args.artifact, args.notebook)
    if row.status != FAILED:
        raise refuse(f"the artifact has not failed: it is {state(row)}", "Generate a new one instead.", artifact=row.id)
    try:
        answer = await ctx.call(RETRY, RetryArtifact(artifact_id=row.id), notebook=notebook)
    except NlmError as exc:
        lost = in_doubt(exc)
    else:
        if answer.artifact is not None:
            return ArtifactResult(notebook_id=notebook, artifact=info(answer.artifact, whole=True), note=STARTED)
        lost = nothing()
    there = await afterwards(lost, "notebook's artifacts", rows(ctx, notebook))
    now = next((each for each in there if each.id == row.id), None)
    if now is None or now.status == FAILED:
        raise lost.also("The artifact was looked for afterwards: it has not started again.")
    note = f"the reply was lost, but the artifact is no longer failed; {STARTED}"
    return ArtifactResult(notebook_id=notebook, artifact=info(now), note=note)


class Change(Args):
    slide: int = Field(ge=1, description="from 1")
    instruction: str = Field(min_length=1)


class ReviseArgs(Args):
    artifact: str
    changes: list[Change] = Field(min_length=1)
    notebook: str | None = None


@tool(scope=Scope.CHAT, effect=Effect.CREATE, rpcs=(REVISE, LIST, LIST_NOTES))
async def revise_slides(ctx: ToolContext, args: ReviseArgs) -> ArtifactResult:
    """Make a new slide deck from an old one with some slides changed. Costs quota."""
    notebook, row, _ = await located(ctx, args.artifact, args.notebook)
    kind = kind_of(row)
    if kind.type != SLIDES:
        raise refuse(f"only slide decks can be revised, and this is: {kind.name}", artifact=row.id)
    if row.status != READY:
        raise NotReady("the slide deck is not ready", state=state(row), details={"artifact": row.id})
    there = len(row.slides.slides) if row.slides else 0
    if there and (beyond := sorted(change.slide for change in args.changes if change.slide > there)):
        raise refuse(f"the deck has {there} slides", slides=beyond)
    changes = [SlideChange(slide=change.slide - 1, prompt=change.instruction) for change in args.changes]
    async with ctx.exclusive(f"generate:{notebook}"):
        made = await order(ctx, notebook, REVISE, ReviseSlides(artifact_id=row.id, changes=changes), kind.name)
    return ArtifactResult(notebook_id=notebook, artifact=info(made, whole=True), note=STARTED)
