"""Sources: list, add (web page, YouTube, text), read, guide, rename, delete."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from nlm_cdp.api import intake, notebooks
from nlm_cdp.api.common import (
    Candidate,
    Empty,
    Origin,
    Page,
    Provenance,
    RequestContext,
    provenance,
    provenance_field,
    resolve,
    text_window,
    window,
)
from nlm_cdp.api.rows import FAILED, READY, STATUS, Source, SourceInfo, distinct, source_info
from nlm_cdp.errors import NlmError, NotFound, NotReady, Outcome, Service
from nlm_cdp.rpc import Args, Effect, Path, Result, Rpc, Scope, ToolContext, tool
from nlm_cdp.wire.document import Document, markdown, plain_text
from nlm_cdp.wire.pblite import Lazy, Message, Tag

# Messages


class DriveFile(Message):
    file_id: Annotated[str, Tag(1)]
    mime: Annotated[str, Tag(2)]
    f3: Annotated[int | None, Tag(3)] = 1
    title: Annotated[str | None, Tag(4)] = None


class Text(Message):
    title: Annotated[str, Tag(1)]
    content: Annotated[str, Tag(2)]


TEXT_CONTENT = 2


class Content(Message):
    """One source to add (UserContent): exactly one of drive, text, web, video. `marker` is 1 since 2026 (C)."""

    drive: Annotated[DriveFile | None, Tag(1)] = None
    text: Annotated[Text | None, Tag(2)] = None
    web: Annotated[str | None, Tag(3, 1)] = None
    text_type: Annotated[int | None, Tag(4)] = None
    video: Annotated[str | None, Tag(8, 1)] = None
    marker: Annotated[int | None, Tag(11)] = 1

    @model_validator(mode="after")
    def is_one_thing(self) -> Content:
        if sum(part is not None for part in (self.drive, self.text, self.web, self.video)) != 1:
            raise ValueError("exactly one of drive, text, web, video")
        return self


class AddSources(Message):
    """Today `[specs, nb, CTX]` (P, since mid-2026); January's tails `[2],_,_` and `[2],[1,…]` still occur (C, M)."""

    contents: Annotated[list[Content], Tag(1)]
    notebook_id: Annotated[str, Tag(2)]
    context: Annotated[RequestContext, Tag(3)] = RequestContext()
    old_provenance: Annotated[Provenance | None, Tag(4)] = None


class Added(Message):
    sources: Annotated[list[Source] | None, Tag(1, lenient=True)] = None


class DeleteSources(Message):
    source_ids: Annotated[list[str], Tag(1, each=(1,))]
    context: Annotated[RequestContext | None, Tag(2)] = None


class RenameSource(Message):
    source_id: Annotated[str, Tag(2, 1)]
    title: Annotated[str, Tag(3, 1, 1, 1)]


class GotSource(Message):
    source: Annotated[Source | None, Tag(1)] = None


class LoadSource(Message):
    """`[[id],[2],[2]]` asks for text; form 3 asks for HTML."""

    source_id: Annotated[str, Tag(1, 1)]
    form: Annotated[list[int], Tag(2)] = [2]
    form2: Annotated[list[int], Tag(3)] = [2]


class Loaded(Message):
    source: Annotated[Source, Tag(1)]
    document: Annotated[Lazy[Document] | None, Tag(4)] = None
    html: Annotated[str | None, Tag(5, 2)] = None


class GuideSources(Message):
    source_ids: Annotated[list[str], Tag(1, each=(1, 1))]


class SourceGuideRow(Message):
    """Not understood: 4, always empty."""

    summary: Annotated[str, Tag(2, 1)] = ""
    keywords: Annotated[list[str], Tag(3, 1)] = []
    f4: Annotated[Empty | None, Tag(4)] = None


class SourceGuides(Message):
    guides: Annotated[list[SourceGuideRow], Tag(1)] = []


# Calls

ADD = Rpc(
    id="izAoDd",
    method="AddSources",
    request=AddSources,
    response=Added,
    effect=Effect.CREATE,
    path=Path.NOTEBOOK,
    timeout=120.0,
)
DELETE = Rpc(
    id="tGMBJ",
    method="DeleteSources",
    request=DeleteSources,
    response=Empty,
    effect=Effect.DELETE,
    path=Path.NOTEBOOK,
)
RENAME = Rpc(
    id="b7Wfje",
    method="MutateSource",
    request=RenameSource,
    response=GotSource,
    effect=Effect.SET,
    path=Path.NOTEBOOK,
    null=True,
)
LOAD = Rpc(
    id="hizoJc",
    method="LoadSource",
    request=LoadSource,
    response=Loaded,
    effect=Effect.READ,
    path=Path.NOTEBOOK,
    timeout=120.0,
)
GUIDE = Rpc(
    id="tr032e",
    method="GenerateDocumentGuides",
    request=GuideSources,
    response=SourceGuides,
    effect=Effect.READ,
    path=Path.NOTEBOOK,
    null=True,
    timeout=60.0,
)

# References


