"""The calls about artifacts, answered from the state.

A new artifact has the notebook's title until it is ready; listings hold every text but the pages of apps.
"""

from __future__ import annotations

from typing import Any

from nlm_cdp.api.common import Empty
from nlm_cdp.api.sources.rows import READY as SOURCE_READY
from nlm_cdp.api.studio import blocks, creation, curating, reworking, studio, suggesting, vocabulary
from nlm_cdp.api.studio.artifacts import FAILED, READY, SUGGESTED
from nlm_cdp.api.studio.blocks import Artifact as Row
from nlm_cdp.api.studio.creation import Created
from nlm_cdp.sim.answers import INVALID, NOT_FOUND, Handler, Refusal
from nlm_cdp.sim.artwork import NOTICE, Material, laid_out, mind_map
from nlm_cdp.sim.generation import PENDING, advance, make, stamped
from nlm_cdp.sim.notebooks import changeable, is_outdated
from nlm_cdp.sim.records import Artifact, Notebook
from nlm_cdp.sim.retrieval import frequent
from nlm_cdp.sim.state import Account
from nlm_cdp.wire.pblite import Message

INTERNAL = 13

# Finding


def located(account: Account, artifact_id: str) -> tuple[Notebook, Artifact] | Refusal:
    """An artifact and its notebook; the id alone is enough for the service."""
    for notebook in account.notebooks.values():
        if (artifact := notebook.artifacts.get(artifact_id)) is not None:
            return notebook, artifact
    return Refusal(NOT_FOUND)


def changed(account: Account, artifact_id: str) -> tuple[Notebook, Artifact] | Refusal:
    """The same for a write."""
    place = located(account, artifact_id)
    if not isinstance(place, Refusal) and isinstance(no := changeable(account, place[0].id), Refusal):
        return no
    return place


# Calls that make artifacts


def create(account: Account, request: creation.Create) -> Created | Refusal:
    """Refused without sources, and for sources of another notebook."""
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    found = [notebook.sources[each] for each in request.sources if each in notebook.sources]
    if not found or len(found) < len(request.sources) or is_outdated(account, request.context, None):
        return Refusal(INVALID)
    asked: Any = request
    return Created(artifact=make(account, notebook, asked.type, asked.options, found).row)


def retry(account: Account, request: reworking.RetryArtifact) -> Created | Refusal:
    """Only what has failed or is suggested; the id stays."""
    place = changed(account, request.artifact_id)
    if isinstance(place, Refusal):
        return place
    artifact = place[1]
    if artifact.row.status not in (FAILED, SUGGESTED):
        return Refusal(INVALID)
    artifact.doomed, artifact.reads = account.service.generations_fail, account.service.studio_reads
    artifact.row = stamped(account, artifact.row, status=PENDING, suggestion=None)
    return Created(artifact=artifact.row)


def revise(account: Account, request: reworking.ReviseSlides) -> Created | Refusal:
    """A new deck with "(2)" behind its title; the old one stays."""
    place = changed(account, request.artifact_id)
    if isinstance(place, Refusal):
        return place
    notebook, artifact = place
    deck = artifact.row.slides
    if deck is None or any(not 0 <= change.slide < len(deck.slides) for change in request.changes):
        return Refusal(INVALID)
    sources = [notebook.sources[each.id] for each in artifact.row.sources if each.id in notebook.sources]
    made = make(account, notebook, blocks.SLIDES, deck.options, sources, derived_from=artifact.row.id)
    title = f"{artifact.row.title} (2)"
    prompts = {change.slide: change.prompt for change in request.changes}
    slides = [
        slide.model_copy(update={"text": f"{slide.text}\n\n(Simulated change: {prompts[number]})"})
        if number in prompts
        else slide
        for number, slide in enumerate(deck.slides)
    ]
    block = made.done.slides
    assert block is not None
    made.done = made.done.model_copy(update={"title": title, "slides": block.model_copy(update={"slides": slides})})
    made.row = made.row.model_copy(update={"title": title})
    return Created(artifact=made.row)


def draw_mind_map(account: Account, request: creation.DrawMindMap) -> creation.Drawn | Refusal:
    """A map at once, which nothing keeps."""
    places = [account.located(source_id) for source_id in request.sources]
    found = [place for place in places if place is not None]
    if not found or len(found) < len(places):
        return Refusal(NOT_FOUND if places else INVALID)
    notebook = found[0][0]
    sources = [source for _, source in found if source.status == SOURCE_READY]
    material = Material(account.service, notebook, sources, None, f"{notebook.title} (simulated)")
    ids = [account.service.new_id(), account.service.new_id(), abs(account.service.number()) % 2**32]
    return creation.Drawn(json_text=laid_out(mind_map(material)), f3=ids)


