"""Chat sessions: local handles on the one conversation that the service keeps per notebook."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from nlm_cdp.api.common import NoArgs, Timestamp
from nlm_cdp.errors import NotFound
from nlm_cdp.rpc import Args, Effect, Result, Scope, ToolContext, tool

if TYPE_CHECKING:
    from nlm_cdp.local.store import ChatSession


class SessionInfo(Result):
    age_seconds: int
    message_count: int
    last_activity: str | None


class SessionRow(Result):
    id: str
    notebook_id: str
    conversation_id: str | None = None
    age_seconds: int
    message_count: int
    last_activity: str | None


class SessionList(Result):
    sessions: list[SessionRow]


class SessionResult(Result):
    session: SessionRow


class SessionClosed(Result):
    status: Literal["closed"]
    session_id: str


async def known(ctx: ToolContext, session_id: str | None) -> ChatSession | None:
    if session_id is None:
        return None
    if (session := await ctx.store.session(session_id)) is None:
        raise NotFound("no session has this id", hint="Leave session_id out to start one; list_sessions shows them.")
    return session


async def counted(
    ctx: ToolContext, notebook: str, session: ChatSession | None, conversation: str | None
) -> ChatSession:
    """The session with this question in it: a new one after the first, and where the old one was closed meanwhile."""
    if session is not None:
        with suppress(NotFound):
            return await ctx.store.touch_session(session.id, conversation)
    return await ctx.store.touch_session((await ctx.store.create_session(notebook)).id, conversation)


def session_info(ctx: ToolContext, session: ChatSession) -> SessionInfo:
    return SessionInfo(**session_row(ctx, session).model_dump(include=set(SessionInfo.model_fields)))


def session_row(ctx: ToolContext, session: ChatSession) -> SessionRow:
    return SessionRow(
        id=session.id,
        notebook_id=session.notebook_id,
        conversation_id=session.conversation_id,
        age_seconds=max(0, int(ctx.now() - session.created)),
        message_count=session.message_count,
        last_activity=Timestamp(seconds=int(session.last_activity)).iso,
    )


class SessionArgs(Args):
    session_id: str


@tool(scope=Scope.READ, effect=Effect.READ)
async def list_sessions(ctx: ToolContext, args: NoArgs) -> SessionList:
    """List local chat sessions, latest activity first."""
    return SessionList(sessions=[session_row(ctx, session) for session in await ctx.store.sessions()])


@tool(scope=Scope.WRITE, effect=Effect.SET)
async def reset_session(ctx: ToolContext, args: SessionArgs) -> SessionResult:
    """Forget a session's history but keep its id."""
    session = await ctx.store.reset_session(args.session_id)
    if session is None:
        raise NotFound("no session has this id", hint="list_sessions shows the ones there are.")
    return SessionResult(session=session_row(ctx, session))


@tool(scope=Scope.WRITE, effect=Effect.SET)
async def close_session(ctx: ToolContext, args: SessionArgs) -> SessionClosed:
    """Close a local chat session."""
    if not await ctx.store.close_session(args.session_id):
        raise NotFound("no session has this id", hint="list_sessions shows the ones there are.")
    return SessionClosed(status="closed", session_id=args.session_id)