async def located(ctx: ToolContext, reference: str, notebook: str | None) -> tuple[str, Source]:
    """The notebook and the source meant by a reference; the source is one of that notebook's."""
    where = await notebooks.notebook_id(ctx, notebook)
    rows = await listing(ctx, where)
    wanted = resolve(reference, [Candidate(row.id, row.title or "") for row in rows], "source")
    return where, next(row for row in rows if row.id == wanted)


async def listing(ctx: ToolContext, notebook: str) -> list[Source]:
    return distinct((await notebooks.get(ctx, notebook)).notebook.sources)


# Results


class SourceList(Page[SourceInfo]):
    notebook_id: str
    sources: list[SourceInfo]


class SourceResult(Result):
    notebook_id: str
    source: SourceInfo


class SourceContent(SourceResult):
    content: str
    total_chars: int
    has_more: bool
    origin: Origin = provenance_field()


class SourceGuide(Result):
    source_id: str
    summary: str
    keywords: list[str]
    origin: Origin = provenance_field()


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
    source_count_after: int
    added: bool
    title_override_applied: bool | None = None
    note: str | None = None


class SourcesDeleted(Result):
    """`needs_confirmation`: nothing was changed; `would` says what would happen."""

    status: Literal["deleted", "needs_confirmation"]
    notebook_id: str
    deleted: list[str]
    not_found: list[str]
    would: list[str] | None = None


# Tools


class ListArgs(Args):
    notebook: str | None = None
    status: Literal["processing", "ready", "error", "deleting", "preparing"] | None = None
    limit: int = Field(100, ge=1, le=1000)
    offset: int = Field(0, ge=0)


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(notebooks.GET,))
async def list_sources(ctx: ToolContext, args: ListArgs) -> SourceList:
    """List a notebook's sources with kind and status."""
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    got = await notebooks.get(ctx, notebook)
    rows = [row for row in distinct(got.notebook.sources) if args.status in (None, STATUS.get(row.status))]
    shown, counts = window(rows, args.limit, args.offset)
    return SourceList(
        notebook_id=notebook,
        sources=[source_info(row) for row in shown],
        undecoded=list(got.undecoded) or None,
        **counts,
    )


class AddArgs(Args):
    content: str | list[str] = Field(description="URL, list of URLs, or the text itself")
    type: Literal["url", "youtube", "text"] | None = Field(None, description="guessed when plain")
    title: str | None = Field(None, min_length=1)
    notebook: str | None = None
    wait: bool = Field(False, description="until processed")
    timeout_s: float = Field(120, ge=1, le=600)


@tool(scope=Scope.WRITE, effect=Effect.CREATE, rpcs=(ADD, notebooks.GET, RENAME))
async def add_source(ctx: ToolContext, args: AddArgs) -> AddResult:
    """Add web pages, YouTube videos or a pasted text to a notebook."""
    wanted = intake.plan(args.content, args.type, args.title)
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    async with ctx.exclusive(f"add:{notebook}"):
        before = await listing(ctx, notebook)
        added, failed = await send(ctx, notebook, wanted, {row.id for row in before})
    renamed: bool | None = None
    if args.title is not None and added and wanted[0].kind != "text":
        added[0], renamed = await retitle(ctx, notebook, added[0], args.title)
    note = None
    if args.wait and added:
        added, note = await settle(ctx, notebook, added, args.timeout_s)
    after = await listing(ctx, notebook)
    return AddResult(
        notebook_id=notebook,
        sources=[source_info(row) for row in added],
        failed=failed,
        source_count_before=len(before),
        source_count_after=len(after),
        added=bool(added),
        title_override_applied=renamed,
        note=note,
    )


async def send(
    ctx: ToolContext, notebook: str, wanted: list[intake.Item], known: set[str]
) -> tuple[list[Source], list[Failed]]:
    """Add every item in one call and tell which came through: the service leaves failed ones out without a word.

    A refusal with status 3 or 9, and a lost reply, may still have taken effect: the notebook is read before we answer.
    """
    request = AddSources(contents=[content(item) for item in wanted], notebook_id=notebook)
    error: NlmError | None = None
    rows: list[Source] = []
    try:
        answer = await ctx.call(ADD, request)
        rows = distinct(answer.sources or [])
    except NlmError as exc:
        if not intake.may_have_happened(exc):
            raise
        error = exc
    fresh = [row for row in rows if row.id not in known]
    # rows come back in request order, so a full answer needs no matching
    placed = dict(zip(wanted, fresh, strict=True)) if len(fresh) == len(wanted) else intake.match(wanted, fresh)
    if missing := [item for item in wanted if item not in placed]:
        placed |= await read_back(ctx, notebook, missing, known | {row.id for row in placed.values()})
    if error is not None and not placed:
        raise error.also("The notebook was read afterwards: no new source is there.")
    missing = [item for item in wanted if item not in placed]
    if not placed and missing and error is None:
        raise Service(
            "the service accepted the request but added none of it",
            hint="Check that the pages are public and readable.",
            outcome=Outcome.REJECTED,
        )
    failed = [
        Failed(
            input=item.shown,
            code=error.code if error else "SERVICE",
            message=error.message if error else "the service left this one out without saying why",
            outcome=error.outcome if error else Outcome.REJECTED,
        )
        for item in missing
    ]
    return list(placed.values()), failed


