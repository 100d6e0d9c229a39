"""Suggestions of what to ask or to make next: the frequent words of the chosen sources, in ready-made sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nlm_cdp.api.chat import questions as api
from nlm_cdp.api.sources.rows import READY
from nlm_cdp.sim.answers import INTERNAL, NOT_FOUND, Handler, Refusal
from nlm_cdp.sim.notebooks import TEXT_CHIP
from nlm_cdp.sim.records import Source
from nlm_cdp.sim.retrieval import frequent
from nlm_cdp.sim.state import Account
from nlm_cdp.wire.chat import Chip


def suggest_prompts(account: Account, request: api.SuggestPrompts) -> api.Prompts | Refusal:
    """Without a mode there is only status 13 (N)."""
    notebook = account.notebooks.get(request.notebook_id)
    if notebook is None:
        return Refusal(NOT_FOUND)
    if not request.mode:
        return Refusal(INTERNAL)
    surface = next((name for name, mode in api.MODES.items() if mode == request.mode), f"mode {request.mode}")
    words = words_of(notebook.sources[source_id] for source_id in request.source_ids if source_id in notebook.sources)
    about = f", with a look at {request.about}" if request.about else ""
    prompts = [
        api.Prompt(title=word.capitalize(), prompt=f"Simulated prompt for {surface}: explain {word}{about}.")
        for word in words
    ]
    return api.Prompts(prompts=prompts or None)


def suggest_steps(account: Account, request: api.SuggestSteps) -> api.Steps | Refusal:
    """About the sources that are named, or about all (N)."""
    notebook = account.notebooks.get(request.notebook_id)
    if notebook is None:
        return Refusal(NOT_FOUND)
    wanted = request.source_ids or list(notebook.sources)
    words = words_of(notebook.sources[source_id] for source_id in wanted if source_id in notebook.sources)
    return api.Steps(steps=[Chip(text=f"How do the sources explain {word}?", kind=TEXT_CHIP) for word in words] or None)


def words_of(sources: Iterable[Source]) -> list[str]:
    return frequent(" ".join(source.opening for source in sources if source.status == READY), 3)


HANDLERS: tuple[Handler[Any, Any], ...] = (
    Handler(api.SUGGEST_PROMPTS, suggest_prompts),
    Handler(api.SUGGEST_STEPS, suggest_steps),
)
