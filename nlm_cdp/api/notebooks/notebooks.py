"""Notebooks (the wire's Project): their calls, what a reference means, list and read. Changing them is `managing`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from nlm_cdp.api.common import (
    SHORT,
    Candidate,
    Empty,
    Origin,
    Page,
    Provenance,
    RequestContext,
    legible,
    provenance,
    provenance_field,
    refuse,
    resolve,
    window,
)
from nlm_cdp.api.notebooks.project import GOALS, LENGTHS, ROLES, ChatSettings, Goal, Notebook, NotebookMeta
from nlm_cdp.api.sources.rows import SourceInfo, distinct, source_info
from nlm_cdp.errors import Drift
from nlm_cdp.rpc import Args, Effect, Path, Result, Rpc, Scope, ToolContext, tool
from nlm_cdp.wire import page
from nlm_cdp.wire.chat import Chip
from nlm_cdp.wire.pblite import Bit, Message, Tag

# Messages


class ListNotebooks(Message):
    """`[_,1,_,[2]]`; the web app sends the full context and view options, which nobody has explained (P)."""

    own: Annotated[int | None, Tag(2)] = 1
    audio_ids: Annotated[Bit | None, Tag(3)] = None
    context: Annotated[RequestContext, Tag(4)] = SHORT
    view: Annotated[list[Any], Tag(6)] = []


class Notebooks(Message):
    notebooks: Annotated[list[Notebook] | None, Tag(1, lenient=True)] = None


class CreateNotebook(Message):
    """Today `[title,_,_,CTX]` (P); `[title,_,_,[2],[1]]` in January 2026 (C), `[title,_,_,[2],[1,…]]` from M."""

    title: Annotated[str, Tag(1)] = ""
    context: Annotated[RequestContext, Tag(4)] = RequestContext()
    old_provenance: Annotated[Provenance | None, Tag(5)] = None


class GetNotebook(Message):
    """`[nb,_,CTX,_,0]`; the web app adds view options, and 1 in the fifth cell to force a refresh (P)."""

    notebook_id: Annotated[str, Tag(1)]
    context: Annotated[RequestContext, Tag(3)] = RequestContext()
    refresh: Annotated[int | None, Tag(5)] = 0
    view: Annotated[list[Any], Tag(6)] = []


class GotNotebook(Message):
    notebook: Annotated[Notebook, Tag(1)]


class Rename(Message):
    title: Annotated[str | None, Tag(4, 2)] = None
    emoji: Annotated[str | None, Tag(4, 3)] = None

    @model_validator(mode="after")
    def changes_something(self) -> Rename:
        if self.title is None and self.emoji is None:
            raise ValueError("a rename sets the title or the emoji")
        return self


class RenameNotebook(Message):
    notebook_id: Annotated[str, Tag(1)]
    change: Annotated[Rename, Tag(2, 1)]


class ConfigureChat(Message):
    notebook_id: Annotated[str, Tag(1)]
    settings: Annotated[ChatSettings, Tag(2, 1, 8)]


class SetViewLevel(Message):
    notebook_id: Annotated[str, Tag(1)]
    chat_only: Annotated[Bit, Tag(2, 1, 9, 1, 1)]


class DeleteNotebooks(Message):
    """A list on the wire, but several ids were refused when probed: send one."""

    notebook_ids: Annotated[list[str], Tag(1)]
    context: Annotated[RequestContext, Tag(2)] = SHORT


class GuideNotebook(Message):
    notebook_id: Annotated[str, Tag(1)]
    context: Annotated[RequestContext, Tag(2)] = SHORT


class Topic(Message):
    question: Annotated[str, Tag(1)]
    prompt: Annotated[str, Tag(2)]


class Guide(Message):
    summary: Annotated[str, Tag(1, 1, 1)] = ""
    topics: Annotated[list[Topic], Tag(1, 2, 1)] = []
    chips: Annotated[list[Chip], Tag(1, 6, 1)] = []


# Calls

LIST = Rpc("wXbhsf", "ListRecentlyViewedProjects", ListNotebooks, Notebooks, Effect.READ, path=Path.ACCOUNT)
CREATE = Rpc("CCqFvf", "CreateProject", CreateNotebook, Notebook, Effect.CREATE, path=Path.ACCOUNT)
GET = Rpc("rLM1Ne", "GetProject", GetNotebook, GotNotebook, Effect.READ)
RENAME = Rpc("s0tc2d", "MutateProject", RenameNotebook, Notebook, Effect.SET, variant="rename")
CONFIGURE_CHAT = Rpc("s0tc2d", "MutateProject", ConfigureChat, Notebook, Effect.SET, variant="chat")
SET_VIEW_LEVEL = Rpc("s0tc2d", "MutateProject", SetViewLevel, Notebook, Effect.SET, variant="view")
DELETE = Rpc("WWINqb", "DeleteProjects", DeleteNotebooks, Empty, Effect.DELETE, path=Path.ACCOUNT)
GUIDE = Rpc("VfAZjd", "GenerateNotebookGuide", GuideNotebook, Guide, Effect.READ, null=True, timeout=60.0)

# References


async def notebook_id(ctx: ToolContext, reference: str | None) -> str:
    """The id of the notebook meant; without a reference, the selected one."""
    if reference is None:
        active = await ctx.store.active_notebook()
        if active is None:
            raise refuse(
                "no notebook was named and none is selected", "Name a notebook, or call select_notebook first."
            )
        return active
    if reference.startswith(("http://", "https://")):
        found = page.notebook_id(reference) if page.is_app(reference) else None
        if found is None:
            raise refuse("this URL is not a notebook of the app", "Use the address a notebook tab shows.")
        return found
    if is_id(reference):
        return reference
    if (named := await ctx.store.library.named(reference)) is not None:
        return named
    answer = await ctx.call(LIST, ListNotebooks())
    return meant(reference, [Candidate(row.id, row.title) for row in answer.notebooks or []], "notebook", answer)


def meant(reference: str, candidates: list[Candidate], noun: str, listing: Message) -> str:
    """What a reference resolves to in a listing. One that was not read whole may hide another match: it takes an id."""
    if listing.undecoded and all(candidate.id != reference for candidate in candidates):
        raise Drift(
            f"the list of {noun}s could not be read completely, so it cannot say which one this title or prefix means",
            hint=f"Use the {noun}'s id.",
            details={"undecoded": list(listing.undecoded)},
        )
    return resolve(reference, candidates, noun)


def is_id(text: str) -> bool:
    """Whether a text has the shape of the service's ids."""
    parts = text.split("-")
    return [len(part) for part in parts] == [8, 4, 4, 4, 12] and all(c in "0123456789abcdefABCDEF-" for c in text)