async def read_back(
    ctx: ToolContext, notebook: str, missing: list[intake.Item], known: set[str]
) -> dict[intake.Item, Source]:
    """New rows that match what is missing, looked for during some seconds."""
    found: dict[intake.Item, Source] = {}
    for pause in intake.READ_BACK:
        await ctx.sleep(pause)
        rows = [row for row in await listing(ctx, notebook) if row.id not in known]
        found = intake.match(missing, rows)
        if len(found) == len(missing):
            break
    return found


def content(item: intake.Item) -> Content:
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
        fresh = {row.id: row for row in await listing(ctx, notebook)}
        rows = {known: fresh.get(known, row) for known, row in rows.items()}
        failing = intake.undecided(rows.values(), failing)
    return list(rows.values()), None


class ContentArgs(Args):
    source: str = Field(description="id, title or prefix")
    notebook: str | None = None
    format: Literal["text", "markdown"] = "text"
    offset: int = Field(0, ge=0)
    max_chars: int = Field(20_000, ge=1, le=200_000)


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(LOAD, notebooks.GET))
async def get_source_content(ctx: ToolContext, args: ContentArgs) -> SourceContent:
    """The text of a source, a window at a time."""
    notebook, row = await located(ctx, args.source, args.notebook)
    loaded = await ctx.call(LOAD, LoadSource(source_id=row.id), notebook=notebook)
    document = loaded.document
    if document is None:
        raise NotReady(
            "this source has no text yet" if row.status != FAILED else "this source failed to process",
            state=source_info(row).status,
        )
    as_text = args.format == "text"
    text = await ctx.offload(lambda: plain_text(document.row) if as_text else markdown(document.decode()))
    shown, counts = text_window(text, args.offset, args.max_chars)
    return SourceContent(
        notebook_id=notebook,
        source=source_info(loaded.source),
        content=shown,
        origin=provenance(ctx, shown, ai_generated=False),
        **counts,
    )


class SourceArgs(Args):
    source: str = Field(description="id, title or prefix")
    notebook: str | None = None


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(GUIDE, notebooks.GET))
async def get_source_guide(ctx: ToolContext, args: SourceArgs) -> SourceGuide:
    """The service's summary and keywords of one source."""
    notebook, row = await located(ctx, args.source, args.notebook)
    answer = await ctx.call(GUIDE, GuideSources(source_ids=[row.id]), notebook=notebook)
    guide = answer.guides[0] if answer.guides else SourceGuideRow()
    if not guide.summary and not guide.keywords:
        raise NotReady("the service has no guide for this source yet", state=source_info(row).status)
    return SourceGuide(
        source_id=row.id,
        summary=guide.summary,
        keywords=guide.keywords,
        origin=provenance(ctx, guide.summary, ai_generated=True),
    )


class RenameArgs(SourceArgs):
    title: str = Field(min_length=1)


@tool(scope=Scope.WRITE, effect=Effect.SET, rpcs=(RENAME, notebooks.GET))
async def rename_source(ctx: ToolContext, args: RenameArgs) -> SourceResult:
    """Change a source's title."""
    notebook, row = await located(ctx, args.source, args.notebook)
    answer = await ctx.call(RENAME, RenameSource(source_id=row.id, title=args.title), notebook=notebook)
    if answer.source is None:
        _, renamed = await located(ctx, row.id, notebook)
    else:
        renamed = answer.source
    return SourceResult(notebook_id=notebook, source=source_info(renamed))


class DeleteArgs(Args):
    sources: list[str] = Field(min_length=1, description="ids, titles or prefixes")
    notebook: str | None = None
    confirm: bool = Field(False, description="without it nothing is deleted")


@tool(scope=Scope.DELETE, effect=Effect.DELETE, rpcs=(DELETE, notebooks.GET))
async def delete_source(ctx: ToolContext, args: DeleteArgs) -> SourcesDeleted:
    """Delete sources from a notebook. Cannot be undone."""
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    rows = {row.id: row for row in await listing(ctx, notebook)}
    candidates = [Candidate(row.id, row.title or "") for row in rows.values()]
    doomed: dict[str, Source] = {}
    not_found: list[str] = []
    for reference in args.sources:
        try:
            found = resolve(reference, candidates, "source")
        except NotFound:
            not_found.append(reference)
        else:
            doomed[found] = rows[found]
    if not args.confirm:
        would = [f"delete {row.title!r} ({row.id})" for row in doomed.values()]
        return SourcesDeleted(
            status="needs_confirmation", notebook_id=notebook, deleted=[], not_found=not_found, would=would
        )
    if doomed:
        await ctx.call(DELETE, DeleteSources(source_ids=list(doomed)), notebook=notebook)
    return SourcesDeleted(status="deleted", notebook_id=notebook, deleted=list(doomed), not_found=not_found)
