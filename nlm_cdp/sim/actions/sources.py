"""Actions on sources: adding them in each way, reading, keeping them fresh, copying."""

from __future__ import annotations

from nlm_cdp.api.sources import additions, freshness, searching, updating, uploading, webapp
from nlm_cdp.api.sources import sources as api
from nlm_cdp.sim.actions import preparing
from nlm_cdp.sim.actions.action import Action, Made
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account

WEB_PAGE = additions.Content(web="https://a.example/lamps")
VIDEO = additions.Content(video="https://www.youtube.com/watch?v=dQw4w9WgXcQ")
DRIVE = additions.Content(
    drive=additions.DriveFile(file_id="1AbCdEf", mime="application/vnd.google-apps.document", title="Fog")
)
PASTED = additions.Content(
    text=additions.Text(title="Lighthouses", content=preparing.PASTED), text_type=additions.TEXT_CONTENT
)
BOOK = additions.Content(
    book=additions.PlayBook(
        content_id="book", title="Lighthouses", description="<p>On lamps.</p>", rating=4.5, authors=["A. Author"]
    )
)


def added(name: str, label: str, *contents: additions.Content) -> Action:
    """Sources that are there when the call is answered."""

    def make(account: Account, notebook: Notebook) -> Made:
        return additions.AddSources(contents=list(contents), notebook_id=notebook.id), notebook.id

    return Action(name, label, additions.ADD, make)


def add_async(account: Account, notebook: Notebook) -> Made:
    contents = [additions.Content(web="https://a.example/horns"), BOOK]
    return additions.AddSources(contents=contents, notebook_id=notebook.id), notebook.id


def add_entries(account: Account, notebook: Notebook) -> Made:
    entries = [webapp.AddEntry(text="https://a.example/bells", product=627, f3=1)]
    return webapp.AddEntries(entries=entries), notebook.id


def register(account: Account, notebook: Notebook) -> Made:
    return uploading.RegisterFile(names=["notes 🧪.md"], notebook_id=notebook.id), notebook.id


def rename(account: Account, notebook: Notebook) -> Made:
    found = preparing.source(account, notebook)
    return api.RenameSource(source_id=found.id, title="Ünïcode 🧪"), notebook.id


def load(account: Account, notebook: Notebook) -> Made:
    return api.LoadSource(source_id=preparing.source(account, notebook).id), notebook.id


def load_html(account: Account, notebook: Notebook) -> Made:
    found = preparing.source(account, notebook)
    return api.LoadSource(source_id=found.id, form=[3], form2=[3]), notebook.id


def guide(account: Account, notebook: Notebook) -> Made:
    return api.GuideSources(source_ids=[preparing.source(account, notebook).id]), notebook.id


def search(account: Account, notebook: Notebook) -> Made:
    found = preparing.sources(account, notebook)
    return searching.SearchSources(notebook_id=notebook.id, query="What do faults do?", source_ids=found), notebook.id


def search_all(account: Account, notebook: Notebook) -> Made:
    return searching.SearchSources(notebook_id=notebook.id, query="What do faults do?"), notebook.id


def check(account: Account, notebook: Notebook) -> Made:
    return freshness.CheckFreshness(source_id=preparing.drive_file(account, notebook).id), notebook.id


def refresh(account: Account, notebook: Notebook) -> Made:
    return freshness.RefreshSource(source_id=preparing.drive_file(account, notebook).id), notebook.id


def append(account: Account, notebook: Notebook) -> Made:
    found = preparing.source(account, notebook)
    return updating.AppendSource(source_id=found.id, header="", body="One line more 🧪."), notebook.id


def copy(account: Account, notebook: Notebook) -> Made:
    found, target = preparing.source(account, notebook), preparing.target(account, notebook)
    return webapp.CopySources(source_ids=[found.id], target_id=target.id), notebook.id


def ask_tier(account: Account, notebook: Notebook) -> Made:
    return webapp.AskTier(entries=[webapp.TierEntry(text="1", product=627, f3=1)]), None


def delete(account: Account, notebook: Notebook) -> Made:
    doomed = account.add_source(notebook, "Doomed", "Nobody reads this.")
    return api.DeleteSources(source_ids=[doomed.id]), notebook.id


ACTIONS = (
    added("add-page", "Add a web page", WEB_PAGE),
    added("add-video", "Add a video", VIDEO),
    added("add-drive", "Add a Drive file", DRIVE),
    added("add-text", "Add a text", PASTED),
    added("add-several", "Add several at once", WEB_PAGE, VIDEO, PASTED),
    Action("register-file", "Upload a file", uploading.REGISTER, register),
    Action("add-async", "Add in the background", webapp.ADD_ASYNC, add_async),
    Action("add-entries", "Add by the other call", webapp.ADD_ENTRIES, add_entries, status=3),
    Action("ask-tier", "Ask for the tier", webapp.ASK_TIER, ask_tier),
    Action("list-books", "List Play Books", webapp.LIST_BOOKS, lambda _, __: (webapp.ListBooks(), None)),
    Action("rename-source", "Rename a source", api.RENAME, rename),
    Action("load-source-html", "Read a source as HTML", api.LOAD, load_html),
    Action("load-source", "Read a source", api.LOAD, load),
    Action("source-guide", "Summarise a source", api.GUIDE, guide),
    Action("search-notebook", "Search all passages", searching.SEARCH, search_all),
    Action("search-sources", "Search passages", searching.SEARCH, search),
    Action("check-freshness", "Check a Drive file", freshness.CHECK, check),
    Action("refresh-source", "Refresh a Drive file", freshness.REFRESH, refresh),
    Action("append-source", "Append to a text", updating.APPEND, append),
    Action("copy-sources", "Copy a source elsewhere", webapp.COPY_SOURCES, copy),
)
ENDINGS = (Action("delete-source", "Delete a source", api.DELETE, delete),)
