"""Research as the wire has it: the tasks in which the service looks for new sources, and what is done with them.

The listing of a notebook's tasks is the only truth there is: starting may be answered with nothing, cancelling always
is, and a fresh task may be missing from the listing at first. The tools are in `starting`, `following`, `importing`.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import model_validator

from nlm_cdp.api.common import Empty, RequestContext, Timestamp, named
from nlm_cdp.api.sources.additions import Added, DriveFile, Text
from nlm_cdp.rpc import Effect, Rpc
from nlm_cdp.wire.document import Document
from nlm_cdp.wire.pblite import Lazy, Message, Row, Tag

CORPORA = {1: "web", 2: "drive"}
WEB, DRIVE = 1, 2
MODES = {1: "fast", 2: "raw search", 3: "curious search", 4: "curious raw search", 5: "deep"}
FAST, DEEP = 1, 5
STATUS = {1: "running", 2: "done", 3: "no_results", 4: "cancelled", 6: "done"}
"""6: stated by two clients, never recorded."""
RUNNING, NO_RESULTS = 1, 3
KINDS = {
    1: "web_page",
    2: "google_doc",
    3: "google_slides",
    4: "gmail",
    5: "report",
    6: "pdf",
    7: "word",
    8: "google_sheet",
    9: "csv",
    10: "text",
    11: "powerpoint",
}
REPORT, REPORT_TEXT = 5, 3
WEB_RESULT, REPORT_RESULT = 2, 3


# Messages


class Query(Message):
    text: Annotated[str, Tag(1)]
    corpus: Annotated[int | None, Tag(2)] = WEB


class StartFast(Message):
    query: Annotated[Query, Tag(1)]
    mode: Annotated[int, Tag(3)] = FAST
    notebook_id: Annotated[str, Tag(4)]


class FastStarted(Message):
    research_id: Annotated[str, Tag(1)]


class StartDeep(Message):
    """C; the context is M, here and in the other calls about research."""

    context: Annotated[RequestContext | None, Tag(1)] = None
    f2: Annotated[list[int], Tag(2)] = [1]
    query: Annotated[Query, Tag(3)]
    mode: Annotated[int, Tag(4)] = DEEP
    notebook_id: Annotated[str, Tag(5)]


class DeepStarted(Message):
    """Only the second id is good for anything; neither is there when deep research is not to be had (C)."""

    session_id: Annotated[str | None, Tag(1)] = None
    research_id: Annotated[str | None, Tag(2)] = None


class Discover(Message):
    """N: the synchronous search of the web app. Modes 3 and 4 take an empty query."""

    query: Annotated[Query, Tag(1)]
    mode: Annotated[int, Tag(3)] = FAST
    notebook_id: Annotated[str, Tag(4)]


class Content(Message):
    """P: a report's markdown (kind 3), or what was read of a page (kinds 1 and 2)."""

    text: Annotated[str | None, Tag(1)] = None
    kind: Annotated[int | None, Tag(2)] = None
    snippet: Annotated[str | None, Tag(3)] = None
    f5: Annotated[int | None, Tag(5)] = None
    document: Annotated[Lazy[Document] | None, Tag(6)] = None


class FoundSource(Message):
    """4 cells (N), or 7 to 9 (P). The report of deep research is one without an address. Not understood: 8."""

    url: Annotated[str | None, Tag(1)] = None
    title: Annotated[str | None, Tag(2)] = None
    hint: Annotated[str | None, Tag(3)] = None
    kind: Annotated[int | None, Tag(4, codes=KINDS)] = None
    favicon: Annotated[str | None, Tag(6)] = None
    content: Annotated[Content | None, Tag(7)] = None
    f8: Annotated[bool | None, Tag(8)] = None
    ordinal: Annotated[int | None, Tag(9)] = None

    @property
    def is_report(self) -> bool:
        text_kind = self.content.kind if self.content else None
        return self.url is None and (self.kind == REPORT or text_kind == REPORT_TEXT)


class Findings(Message):
    """The sources are null where there are none; a number at 5 says that this is no success (P)."""

    sources: Annotated[list[FoundSource] | None, Tag(1, lenient=True)] = None
    summary: Annotated[str | None, Tag(2)] = None
    job_id: Annotated[str | None, Tag(3, 1)] = None
    error: Annotated[int | None, Tag(5)] = None


class DeepRun(Message):
    """P: `blob` grows with the run; its meaning is not known."""

    session_id: Annotated[str | None, Tag(1)] = None
    blob: Annotated[str | None, Tag(2)] = None
    f3: Annotated[int | None, Tag(3)] = None
    model: Annotated[str | None, Tag(5)] = None


