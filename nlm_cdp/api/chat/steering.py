"""What a notebook's chat is told to be, and what the service proposes to ask or to make next."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nlm_cdp.api.common import (
    InNotebook,
    NotebookArgs,
    Origin,
    RequestContext,
    legible,
    provenance,
    provenance_field,
    refuse,
)
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.notebooks.project import GOALS, LENGTHS, ChatSettings, Goal
from nlm_cdp.api.notebooks.reading import ChatSettingsInfo, chat_settings
from nlm_cdp.api.sources.sources import chosen, listing
from nlm_cdp.rpc import Effect, Result, Rpc, Scope, ToolContext, tool
from nlm_cdp.wire.chat import Chip
from nlm_cdp.wire.pblite import Message, Tag

# Messages


class SuggestPrompts(InNotebook):
    """N. Without a mode the service answers status 13."""

    source_ids: Annotated[list[str], Tag(3, each=(1,))]
    mode: Annotated[int | None, Tag(4)] = None
    about: Annotated[str | None, Tag(6)] = None


class Prompt(Message):
    title: Annotated[str, Tag(1)]
    prompt: Annotated[str, Tag(2)]


class Prompts(Message):
    prompts: Annotated[list[Prompt] | None, Tag(1, lenient=True)] = None


class SuggestSteps(Message):
    """N: all sources where none is named."""

    context: Annotated[RequestContext | None, Tag(1)] = None
    notebook_id: Annotated[str, Tag(2)]
    source_ids: Annotated[list[str], Tag(3, each=(1, 1))] = []


class Steps(Message):
    steps: Annotated[list[Chip] | None, Tag(1, lenient=True)] = None


# Calls

SUGGEST_PROMPTS = Rpc(
    "otmP3b", "GeneratePromptSuggestions", SuggestPrompts, Prompts, Effect.READ, null=True, timeout=60.0, grade="N"
)
SUGGEST_STEPS = Rpc(
    "OcvKNc", "NextStepSuggestions", SuggestSteps, Steps, Effect.READ, null=True, timeout=60.0, grade="N"
)

# What the chat is told to be


class ConfigureArgs(NotebookArgs):
    goal: Literal["default", "custom", "learning_guide"] | None = None
    prompt: str | None = Field(None, min_length=1, max_length=10_000, description="for custom")
    length: Literal["default", "longer", "shorter"] | None = None


class Configured(Result):
    notebook_id: str
    settings: ChatSettingsInfo


@tool(scope=Scope.WRITE, effect=Effect.SET, rpcs=(notebooks.CONFIGURE_CHAT, notebooks.GET))
async def configure_chat(ctx: ToolContext, args: ConfigureArgs) -> Configured:
    """Set how a notebook's chat answers."""
    if args.goal is None and args.prompt is None and args.length is None:
        raise refuse("nothing to change", "Give goal, prompt or length.")
    if args.prompt is not None and args.goal not in (None, "custom"):
        raise refuse("a prompt belongs to the goal custom, and would be ignored with another")
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    async with ctx.exclusive(f"settings:{notebook}"):  # what is kept is read before it is written
        now = (await notebooks.get(ctx, notebook)).notebook.chat or ChatSettings()
        settings = ChatSettings(goal=new_goal(args, now.goal or Goal(code=1)), length=new_length(args, now.length))
        request = notebooks.ConfigureChat(notebook_id=notebook, settings=settings)
        row = await ctx.call(notebooks.CONFIGURE_CHAT, request)
    return Configured(notebook_id=row.id, settings=chat_settings(row.chat or ChatSettings()))


def new_goal(args: ConfigureArgs, now: Goal) -> Goal:
    """The goal to send: all of it is written each time. The service keeps an old prompt beside another goal."""
    code = code_of(GOALS, args.goal or ("custom" if args.prompt is not None else None), now.code or 1)
    if GOALS.get(code) in ("default", "learning_guide"):
        return Goal(code=code)
    prompt = args.prompt or now.prompt
    if not prompt and GOALS.get(code) == "custom":
        raise refuse("the goal custom needs a prompt")
    return Goal(code=code, prompt=prompt)


def new_length(args: ConfigureArgs, now: int | None) -> int:
    return code_of(LENGTHS, args.length, now or 1)


def code_of(names: dict[int, str], name: str | None, otherwise: int) -> int:
    return next((code for code, known in names.items() if known == name), otherwise)


# What may be asked or made

MODES = {
    "audio_deep_dive": 1,
    "audio_brief": 2,
    "video_explainer": 3,
    "chat": 4,
    "audio_critique": 5,
    "audio_debate": 6,
    "video_breakdown": 7,
    "quiz": 8,
    "flashcards": 9,
    "video_short": 10,
}
NEXT_STEPS = "next_steps"


class SuggestArgs(NotebookArgs):
    about: str | None = Field(None, min_length=1)
    source_ids: list[str] | None = Field(None, min_length=1)
    surface: Literal[
        "chat",
        "next_steps",
        "audio_deep_dive",
        "audio_brief",
        "audio_critique",
        "audio_debate",
        "video_explainer",
        "video_breakdown",
        "video_short",
        "quiz",
        "flashcards",
    ] = "chat"


class Suggestion(Result):
    title: str
    prompt: str


class Suggestions(Result):
    notebook_id: str
    suggestions: list[Suggestion]
    undecoded: list[str] | None = None
    origin: Origin = provenance_field()


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(SUGGEST_PROMPTS, SUGGEST_STEPS, notebooks.GET))
async def suggest_questions(ctx: ToolContext, args: SuggestArgs) -> Suggestions:
    """Suggest questions to ask or prompts to generate with."""
    if args.surface == NEXT_STEPS and args.about is not None:
        raise refuse("next_steps cannot be steered: leave out about")
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    sources = chosen(args.source_ids, (await listing(ctx, notebook)).rows)
    if args.surface == NEXT_STEPS:
        steps = await ctx.call(SUGGEST_STEPS, SuggestSteps(notebook_id=notebook, source_ids=sources))
        found = [Suggestion(title=step.text, prompt=step.text) for step in steps.steps or []]
        undecoded = steps.undecoded
    else:
        request = SuggestPrompts(notebook_id=notebook, source_ids=sources, mode=MODES[args.surface], about=args.about)
        prompts = await ctx.call(SUGGEST_PROMPTS, request)
        found = [Suggestion(title=item.title, prompt=item.prompt) for item in prompts.prompts or []]
        undecoded = prompts.undecoded
    text = "\n".join(item.prompt for item in found)
    return Suggestions(
        notebook_id=notebook,
        suggestions=legible(found, undecoded),
        undecoded=list(undecoded) or None,
        origin=provenance(ctx, text, ai_generated=True),
    )
