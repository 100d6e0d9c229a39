"""Samples of the source calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nlm_cdp.api import adding, freshness, searching, upkeep, uploading, webapp
from nlm_cdp.api import sources as api
from nlm_cdp.api.rows import DocsDescriptor
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account

if TYPE_CHECKING:
    from tools.samples import Sample

TEXT = "# Lighthouses\nThe lamp is lit at sunset.\nIn fog the horn sounds every ninety seconds 🧪."


def samples(account: Account, notebook: Notebook) -> Iterator[Sample]:
    source = next(iter(notebook.sources))
    contents = [
        adding.Content(web="https://a.example/lamps"),
        adding.Content(video="https://www.youtube.com/watch?v=dQw4w9WgXcQ"),
        adding.Content(text=adding.Text(title="Lighthouses", content=TEXT), text_type=adding.TEXT_CONTENT),
    ]
    yield adding.ADD, adding.AddSources(contents=contents, notebook_id=notebook.id), notebook.id
    yield uploading.REGISTER, uploading.RegisterFile(names=["notes 🧪.md"], notebook_id=notebook.id), notebook.id
    yield api.RENAME, api.RenameSource(source_id=source, title="Ünïcode 🧪"), notebook.id
    yield api.LOAD, api.LoadSource(source_id=source), notebook.id
    yield api.GUIDE, api.GuideSources(source_ids=[source]), notebook.id
    search = searching.SearchSources(notebook_id=notebook.id, query="What do faults do?", source_ids=[source])
    yield searching.SEARCH, search, notebook.id
    docs = DocsDescriptor(document_id="simulated-drive-file", revision="revision", version=1)
    drive = account.add_source(notebook, "A Drive file", TEXT, kind=1, docs=docs)
    drive.stale = True
    yield freshness.CHECK, freshness.CheckFreshness(source_id=drive.id), notebook.id
    yield freshness.REFRESH, freshness.RefreshSource(source_id=drive.id), notebook.id
    yield upkeep.APPEND, upkeep.AppendSource(source_id=source, header="", body="One line more 🧪."), notebook.id
    yield from recognised(account, notebook)


def recognised(account: Account, notebook: Notebook) -> Iterator[Sample]:
    """What only the web app and other clients send."""
    book = adding.PlayBook(
        content_id="book", title="Lighthouses", description="<p>On lamps.</p>", rating=4.5, authors=["A. Author"]
    )
    contents = [adding.Content(web="https://a.example/horns"), adding.Content(book=book)]
    yield webapp.ADD_ASYNC, adding.AddSources(contents=contents, notebook_id=notebook.id), notebook.id
    entries = [webapp.AddEntry(text="https://a.example/bells", product=627, f3=1)]
    yield webapp.ADD_ENTRIES, webapp.AddEntries(entries=entries), notebook.id
    yield webapp.ASK_TIER, webapp.AskTier(entries=[webapp.TierEntry(text="1", product=627, f3=1)]), None
    target = account.add_notebook("Another notebook")
    copy = webapp.CopySources(source_ids=[next(iter(notebook.sources))], target_id=target.id)
    yield webapp.COPY_SOURCES, copy, notebook.id
    yield webapp.LIST_BOOKS, webapp.ListBooks(), None
    yield webapp.SET_SOURCE_PANEL, webapp.SetSourcePanel(notebook_id=notebook.id, view=1), notebook.id
    yield webapp.OPEN_HOME, webapp.OpenHome(), None
    yield webapp.LIST_LOCATION, webapp.ListLocation(location="projects/simulated/locations/global"), None


def endings(account: Account, notebook: Notebook) -> Iterator[Sample]:
    yield api.DELETE, api.DeleteSources(source_ids=[next(iter(notebook.sources))]), notebook.id
