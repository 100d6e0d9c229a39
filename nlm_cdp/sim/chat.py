"""The chat: an honest answer out of the sources' own sentences, as the snapshots that the service streams.

The answer grows, is repeated while its last citations arrive, and ends with one final frame that holds the follow-ups.
Every snapshot is whole: chunk ids are new in each, as recorded in chat_ask (January 2026).
"""

from __future__ import annotations

import base64
from typing import Any

from nlm_cdp.api.chat import chat as api
from nlm_cdp.api.common import Empty
from nlm_cdp.api.sources.rows import READY
from nlm_cdp.sim.answers import DENIED, INVALID, NOT_FOUND, Handler, Refusal, Stream
from nlm_cdp.sim.draft import Claim, Draft, Quote
from nlm_cdp.sim.markup import Block, Run, elements
from nlm_cdp.sim.notebooks import TEXT_CHIP
from nlm_cdp.sim.records import Conversation, Notebook, Source, Turn, Writing
from nlm_cdp.sim.retrieval import best_sentence, frequent, ranked
from nlm_cdp.sim.state import Account
from nlm_cdp.wire.chat import ANSWER, THINKING, AnswerRow, Chip, Snapshot, TurnRef
from nlm_cdp.wire.document import Body, Document
from nlm_cdp.wire.pblite import Lazy

LONGEST_QUESTION = 12_500
PASSAGES = 4
STEPS = 6
NOTICE = "This is a simulated answer: it quotes the sources and understands nothing."
SILENT = "The sources do not say anything about this: none of them has a word of the question."


def ask(account: Account, request: api.Ask) -> Refusal | Stream:
    """Refused without sources and for a question that is too long; sources that are not ready are passed over."""
    if not request.sources or len(request.question.encode("utf-8", "surrogatepass")) > LONGEST_QUESTION:
        return Refusal(INVALID)
    places = [account.located(source_id) for source_id in request.sources]
    found = [place for place in places if place is not None]
    notebook = account.notebooks.get(request.notebook_id or (found[0][0].id if found else ""))
    if notebook is None or len(found) < len(places):
        return Refusal(NOT_FOUND)
    chat = conversation(account, notebook, request.conversation_id)
    sources = [source for _, source in found if source.status == READY]
    turn = TurnRef(
        # in answer to a question without a conversation this is no id to keep: only hPTbtc tells the real one
        conversation_id=request.conversation_id or account.service.new_id(),
        turn_id=account.service.new_id(),
        number=abs(account.service.number()) % 2**31,
    )
    newer = request.notebook_id is not None
    snapshots = [*thinking(turn, sources), *answering(account, turn, request.question, sources, newer=newer)]
    writing = remember(account, chat, request.question, snapshots)
    return Stream(snapshots, notebook, writing)


def conversation(account: Account, notebook: Notebook, wanted: str | None) -> Conversation:
    """The one that was named, or the notebook's own; questions that overlap start one each."""
    if wanted is None and not notebook.answering:
        return newest(notebook) or next(chat for chat in notebook.chats if chat.listed)
    if wanted is None:
        notebook.chats.append(fresh := Conversation(account.service.new_id()))
        return fresh
    known = next((chat for chat in notebook.chats if chat.id == wanted), None)
    if known is None:
        notebook.chats.append(known := Conversation(wanted, listed=False))
    return known


def remember(account: Account, chat: Conversation, question: str, snapshots: list[Snapshot]) -> Writing:
    """The service writes to the end whether somebody listens or not; until then the answer is no turn yet."""
    service = account.service
    chat.turns.append(Turn(service.new_id(), service.stamp(), question=question))
    chat.turns.append(turn := Turn(service.new_id(), service.stamp(), answer=snapshots[-1].answer))
    until = service.now() + service.pace * (len(snapshots) - 1)
    chat.writing = Writing(service.opaque(24), until, turn)
    return chat.writing


# Snapshots


def thinking(turn: TurnRef, sources: list[Source]) -> list[Snapshot]:
    titles = ", ".join(source.title for source in sources[:3])
    return [
        thought(turn, "Reading the question", "I'm a simulation: I only look for the question's words."),
        thought(turn, "Searching the sources", f"I'm ranking the passages of {len(sources)} sources: {titles}."),
    ]


def thought(turn: TurnRef, heading: str, text: str) -> Snapshot:
    blocks = [Block([Run(heading, bold=True)], style=None), Block([Run(text)], style=None)]
    document = Document(body=Body(elements=list(elements(blocks))), kind=THINKING)
    answer = AnswerRow(text=f"**{heading}**\n\n{text}\n\n\n", turn=turn, document=Lazy.of(document))
    return Snapshot(answer=answer, final=False)


