"""Writing notes: create, change, delete. What a lost reply leaves in doubt is looked up in the notebook's listing."""

from __future__ import annotations

from pydantic import Field

from nlm_cdp.api import writes
from nlm_cdp.api.common import refuse
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.notes import notes
from nlm_cdp.api.notes.notes import CREATE, DELETE, LIST, MIND_MAP, UPDATE, Note
from nlm_cdp.api.notes.reading import NoteResult, note_result
from nlm_cdp.api.writes import Deleted, afterwards, in_doubt
from nlm_cdp.errors import NlmError
from nlm_cdp.rpc import Args, Effect, Scope, ToolContext, tool


class CreateArgs(Args):
    title: str = Field(min_length=1)
    content: str
    notebook: str | None = None


@tool(scope=Scope.WRITE, effect=Effect.CREATE, rpcs=(CREATE, UPDATE, LIST))
async def create_note(ctx: ToolContext, args: CreateArgs) -> NoteResult:
    """Write a note into a notebook."""
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    try:
        made = (await ctx.call(CREATE, notes.CreateNote(notebook_id=notebook, title=args.title))).note
    except NlmError as exc:
        raise await after_lost_create(ctx, notebook, in_doubt(exc)) from None
    try:
        row = await write(ctx, notebook, made.id, args.title, args.content)
    except NlmError as exc:
        exc.details["created"] = made.id
        exc.hint = "Finish it with update_note; creating it again would make a second one."
        raise exc.also("The note itself was created: its id is in details.") from None
    return note_result(ctx, notebook, row)


async def after_lost_create(ctx: ToolContext, notebook: str, lost: NlmError) -> NlmError:
    """A note whose reply is lost stands empty in the listing; which of the empty ones it is, nobody can tell."""
    now = await afterwards(lost, "notes", notes.listing(ctx, notebook))
    empty = [row.id for row in now.rows.values() if not row.content]
    lost.details["empty_notes"] = empty
    lost.hint = (
        "Empty notes are there (details.empty_notes): if one of them is new, finish it with update_note."
        if empty
        else "No empty note is there; look again in a minute before you try again."
    )
    return lost


async def write(ctx: ToolContext, notebook: str, note_id: str, title: str, content: str) -> Note:
    """Set a note's title and content. After a lost reply, what stands in the listing is what happened."""
    change = notes.NoteChange(content=content, title=title)
    try:
        return (await ctx.call(UPDATE, notes.UpdateNote(notebook_id=notebook, note_id=note_id, change=change))).note
    except NlmError as exc:
        lost = in_doubt(exc)
    stored = (await afterwards(lost, "notes", notes.listing(ctx, notebook))).rows.get(note_id)
    if stored is None or (stored.title, stored.content) != (title, content):
        raise lost.also("The notes were read afterwards: the change is not there.")
    return stored


class UpdateArgs(Args):
    note: str
    title: str | None = Field(None, min_length=1)
    content: str | None = Field(None, description="replaces the whole text")
    notebook: str | None = None


@tool(scope=Scope.WRITE, effect=Effect.SET, rpcs=(UPDATE, LIST))
async def update_note(ctx: ToolContext, args: UpdateArgs) -> NoteResult:
    """Change a note's title, text or both."""
    if args.title is None and args.content is None:
        raise refuse("nothing to change", "Give title, content or both.")
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    async with ctx.exclusive(f"notes:{notebook}"):  # the cell that is kept is read before it is written
        _, row = await notes.located(ctx, args.note, notebook)
        if args.content is not None and notes.kind(row) == MIND_MAP:
            raise refuse(
                "this note is a mind map: another text would destroy it", "Change its title only.", note=row.id
            )
        title = row.title if args.title is None else args.title
        content = (row.content or "") if args.content is None else args.content
        return note_result(ctx, notebook, await write(ctx, notebook, row.id, title, content))


class DeleteArgs(Args):
    notes: list[str] = Field(min_length=1)
    notebook: str | None = None
    confirm: bool = False


@tool(scope=Scope.DELETE, effect=Effect.DELETE, rpcs=(DELETE, LIST))
async def delete_note(ctx: ToolContext, args: DeleteArgs) -> Deleted:
    """Delete notes or saved mind maps from a notebook. Cannot be undone."""
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    listing = await notes.listing(ctx, notebook)

    async def send(ids: list[str]) -> None:
        async with ctx.exclusive(f"notes:{notebook}"):  # after an update that is under way, not before
            try:
                await ctx.call(DELETE, notes.DeleteNotes(notebook_id=notebook, note_ids=ids))
            except NlmError as exc:
                await writes.settle_deletion(in_doubt(exc), "note", ids, notes.listing(ctx, notebook))

    return await writes.delete(
        notebook,
        args.notes,
        listing.meant,
        confirm=args.confirm,
        would=lambda row: f"delete {notes.kind(row)} {row.title!r} ({row.id})",
        send=send,
    )
