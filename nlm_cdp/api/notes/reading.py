"""Notes, list and read, and how every tool shows one."""

from __future__ import annotations

from nlm_cdp.api.chat.citations import shortened
from nlm_cdp.api.common import Limit, MaxChars, NotebookArgs, Offset, Page, iso, text_window, window
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.notes import notes
from nlm_cdp.api.notes.notes import LIST
from nlm_cdp.api.provenance import OriginField, provenance
from nlm_cdp.rpc import Args, Effect, Result, Scope, ToolContext, tool

# Results


class NoteInfo(Result):
    id: str
    title: str
    kind: str
    preview: str
    chars: int
    modified: str | None = None


class NoteList(Page[NoteInfo]):
    notebook_id: str
    notes: list[NoteInfo]
    origin: OriginField


class NoteResult(Result):
    notebook_id: str
    note: NoteInfo
    origin: OriginField


class NoteContent(NoteResult):
    content: str
    total_chars: int
    has_more: bool


def info(row: notes.Note) -> NoteInfo:
    meta, content = row.meta or notes.NoteMeta(), row.content or ""
    return NoteInfo(
        id=row.id,
        title=row.title,
        kind=notes.kind(row),
        preview=preview(row),
        chars=len(content),
        modified=iso(meta.modified),
    )


def preview(row: notes.Note) -> str:
    """The beginning of the text; of a mind map, its root and the branches below."""
    root = notes.tree(row)
    if root is None:
        return shortened(row.content or "")
    branches = [str(child["name"]) for child in root["children"] if isinstance(child, dict) and "name" in child]
    return shortened(f"{root['name']}: {', '.join(branches)}" if branches else root["name"])


def written_by_ai(row: NoteInfo) -> bool:
    return row.kind in (notes.MIND_MAP, notes.SAVED_ANSWER)


def note_result(ctx: ToolContext, notebook: str, row: notes.Note) -> NoteResult:
    note = info(row)
    origin = provenance(ctx, note.preview, ai_generated=written_by_ai(note))
    return NoteResult(notebook_id=notebook, note=note, origin=origin)


# Tools


class ListArgs(NotebookArgs):
    query: str | None = None
    limit: Limit = 50
    offset: Offset = 0


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(LIST,))
async def list_notes(ctx: ToolContext, args: ListArgs) -> NoteList:
    """List a notebook's notes and saved mind maps."""
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    answer = await ctx.call(LIST, notes.ListNotes(notebook_id=notebook))
    wanted = (args.query or "").casefold()
    rows = [row for row in notes.alive(answer).rows.values() if wanted in f"{row.title}\n{row.content}".casefold()]
    shown, counts = window(rows, args.limit, args.offset)
    found = [info(row) for row in shown]
    return NoteList(
        notebook_id=notebook,
        notes=found,
        undecoded=notes.unreadable(answer) or None,
        origin=provenance(ctx, "\n".join(note.preview for note in found), ai_generated=any(map(written_by_ai, found))),
        **counts,
    )


class GetArgs(Args):
    note: str
    notebook: str | None = None
    offset: Offset = 0
    max_chars: MaxChars = 20_000


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(LIST,))
async def get_note(ctx: ToolContext, args: GetArgs) -> NoteContent:
    """A note's text, or a mind map's tree as JSON."""
    notebook, row = await notes.located(ctx, args.note, args.notebook)
    note = info(row)
    shown, counts = text_window(row.content or "", args.offset, args.max_chars)
    return NoteContent(
        notebook_id=notebook,
        note=note,
        content=shown,
        origin=provenance(ctx, shown, ai_generated=written_by_ai(note)),
        **counts,
    )
