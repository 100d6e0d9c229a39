"""Calls about artifacts that the web app makes and no tool needs, declared so that what is captured is recognised.

Before the web app generates a suggested element of an interactive report, it writes the element's options: one variant
for each type, told apart by where the options stand, like in `creation`. The mask names the options that are set.
"""

from __future__ import annotations

from typing import Annotated, Any

from nlm_cdp.api.common import Empty, RequestContext
from nlm_cdp.api.studio.blocks import (
    Artifact,
    AudioOptions,
    FlashcardOptions,
    InfographicOptions,
    MindMapOptions,
    QuizOptions,
    SlideOptions,
    VideoOptions,
)
from nlm_cdp.rpc import Effect, Rpc
from nlm_cdp.wire.pblite import Bit, Message, Tag

ELEMENT_CONTEXT = RequestContext(app=[1, 4, 8, 10, 14, 2, 3, 6, 7])

# Messages


class Element(Message):
    """M."""

    artifact_id: Annotated[str, Tag(1, 1)]
    sources: Annotated[list[str], Tag(1, 4, each=(1, 1))] = []
    mask: Annotated[list[str], Tag(2, 1)]
    context: Annotated[RequestContext | None, Tag(4)] = ELEMENT_CONTEXT


class AudioElement(Element):
    options: Annotated[AudioOptions, Tag(1, 7, 2)]


class VideoElement(Element):
    options: Annotated[VideoOptions, Tag(1, 9, 3)]


class FlashcardElement(Element):
    options: Annotated[FlashcardOptions, Tag(1, 10, 2)]


class QuizElement(Element):
    options: Annotated[QuizOptions, Tag(1, 10, 2)]


class MindMapElement(Element):
    options: Annotated[MindMapOptions, Tag(1, 10, 2)]


class InfographicElement(Element):
    options: Annotated[InfographicOptions, Tag(1, 15, 1)]


class SlideElement(Element):
    options: Annotated[SlideOptions, Tag(1, 17, 1)]


class CopyArtifacts(Message):
    """N."""

    context: Annotated[RequestContext, Tag(1)] = RequestContext()
    artifact_ids: Annotated[list[str], Tag(2)]
    target_id: Annotated[str, Tag(3)]


class Copy(Message):
    original_id: Annotated[str, Tag(1)]
    artifact: Annotated[Artifact, Tag(2)]


class Copies(Message):
    copies: Annotated[list[Copy], Tag(1)] = []


class ShareArtifact(Message):
    """Refused with status 3 in every recording (C): the app shares notebooks now."""

    public: Annotated[Bit, Tag(1, 1)]
    notebook_id: Annotated[str, Tag(2)]
    artifact_id: Annotated[str | None, Tag(3)] = None


class MarkUnread(Message):
    """M."""

    context: Annotated[RequestContext | None, Tag(1)] = RequestContext()
    artifact_id: Annotated[str, Tag(2)]
    unread: Annotated[Bit, Tag(3, 5)]
    mask: Annotated[list[str], Tag(4, 1)] = ["is_unread"]


class Marked(Message):
    unread: Annotated[Bit | None, Tag(5)] = None


class MarkViewed(Message):
    """M."""

    context: Annotated[RequestContext | None, Tag(1)] = RequestContext()
    artifact_ids: Annotated[list[str], Tag(2)]


# Calls


def element(variant: str, request: type[Element]) -> Rpc[Any, Artifact]:
    return Rpc("rc3d8d", "UpdateArtifact", request, Artifact, Effect.SET, variant=variant, grade="M")


AUDIO = element("audio", AudioElement)
VIDEO = element("video", VideoElement)
FLASHCARDS = element("flashcards", FlashcardElement)
QUIZ = element("quiz", QuizElement)
MIND_MAP = element("mind-map", MindMapElement)
INFOGRAPHIC = element("infographic", InfographicElement)
SLIDES = element("slides", SlideElement)
COPY = Rpc("mKDdke", "CopyArtifactsAsync", CopyArtifacts, Copies, Effect.CREATE, grade="N")
SHARE = Rpc("RGP97b", "ShareAudio", ShareArtifact, Empty, Effect.SET)
MARK_UNREAD = Rpc("Fxmvse", "UpdateArtifactUserState", MarkUnread, Marked, Effect.SET, null=True, grade="M")
MARK_VIEWED = Rpc("HpN0Ub", "MarkArtifactsViewed", MarkViewed, Empty, Effect.SET, grade="M")
