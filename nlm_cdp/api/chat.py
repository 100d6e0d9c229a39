"""Chat: ask with citations, and read the conversation.

The service keeps one conversation per notebook and owns its id; a session is our handle on it. A question is never sent
twice, and questions to one notebook go one after the other: overlapping first ones would each start a conversation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from nlm_cdp.api import notebooks, sessions
from nlm_cdp.api.citing import CitedSource, cited_source, rendered, shortened
from nlm_cdp.api.common import (
    Origin,
    Provenance,
    RequestContext,
    Timestamp,
    legible,
    provenance,
    provenance_field,
    refuse,
)
from nlm_cdp.api.rows import READY, distinct
from nlm_cdp.errors import DecodeError, NlmError, NotFound, NotReady
from nlm_cdp.rpc import Args, Effect, Path, Result, Rpc, Scope, ToolContext, tool
from nlm_cdp.wire.chat import THINKING, AnswerRow, Snapshot
from nlm_cdp.wire.pblite import Message, Tag

if TYPE_CHECKING:
    from nlm_cdp.store import ChatSession

QUESTION, REPLY = 1, 2
NO_CONTEXT = RequestContext(client_type=None, provenance=None)

# Messages


class HistoryEntry(Message):
    text: Annotated[str, Tag(1)]
    role: Annotated[int, Tag(3)]


class Ask(Message):
    """Nine slots since mid-2026 (P); five in January 2026, with a conversation id made by the client (C).

    History is optional: the service has its own when a conversation is named.
    """

    sources: Annotated[list[str], Tag(1, each=(1, 1))]
    question: Annotated[str, Tag(2)]
    history: Annotated[list[HistoryEntry] | None, Tag(3)] = None
    context: Annotated[RequestContext, Tag(4)]
    conversation_id: Annotated[str | None, Tag(5)] = None
    notebook_id: Annotated[str | None, Tag(8)] = None
    origin: Annotated[int | None, Tag(9)] = 1


ASK_CONTEXT = RequestContext(capabilities=[1], provenance=Provenance(flags=None))
"""`[2,_,[1],[1]]`."""


class ListChats(Message):
    """`[[],_,nb,20]`; the limit is ignored (C)."""

    context: Annotated[RequestContext | None, Tag(1)] = NO_CONTEXT
    notebook_id: Annotated[str, Tag(3)]
    limit: Annotated[int, Tag(4)] = 1


class Chats(Message):
    ids: Annotated[list[str], Tag(1, each=(1,))] = []


class ListTurns(Message):
    context: Annotated[RequestContext | None, Tag(1)] = NO_CONTEXT
    conversation_id: Annotated[str, Tag(4)]
    limit: Annotated[int, Tag(5)]


class Turn(Message):
    """N: a question has its text at 4, an answer its row at 5.1."""

    id: Annotated[str, Tag(1)]
    at: Annotated[Timestamp | None, Tag(2)] = None
    role: Annotated[int, Tag(3)]
    question: Annotated[str | None, Tag(4)] = None
    answer: Annotated[AnswerRow | None, Tag(5, 1)] = None


class Turns(Message):
    """Newest first."""

    turns: Annotated[list[Turn] | None, Tag(1, lenient=True)] = None
    next_token: Annotated[str | None, Tag(2)] = None


# Calls

ASK = Rpc(
    "chat",
    "GenerateFreeFormStreamed",
    Ask,
    Snapshot,
    effect=Effect.CREATE,
    path=Path.NOTEBOOK,
    timeout=180.0,
    stream=True,
)
"""The stream has no rpc id on the wire."""
LIST_CHATS = Rpc("hPTbtc", "ListChatSessions", ListChats, Chats, effect=Effect.READ, path=Path.NOTEBOOK, null=True)
LIST_TURNS = Rpc(
    "khqZz", "ListChatTurns", ListTurns, Turns, effect=Effect.READ, path=Path.NOTEBOOK, null=True, grade="N"
)

# Results


class AnswerResult(Result):
    status: Literal["success"] = "success"
    question: str
    answer: str
    session_id: str
    conversation_id: str | None = None
    notebook_id: str
    notebook_url: str
    session_info: sessions.SessionInfo
    sources: list[CitedSource] | None = None
    suggested_questions: list[str]
    truncated: bool | None = None
    undecoded: list[str] | None = None
    note: str | None = None
    origin: Origin = provenance_field()


class TurnInfo(Result):
    role: Literal["user", "assistant"]
    text: str
    time: str | None = None
    sources: list[str] | None = None


class Conversation(Result):
    notebook_id: str
    conversation_id: str | None
    turns: list[TurnInfo] | None = None
    markdown: str | None = None
    has_more: bool
    undecoded: list[str] | None = None
    origin: Origin = provenance_field()


# Tools


class AskArgs(Args):
    question: str = Field(min_length=1)
    notebook: str | None = Field(None, description="id, URL, title or prefix; default: the selected one")
    notebook_url: str | None = None
    session_id: str | None = Field(None, description="continue this session")
    source_ids: list[str] | None = Field(None, min_length=1, description="default: all that are ready")
    source_format: Literal["none", "inline", "footnotes", "json"] = "none"
    timeout_s: float = Field(180, ge=5, le=900)


@tool(scope=Scope.CHAT, effect=Effect.CREATE, rpcs=(ASK, LIST_CHATS, notebooks.GET), was=("ask_notebook",))
async def ask_question(ctx: ToolContext, args: AskArgs) -> AnswerResult:
    """Ask a notebook; answers from its sources, cited unless source_format is none. Takes 10-60 s and uses quota."""
    session = await sessions.known(ctx, args.session_id)
    notebook = await asked_notebook(ctx, session, args.notebook_url, args.notebook)
    row = (await notebooks.get(ctx, notebook)).notebook
    titles = {source.id: source.title for source in row.sources}
    sources = chosen(args.source_ids, {source.id: source.status for source in distinct(row.sources)})
    async with ctx.exclusive(f"chat:{notebook}"):
        if session is not None:  # another question may have been answered meanwhile
            session = await ctx.store.session(session.id) or session
        conversation = session.conversation_id if session else await latest_conversation(ctx, notebook)
        request = Ask(
            sources=sources,
            question=args.question,
            context=ASK_CONTEXT,
            conversation_id=conversation,
            notebook_id=notebook,
        )
        answer = await ctx.call.ask(ASK, request, notebook=notebook, timeout=args.timeout_s, watch=watcher(ctx))
        conversation, note = await real_conversation(ctx, notebook, conversation)
        session = await sessions.counted(ctx, notebook, session, conversation)
    cited = [cited_source(item, titles) for item in answer.citations] or None
    return AnswerResult(
        question=args.question,
        answer=rendered(answer, cited or [], args.source_format),
        session_id=session.id,
        conversation_id=conversation,
        notebook_id=notebook,
        notebook_url=ctx.call.notebook_url(notebook),
        session_info=sessions.session_info(ctx, session),
        sources=cited if args.source_format != "none" else None,
        suggested_questions=answer.follow_ups,
        truncated=answer.truncated or None,
        undecoded=answer.undecoded or None,
        note=note,
        origin=provenance(ctx, answer.text, ai_generated=True),
    )


async def asked_notebook(ctx: ToolContext, session: ChatSession | None, *named: str | None) -> str:
    """The one notebook that every reference names, else the session's, else the selected one."""
    found = {await notebooks.notebook_id(ctx, reference) for reference in named if reference is not None}
    if len(found) > 1:
        raise refuse("notebook and notebook_url name different notebooks", notebooks=sorted(found))
    if not found:
        return session.notebook_id if session is not None else await notebooks.notebook_id(ctx, None)
    notebook = found.pop()
    if session is not None and session.notebook_id != notebook:
        raise refuse("this session belongs to another notebook", session_notebook=session.notebook_id)
    return notebook


