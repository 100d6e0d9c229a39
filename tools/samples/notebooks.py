"""Samples of the notebook calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nlm_cdp.api import managing, project
from nlm_cdp.api import notebooks as api
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account

if TYPE_CHECKING:
    from tools.samples import Sample


def samples(account: Account, notebook: Notebook) -> Iterator[Sample]:
    yield api.LIST, api.ListNotebooks(), None
    yield api.CREATE, api.CreateNotebook(title="Lighthouses"), None
    yield api.GET, api.GetNotebook(notebook_id=notebook.id), notebook.id
    change = api.Rename(title="About the simulator", emoji="🔦")
    yield api.RENAME, api.RenameNotebook(notebook_id=notebook.id, change=change), notebook.id
    settings = project.ChatSettings(goal=project.Goal(code=2, prompt="Be brief."), length=5)
    yield api.CONFIGURE_CHAT, api.ConfigureChat(notebook_id=notebook.id, settings=settings), notebook.id
    yield api.SET_VIEW_LEVEL, api.SetViewLevel(notebook_id=notebook.id, chat_only=1), notebook.id
    yield api.GUIDE, api.GuideNotebook(notebook_id=notebook.id), notebook.id
    yield managing.COPY, managing.CopyNotebook(notebook_id=notebook.id, title="A copy"), notebook.id


def endings(account: Account, notebook: Notebook) -> Iterator[Sample]:
    yield managing.FORGET, managing.ForgetNotebook(notebook_id=notebook.id), None
    yield api.DELETE, api.DeleteNotebooks(notebook_ids=[notebook.id]), None
