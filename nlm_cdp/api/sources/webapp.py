"""Calls about sources that no tool makes: declared so that what the web app and other clients send is recognised."""

from __future__ import annotations

from typing import Annotated, Literal

from nlm_cdp.api.common import Empty, RequestContext, Timestamp
from nlm_cdp.api.sources.additions import Added, AddSources
from nlm_cdp.api.sources.rows import Source
from nlm_cdp.rpc import Effect, Path, Rpc
from nlm_cdp.wire.pblite import Bit, Message, Tag

# Adding in the background (N)


class Acknowledged(Message):
    """Not understood: 2, always 0."""

    source: Annotated[Source, Tag(1)]
    f2: Annotated[int | None, Tag(2)] = None


class Started(Message):
    """Rows with nothing but id, title or address, and type; the sources are ready some time later."""

    sources: Annotated[list[Source] | None, Tag(1, lenient=True)] = None
    acknowledged: Annotated[list[Acknowledged], Tag(3)] = []


ADD_ASYNC = Rpc("X1snv", "AddSourcesAsync", AddSources, Started, Effect.CREATE, grade="N")

# Adding by another call, or asking what the account may use (M, doubtful)


class Entry(Message):
    """627 is the product."""

    text: Annotated[str, Tag(1, 2)]
    product: Annotated[int, Tag(1, 3)]
    f3: Annotated[int | None, Tag(3)] = None


class AddEntry(Entry):
    kind: Annotated[Literal[1], Tag(2, 10, 3)] = 1


class TierEntry(Entry):
    kind: Annotated[Literal[2], Tag(2, 10, 3)] = 2


class AddEntries(Message):
    entries: Annotated[list[AddEntry], Tag(1)]


class AskTier(Message):
    entries: Annotated[list[TierEntry], Tag(1)]


ADD_ENTRIES = Rpc("ozz5Z", "Entitlements", AddEntries, Added, Effect.CREATE, variant="sources", null=True, grade="M")
ASK_TIER = Rpc("ozz5Z", "Entitlements", AskTier, Empty, Effect.READ, path=Path.ACCOUNT, variant="tier", grade="M")
"""The answer's shape is not known, except that it names the tier somewhere."""

# Copying to another notebook (P)


class CopySources(Message):
    source_ids: Annotated[list[str], Tag(3, each=(1,))]
    target_id: Annotated[str, Tag(4)]


class CopiedSource(Message):
    original_id: Annotated[str, Tag(1, 1)]
    source: Annotated[Source, Tag(2)]


class CopiedSources(Message):
    copies: Annotated[list[CopiedSource] | None, Tag(1, lenient=True)] = None


COPY_SOURCES = Rpc("R27wvc", "CopySourcesAsync", CopySources, CopiedSources, Effect.CREATE, grade="P")

# Play Books (N)


class ListBooks(Message):
    """Not understood: 2."""

    f2: Annotated[int | None, Tag(2)] = 1


class Book(Message):
    content_id: Annotated[str, Tag(1)]
    provider: Annotated[int | None, Tag(2)] = None
    title: Annotated[str | None, Tag(3)] = None
    description: Annotated[str | None, Tag(4)] = None  # HTML
    cover_url: Annotated[str | None, Tag(5)] = None
    export_disabled: Annotated[Bit | None, Tag(6)] = None
    reason: Annotated[str | int | None, Tag(7)] = None
    authors: Annotated[list[str] | None, Tag(8)] = None
    rating: Annotated[float | None, Tag(9)] = None
    at: Annotated[Timestamp | None, Tag(10)] = None


class Books(Message):
    books: Annotated[list[Book] | None, Tag(1, lenient=True)] = None


LIST_BOOKS = Rpc(
    "mVtEUb", "ListExpertIntelligenceContent", ListBooks, Books, Effect.READ, path=Path.ACCOUNT, null=True, grade="N"
)

# How the source panel is shown (M)


class SetSourcePanel(Message):
    """View 1 by labels, 2 as a list; the mask names the setting that is changed."""

    notebook_id: Annotated[str, Tag(2)]
    view: Annotated[int, Tag(3, 2, 2)]
    mask: Annotated[list[str], Tag(4, 1)] = ["notebook_lm_state.saved_source_panel_view"]


SET_SOURCE_PANEL = Rpc("LQhfEb", "MutateNotebookState", SetSourcePanel, Empty, Effect.SET, grade="M")

# Known by their requests alone (M): nobody has described an answer, and the method names are ours


class OpenHome(Message):
    context: Annotated[RequestContext, Tag(1)] = RequestContext()


OPEN_HOME = Rpc("ub2Bae", "OpenHome", OpenHome, Empty, Effect.READ, path=Path.ACCOUNT, null=True, grade="M")
"""The app sends it when a page loads; what it is for is not known."""


class ListLocation(Message):
    """The enterprise edition's list; `location` is `projects/P/locations/L`. Not understood: 4."""

    location: Annotated[str, Tag(1)]
    f4: Annotated[int | None, Tag(4)] = 1


LIST_LOCATION = Rpc("rG2vCb", "ListLocation", ListLocation, Empty, Effect.READ, path=Path.ACCOUNT, null=True, grade="M")
