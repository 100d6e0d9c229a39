"""Notebooks (the wire's Project): their calls, and which one a reference means. Tools: `reading`, `writing`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import model_validator

from nlm_cdp.api.common import SHORT, Empty, Provenance, RequestContext, refuse
from nlm_cdp.api.notebooks.project import ChatSettings, Notebook
from nlm_cdp.api.references import Candidate, meant
from nlm_cdp.rpc import Effect, Path, Rpc, ToolContext
from nlm_cdp.wire import page
from nlm_cdp.wire.chat import Chip
from nlm_cdp.wire.pblite import Bit, Message, Tag

# Messages


class ListNotebooks(Message):
    """`[_,1,_,[2]]`; the web app sends the full context and view options, which nobody has explained (P)."""

    own: Annotated[int | None, Tag(2)] = 1
    audio_ids: Annotated[Bit | None, Tag(3)] = None
    context: Annotated[RequestContext, Tag(4)] = SHORT
    view: Annotated[list[Any], Tag(6)] = []


class Notebooks(Message):
    notebooks: Annotated[list[Notebook] | None, Tag(1, lenient=True)] = None


class CreateNotebook(Message):
    """Today `[title,_,_,CTX]` (P); `[title,_,_,[2],[1]]` in January 2026 (C), `[title,_,_,[2],[1,…]]` from M."""

    title: Annotated[str, Tag(1)] = ""
    context: Annotated[RequestContext, Tag(4)] = RequestContext()
    old_provenance: Annotated[Provenance | None, Tag(5)] = None


class GetNotebook(Message):
    """`[nb,_,CTX,_,0]`; the web app adds view options, and 1 in the fifth cell to force a refresh (P)."""

    notebook_id: Annotated[str, Tag(1)]
    context: Annotated[RequestContext, Tag(3)] = RequestContext()
    refresh: Annotated[int | None, Tag(5)] = 0
    view: Annotated[list[Any], Tag(6)] = []


class GotNotebook(Message):
    notebook: Annotated[Notebook, Tag(1)]


class Rename(Message):
    title: Annotated[str | None, Tag(4, 2)] = None
    emoji: Annotated[str | None, Tag(4, 3)] = None

    @model_validator(mode="after")
    def changes_something(self) -> Rename:
        if self.title is None and self.emoji is None:
            raise ValueError("a rename sets the title or the emoji")
        return self


class RenameNotebook(Message):
    notebook_id: Annotated[str, Tag(1)]
    change: Annotated[Rename, Tag(2, 1)]


class ConfigureChat(Message):
    notebook_id: Annotated[str, Tag(1)]
    settings: Annotated[ChatSettings, Tag(2, 1, 8)]


class SetViewLevel(Message):
    notebook_id: Annotated[str, Tag(1)]
    chat_only: Annotated[Bit, Tag(2, 1, 9, 1, 1)]


class DeleteNotebooks(Message):
    """A list on the wire, but several ids were refused when probed: send one."""

    notebook_ids: Annotated[list[str], Tag(1)]
    context: Annotated[RequestContext, Tag(2)] = SHORT


class GuideNotebook(Message):
    notebook_id: Annotated[str, Tag(1)]
    context: Annotated[RequestContext, Tag(2)] = SHORT


class Topic(Message):
    question: Annotated[str, Tag(1)]
    prompt: Annotated[str, Tag(2)]


class Guide(Message):
    summary: Annotated[str, Tag(1, 1, 1)] = ""
    topics: Annotated[list[Topic], Tag(1, 2, 1)] = []
    chips: Annotated[list[Chip], Tag(1, 6, 1)] = []


# Calls

LIST = Rpc("wXbhsf", "ListRecentlyViewedProjects", ListNotebooks, Notebooks, Effect.READ, path=Path.ACCOUNT)
CREATE = Rpc("CCqFvf", "CreateProject", CreateNotebook, Notebook, Effect.CREATE, path=Path.ACCOUNT)
GET = Rpc("rLM1Ne", "GetProject", GetNotebook, GotNotebook, Effect.READ)
RENAME = Rpc("s0tc2d", "MutateProject", RenameNotebook, Notebook, Effect.SET, variant="rename")
CONFIGURE_CHAT = Rpc("s0tc2d", "MutateProject", ConfigureChat, Notebook, Effect.SET, variant="chat")
SET_VIEW_LEVEL = Rpc("s0tc2d", "MutateProject", SetViewLevel, Notebook, Effect.SET, variant="view")
DELETE = Rpc("WWINqb", "DeleteProjects", DeleteNotebooks, Empty, Effect.DELETE, path=Path.ACCOUNT)
GUIDE = Rpc("VfAZjd", "GenerateNotebookGuide", GuideNotebook, Guide, Effect.READ, null=True, timeout=60.0)

# References


async def notebook_id(ctx: ToolContext, reference: str | None) -> str:
    """The id of the notebook meant; without a reference, the selected one."""
    if reference is None:
        active = await ctx.store.active_notebook()
        if active is None:
            raise refuse(
                "no notebook was named and none is selected", "Name a notebook, or call select_notebook first."
            )
        return active
    if reference.startswith(("http://", "https://")):
        found = page.notebook_id(reference) if page.is_app(reference) else None
        if found is None:
            raise refuse("this URL is not a notebook of the app", "Use the address a notebook tab shows.")
        return found
    if is_id(reference):
        return reference
    if (named := await ctx.store.library.named(reference)) is not None:
        return named
    answer = await ctx.call(LIST, ListNotebooks())
    candidates = [Candidate(row.id, row.title) for row in answer.notebooks or []]
    return meant(reference, candidates, "notebook", answer.undecoded)


def is_id(text: str) -> bool:
    """Whether a text has the shape of the service's ids."""
    parts = text.split("-")
    return [len(part) for part in parts] == [8, 4, 4, 4, 12] and all(c in "0123456789abcdefABCDEF-" for c in text)


async def get(ctx: ToolContext, notebook: str, *, refresh: bool = False) -> GotNotebook:
    """The notebook with its sources. Its `sources` are complete or listed in `undecoded`."""
    return await ctx.call(GET, GetNotebook(notebook_id=notebook, refresh=int(refresh)))
