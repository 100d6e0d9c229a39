"""Samples of the sharing calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nlm_cdp.api import sharing as api
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account

if TYPE_CHECKING:
    from tools.samples import Sample

WITHOUT = api.Greeting(absent=1, text="")


def samples(account: Account, notebook: Notebook) -> Iterator[Sample]:
    yield api.SET_PUBLIC, api.SetPublic(notebook_id=notebook.id, public=1, greeting=WITHOUT, notify=1), notebook.id
    grants = [
        api.Grant(email="keeper@simulated.example", role=api.EDITOR),
        api.Grant(email="mate@simulated.example", role=api.VIEWER),
    ]
    welcome = api.Greeting(absent=0, text="Welcome aboard 🧪")
    yield api.GRANT, api.GrantAccess(notebook_id=notebook.id, grants=grants, greeting=welcome, notify=1), notebook.id
    yield api.STATUS, api.GetShareStatus(notebook_id=notebook.id), notebook.id
    removals = [api.Removal(email="mate@simulated.example")]
    silent = api.Greeting(absent=0, text="")
    remove = api.RemoveAccess(notebook_id=notebook.id, removals=removals, greeting=silent, notify=0)
    yield api.REMOVE, remove, notebook.id