class Job(Message):
    """C while it runs; the rest P. The notebook's id stood there in January 2026 only."""

    notebook_id: Annotated[str | None, Tag(1)] = None
    query: Annotated[Query | None, Tag(2)] = None
    mode: Annotated[int | None, Tag(3)] = None
    findings: Annotated[Findings | None, Tag(4)] = None
    status: Annotated[int, Tag(5, codes=STATUS)] = 0
    deep: Annotated[DeepRun | None, Tag(6)] = None


class Task(Message):
    id: Annotated[str, Tag(1)]
    job: Annotated[Job, Tag(2)]
    updated: Annotated[Timestamp | None, Tag(3)] = None
    created: Annotated[Timestamp | None, Tag(4)] = None
    account: Annotated[str | None, Tag(5)] = None

    @property
    def session_id(self) -> str | None:
        return self.job.deep.session_id if self.job.deep else None

    @property
    def query(self) -> str:
        return self.job.query.text if self.job.query else ""

    @property
    def found(self) -> list[FoundSource]:
        return (self.job.findings.sources if self.job.findings else None) or []

    @property
    def sources(self) -> dict[int, FoundSource]:
        """What was found, the report apart, by the numbers that tools show and take."""
        return dict(enumerate((row for row in self.found if not row.is_report), start=1))

    @property
    def report(self) -> FoundSource | None:
        return next((row for row in self.found if row.is_report), None)

    @property
    def report_text(self) -> str | None:
        return self.report.content.text if self.report and self.report.content else None

    @property
    def status(self) -> str:
        contradictory = self.job.status == NO_RESULTS and self.found
        return named({} if contradictory else STATUS, self.job.status)

    @property
    def is_running(self) -> bool:
        return self.job.status == RUNNING


class PollResearch(Message):
    context: Annotated[RequestContext | None, Tag(1)] = None
    notebook_id: Annotated[str, Tag(3)]


class Tasks(Message):
    """`[[task,…]]` (C), or just `[task,…]` (P)."""

    tasks: Annotated[list[Task] | None, Tag(1, lenient=True)] = None

    @classmethod
    def decode(cls, row: Row) -> Self:
        return super().decode([row] if is_flat(row) else row)


def is_flat(row: Any) -> bool:
    """Whether the tasks stand in the row itself: then its first cell begins with an id."""
    return type(row) is list and bool(row) and type(row[0]) is list and bool(row[0]) and type(row[0][0]) is str


class CancelResearch(Message):
    context: Annotated[RequestContext | None, Tag(1)] = None
    research_id: Annotated[str, Tag(3)]


class WebPage(Message):
    url: Annotated[str, Tag(1)]
    title: Annotated[str | None, Tag(2)] = None


class Entry(Message):
    """One thing to import, as in `additions.Content`: exactly one of drive (M), report, web (N)."""

    drive: Annotated[DriveFile | None, Tag(1)] = None
    report: Annotated[Text | None, Tag(2)] = None
    web: Annotated[WebPage | None, Tag(3)] = None
    text_type: Annotated[int | None, Tag(4)] = None
    marker: Annotated[int | None, Tag(11)] = WEB_RESULT

    @model_validator(mode="after")
    def is_one_thing(self) -> Entry:
        if sum(part is not None for part in (self.drive, self.report, self.web)) != 1:
            raise ValueError("exactly one of drive, report, web")
        return self


class ImportSources(Message):
    """The report goes first; without entries (M) nothing is imported."""

    context: Annotated[RequestContext | None, Tag(1)] = None
    f2: Annotated[list[int], Tag(2)] = [1]
    research_id: Annotated[str, Tag(3)]
    notebook_id: Annotated[str, Tag(4)]
    entries: Annotated[list[Entry], Tag(5)]


# Calls

START_FAST = Rpc("Ljjv0c", "DiscoverSourcesManifold", StartFast, FastStarted, Effect.CREATE, timeout=60.0)
START_DEEP = Rpc("QA9ei", "DiscoverSourcesAsync", StartDeep, DeepStarted, Effect.CREATE, null=True, timeout=90.0)
"""Recorded: 14 s."""
DISCOVER = Rpc("Es3dTe", "DiscoverSources", Discover, Findings, Effect.CREATE, timeout=60.0, grade="N")
POLL = Rpc("e3bVqc", "ListDiscoverSourcesJob", PollResearch, Tasks, Effect.READ, null=True)
CANCEL = Rpc("Zbrupe", "CancelDiscoverSourcesJob", CancelResearch, Empty, Effect.SET, null=True, grade="P")
IMPORT = Rpc(
    "LBwxtb", "FinishDiscoverSourcesRun", ImportSources, Added, Effect.CREATE, null=True, timeout=240.0, grade="N"
)
