"""Sharing in a real Chromium: who was let in, who was not, and what the service never says."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlm_cdp.sim.faults import Fault, Kind
from nlm_cdp.sim.records import EDITOR, VIEWER
from tests.e2e.world import in_chromium, world

pytestmark = in_chromium

ANN, BOB = "ann@simulated.example", "bob@simulated.example"


async def test_a_notebook_is_shared_and_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        call = there.call
        notebook = there.service.service.owner.recent()[0]
        await call("select_notebook", notebook=notebook.id)
        seen = await call("get_share_status")
        assert (seen["is_public"], seen["view_level"], seen["cap"], seen["can_be_public"]) == (
            False,
            "full",
            1000,
            True,
        )
        assert seen["people"] == [{"email": "owner@simulated.example", "role": "owner", "name": "Owner"}]

        grants = [{"email": ANN, "role": "viewer"}, {"email": BOB, "role": "editor"}]
        asked = await call("share_notebook", grants=grants, message="Come in 🧪")
        assert (asked["status"], len(asked["would"]), there.sent("QDyure")) == ("needs_confirmation", 2, 0)
        shared = await call("share_notebook", grants=grants, message="Come in 🧪", confirm=True)
        assert [(each["email"], each["role"]) for each in shared["people"][1:]] == [(ANN, "viewer"), (BOB, "editor")]
        assert notebook.people == {ANN: VIEWER, BOB: EDITOR}
        lowered = await call("share_notebook", grants=[{"email": BOB, "role": "viewer"}], notify=False)
        assert (lowered["status"], notebook.people[BOB]) == ("done", VIEWER)

        assert (await call("set_sharing", public=True, view_level="chat"))["status"] == "needs_confirmation"
        opened = await call("set_sharing", public=True, view_level="chat", confirm=True)
        assert (opened["is_public"], opened["view_level"]) == (True, "chat")
        assert (notebook.public, notebook.chat_only) == (True, True)
        listed = (await call("list_notebooks"))["notebooks"]
        assert [row["shared"] for row in listed if row["id"] == notebook.id] == [True]
        closed = await call("set_sharing", public=False)
        assert (closed["status"], closed["is_public"], notebook.public) == ("done", False, False)

        asked = await call("unshare_notebook", emails=[ANN, "nobody@simulated.example"])
        assert (asked["status"], asked["not_found"]) == ("needs_confirmation", ["nobody@simulated.example"])
        gone = await call("unshare_notebook", emails=[ANN, "nobody@simulated.example"], confirm=True)
        assert (gone["status"], gone["removed"], gone["not_found"]) == ("removed", [ANN], ["nobody@simulated.example"])
        assert list(notebook.people) == [BOB]
        assert there.sent("QDyure") == 5


async def test_what_the_service_refuses_and_what_it_swallows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        account = there.service.service.owner
        notebook = account.add_notebook("Of somebody else", role=VIEWER)
        error = await there.fails("set_sharing", notebook=notebook.id, public=True, confirm=True)
        assert (error.code, error.outcome) == ("PERMISSION", "rejected")
        mine = account.add_notebook("Mine")
        grants = [{"email": "no@dot", "role": "viewer"}]
        error = await there.fails("share_notebook", notebook=mine.id, grants=grants, confirm=True)
        assert (error.code, error.outcome, mine.people) == ("INVALID_ARGUMENT", "rejected", {})
        twice = [{"email": ANN, "role": "viewer"}, {"email": ANN.upper(), "role": "editor"}]
        sent = there.sent("QDyure")
        error = await there.fails("share_notebook", notebook=mine.id, grants=twice, confirm=True)
        assert (error.code, there.sent("QDyure")) == ("INVALID_ARGUMENT", sent)


@pytest.mark.parametrize(
    "fault",
    [Fault(Kind.CUT, on="QDyure", amount=1), Fault(Kind.HTTP, on="QDyure", code=500, commit=True)],
    ids=["cut", "500 after the commit"],
)
async def test_an_invitation_whose_answer_is_lost_is_sent_once_and_looked_for(
    fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, monkeypatch) as there:
        notebook = there.service.service.owner.recent()[0]
        there.service.faults.add(fault)
        grants = [{"email": ANN, "role": "viewer"}]
        shared = await there.call("share_notebook", notebook=notebook.id, grants=grants, confirm=True)
        assert (shared["status"], notebook.people, there.sent("QDyure")) == ("done", {ANN: VIEWER}, 1)
