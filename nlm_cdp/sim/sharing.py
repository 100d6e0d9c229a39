"""The calls about sharing, answered from the state; success is all that a change is ever answered, done or not."""

from __future__ import annotations

import re
from typing import Any

from nlm_cdp.api.common import Empty
from nlm_cdp.api.sharing import sharing as api
from nlm_cdp.sim.answers import INVALID, NOT_FOUND, Handler, Refusal
from nlm_cdp.sim.notebooks import changeable
from nlm_cdp.sim.records import OWNER, Notebook
from nlm_cdp.sim.state import Account

CAP = 1000
ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
STRANGER = "stranger@simulated.example"
"""Who owns the notebooks that the account does not."""


def owner_of(account: Account, notebook: Notebook) -> str:
    return account.email if notebook.role == OWNER else STRANGER


def person(email: str, role: int) -> api.Person:
    name = email.partition("@")[0].capitalize()
    picture = f"https://lh3.googleusercontent.com/a/simulated-{name}=s512"
    return api.Person(email=email, role=role, f3=Empty(), profile=api.Profile(name=name, picture=picture))


def status(account: Account, request: api.GetShareStatus) -> api.ShareStatus | Refusal:
    """The cells of May 2026 (N); a restricted link is no link."""
    notebook = account.notebooks.get(request.notebook_id)
    if notebook is None:
        return Refusal(NOT_FOUND)
    people = [person(owner_of(account, notebook), OWNER), *(person(*item) for item in notebook.people.items())]
    link = api.Link(public=True) if notebook.public else None
    return api.ShareStatus(people=people, link=link, cap=CAP, public_allowed=True, f7=[3, True, True], f8=False)


def set_public(account: Account, request: api.SetPublic) -> Empty | Refusal:
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    notebook.public = bool(request.public)
    return changed(notebook)


def grant(account: Account, request: api.GrantAccess) -> Empty | Refusal:
    """Each becomes what the call says; nobody does where somebody is named twice, and the owner never does (P)."""
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    if not all(ADDRESS.fullmatch(each.email) for each in request.grants):
        return Refusal(INVALID)
    roles = {each.email.casefold(): each.role for each in request.grants}
    if len(roles) == len(request.grants):
        roles.pop(owner_of(account, notebook).casefold(), None)
        notebook.people |= roles
        notebook.people = {email: role for email, role in notebook.people.items() if role != api.NOBODY}
    return changed(notebook)


def remove(account: Account, request: api.RemoveAccess) -> Empty | Refusal:
    """All of them or, where one is not there, none (P)."""
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    doomed = {each.email.casefold() for each in request.removals}
    if doomed <= notebook.people.keys():
        notebook.people = {email: role for email, role in notebook.people.items() if email not in doomed}
    return changed(notebook)


def changed(notebook: Notebook) -> Empty:
    notebook.shared = notebook.public or bool(notebook.people)
    return Empty()


HANDLERS: tuple[Handler[Any, Any], ...] = (
    Handler(api.STATUS, status),
    Handler(api.SET_PUBLIC, set_public),
    Handler(api.GRANT, grant),
    Handler(api.REMOVE, remove),
)
