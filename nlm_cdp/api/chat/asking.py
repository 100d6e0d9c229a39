"""Asking: at once, or in the background with an id to fetch the answer by.

A question is never sent twice, and questions to one notebook go one after the other: overlapping first ones would each
start a conversation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import Field

from nlm_cdp.api.chat import chat, sessions
from nlm_cdp.api.chat.answers import AnswerResult, Question, answer_result, clock_of, look, read_back, running, watcher
from nlm_cdp.api.chat.conversation import asked_notebook, newest
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.sources.sources import chosen
from nlm_cdp.errors import Cancelled, NlmError, NotFound, Outcome, RateLimited
from nlm_cdp.rpc import Args, Effect, Job, Result, Scope, ToolContext, tool
from nlm_cdp.wire.chat import Answer

READ_BACK = "the stream of this answer was lost; it was read back from the conversation"


class AskArgs(Args):
    question: str = Field(min_length=1)
    notebook: str | None = None
    notebook_url: str | None = None
    session_id: str | None = None
    source_ids: list[str] | None = Field(None, min_length=1)
    source_format: Literal["none", "inline", "footnotes", "json"] = "none"
    background: bool = Field(False, description="return at once; get_answer has the rest")
    timeout_s: float = Field(180, ge=5, le=900)


@tool(
    scope=Scope.CHAT,
    effect=Effect.CREATE,
    rpcs=(chat.ASK, chat.LIST_CHATS, chat.STATUS, chat.LIST_TURNS, notebooks.GET),
    was=("ask_notebook",),
)
async def ask_question(ctx: ToolContext, args: AskArgs) -> AnswerResult:
    """Ask a notebook a question; its sources answer. Takes 10-60 s and uses quota."""
    session = await sessions.known(ctx, args.session_id)
    notebook = await asked_notebook(ctx, session, args.notebook_url, args.notebook)
    row = (await notebooks.get(ctx, notebook)).notebook
    sources = {source.id: source for source in row.sources}
    question = Question(
        text=args.question,
        notebook_id=notebook,
        sources=chosen(args.source_ids, sources),
        titles={id: source.name for id, source in sources.items()},
        session_id=session.id if session else None,
        source_format=args.source_format,
        timeout=args.timeout_s,
        ahead=clock_of(row.meta.viewed if row.meta else None, ctx.now()),
    )
    if not args.background:
        return await answered(ctx, question)
    job = ctx.background.start("ans", question, lambda job: answered(replace(ctx, progress=job.report), question))
    return running(ctx, question, job.id)


async def answered(ctx: ToolContext, question: Question) -> AnswerResult:
    """The answer to a question, and the session that it is counted in."""
    async with ctx.exclusive(f"chat:{question.notebook_id}"):
        # another question may have been answered meanwhile
        session = await ctx.store.session(question.session_id) if question.session_id else None
        question.conversation = (
            session.conversation_id if session else await latest_conversation(ctx, question.notebook_id)
        )
        answer, note = await streamed(ctx, question)
        if note is None:
            note = await real_conversation(ctx, question)
        session = await sessions.counted(ctx, question.notebook_id, session, question.conversation)
    return answer_result(ctx, question, answer, session, note)


async def latest_conversation(ctx: ToolContext, notebook: str) -> str | None:
    """The notebook's conversation as far as we were told; None lets the service continue its own."""
    sessions = await ctx.store.sessions()
    return next((s.conversation_id for s in sessions if s.notebook_id == notebook and s.conversation_id), None)


async def real_conversation(ctx: ToolContext, question: Question) -> str | None:
    """Take over the id the service gave the conversation; the answer stands even where that cannot be asked."""
    try:
        question.conversation = await newest(ctx, question.notebook_id) or question.conversation
    except NlmError as exc:
        return f"the answer is complete, but the conversation's id could not be read ({exc.code})"
    return None


async def streamed(ctx: ToolContext, question: Question) -> tuple[Answer, str | None]:
    """The answer as it streams; where that was cut off, from the conversation, with a note that says so."""
    request = chat.Ask(
        sources=question.sources,
        question=question.text,
        context=chat.ASK_CONTEXT,
        conversation_id=question.conversation,
        notebook_id=question.notebook_id,
    )
    deadline = ctx.now() + question.timeout
    question.sent = ctx.now() + question.ahead
    partial: Answer | None = None
    lost: NlmError | None = None
    try:
        partial = await ctx.call.ask(
            chat.ASK, request, notebook=question.notebook_id, timeout=question.timeout, watch=watcher(ctx)
        )
    except NlmError as exc:
        if exc.outcome is not Outcome.UNKNOWN or "reason" in exc.details:  # with a reason, it did answer: with nothing
            raise
        lost = exc
    if partial is not None and not partial.truncated:
        return partial, None
    seen = await read_back(ctx, question, deadline)
    if seen is not None and seen.answer is not None:
        return seen.answer, READ_BACK
    if lost is None and partial is not None:
        return partial, None
    raise explained(lost or NotFound("there is no answer"), writing=seen and seen.writing) from None


