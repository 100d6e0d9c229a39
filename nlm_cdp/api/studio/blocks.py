"""The Artifact row: what every artifact has, and one block for each type, of which the others stay empty.

Each block holds the options it was made with, always with the user's words at `prompt`, and what came of them. Texts
are kept as rows until someone reads them: listings carry every report and table whole.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from nlm_cdp.api.common import Timestamp
from nlm_cdp.wire.document import Document
from nlm_cdp.wire.pblite import Lazy, Message, Tag

TYPES = range(1, 12)
AUDIO, REPORT, VIDEO, APP, NOTE_MAP, FANTASY_MAP, INFOGRAPHIC, SLIDES, TABLE, FILE, GUIDE = TYPES
FLASHCARDS, QUIZ, PROTOTYPE, MIND_MAP, CANVAS = range(1, 6)
"""Variants of `APP`."""
STATUS = {1: "pending", 2: "processing", 3: "ready", 4: "failed", 5: "suggested", 6: "pending_review", 7: "scheduled"}
DOWNLOAD, PROGRESSIVE = 4, 1
"""Kinds of media that are files; 2 and 3 are playlists (HLS, DASH)."""

# Options


class AudioOptions(Message):
    """Not understood: 6."""

    prompt: Annotated[str | None, Tag(1)] = None
    length: Annotated[int | None, Tag(2)] = None
    sources: Annotated[list[str], Tag(4, each=(1,))] = []
    language: Annotated[str | None, Tag(5)] = None
    f6: Annotated[bool | None, Tag(6)] = None
    format: Annotated[int | None, Tag(7)] = None


class ReportOptions(Message):
    """The kind is the title of a preset, and the prompt the whole directive. Not understood: 8."""

    kind: Annotated[str | None, Tag(1)] = None
    description: Annotated[str | None, Tag(2)] = None
    sources: Annotated[list[str], Tag(4, each=(1,))] = []
    language: Annotated[str | None, Tag(5)] = None
    prompt: Annotated[str | None, Tag(6)] = None
    f8: Annotated[bool | None, Tag(8)] = None


class VideoOptions(Message):
    """A style of one's own has a prompt in place of a number, or beside it (M). 8: M, in shorts, not understood."""

    sources: Annotated[list[str], Tag(1, each=(1,))] = []
    language: Annotated[str | None, Tag(2)] = None
    prompt: Annotated[str | None, Tag(3)] = None
    format: Annotated[int | None, Tag(5)] = None
    style: Annotated[int | None, Tag(6)] = None
    style_prompt: Annotated[str | None, Tag(7)] = None
    f8: Annotated[int | None, Tag(8)] = None


class Amount(Message):
    """In this order for quizzes and for flashcards (C); one client sends flashcards the other way round."""

    quantity: Annotated[int | None, Tag(1)] = None
    difficulty: Annotated[int | None, Tag(2)] = None


class FlashcardOptions(Message):
    """`amount` may be there with nothing in it (C). Not understood: 9."""

    variant: Annotated[Literal[1], Tag(1)] = 1
    prompt: Annotated[str | None, Tag(3)] = None
    language: Annotated[str | None, Tag(4)] = None
    amount: Annotated[Amount | None, Tag(7)] = None


class QuizOptions(Message):
    variant: Annotated[Literal[2], Tag(1)] = 2
    prompt: Annotated[str | None, Tag(3)] = None
    language: Annotated[str | None, Tag(4)] = None
    amount: Annotated[Amount | None, Tag(8)] = None


class MindMapOptions(Message):
    """P; the language: the web app's newest form."""

    variant: Annotated[Literal[4], Tag(1)] = 4
    prompt: Annotated[str | None, Tag(3)] = None
    language: Annotated[str | None, Tag(4)] = None


class AppOptions(Message):
    """What rows say of all three, and of variants that nobody makes. Not understood: 9, 10."""

    variant: Annotated[int, Tag(1)] = 0
    prompt: Annotated[str | None, Tag(3)] = None
    language: Annotated[str | None, Tag(4)] = None
    flashcards: Annotated[Amount | None, Tag(7)] = None
    quiz: Annotated[Amount | None, Tag(8)] = None
    f9: Annotated[bool | None, Tag(9)] = None
    f10: Annotated[bool | None, Tag(10)] = None


class InfographicOptions(Message):
    prompt: Annotated[str | None, Tag(1)] = None
    language: Annotated[str | None, Tag(2)] = None
    orientation: Annotated[int | None, Tag(4)] = None
    detail: Annotated[int | None, Tag(5)] = None
    style: Annotated[int | None, Tag(6)] = None


class SlideOptions(Message):
    prompt: Annotated[str | None, Tag(1)] = None
    language: Annotated[str | None, Tag(2)] = None
    format: Annotated[int | None, Tag(3)] = None
    length: Annotated[int | None, Tag(4)] = None


class TextOptions(Message):
    """Of a data table (C) and of an interactive report (M), whose 3 is not understood."""

    prompt: Annotated[str | None, Tag(1)] = None
    language: Annotated[str | None, Tag(2)] = None
    f3: Annotated[Any, Tag(3)] = None


# Blocks


class Duration(Message):
    seconds: Annotated[int, Tag(1)] = 0
    nanos: Annotated[int, Tag(2)] = 0


class Media(Message):
    url: Annotated[str, Tag(1)]
    kind: Annotated[int, Tag(2)] = 0
    mime: Annotated[str | None, Tag(3)] = None


