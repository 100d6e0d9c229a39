"""Following research: its status, and what it found, with the numbers by which `importing` takes it."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from nlm_cdp.api.common import iso, named, text_window
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.provenance import OriginField, provenance
from nlm_cdp.api.research.research import CORPORA, DRIVE, KINDS, MODES, POLL, FoundSource, Task
from nlm_cdp.api.research.tasks import Listing, listing
from nlm_cdp.errors import Network, Service, Timeout
from nlm_cdp.rpc import Args, Effect, Result, Scope, ToolContext, tool

LATE = "one just started takes some seconds to show"

# Results


class ResearchInfo(Result):
    research_id: str
    status: str
    query: str
    mode: str
    created: str | None = None


class ResearchSource(Result):
    """`index` and `url` are what import_research takes."""

    index: int
    title: str | None = None
    url: str | None = None
    hint: str | None = None
    kind: str


class Research(Result):
    """`others`: the notebook's other research, where none was named."""

    research_id: str | None = None
    notebook_id: str
    status: str
    status_code: int | None = None
    query: str | None = None
    mode: str | None = None
    corpus: str | None = None
    created: str | None = None
    sources: list[ResearchSource]
    summary: str | None = None
    report_title: str | None = None
    report: str | None = None
    report_chars: int | None = None
    report_truncated: bool | None = None
    others: list[ResearchInfo] | None = None
    undecoded: list[str] | None = None
    note: str | None = None
    origin: OriginField


# The tool


class GetArgs(Args):
    research_id: str | None = Field(None, description="default: the latest")
    notebook: str | None = None
    wait: bool = False
    timeout_s: float = Field(120, ge=1, le=900)
    report_max_chars: int = Field(20_000, ge=0, le=500_000)


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(POLL,), was=("poll_research",))
async def get_research(ctx: ToolContext, args: GetArgs) -> Research:
    """Research's status, sources, summary and report."""
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    listed, task, missed = await followed(ctx, notebook, args.research_id, args.timeout_s if args.wait else 0.0)
    notes = [missed]
    if task is None:
        shown = Research(
            research_id=args.research_id,
            notebook_id=notebook,
            status="not_visible_yet" if args.research_id else "none",
            sources=[],
            origin=provenance(ctx, "", ai_generated=True),
        )
        notes += [LATE, "if it stays away, check the id and the notebook" if args.research_id else None]
    else:
        shown = found(ctx, notebook, task, args.report_max_chars)
        notes += [
            f"the latest of {len(listed.tasks)}, since none was named" if args.research_id is None else None,
            "still running: call get_research again with this id" if task.is_running else None,
            "there is a report, but the service does not show its text"
            if task.report and not task.report_text
            else None,
        ]
        if args.research_id is None:
            shown.others = [info(other) for other in listed.tasks if other.id != task.id] or None
    shown.undecoded = list(listed.answer.undecoded) or None
    shown.note = "; ".join(filter(None, notes)) or None
    return shown


async def followed(
    ctx: ToolContext, notebook: str, reference: str | None, seconds: float
) -> tuple[Listing, Task | None, str | None]:
    """The last listing, the task in it, and what kept us from a later one.

    A look that fails for the moment does not end a wait. Where none is named, the task seen first stays the one meant.
    """
    deadline, pause, missed = ctx.now() + seconds, 1.0, None
    listed = await listing(ctx, notebook)
    task = listed.task(reference)
    while (task is None or task.is_running) and ctx.now() < deadline:
        await ctx.progress(progress(task))
        await ctx.sleep(min(pause, deadline - ctx.now()))
        pause = min(pause * 1.5, 10.0)
        try:
            listed = await listing(ctx, notebook)
        except (Network, Service, Timeout) as exc:
            missed = f"the last look failed ({exc.code})"
        else:
            missed, task = None, listed.task(task.id if task else reference) or task
    return listed, task, missed


def progress(task: Task | None) -> str:
    if task is None:
        return "the research is not visible yet"
    return f"{named(MODES, task.job.mode)} research is running, {len(task.sources)} sources so far"


def info(task: Task) -> ResearchInfo:
    return ResearchInfo(
        research_id=task.id,
        status=task.status,
        query=task.query,
        mode=named(MODES, task.job.mode),
        created=iso(task.created),
    )


def found(ctx: ToolContext, notebook: str, task: Task, report_max_chars: int) -> Research:
    sources = [source_info(index, row) for index, row in task.sources.items()]
    summary = task.job.findings.summary if task.job.findings else None
    corpus = task.job.query.corpus if task.job.query else None
    report, counts = text_window(task.report_text or "", 0, report_max_chars)
    origin = provenance(ctx, "\n".join(texts(summary, report, sources)), ai_generated=True)
    if corpus != DRIVE:
        origin.grounding = "web"
    return Research(
        **info(task).model_dump(),
        notebook_id=notebook,
        status_code=task.job.status,
        corpus=named(CORPORA, corpus),
        sources=sources,
        summary=summary or None,
        report_title=task.report.title if task.report else None,
        report=report or None,
        report_chars=counts["total_chars"] or None,
        report_truncated=counts["has_more"] or None,
        origin=origin,
    )


def source_info(index: int, row: FoundSource) -> ResearchSource:
    return ResearchSource(index=index, title=row.title, url=row.url, hint=row.hint, kind=named(KINDS, row.kind))


def texts(summary: str | None, report: str, sources: list[ResearchSource]) -> Iterator[str]:
    yield from filter(None, (summary, report))
    for row in sources:
        yield from filter(None, (row.title, row.hint))