def answering(account: Account, turn: TurnRef, question: str, sources: list[Source], *, newer: bool) -> list[Snapshot]:
    """Growing snapshots, the whole text twice, and the final frame; `newer` adds what is seen since August 2026."""
    draft = drafted(question, sources)
    sizes = [draft.size * step // STEPS for step in range(1, STEPS + 1)]
    growing = [snapshot(account, turn, draft, size, held_back=1) for size in sizes]
    whole = snapshot(account, turn, draft, draft.size)
    questions = follow_ups(sources)
    given: dict[str, Any] = {}
    if newer:
        given = {"f7": True, "agency_session": base64.b64encode(account.service.digest()).decode()}
    final = snapshot(account, turn, draft, draft.size).model_copy(
        update={
            "final": True,
            "follow_ups": questions,
            "next_steps": [Chip(text=item, kind=TEXT_CHIP) for item in questions],
            **given,
        }
    )
    return [*growing, whole, final]


def snapshot(account: Account, turn: TurnRef, draft: Draft, size: int, held_back: int = 0) -> Snapshot:
    """The first `size` units of a draft; the marks of its last `held_back` claims have not arrived yet."""
    cut = draft.cut(size)
    chunk_ids = [account.service.new_id() for _ in draft.quotes]
    marks, citations = cut.marks(held_back), draft.citations(cut.quoted(held_back), chunk_ids)
    given: dict[str, Any] = {}
    if citations:
        given = {"citations": [Lazy.of(entry.citation) for entry in citations], "marks": marks}
    document = cut.document(ANSWER, citations, chunk_ids, held_back)
    answer = AnswerRow(text=cut.markdown, turn=turn, document=Lazy.of(document))
    return Snapshot(answer=answer, final=False, **given)


def drafted(question: str, sources: list[Source]) -> Draft:
    found = ranked(question, sources, PASSAGES)
    draft = Draft([Quote(chunk, score / (score + 1)) for score, chunk in found])
    draft.add(Claim(NOTICE))
    if not found:
        draft.add(Claim(SILENT))
        return draft
    draft.add(Claim("These passages share most words with your question:"))
    for number, (_, chunk) in enumerate(found):
        said = best_sentence(question, chunk).rstrip(".")
        draft.add(Claim(chunk.source.title, bold=True), Claim(": "), Claim(said, (number,)), Claim("."), item=True)
    if len(found) > 1:
        draft.add(Claim("The two that come closest are these", (0, 1)), Claim("."))
    return draft


def follow_ups(sources: list[Source]) -> list[str]:
    words = frequent(" ".join(source.opening for source in sources[:20]), 3)
    return [f"What do the sources say about {word}?" for word in words]


# The conversation


def list_chats(account: Account, request: api.ListChats) -> api.Chats | Refusal:
    """The newest conversation that has turns; the limit is ignored (C)."""
    notebook = account.notebooks.get(request.notebook_id)
    if notebook is None:
        return Refusal(NOT_FOUND)
    chat = newest(notebook)
    return api.Chats(chats=[api.ChatRow(id=chat.id)]) if chat is not None else api.Chats()


def newest(notebook: Notebook) -> Conversation | None:
    """The service's own conversation that was used last; one whose turns were deleted is still there."""
    used = [chat for chat in notebook.chats if chat.listed and (chat.turns or chat.emptied)]
    return max(used, key=last_used, default=None)


def last_used(chat: Conversation) -> tuple[int, int]:
    return (chat.turns[-1].at.seconds, chat.turns[-1].at.nanos) if chat.turns else (0, 0)


def list_turns(account: Account, request: api.ListTurns) -> api.Turns | Refusal:
    """Newest first; a token where older ones are left."""
    chat = account.conversation(request.conversation_id)
    if chat is None:
        return Refusal(NOT_FOUND)
    turns = chat.shown(account.service.now())[::-1]
    begin = int(request.cursor) if request.cursor and request.cursor.isdecimal() else 0
    shown = turns[begin : begin + request.limit]
    end = begin + len(shown)
    rows = [turn_row(turn) for turn in shown]
    return api.Turns(turns=rows or None, next_token=str(end) if end < len(turns) else None)


def turn_row(turn: Turn) -> api.Turn:
    if turn.question is not None:
        return api.Turn(id=turn.id, at=turn.at, role=api.QUESTION, question=turn.question)
    return api.Turn(id=turn.id, at=turn.at, role=api.REPLY, answer=turn.answer)


def status(account: Account, request: api.GetStatus) -> api.ChatStatus | Refusal:
    chat = account.conversation(request.conversation_id)
    if chat is None:
        return Refusal(DENIED)
    if chat.writing is not None and chat.writes(account.service.now()):
        return api.ChatStatus(token=chat.writing.token, status=api.GENERATING)
    return api.ChatStatus(status=api.IDLE)


def cancel(account: Account, request: api.CancelGeneration) -> Empty | Refusal:
    """The answer is not written any further and no turn comes of it; its stream stays open without a word (N)."""
    chat = account.conversation(request.conversation_id)
    if chat is None:
        return Refusal(DENIED)
    if chat.writing is not None and chat.writes(account.service.now()):
        chat.writing.stopped = True
        chat.turns.remove(chat.writing.turn)
    return Empty()


def delete_turns(account: Account, request: api.DeleteTurns | api.DeleteNotebookTurns) -> Empty | Refusal:
    """The conversation stays, empty (N)."""
    chat = account.conversation(request.conversation_id)
    if chat is None:
        return Refusal(NOT_FOUND)
    chat.turns.clear()
    chat.emptied, chat.writing = True, None
    return Empty()


HANDLERS: tuple[Handler[Any, Any], ...] = (
    Handler(api.ASK, ask),
    Handler(api.LIST_CHATS, list_chats),
    Handler(api.LIST_TURNS, list_turns),
    Handler(api.STATUS, status),
    Handler(api.CANCEL, cancel),
    Handler(api.DELETE_TURNS, delete_turns),
    Handler(api.DELETE_NOTEBOOK_TURNS, delete_turns),
)
