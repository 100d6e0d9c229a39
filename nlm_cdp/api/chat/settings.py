"""What a notebook's chat is told to be: its goal, a prompt, and the length of its answers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from nlm_cdp.api.common import NotebookArgs, refuse
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.notebooks.project import GOALS, LENGTHS, ChatSettings, Goal
from nlm_cdp.api.notebooks.reading import ChatSettingsInfo, chat_settings
from nlm_cdp.rpc import Effect, Result, Scope, ToolContext, tool


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
