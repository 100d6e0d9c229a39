"""What of a research is to be imported, and which source of the notebook is the same thing. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nlm_cdp.api.common import refuse
from nlm_cdp.api.research.research import REPORT_RESULT, REPORT_TEXT, Entry, FoundSource, Task, WebPage
from nlm_cdp.api.sources import drive
from nlm_cdp.api.sources.additions import DriveFile, Text
from nlm_cdp.api.sources.intake import address, video_id
from nlm_cdp.api.sources.links import links
from nlm_cdp.api.sources.rows import Source

Key = tuple[str, ...]
"""What makes two things the same: a Drive file's id, a video's, a page's address, a text's title."""
MIMES = {2: drive.DOCUMENT, 3: drive.PRESENTATION, 6: drive.PDF, 8: drive.SPREADSHEET}
"""By the kind of a result, what the service adds by its id; other files go by address."""


@dataclass(frozen=True, slots=True)
class Pick:
    """One thing to import. The report has no index; `since`: when its research began. `mime`: of a Drive file."""

    key: Key
    title: str
    index: int | None = None
    url: str | None = None
    mime: str | None = None
    report: str | None = None
    since: int = 0

    @property
    def is_report(self) -> bool:
        return self.index is None

    @property
    def unfit(self) -> str | None:
        """Why it cannot be imported, if it cannot."""
        if self.is_report:
            return None if self.report else "the service does not show the text of this report"
        return None if self.url else "this result has no address"

    @property
    def entry(self) -> Entry:
        if self.is_report:
            text = Text(title=self.title, content=self.report or "")
            return Entry(report=text, text_type=REPORT_TEXT, marker=REPORT_RESULT)
        if self.mime is not None:
            return Entry(drive=DriveFile(file_id=self.key[-1], mime=self.mime, title=self.title))
        return Entry(web=WebPage(url=self.url or "", title=self.title))


# Choosing


def chosen(task: Task, others: list[Task], wanted: list[int | str] | None) -> list[Pick]:
    """The sources wanted, each once, or all. Raises InvalidArgument for one that this research did not find."""
    known = {index: pick(index, row) for index, row in task.sources.items()}
    if wanted is None:
        return list(known.values())
    numbers = [number_of(each, known, others) for each in wanted]
    return [known[number] for number in dict.fromkeys(numbers)]


def number_of(wanted: int | str, known: dict[int, Pick], others: list[Task]) -> int:
    """The index of a source that is named by index or address."""
    if isinstance(wanted, int) or wanted.isdecimal():
        if int(wanted) in known:
            return int(wanted)
    else:
        for index, each in known.items():
            if each.key == key_of(wanted):
                return index
        finders = [
            task.id for task in others if any(row.url and key_of(row.url) == key_of(wanted) for row in task.found)
        ]
        if finders:
            raise refuse("another research found this address", "Import it from that.", research=finders, url=wanted)
    raise refuse(
        f"this research found no source {str(wanted)[:80]!r}", "get_research shows what it found.", found=len(known)
    )


def pick(index: int, row: FoundSource) -> Pick:
    title = row.title or row.url or ""
    if row.url is None:
        return Pick(("nothing", str(index)), title, index)
    file = drive.file_at(row.url)
    mime = (file.mime or MIMES.get(row.kind or 0)) if file else None
    return Pick(key_of(row.url), title, index, row.url, mime)


def report_of(task: Task) -> Pick | None:
    """The report as something to import; one without a title goes by its query."""
    if task.report is None:
        return None
    title = task.report.title or task.query
    since = task.created.seconds if task.created else 0
    return Pick(("text", title), title, report=task.report_text, since=since)


def once(picks: list[Pick]) -> list[Pick]:
    """The first of those that are the same thing."""
    found: dict[Key, Pick] = {}
    for each in picks:
        found.setdefault(each.key, each)
    return list(found.values())


def cited(picks: list[Pick], text: str) -> list[Pick]:
    """Those to which a text links."""
    linked = {key_of(link) for link in set(links(text))}
    return [each for each in picks if each.key in linked]


# Matching


def key_of(url: str) -> Key:
    if (file := drive.file_at(url)) is not None:
        return "drive", file.id
    video = video_id(url)
    return ("video", video) if video else ("page", *address(url))


def keys(row: Source) -> Iterator[Key]:
    """Everything a source of the notebook may be known by; while it is fetched, a page's title is its address."""
    if row.drive_id is not None:
        yield "drive", row.drive_id
    if row.url is None:
        yield "text", row.title or ""
    yield key_of(row.url or row.title or "")


def placed(picks: Iterable[Pick], rows: Iterable[Source]) -> dict[Key, Source]:
    """The source that each pick is, for those that have one."""
    known: dict[Key, list[Source]] = {}
    for row in rows:
        for key in keys(row):
            known.setdefault(key, []).append(row)
    found = {each.key: [row for row in known.get(each.key, ()) if not is_older(row, each)] for each in picks}
    return {key: same[0] for key, same in found.items() if same}


def is_older(row: Source, pick: Pick) -> bool:
    """Whether a source was there before its research began: then it is another report of the same title."""
    added = row.meta.added if row.meta else None
    return added is not None and added.seconds < pick.since


def answered(picks: list[Pick], rows: list[Source]) -> tuple[dict[Key, Source], list[Source]]:
    """The same for the rows of an answer, which come in the order of the request, and the rows that are none of them.

    A page that led elsewhere has another address: it is told by its place, if nothing else is missing.
    """
    found = placed(picks, rows)
    taken = {row.id for row in found.values()}
    left = [row for row in rows if row.id not in taken]
    rest = [each for each in picks if each.key not in found]
    if len(left) != len(rest):
        return found, left
    return found | {each.key: row for each, row in zip(rest, left, strict=True)}, []
