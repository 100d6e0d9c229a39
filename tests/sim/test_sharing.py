"""The simulated service's sharing, with the silences of the true one."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api.sharing import sharing as api
from nlm_cdp.sim.answers import DENIED, INVALID, NOT_FOUND, Refusal
from nlm_cdp.sim.calls import run
from nlm_cdp.sim.records import EDITOR, OWNER, VIEWER, Notebook
from nlm_cdp.sim.state import Account, Service

ANN, BOB = "ann@a.test", "bob@b.test"
SILENT = api.Greeting(absent=0, text="")


@pytest.fixture
def account() -> Account:
    return Service().owner


@pytest.fixture
def notebook(account: Account) -> Notebook:
    return account.add_notebook("Shared")


def grant(account: Account, notebook: Notebook, *grants: tuple[str, int]) -> Any:
    people = [api.Grant(email=email, role=role) for email, role in grants]
    request = api.GrantAccess(notebook_id=notebook.id, grants=people, greeting=SILENT, notify=0)
    return run(account, api.GRANT.id, request.encode())


def remove(account: Account, notebook: Notebook, *emails: str) -> Any:
    removals = [api.Removal(email=email) for email in emails]
    request = api.RemoveAccess(notebook_id=notebook.id, removals=removals, greeting=SILENT, notify=0)
    return run(account, api.REMOVE.id, request.encode())


def publish(account: Account, notebook: Notebook, public: int) -> Any:
    request = api.SetPublic(notebook_id=notebook.id, public=public, greeting=SILENT, notify=1)
    return run(account, api.SET_PUBLIC.id, request.encode())


def status(account: Account, notebook_id: str) -> Any:
    return run(account, api.STATUS.id, api.GetShareStatus(notebook_id=notebook_id).encode())


def test_people_come_and_go(account: Account, notebook: Notebook) -> None:
    assert grant(account, notebook, (ANN, VIEWER), (BOB, EDITOR)).encode() == []
    people = [(person.email, person.role) for person in status(account, notebook.id).people]
    assert people == [(account.email, OWNER), (ANN, VIEWER), (BOB, EDITOR)]
    assert notebook.shared is True
    assert remove(account, notebook, ANN, BOB).encode() == []
    assert (notebook.people, notebook.shared) == ({}, False)


def test_a_removal_that_names_anybody_else_is_ignored(account: Account, notebook: Notebook) -> None:
    grant(account, notebook, (ANN, VIEWER))
    assert remove(account, notebook, ANN, BOB).encode() == []
    assert notebook.people == {ANN: VIEWER}


def test_a_call_that_names_somebody_twice_is_ignored(account: Account, notebook: Notebook) -> None:
    assert grant(account, notebook, (ANN, VIEWER), (ANN.upper(), EDITOR)).encode() == []
    assert notebook.people == {}


def test_the_owner_stays_the_owner(account: Account, notebook: Notebook) -> None:
    grant(account, notebook, (account.email, VIEWER), (ANN, VIEWER))
    assert notebook.people == {ANN: VIEWER}


def test_a_grant_and_a_removal_in_one_call(account: Account, notebook: Notebook) -> None:
    grant(account, notebook, (ANN, VIEWER))
    grant(account, notebook, (BOB, EDITOR), (ANN, api.NOBODY))
    assert notebook.people == {BOB: EDITOR}


def test_a_link_shows_only_while_it_is_open(account: Account, notebook: Notebook) -> None:
    assert status(account, notebook.id).encode()[1] is None
    publish(account, notebook, 1)
    assert status(account, notebook.id).encode()[1] == [True]
    assert (notebook.public, notebook.shared) == (True, True)
    publish(account, notebook, 0)
    assert status(account, notebook.id).encode()[1] is None
    assert notebook.shared is False


def test_refusals(account: Account, notebook: Notebook) -> None:
    assert grant(account, notebook, ("no@dot", VIEWER)) == Refusal(INVALID)
    foreign = account.add_notebook("Of a stranger", role=VIEWER)
    for answer in (grant(account, foreign, (ANN, VIEWER)), remove(account, foreign, ANN), publish(account, foreign, 1)):
        assert answer == Refusal(DENIED)
    assert status(account, "missing") == Refusal(NOT_FOUND)
    owner, *_ = status(account, foreign.id).people
    assert (owner.role, owner.email == account.email) == (OWNER, False)
