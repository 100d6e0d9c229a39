"""The calls about sources, answered from the state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nlm_cdp.api.common import Empty
from nlm_cdp.api.sources import additions, uploading
from nlm_cdp.api.sources import sources as api
from nlm_cdp.api.sources.intake import video_id
from nlm_cdp.api.sources.rows import READY, DocsDescriptor, SourceMeta, YouTube
from nlm_cdp.api.sources.rows import Source as SourceRow
from nlm_cdp.sim import fetch
from nlm_cdp.sim.answers import DENIED, INVALID, NOT_FOUND, Handler, Pieces, Refusal
from nlm_cdp.sim.filler import element_rows
from nlm_cdp.sim.notebooks import changeable, is_outdated
from nlm_cdp.sim.records import PROCESSING, REGISTERED, VIDEO, WEB_PAGE, Notebook, Source
from nlm_cdp.sim.retrieval import frequent, sentences
from nlm_cdp.sim.rows import source_row
from nlm_cdp.sim.state import Account
from nlm_cdp.wire.document import Document
from nlm_cdp.wire.frames import compact
from nlm_cdp.wire.pblite import Lazy

DRIVE_TYPES = {
    "application/vnd.google-apps.document": 1,
    "application/vnd.google-apps.presentation": 2,
    "application/vnd.google-apps.spreadsheet": 7,
    "application/pdf": 3,
}


STUB = SourceMeta(type=REGISTERED)


def add(account: Account, request: additions.AddSources) -> additions.Added | Refusal | None:
    """Rows of what could be added, in request order; what could not is left out, unless nothing could."""
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    room = (account.limits.sources or 0) - len(notebook.sources)
    if len(request.contents) > room or is_outdated(account, request.context, request.old_provenance):
        return Refusal(INVALID)
    if any(content.drive and content.drive.mime not in DRIVE_TYPES for content in request.contents):
        return None
    added = [source for content in request.contents if (source := add_one(account, notebook, content)) is not None]
    if not added:
        return Refusal(INVALID)
    return additions.Added(sources=[source_row(source) for source in added])


def add_one(account: Account, notebook: Notebook, content: additions.Content) -> Source | None:
    """A book is only taken by the asynchronous call."""
    if content.book is not None:
        return None
    if content.text is not None:
        return account.add_source(notebook, content.text.title or "Pasted text", content.text.content)
    if content.drive is not None:
        file = content.drive
        found = fetch.drive_file(file.title, file.file_id)
        docs = DocsDescriptor(document_id=file.file_id, revision=account.service.opaque(40), version=1)
        return account.add_source(notebook, found.title, found.text, kind=DRIVE_TYPES[file.mime], docs=docs)
    if content.video is not None:
        if (watched := fetch.video(content.video)) is None:
            return None
        youtube = YouTube(url=content.video, video_id=video_id(content.video), channel=watched.channel)
        return account.add_source(notebook, watched.title, watched.text, kind=VIDEO, youtube=youtube)
    return add_page(account, notebook, content.web or "")


def add_page(account: Account, notebook: Notebook, url: str) -> Source | None:
    """A web page; one of a slow host carries its address as title until it is ready."""
    if (page := fetch.web_page(url)) is None:
        return None
    source = account.add_source(notebook, page.title, page.text, kind=WEB_PAGE, url=url)
    if fetch.is_slow(url):
        source.title, source.later_title = url, page.title
        source.status, source.slow_reads = PROCESSING, fetch.SLOW_READS
    return source


def register(account: Account, request: uploading.RegisterFile) -> uploading.Registered | Refusal:
    """A stub for each file, before any of its bytes."""
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    room = (account.limits.sources or 0) - len(notebook.sources)
    if len(request.names) > room or is_outdated(account, request.context, request.old_provenance):
        return Refusal(INVALID)
    stubs = [account.add_source(notebook, name, kind=REGISTERED, status=PROCESSING) for name in request.names]
    rows = [SourceRow(plain_id=stub.id, title=stub.title, meta=STUB) for stub in stubs]
    return uploading.Registered(sources=rows, again=rows)


def delete(account: Account, request: api.DeleteSources) -> Empty | Refusal:
    found = [account.located(source_id) for source_id in request.source_ids]
    doomed = [place for place in found if place is not None]
    if len(doomed) < len(found):
        return Refusal(NOT_FOUND)
    if not all(notebook.writable for notebook, _ in doomed):
        return Refusal(DENIED)
    for notebook, source in doomed:
        notebook.sources.pop(source.id, None)
    return Empty()


def rename(account: Account, request: api.RenameSource) -> api.GotSource | Refusal:
    if (place := account.located(request.source_id)) is None:
        return Refusal(NOT_FOUND)
    notebook, source = place
    if not notebook.writable:
        return Refusal(DENIED)
    source.title, source.later_title = request.title, None
    return api.GotSource(source=source_row(source))


def load(account: Account, request: api.LoadSource) -> api.Loaded | Refusal | Pieces:
    """The text as a document, or as HTML in form 3; neither for a source that is not ready."""
    if (place := account.located(request.source_id)) is None:
        return Refusal(NOT_FOUND)
    source = place[1]
    row = source_row(source)
    if source.status != READY:
        return api.Loaded(source=row)
    if request.form == [3]:
        return api.Loaded(source=row, html=as_html(source))
    if source.filler:
        return Pieces(lambda: filled(source))
    return api.Loaded(source=row, document=Lazy(Document, source.document))


def as_html(source: Source) -> str:
    lines = (line.replace("&", "&amp;").replace("<", "&lt;") for line in source.text.split("\n") if line.strip())
    return "".join(f"<p>{line}</p>" for line in lines)


def filled(source: Source) -> Iterator[str]:
    """The JSON of a `Loaded` row whose document is as long as the filler."""
    shell = Lazy(Document, [[["FILLER"]]])
    head, tail = compact(api.Loaded(source=source_row(source), document=shell).encode()).split('"FILLER"')
    yield head
    yield from element_rows(source.filler)
    yield tail


def guide(account: Account, request: api.GuideSources) -> api.SourceGuides | Refusal:
    """Summary and keywords of each source; nothing yet for one that is not ready."""
    places = [account.located(source_id) for source_id in request.source_ids]
    found = [place[1] for place in places if place is not None]
    if len(found) < len(places):
        return Refusal(NOT_FOUND)
    return api.SourceGuides(guides=[guide_row(source) for source in found if source.status == READY])


def guide_row(source: Source) -> api.SourceGuideRow:
    opening = [sentence for _, sentence in zip(range(3), sentences(source.opening), strict=False)]
    summary = " ".join(["(Simulated guide, made of the source's first sentences.)", *opening])
    return api.SourceGuideRow(summary=summary, keywords=frequent(source.opening, 5), f4=Empty())


HANDLERS: tuple[Handler[Any, Any], ...] = (
    Handler(additions.ADD, add),
    Handler(uploading.REGISTER, register),
    Handler(api.DELETE, delete),
    Handler(api.RENAME, rename),
    Handler(api.LOAD, load),
    Handler(api.GUIDE, guide),
)
