"""What can be added to a notebook, on the wire, and the call that adds it."""

from __future__ import annotations

from typing import Annotated

from pydantic import model_validator

from nlm_cdp.api.common import Provenance, RequestContext
from nlm_cdp.api.sources.rows import Source
from nlm_cdp.rpc import Effect, Rpc
from nlm_cdp.wire.pblite import Message, Tag

# Messages


class DriveFile(Message):
    file_id: Annotated[str, Tag(1)]
    mime: Annotated[str, Tag(2)]
    f3: Annotated[int | None, Tag(3)] = 1
    title: Annotated[str | None, Tag(4)] = None


class Text(Message):
    title: Annotated[str, Tag(1)]
    content: Annotated[str, Tag(2)]


TEXT_CONTENT = 2


class PlayBook(Message):
    """N; only the asynchronous call takes one."""

    provider: Annotated[int, Tag(1)] = 1
    content_id: Annotated[str, Tag(2)]
    title: Annotated[str | None, Tag(3)] = None
    description: Annotated[str | None, Tag(4)] = None  # HTML
    cover_url: Annotated[str | None, Tag(5)] = None
    rating: Annotated[float | None, Tag(6)] = None
    authors: Annotated[list[str] | None, Tag(7)] = None


class Content(Message):
    """One source to add (UserContent): exactly one of its kinds. `marker` is 1 since 2026 (C)."""

    drive: Annotated[DriveFile | None, Tag(1)] = None
    text: Annotated[Text | None, Tag(2)] = None
    web: Annotated[str | None, Tag(3, 1)] = None
    text_type: Annotated[int | None, Tag(4)] = None
    video: Annotated[str | None, Tag(8, 1)] = None
    marker: Annotated[int | None, Tag(11)] = 1
    book: Annotated[PlayBook | None, Tag(16)] = None

    @model_validator(mode="after")
    def is_one_thing(self) -> Content:
        if sum(part is not None for part in (self.drive, self.text, self.web, self.video, self.book)) != 1:
            raise ValueError("exactly one of drive, text, web, video, book")
        return self


class AddSources(Message):
    """Today `[specs, nb, CTX]` (P, since mid-2026); January's tails `[2],_,_` and `[2],[1,…]` still occur (C, M).

    With a Drive file, both maintained clients send the latter to this day.
    """

    contents: Annotated[list[Content], Tag(1)]
    notebook_id: Annotated[str, Tag(2)]
    context: Annotated[RequestContext, Tag(3)] = RequestContext()
    old_provenance: Annotated[Provenance | None, Tag(4)] = None


class Added(Message):
    sources: Annotated[list[Source] | None, Tag(1, lenient=True)] = None


ADD = Rpc("izAoDd", "AddSources", AddSources, Added, Effect.CREATE, timeout=120.0)
