"""Collections: groups of notebooks, made with the label calls under type 3. Declared so that traffic is understood."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import model_validator

from nlm_cdp.api.common import Empty, Provenance, RequestContext
from nlm_cdp.rpc import A, Effect, Path, Q, Rpc
from nlm_cdp.wire.pblite import Message, Tag

CONTEXT = RequestContext(provenance=Provenance(flags=[1, 3]))
CREATING = RequestContext(capabilities=[1], provenance=Provenance(flags=[1, 3]))
"""Without the capability nothing is created (N); M sends this form with every call on collections."""


class Collection(Message):
    """C. Members are bare ids."""

    name: Annotated[str, Tag(1)] = ""
    notebooks: Annotated[list[str] | None, Tag(2)] = None
    id: Annotated[str, Tag(3)]
    emoji: Annotated[str, Tag(4)] = ""


class ListCollections(Message):
    context: Annotated[RequestContext, Tag(1)] = CONTEXT
    type: Annotated[Literal[3], Tag(3)] = 3


class Collections(Message):
    collections: Annotated[list[Collection] | None, Tag(2, lenient=True)] = None


class CollectionSet(Message):
    """M: all collections, as they are after a creation."""

    collections: Annotated[list[Collection] | None, Tag(3, lenient=True)] = None


class CreateCollection(Message):
    """P sends the name alone, M also members."""

    context: Annotated[RequestContext, Tag(1)] = CREATING
    name: Annotated[str, Tag(6, 1, 1)]
    emoji: Annotated[str | None, Tag(6, 1, 2)] = None
    notebooks: Annotated[list[str] | None, Tag(6, 3)] = None
    type: Annotated[Literal[3], Tag(7)] = 3


class MutateCollection(Message):
    context: Annotated[RequestContext, Tag(1)] = CONTEXT
    collection_id: Annotated[str, Tag(3)]
    type: Annotated[Literal[3], Tag(5)] = 3


class RenameCollection(MutateCollection):
    """`[name]` keeps the emoji (N)."""

    name: Annotated[str | None, Tag(4, 1, 1, 1)] = None
    emoji: Annotated[str | None, Tag(4, 1, 1, 2)] = None

    @model_validator(mode="after")
    def changes_something(self) -> RenameCollection:
        if self.name is None and self.emoji is None:
            raise ValueError("a rename sets the name or the emoji")
        return self


class AddToCollection(MutateCollection):
    """P: only the first id counts; M sends several. Not understood: the second group, always empty."""

    notebooks: Annotated[list[str], Tag(4, 1, 4, 1)]
    rest: Annotated[Empty | None, Tag(4, 2)] = Empty()


class RemoveFromCollection(MutateCollection):
    notebooks: Annotated[list[str], Tag(4, 1, 5, 1)]
    rest: Annotated[Empty | None, Tag(4, 2)] = Empty()


class DeleteCollections(Message):
    context: Annotated[RequestContext, Tag(1)] = CONTEXT
    collection_ids: Annotated[list[str], Tag(3)]
    type: Annotated[Literal[3], Tag(4)] = 3


def call(
    id: str, method: str, request: type[Q], response: type[A], effect: Effect, *, variant: str, grade: str = "P"
) -> Rpc[Q, A]:
    return Rpc(id, method, request, response, effect, path=Path.ACCOUNT, variant=variant, grade=grade)


LIST = call("I3xc3c", "GetLabels", ListCollections, Collections, Effect.READ, variant="collections", grade="N")
CREATE = call("agX4Bc", "CreateLabel", CreateCollection, CollectionSet, Effect.CREATE, variant="collection")
RENAME = call("le8sX", "MutateLabel", RenameCollection, Empty, Effect.SET, variant="collection-name")
ADD = call("le8sX", "MutateLabel", AddToCollection, Empty, Effect.CREATE, variant="collection-add")
REMOVE = call("le8sX", "MutateLabel", RemoveFromCollection, Empty, Effect.SET, variant="collection-remove")
DELETE = call("GyzE7e", "DeleteLabels", DeleteCollections, Empty, Effect.DELETE, variant="collections")