def suggest_formats(account: Account, request: creation.SuggestFormats) -> Refusal:
    """What the one recording shows (C)."""
    return Refusal(INTERNAL)


# Reading


def list_artifacts(account: Account, request: studio.ListArtifacts) -> studio.Artifacts | Refusal:
    notebook = account.notebooks.get(request.notebook_id)
    if notebook is None:
        return Refusal(NOT_FOUND)
    rows = [advance(account, artifact) for artifact in reversed(notebook.artifacts.values())]
    shown = [listed(row) for row in rows if request.filter is None or row.status != SUGGESTED]
    return studio.Artifacts(artifacts=shown or None)


def listed(row: Row) -> Row:
    """An app's page is left out, also where there is none yet (C)."""
    if row.app is None:
        return row
    return row.model_copy(update={"app": row.app.model_copy(update={"html": "", "tree_json": None})})


def get(account: Account, request: studio.GetArtifact) -> studio.GotArtifact | Refusal:
    place = located(account, request.artifact_id)
    if isinstance(place, Refusal):
        return place
    return studio.GotArtifact(artifact=advance(account, place[1]))


def suggest_reports(account: Account, request: suggesting.SuggestReports) -> suggesting.SuggestedReports | Refusal:
    notebook = account.notebooks.get(request.notebook_id)
    if notebook is None:
        return Refusal(NOT_FOUND)
    text = " ".join(source.opening for source in list(notebook.sources.values())[:20])
    reports = [
        suggesting.SuggestedReport(
            title=f"All about {word} (simulated)",
            description=f"The sources name {word} often; the simulator knows no better reason.",
            prompt=f"Write a report about {word} as the sources describe it.",
            level=level,
        )
        for level, word in enumerate(frequent(text, 3), start=1)
    ]
    return suggesting.SuggestedReports(reports=reports or None)


def list_choices(account: Account, request: suggesting.ListChoices) -> suggesting.Choices:
    def choices(kind: str) -> list[suggesting.Choice]:
        words = vocabulary.OPTIONS[kind]["format"]
        return [
            suggesting.Choice(code=code, title=word.replace("_", " ").capitalize(), description=NOTICE)
            for word, code in words.items()
        ]

    presets = [
        suggesting.ReportChoice(kind=preset.title, description=preset.description, directive=preset.directive)
        for preset in vocabulary.PRESETS.values()
        if preset.directive
    ]
    return suggesting.Choices(
        audio=choices("audio"), video=choices("video"), slides=choices("slide_deck"), reports=presets
    )


# Changing


def rename(account: Account, request: curating.RenameArtifact) -> Row | Refusal:
    place = changed(account, request.artifact_id)
    if isinstance(place, Refusal):
        return place
    artifact = place[1]
    artifact.row = stamped(account, artifact.row, title=request.title)
    artifact.done = artifact.done.model_copy(update={"title": request.title})
    return artifact.row


def delete(account: Account, request: curating.DeleteArtifact) -> Empty | Refusal:
    place = changed(account, request.artifact_id)
    if isinstance(place, Refusal):
        return place
    del place[0].artifacts[request.artifact_id]
    return Empty()


def export(account: Account, request: Message) -> curating.Exported | Refusal:
    """A new file each time."""
    asked: Any = request
    if isinstance(request, curating.ExportArtifact):
        place = located(account, request.artifact_id)
        if isinstance(place, Refusal):
            return place
        if place[1].row.status != READY:
            return Refusal(INVALID)
    kind = {number: word for word, number in curating.EXPORTS.items()}.get(asked.type)
    if kind is None:
        return Refusal(INVALID)
    path = {"docs": "document", "sheets": "spreadsheets"}[kind]
    return curating.Exported(url=f"https://docs.google.com/{path}/d/simulated-{account.service.opaque(33)}")


CREATIONS = (
    *(each.rpc for each in creation.CREATIONS.values()),
    creation.INTERACTIVE_REPORT,
)
HANDLERS: tuple[Handler[Any, Any], ...] = (
    *(Handler(rpc, create) for rpc in CREATIONS),
    Handler(creation.DRAW_MIND_MAP, draw_mind_map),
    Handler(creation.SUGGEST_FORMATS, suggest_formats),
    Handler(studio.LIST, list_artifacts),
    Handler(studio.GET, get),
    Handler(suggesting.SUGGEST, suggest_reports),
    Handler(suggesting.CHOICES, list_choices),
    Handler(reworking.RETRY, retry),
    Handler(reworking.REVISE, revise),
    Handler(curating.RENAME, rename),
    Handler(curating.DELETE, delete),
    Handler(curating.EXPORT, export),
    Handler(curating.EXPORT_TEXT, export),
)
