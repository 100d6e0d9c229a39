"""Saving an answer of the conversation as a note whose citations still lead to their sources.

The note holds the answer with its markers, and beside it the same text without them and an anchor for each marker, in
UTF-16 units. The passages go back exactly as the conversation gave them.
"""

from __future__ import annotations

from pydantic import Field

from nlm_cdp.api.chat import chat, sessions
from nlm_cdp.api.chat.citations import MARKER, numbers_of, shortened, stored_citations
from nlm_cdp.api.chat.conversation import asked_notebook, newest
from nlm_cdp.api.common import NotebookArgs
from nlm_cdp.api.notes import notes, writing
from nlm_cdp.api.notes.reading import NoteResult, note_result
from nlm_cdp.api.writes import afterwards, in_doubt
from nlm_cdp.errors import DecodeError, Drift, NlmError, NotFound
from nlm_cdp.rpc import Effect, Scope, ToolContext, tool
from nlm_cdp.wire.chat import AnswerRow
from nlm_cdp.wire.document import Citation, units
from nlm_cdp.wire.pblite import Lazy, Row

PLAIN: Row = [0, 0, 0, None, None, None, None, 0, 0]
"""The look of the text: numbers where a conversation has booleans (P)."""


class SaveArgs(NotebookArgs):
    session_id: str | None = None
    turn: int = Field(1, ge=1, le=100, description="counted from the newest answer")
    title: str | None = Field(None, min_length=1)


class Saved(NoteResult):
    conversation_id: str
    citations: int
    remark: str | None = None


@tool(
    scope=Scope.WRITE,
    effect=Effect.CREATE,
    rpcs=(notes.SAVE_ANSWER, notes.CREATE, notes.UPDATE, notes.LIST, chat.LIST_CHATS, chat.LIST_TURNS),
)
async def save_answer(ctx: ToolContext, args: SaveArgs) -> Saved:
    """Save an answer as a note, citations included; default: the latest."""
    session = await sessions.known(ctx, args.session_id)
    notebook = await asked_notebook(ctx, session, args.notebook)
    conversation = (session.conversation_id if session else None) or await newest(ctx, notebook)
    if conversation is None:
        raise NotFound("this notebook has no conversation yet", hint="Ask a question first.")
    answer = await answer_at(ctx, notebook, conversation, args.turn)
    table = by_number(answer)
    text, anchors = anchored(answer.text, {number: citation.chunk_id for number, (citation, _) in table.items()})
    title = args.title or f"Chat: {shortened(text, 60)}"
    remark = None
    if table:
        rows = {citation.chunk_id: row for citation, row in table.values()}
        note = await saved(ctx, request_of(notebook, answer.text, title, text=text, rows=rows, anchors=anchors))
        result = note_result(ctx, notebook, note)
    else:
        remark = "the answer cites nothing that could be read: it was saved as an ordinary note"
        plain = writing.CreateArgs(title=title, content=answer.text, notebook=notebook)
        result = await writing.create_note.run(ctx, plain)
    return Saved(
        notebook_id=notebook,
        note=result.note,
        conversation_id=conversation,
        citations=len(table),
        remark=remark,
        origin=result.origin.model_copy(update={"ai_generated": True}),
    )


async def answer_at(ctx: ToolContext, notebook: str, conversation: str, turn: int) -> AnswerRow:
    """An answer, counted from the newest. What cannot be read might be the one that is meant: then none is taken."""
    page = await ctx.call(
        chat.LIST_TURNS, chat.ListTurns(conversation_id=conversation, limit=2 * turn), notebook=notebook
    )
    if page.undecoded:
        raise Drift("the conversation could not be read completely", details={"undecoded": list(page.undecoded)})
    found = [row.answer for row in page.turns or [] if row.role == chat.REPLY and row.answer is not None]
    if len(found) < turn:
        raise NotFound(f"the conversation has {len(found)} answers, not {turn}" if found else "there is no answer yet")
    return found[turn - 1]


def by_number(answer: AnswerRow) -> dict[int, tuple[Citation, Row]]:
    """The citations under the numbers their markers carry; one that does not decode leaves a hole, never a shift."""
    found = {}
    for number, lazy in enumerate(stored_citations(answer), start=1):
        if (citation := readable(lazy)) is not None:
            found[number] = citation, lazy.row
    return found


def readable(lazy: Lazy[Citation]) -> Citation | None:
    try:
        return lazy.decode()
    except DecodeError:
        return None


def anchored(text: str, chunks: dict[int, str]) -> tuple[str, list[tuple[str, int]]]:
    """The text without its markers, and where each of them stood: the passage's id and the position, in UTF-16 units.

    A marker goes with the space before it; one that names no citation stays.
    """
    clean, at, anchors = "", 0, []
    for marker in MARKER.finditer(text):
        numbers = numbers_of(marker)
        if not all(number in chunks for number in numbers):
            continue
        clean += text[at : marker.start()].removesuffix(" ")
        at = marker.end()
        anchors += [(chunks[number], units(clean)) for number in numbers]
    return clean + text[at:], anchors


def request_of(
    notebook: str, content: str, title: str, *, text: str, rows: dict[str, Row], anchors: list[tuple[str, int]]
) -> notes.SaveAnswer:
    """The seven cells (P). `content` has the markers, `text` has not."""
    end = units(text)
    elements = [[0, end, [[[0, end, [text, PLAIN]]], [None, 1]]]]
    marks = [[[chunk_id], [None, 0, position]] for chunk_id, position in anchors]
    table = [[[chunk_id], row] for chunk_id, row in rows.items()]
    return notes.SaveAnswer(
        notebook_id=notebook,
        content=content,
        passages=list(rows.values()),
        title=title,
        rich=[[elements, marks], None, None, table, 1],
    )


async def saved(ctx: ToolContext, request: notes.SaveAnswer) -> notes.Note:
    """The note. After a lost reply, it is the one that was not there before and holds the answer."""
    before = (await notes.listing(ctx, request.notebook_id)).rows
    try:
        note = (await ctx.call(notes.SAVE_ANSWER, request)).note
    except NlmError as exc:
        lost = in_doubt(exc)
    else:
        return note if note.content else note.model_copy(update={"content": request.content})
    now = await afterwards(lost, "notes", notes.listing(ctx, request.notebook_id))
    fresh = [row for row in now.rows.values() if row.id not in before]
    same = [row for row in fresh if row.content == request.content]
    if len(same) == 1:
        return same[0]
    lost.details["new_notes"] = [row.id for row in fresh]
    raise lost.also("The notes were read afterwards: none of the new ones, if any, is surely this answer.")
