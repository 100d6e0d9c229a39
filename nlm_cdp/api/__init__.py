"""What the product can do: one package per noun, whose modules hold its messages, its calls and its tools.

The module named like its noun has the calls, and what a reference means; `reading` and `writing` have the tools that
do that, and what else a noun can do has a module each. What several nouns share is in `common`, `references`, `writes`
and `provenance`.

`RPCS` and `TOOLS` are collected from an explicit list; nothing registers itself.
"""

from __future__ import annotations

from typing import Any

from nlm_cdp.api import library, system
from nlm_cdp.api.account import account, language
from nlm_cdp.api.chat import asking, chat, conversation, questions, saving, sessions, settings
from nlm_cdp.api.labels import collections, editing, labels
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.notebooks import reading as reading_notebooks
from nlm_cdp.api.notebooks import writing as writing_notebooks
from nlm_cdp.api.notes import notes
from nlm_cdp.api.notes import reading as reading_notes
from nlm_cdp.api.notes import writing as writing_notes
from nlm_cdp.api.research import following, importing, research, starting
from nlm_cdp.api.sharing import granting, sharing
from nlm_cdp.api.sources import adding, additions, freshness, searching, sources, updating, uploading, webapp
from nlm_cdp.api.sources import reading as reading_sources
from nlm_cdp.api.sources import writing as writing_sources
from nlm_cdp.api.studio import creation, curating, downloading, elements, generating, reworking, studio, suggesting
from nlm_cdp.api.studio import reading as reading_studio
from nlm_cdp.errors import DecodeError
from nlm_cdp.rpc import Rpc, Tool
from nlm_cdp.wire.pblite import Row, unclaimed

MODULES = (
    notebooks,
    reading_notebooks,
    writing_notebooks,
    sources,
    reading_sources,
    writing_sources,
    additions,
    adding,
    uploading,
    searching,
    freshness,
    updating,
    webapp,
    labels,
    editing,
    collections,
    chat,
    asking,
    conversation,
    saving,
    settings,
    questions,
    sessions,
    notes,
    reading_notes,
    writing_notes,
    studio,
    reading_studio,
    generating,
    reworking,
    curating,
    downloading,
    suggesting,
    creation,
    elements,
    research,
    starting,
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
