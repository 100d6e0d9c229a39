"""An answer as a tool shows it; and where its stream was lost, the same answer out of the conversation.

The service goes on writing when nobody listens. What is taken for the answer is the newest one that follows exactly
this question and is newer than its sending, by the service's own clock; a listing that was not read whole proves none.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from nlm_cdp.api.chat import chat, sessions
from nlm_cdp.api.chat.citations import CitedSource, cited_source, rendered, shortened, stored
from nlm_cdp.api.chat.conversation import newest
from nlm_cdp.api.common import Timestamp
from nlm_cdp.api.provenance import OptionalOrigin, provenance
from nlm_cdp.errors import NlmError
from nlm_cdp.rpc import Result, ToolContext
from nlm_cdp.wire.chat import THINKING, Answer, AnswerRow, Snapshot

if TYPE_CHECKING:
    from nlm_cdp.local.store import ChatSession

LOOKS = (0.5, 1.5, 3.0)
"""Seconds before each look at a conversation that is idle; while an answer is being written, there are more of them."""
WRITING = 3.0
RECENT = 6
"""Turns that are looked at."""


@dataclass(slots=True)
class Question:
    """One question on its way, and what is known of its conversation by now.

    `ahead`: seconds that the service's clock is ahead of ours. `sent`: when the question was sent, by that clock.
    """

    text: str
    notebook_id: str
    sources: list[str]
    titles: dict[str, str | None]
    session_id: str | None
    source_format: str
    timeout: float
    ahead: float
    conversation: str | None = None
    sent: float | None = None


def clock_of(viewed: Timestamp | None, now: float) -> float:
    """How far the service's clock is ahead: a notebook just read says when that was (C)."""
    return viewed.seconds + viewed.nanos / 1e9 - now if viewed is not None else 0.0


class AnswerResult(Result):
    """While `status` is running, only what names the answer is there."""

    status: Literal["success", "running"] = "success"
    answer_id: str | None = None
    question: str
    answer: str | None = None
    session_id: str | None = None
    conversation_id: str | None = None
    notebook_id: str
    notebook_url: str
    session_info: sessions.SessionInfo | None = None
    sources: list[CitedSource] | None = None
    suggested_questions: list[str] | None = None
    truncated: bool | None = None
    undecoded: list[str] | None = None
    note: str | None = None
    origin: OptionalOrigin


def answer_result(
    ctx: ToolContext, question: Question, answer: Answer, session: ChatSession, note: str | None
) -> AnswerResult:
    cited = [cited_source(item, question.titles) for item in answer.citations] or None
    return AnswerResult(
        question=question.text,
        answer=rendered(answer, cited or [], question.source_format),
        session_id=session.id,
        conversation_id=question.conversation,
        notebook_id=question.notebook_id,
        notebook_url=ctx.call.notebook_url(question.notebook_id),
        session_info=sessions.session_info(ctx, session),
        sources=cited if question.source_format != "none" else None,
        suggested_questions=answer.follow_ups,
        truncated=answer.truncated or None,
        undecoded=answer.undecoded or None,
        note=note,
        origin=provenance(ctx, answer.text, ai_generated=True),
    )


def running(ctx: ToolContext, question: Question, answer_id: str, said: str = "") -> AnswerResult:
    return AnswerResult(
        status="running",
        answer_id=answer_id,
        question=question.text,
        notebook_id=question.notebook_id,
        notebook_url=ctx.call.notebook_url(question.notebook_id),
        note=f"{said or 'not answered yet'}; call get_answer with wait: true",
        origin=None,
    )


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


# Out of the conversation


class Look(NamedTuple):
    """What the conversation shows; `writing`: an answer is still being written there."""

    answer: Answer | None
    writing: bool


async def read_back(ctx: ToolContext, question: Question, deadline: float) -> Look | None:
    """The last look at the conversation: until the answer is there, nothing more is to come, or the time is over.

    None: no look succeeded.
    """
    seen: Look | None = None
    idle = list(LOOKS)
    while idle:
        writing = seen is not None and seen.writing and ctx.now() < deadline
        await ctx.sleep(WRITING if writing else idle.pop(0))
        await ctx.progress("the stream was lost: looking for the answer in the conversation")
        try:
            seen = await look(ctx, question)
        except NlmError:
            continue
        if seen.answer is not None:
            break
    return seen


async def look(ctx: ToolContext, question: Question) -> Look:
    """One look. The conversation's id is the service's: what was known of it may have been replaced."""
    conversation = await newest(ctx, question.notebook_id) or question.conversation
    if conversation is None:
        return Look(None, writing=False)
    notebook = question.notebook_id
    state = await ctx.call(chat.STATUS, chat.GetStatus(conversation_id=conversation), notebook=notebook)
    request = chat.ListTurns(conversation_id=conversation, limit=RECENT)
    turns = await ctx.call(chat.LIST_TURNS, request, notebook=notebook)
    row = answer_in(turns, question)
    writing = state.status == chat.GENERATING
    if row is None or (writing and turns.turns and turns.turns[0].answer is row):  # what is being written may show
        return Look(None, writing=writing)
    question.conversation = conversation
    return Look(stored(row), writing=False)


def answer_in(page: chat.Turns, question: Question) -> AnswerRow | None:
    """The answer that follows the question; turns come newest first."""
    if page.undecoded or question.sent is None:
        return None
    for reply, asked in pairwise(page.turns or []):
        if reply.role != chat.REPLY or reply.answer is None or not reply.answer.text.strip():
            continue
        if asked.role == chat.QUESTION and asked.question == question.text and is_since(asked.at, question.sent):
            return reply.answer
    return None


def is_since(at: Timestamp | None, sent: float) -> bool:
    """Whether a turn is from then on; one whose time is in whole seconds may have begun within its second."""
    if at is None:
        return False
    return at.seconds + at.nanos / 1e9 >= sent if at.nanos else at.seconds >= math.floor(sent)