def chosen(wanted: list[str] | None, statuses: dict[str, int]) -> list[str]:
    """The sources a question goes to: those named, or all that are ready."""
    if wanted is not None:
        unknown = [source for source in wanted if source not in statuses]
        if unknown:
            raise NotFound("these sources are not in the notebook", details={"source_ids": unknown})
        return wanted
    ready = [source for source, status in statuses.items() if status == READY]
    if not statuses:
        raise NotReady("the notebook has no sources to answer from", hint="Add a source first.", state="empty")
    if not ready:
        raise NotReady(
            "none of the notebook's sources is ready", hint="Wait for them: list_sources shows their status."
        )
    return ready


async def latest_conversation(ctx: ToolContext, notebook: str) -> str | None:
    """The notebook's conversation as far as we were told; None lets the service continue its own."""
    sessions = await ctx.store.sessions()
    return next((s.conversation_id for s in sessions if s.notebook_id == notebook and s.conversation_id), None)


async def real_conversation(ctx: ToolContext, notebook: str, known: str | None) -> tuple[str | None, str | None]:
    """The id the service gave the conversation; the answer stands even where that cannot be asked."""
    try:
        ids = (await ctx.call(LIST_CHATS, ListChats(notebook_id=notebook))).ids
    except NlmError as exc:
        return known, f"the answer is complete, but the conversation's id could not be read ({exc.code})"
    return (ids[0] if ids else known), None


