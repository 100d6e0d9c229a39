"""What the product can do: one module per noun, holding its messages, its calls and its tools.

`RPCS` and `TOOLS` are collected from an explicit list; nothing registers itself.
"""

from __future__ import annotations

from typing import Any

from nlm_cdp.api import (
    account,
    adding,
    asking,
    chat,
    conversation,
    creation,
    curating,
    downloading,
    elements,
    following,
    freshness,
    generating,
    granting,
    importing,
    labelling,
    labels,
    language,
    library,
    managing,
    notebook_collections,
    notebooks,
    notes,
    noting,
    research,
    researching,
    reworking,
    saving,
    searching,
    sessions,
    sharing,
    sources,
    steering,
    studio,
    suggesting,
    system,
    upkeep,
    uploading,
    webapp,
)
from nlm_cdp.errors import DecodeError
from nlm_cdp.rpc import Rpc, Tool
from nlm_cdp.wire.pblite import Row, unclaimed

MODULES = (
    notebooks,
    managing,
    sources,
    adding,
    uploading,
    searching,
    freshness,
    upkeep,
    webapp,
    labels,
    labelling,
    notebook_collections,
    chat,
    asking,
    conversation,
    saving,
    steering,
    sessions,
    notes,
    noting,
    studio,
    generating,
    reworking,
    curating,
    downloading,
    suggesting,
    creation,
    elements,
    research,
    researching,
    following,
    importing,
    sharing,
    granting,
    library,
    account,
    language,
    system,
)

RPCS: tuple[Rpc[Any, Any], ...] = tuple(
    {id(item): item for module in MODULES for item in vars(module).values() if isinstance(item, Rpc)}.values()
)
TOOLS: dict[str, Tool[Any, Any]] = {
    item.name: item
    for module in MODULES
    for item in sorted((item for item in vars(module).values() if isinstance(item, Tool)), key=lambda item: item.order)
}
RENAMED: dict[str, str] = {was: item.name for item in TOOLS.values() for was in item.was}


def variants(rpc: str) -> list[Rpc[Any, Any]]:
    """The declared calls of one wire id."""
    return [item for item in RPCS if item.id == rpc]


def classify(rpc: str, row: Row) -> Rpc[Any, Any] | None:
    """The call whose request reads this row with nothing left over; None if there is none, or more than one."""
    claiming = [item for item in variants(rpc) if leftover(item, row) == []]
    return claiming[0] if len(claiming) == 1 else None


def leftover(item: Rpc[Any, Any], row: Row) -> list[str] | None:
    """What a call's request model leaves unclaimed in a row; None when it does not read it."""
    try:
        item.request.decode(row)
    except DecodeError:
        return None
    return list(unclaimed(item.request, row))
