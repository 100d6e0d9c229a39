"""Samples of the research calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nlm_cdp.api import research as api
from nlm_cdp.api.adding import DriveFile, Text
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account

if TYPE_CHECKING:
    from tools.samples import Sample

DOCUMENT = "application/vnd.google-apps.document"


def samples(account: Account, notebook: Notebook) -> Iterator[Sample]:
    """The listing comes when deep research has ended, so that it shows all there is to show."""
    query, poll = api.Query(text="fog horns"), api.PollResearch(notebook_id=notebook.id)
    yield api.START_FAST, api.StartFast(query=query, notebook_id=notebook.id), notebook.id
    yield api.START_DEEP, api.StartDeep(query=query, notebook_id=notebook.id), notebook.id
    drive = api.Query(text="fog horns", corpus=api.DRIVE)
    yield api.START_FAST, api.StartFast(query=drive, notebook_id=notebook.id), notebook.id
    yield api.DISCOVER, api.Discover(query=query, notebook_id=notebook.id), notebook.id
    for _ in range(5):
        yield api.POLL, poll, notebook.id
    deep = next(task for task in notebook.research.values() if task.session_id)
    entries = [
        api.Entry(
            report=Text(title="Report", content="# Fog\n\nhorns"),
            text_type=api.REPORT_TEXT,
            marker=api.REPORT_RESULT,
        ),
        api.Entry(web=api.WebPage(url="https://journal.example/fog-horns", title="Fog horns")),
        api.Entry(drive=DriveFile(file_id="1AbCdEf", mime=DOCUMENT, title="Fog")),
    ]
    request = api.ImportSources(research_id=deep.id, notebook_id=notebook.id, entries=entries)
    yield api.IMPORT, request, notebook.id
    yield api.CANCEL, api.CancelResearch(research_id=deep.id), notebook.id
