"""The calls about notes, answered from the state: a new note is empty whatever was sent, a deleted one stays listed."""

from __future__ import annotations

from typing import Any

from nlm_cdp.api.common import Empty
from nlm_cdp.api.notes import notes as api
from nlm_cdp.sim.answers import NOT_FOUND, Handler, Refusal
from nlm_cdp.sim.notebooks import changeable
from nlm_cdp.sim.records import Note
from nlm_cdp.sim.state import Account

NEW = "New Note"


def list_notes(account: Account, request: api.ListNotes) -> api.Notes | Refusal:
    """Every note with its tombstones, or what changed since a time; nothing is null."""
    notebook = account.notebooks.get(request.notebook_id)
    if notebook is None:
        return Refusal(NOT_FOUND)
    since = request.since
    rows = [
        listed(account, note)
        for note in notebook.notes.values()
        if since is None or (note.modified.seconds, note.modified.nanos) > (since.seconds, since.nanos)
    ]
    return api.Notes(rows=rows or None, now=account.service.stamp())


def listed(account: Account, note: Note) -> api.NoteRow:
    """A row of a listing: its metadata are the newest form, of September 2026."""
    if note.deleted:
        return api.NoteRow(id=note.id, state=api.DELETED)
    newest = {"created": note.created, "f7": False}
    return api.NoteRow(id=note.id, note=note_row(account, note, **newest))


def note_row(account: Account, note: Note, **newest: Any) -> api.Note:
    meta = api.NoteMeta(
        type=note.type,
        account=account.user_id,
        modified=note.modified,
        prompt_type=note.prompt_type,
        sources=note.sources,
        **newest,
    )
    return api.Note(id=note.id, content=note.content, meta=meta, title=note.title)


def create(account: Account, request: api.CreateNote) -> api.GotNote | Refusal:
    """Title and content are ignored (C)."""
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    return api.GotNote(note=note_row(account, account.add_note(notebook, NEW)))


def save_mind_map(account: Account, request: api.SaveMindMap) -> api.GotNote | Refusal:
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    note = account.add_note(
        notebook,
        request.title,
        request.content,
        type=request.type,
        prompt_type=request.prompt_type,
        sources=request.sources,
    )
    return api.GotNote(note=note_row(account, note))


def save_answer(account: Account, request: api.SaveAnswer) -> api.GotNote | Refusal:
    """Without a title, the service makes one of the text."""
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    title = request.title or " ".join(request.content.split()[:6])
    return api.GotNote(note=note_row(account, account.add_note(notebook, title, request.content, type=request.type)))


def update(account: Account, request: api.UpdateNote) -> api.GotNote | Refusal:
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    note = notebook.notes.get(request.note_id)
    if note is None or note.deleted:
        return Refusal(NOT_FOUND)
    note.content, note.title, note.modified = request.change.content, request.change.title, account.service.stamp()
    return api.GotNote(note=note_row(account, note))


def delete(account: Account, request: api.DeleteNotes) -> Empty | Refusal:
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    for note_id in request.note_ids:
        if (note := notebook.notes.get(note_id)) is not None:
            note.deleted, note.modified = True, account.service.stamp()
    return Empty()


HANDLERS: tuple[Handler[Any, Any], ...] = (
    Handler(api.LIST, list_notes),
    Handler(api.CREATE, create),
    Handler(api.SAVE_MIND_MAP, save_mind_map),
    Handler(api.SAVE_ANSWER, save_answer),
    Handler(api.UPDATE, update),
    Handler(api.DELETE, delete),
)
