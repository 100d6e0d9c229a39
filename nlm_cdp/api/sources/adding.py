"""Adding sources: web pages, YouTube videos, Drive files and texts, each told apart from what was there before.

The service leaves what it could not add out of its answer without a word, and refuses some adds that it carries out
all the same: what came of each item is decided from the rows it answers with and, in doubt, from the notebook itself.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from nlm_cdp.api.common import SHORT, Provenance, RequestContext
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.sources import intake, uploading
from nlm_cdp.api.sources.additions import ADD, TEXT_CONTENT, Added, AddSources, Content, DriveFile, Text
from nlm_cdp.api.sources.rows import FAILED, READY, Source, SourceInfo, distinct, source_info
from nlm_cdp.api.sources.sources import RENAME, RenameSource, listing
from nlm_cdp.api.writes import looked
from nlm_cdp.errors import NlmError, Outcome, Service, UnconfirmedWrite
from nlm_cdp.rpc import Args, Effect, Result, Scope, ToolContext, tool

if TYPE_CHECKING:
    from pathlib import Path as FilePath

FATAL = ("SIGNED_OUT", "ACCESS_GATED", "CHROME_LOST", "QUOTA")
"""What the next item of a batch would meet as well."""

# The tool


class Failed(Result):
    input: str
    code: str
    message: str
    outcome: str


class AddResult(Result):
    notebook_id: str
    sources: list[SourceInfo]
    failed: list[Failed]
    source_count_before: int
    source_count_after: int | None = None
    added: bool
    title_override_applied: bool | None = None
    note: str | None = None


class AddArgs(Args):
    content: str | list[str] = Field(description="URL, list of URLs, Drive file id, file path, or the text itself")
    type: Literal["url", "youtube", "text", "drive", "file"] | None = Field(None, description="guessed; not file")
    title: str | None = Field(None, min_length=1)
    mime_type: str | None = Field(None, description="of a file whose name does not tell it")
    notebook: str | None = None
    wait: bool = False
    timeout_s: float = Field(120, ge=1, le=600)


@tool(
    scope=Scope.WRITE,
    effect=Effect.CREATE,
    rpcs=(ADD, uploading.REGISTER, notebooks.GET, RENAME),
    was=("add_url_source", "add_youtube_source", "add_text_source", "add_drive_source"),
)
async def add_source(ctx: ToolContext, args: AddArgs) -> AddResult:
    """Add web pages, videos, Drive or local files, or text to a notebook."""
    wanted = intake.plan(args.content, args.type, args.title, args.mime_type)
    local = args.type == "file"
    files = [await uploading.checked(ctx, item.content, args.mime_type) for item in wanted] if local else []
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    async with ctx.exclusive(f"add:{notebook}"):
        before = (await listing(ctx, notebook)).rows
        if local:
            added, failed = await send_files(ctx, notebook, files, before, args.timeout_s)
        else:
            added, failed = await send(ctx, notebook, wanted, before)
    note, renamed, after = None, None, None
    if (args.wait or local) and added:
        added, note = await settle(ctx, notebook, added, args.timeout_s)
    if args.title is not None and added and wanted[0].kind != "text":
        added[0], renamed = await retitle(ctx, notebook, added[0], args.title)
    try:
        after = len((await listing(ctx, notebook)).rows)
    except NlmError as exc:
        note = note or f"added, but the notebook could not be read afterwards ({exc.code})"
    return AddResult(
        notebook_id=notebook,
        sources=[source_info(row) for row in added],
        failed=failed,
        source_count_before=len(before),
        source_count_after=after,
        added=bool(added),
        title_override_applied=renamed,
        note=note,
    )


async def send_files(
    ctx: ToolContext, notebook: str, files: list[tuple[FilePath, str]], known: Collection[str], timeout: float
) -> tuple[list[Source], list[Failed]]:
    """One file after the other; a single one that fails is the call's error, of several each tells its own."""
    added: list[Source] = []
    failed: list[Failed] = []
    for file in files:
        try:
            added.append(await uploading.add_file(ctx, notebook, file, known, timeout))
        except NlmError as exc:
            if len(files) == 1 or exc.code in FATAL:
                raise
            failed.append(Failed(input=str(file[0]), code=exc.code, message=exc.message, outcome=exc.outcome))
    return added, failed


