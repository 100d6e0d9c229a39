"""The calls about labels of sources and collections of notebooks, answered from the state.

As the service does, they pass over what they do not know and take the first id of several, both without a word.
"""

from __future__ import annotations

from typing import Any

from nlm_cdp.api.common import Empty
from nlm_cdp.api.labels import collections
from nlm_cdp.api.labels import labels as api
from nlm_cdp.sim.answers import NOT_FOUND, Handler, Refusal
from nlm_cdp.sim.notebooks import changeable
from nlm_cdp.sim.records import MARKDOWN, TEXT, VIDEO, WEB_PAGE, Label, Notebook
from nlm_cdp.sim.state import Account

TOPICS = {TEXT: ("Texts", "📝"), MARKDOWN: ("Papers", "📄"), WEB_PAGE: ("Web pages", "🌐"), VIDEO: ("Videos", "🎬")}
OTHER = ("Other", "")

# Labels


def list_labels(account: Account, request: api.ListLabels) -> api.Labels | Refusal:
    notebook = account.notebooks.get(request.notebook_id)
    if notebook is None:
        return Refusal(NOT_FOUND)
    return api.Labels(labels=rows(notebook) or None)


def rows(notebook: Notebook) -> list[api.Label]:
    """Every label with the sources that are still there; null for none."""
    return [
        api.Label(
            name=label.name,
            sources=[source for source in label.members if source in notebook.sources] or None,
            id=label.id,
            emoji=label.emoji,
        )
        for label in notebook.labels.values()
    ]


def organize(account: Account, request: api.OrganizeSources) -> api.LabelSet | Refusal:
    """Labels by the kind of source. Without a flag, what is there stays, and only what is not there is made."""
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    if request.grouping.everything:
        notebook.labels.clear()
    if request.grouping.everything is not None or not notebook.labels:
        labelled = {source for label in notebook.labels.values() for source in label.members}
        for source in notebook.sources.values():
            if source.id not in labelled:
                topic(account, notebook, source.type).members.append(source.id)
    return api.LabelSet(labels=rows(notebook) or None)


def topic(account: Account, notebook: Notebook, source_type: int) -> Label:
    name, emoji = TOPICS.get(source_type, OTHER)
    found = next((label for label in notebook.labels.values() if label.name == name), None)
    return found or account.add_label(notebook.labels, name, emoji)


def create(account: Account, request: api.CreateLabel) -> api.LabelSet | Refusal:
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    account.add_label(notebook.labels, request.name, request.emoji or "")
    return api.LabelSet(labels=rows(notebook))


def changed(account: Account, request: api.RenameLabel | api.AddToLabel | api.RemoveFromLabel) -> Label | Refusal:
    """The label to change; one to throw away where the service knows none, because it says nothing then."""
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    return notebook.labels.get(request.label_id) or Label(request.label_id, "")


def rename(account: Account, request: api.RenameLabel) -> Empty | Refusal:
    label = changed(account, request)
    return label if isinstance(label, Refusal) else renamed(label, request.name, request.emoji)


def renamed(label: Label, name: str | None, emoji: str | None) -> Empty:
    """A part that was left out stays as it is."""
    label.name = label.name if name is None else name
    label.emoji = label.emoji if emoji is None else emoji
    return Empty()


def add(account: Account, request: api.AddToLabel) -> Empty | Refusal:
    label = changed(account, request)
    if isinstance(label, Refusal):
        return label
    known = account.notebooks[request.notebook_id].sources
    joined(label, [source for source in request.source_ids[:1] if source in known])
    return left(label, request.removed or [])


def joined(label: Label, members: list[str]) -> Empty:
    label.members += [member for member in members[:1] if member not in label.members]
    return Empty()


def left(label: Label, members: list[str]) -> Empty:
    label.members = [member for member in label.members if member not in members[:1]]
    return Empty()


def remove(account: Account, request: api.RemoveFromLabel) -> Empty | Refusal:
    label = changed(account, request)
    return label if isinstance(label, Refusal) else left(label, request.source_ids)


def delete(account: Account, request: api.DeleteLabels) -> Empty | Refusal:
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    for label_id in request.label_ids:
        notebook.labels.pop(label_id, None)
    return Empty()


# Collections


def collection_rows(account: Account) -> list[collections.Collection]:
    return [
        collections.Collection(
            name=label.name,
            notebooks=[notebook for notebook in label.members if notebook in account.notebooks] or None,
            id=label.id,
            emoji=label.emoji,
        )
        for label in account.collections.values()
    ]


def list_collections(account: Account, request: collections.ListCollections) -> collections.Collections:
    return collections.Collections(collections=collection_rows(account) or None)


def create_collection(account: Account, request: collections.CreateCollection) -> collections.CollectionSet:
    """Without its capability in the context, nothing is created."""
    if request.context.capabilities:
        label = account.add_label(account.collections, request.name, request.emoji or "")
        label.members = list(request.notebooks or [])
    return collections.CollectionSet(collections=collection_rows(account) or None)


def collection(account: Account, collection_id: str) -> Label:
    """The collection to change; one to throw away where there is none."""
    return account.collections.get(collection_id) or Label(collection_id, "")


def rename_collection(account: Account, request: collections.RenameCollection) -> Empty:
    return renamed(collection(account, request.collection_id), request.name, request.emoji)


def add_to_collection(account: Account, request: collections.AddToCollection) -> Empty:
    known = [notebook for notebook in request.notebooks[:1] if notebook in account.notebooks]
    return joined(collection(account, request.collection_id), known)


def remove_from_collection(account: Account, request: collections.RemoveFromCollection) -> Empty:
    return left(collection(account, request.collection_id), request.notebooks)


def delete_collections(account: Account, request: collections.DeleteCollections) -> Empty:
    for collection_id in request.collection_ids:
        account.collections.pop(collection_id, None)
    return Empty()


HANDLERS: tuple[Handler[Any, Any], ...] = (
    Handler(api.LIST, list_labels),
    Handler(api.ORGANIZE, organize),
    Handler(api.CREATE, create),
    Handler(api.RENAME, rename),
    Handler(api.ADD, add),
    Handler(api.REMOVE, remove),
    Handler(api.DELETE, delete),
    Handler(collections.LIST, list_collections),
    Handler(collections.CREATE, create_collection),
    Handler(collections.RENAME, rename_collection),
    Handler(collections.ADD, add_to_collection),
    Handler(collections.REMOVE, remove_from_collection),
    Handler(collections.DELETE, delete_collections),
)
