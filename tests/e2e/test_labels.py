"""Label tools in a real Chromium, against a service that takes silently what it cannot do."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlm_cdp.errors import Outcome
from nlm_cdp.sim.faults import Fault, Kind
from tests.e2e.world import in_chromium, world

pytestmark = in_chromium


async def test_labels_from_the_first_to_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        call, account = there.call, there.service.service.owner
        notebook = account.recent()[0]
        first, second, third = notebook.sources
        await call("select_notebook", notebook=notebook.id)
        assert (await call("list_labels"))["labels"] == []

        made = await call("edit_label", name="Lamps 🔦", emoji="👩‍🔬", add_sources=[first, second])
        label = made["label"]
        assert (label["name"], label["emoji"], label["source_ids"]) == ("Lamps 🔦", "👩‍🔬", [first, second])
        assert (there.sent("agX4Bc"), there.sent("le8sX")) == (1, 2)
        edited = await call(
            "edit_label", label="Lamps", name="Horns", add_sources=[third], remove_sources=["What this simulator is"]
        )
        assert edited["label"] == {"id": label["id"], "name": "Horns", "emoji": "👩‍🔬", "source_ids": [second, third]}
        cleared = await call("edit_label", label="Horns", emoji="", remove_sources=[third])
        assert cleared["label"] == {"id": label["id"], "name": "Horns", "source_ids": [second]}
        assert (await there.fails("edit_label", label=second, name="New")).code == "NOT_FOUND"

        organized = await call("organize_sources")
        assert organized["labels"][0] == cleared["label"]
        assert {source for found in organized["labels"] for source in found["source_ids"]} == {first, second, third}
        asked = await call("organize_sources", mode="all")
        assert (asked["status"], len(asked["would"])) == ("needs_confirmation", 1 + len(organized["labels"]))
        assert label["id"] in notebook.labels
        anew = await call("organize_sources", mode="all", confirm=True)
        ids = [found["id"] for found in anew["labels"]]
        assert not {found["id"] for found in organized["labels"]} & set(ids)
        assert (await call("list_labels"))["labels"] == anew["labels"]

        asked = await call("delete_labels", labels=[ids[0], label["id"]])
        assert (asked["status"], asked["not_found"]) == ("needs_confirmation", [label["id"]])
        assert there.sent("GyzE7e") == 0
        gone = await call("delete_labels", labels=ids, confirm=True)
        assert (gone["deleted"], notebook.labels) == (ids, {})
        assert len((await call("list_sources"))["sources"]) == 3


@pytest.mark.parametrize("commit", [True, False])
async def test_lost_replies_are_looked_up_and_nothing_is_sent_twice(
    commit: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, monkeypatch) as there:
        notebook = there.service.service.owner.recent()[0]
        source = next(iter(notebook.sources))
        await there.call("select_notebook", notebook=notebook.id)
        await there.call("edit_label", name="Fog")
        faults = there.service.faults
        for name, arguments, rpc in (
            ("edit_label", {"label": "Fog", "add_sources": [source]}, "le8sX"),
            ("edit_label", {"name": "Lamps"}, "agX4Bc"),
            ("organize_sources", {}, "agX4Bc"),
            ("delete_labels", {"labels": ["Fog"], "confirm": True}, "GyzE7e"),
        ):
            before = there.sent(rpc)
            faults.add(Fault(Kind.HTTP, rpc, commit=commit, code=500))
            if commit:
                await there.call(name, **arguments)
            else:
                error = await there.fails(name, **arguments)
                assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", Outcome.UNKNOWN)
            assert there.sent(rpc) - before == 1
