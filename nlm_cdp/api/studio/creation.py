"""Making an artifact, on the wire: one call for each type, told apart by the type and by where its options stand.

`CREATIONS` says for each type how a caller's order becomes a request; there is no other place that knows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

from nlm_cdp.api.common import Empty, RequestContext
from nlm_cdp.api.studio.blocks import (
    Artifact,
    AudioOptions,
    FlashcardOptions,
    InfographicOptions,
    MindMapOptions,
    QuizOptions,
    ReportOptions,
    SlideOptions,
    TextOptions,
    VideoOptions,
)
from nlm_cdp.api.studio.vocabulary import OPTIONS
from nlm_cdp.rpc import Effect, Rpc
from nlm_cdp.wire.pblite import Message, Tag

CONTEXT = RequestContext(app=[1, 4, 8, 2, 3, 6])
CINEMATIC = OPTIONS["video"]["format"]["cinematic"]

# Messages


class Create(Message):
    """Today with capabilities (P); the context `[2]` of January 2026 (C) is still sent by one client (M)."""

    context: Annotated[RequestContext, Tag(1)] = CONTEXT
    notebook_id: Annotated[str, Tag(2)]
    sources: Annotated[list[str], Tag(3, 4, each=(1, 1))]


class CreateAudio(Create):
    type: Annotated[Literal[1], Tag(3, 3)] = 1
    options: Annotated[AudioOptions, Tag(3, 7, 2)]


class CreateReport(Create):
    type: Annotated[Literal[2], Tag(3, 3)] = 2
    options: Annotated[ReportOptions, Tag(3, 8, 2)]


class CreateVideo(Create):
    type: Annotated[Literal[3], Tag(3, 3)] = 3
    options: Annotated[VideoOptions, Tag(3, 9, 3)]


class CreateFlashcards(Create):
    type: Annotated[Literal[4], Tag(3, 3)] = 4
    options: Annotated[FlashcardOptions, Tag(3, 10, 2)]


class CreateQuiz(Create):
    type: Annotated[Literal[4], Tag(3, 3)] = 4
    options: Annotated[QuizOptions, Tag(3, 10, 2)]


class CreateMindMap(Create):
    type: Annotated[Literal[4], Tag(3, 3)] = 4
    options: Annotated[MindMapOptions, Tag(3, 10, 2)]


class CreateInfographic(Create):
    type: Annotated[Literal[7], Tag(3, 3)] = 7
    options: Annotated[InfographicOptions, Tag(3, 15, 1)]


class CreateSlides(Create):
    type: Annotated[Literal[8], Tag(3, 3)] = 8
    options: Annotated[SlideOptions, Tag(3, 17, 1)]


class CreateTable(Create):
    type: Annotated[Literal[9], Tag(3, 3)] = 9
    options: Annotated[TextOptions, Tag(3, 19, 2)]


class CreateInteractiveReport(Create):
    """M; the flags of the context's provenance are said to be a template."""

    type: Annotated[Literal[11], Tag(3, 3)] = 11
    options: Annotated[TextOptions, Tag(3, 35, 2)]


class Created(Message):
    """Nothing, and no status either, where the account does not have the feature (P)."""

    artifact: Annotated[Artifact | None, Tag(1)] = None


class Pair(Message):
    key: Annotated[str, Tag(1)]
    value: Annotated[str, Tag(2)] = ""


class Act(Message):
    """A prompt of the service's own over some sources, answered at once and not stored."""

    sources: Annotated[list[str], Tag(1, each=(1, 1))]
    values: Annotated[list[Pair], Tag(6, 2)]
    language: Annotated[str | None, Tag(6, 3)] = ""
    context: Annotated[RequestContext, Tag(8)] = RequestContext(capabilities=[1], provenance=None)


class DrawMindMap(Act):
    action: Annotated[Literal["interactive_mindmap"], Tag(6, 1)] = "interactive_mindmap"


class SuggestFormats(Act):
    """Refused with status 13 in the one recording there is (C)."""

    action: Annotated[Literal["suggested_report_formats"], Tag(6, 1)] = "suggested_report_formats"


class Drawn(Message):
    """Not understood: the ids beside the map."""

    json_text: Annotated[str, Tag(1, 1)]
    f3: Annotated[list[Any] | None, Tag(1, 3)] = None


def creation(variant: str, request: type[Create], grade: str = "C") -> Rpc[Any, Created]:
    return Rpc(
        "R7cb6c",
        "CreateArtifact",
        request,
        Created,
        Effect.CREATE,
        variant=variant,
        null=True,
        timeout=120.0,
        grade=grade,
    )


def act(variant: str, request: type[Act], response: type[Message]) -> Rpc[Any, Any]:
    return Rpc("yyryJe", "ActOnSources", request, response, Effect.CREATE, variant=variant, timeout=120.0)


# Calls

AUDIO = creation("audio", CreateAudio, "P")
REPORT = creation("report", CreateReport)
VIDEO = creation("video", CreateVideo, "P")
FLASHCARDS = creation("flashcards", CreateFlashcards)
QUIZ = creation("quiz", CreateQuiz)
MIND_MAP = creation("mind-map", CreateMindMap, "P")
INFOGRAPHIC = creation("infographic", CreateInfographic, "P")
SLIDES = creation("slides", CreateSlides, "P")
TABLE = creation("table", CreateTable, "P")
INTERACTIVE_REPORT = creation("interactive-report", CreateInteractiveReport, "M")
DRAW_MIND_MAP: Rpc[DrawMindMap, Drawn] = act("mind-map", DrawMindMap, Drawn)
SUGGEST_FORMATS = act("formats", SuggestFormats, Empty)

# Orders


class Order(NamedTuple):
    """What a caller wants; `values`: what is sent for every option of the type."""

    notebook: str
    sources: list[str]
    prompt: str | None
    language: str | None
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Creation:
    """The call for one type, and the options of its request beside prompt and language."""

    rpc: Rpc[Any, Created]
    more: Callable[[Order], dict[str, Any]] = lambda order: order.values

    def request(self, order: Order) -> Create:
        options = {"prompt": order.prompt, "language": order.language} | self.more(order)
        made: Create = self.rpc.request(notebook_id=order.notebook, sources=order.sources, options=options)
        return made


def of_recording(order: Order) -> dict[str, Any]:
    return {"sources": order.sources, **order.values}


def of_video(order: Order) -> dict[str, Any]:
    """A prompt takes the place of the style's number; the cinematic format has none."""
    styled = order.values["style_prompt"] is None and order.values["format"] != CINEMATIC
    return {**of_recording(order), "style": order.values["style"] if styled else None}


def of_report(order: Order) -> dict[str, Any]:
    preset = order.values["format"]
    prompt = "\n\n".join(part for part in (preset.directive, order.prompt) if part)
    return {
        "kind": preset.title,
        "description": preset.description,
        "sources": order.sources,
        "prompt": prompt,
        "f8": True,
    }


def amount(order: Order) -> dict[str, Any]:
    return {"amount": order.values}


CREATIONS: dict[str, Creation] = {
    "audio": Creation(AUDIO, of_recording),
    "video": Creation(VIDEO, of_video),
    "report": Creation(REPORT, of_report),
    "quiz": Creation(QUIZ, amount),
    "flashcards": Creation(FLASHCARDS, amount),
    "mind_map": Creation(MIND_MAP, lambda _: {}),
    "infographic": Creation(INFOGRAPHIC),
    "slide_deck": Creation(SLIDES),
    "data_table": Creation(TABLE),
}
