"""The label calls of the simulator, on sources and on notebooks, with the service's odd ways."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api.labels import collections, labels
from nlm_cdp.sim.records import VIEWER
from nlm_cdp.wire.batchexecute import Call, read_replies

pytestmark = pytest.mark.realtime

NOWHERE = "nowhere"


def stored(notebook) -> dict[str, list[str]]:
    return {label.name: label.members for label in notebook.labels.values()}


async def test_a_creation_answers_with_all_labels_and_the_listing_with_the_same(running) -> None:
    async with running() as (sim, client):
        notebook = sim.service.owner.recent()[0]
        assert (await client.reply(labels.LIST, labels.ListLabels(notebook_id=notebook.id))).row == []
        for name, emoji in (("Fog", "🌫️"), ("Log", "")):
            row = (
                await client.reply(labels.CREATE, labels.CreateLabel(notebook_id=notebook.id, name=name, emoji=emoji))
            ).row
        first, second = notebook.labels
        rows = [["Fog", None, first, "🌫️"], ["Log", None, second, ""]]
        assert row == [None, rows]
        assert (await client.reply(labels.LIST, labels.ListLabels(notebook_id=notebook.id))).row == [rows]


async def test_organizing_keeps_what_is_there_unless_it_makes_everything_anew(running) -> None:
    async with running() as (sim, client):
        account = sim.service.owner
        notebook = account.recent()[0]
        first, *rest = notebook.sources
        label = account.add_label(notebook.labels, "Mine")
        label.members = [first]

        async def organize(flag: bool | None) -> set[str]:
            request = labels.OrganizeSources(notebook_id=notebook.id, grouping=labels.Grouping(everything=flag))
            return {row.id for row in (await client.call(labels.ORGANIZE, request)).labels}

        assert await organize(None) == {label.id}
        kept = await organize(False)
        assert label.id in kept
        assert stored(notebook) == {"Mine": [first], "Papers": rest}
        assert await organize(False) == kept
        anew = await organize(True)
        assert not anew & kept
        assert stored(notebook) == {"Texts": [first], "Papers": rest}
        assert await organize(True) != anew
        notebook.labels.clear()
        assert len(await organize(None)) == 2


async def test_an_update_takes_the_first_id_and_what_it_does_not_know_without_a_word(running) -> None:
    async with running() as (sim, client):
        account = sim.service.owner
        notebook = account.recent()[0]
        first, second, third = notebook.sources
        label = account.add_label(notebook.labels, "Fog", "🌫️")

        async def update(part: list[Any], label_id: str = label.id) -> list[Any] | None:
            row = labels.AddToLabel(notebook_id=notebook.id, label_id=label_id, source_ids=[]).encode()
            row[3] = [part]
            reply = read_replies((await client.post(Call("le8sX", row))).body).of("le8sX")
            return reply.row if reply.status is None else [reply.status.code]

        assert await update([None, [[first], [second]]]) == []
        assert await update([None, [[first]]]) == []
        assert label.members == [first]
        assert await update([None, [[second]], [[first], [second]]]) == []
        assert label.members == [second]
        assert await update([None, [[third]]]) == await update([None, None, [[third]]]) == []
        assert await update([None, [[NOWHERE]]]) == await update([None, [[first]]], NOWHERE) == []
        assert await update([["Else"]], NOWHERE) == []
        assert (label.name, label.members) == ("Fog", [second])
        assert await update([["Log"]]) == []
        assert (label.name, label.emoji) == ("Log", "🌫️")
        assert await update([[None, ""]]) == []
        assert (label.name, label.emoji) == ("Log", "")
        assert await update([["Fog"], [[first]]]) == [3]
        assert (label.name, label.members) == ("Log", [second])
        del notebook.sources[second]
        (shown,) = (await client.call(labels.LIST, labels.ListLabels(notebook_id=notebook.id))).labels
        assert shown.sources is None
        delete = labels.DeleteLabels(notebook_id=notebook.id, label_ids=[NOWHERE, label.id])
        assert (await client.reply(labels.DELETE, delete)).row == []
        assert notebook.labels == {}


async def test_labels_of_no_notebook_and_of_one_that_may_only_be_read(running) -> None:
    async with running() as (sim, client):
        shown = sim.service.owner.add_notebook("Shown", role=VIEWER)
        assert await client.refusal(labels.LIST, labels.ListLabels(notebook_id=NOWHERE)) == 5
        for notebook, code in ((NOWHERE, 5), (shown.id, 7)):
            for rpc, request in (
                (labels.ORGANIZE, labels.OrganizeSources(notebook_id=notebook, grouping=labels.Grouping())),
                (labels.CREATE, labels.CreateLabel(notebook_id=notebook, name="Fog")),
                (labels.RENAME, labels.RenameLabel(notebook_id=notebook, label_id="l", name="Fog")),
                (labels.ADD, labels.AddToLabel(notebook_id=notebook, label_id="l", source_ids=["s"])),
                (labels.REMOVE, labels.RemoveFromLabel(notebook_id=notebook, label_id="l", source_ids=["s"])),
                (labels.DELETE, labels.DeleteLabels(notebook_id=notebook, label_ids=["l"])),
            ):
                assert await client.refusal(rpc, request) == code


async def test_collections(running) -> None:
    async with running() as (sim, client):
        account = sim.service.owner
        first, second = account.recent()[0].id, account.add_notebook("Second").id
        assert (await client.reply(collections.LIST, collections.ListCollections())).row == []
        without = collections.CreateCollection(name="Lost", context=collections.CONTEXT)
        assert (await client.reply(collections.CREATE, without)).row == []
        made = collections.CreateCollection(name="Made", notebooks=[first])
        row = (await client.reply(collections.CREATE, made)).row
        (made_id,) = account.collections
        assert row == [None, None, [["Made", [first], made_id, ""]]]
        for rpc, request in (
            (collections.RENAME, collections.RenameCollection(collection_id=made_id, name="New")),
            (collections.RENAME, collections.RenameCollection(collection_id=made_id, emoji="📗")),
            (collections.ADD, collections.AddToCollection(collection_id=made_id, notebooks=[second])),
            (collections.ADD, collections.AddToCollection(collection_id=made_id, notebooks=[NOWHERE])),
            (collections.REMOVE, collections.RemoveFromCollection(collection_id=made_id, notebooks=[first])),
            (collections.REMOVE, collections.RemoveFromCollection(collection_id=NOWHERE, notebooks=[second])),
        ):
            assert (await client.reply(rpc, request)).row == []
        listed = (await client.reply(collections.LIST, collections.ListCollections())).row
        assert listed == [None, [["New", [second], made_id, "📗"]]]
        await client.reply(collections.DELETE, collections.DeleteCollections(collection_ids=[NOWHERE, made_id]))
        assert account.collections == {}
