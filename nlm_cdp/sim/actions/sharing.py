"""Actions of sharing: the public link, and who may do what."""

from __future__ import annotations

from nlm_cdp.api.sharing import sharing as api
from nlm_cdp.sim.actions.action import WEB, Action, Made
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account

WITHOUT = api.Greeting(absent=1, text="")
SILENT = api.Greeting(absent=0, text="")
WELCOME = api.Greeting(absent=0, text="Welcome aboard 🧪")
KEEPER, MATE = "keeper@simulated.example", "mate@simulated.example"


def restrict(account: Account, notebook: Notebook) -> Made:
    return api.SetPublic(notebook_id=notebook.id, public=0, greeting=SILENT, notify=1), notebook.id


def publish(account: Account, notebook: Notebook) -> Made:
    return api.SetPublic(notebook_id=notebook.id, public=1, greeting=WITHOUT, notify=1), notebook.id


def grant(account: Account, notebook: Notebook) -> Made:
    grants = [api.Grant(email=KEEPER, role=api.EDITOR), api.Grant(email=MATE, role=api.VIEWER)]
    return api.GrantAccess(notebook_id=notebook.id, grants=grants, greeting=WELCOME, notify=1), notebook.id


def status(account: Account, notebook: Notebook) -> Made:
    return api.GetShareStatus(notebook_id=notebook.id, context=WEB), notebook.id


def remove(account: Account, notebook: Notebook) -> Made:
    notebook.people.setdefault(MATE, api.VIEWER)
    removals = [api.Removal(email=MATE)]
    return api.RemoveAccess(notebook_id=notebook.id, removals=removals, greeting=SILENT, notify=0), notebook.id


ACTIONS = (
    Action("restrict-link", "Restrict the link", api.SET_PUBLIC, restrict),
    Action("publish-link", "Open the link to all", api.SET_PUBLIC, publish),
    Action("grant-access", "Invite two people", api.GRANT, grant),
    Action("share-status", "Who has access?", api.STATUS, status),
)
ENDINGS = (Action("remove-access", "Remove a person", api.REMOVE, remove),)