def explained(lost: NlmError, *, writing: bool | None) -> NlmError:
    """The error of a lost stream with what the conversation showed afterwards; `writing`: None if nothing."""
    if writing is None:
        return lost.also("The conversation could not be read afterwards.")
    if writing:
        lost.state, lost.hint = "generating", "The answer is still being written: read it later with get_conversation."
        return lost
    if lost.details.get("cause") == RateLimited.code:
        return RateLimited(
            lost.message.partition(";")[0],
            outcome=Outcome.REJECTED,
            retry_after_s=lost.retry_after_s,
            details=lost.details,
        )
    return lost.also("The conversation was read afterwards: no answer to this question is there.")


# In the background


class AnswerArgs(Args):
    answer_id: str


class GetAnswerArgs(AnswerArgs):
    wait: bool = False
    timeout_s: float = Field(120, ge=1, le=600)


class AnswerCancelled(Result):
    status: Literal["cancelled", "finished"]
    answer_id: str
    note: str | None = None


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(chat.STATUS, chat.LIST_CHATS, chat.LIST_TURNS))
async def get_answer(ctx: ToolContext, args: GetAnswerArgs) -> AnswerResult:
    """The answer to a question asked in the background."""
    job, question = known(ctx, args.answer_id)
    if args.wait:
        await waited(ctx, job, args.timeout_s)
    if job.status == "running":
        return running(ctx, question, job.id, job.said)
    if job.status == "cancelled":
        raise Cancelled("this answer was cancelled", hint="Ask again if it is needed.", outcome=Outcome.UNKNOWN)
    lost = job.error
    if lost is not None and (lost.outcome is not Outcome.UNKNOWN or not await found_later(ctx, job, question)):
        raise lost.with_traceback(None)
    result: AnswerResult = job.result
    return result.model_copy(update={"answer_id": job.id})


def known(ctx: ToolContext, answer_id: str) -> tuple[Job, Question]:
    job = ctx.background.find(answer_id)
    if job is None or not isinstance(job.about, Question):
        raise NotFound(
            "no answer has this id",
            hint="Answers are kept by this process alone, the last ones only; get_conversation reads what the service"
            " keeps.",
        )
    return job, job.about


async def waited(ctx: ToolContext, job: Job, timeout: float) -> None:
    """Wait for a job, and pass on what it says meanwhile."""
    deadline, said = ctx.now() + timeout, ""
    while (left := deadline - ctx.now()) > 0 and not await job.finished(min(left, 1.0)):
        if job.said != said:
            said = job.said
            await ctx.progress(said)


async def found_later(ctx: ToolContext, job: Job, question: Question) -> bool:
    """Whether an answer that was lost is in the conversation by now; it takes the error's place."""
    try:
        seen = await look(ctx, question)
    except NlmError:
        return False
    if seen.answer is None:
        return False
    session = await ctx.store.session(question.session_id) if question.session_id else None
    session = await sessions.counted(ctx, question.notebook_id, session, question.conversation)
    job.result, job.error = answer_result(ctx, question, seen.answer, session, READ_BACK), None
    job.status = "done"
    return True


@tool(scope=Scope.CHAT, effect=Effect.SET, rpcs=(chat.CANCEL, chat.LIST_CHATS))
async def cancel_answer(ctx: ToolContext, args: AnswerArgs) -> AnswerCancelled:
    """Stop an answer being written."""
    job, question = known(ctx, args.answer_id)
    note = None
    if job.status == "running":
        note = await stopped(ctx, job, question) if question.sent is not None else None
        await ctx.background.cancel(job.id)
    status: Literal["cancelled", "finished"] = "cancelled" if job.status == "cancelled" else "finished"
    return AnswerCancelled(status=status, answer_id=job.id, note=note)


async def stopped(ctx: ToolContext, job: Job, question: Question) -> str | None:
    """Have the service stop writing while our stream still keeps the next question waiting; a note if it may not."""
    try:
        conversation = await newest(ctx, question.notebook_id) or question.conversation
        if conversation is None or job.status != "running":
            return None
        await ctx.call(
            chat.CANCEL,
            chat.CancelGeneration(conversation_id=conversation),
            notebook=question.notebook_id,
            timeout=10.0,
        )
    except NlmError as exc:
        return f"the stream was ended, but the service may go on writing ({exc.code})"
    return None
