"""Notebooks: create, copy, rename, select, delete, and take off the recent list."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nlm_cdp.api.common import Empty, InNotebook, refuse
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.notebooks.notebooks import CREATE, DELETE, GET, LIST, RENAME, get, notebook_id
from nlm_cdp.api.notebooks.project import Notebook
from nlm_cdp.api.notebooks.reading import NotebookInfo, NotebookResult, info
from nlm_cdp.api.sources.rows import distinct
from nlm_cdp.api.writes import in_doubt
from nlm_cdp.errors import InvalidArgument, NlmError, Outcome, Permission, Quota, RateLimited
from nlm_cdp.rpc import Args, Effect, Path, Result, Rpc, Scope, ToolContext, tool
from nlm_cdp.wire.pblite import Message, Tag

# Messages


class CopyNotebook(InNotebook):
    """N (August 2026). The sources and artifacts of the copy arrive some time after the answer."""

    title: Annotated[str, Tag(3)]


class ForgetNotebook(Message):
    notebook_id: Annotated[str, Tag(1)]


# Calls

COPY = Rpc("te3DCe", "CopyProject", CopyNotebook, Notebook, Effect.CREATE, grade="N")
FORGET = Rpc(
    "fejl7e",
    "RemoveRecentlyViewedProject",
    ForgetNotebook,
    Empty,
    Effect.SET,
    path=Path.ACCOUNT,
    harmless=frozenset({13}),
)
"""Answers status 13 whenever it works (C)."""

# Results


class Deleted(Result):
    """`needs_confirmation`: nothing was changed; `would` says what would happen."""

    status: Literal["deleted", "needs_confirmation"]
    notebook_id: str
    title: str
    would: str | None = None


class Copied(Result):
    notebook: NotebookInfo
    copied_from: str
    note: str


class Forgotten(Result):
    status: Literal["forgotten"]
    notebook_id: str
    title: str


# Tools


class NamedArgs(Args):
    notebook: str


class CreateArgs(Args):
    title: str = Field(min_length=1)
    emoji: str | None = None


@tool(scope=Scope.WRITE, effect=Effect.CREATE, rpcs=(CREATE, RENAME))
async def create_notebook(ctx: ToolContext, args: CreateArgs) -> NotebookResult:
    """Create an empty notebook."""
    try:
        row = await ctx.call(CREATE, notebooks.CreateNotebook(title=args.title))
    except (InvalidArgument, Permission, RateLimited) as exc:
        raise await at_the_limit(ctx, exc) from None
    except NlmError as exc:
        raise await after_lost_create(ctx, args.title, in_doubt(exc)) from None
    if args.emoji is not None:
        try:
            change = notebooks.Rename(emoji=args.emoji)
            row = await ctx.call(RENAME, notebooks.RenameNotebook(notebook_id=row.id, change=change))
        except NlmError as exc:
            exc.details["created"] = row.id
            raise exc.also("The notebook itself was created, without the emoji: its id is in details.") from None
    return NotebookResult(notebook=info(ctx, row))


async def at_the_limit(ctx: ToolContext, refused: NlmError) -> NlmError:
    """The service refuses a notebook too many with status 3, 7 or 8: tell that from other reasons by counting."""
    try:
        rows = (await ctx.call(LIST, notebooks.ListNotebooks())).notebooks or []
        owned = [row for row in rows if row.meta is None or row.meta.role == 1]
        limits = [row.limits for row in (rows if any(row.limits for row in rows) else owned[:1])]
        if not any(limits) and owned:
            limits = [(await get(ctx, owned[0].id)).notebook.limits]
    except NlmError:
        return refused
    limit = next((found.notebooks for found in limits if found and found.notebooks), None)
    if limit is None or len(owned) < limit:
        otherwise = (
            refused.hint
            if isinstance(refused, RateLimited)
            else "If not, the call's form may have changed: record the same action with nlm-capture."
        )
        refused.hint = f"The account owns {len(owned)} notebooks: its limit may be reached. {otherwise}"
        return refused
    return Quota(
        f"this account owns {len(owned)} notebooks, its limit is {limit}",
        hint="Delete a notebook to make room.",
        outcome=Outcome.REJECTED,
        details=refused.details,
    )


async def after_lost_create(ctx: ToolContext, title: str, lost: NlmError) -> NlmError:
    """Whether the notebook of a lost reply is there now; a title may stand twice, so this is a pointer, not proof."""
    try:
        rows = (await ctx.call(LIST, notebooks.ListNotebooks())).notebooks or []
    except NlmError:
        return lost
    alike = [row.id for row in rows if row.title == title]
    lost.details["same_title"] = alike
    lost.hint = (
        "Notebooks with this title exist (details.same_title): look whether one of them is new before you try again."
        if alike
        else "No notebook has this title yet; look again in a minute before you try again."
    )
    return lost


class CopyArgs(NamedArgs):
    title: str = Field(min_length=1)


@tool(scope=Scope.WRITE, effect=Effect.CREATE, rpcs=(COPY, LIST))
async def copy_notebook(ctx: ToolContext, args: CopyArgs) -> Copied:
    """Copy a notebook with its sources and artifacts."""
    original = await notebook_id(ctx, args.notebook)
    try:
        row = await ctx.call(COPY, CopyNotebook(notebook_id=original, title=args.title))
    except (InvalidArgument, Permission, RateLimited) as exc:
        raise await at_the_limit(ctx, exc) from None
    except NlmError as exc:
        raise await after_lost_create(ctx, args.title, in_doubt(exc)) from None
    note = "Its sources and artifacts arrive in the background: list them until their number no longer grows."
    return Copied(notebook=info(ctx, row), copied_from=original, note=note)


class RenameArgs(NamedArgs):
    title: str | None = Field(None, min_length=1)
    emoji: str | None = Field(None, description='"" clears it')


@tool(scope=Scope.WRITE, effect=Effect.SET, rpcs=(GET, RENAME))
async def rename_notebook(ctx: ToolContext, args: RenameArgs) -> NotebookResult:
    """Change a notebook's title, emoji or both."""
    if args.title is None and args.emoji is None:
        raise refuse("nothing to change", "Give title, emoji or both.")
    notebook = await notebook_id(ctx, args.notebook)
    # the answer has no sources, and a read that fails afterwards would look like a change that failed
    row = (await get(ctx, notebook)).notebook
    change = notebooks.Rename(title=args.title, emoji=args.emoji)
    now = await ctx.call(RENAME, notebooks.RenameNotebook(notebook_id=notebook, change=change))
    return NotebookResult(notebook=info(ctx, row.model_copy(update={"title": now.title, "emoji": now.emoji})))


