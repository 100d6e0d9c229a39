"""Local files as sources: registered, sent straight from disk by the browser, and read back.

A registered source is a stub until its bytes are there. Where they did not arrive the stub is removed again, or named
in the error if it cannot be.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated

from nlm_cdp import media
from nlm_cdp.api.common import Provenance, RequestContext
from nlm_cdp.api.sources.intake import may_have_happened
from nlm_cdp.api.sources.rows import Source
from nlm_cdp.api.sources.sources import DELETE, DeleteSources, listing
from nlm_cdp.api.writes import looked
from nlm_cdp.errors import Drift, NlmError, Outcome
from nlm_cdp.rpc import Effect, Rpc, ToolContext
from nlm_cdp.wire.pblite import Message, Tag

if TYPE_CHECKING:
    from pathlib import Path as FilePath


class RegisterFile(Message):
    """Today `[[[name]], nb, CTX]` (P); the tail `[2],[1,…]` in January 2026 and from M (C)."""

    names: Annotated[list[str], Tag(1, each=(1,))]
    notebook_id: Annotated[str, Tag(2)]
    context: Annotated[RequestContext, Tag(3)] = RequestContext()
    old_provenance: Annotated[Provenance | None, Tag(4)] = None


class Registered(Message):
    """Not understood: 3, the same rows again."""

    sources: Annotated[list[Source], Tag(1)]
    again: Annotated[list[Source], Tag(3, each=(1,))] = []


REGISTER = Rpc("o4cbdc", "RegisterFile", RegisterFile, Registered, Effect.CREATE)


async def checked(ctx: ToolContext, path: str, mime: str | None) -> tuple[FilePath, str]:
    """The file and its type. Raises FileRefused or InvalidArgument before anything is sent."""
    found = await ctx.files.readable(path)
    if mime is not None:
        media.refuse_html(found.name, mime)
    return found, mime or media.mime_of(found.name)


async def add_file(
    ctx: ToolContext, notebook: str, file: tuple[FilePath, str], known: Collection[str], timeout: float
) -> Source:
    """Register a file and send its bytes; gives the row that the notebook then shows."""
    path, mime = file
    source_id = await registered(ctx, notebook, path.name, known)

    async def progress(sent: int, total: int) -> None:
        await ctx.progress(f"{path.name}: {sent} of {total} bytes sent")

    try:
        await ctx.call.upload(path, notebook=notebook, source=source_id, mime=mime, progress=progress, timeout=timeout)
    except NlmError as exc:
        raise await without_stub(ctx, notebook, source_id, exc) from None
    return (await listing(ctx, notebook)).rows.get(source_id) or Source(plain_id=source_id, title=path.name)


async def registered(ctx: ToolContext, notebook: str, name: str, known: Collection[str]) -> str:
    """The id of the stub. The service was seen to refuse with status 3 a file that it registered all the same."""
    try:
        answer = await ctx.call(REGISTER, RegisterFile(names=[name], notebook_id=notebook))
    except NlmError as exc:
        if not may_have_happened(exc):
            raise

        async def new() -> list[str]:
            rows = (await listing(ctx, notebook)).rows
            return [id for id, row in rows.items() if id not in known and row.title == name]

        seen = await looked(ctx, new, lambda found: len(found) == 1)
        if seen is None:
            raise exc.also("The notebook could not be read afterwards.") from None
        if len(seen) != 1:
            raise exc.also("The notebook was read afterwards: no such source is there.") from None
        return seen[0]
    if not answer.sources:
        raise Drift("the service registered the file without an id", outcome=Outcome.UNKNOWN)
    return answer.sources[0].id


async def without_stub(ctx: ToolContext, notebook: str, source_id: str, error: NlmError) -> NlmError:
    """The error of an upload, after its stub was removed; where bytes may have arrived it stays, and is named."""
    error.details["source_id"] = source_id
    if error.outcome is Outcome.UNKNOWN:
        return error.also("The registered source may have the file: look at it, or delete it (details.source_id).")
    try:
        await ctx.call(DELETE, DeleteSources(source_ids=[source_id]), notebook=notebook)
    except NlmError:
        return error.also("Its registered source could not be removed: delete it (details.source_id).")
    return error.also("Nothing was added.")