def watcher(ctx: ToolContext) -> Callable[[Snapshot], Awaitable[None]]:
    """Progress while the answer streams, at most twice a second."""
    last = float("-inf")

    async def watch(snapshot: Snapshot) -> None:
        nonlocal last
        if snapshot.answer is None or ctx.now() - last < 0.5:
            return
        last = ctx.now()
        text = snapshot.answer.text
        if snapshot.answer.kind == THINKING:
            await ctx.progress(f"thinking: {shortened(text.strip().partition(chr(10))[0].strip('* '), 80)}")
        else:
            await ctx.progress(f"answering ({len(text)} characters): …{' '.join(text[-80:].split())}")

    return watch


class ConversationArgs(Args):
    notebook: str | None = None
    session_id: str | None = None
    limit: int = Field(20, ge=1, le=200)
    format: Literal["turns", "markdown"] = "turns"


@tool(
    scope=Scope.READ,
    effect=Effect.READ,
    rpcs=(LIST_CHATS, LIST_TURNS),
    was=("get_last_conversation_id", "get_conversation_turns"),
)
async def get_conversation(ctx: ToolContext, args: ConversationArgs) -> Conversation:
    """A notebook's latest conversation, oldest turn first; limit counts turns from the newest."""
    session = await sessions.known(ctx, args.session_id)
    notebook = await asked_notebook(ctx, session, args.notebook)
    conversation = session.conversation_id if session else None
    if conversation is None:
        ids = (await ctx.call(LIST_CHATS, ListChats(notebook_id=notebook))).ids
        conversation = ids[0] if ids else None
    answer = Turns()
    if conversation is not None:
        request = ListTurns(conversation_id=conversation, limit=args.limit)
        answer = await ctx.call(LIST_TURNS, request, notebook=notebook)
    undecoded = list(answer.undecoded)
    shown = (turn_info(turn, undecoded) for turn in reversed(legible(answer.turns or [], answer.undecoded)))
    turns = [turn for turn in shown if turn is not None]
    text = "\n\n".join(turn.text for turn in turns)
    as_markdown = args.format == "markdown"
    return Conversation(
        notebook_id=notebook,
        conversation_id=conversation,
        turns=None if as_markdown else turns,
        markdown=transcript(turns) if as_markdown else None,
        has_more=answer.next_token is not None,
        undecoded=undecoded or None,
        origin=provenance(ctx, text, ai_generated=True),
    )


def turn_info(turn: Turn, undecoded: list[str]) -> TurnInfo | None:
    """One turn; what it should hold and does not is reported, never made up."""
    time = turn.at.iso if turn.at else None
    if turn.role == QUESTION and turn.question is not None:
        return TurnInfo(role="user", text=turn.question, time=time)
    if turn.role == REPLY and turn.answer is not None:
        return TurnInfo(role="assistant", text=turn.answer.text, time=time, sources=cited_ids(turn.answer) or None)
    undecoded.append(f"turn of role {turn.role}: no text where one belongs")
    return None


def cited_ids(answer: AnswerRow) -> list[str]:
    """The sources an old answer cites; its text is worth showing even where the citations do not read."""
    try:
        entries = answer.document.decode().citations if answer.document else []
    except DecodeError:
        return []
    return list(dict.fromkeys(passage.source_id for entry in entries for passage in entry.citation.passages))


def transcript(turns: list[TurnInfo]) -> str:
    names = {"user": "You", "assistant": "Notebook"}
    return "\n\n".join(f"**{names[turn.role]}:** {turn.text}" for turn in turns)
