"""What artifacts consist of, made honestly of the sources' own sentences; media are addresses of made-up files.

Everything says that it is simulated. The shapes are those of the rows and pages recorded in January 2026.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nlm_cdp.api.studio import blocks
from nlm_cdp.api.studio.artifacts import MIME
from nlm_cdp.api.studio.blocks import Image, Media
from nlm_cdp.sim.markup import NORMAL, Block, Run, elements, paragraph
from nlm_cdp.sim.markup import blocks as parsed
from nlm_cdp.sim.media import DOWNLOAD, IMAGES, VIDEO
from nlm_cdp.sim.records import Notebook, Source
from nlm_cdp.sim.retrieval import frequent, sentences
from nlm_cdp.sim.state import Service
from nlm_cdp.wire.document import Body, Document, Element, Table, TableCell, TableRow
from nlm_cdp.wire.pblite import Lazy, Message

NOTICE = "This is simulated: it quotes the sources and understands nothing."
DECOY = "The simulator made this sentence up"
AMOUNTS = {1: 3, 2: 5, 3: 8}
AUDIO_BYTES, VIDEO_BYTES, FILE_BYTES, IMAGE_BYTES = 300_000, 900_000, 60_000, 20_000
PAGE = """<!doctype html>
<html lang="en" dir="ltr">
  <head>
    <meta charset="utf-8" />
    <title>{title}</title>
  </head>
  <body>
    <app-root data-app-data="{data}"></app-root>
  </body>