async def send(
    ctx: ToolContext, notebook: str, wanted: list[intake.Item], known: Collection[str]
) -> tuple[list[Source], list[Failed]]:
    """Add every item in one call and tell which came through: the service leaves failed ones out without a word.

    A refusal with status 3 or 9, and a lost reply, may still have taken effect: the notebook is read before we answer.
    """
    with_drive = any(item.file for item in wanted)
    request = AddSources(
        contents=[content(item) for item in wanted],
        notebook_id=notebook,
        context=SHORT if with_drive else RequestContext(),
        old_provenance=Provenance() if with_drive else None,
    )
    error: NlmError | None = None
    answer = Added()
    try:
        answer = await ctx.call(ADD, request)
    except NlmError as exc:
        if not intake.may_have_happened(exc):
            raise
        error = exc
    rows = distinct(answer.sources or [])
    fresh = [row for row in rows if row.id not in known]
    # rows come back in request order, so a full answer needs no matching
    placed = dict(zip(wanted, fresh, strict=True)) if len(fresh) == len(wanted) else intake.match(wanted, fresh)
    missing = [item for item in wanted if item not in placed]
    read = True
    if missing and (error is not None or answer.undecoded):
        taken = {*known, *(row.id for row in placed.values())}

        async def look() -> dict[intake.Item, Source]:
            rows = (await listing(ctx, notebook)).rows.values()
            return intake.match(missing, [row for row in rows if row.id not in taken])

        found = await looked(ctx, look, lambda found: len(found) == len(missing))
        placed |= found or {}
        read = found is not None
    if not placed:
        raise none_of_it(error, looked=read)
    failed = [
        Failed(
            input=item.shown,
            code=error.code if error else "SERVICE",
            message=error.message if error else "the service left this one out without saying why",
            outcome=error.outcome if error else Outcome.REJECTED if read else Outcome.UNKNOWN,
        )
        for item in wanted
        if item not in placed
    ]
    return [placed[item] for item in wanted if item in placed], failed


def none_of_it(error: NlmError | None, *, looked: bool) -> NlmError:
    """The error for an add after which no new source was seen."""
    if error is not None:
        return error.also(
            "The notebook was read afterwards: no new source is there."
            if looked
            else "The notebook could not be read afterwards."
        )
    if not looked:
        return UnconfirmedWrite("it could not be read which sources were added", outcome=Outcome.UNKNOWN)
    return Service(
        "the service accepted the request but added none of it",
        hint="Check that the pages are public and readable.",
        outcome=Outcome.REJECTED,
    )


def content(item: intake.Item) -> Content:
    """The title sent with a Drive file is not kept (C): without one of ours, its id stands in for it."""
    if item.file is not None and item.file.mime is not None:
        return Content(drive=DriveFile(file_id=item.file.id, mime=item.file.mime, title=item.title or item.file.id))
    if item.kind == "text":
        return Content(text=Text(title=item.title, content=item.content), text_type=TEXT_CONTENT)
    return Content(video=item.content) if item.kind == "youtube" else Content(web=item.content)


async def retitle(ctx: ToolContext, notebook: str, row: Source, title: str) -> tuple[Source, bool]:
    """The service titles pages and videos itself: ours is set afterwards; failing at that is not failing to add."""
    if row.title == title:
        return row, True
    try:
        answer = await ctx.call(RENAME, RenameSource(source_id=row.id, title=title), notebook=notebook)
    except NlmError:
        return row, False
    return answer.source or row.model_copy(update={"title": title}), True


async def settle(
    ctx: ToolContext, notebook: str, added: list[Source], timeout: float
) -> tuple[list[Source], str | None]:
    """Wait until every added source is ready or failed; one read of the notebook a turn, whatever their number."""
    deadline, pause = ctx.now() + timeout, 1.0
    rows = {row.id: row for row in added}
    failing = intake.undecided(added, set())
    while any(
        row.status not in (READY, FAILED) or (row.id in failing and row.status == FAILED) for row in rows.values()
    ):
        if ctx.now() + pause > deadline:
            return list(rows.values()), "still processing: poll list_sources"
        done = sum(row.status in (READY, FAILED) for row in rows.values())
        await ctx.progress(f"{done} of {len(rows)} sources processed")
        await ctx.sleep(pause)
        pause = min(pause * 1.5, 10.0)
        try:
            fresh = (await listing(ctx, notebook)).rows
        except NlmError as exc:
            return list(rows.values()), f"added, but then the notebook could not be read ({exc.code})"
        rows = {known: fresh.get(known, row) for known, row in rows.items()}
        failing = intake.undecided(rows.values(), failing)
    return list(rows.values()), None
