"""Research, answered from the state: it finds made-up addresses, whose pages the simulator then makes up as well.

A task gets on with each look at the listing, the first of which does not show it yet.
"""

from __future__ import annotations

import re
from typing import Any

from nlm_cdp.api.common import Empty
from nlm_cdp.api.research import research as api
from nlm_cdp.api.sources import additions
from nlm_cdp.api.sources.intake import video_id
from nlm_cdp.sim.answers import INVALID, NOT_FOUND, Handler, Refusal
from nlm_cdp.sim.fetch import UNREACHABLE
from nlm_cdp.sim.markup import blocks, elements
from nlm_cdp.sim.notebooks import changeable
from nlm_cdp.sim.records import MARKDOWN, Notebook, Research, Source
from nlm_cdp.sim.rows import source_row
from nlm_cdp.sim.sources import add_one
from nlm_cdp.sim.state import Account
from nlm_cdp.wire.document import Body, Document
from nlm_cdp.wire.pblite import Lazy

RUNNING, DONE, NO_RESULTS, CANCELLED = 1, 2, 3, 4
FAST_LOOKS, DEEP_LOOKS = 2, 4
DISCOVERED = 2
"""The origin of a source that was not added by hand."""
PRECONDITION, INTERNAL = 9, 13
HOSTS = ("encyclopedia", "journal", "museum", "almanac", "archive", "library", "gazette", "institute", "review")
CITED = 4
MODEL = "deep_research.flash.prod"


# Starting


def start_fast(account: Account, request: api.StartFast) -> api.FastStarted | Refusal:
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    return api.FastStarted(research_id=begin(account, notebook, request.query, request.mode, FAST_LOOKS).id)


def start_deep(account: Account, request: api.StartDeep) -> api.DeepStarted | Refusal:
    """Two ids, of which only the second is good for anything; the web only."""
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    if request.query.corpus != api.WEB:
        return Refusal(INVALID)
    task = begin(account, notebook, request.query, request.mode, DEEP_LOOKS)
    task.session_id = account.service.new_id()
    return api.DeepStarted(session_id=task.session_id, research_id=task.id)


def begin(account: Account, notebook: Notebook, query: api.Query, mode: int, lasts: int) -> Research:
    now = account.service.stamp()
    task = Research(account.service.new_id(), query, mode, now, now, lasts)
    notebook.research[task.id] = task
    return task


def discover(account: Account, request: api.Discover) -> api.Findings | Refusal:
    """Finished at once, and listed as a finished task afterwards; modes 5 and 6 were refused when they were tried."""
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    if request.mode not in (1, 2, 3, 4) or request.query.corpus != api.WEB:
        return Refusal(INTERNAL if request.mode == 6 else INVALID)
    task = begin(account, notebook, request.query, request.mode, 0)
    task.looks = account.service.late_research
    finish(task)
    assert task.findings is not None
    return task.findings.model_copy(update={"job_id": task.id})


# The listing


def poll(account: Account, request: api.PollResearch) -> api.Tasks | Refusal:
    notebook = account.notebooks.get(request.notebook_id)
    if notebook is None:
        return Refusal(NOT_FOUND)
    for task in notebook.research.values():
        advance(account, task)
    late = account.service.late_research
    rows = [task_row(account, task) for task in notebook.research.values() if task.looks > late]
    return api.Tasks(tasks=rows or None)


def advance(account: Account, task: Research) -> None:
    """One look at a task; a request to cancel it shows some looks later."""
    task.looks += 1
    if task.status != RUNNING:
        return
    task.updated = account.service.stamp()
    if task.stopping == 0:
        task.status = CANCELLED
    elif task.stopping is not None:
        task.stopping -= 1
    elif task.looks > task.lasts:
        finish(task)


def finish(task: Research) -> None:
    if task.query.corpus == api.DRIVE:
        task.status, task.findings = NO_RESULTS, api.Findings(error=1)
        return
    deep = task.mode == api.DEEP
    pages = [page_row(task.query.text, number, deep=deep) for number in range(len(HOSTS) + 1)]
    subject = task.query.text or "something curious"
    summary = f"(Simulated research: nobody looked, and these pages about {subject} are made up.)"
    task.status = DONE
    task.findings = api.Findings(sources=[*([report_row(subject, pages)] if deep else []), *pages], summary=summary)


