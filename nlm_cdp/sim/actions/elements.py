"""Actions on elements that a report suggests: their options, with every path of the mask that the web app sets."""

from __future__ import annotations

from typing import Any

from nlm_cdp.api.studio import blocks
from nlm_cdp.api.studio import elements as api
from nlm_cdp.rpc import Rpc
from nlm_cdp.sim.actions import preparing
from nlm_cdp.sim.actions.action import Action, Made
from nlm_cdp.sim.actions.studio import LANGUAGE, PROMPT
from nlm_cdp.sim.generation import suggest
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account

APP = ("free_text_steering_prompt", "language_code")


def under(block: str, *fields: str) -> list[str]:
    """The paths of a mask, in the order they are sent."""
    return [*(f"{block}.generation_options.{field}" for field in fields), "sources"]


def configured(name: str, rpc: Rpc[Any, Any], type: int, mask: list[str], options: Any) -> Action:
    """The options of a new suggestion."""

    def make(account: Account, notebook: Notebook) -> Made:
        found = preparing.sources(account, notebook)
        suggested = suggest(account, notebook, type, options).row.id
        return rpc.request(artifact_id=suggested, sources=found, options=options, mask=mask), notebook.id

    return Action(f"element-{name.replace(' ', '-')}", f"Suggested {name}", rpc, make)


ACTIONS = (
    configured(
        "audio",
        api.AUDIO,
        blocks.AUDIO,
        under("audio_overview", "episode_focus", "episode_length", "language_code", "show_format"),
        blocks.AudioOptions(prompt=PROMPT, length=2, language=LANGUAGE, format=2),
    ),
    configured(
        "video",
        api.VIDEO,
        blocks.VIDEO,
        under("explainer_video", "language_code", "video_focus", "template_format", "video_overview_style"),
        blocks.VideoOptions(prompt=PROMPT, language=LANGUAGE, format=3, style=1),
    ),
    configured(
        "flashcards",
        api.FLASHCARDS,
        blocks.APP,
        under(
            "app",
            *APP,
            "flashcards_generation_options.card_quantity",
            "flashcards_generation_options.flashcards_difficulty",
        ),
        blocks.FlashcardOptions(prompt=PROMPT, language=LANGUAGE, amount=blocks.Amount(quantity=1, difficulty=2)),
    ),
    configured(
        "quiz",
        api.QUIZ,
        blocks.APP,
        under("app", *APP, "quiz_generation_options.question_quantity", "quiz_generation_options.quiz_difficulty"),
        blocks.QuizOptions(prompt=PROMPT, language=LANGUAGE, amount=blocks.Amount(quantity=2, difficulty=2)),
    ),
    configured(
        "mind map",
        api.MIND_MAP,
        blocks.APP,
        under("app", *APP),
        blocks.MindMapOptions(prompt=PROMPT, language=LANGUAGE),
    ),
    configured(
        "infographic",
        api.INFOGRAPHIC,
        blocks.INFOGRAPHIC,
        under("infographic", "user_steering_prompt", "language_code", "aspect_ratio", "information_density", "style"),
        blocks.InfographicOptions(prompt=PROMPT, language=LANGUAGE, orientation=1, detail=2, style=1),
    ),
    configured(
        "slides",
        api.SLIDES,
        blocks.SLIDES,
        under("slides", "user_steering_prompt", "language_code", "deck_type", "length"),
        blocks.SlideOptions(prompt=PROMPT, language=LANGUAGE, format=1, length=3),
    ),
)
