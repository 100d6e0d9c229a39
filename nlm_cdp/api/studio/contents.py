"""What the text of an artifact says, as data and as files. Pure.

Reports and tables are documents; quizzes, flashcards and mind maps are JSON, in a cell or inside the page that shows
them. An artifact that has nothing yet is NOT_READY, one that has something else is DRIFT.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import ValidationError

from nlm_cdp.api.studio.blocks import App, Artifact
from nlm_cdp.errors import DecodeError, NotReady
from nlm_cdp.rpc import Result
from nlm_cdp.wire.document import Element, markdown
from nlm_cdp.wire.pblite import json_cell

T = TypeVar("T")

APP_DATA = re.compile(r'\bdata-app-data="([^"]*)"')
DEEPEST = 100


class Option(Result):
    text: str
    correct: bool
    rationale: str | None = None


class Question(Result):
    question: str
    options: list[Option]
    hint: str | None = None


class Card(Result):
    front: str
    back: str


class MapNode(Result):
    name: str
    children: list[MapNode] | None = None


def report_markdown(row: Artifact) -> str:
    """A report's text as the service wrote it, or out of its document."""
    if row.report is not None and row.report.markdown:
        return row.report.markdown
    document = next((block.document for block in (row.report, row.guide) if block and block.document), None)
    if document is None:
        raise unfinished()
    return markdown(document.decode())


def table_rows(row: Artifact) -> list[list[str]]:
    """The cells of a data table, the header first."""
    table = next((element.table for element in table_elements(row) if element.table is not None), None)
    if table is None:
        raise DecodeError("DataTable", "", "the document holds no table")
    return [[cell_text(cell.elements) for cell in line.cells] for line in table.rows]


def table_footnotes(row: Artifact) -> list[str]:
    """What stands beside the table: the sources that its cells number."""
    return [text for element in table_elements(row) if (text := cell_text([element]))]


def table_elements(row: Artifact) -> list[Element]:
    if row.table is None or row.table.document is None:
        raise unfinished()
    return row.table.document.decode().body.elements


def cell_text(elements: list[Element]) -> str:
    found = (element.paragraph.texts for element in elements if element.paragraph is not None)
    return "\n".join("".join(text.text or "" for text in texts) for texts in found)


def app_data(row: Artifact) -> Any:
    """What a quiz, cards or a map consist of: JSON in a cell, or in an attribute of the app's page."""
    app = row.app or App()
    text = app.tree_json or (app.content.json_text if app.content else None)
    if not text and app.html:
        if (found := APP_DATA.search(app.html)) is None:
            raise DecodeError("App", ".1", "the page holds no app data")
        text = html.unescape(found[1])
    if not text:
        raise unfinished()
    return json_cell(text, "App")


def questions(row: Artifact) -> list[Question]:
    def read(data: Any) -> list[Question]:
        return [
            Question(
                question=item["question"],
                options=[
                    Option(text=each["text"], correct=each.get("isCorrect", False), rationale=each.get("rationale"))
                    for each in item["answerOptions"]
                ],
                hint=item.get("hint"),
            )
            for item in data["quiz"]
        ]

    return shaped("Quiz", read, app_data(row))


def cards(row: Artifact) -> list[Card]:
    def read(data: Any) -> list[Card]:
        return [Card(front=item["f"], back=item["b"]) for item in data["flashcards"]]

    return shaped("Flashcards", read, app_data(row))


def tree(row: Artifact) -> MapNode:
    return shaped("MindMap", map_node, app_data(row))


def map_node(data: Any, depth: int = 0) -> MapNode:
    if depth == DEEPEST:
        raise TypeError
    children = [map_node(child, depth + 1) for child in data.get("children") or ()]
    return MapNode(name=data["name"], children=children or None)


def shaped(name: str, read: Callable[[Any], T], data: Any) -> T:
    try:
        return read(data)
    except (KeyError, TypeError, AttributeError, ValidationError) as exc:
        raise DecodeError(name, "", f"the data have another shape ({type(exc).__name__})") from None


def unfinished() -> NotReady:
    return NotReady("the artifact has no content yet", state="processing")


# Files


def table_csv(row: Artifact) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(table_rows(row))
    return text.getvalue()


def app_json(row: Artifact) -> str:
    """The service's own JSON, laid out."""
    return json.dumps(app_data(row), ensure_ascii=False, indent=2) + "\n"


def app_html(row: Artifact) -> str:
    """The page that the app shows; it stands by itself."""
    if row.app is None or not row.app.html:
        raise unfinished()
    return row.app.html


def quiz_markdown(row: Artifact) -> str:
    parts = [f"# {row.title}"]
    for number, item in enumerate(questions(row), start=1):
        parts.append(f"## {number}. {item.question}")
        parts.append("\n".join(f"- [{'x' if option.correct else ' '}] {option.text}" for option in item.options))
        parts += [f"> {option.rationale}" for option in item.options if option.correct and option.rationale]
        parts += [f"*Hint: {item.hint}*"] if item.hint else []
    return "\n\n".join(parts) + "\n"


def cards_markdown(row: Artifact) -> str:
    return "\n\n".join([f"# {row.title}", *(f"**{card.front}**\n\n{card.back}\n\n---" for card in cards(row))]) + "\n"