class Audio(Message):
    """`preview` and `direct` are the addresses of before there was a list. Not understood: 5."""

    options: Annotated[AudioOptions | None, Tag(2)] = None
    preview: Annotated[str | None, Tag(3)] = None
    direct: Annotated[str | None, Tag(4)] = None
    f5: Annotated[bool | None, Tag(5)] = None
    media: Annotated[list[Media], Tag(6)] = []
    duration: Annotated[Duration | None, Tag(7)] = None


class Video(Message):
    preview: Annotated[str | None, Tag(2)] = None
    options: Annotated[VideoOptions | None, Tag(3)] = None
    direct: Annotated[str | None, Tag(4)] = None
    media: Annotated[list[Media], Tag(5)] = []
    duration: Annotated[Duration | None, Tag(6)] = None


class Report(Message):
    markdown: Annotated[str | None, Tag(1)] = None
    options: Annotated[ReportOptions | None, Tag(2)] = None
    document: Annotated[Lazy[Document] | None, Tag(3)] = None


class AppContent(Message):
    """N, in copies only."""

    json_text: Annotated[str, Tag(1)]
    app: Annotated[str | None, Tag(2)] = None


class App(Message):
    """Listings leave the page empty: it takes a read of its own."""

    html: Annotated[str | None, Tag(1)] = None
    options: Annotated[AppOptions | None, Tag(2)] = None
    content: Annotated[AppContent | None, Tag(3)] = None
    tree_json: Annotated[str | None, Tag(4)] = None


class Image(Message):
    url: Annotated[str, Tag(1)]
    width: Annotated[int | None, Tag(2)] = None
    height: Annotated[int | None, Tag(3)] = None


class Poster(Message):
    title: Annotated[str | None, Tag(1)] = None
    image: Annotated[Image | None, Tag(2)] = None
    alt: Annotated[str | None, Tag(3)] = None
    text: Annotated[str | None, Tag(4)] = None


class Infographic(Message):
    options: Annotated[InfographicOptions | None, Tag(1)] = None
    title: Annotated[str | None, Tag(2)] = None
    posters: Annotated[list[Poster], Tag(3)] = []


class Slide(Message):
    image: Annotated[Image | None, Tag(1)] = None
    alt: Annotated[str | None, Tag(2)] = None
    text: Annotated[str | None, Tag(3)] = None


class Slides(Message):
    """The presentation file: P, absent from every row of January 2026."""

    options: Annotated[SlideOptions | None, Tag(1)] = None
    title: Annotated[str | None, Tag(2)] = None
    slides: Annotated[list[Slide], Tag(3)] = []
    pdf: Annotated[str | None, Tag(4)] = None
    pptx: Annotated[str | None, Tag(5)] = None


class DataTable(Message):
    document: Annotated[Lazy[Document] | None, Tag(1)] = None
    options: Annotated[TextOptions | None, Tag(2)] = None


class StoredFile(Message):
    """M."""

    name: Annotated[str | None, Tag(1)] = None
    mime: Annotated[str | None, Tag(2)] = None
    preview: Annotated[str | None, Tag(3)] = None
    url: Annotated[str | None, Tag(4)] = None


class InteractiveReport(Message):
    """M."""

    document: Annotated[Lazy[Document] | None, Tag(1)] = None
    options: Annotated[TextOptions | None, Tag(2)] = None


class Suggestion(Message):
    """P: the card of a row that is only suggested."""

    title: Annotated[str | None, Tag(1)] = None
    description: Annotated[str | None, Tag(2)] = None


# The row


class ArtifactSource(Message):
    """The type: N."""

    id: Annotated[str, Tag(1, 1)]
    type: Annotated[int | None, Tag(3)] = None


class UserState(Message):
    """Unread: N; the rest: P."""

    position: Annotated[Any, Tag(1, 1)] = None
    app_state: Annotated[Any, Tag(3, 1)] = None
    unread: Annotated[bool | None, Tag(5)] = None


class Artifact(Message):
    """20 cells in January 2026 (C), 22 to 36 since: 18, 22 and 26 N, the others P or M. Not understood: 20."""

    id: Annotated[str, Tag(1)]
    title: Annotated[str, Tag(2)] = ""
    type: Annotated[int, Tag(3, codes=TYPES)] = 0
    sources: Annotated[list[ArtifactSource], Tag(4)] = []
    status: Annotated[int, Tag(5, codes=STATUS)] = 0
    public: Annotated[Any, Tag(6)] = None
    audio: Annotated[Audio | None, Tag(7)] = None
    report: Annotated[Report | None, Tag(8, bare=True)] = None
    video: Annotated[Video | None, Tag(9)] = None
    app: Annotated[App | None, Tag(10)] = None
    modified: Annotated[Timestamp | None, Tag(11)] = None
    infographic: Annotated[Infographic | None, Tag(15)] = None
    created: Annotated[Timestamp | None, Tag(16)] = None
    slides: Annotated[Slides | None, Tag(17)] = None
    user: Annotated[UserState | None, Tag(18)] = None
    table: Annotated[DataTable | None, Tag(19)] = None
    f20: Annotated[int | None, Tag(20)] = None
    derived_from: Annotated[str | None, Tag(21)] = None
    etag: Annotated[str | None, Tag(22)] = None
    file: Annotated[StoredFile | None, Tag(25)] = None
    copied_from: Annotated[str | None, Tag(26)] = None
    guide: Annotated[InteractiveReport | None, Tag(35)] = None
    suggestion: Annotated[Suggestion | None, Tag(36)] = None
