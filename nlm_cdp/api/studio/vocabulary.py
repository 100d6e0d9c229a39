"""The options of each type of artifact: the words a caller may use, and what stands for them on the wire. Pure.

A generation costs quota, so nothing is guessed: an option that is unknown, misspelt or would be ignored is an error.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, NamedTuple

from nlm_cdp.api.common import refuse
from nlm_cdp.errors import InvalidArgument


class Preset(NamedTuple):
    """A kind of report: the service knows it by its title, and writes what the directive says."""

    title: str
    description: str
    directive: str


class Rule(NamedTuple):
    """An option that is ignored, or needed, where another one is one of these words."""

    option: str
    other: str
    words: tuple[str, ...]


PRESETS = {
    "briefing_doc": Preset(
        "Briefing Doc",
        "Key insights and important quotes",
        "Write a briefing document: a summary for someone in a hurry, the main themes in depth, important quotes in "
        "their context, and what follows from them. Use headings and bullet points.",
    ),
    "study_guide": Preset(
        "Study Guide",
        "Short-answer quiz, essay questions, glossary",
        "Write a study guide: key concepts, a quiz of short-answer questions with its answer key, questions for "
        "essays without answers, and a glossary.",
    ),
    "blog_post": Preset(
        "Blog Post",
        "Insightful takeaways in readable article format",
        "Write a blog post about the most surprising and useful points: an engaging title and opening, a section for "
        "each point, and a closing thought.",
    ),
    "custom": Preset("Custom Report", "Custom format", ""),
}
"""Titles and descriptions as two clients send them (P); the directives are ours."""

Words = Mapping[str, Any]
FREE_TEXT: Words = {}

AMOUNT: dict[str, Words] = {
    "quantity": {"standard": 2, "fewer": 1, "more": 3},
    "difficulty": {"medium": 2, "easy": 1, "hard": 3},
}
OPTIONS: dict[str, dict[str, Words]] = {
    "audio": {
        "format": {"deep_dive": 1, "brief": 2, "critique": 3, "debate": 4},
        "length": {"default": 2, "short": 1, "long": 3},
    },
    "video": {
        "format": {"explainer": 1, "brief": 2, "cinematic": 3, "short": 4},
        "style": {
            "auto": 1,
            "classic": 2,
            "whiteboard": 3,
            "heritage": 4,
            "paper_craft": 5,
            "watercolor": 6,
            "anime": 7,
            "retro_print": 8,
            "kawaii": 9,
            "custom": None,
        },
        "style_prompt": FREE_TEXT,
    },
    "report": {"format": PRESETS},
    "quiz": AMOUNT,
    "flashcards": AMOUNT,
    "mind_map": {"kept_as": {"artifact": "artifact", "note": "note"}},
    "infographic": {
        "orientation": {"landscape": 1, "portrait": 2, "square": 3},
        "detail": {"standard": 2, "concise": 1, "detailed": 3},
        "style": {
            "auto": 1,
            "sketch_note": 2,
            "professional": 3,
            "bento": 4,
            "editorial": 5,
            "instructional": 6,
            "bricks": 7,
            "clay": 8,
            "anime": 9,
            "kawaii": 10,
            "scientific": 11,
        },
    },
    # what stands for the default length is disputed (1 and 3 are sent): it is left out
    "slide_deck": {"format": {"detailed": 1, "presenter": 2}, "length": {"default": None, "short": 2}},
    "data_table": {},
}
"""Type -> option -> word -> what is sent; the first word is the default."""

STYLES = tuple(word for word in OPTIONS["video"]["style"] if word != "custom")
IGNORED = {
    "video": (
        Rule("style", "format", ("cinematic", "short")),
        Rule("style_prompt", "format", ("cinematic", "short")),
        Rule("style_prompt", "style", STYLES),
    )
}
NEEDS = {"video": Rule("style_prompt", "style", ("custom",)), "report": Rule("instructions", "format", ("custom",))}


def chosen(kind: str, given: Mapping[str, str], instructions: str | None) -> dict[str, Any]:
    """What is sent for every option of a type. Raises InvalidArgument before anything is."""
    known = OPTIONS[kind]
    for name in given:
        if name not in known:
            raise unknown(f"{kind} has no option {name[:80]!r}", name, known)
    values = {name: value_of(name, words, given.get(name)) for name, words in known.items()}
    for option, other, words in IGNORED.get(kind, ()):
        if option in given and given.get(other) in words:
            raise refuse(f"{option} has no effect where {other} is {given[other]}", f"Leave {option} out.")
    if (need := NEEDS.get(kind)) is not None and given.get(need.other) in need.words:
        there = given.get(need.option) if need.option in known else instructions
        if there is None:
            raise refuse(f"{need.other} {given[need.other]} needs {need.option}")
    return values


def value_of(name: str, words: Words, word: str | None) -> Any:
    if not words:
        if word is not None and not word.strip():
            raise refuse(f"{name} is empty")
        return word
    if word is None:
        return next(iter(words.values()))
    if word not in words:
        raise unknown(f"{name} cannot be {word[:80]!r}", word, words)
    return words[word]


def unknown(message: str, word: str, known: Mapping[str, Any]) -> InvalidArgument:
    close = difflib.get_close_matches(word, known, n=1)
    meant = f"Did you mean {close[0]}? " if close else ""
    return refuse(message, f"{meant}Possible: {', '.join(known) or 'none'}.")


def told(most: int = 4) -> str:
    """Every option, and the words of formats, for whoever has to choose; an error names the others for free."""
    kinds: dict[str, list[str]] = {}
    for kind, options in OPTIONS.items():
        if options:
            said = ", ".join(
                f"format {spelt(list(words), most)}" if name == "format" else name for name, words in options.items()
            )
            kinds.setdefault(said, []).append(kind)
    return "; ".join(f"{'/'.join(names)}: {said}" for said, names in kinds.items())


def spelt(words: list[str], most: int) -> str:
    return "|".join(words if len(words) <= most else [*words[: most - 1], "…"])
