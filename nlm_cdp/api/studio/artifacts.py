"""What an artifact is, how far it is, and the files it can become. Pure.

`KINDS` declares each type once. A status of ready proves nothing by itself: the asset may come some seconds later, so
an artifact is ready when its asset is there as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nlm_cdp.api.common import named
from nlm_cdp.api.studio import blocks, contents
from nlm_cdp.api.studio.blocks import STATUS, Artifact, Image, Media

READY, FAILED, SUGGESTED = 3, 4, 5
EXTENSIONS = {
    "audio/mp4": "m4a",
    "audio/mpeg": "mp3",
    "video/mp4": "mp4",
    "image/png": "png",
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
}
MIME = {extension: mime for mime, extension in EXTENSIONS.items()}


# Files


class Asset(NamedTuple):
    """An address that should have the file; `width` and `height`: of an image."""

    url: str
    mime: str
    extension: str
    width: int | None = None
    height: int | None = None


def streams(media: list[Media], others: tuple[str | None, ...], mime: str) -> list[Asset]:
    """Files of a recording, best first: made for download, then progressive, then the addresses beside the list."""
    family, found = mime.partition("/")[0], dict[str, str]()
    for kind in (blocks.DOWNLOAD, blocks.PROGRESSIVE):
        for item in media:
            if item.kind == kind and (item.mime or mime).startswith(family):
                found.setdefault(item.url, item.mime or mime)
    for url in others:
        if url:
            found.setdefault(url, mime)
    return [Asset(url, its, EXTENSIONS.get(its, EXTENSIONS[mime])) for url, its in found.items()]


def audio_files(row: Artifact) -> list[Asset]:
    return streams(row.audio.media, (row.audio.direct, row.audio.preview), MIME["m4a"]) if row.audio else []


def video_files(row: Artifact) -> list[Asset]:
    return streams(row.video.media, (row.video.direct, row.video.preview), MIME["mp4"]) if row.video else []


def pictures(row: Artifact) -> list[Asset]:
    images = [poster.image for poster in row.infographic.posters] if row.infographic else []
    return [picture(image) for image in images if image is not None]


def picture(image: Image) -> Asset:
    return Asset(image.url, MIME["png"], "png", image.width, image.height)


def slides_as(form: str) -> Callable[[Artifact], list[Asset]]:
    def files(row: Artifact) -> list[Asset]:
        url = getattr(row.slides, form) if row.slides else None
        return [Asset(url, MIME[form], form)] if url else []

    return files


def stored_file(row: Artifact) -> list[Asset]:
    if row.file is None or not row.file.url:
        return []
    mime, suffix = row.file.mime or "application/octet-stream", (row.file.name or "").rpartition(".")[2]
    return [Asset(row.file.url, mime, EXTENSIONS.get(mime) or (suffix if suffix.isalnum() else "bin"))]


# Kinds


@dataclass(frozen=True, slots=True)
class Kind:
    """One type of artifact. `block`: where its row keeps it; `variant`: of an app.

    `files` and `texts`: what it can be saved as, the usual form first; `content`: the fields of a result that hold it.
    """

    name: str
    type: int
    block: str = ""
    variant: int | None = None
    files: Mapping[str, Callable[[Artifact], list[Asset]]] = field(default_factory=dict)
    texts: Mapping[str, Callable[[Artifact], str]] = field(default_factory=dict)
    content: Mapping[str, Callable[[Artifact], Any]] = field(default_factory=dict)

    @property
    def apart(self) -> bool:
        """Whether listings leave its content out."""
        return self.type == blocks.APP


MARKDOWN = {"md": contents.report_markdown}
CSV = {"csv": contents.table_csv}
CARDS = {"json": contents.app_json, "md": contents.cards_markdown, "html": contents.app_html}
QUIZ = {"json": contents.app_json, "md": contents.quiz_markdown, "html": contents.app_html}
MAP = {"json": contents.app_json}
TREE = {"tree": contents.tree}
TEXT = {"content": contents.report_markdown}
ROWS = {"rows": contents.table_rows, "footnotes": contents.table_footnotes}

KINDS = (
    Kind("audio", blocks.AUDIO, "audio", files={"m4a": audio_files}),
    Kind("report", blocks.REPORT, "report", texts=MARKDOWN, content=TEXT),
    Kind("video", blocks.VIDEO, "video", files={"mp4": video_files}),
    Kind("flashcards", blocks.APP, "app", blocks.FLASHCARDS, texts=CARDS, content={"cards": contents.cards}),
    Kind("quiz", blocks.APP, "app", blocks.QUIZ, texts=QUIZ, content={"questions": contents.questions}),
    Kind("prototype", blocks.APP, "app", blocks.PROTOTYPE),
    Kind("mind_map", blocks.APP, "app", blocks.MIND_MAP, texts=MAP, content=TREE),
    Kind("canvas", blocks.APP, "app", blocks.CANVAS),
    Kind("mind_map", blocks.NOTE_MAP, "app", texts=MAP, content=TREE),
    Kind("fantasy_map", blocks.FANTASY_MAP),
    Kind("infographic", blocks.INFOGRAPHIC, "infographic", files={"png": pictures}),
    Kind("slide_deck", blocks.SLIDES, "slides", files={"pdf": slides_as("pdf"), "pptx": slides_as("pptx")}),
    Kind("data_table", blocks.TABLE, "table", texts=CSV, content=ROWS),
    Kind("file", blocks.FILE, files={"file": stored_file}),
    Kind("interactive_report", blocks.GUIDE, "guide", texts=MARKDOWN, content=TEXT),
)
NAMES = tuple(dict.fromkeys(kind.name for kind in KINDS))


def kind_of(row: Artifact) -> Kind:
    """What a row is; a type or variant nobody knows keeps its number."""
    variant = row.app.options.variant if row.app and row.app.options else None
    found = (kind for kind in KINDS if kind.type == row.type and kind.variant in (None, variant))
    number = f"{row.type}.{variant}" if row.type == blocks.APP else f"{row.type}"
    return next(found, Kind(f"unknown({number})", row.type))


def prompt(row: Artifact) -> str | None:
    """What its maker asked for, as the service keeps it."""
    block = getattr(row, kind_of(row).block, None)
    return block.options.prompt if block is not None and block.options is not None else None


# How far it is


def state(row: Artifact, *, whole: bool = False) -> str:
    """Its status by name; `whole`: the row was read by itself, so that what is missing in it is not there yet."""
    kind = kind_of(row)
    if row.status != READY or has_asset(row) or not (kind.files or kind.texts) or (kind.apart and not whole):
        return named(STATUS, row.status)
    return STATUS[2]


def has_asset(row: Artifact) -> bool:
    return any(find(row) for find in kind_of(row).files.values()) or any(
        (
            row.report and (row.report.markdown or row.report.document),
            row.table and row.table.document,
            row.app and (row.app.html or row.app.tree_json or row.app.content),
            row.guide and row.guide.document,
        )
    )


def downloadable(row: Artifact) -> list[str]:
    """The forms it can be saved in now, the usual one first."""
    kind = kind_of(row)
    if state(row) != STATUS[READY]:
        return []
    return [*(form for form, find in kind.files.items() if find(row)), *kind.texts]
