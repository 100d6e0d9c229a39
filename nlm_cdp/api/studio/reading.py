"""Artifacts, list and read, and how every tool shows one."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from nlm_cdp.api.common import Limit, MaxChars, NotebookArgs, Offset, Page, iso, refuse, text_window, window
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.notes import notes
from nlm_cdp.api.provenance import OriginField, provenance
from nlm_cdp.api.studio.artifacts import FAILED, NAMES, READY, downloadable, kind_of, prompt, state
from nlm_cdp.api.studio.blocks import NOTE_MAP, STATUS, Artifact
from nlm_cdp.api.studio.contents import Card, MapNode, Question
from nlm_cdp.api.studio.studio import GET, LIST, listing, located, settle, whole
from nlm_cdp.rpc import Args, Effect, Result, Scope, ToolContext, tool

NO_REASON = "the service gives no reason; retry_artifact starts it again"

# Results


class ArtifactInfo(Result):
    """`downloadable`: the forms it can be saved in now. `note_backed`: a mind map that is kept as a note."""

    id: str
    type: str
    title: str
    status: str
    created: str | None = None
    modified: str | None = None
    duration_s: float | None = None
    downloadable: list[str]
    source_ids: list[str]
    derived_from: str | None = None
    note_backed: bool | None = None
    reason: str | None = None


class ArtifactList(Page[ArtifactInfo]):
    notebook_id: str
    artifacts: list[ArtifactInfo]


class ArtifactResult(Result):
    notebook_id: str
    artifact: ArtifactInfo
    note: str | None = None


class ArtifactDetail(ArtifactResult):
    """`content`: the text of a report. A table has its header first. What is not there has another type, or nothing."""

    content: str | None = None
    total_chars: int | None = None
    has_more: bool | None = None
    rows: list[list[str]] | None = None
    footnotes: list[str] | None = None
    questions: list[Question] | None = None
    cards: list[Card] | None = None
    tree: MapNode | None = None
    prompt: str | None = None
    origin: OriginField


def info(row: Artifact, *, whole: bool = False) -> ArtifactInfo:
    block = row.audio or row.video
    duration = block.duration if block else None
    return ArtifactInfo(
        id=row.id,
        type=kind_of(row).name,
        title=row.title,
        status=state(row, whole=whole),
        created=iso(row.created),
        modified=iso(row.modified),
        duration_s=round(duration.seconds + duration.nanos / 1e9, 3) if duration else None,
        downloadable=downloadable(row),
        source_ids=[source.id for source in row.sources],
        derived_from=row.derived_from,
        note_backed=True if row.type == NOTE_MAP else None,
        reason=NO_REASON if row.status == FAILED else None,
    )


# Tools

Type = Literal["audio", "video", "report", "quiz", "flashcards", "mind_map", "infographic", "slide_deck", "data_table"]


class ListArgs(NotebookArgs):
    type: str | None = None
    status: Literal["pending", "processing", "ready", "failed"] | None = None
    limit: Limit = 50
    offset: Offset = 0


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(LIST, notes.LIST))
async def list_artifacts(ctx: ToolContext, args: ListArgs) -> ArtifactList:
    """List generated artifacts: audio, reports, quizzes and so on."""
    if args.type not in (None, *NAMES):
        raise refuse("there is no such type of artifact", f"Possible: {', '.join(NAMES)}.")
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    there = await listing(ctx, notebook)
    known = [info(row) for row in there.rows.values()]
    rows = [row for row in known if args.type in (None, row.type) and args.status in (None, row.status)]
    shown, counts = window(rows, args.limit, args.offset)
    return ArtifactList(notebook_id=notebook, artifacts=shown, undecoded=there.undecoded or None, **counts)


class ArtifactArgs(Args):
    artifact: str
    notebook: str | None = None


class GetArgs(ArtifactArgs):
    wait: bool = False
    timeout_s: float = Field(300, ge=1, le=3600)
    offset: Offset = 0
    max_chars: MaxChars = 20_000


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(LIST, GET, notes.LIST), was=("get_audio_status",))
async def get_artifact(ctx: ToolContext, args: GetArgs) -> ArtifactDetail:
    """An artifact's state and content: report text, table, quiz, cards or map."""
    notebook, row, _ = await located(ctx, args.artifact, args.notebook)
    row, note = await whole(ctx, notebook, row), None
    if args.wait:
        row, note = await settle(ctx, notebook, row, args.timeout_s)
    about = info(row, whole=True)
    detail = ArtifactDetail(
        notebook_id=notebook,
        artifact=about,
        prompt=prompt(row),
        note=note,
        origin=provenance(ctx, "", ai_generated=True),
    )
    if about.status == STATUS[READY]:
        found = await ctx.offload(lambda: {name: read(row) for name, read in kind_of(row).content.items()})
        if "content" in found:
            found["content"], counts = text_window(found["content"], args.offset, args.max_chars)
            detail.total_chars, detail.has_more = counts["total_chars"], counts["has_more"]
        detail = detail.model_copy(update=found)
        detail.origin = provenance(ctx, detail.model_dump_json(include=set(found)), ai_generated=True)
    return detail
