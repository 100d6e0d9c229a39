"""The studio: what a notebook's artifacts are, and reading them. Making them is `generating`, the rest `curating`.

Mind maps that are kept as notes belong here too: `listing` reads both lists and makes one kind of row of them. Two
things a listing does not say: that an artifact it leaves out is gone, and why one has failed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from nlm_cdp.api.common import (
    Limit,
    MaxChars,
    NotebookArgs,
    Offset,
    Page,
    RequestContext,
    iso,
    legible,
    refuse,
    text_window,
    window,
)
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.notes import notes
from nlm_cdp.api.provenance import OriginField, provenance
from nlm_cdp.api.references import Listing
from nlm_cdp.api.studio.artifacts import FAILED, NAMES, READY, SUGGESTED, downloadable, kind_of, prompt, state
from nlm_cdp.api.studio.blocks import NOTE_MAP, STATUS, App, Artifact, ArtifactSource
from nlm_cdp.api.studio.contents import Card, MapNode, Question
from nlm_cdp.api.studio.creation import CONTEXT
from nlm_cdp.api.studio.elements import ELEMENT_CONTEXT
from nlm_cdp.errors import Drift, Network, NlmError, RateLimited, Service, Timeout
from nlm_cdp.rpc import Args, Effect, Result, Rpc, Scope, ToolContext, tool
from nlm_cdp.wire.pblite import Message, Tag

NO_SUGGESTIONS = 'NOT artifact.status = "ARTIFACT_STATUS_SUGGESTED"'
NO_REASON = "the service gives no reason; retry_artifact starts it again"
PASSING = (Drift, Network, RateLimited, Service, Timeout)
"""Errors that do not end a wait."""

# Messages


class ListArtifacts(Message):
    """Both contexts occur (C, N); without the filter, suggestions are listed too."""

    context: Annotated[RequestContext, Tag(1)] = CONTEXT
    notebook_id: Annotated[str, Tag(2)]
    filter: Annotated[str | None, Tag(3)] = NO_SUGGESTIONS


class Artifacts(Message):
    artifacts: Annotated[list[Artifact] | None, Tag(1, lenient=True)] = None


class GetArtifact(Message):
    """Without a context in January 2026 (C); two cells: M."""

    artifact_id: Annotated[str, Tag(1)]
    context: Annotated[RequestContext | None, Tag(2)] = ELEMENT_CONTEXT


class GotArtifact(Message):
    artifact: Annotated[Artifact, Tag(1)]


# Calls

LIST = Rpc("gArtLc", "ListArtifacts", ListArtifacts, Artifacts, Effect.READ, timeout=60.0)
GET = Rpc("v9rmvd", "GetArtifact", GetArtifact, GotArtifact, Effect.READ, timeout=60.0)

# References


@dataclass(frozen=True)
class Studio(Listing[Artifact]):
    """The artifacts of a notebook, and those of them that are notes."""

    maps: dict[str, notes.Note]


async def listing(ctx: ToolContext, notebook: str) -> Studio:
    """Everything in the studio but suggestions."""
    answer = await ctx.call(LIST, ListArtifacts(notebook_id=notebook))
    noted = await notes.listing(ctx, notebook)
    rows = {row.id: row for row in legible(answer.artifacts or [], answer.undecoded) if row.status != SUGGESTED}
    maps = {id: note for id, note in noted.rows.items() if notes.kind(note) == notes.MIND_MAP}
    rows |= {id: map_row(note) for id, note in maps.items()}
    return Studio("artifact", rows, lambda row: [row.title], [*answer.undecoded, *noted.undecoded], maps)


def map_row(note: notes.Note) -> Artifact:
    """A mind map that is kept as a note, as an artifact of the type that once was for it."""
    meta = note.meta or notes.NoteMeta()
    return Artifact(
        id=note.id,
        title=note.title,
        type=NOTE_MAP,
        sources=[ArtifactSource(id=source) for source in meta.sources or []],
        status=READY,
        app=App(tree_json=note.content),
        modified=meta.modified,
        created=meta.created,
    )


async def located(ctx: ToolContext, reference: str, notebook: str | None) -> tuple[str, Artifact, Studio]:
    """The notebook and the artifact meant by a reference, and what else is there."""
    where = await notebooks.notebook_id(ctx, notebook)
    found = await listing(ctx, where)
    return where, found.meant(reference), found


async def whole(ctx: ToolContext, notebook: str, row: Artifact) -> Artifact:
    """The row with what listings leave out of it."""
    if not kind_of(row).apart or row.status != READY:
        return row
    return (await ctx.call(GET, GetArtifact(artifact_id=row.id), notebook=notebook)).artifact


# Waiting


async def settle(ctx: ToolContext, notebook: str, row: Artifact, timeout: float) -> tuple[Artifact, str | None]:
    """Wait until this artifact, and no other, is ready with its asset or has failed; the note says why not."""
    began, pause, trouble = ctx.now(), 2.0, ""
    while (now := state(row, whole=True)) not in (STATUS[READY], STATUS[FAILED]):
        if ctx.now() + pause > began + timeout:
            return row, f"{now}: poll get_artifact" + trouble
        await ctx.progress(f"{kind_of(row).name} {now} ({ctx.now() - began:.0f} s)")
        await ctx.sleep(pause)
        pause = min(pause * 1.5, 10.0)
        try:
            row, trouble = await latest(ctx, notebook, row), ""
        except PASSING as exc:
            trouble = f"; the last look failed ({exc.code})"
        except NlmError as exc:
            return row, f"{now} when last seen, then it could not be read ({exc.code}): poll get_artifact"
    return row, None


async def latest(ctx: ToolContext, notebook: str, row: Artifact) -> Artifact:
    """The artifact as it is now; as it was, where a listing leaves it out: listings have gaps."""
    answer = await ctx.call(LIST, ListArtifacts(notebook_id=notebook))
    found = next((item for item in answer.artifacts or [] if item.id == row.id), row)
    return await whole(ctx, notebook, found)


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
    studio = await listing(ctx, notebook)
    known = [info(row) for row in studio.rows.values()]
    rows = [row for row in known if args.type in (None, row.type) and args.status in (None, row.status)]
    shown, counts = window(rows, args.limit, args.offset)
    return ArtifactList(notebook_id=notebook, artifacts=shown, undecoded=studio.undecoded or None, **counts)


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
