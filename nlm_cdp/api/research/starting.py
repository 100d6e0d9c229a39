"""Starting and cancelling research: the listing of the notebook's tasks says what came of it, not the reply alone."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from nlm_cdp.api.common import refuse
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.research import research
from nlm_cdp.api.research.research import CANCEL, POLL, START_DEEP, START_FAST, Query, Task
from nlm_cdp.api.research.tasks import absent, listing
from nlm_cdp.api.writes import READ_BACK, in_doubt, looked
from nlm_cdp.errors import Drift, InvalidArgument, NlmError, Outcome, Service
from nlm_cdp.rpc import Args, Effect, Result, Scope, ToolContext, tool

# start_research


class ResearchStarted(Result):
    research_id: str
    notebook_id: str
    query: str
    mode: str
    corpus: str
    note: str | None = None


class StartArgs(Args):
    query: str = Field(min_length=1)
    notebook: str | None = None
    mode: Literal["fast", "deep"] = Field("fast", description="deep takes minutes and writes a report")
    corpus: Literal["web", "drive"] = Field("web", description="drive: fast only")


@tool(scope=Scope.CHAT, effect=Effect.CREATE, rpcs=(START_FAST, START_DEEP, POLL))
async def start_research(ctx: ToolContext, args: StartArgs) -> ResearchStarted:
    """Search for new sources; get_research has the results. Uses quota."""
    if not args.query.strip():
        raise refuse("there is nothing to look for")
    if args.mode == "deep" and args.corpus == "drive":
        raise refuse("deep research looks through the web only", "Use mode fast for Drive.")
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    query = Query(text=args.query, corpus=research.DRIVE if args.corpus == "drive" else research.WEB)
    note = None
    async with ctx.exclusive(f"research:{notebook}"):
        known = {task.id for task in await tasks(ctx, notebook)}
        try:
            started = await begin(ctx, notebook, query, deep=args.mode == "deep")
        except NlmError as exc:
            started = await after_lost_start(ctx, notebook, query, known, in_doubt(exc))
            note = "the reply was lost, but the research was found among the notebook's"
    return ResearchStarted(
        research_id=started, notebook_id=notebook, query=args.query, mode=args.mode, corpus=args.corpus, note=note
    )


async def tasks(ctx: ToolContext, notebook: str) -> list[Task]:
    """The tasks that can be read: what an old one looks like is no reason not to start another."""
    return (await ctx.call(POLL, research.PollResearch(notebook_id=notebook))).tasks or []


async def begin(ctx: ToolContext, notebook: str, query: Query, *, deep: bool) -> str:
    """The id of the new task."""
    if not deep:
        return (await ctx.call(START_FAST, research.StartFast(query=query, notebook_id=notebook))).research_id
    try:
        started = await ctx.call(START_DEEP, research.StartDeep(query=query, notebook_id=notebook))
    except InvalidArgument as exc:
        raise Service(
            f"the service did not start deep research: {exc.message}",
            hint="It refuses like this when it fails for the moment: try again in some minutes. "
            "If that does not help, shorten the query, or use mode fast.",
            outcome=exc.outcome,
            details=exc.details,
        ) from None
    if started.research_id is None and started.session_id is not None:
        raise Drift("the service answered without the id of the research", outcome=Outcome.UNKNOWN)
    if started.research_id is None:
        raise Service(
            "the service started no deep research and does not say why",
            hint="Its allowance may be used up, or this account may not have it; mode fast may work.",
            outcome=Outcome.REJECTED,
        )
    return started.research_id


async def after_lost_start(ctx: ToolContext, notebook: str, query: Query, known: set[str], lost: NlmError) -> str:
    """The id of the one new task with this query. Raises the loss where that cannot be told."""

    async def look() -> list[str]:
        return [task.id for task in await tasks(ctx, notebook) if task.id not in known and task.job.query == query]

    new = await looked(ctx, look, lambda new: len(new) == 1) or []
    if len(new) == 1:
        return new[0]
    lost.details["same_query"] = new
    lost.hint = "Look with get_research whether it was started before you start it again."
    raise lost.also("Several with this query were started meanwhile." if new else "No new one with this query showed.")


# cancel_research


class ResearchCancelled(Result):
    research_id: str
    notebook_id: str
    status_before: str
    status_after: str | None = None
    note: str | None = None


class CancelArgs(Args):
    research_id: str
    notebook: str | None = None


@tool(scope=Scope.CHAT, effect=Effect.SET, rpcs=(CANCEL, POLL))
async def cancel_research(ctx: ToolContext, args: CancelArgs) -> ResearchCancelled:
    """Cancel running research."""
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    before = await visible(ctx, notebook, args.research_id)
    after = await cancelled(ctx, notebook, before) if before.is_running else before
    return ResearchCancelled(
        research_id=before.id,
        notebook_id=notebook,
        status_before=before.status,
        status_after=after.status if after else None,
        note=outcome(before, after),
    )


def outcome(before: Task, after: Task | None) -> str | None:
    if not before.is_running:
        return "it was not running: nothing was sent"
    if after is None:
        return "the service took the request, but what came of it could not be read: see get_research"
    if after.is_running:
        return "the service took the request, but still shows it as running: see get_research"
    return None if after.status == "cancelled" else "it ended before it could be cancelled"


async def visible(ctx: ToolContext, notebook: str, reference: str) -> Task:
    """A task that must be there; one just started is waited for during some seconds. Raises NotFound."""
    for pause in (*READ_BACK, 0.0):
        listed = await listing(ctx, notebook)
        if (task := listed.task(reference)) is not None:
            return task
        await ctx.sleep(pause)
    raise absent(listed)


async def cancelled(ctx: ToolContext, notebook: str, task: Task) -> Task | None:
    """The task after the request to cancel it, whose reply says nothing; None where it could not be read."""
    lost: NlmError | None = None
    try:
        await ctx.call(CANCEL, research.CancelResearch(research_id=task.id), notebook=notebook)
    except NlmError as exc:
        lost = in_doubt(exc)

    async def look() -> Task | None:
        return (await listing(ctx, notebook)).task(task.id)

    seen = await looked(ctx, look, lambda seen: seen is not None and not seen.is_running)
    if lost is not None and (seen is None or seen.is_running):
        raise lost.also("It showed as running afterwards." if seen else "What came of it could not be read.")
    return seen
