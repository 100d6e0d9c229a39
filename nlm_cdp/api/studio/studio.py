"""The studio: what a notebook's artifacts are. Tools: `reading`, `generating`, `reworking`, `curating`, `downloading`.

Mind maps that are kept as notes belong here too: `listing` reads both lists and makes one kind of row of them. A
listing does not say that an artifact it leaves out is gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from nlm_cdp.api.common import RequestContext, legible
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.notes import notes
from nlm_cdp.api.references import Listing
from nlm_cdp.api.studio.artifacts import FAILED, READY, SUGGESTED, kind_of, state
from nlm_cdp.api.studio.blocks import NOTE_MAP, STATUS, App, Artifact, ArtifactSource
from nlm_cdp.api.studio.creation import CONTEXT
from nlm_cdp.api.studio.elements import ELEMENT_CONTEXT
from nlm_cdp.errors import Drift, Network, NlmError, RateLimited, Service, Timeout
from nlm_cdp.rpc import Effect, Rpc, ToolContext
from nlm_cdp.wire.pblite import Message, Tag

NO_SUGGESTIONS = 'NOT artifact.status = "ARTIFACT_STATUS_SUGGESTED"'
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