</html>
"""


@dataclass(frozen=True, slots=True)
class Material:
    """What an artifact is made of."""

    service: Service
    notebook: Notebook
    sources: list[Source]
    options: Any
    title: str

    def quotes(self, number: int) -> list[tuple[str, str]]:
        """Sentences with the title of their source, taken in turn from every source."""
        taken: list[tuple[str, str]] = []
        wells = [(source.title, sentences(source.opening)) for source in self.sources]
        while wells and len(taken) < number:
            for well in list(wells):
                if (sentence := next(well[1], None)) is None:
                    wells.remove(well)
                elif len(taken) < number:
                    taken.append((sentence, well[0]))
        return taken


# Documents


def report(material: Material) -> blocks.Report:
    text = report_text(material)
    return blocks.Report(markdown=text, options=material.options, document=told(text))


def told(text: str) -> Lazy[Document]:
    """A text as a report has it: ordinary paragraphs carry no style, and every item a level (C)."""
    found = parsed(text)
    for block in found:
        if block.bullet is not None:
            block.bullet = block.bullet.model_copy(update={"level": block.bullet.level or 0})
        elif block.style == NORMAL:
            block.style = None
    return Lazy.of(Document(body=Body(elements=list(elements(found))), kind=1))


def report_text(material: Material) -> str:
    lines = [f"# {material.title}", NOTICE]
    for source in material.sources:
        said = [sentence for _, sentence in zip(range(4), sentences(source.opening), strict=False)]
        lines += [f"## {source.title}", *said[:1], *(f"- {sentence}" for sentence in said[1:])]
    return "\n\n".join(lines)


def data_table(material: Material) -> blocks.DataTable:
    """A table whose last column numbers the paragraphs below it, which name the sources (C)."""
    lines = [
        [source.title, str(source.words), next(sentences(source.opening), NOTICE), f"[{number}]"]
        for number, source in enumerate(material.sources, start=1)
    ]
    found = [table_of([["Title", "Words", "First sentence", "Source"], *lines])]
    below = [f"[{number}] {source.title}" for number, source in enumerate(material.sources, start=1)]
    for text in [*below, NOTICE]:
        found.append(paragraph(Block([Run(text)], style=None), found[-1].end))
    document = Document(body=Body(elements=found), kind=1)
    return blocks.DataTable(document=Lazy.of(document), options=material.options)


def table_of(lines: list[list[str]]) -> Element:
    at, made = 0, []
    for line in lines:
        start, cells = at, []
        for text in line:
            inner = paragraph(Block([Run(text)], style=None), at)
            cells.append(TableCell(start=at, end=inner.end, elements=[inner]))
            at = inner.end
        made.append(TableRow(start=start, end=at, cells=cells))
    return Element(start=0, end=at, table=Table(n_rows=len(made), n_columns=len(lines[0]), rows=made))


# Apps


def quiz(material: Material) -> dict[str, Any]:
    amount = AMOUNTS.get((material.options.quiz or blocks.Amount()).quantity or 2, 5)
    return {
        "quiz": [
            {
                "question": f"Which of these sentences is in “{title}”?",
                "answerOptions": [
                    {"text": sentence, "rationale": f"It is a sentence of “{title}”.", "isCorrect": True},
                    {"text": f"{DECOY} ({number}).", "rationale": "It is in no source.", "isCorrect": False},
                    {"text": f"{DECOY} as well ({number}).", "rationale": "It is in no source.", "isCorrect": False},
                ],
                "hint": NOTICE,
            }
            for number, (sentence, title) in enumerate(material.quotes(amount), start=1)
        ]
    }


def flashcards(material: Material) -> dict[str, Any]:
    amount = AMOUNTS.get((material.options.flashcards or blocks.Amount()).quantity or 2, 5)
    quoted = material.quotes(amount)
    return {
        "flashcards": [
            {"f": f"(Simulated) What does “{title}” say, number {number}?", "b": sentence}
            for number, (sentence, title) in enumerate(quoted, start=1)
        ]
    }


def mind_map(material: Material) -> dict[str, Any]:
    branches = [
        {"name": source.title, "children": [{"name": word} for word in frequent(source.opening, 4)]}
        for source in material.sources
    ]
    return {"name": material.title, "children": [*branches, {"name": NOTICE}]}


def page(title: str, data: dict[str, Any]) -> str:
    return PAGE.format(title=html.escape(title), data=html.escape("\n" + laid_out(data) + "\n"))


def laid_out(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2)


def quiz_app(material: Material) -> blocks.App:
    return blocks.App(html=page("Quiz", quiz(material)), options=material.options)


def flashcard_app(material: Material) -> blocks.App:
    return blocks.App(html=page("Flashcards", flashcards(material)), options=material.options)


def map_app(material: Material) -> blocks.App:
    data = mind_map(material)
    return blocks.App(html=page("Mind map", data), options=material.options, tree_json=laid_out(data))


# Media


def renditions(service: Service, mime: str, size: int, final_host: str) -> dict[str, Any]:
    """The addresses of one recording: a download, a preview, and two playlists that lead nowhere."""
    media = service.add_media(mime, size, hops=(DOWNLOAD, final_host))
    lists = [Media(url=f"https://{IMAGES}/notebooklm/{media.id}={form}", kind=kind) for form, kind in PLAYLISTS]
    download = Media(url=media.url(), kind=blocks.DOWNLOAD, mime=mime)
    preview = Media(url=media.url(1), kind=blocks.PROGRESSIVE, mime=mime)
    return {
        "preview": preview.url,
        "direct": download.url,
        "media": [download, preview, *lists],
        "duration": blocks.Duration(seconds=61, nanos=500_000_000),
    }


PLAYLISTS = (("mm,hls", 2), ("mm,dash", 3))


def audio(material: Material) -> blocks.Audio:
    return blocks.Audio(
        options=material.options, f5=True, **renditions(material.service, MIME["m4a"], AUDIO_BYTES, IMAGES)
    )


def video(material: Material) -> blocks.Video:
    return blocks.Video(options=material.options, **renditions(material.service, MIME["mp4"], VIDEO_BYTES, VIDEO))


def image(service: Service, width: int, height: int) -> Image:
    url = service.add_media(MIME["png"], IMAGE_BYTES, hops=(IMAGES,)).url()
    return Image(url=url, width=width, height=height)


def infographic(material: Material) -> blocks.Infographic:
    text = "\n".join(["TITLE", material.title, *(sentence for sentence, _ in material.quotes(4))])
    poster = blocks.Poster(
        title=material.title, image=image(material.service, 2752, 1536), alt=f"Infographic. {NOTICE}", text=text
    )
    return blocks.Infographic(options=material.options, title=material.title, posters=[poster])


def slides(material: Material) -> blocks.Slides:
    service = material.service
    shown = [("Title", material.title), *((title, sentence) for sentence, title in material.quotes(3))]
    return blocks.Slides(
        options=material.options,
        title=material.title,
        slides=[
            blocks.Slide(image=image(service, 1376, 768), alt=f"Slide. {NOTICE}", text=f"{title}\n\n{text}")
            for title, text in shown
        ],
        pdf=service.add_media(MIME["pdf"], FILE_BYTES).url(),
        pptx=service.add_media(MIME["pptx"], FILE_BYTES).url(),
    )


def guide(material: Material) -> blocks.InteractiveReport:
    return blocks.InteractiveReport(document=told(report_text(material)), options=material.options)


# Types


@dataclass(frozen=True, slots=True)
class Make:
    """How one type is made. `field`: of the row; `block`: with the options alone, while it is being made."""

    field: str
    block: Callable[..., Message]
    finish: Callable[[Material], Message]
    title: str


MAKES: dict[tuple[int, int], Make] = {
    (blocks.AUDIO, 0): Make("audio", blocks.Audio, audio, "Conversation"),
    (blocks.REPORT, 0): Make("report", blocks.Report, report, "Report"),
    (blocks.VIDEO, 0): Make("video", blocks.Video, video, "Film"),
    (blocks.APP, blocks.FLASHCARDS): Make("app", blocks.App, flashcard_app, "Flashcards"),
    (blocks.APP, blocks.QUIZ): Make("app", blocks.App, quiz_app, "Quiz"),
    (blocks.APP, blocks.MIND_MAP): Make("app", blocks.App, map_app, "Mind map"),
    (blocks.INFOGRAPHIC, 0): Make("infographic", blocks.Infographic, infographic, "Infographic"),
    (blocks.SLIDES, 0): Make("slides", blocks.Slides, slides, "Slides"),
    (blocks.TABLE, 0): Make("table", blocks.DataTable, data_table, "Table"),
    (blocks.GUIDE, 0): Make("guide", blocks.InteractiveReport, guide, "Interactive report"),
}
"""By type and variant."""
