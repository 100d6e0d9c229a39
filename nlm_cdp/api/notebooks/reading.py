"""Notebooks, list and read, and how every tool shows one."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from nlm_cdp.api.common import Limit, NotebookArgs, Offset, Page, iso, legible, window
from nlm_cdp.api.notebooks.notebooks import GET, GUIDE, LIST, GuideNotebook, ListNotebooks, get, notebook_id
from nlm_cdp.api.notebooks.project import GOALS, LENGTHS, ROLES, ChatSettings, Goal, Limits, Notebook, NotebookMeta
from nlm_cdp.api.provenance import OptionalOrigin, provenance
from nlm_cdp.api.sources.rows import SourceInfo, distinct, source_info
from nlm_cdp.rpc import Args, Effect, Result, Scope, ToolContext, tool

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
    origin: OptionalOrigin


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
        created=iso(meta.created),
        modified=iso(meta.viewed),
        url=ctx.call.notebook_url(row.id),
        active=True if row.id == active else None,
    )


# Tools


class ListArgs(Args):
    query: str | None = None
    limit: Limit = 50
    offset: Offset = 0


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


class GetArgs(NotebookArgs):
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
        limits=limits_info(row.limits),
        origin=None,
    )
    if args.detail == "full":
        guide = await ctx.call(GUIDE, GuideNotebook(notebook_id=notebook))
        detail.summary = guide.summary
        detail.suggested_questions = [topic.question for topic in guide.topics] or [chip.text for chip in guide.chips]
        detail.origin = provenance(ctx, guide.summary, ai_generated=True)
    return detail


def limits_info(row: Limits | None) -> LimitsInfo | None:
    if row is None:
        return None
    return LimitsInfo(notebooks=row.notebooks, sources=row.sources, words_per_source=row.words)


def chat_settings(row: ChatSettings) -> ChatSettingsInfo:
    goal = row.goal or Goal(code=1)
    length = row.length or 1
    return ChatSettingsInfo(
        goal=GOALS.get(goal.code or 1, f"goal {goal.code}"),
        prompt=goal.prompt or None,
        length=LENGTHS.get(length, f"length {length}"),
    )
