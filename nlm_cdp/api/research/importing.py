"""Importing what research found: the notebook's own list says what is there before, and what came of it.

The service leaves what it could not import out of its answer without a word, goes on after we stopped waiting, and
then refuses a second attempt. So what is there already is never sent, and in doubt the notebook is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import Field

from nlm_cdp.api.common import legible, refuse
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.research import picks
from nlm_cdp.api.research.picks import Key, Pick
from nlm_cdp.api.research.research import IMPORT, POLL, ImportSources, Task
from nlm_cdp.api.research.tasks import absent, listing
from nlm_cdp.api.sources.adding import none_of_it
from nlm_cdp.api.sources.additions import Added
from nlm_cdp.api.sources.intake import may_have_happened
from nlm_cdp.api.sources.rows import Source, distinct, source_info
from nlm_cdp.api.sources.sources import listing as sources_of
from nlm_cdp.errors import NlmError, NotReady, Outcome, Quota
from nlm_cdp.rpc import Args, Effect, Result, Scope, ToolContext, tool

LOOKS = (1.0, 2.0, 4.0, 8.0, 8.0, 8.0)
"""Seconds between the looks at a notebook after a doubtful import, which goes on at about one page a second."""
SETTLED = 4.0
"""A pause this long in which nothing came is the end."""
AGAIN = "Research from which an import broke off cannot be imported from again: use add_source for the rest."

# The tool


class Known(Result):
    index: int | None = None
    report: bool | None = None
    title: str | None = None
    url: str | None = None


class Imported(Known):
    """`index` is the one of get_research; what has none is the report, or came under another address than was sent."""

    source_id: str
    status: str


class NotImported(Known):
    code: str
    message: str
    outcome: str


class ImportResult(Result):
    research_id: str
    notebook_id: str
    imported: list[Imported]
    already_present: list[Imported]
    failed: list[NotImported]
    undecoded: list[str] | None = None
    note: str | None = None


class ImportArgs(Args):
    research_id: str
    notebook: str | None = None
    sources: list[int | str] | None = Field(None, description="index or url each; default: all")
    cited_only: bool = Field(False, description="those the report links to")
    include_report: bool = True
    max_sources: int | None = Field(None, ge=1)


@tool(scope=Scope.WRITE, effect=Effect.CREATE, rpcs=(IMPORT, POLL, notebooks.GET), was=("import_research_sources",))
async def import_research(ctx: ToolContext, args: ImportArgs) -> ImportResult:
    """Add what research found, except what is there already."""
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    async with ctx.exclusive(f"add:{notebook}"):
        listed = await listing(ctx, notebook)
        if (task := listed.task(args.research_id)) is None:
            raise absent(listed)
        if task.is_running:
            raise NotReady("this research is still running", hint="Wait for it with get_research.", state="running")
        wanted = await selected(ctx, task, listed.tasks, args)
        got = await notebooks.get(ctx, notebook)
        before = legible(distinct(got.notebook.sources), got.undecoded)
        here = picks.placed(wanted, before)
        missing = picks.once([pick for pick in wanted if not pick.unfit and pick.key not in here])
        sent = await send(ctx, task, notebook, missing, {row.id for row in before}) if missing else Sent()
        limit = got.notebook.limits.sources if got.notebook.limits else None
        if limit is not None and len(before) + len(sent.placed) + len(sent.others) >= limit:
            sent.full = limit
    if not (here or sent.placed or sent.others):
        raise nothing(wanted, sent)
    result = ImportResult(
        research_id=task.id,
        notebook_id=notebook,
        imported=[],
        already_present=[],
        failed=[],
        undecoded=list(got.undecoded) or None,
        note=advice(sent.error) if sent.error else None,
    )
    return told(result, wanted, here, sent)


async def selected(ctx: ToolContext, task: Task, tasks: list[Task], args: ImportArgs) -> list[Pick]:
    """The report first, if there is one, then the sources. Raises InvalidArgument where that is nothing."""
    chosen = picks.chosen(task, tasks, args.sources)
    if args.cited_only:
        if (text := task.report_text) is None:
            raise refuse("this research has no report that could link to anything", "Leave cited_only out.")
        chosen = await ctx.offload(lambda: picks.cited(chosen, text))
    report = picks.report_of(task) if args.include_report else None
    wanted = [*([report] if report else []), *chosen[: args.max_sources]]
    if not wanted:
        raise refuse("there is nothing to import", "get_research shows what was found.", status=task.status)
    return wanted


@dataclass(slots=True)
class Sent:
    """What came of the request: the sources that were asked for, others that came instead, and what went wrong.

    `looked`: whether it is certain that nothing else came. `full`: the notebook's limit, where that is reached.
    """

    placed: dict[Key, Source] = field(default_factory=dict)
    others: list[Source] = field(default_factory=list)
    error: NlmError | None = None
    looked: bool = True
    full: int | None = None


async def send(ctx: ToolContext, task: Task, notebook: str, wanted: list[Pick], known: set[str]) -> Sent:
    """One request for all of it, once; where the reply is not the whole truth, the notebook is."""
    await ctx.progress(f"importing {len(wanted)} sources")
    entries = [pick.entry for pick in wanted]
    request = ImportSources(research_id=task.id, notebook_id=notebook, entries=entries)
    sent, answer = Sent(), Added()
    try:
        answer = await ctx.call(IMPORT, request, timeout=min(IMPORT.timeout, 60.0 + 3.0 * len(entries)))
    except NlmError as exc:
        if not may_have_happened(exc):
            raise
        sent.error = exc
    rows = [row for row in distinct(answer.sources or []) if row.id not in known]
    sent.placed, sent.others = picks.answered(wanted, rows)
    missing = [pick for pick in wanted if pick.key not in sent.placed]
    if missing and (not rows or answer.undecoded):
        found, sent.looked = await read_back(ctx, notebook, missing, known | {row.id for row in rows})
        sent.placed |= found
    return sent


async def read_back(
    ctx: ToolContext, notebook: str, missing: list[Pick], known: set[str]
) -> tuple[dict[Key, Source], bool]:
    """What of it is in the notebook, looked at as long as more keeps coming, and whether a look succeeded at all."""
    found: dict[Key, Source] = {}
    looked = False
    for pause in LOOKS:
        await ctx.progress(f"looking what was imported: {len(found)} of {len(missing)} are there")
        await ctx.sleep(pause)
        try:
            rows = (await sources_of(ctx, notebook)).rows
        except NlmError:
            continue
        seen, looked = len(found), True
        found = picks.placed(missing, [row for id, row in rows.items() if id not in known])
        if len(found) == len(missing) or (pause >= SETTLED and len(found) == seen):
            break
    return found, looked


# What came of it


def nothing(wanted: list[Pick], sent: Sent) -> NlmError:
    """The error for an import after which nothing of it is in the notebook."""
    unfit = [pick.unfit for pick in wanted if pick.unfit]
    if len(unfit) == len(wanted):
        return refuse(unfit[0], "Choose other sources.")
    if sent.full is not None and (sent.error is None or sent.error.outcome is Outcome.REJECTED):
        return Quota(full(sent.full), hint="Delete some, or use max_sources.", outcome=Outcome.REJECTED)
    error = none_of_it(sent.error, looked=sent.looked)
    error.hint = advice(error)
    return error


def advice(error: NlmError) -> str:
    return AGAIN if isinstance(error, NotReady) else error.hint


def told(result: ImportResult, wanted: list[Pick], here: dict[Key, Source], sent: Sent) -> ImportResult:
    """The result with everything that was wanted in one of its lists; of two with one address the first was sent."""
    new = dict(sent.placed)
    for pick in wanted:
        if (row := new.pop(pick.key, None)) is not None:
            result.imported.append(imported(row, pick))
        elif (row := here.get(pick.key) or sent.placed.get(pick.key)) is not None:
            result.already_present.append(imported(row, pick))
        else:
            result.failed.append(failed(pick, sent))
    result.imported += [imported(row, None) for row in sent.others]
    return result


def imported(row: Source, pick: Pick | None) -> Imported:
    shown = source_info(row)
    return Imported(
        index=pick.index if pick else None,
        report=True if pick and pick.is_report else None,
        title=shown.title,
        url=shown.url,
        source_id=row.id,
        status=shown.status,
    )


def failed(pick: Pick, sent: Sent) -> NotImported:
    code, message, outcome = "SERVICE", "the service left this one out without saying why", Outcome.REJECTED
    if pick.unfit:
        code, message, outcome = "INVALID_ARGUMENT", pick.unfit, Outcome.NOT_SENT
    elif sent.error is not None:
        code, message, outcome = sent.error.code, sent.error.message, sent.error.outcome
    elif sent.full is not None:
        code, message = "QUOTA", full(sent.full)
    elif sent.others or not sent.looked:
        message, outcome = "it did not come back under its address: look at the notebook", Outcome.UNKNOWN
    return NotImported(
        index=pick.index,
        report=True if pick.is_report else None,
        title=pick.title,
        url=pick.url,
        code=code,
        message=message,
        outcome=outcome,
    )


def full(limit: int) -> str:
    return f"the notebook is full: it holds its {limit} sources"
