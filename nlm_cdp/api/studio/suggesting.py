"""Reports worth generating: what the service proposes for a notebook, and the kinds it offers to everyone."""

from __future__ import annotations

from typing import Annotated

from nlm_cdp.api.common import SHORT, NotebookArgs, RequestContext, legible, named
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.provenance import OriginField, provenance
from nlm_cdp.errors import NlmError
from nlm_cdp.rpc import Effect, Result, Rpc, Scope, ToolContext, tool
from nlm_cdp.wire.pblite import Message, Tag

LEVELS = {1: "beginner", 2: "intermediate", 3: "advanced"}

# Messages


class SuggestReports(Message):
    """The web app may name sources (P)."""

    context: Annotated[RequestContext, Tag(1)] = SHORT
    notebook_id: Annotated[str, Tag(2)]
    sources: Annotated[list[str], Tag(3, each=(1,))] = []


class SuggestedReport(Message):
    """`level`: the readers it is for."""

    title: Annotated[str, Tag(1)]
    description: Annotated[str | None, Tag(2)] = None
    prompt: Annotated[str | None, Tag(5)] = None
    level: Annotated[int | None, Tag(6)] = None


class SuggestedReports(Message):
    reports: Annotated[list[SuggestedReport] | None, Tag(1, lenient=True)] = None


class ListChoices(Message):
    """`[CTX]` or `[CTX,nb]` (N); the web app names a type (M)."""

    context: Annotated[RequestContext, Tag(1)] = RequestContext()
    notebook_id: Annotated[str | None, Tag(2)] = None
    type: Annotated[int | None, Tag(3)] = None


class Choice(Message):
    code: Annotated[int, Tag(1)]
    title: Annotated[str | None, Tag(2)] = None
    description: Annotated[str | None, Tag(3)] = None


class ReportChoice(Message):
    kind: Annotated[str, Tag(1)]
    description: Annotated[str | None, Tag(2)] = None
    directive: Annotated[str | None, Tag(3)] = None


class Choices(Message):
    """What the account may choose from, by type."""

    audio: Annotated[list[Choice], Tag(1, 1)] = []
    video: Annotated[list[Choice], Tag(1, 2)] = []
    slides: Annotated[list[Choice], Tag(1, 3)] = []
    reports: Annotated[list[ReportChoice], Tag(1, 4)] = []


# Calls

SUGGEST = Rpc(
    "ciyUvf",
    "GenerateReportSuggestions",
    SuggestReports,
    SuggestedReports,
    Effect.READ,
    null=True,
    timeout=90.0,
    grade="N",
)
CHOICES = Rpc("sqTeoe", "GetArtifactCustomizationChoices", ListChoices, Choices, Effect.READ, grade="N")

# Results


class ReportInfo(Result):
    title: str
    description: str | None = None
    prompt: str | None = None
    level: str | None = None


class ReportList(Result):
    notebook_id: str
    reports: list[ReportInfo]
    undecoded: list[str] | None = None
    note: str | None = None
    origin: OriginField


# The tool


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(SUGGEST, CHOICES))
async def suggest_reports(ctx: ToolContext, args: NotebookArgs) -> ReportList:
    """Reports the service proposes, then the standard ones; a prompt serves as instructions."""
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    answer = await ctx.call(SUGGEST, SuggestReports(notebook_id=notebook))
    reports = [report_info(row) for row in legible(answer.reports or [], answer.undecoded)]
    note = None
    try:
        standard = (await ctx.call(CHOICES, ListChoices(notebook_id=notebook))).reports
    except NlmError as exc:
        standard, note = [], f"the standard reports could not be read ({exc.code})"
    reports += [ReportInfo(title=row.kind, description=row.description, prompt=row.directive) for row in standard]
    text = "\n".join(f"{row.title}\n{row.description}\n{row.prompt}" for row in reports)
    return ReportList(
        notebook_id=notebook,
        reports=reports,
        undecoded=list(answer.undecoded) or None,
        note=note,
        origin=provenance(ctx, text, ai_generated=True),
    )


def report_info(row: SuggestedReport) -> ReportInfo:
    level = named(LEVELS, row.level) if row.level is not None else None
    return ReportInfo(title=row.title, description=row.description, prompt=row.prompt, level=level)
