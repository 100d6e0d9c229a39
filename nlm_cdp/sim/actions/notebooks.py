"""Actions on notebooks. What deletes or hides one does it to a notebook that is made for it."""

from __future__ import annotations

from nlm_cdp.api.common import RequestContext
from nlm_cdp.api.notebooks import notebooks as api
from nlm_cdp.api.notebooks import project, writing
from nlm_cdp.api.sources import webapp
from nlm_cdp.sim.actions.action import WEB, Action, Made
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account
from nlm_cdp.wire.pblite import Row

LIST_VIEW: Row = [[None, None, []], [[]], [None, []]]
NOTEBOOK_VIEW: Row = [[None, None, []]]
"""View options that the clients do without."""


def list_notebooks(account: Account, notebook: Notebook) -> Made:
    return api.ListNotebooks(context=RequestContext(), view=LIST_VIEW), None


def get_notebook(account: Account, notebook: Notebook) -> Made:
    return api.GetNotebook(notebook_id=notebook.id, view=NOTEBOOK_VIEW), notebook.id


def refresh_notebook(account: Account, notebook: Notebook) -> Made:
    return api.GetNotebook(notebook_id=notebook.id, refresh=1, view=NOTEBOOK_VIEW), notebook.id


def rename(account: Account, notebook: Notebook) -> Made:
    change = api.Rename(title="About the simulator")
    return api.RenameNotebook(notebook_id=notebook.id, change=change), notebook.id


def decorate(account: Account, notebook: Notebook) -> Made:
    change = api.Rename(title="About the simulator", emoji="🔦")
    return api.RenameNotebook(notebook_id=notebook.id, change=change), notebook.id


def configure(account: Account, notebook: Notebook) -> Made:
    settings = project.ChatSettings(goal=project.Goal(code=2, prompt="Be brief."), length=5)
    return api.ConfigureChat(notebook_id=notebook.id, settings=settings), notebook.id


def set_view_level(account: Account, notebook: Notebook) -> Made:
    return api.SetViewLevel(notebook_id=notebook.id, chat_only=1), notebook.id


def guide(account: Account, notebook: Notebook) -> Made:
    return api.GuideNotebook(notebook_id=notebook.id), notebook.id


def copy(account: Account, notebook: Notebook) -> Made:
    return writing.CopyNotebook(notebook_id=notebook.id, title="A copy"), notebook.id


def set_source_panel(account: Account, notebook: Notebook) -> Made:
    return webapp.SetSourcePanel(notebook_id=notebook.id, view=1), notebook.id


def forget(account: Account, notebook: Notebook) -> Made:
    return writing.ForgetNotebook(notebook_id=account.add_notebook("To be forgotten").id), None


def delete(account: Account, notebook: Notebook) -> Made:
    return api.DeleteNotebooks(notebook_ids=[account.add_notebook("Doomed").id]), None


ACTIONS = (
    Action("list-notebooks", "List notebooks", api.LIST, list_notebooks),
    Action("open-home", "Open the home page", webapp.OPEN_HOME, lambda _, __: (webapp.OpenHome(context=WEB), None)),
    Action(
        "list-location",
        "List a location (enterprise)",
        webapp.LIST_LOCATION,
        lambda _, __: (webapp.ListLocation(location="projects/simulated/locations/global"), None),
    ),
    Action(
        "create-notebook",
        "Create a notebook",
        api.CREATE,
        lambda _, __: (api.CreateNotebook(title="Lighthouses"), None),
    ),
    Action("refresh-notebook", "Read anew", api.GET, refresh_notebook),
    Action("get-notebook", "Read this notebook", api.GET, get_notebook),
    Action("title-notebook", "Rename", api.RENAME, rename),
    Action("rename-notebook", "Rename, with an emoji", api.RENAME, decorate),
    Action("configure-chat", "Configure the chat", api.CONFIGURE_CHAT, configure),
    Action("set-view-level", "Show viewers the chat only", api.SET_VIEW_LEVEL, set_view_level),
    Action("set-source-panel", "Show sources by label", webapp.SET_SOURCE_PANEL, set_source_panel),
    Action("notebook-guide", "Write the guide", api.GUIDE, guide),
    Action("copy-notebook", "Copy", writing.COPY, copy),
)
ENDINGS = (
    Action("forget-notebook", "Take one off the recent list", writing.FORGET, forget, status=13),
    Action("delete-notebook", "Delete a notebook", api.DELETE, delete),
)
