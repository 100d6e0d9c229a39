"""The part of the app's page that can be clicked: every action under its area, three of them as forms.

The markup holds names alone; what an action sends is asked for at the click (`orders`).
"""

from __future__ import annotations

from functools import cache
from html import escape
from importlib.resources import files

from nlm_cdp.sim.actions import AREAS, BATCHES, NAMED, preparing

TITLE = '<input name="title" aria-label="Title" value="Lighthouses">'
FIELDS = {
    "ask": (
        f'<textarea name="question" rows="2" aria-label="Question">{escape(preparing.QUESTION)}</textarea>',
        '<output class="answer" name="answer" aria-live="polite"></output>',
    ),
    "add-text": (
        f'{TITLE}<textarea name="content" rows="4" aria-label="Text">{escape(preparing.PASTED)}</textarea>',
        "",
    ),
    "register-file": ('<input type="file" name="file" aria-label="File">', ""),
}
"""What stands before and behind the button of an action that is a form; it is filled with what the action sends."""

BATCH_LABELS = {"open-notebook": "Open the notebook"}


@cache
def script() -> str:
    return files("nlm_cdp.sim").joinpath("app.js").read_text(encoding="utf-8")


def panels(shown: str) -> str:
    """The forms, then every area; `shown`: the id of the notebook on the page, or nothing."""
    forms = "".join(form(name, *fields) for name, fields in FIELDS.items())
    batches = "".join(
        row(name, label, f"{len(BATCHES[name])} calls in one request") for name, label in BATCH_LABELS.items()
    )
    areas = "".join(
        panel(area, "".join(row(action.name, action.label) for action in actions if action.name not in FIELDS))
        for area, actions in AREAS.items()
    )
    return (
        f'<div id="app" data-notebook="{escape(shown)}">'
        f'<section class="panels">{forms}{panel("Page load", batches)}</section>'
        "<h2>Every call of the web app</h2>"
        '<p class="hint">Each button sends what the web app sends; what it needs is made up first. All simulated.</p>'
        f'<section class="areas">{areas}</section></div>'
    )


def panel(heading: str, rows: str) -> str:
    return f'<section class="panel"><h3>{escape(heading)}</h3>{rows}</section>'


def row(name: str, label: str, said: str = "") -> str:
    button = f'<button type="button" data-action="{name}">{escape(label)}</button>'
    return f'<div class="act">{button}<output>{escape(said)}</output></div>'


def form(name: str, before: str, behind: str) -> str:
    label = NAMED[name].label
    button = f'<div class="act"><button data-action="{name}">{escape(label)}</button><output></output></div>'
    return f'<form class="panel"><h3>{escape(label)}</h3>{before}{button}{behind}</form>'
