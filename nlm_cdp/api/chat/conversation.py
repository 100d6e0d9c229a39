"""A notebook's conversation as the service keeps it: find it, read it, delete its turns.

The service keeps one conversation per notebook and owns its id; a session is our handle on it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from nlm_cdp.api.chat import chat, sessions
from nlm_cdp.api.chat.chat import DELETE_TURNS, LIST_CHATS, LIST_TURNS
from nlm_cdp.api.chat.citations import stored_citations
from nlm_cdp.api.common import NotebookArgs, iso, legible, refuse
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.provenance import OriginField, provenance
from nlm_cdp.api.writes import in_doubt
from nlm_cdp.errors import NlmError, NotFound
from nlm_cdp.rpc import Effect, Result, Scope, ToolContext, tool
from nlm_cdp.wire.chat import AnswerRow, cite

if TYPE_CHECKING:
    from nlm_cdp.local.store import ChatSession

COUNTED = 100
"""Turns that are counted before they are deleted."""

# Results


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
    origin: OriginField


class ConversationDeleted(Result):
    """`needs_confirmation`, `empty`: nothing was changed; `would` says what would happen."""

    status: Literal["deleted", "needs_confirmation", "empty"]
    notebook_id: str
    conversation_id: str | None = None
    would: str | None = None
    note: str | None = None


# References


async def newest(ctx: ToolContext, notebook: str) -> str | None:
    """The id of the notebook's conversation, as the service knows it."""
    return (await ctx.call(LIST_CHATS, chat.ListChats(notebook_id=notebook))).newest


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


# Tools


class ConversationArgs(NotebookArgs):
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
    """A notebook's latest conversation, oldest turn first."""
    session = await sessions.known(ctx, args.session_id)
    notebook = await asked_notebook(ctx, session, args.notebook)
    conversation = session.conversation_id if session else None
    if conversation is None:
        conversation = await newest(ctx, notebook)
    answer = chat.Turns()
    if conversation is not None:
        request = chat.ListTurns(conversation_id=conversation, limit=args.limit)
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


def turn_info(turn: chat.Turn, undecoded: list[str]) -> TurnInfo | None:
    """One turn; what it should hold and does not is reported, never made up."""
    time = iso(turn.at)
    if turn.role == chat.QUESTION and turn.question is not None:
        return TurnInfo(role="user", text=turn.question, time=time)
    if turn.role == chat.REPLY and turn.answer is not None:
        return TurnInfo(role="assistant", text=turn.answer.text, time=time, sources=cited_ids(turn.answer) or None)
    undecoded.append(f"turn of role {turn.role}: no text where one belongs")
    return None


def cited_ids(answer: AnswerRow) -> list[str]:
    """The sources an old answer cites; its text is worth showing even where the citations do not read."""
    cited, _ = cite(stored_citations(answer))
    return list(dict.fromkeys(item.source_id for item in cited))


def transcript(turns: list[TurnInfo]) -> str:
    names = {"user": "You", "assistant": "Notebook"}
    return "\n\n".join(f"**{names[turn.role]}:** {turn.text}" for turn in turns)


class DeleteArgs(NotebookArgs):
    confirm: bool = False


@tool(scope=Scope.DELETE, effect=Effect.DELETE, rpcs=(DELETE_TURNS, LIST_CHATS, LIST_TURNS, notebooks.GET))
async def delete_conversation(ctx: ToolContext, args: DeleteArgs) -> ConversationDeleted:
    """Delete a notebook's chat history. Cannot be undone."""
    row = (await notebooks.get(ctx, await notebooks.notebook_id(ctx, args.notebook))).notebook
    conversation = await newest(ctx, row.id)
    result = partial(ConversationDeleted, notebook_id=row.id, conversation_id=conversation)
    if conversation is None or (count := await counted_turns(ctx, row.id, conversation)) == "0":
        return result(status="empty")
    if not args.confirm:
        would = f"delete the {count} turns of the conversation of notebook {row.title!r} ({row.id}); call with confirm"
        return result(status="needs_confirmation", would=would)
    note = None
    try:
        await ctx.call(DELETE_TURNS, chat.DeleteTurns(conversation_id=conversation), notebook=row.id)
    except NlmError as exc:
        lost = in_doubt(exc)
        if not await is_empty(ctx, row.id, conversation):
            raise lost.also("The conversation was looked at afterwards and is not known to be empty.") from None
        note = "the answer was lost, but the conversation is empty"
    for session in await ctx.store.sessions():
        if session.conversation_id == conversation:
            await ctx.store.reset_session(session.id)
    return result(status="deleted", note=note)


async def counted_turns(ctx: ToolContext, notebook: str, conversation: str) -> str:
    """How many turns a conversation has, as far as one page tells."""
    answer = await ctx.call(LIST_TURNS, chat.ListTurns(conversation_id=conversation, limit=COUNTED), notebook=notebook)
    found = len(answer.turns or []) + len(answer.undecoded)
    return f"more than {found}" if answer.next_token else str(found)


async def is_empty(ctx: ToolContext, notebook: str, conversation: str) -> bool:
    """Whether a conversation is known to have no turns, or is gone."""
    try:
        return await counted_turns(ctx, notebook, conversation) == "0"
    except NotFound:
        return True
    except NlmError:
        return False
