"""Notes: their rows and calls; note-backed mind maps are rows of the same listing. Tools: `reading`, `writing`.

No call reads one note: every tool works from the notebook's listing, in which deleted notes stay as tombstones.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from nlm_cdp.api.common import Empty, RequestContext, Timestamp, legible, named
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.references import Listing
from nlm_cdp.errors import DecodeError
from nlm_cdp.rpc import Effect, Rpc, ToolContext
from nlm_cdp.wire.pblite import Message, Tag, json_cell

TYPES = {1: "note", 2: "saved_answer", 3: "custom", 4: "scratch"}
MIND_MAP_PROMPT = 5
MIND_MAP, SAVED_ANSWER = "mind_map", "saved_answer"
DELETED = 2

# Messages


class NoteMeta(Message):
    """C (three cells, mind maps five); 6 and 7: N (September 2026), 7 not understood."""

    type: Annotated[int, Tag(1)] = 0
    account: Annotated[str | None, Tag(2)] = None
    modified: Annotated[Timestamp | None, Tag(3)] = None
    prompt_type: Annotated[int | None, Tag(4)] = None
    sources: Annotated[list[str] | None, Tag(5, each=(1,))] = None
    created: Annotated[Timestamp | None, Tag(6)] = None
    f7: Annotated[bool | None, Tag(7)] = None


class Note(Message):
    """A mind map's content is its tree, as JSON text."""

    id: Annotated[str, Tag(1)]
    content: Annotated[str | None, Tag(2)] = None
    meta: Annotated[NoteMeta | None, Tag(3)] = None
    title: Annotated[str, Tag(5)] = ""


class NoteRow(Message):
    """A note, or the tombstone of one: `[id,_,2]` (C)."""

    id: Annotated[str, Tag(1)]
    note: Annotated[Note | None, Tag(2)] = None
    state: Annotated[int | None, Tag(3)] = None


class ListNotes(Message):
    """`[nb]` (C); the web app adds the context, and a time to get only what changed since (C); `[nb,_,time,[2]]`: M."""

    notebook_id: Annotated[str, Tag(1)]
    since: Annotated[Timestamp | None, Tag(3)] = None
    context: Annotated[RequestContext | None, Tag(4)] = None


class Notes(Message):
    """`now` is the service's clock."""

    rows: Annotated[list[NoteRow] | None, Tag(1, lenient=True)] = None
    now: Annotated[Timestamp | None, Tag(2)] = None


class CreateNote(Message):
    """The service ignores title and content: a mutation must follow at once (C)."""

    notebook_id: Annotated[str, Tag(1)]
    content: Annotated[str | None, Tag(2)] = ""
    type: Annotated[Literal[1], Tag(3, 1)] = 1
    title: Annotated[str | None, Tag(5)] = None


class SaveMindMap(Message):
    """P and M, and the web app's form. Here the service keeps title and content."""

    notebook_id: Annotated[str, Tag(1)]
    content: Annotated[str, Tag(2)]
    type: Annotated[Literal[2], Tag(3, 1)] = 2
    prompt_type: Annotated[Literal[5], Tag(3, 4)] = 5
    sources: Annotated[list[str], Tag(3, 5, each=(1,))]
    title: Annotated[str, Tag(5)]


class SaveAnswer(Message):
    """P, not recorded. Passages and rich text go back as the chat gave them; the service may choose another title."""

    notebook_id: Annotated[str, Tag(1)]
    content: Annotated[str, Tag(2)]
    type: Annotated[Literal[2], Tag(3, 1)] = 2
    passages: Annotated[list[Any], Tag(4)]
    title: Annotated[str, Tag(5)]
    rich: Annotated[list[Any], Tag(6)]
    f7: Annotated[list[int], Tag(7)] = [2]


class GotNote(Message):
    note: Annotated[Note, Tag(1)]


class NoteChange(Message):
    """Both cells are always set. Not understood: 3 and 4, constants."""

    content: Annotated[str, Tag(1)]
    title: Annotated[str, Tag(2)]
    f3: Annotated[list[Any] | None, Tag(3)] = []
    f4: Annotated[int | None, Tag(4)] = 0


class UpdateNote(Message):
    notebook_id: Annotated[str, Tag(1)]
    note_id: Annotated[str, Tag(2)]
    change: Annotated[NoteChange, Tag(3, 1, 1)]


class DeleteNotes(Message):
    """Three cells (C); M adds `[2]` when it deletes a mind map."""

    notebook_id: Annotated[str, Tag(1)]
    note_ids: Annotated[list[str], Tag(3)]
    context: Annotated[RequestContext | None, Tag(4)] = None


# Calls

LIST = Rpc("cFji9", "GetNotes", ListNotes, Notes, Effect.READ)
CREATE = Rpc("CYK0Xb", "CreateNote", CreateNote, GotNote, Effect.CREATE, variant="note")
SAVE_MIND_MAP = Rpc("CYK0Xb", "CreateNote", SaveMindMap, GotNote, Effect.CREATE, variant="mind-map", grade="P")
SAVE_ANSWER = Rpc("CYK0Xb", "CreateNote", SaveAnswer, GotNote, Effect.CREATE, variant="answer", grade="P")
UPDATE = Rpc("cYAfTb", "MutateNote", UpdateNote, GotNote, Effect.SET)
DELETE = Rpc("AH0mwd", "DeleteNotes", DeleteNotes, Empty, Effect.DELETE)

# Rows


def alive(answer: Notes) -> Listing[Note]:
    """The notes of a listing that are there. Raises Drift where no row of it could be read."""
    rows = legible(answer.rows or [], answer.undecoded)
    notes = {row.note.id: row.note for row in rows if row.note is not None and row.note.content is not None}
    return Listing("note", notes, lambda note: [note.title], list(answer.undecoded))


def unreadable(answer: Notes) -> list[str]:
    """What a listing holds beside notes and plain tombstones, by wire path."""
    odd = [
        f".1 ({row.id}): a note without content"
        for row in answer.rows or []
        if (row.note is None and row.state != DELETED) or (row.note is not None and row.note.content is None)
    ]
    return [*answer.undecoded, *odd]


def kind(row: Note) -> str:
    meta = row.meta or NoteMeta()
    if meta.prompt_type == MIND_MAP_PROMPT or tree(row) is not None:
        return MIND_MAP
    return named(TYPES, meta.type)


def tree(row: Note) -> dict[str, Any] | None:
    """The root `{name, children}` of a mind map; None for a note whose text is no such tree."""
    text = row.content or ""
    if not text.lstrip().startswith("{"):
        return None
    try:
        root = json_cell(text, "mind map")
    except DecodeError:
        return None
    is_tree = isinstance(root.get("name"), str) and isinstance(root.get("children"), list)
    return root if is_tree else None


# References


async def located(ctx: ToolContext, reference: str, notebook: str | None) -> tuple[str, Note]:
    """The notebook and the note meant by a reference; the note is one of that notebook's."""
    where = await notebooks.notebook_id(ctx, notebook)
    return where, (await listing(ctx, where)).meant(reference)


async def listing(ctx: ToolContext, notebook: str) -> Listing[Note]:
    return alive(await ctx.call(LIST, ListNotes(notebook_id=notebook)))
