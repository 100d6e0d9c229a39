"""Actions of research: it starts, is looked at until it has ended, and is imported from."""

from __future__ import annotations

from nlm_cdp.api.research import research as api
from nlm_cdp.api.sources.additions import DriveFile, Text
from nlm_cdp.sim.actions import preparing
from nlm_cdp.sim.actions.action import Action, Made
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.research import DEEP_LOOKS
from nlm_cdp.sim.state import Account

DOCUMENT = "application/vnd.google-apps.document"
QUERY = api.Query(text="fog horns")


def start_fast(account: Account, notebook: Notebook) -> Made:
    return api.StartFast(query=QUERY, notebook_id=notebook.id), notebook.id


def start_drive(account: Account, notebook: Notebook) -> Made:
    return api.StartFast(query=api.Query(text=QUERY.text, corpus=api.DRIVE), notebook_id=notebook.id), notebook.id


def start_deep(account: Account, notebook: Notebook) -> Made:
    return api.StartDeep(query=QUERY, notebook_id=notebook.id), notebook.id


def discover(account: Account, notebook: Notebook) -> Made:
    return api.Discover(query=QUERY, notebook_id=notebook.id), notebook.id


def poll(account: Account, notebook: Notebook) -> Made:
    return api.PollResearch(notebook_id=notebook.id), notebook.id


def import_sources(account: Account, notebook: Notebook) -> Made:
    """One of each kind, the report first."""
    task = preparing.finished_research(account, notebook, QUERY)
    report = Text(title="Report", content="# Fog\n\nhorns")
    entries = [
        api.Entry(report=report, text_type=api.REPORT_TEXT, marker=api.REPORT_RESULT),
        api.Entry(web=api.WebPage(url="https://journal.example/fog-horns", title="Fog horns")),
        api.Entry(drive=DriveFile(file_id="1AbCdEf", mime=DOCUMENT, title="Fog")),
    ]
    return api.ImportSources(research_id=task.id, notebook_id=notebook.id, entries=entries), notebook.id


def cancel(account: Account, notebook: Notebook) -> Made:
    return api.CancelResearch(research_id=preparing.running(account, notebook, QUERY).id), notebook.id


ACTIONS = (
    Action("start-fast-research", "Start fast research", api.START_FAST, start_fast),
    Action("start-deep-research", "Start deep research", api.START_DEEP, start_deep),
    Action("start-drive-research", "Search Drive", api.START_FAST, start_drive),
    Action("discover-sources", "Discover sources", api.DISCOVER, discover),
    Action("poll-research", "Look at research", api.POLL, poll, times=DEEP_LOOKS + 1),
    Action("import-research", "Import what was found", api.IMPORT, import_sources),
    Action("cancel-research", "Cancel research", api.CANCEL, cancel),
)