@tool(scope=Scope.WRITE, effect=Effect.SET, rpcs=(GET,))
async def select_notebook(ctx: ToolContext, args: NamedArgs) -> NotebookResult:
    """Make a notebook the default for calls that name none."""
    row = (await get(ctx, await notebook_id(ctx, args.notebook))).notebook
    await ctx.store.set_active_notebook(row.id)
    return NotebookResult(notebook=info(ctx, row, row.id))


class DeleteArgs(NamedArgs):
    expected_title: str | None = Field(None, description="refuse unless the title is exactly this")
    confirm: bool = False


@tool(scope=Scope.DELETE, effect=Effect.DELETE, rpcs=(GET, DELETE))
async def delete_notebook(ctx: ToolContext, args: DeleteArgs) -> Deleted:
    """Delete a notebook with everything in it, for everyone. Cannot be undone."""
    row = (await get(ctx, await notebook_id(ctx, args.notebook))).notebook
    if args.expected_title is not None and args.expected_title != row.title:
        raise refuse("the notebook has another title than expected", notebook=row.id, title=row.title)
    if not args.confirm:
        would = f"delete notebook {row.title!r} ({row.id}) with {len(distinct(row.sources))} sources; call with confirm"
        return Deleted(status="needs_confirmation", notebook_id=row.id, title=row.title, would=would)
    await ctx.call(DELETE, notebooks.DeleteNotebooks(notebook_ids=[row.id]), notebook=row.id)
    await ctx.store.forget_notebook(row.id)
    return Deleted(status="deleted", notebook_id=row.id, title=row.title)


@tool(scope=Scope.WRITE, effect=Effect.SET, rpcs=(FORGET, GET))
async def forget_notebook(ctx: ToolContext, args: NamedArgs) -> Forgotten:
    """Take a notebook off the recently viewed list without deleting it."""
    # the answer is the same for a notebook that does not exist, so it is read first
    row = (await get(ctx, await notebook_id(ctx, args.notebook))).notebook
    await ctx.call(FORGET, ForgetNotebook(notebook_id=row.id))
    return Forgotten(status="forgotten", notebook_id=row.id, title=row.title)
