"""Samples of the label calls, those on collections among them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nlm_cdp.api import labels as api
from nlm_cdp.api import notebook_collections as collections
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account

if TYPE_CHECKING:
    from tools.samples import Sample


def samples(account: Account, notebook: Notebook) -> Iterator[Sample]:
    source = next(iter(notebook.sources))
    yield api.CREATE, api.CreateLabel(notebook_id=notebook.id, name="Lighthouses", emoji="👩‍🔬"), notebook.id
    label = next(iter(notebook.labels))
    rename = api.RenameLabel(notebook_id=notebook.id, label_id=label, name="Lamps", emoji="🔦")
    yield api.RENAME, rename, notebook.id
    yield api.ADD, api.AddToLabel(notebook_id=notebook.id, label_id=label, source_ids=[source]), notebook.id
    grouping = api.Grouping(everything=False)
    yield api.ORGANIZE, api.OrganizeSources(notebook_id=notebook.id, grouping=grouping), notebook.id
    yield api.REMOVE, api.RemoveFromLabel(notebook_id=notebook.id, label_id=label, source_ids=[source]), notebook.id
    yield api.LIST, api.ListLabels(notebook_id=notebook.id), notebook.id
    yield api.DELETE, api.DeleteLabels(notebook_id=notebook.id, label_ids=[label]), notebook.id
    yield from of_collections(account, notebook)


def of_collections(account: Account, notebook: Notebook) -> Iterator[Sample]:
    yield collections.CREATE, collections.CreateCollection(name="Reading"), None
    made = next(iter(account.collections))
    yield collections.RENAME, collections.RenameCollection(collection_id=made, name="To read"), None
    yield collections.ADD, collections.AddToCollection(collection_id=made, notebooks=[notebook.id]), None
    yield collections.LIST, collections.ListCollections(), None
    yield collections.REMOVE, collections.RemoveFromCollection(collection_id=made, notebooks=[notebook.id]), None
    yield collections.DELETE, collections.DeleteCollections(collection_ids=[made]), None
