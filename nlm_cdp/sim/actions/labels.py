"""Actions on labels of sources, and on collections of notebooks."""

from __future__ import annotations

from nlm_cdp.api.labels import collections
from nlm_cdp.api.labels import labels as api
from nlm_cdp.sim.actions import preparing
from nlm_cdp.sim.actions.action import WEB, Action, Made
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account

# Labels


def create(account: Account, notebook: Notebook) -> Made:
    return api.CreateLabel(notebook_id=notebook.id, name="Lighthouses", emoji="👩‍🔬"), notebook.id


def rename(account: Account, notebook: Notebook) -> Made:
    label = preparing.label(account, notebook)
    return api.RenameLabel(notebook_id=notebook.id, label_id=label.id, name="Lamps", emoji="🔦"), notebook.id


def set_emoji(account: Account, notebook: Notebook) -> Made:
    label = preparing.label(account, notebook)
    return api.RenameLabel(notebook_id=notebook.id, label_id=label.id, emoji="🚀"), notebook.id


def add(account: Account, notebook: Notebook) -> Made:
    label, source = preparing.label(account, notebook), preparing.source(account, notebook)
    return api.AddToLabel(notebook_id=notebook.id, label_id=label.id, source_ids=[source.id]), notebook.id


def remove(account: Account, notebook: Notebook) -> Made:
    source = preparing.source(account, notebook).id
    label = preparing.joined(preparing.label(account, notebook), source)
    return api.RemoveFromLabel(notebook_id=notebook.id, label_id=label.id, source_ids=[source]), notebook.id


def organize(account: Account, notebook: Notebook) -> Made:
    return api.OrganizeSources(notebook_id=notebook.id, grouping=api.Grouping(everything=False)), notebook.id


def reorganize(account: Account, notebook: Notebook) -> Made:
    return api.OrganizeSources(notebook_id=notebook.id, grouping=api.Grouping(everything=True)), notebook.id


def list_labels(account: Account, notebook: Notebook) -> Made:
    preparing.label(account, notebook)
    return api.ListLabels(context=WEB, notebook_id=notebook.id), notebook.id


def delete(account: Account, notebook: Notebook) -> Made:
    doomed = account.add_label(notebook.labels, "Doomed")
    return api.DeleteLabels(notebook_id=notebook.id, label_ids=[doomed.id]), notebook.id


# Collections


def rename_collection(account: Account, notebook: Notebook) -> Made:
    return collections.RenameCollection(collection_id=preparing.collection(account).id, name="To read"), None


def add_to_collection(account: Account, notebook: Notebook) -> Made:
    found = preparing.collection(account)
    return collections.AddToCollection(collection_id=found.id, notebooks=[notebook.id]), None


def list_collections(account: Account, notebook: Notebook) -> Made:
    preparing.collection(account)
    return collections.ListCollections(), None


def remove_from_collection(account: Account, notebook: Notebook) -> Made:
    found = preparing.joined(preparing.collection(account), notebook.id)
    return collections.RemoveFromCollection(collection_id=found.id, notebooks=[notebook.id]), None


def delete_collection(account: Account, notebook: Notebook) -> Made:
    doomed = account.add_label(account.collections, "Doomed")
    return collections.DeleteCollections(collection_ids=[doomed.id]), None


ACTIONS = (
    Action("create-label", "Create a label", api.CREATE, create),
    Action("emoji-label", "Give a label an emoji", api.RENAME, set_emoji),
    Action("rename-label", "Rename a label", api.RENAME, rename),
    Action("add-to-label", "Label a source", api.ADD, add),
    Action("reorganize-sources", "Sort all sources anew", api.ORGANIZE, reorganize),
    Action("organize-sources", "Sort unlabelled sources", api.ORGANIZE, organize),
    Action("remove-from-label", "Unlabel a source", api.REMOVE, remove),
    Action("list-labels", "List labels", api.LIST, list_labels),
    Action(
        "create-collection",
        "Create a collection",
        collections.CREATE,
        lambda _, __: (collections.CreateCollection(name="Reading"), None),
    ),
    Action("rename-collection", "Rename a collection", collections.RENAME, rename_collection),
    Action("add-to-collection", "Add to a collection", collections.ADD, add_to_collection),
    Action("list-collections", "List collections", collections.LIST, list_collections),
    Action("remove-from-collection", "Remove from a collection", collections.REMOVE, remove_from_collection),
)
ENDINGS = (
    Action("delete-label", "Delete a label", api.DELETE, delete),
    Action("delete-collection", "Delete a collection", collections.DELETE, delete_collection),
)