async def get(ctx: ToolContext, notebook: str, *, refresh: bool = False) -> GotNotebook:
    """The notebook with its sources. Its `sources` are complete or listed in `undecoded`."""
    return await ctx.call(GET, GetNotebook(notebook_id=notebook, refresh=int(refresh)))


# Results


class NotebookInfo(Result):
    id: str
    title: str
    emoji: str | None = None
    source_count: int
    role: str | None = None
    shared: bool
    created: str | None = None
    modified: str | None = None
    url: str
    alias: str | None = None
    tags: list[str] | None = None
    active: bool | None = None


class NotebookList(Page[NotebookInfo]):
    notebooks: list[NotebookInfo]
    active_notebook_id: str | None = None


class ChatSettingsInfo(Result):
    goal: str
    prompt: str | None = None
    length: str


class LimitsInfo(Result):
    notebooks: int | None = None
    sources: int | None = None
    words_per_source: int | None = None


class NotebookDetail(Result):
    notebook: NotebookInfo
    sources: list[SourceInfo]
    undecoded: list[str] | None = None
    summary: str | None = None
    suggested_questions: list[str] | None = None
    chat: ChatSettingsInfo | None = None
    limits: LimitsInfo | None = None
    origin: Origin | None = provenance_field()


class NotebookResult(Result):
    notebook: NotebookInfo


def info(ctx: ToolContext, row: Notebook, active: str | None = None) -> NotebookInfo:
    meta = row.meta or NotebookMeta()
    return NotebookInfo(
        id=row.id,
        title=row.title,
        emoji=row.emoji or None,
        source_count=len(distinct(row.sources)),
        role=ROLES.get(meta.role) or (f"role {meta.role}" if meta.role else None),
        shared=meta.shared,
        created=meta.created.iso if meta.created else None,
        modified=meta.viewed.iso if meta.viewed else None,
        url=ctx.call.notebook_url(row.id),
        active=True if row.id == active else None,
    )


# Tools


class ListArgs(Args):
    query: str | None = None
    limit: int = Field(50, ge=1, le=1000)
    offset: int = Field(0, ge=0)


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(LIST,))
async def list_notebooks(ctx: ToolContext, args: ListArgs) -> NotebookList:
    """List notebooks, most recently viewed first."""
    answer = await ctx.call(LIST, ListNotebooks())
    active = await ctx.store.active_notebook()
    aliases = {entry.notebook_id: (entry.name, entry.tags or None) for entry in await ctx.store.library.entries()}
    wanted = (args.query or "").casefold()
    known = [(row, *aliases.get(row.id, (None, None))) for row in legible(answer.notebooks or [], answer.undecoded)]
    rows = [item for item in known if wanted in item[0].title.casefold() or wanted in (item[1] or "").casefold()]
    shown, counts = window(rows, args.limit, args.offset)
    return NotebookList(
        notebooks=[
            info(ctx, row, active).model_copy(update={"alias": alias, "tags": tags}) for row, alias, tags in shown
        ],
        active_notebook_id=active,
        undecoded=list(answer.undecoded) or None,
        **counts,
    )


class GetArgs(Args):
    notebook: str | None = None
    detail: Literal["brief", "full"] = Field("brief", description="full adds summary and suggested questions")


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(GET, GUIDE))
async def get_notebook(ctx: ToolContext, args: GetArgs) -> NotebookDetail:
    """One notebook with its sources, chat settings and limits."""
    notebook = await notebook_id(ctx, args.notebook)
    got = await get(ctx, notebook)
    row = got.notebook
    detail = NotebookDetail(
        notebook=info(ctx, row, await ctx.store.active_notebook()),
        sources=[source_info(source) for source in distinct(row.sources)],
        undecoded=list(got.undecoded) or None,
        chat=chat_settings(row.chat or ChatSettings()),
        limits=LimitsInfo(notebooks=row.limits.notebooks, sources=row.limits.sources, words_per_source=row.limits.words)
        if row.limits
        else None,
        origin=None,
    )
    if args.detail == "full":
        guide = await ctx.call(GUIDE, GuideNotebook(notebook_id=notebook))
        detail.summary = guide.summary
        detail.suggested_questions = [topic.question for topic in guide.topics] or [chip.text for chip in guide.chips]
        detail.origin = provenance(ctx, guide.summary, ai_generated=True)
    return detail


def chat_settings(row: ChatSettings) -> ChatSettingsInfo:
    goal = row.goal or Goal(code=1)
    length = row.length or 1
    return ChatSettingsInfo(
        goal=GOALS.get(goal.code or 1, f"goal {goal.code}"),
        prompt=goal.prompt or None,
        length=LENGTHS.get(length, f"length {length}"),
    )