def page_row(query: str, number: int, *, deep: bool) -> api.FoundSource:
    """4 cells in fast research, 9 in deep. The last one cannot be read."""
    slug = "-".join(re.findall(r"\w+", query.lower())) or "curious"
    host = f"{HOSTS[number]}.example" if number < len(HOSTS) else UNREACHABLE
    row = api.FoundSource(
        url=f"https://{host}/{slug}",
        title=f"{query[:80] or 'Curious'} - simulated {host}",
        hint=f"A simulated page of {host}; nobody checked whether it says anything.",
        kind=1,
    )
    if not deep:
        return row
    content = api.Content(kind=1, snippet="A simulated excerpt.")
    favicon = f"https://t0.gstatic.com/faviconV2?url=https://{host}&type=FAVICON"
    return row.model_copy(update={"favicon": favicon, "content": content, "ordinal": number + 1})


def report_row(subject: str, pages: list[api.FoundSource]) -> api.FoundSource:
    """7 cells, no address: the report as markdown and as a document; it links to some of the pages."""
    lines = [
        f"# {subject}",
        "This is a simulated report. Nobody looked into anything, and it says nothing about the world.",
        "## Pages it links to",
        *(f"- [{page.title}]({page.url})" for page in pages[:CITED]),
    ]
    text = "\n\n".join(lines)
    document = Lazy.of(Document(body=Body(elements=list(elements(blocks(text)))), kind=1))
    content = api.Content(text=text, kind=api.REPORT_TEXT, document=document)
    return api.FoundSource(title=f"Simulated report: {subject}", kind=api.REPORT, content=content)


def task_row(account: Account, task: Research) -> api.Task:
    given: dict[str, Any] = {}
    if task.session_id is not None:
        given = {"deep": api.DeepRun(session_id=task.session_id, f3=5 if task.status == DONE else 1, model=MODEL)}
    job = api.Job(query=task.query, mode=task.mode, findings=task.findings, status=task.status, **given)
    return api.Task(id=task.id, job=job, updated=task.updated, created=task.created, account=account.user_id[:12])


# Cancelling and importing


def cancel(account: Account, request: api.CancelResearch) -> Empty:
    """Empty for any id. The notebook is not asked for; fast research is over before it can be stopped."""
    for notebook in account.notebooks.values():
        task = notebook.research.get(request.research_id)
        if task is not None and task.status == RUNNING and task.mode == api.DEEP:
            task.stopping = 1
    return Empty()


def import_sources(account: Account, request: api.ImportSources) -> additions.Added | Refusal | None:
    """Rows of what came in, in the order of the request; the rest is left out without a word.

    After an import that broke off, the service takes no other one from the same task.
    """
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    task = notebook.research.get(request.research_id)
    if task is None:
        return Refusal(NOT_FOUND)
    if task.status == RUNNING or task.broken:
        return Refusal(PRECONDITION)
    stops = account.service.import_stops
    task.broken = stops is not None
    rows = []
    for entry in request.entries[:stops]:
        if len(notebook.sources) < (account.limits.sources or 0) and (source := add(account, notebook, entry)):
            source.origin = DISCOVERED
            rows.append(source_row(source))
    return additions.Added(sources=rows) if rows else None


def add(account: Account, notebook: Notebook, entry: api.Entry) -> Source | None:
    if entry.report is not None:
        return account.add_source(notebook, entry.report.title, entry.report.content, kind=MARKDOWN)
    if entry.drive is not None:
        return add_one(account, notebook, additions.Content(drive=entry.drive))
    url = entry.web.url if entry.web else ""
    return add_one(account, notebook, additions.Content(video=url) if video_id(url) else additions.Content(web=url))


HANDLERS: tuple[Handler[Any, Any], ...] = (
    Handler(api.START_FAST, start_fast),
    Handler(api.START_DEEP, start_deep),
    Handler(api.DISCOVER, discover),
    Handler(api.POLL, poll),
    Handler(api.CANCEL, cancel),
    Handler(api.IMPORT, import_sources),
)
