"""What to ask or to make next, as the service proposes it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nlm_cdp.api.common import InNotebook, NotebookArgs, RequestContext, legible, refuse
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.provenance import OriginField, provenance
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

# The tool

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
    origin: OriginField


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
