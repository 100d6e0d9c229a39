"""Actions on artifacts: one for each type that can be made, and what can be done to those that are there."""

from __future__ import annotations

from nlm_cdp.api.studio import blocks, creation, curating, elements, reworking, studio, suggesting
from nlm_cdp.api.studio.vocabulary import OPTIONS, chosen
from nlm_cdp.sim.actions import preparing
from nlm_cdp.sim.actions.action import CAPABLE, Action, Made
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account

PROMPT = "For keepers of lighthouses 🧪"
LANGUAGE = "en"
PAIR = creation.Pair(key="[CONTEXT]", value=PROMPT)

# Making them


def created(kind: str) -> Action:
    """An artifact of this type with every option set."""

    def make(account: Account, notebook: Notebook) -> Made:
        found = preparing.sources(account, notebook)
        order = creation.Order(notebook.id, found, PROMPT, LANGUAGE, chosen(kind, {}, PROMPT))
        request = creation.CREATIONS[kind].request(order)
        return request.model_copy(update={"context": CAPABLE}), notebook.id

    words = kind.replace("_", " ")
    return Action(f"create-{words.replace(' ', '-')}", f"Create: {words}", creation.CREATIONS[kind].rpc, make)


def create_interactive_report(account: Account, notebook: Notebook) -> Made:
    options = blocks.TextOptions(prompt=PROMPT, language=LANGUAGE)
    found = preparing.sources(account, notebook)
    request = creation.CreateInteractiveReport(context=CAPABLE, notebook_id=notebook.id, sources=found, options=options)
    return request, notebook.id


def draw_mind_map(account: Account, notebook: Notebook) -> Made:
    found = preparing.sources(account, notebook)
    return creation.DrawMindMap(sources=found, values=[PAIR], language=LANGUAGE), notebook.id


def suggest_formats(account: Account, notebook: Notebook) -> Made:
    return creation.SuggestFormats(sources=preparing.sources(account, notebook), values=[PAIR]), notebook.id


def suggest_reports(account: Account, notebook: Notebook) -> Made:
    return suggesting.SuggestReports(notebook_id=notebook.id, sources=preparing.sources(account, notebook)), notebook.id


def list_choices(account: Account, notebook: Notebook) -> Made:
    return suggesting.ListChoices(context=CAPABLE, type=blocks.AUDIO), notebook.id


# Those that are there


def list_artifacts(account: Account, notebook: Notebook) -> Made:
    if not notebook.artifacts:
        preparing.report(account, notebook)
    return studio.ListArtifacts(context=CAPABLE, notebook_id=notebook.id), notebook.id


def get(account: Account, notebook: Notebook) -> Made:
    quiz = preparing.quiz(account, notebook)
    return studio.GetArtifact(artifact_id=quiz, context=elements.ELEMENT_CONTEXT), notebook.id


def retry(account: Account, notebook: Notebook) -> Made:
    return reworking.RetryArtifact(context=CAPABLE, artifact_id=preparing.failed(account, notebook)), notebook.id


def revise(account: Account, notebook: Notebook) -> Made:
    deck = preparing.deck(account, notebook)
    change = reworking.SlideChange(slide=0, prompt="Shorter.")
    return reworking.ReviseSlides(artifact_id=deck, changes=[change]), notebook.id


def rename(account: Account, notebook: Notebook) -> Made:
    return curating.RenameArtifact(artifact_id=preparing.report(account, notebook), title="Ünïcode 🧪"), notebook.id


def export(account: Account, notebook: Notebook) -> Made:
    found = preparing.report(account, notebook)
    return curating.ExportArtifact(artifact_id=found, title="Exported", type=1), notebook.id


def export_text(account: Account, notebook: Notebook) -> Made:
    return curating.ExportText(content="A text.", title="Exported", type=2), notebook.id


def copy(account: Account, notebook: Notebook) -> Made:
    found, target = preparing.quiz(account, notebook), preparing.target(account, notebook)
    return elements.CopyArtifacts(artifact_ids=[found], target_id=target.id), notebook.id


def share(account: Account, notebook: Notebook) -> Made:
    found = preparing.report(account, notebook)
    return elements.ShareArtifact(public=1, notebook_id=notebook.id, artifact_id=found), notebook.id


def mark_unread(account: Account, notebook: Notebook) -> Made:
    return elements.MarkUnread(artifact_id=preparing.report(account, notebook), unread=0), notebook.id


def mark_viewed(account: Account, notebook: Notebook) -> Made:
    return elements.MarkViewed(artifact_ids=[preparing.report(account, notebook)]), notebook.id


def delete(account: Account, notebook: Notebook) -> Made:
    doomed = preparing.artifact(account, notebook, blocks.REPORT, blocks.ReportOptions(kind="Blog Post", f8=True))
    return curating.DeleteArtifact(artifact_id=doomed), notebook.id


ACTIONS = (
    *(created(kind) for kind in OPTIONS),
    Action("create-interactive-report", "Create: guide", creation.INTERACTIVE_REPORT, create_interactive_report),
    Action("draw-mind-map", "Draw a mind map", creation.DRAW_MIND_MAP, draw_mind_map),
    Action("suggest-formats", "Suggest formats", creation.SUGGEST_FORMATS, suggest_formats, status=13),
    Action("suggest-reports", "Suggest reports", suggesting.SUGGEST, suggest_reports),
    Action("list-choices", "List the choices", suggesting.CHOICES, list_choices),
    Action("get-artifact", "Open a quiz", studio.GET, get),
    Action("retry-artifact", "Try a failed one again", reworking.RETRY, retry),
    Action("revise-slides", "Revise a slide", reworking.REVISE, revise),
    Action("rename-artifact", "Rename a report", curating.RENAME, rename),
    Action("export-artifact", "Export a report", curating.EXPORT, export),
    Action("export-text", "Export a text", curating.EXPORT_TEXT, export_text),
    Action("copy-artifacts", "Copy a quiz elsewhere", elements.COPY, copy),
    Action("share-artifact", "Share a report", elements.SHARE, share, status=3),
    Action("mark-unread", "Mark a report read", elements.MARK_UNREAD, mark_unread),
    Action("mark-viewed", "Mark a report viewed", elements.MARK_VIEWED, mark_viewed),
    Action("list-artifacts", "List artifacts", studio.LIST, list_artifacts, times=3),
)
ENDINGS = (Action("delete-artifact", "Delete a report", curating.DELETE, delete),)
