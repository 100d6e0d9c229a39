"""What actions need to be there: each function finds it in the state, or puts it there."""

from __future__ import annotations

from typing import Any

from nlm_cdp.api.chat import chat
from nlm_cdp.api.research import research
from nlm_cdp.api.sources.rows import READY, DocsDescriptor
from nlm_cdp.api.studio import blocks
from nlm_cdp.api.studio.artifacts import READY as ARTIFACT_READY
from nlm_cdp.sim.chat import ask
from nlm_cdp.sim.generation import PENDING, PROCESSING, advance, finish, make
from nlm_cdp.sim.records import TEXT, Conversation, Label, Note, Notebook, Research, Source
from nlm_cdp.sim.research import DONE, FAST_LOOKS, RUNNING, begin
from nlm_cdp.sim.research import finish as finish_research
from nlm_cdp.sim.state import Account

PASTED = "# Lighthouses\nThe lamp is lit at sunset.\nIn fog the horn sounds every ninety seconds 🧪."
QUESTION = "What is the simulator?"
TARGET = "Another notebook"


def source(account: Account, notebook: Notebook) -> Source:
    """A text that is ready."""
    there = (item for item in notebook.sources.values() if item.status == READY and item.type == TEXT)
    return next(there, None) or account.add_source(notebook, "Lighthouses", PASTED)


def sources(account: Account, notebook: Notebook) -> list[str]:
    """The ids of every source that is ready, one at least."""
    source(account, notebook)
    return [item.id for item in notebook.sources.values() if item.status == READY]


def drive_file(account: Account, notebook: Notebook) -> Source:
    """A Drive file that has changed since it was read."""
    found = next((item for item in notebook.sources.values() if item.docs is not None), None)
    if found is None:
        docs = DocsDescriptor(document_id="simulated-drive-file", revision="revision", version=1)
        found = account.add_source(notebook, "A Drive file", PASTED, kind=1, docs=docs)
    found.stale = True
    return found


def target(account: Account, notebook: Notebook) -> Notebook:
    """Another notebook, to copy to."""
    there = (item for item in account.notebooks.values() if item.title == TARGET and item is not notebook)
    return next(there, None) or account.add_notebook(TARGET)


def conversation(account: Account, notebook: Notebook) -> Conversation:
    """The notebook's conversation, with a question and its answer."""
    found = next(item for item in notebook.chats if item.listed)
    if not found.turns:
        question = chat.Ask(sources=sources(account, notebook), question=QUESTION, conversation_id=found.id)
        ask(account, question.model_copy(update={"notebook_id": notebook.id}))
        found.writing = None
    return found


def note(account: Account, notebook: Notebook) -> Note:
    there = [item for item in notebook.notes.values() if not item.deleted and item.prompt_type is None]
    return there[-1] if there else account.add_note(notebook, "A note", "Fog horns.")


def label(account: Account, notebook: Notebook) -> Label:
    """A label of sources; its last one, where there are several."""
    there = list(notebook.labels.values())
    return there[-1] if there else account.add_label(notebook.labels, "Lighthouses", "👩‍🔬")


def collection(account: Account) -> Label:
    there = list(account.collections.values())
    return there[-1] if there else account.add_label(account.collections, "Reading")


def joined(label: Label, member: str) -> Label:
    """The same label, with a member."""
    if member not in label.members:
        label.members.append(member)
    return label


def running(account: Account, notebook: Notebook, query: research.Query) -> Research:
    """Deep research under way."""
    there = (item for item in notebook.research.values() if item.mode == research.DEEP and item.status == RUNNING)
    return next(there, None) or deep(account, notebook, query)


def finished_research(account: Account, notebook: Notebook, query: research.Query) -> Research:
    """Deep research that can be imported from."""
    there = (item for item in notebook.research.values() if item.session_id and item.status == DONE)
    found = next((item for item in there if not item.broken), None)
    if found is None:
        finish_research(found := deep(account, notebook, query))
    return found


def deep(account: Account, notebook: Notebook, query: research.Query) -> Research:
    task = begin(account, notebook, query, research.DEEP, FAST_LOOKS)
    task.session_id = account.service.new_id()
    return task


def artifact(account: Account, notebook: Notebook, type: int, options: Any) -> str:
    """A new artifact that is finished."""
    return finish(account, make(account, notebook, type, options, material(account, notebook))).row.id


def material(account: Account, notebook: Notebook) -> list[Source]:
    return [notebook.sources[each] for each in sources(account, notebook)]


def failed(account: Account, notebook: Notebook) -> str:
    """An audio that has failed."""
    made = make(account, notebook, blocks.AUDIO, blocks.AudioOptions(), material(account, notebook))
    made.doomed = True
    while made.row.status in (PENDING, PROCESSING):
        advance(account, made)
    return made.row.id


def report(account: Account, notebook: Notebook) -> str:
    options = blocks.ReportOptions(kind="Briefing Doc", f8=True)
    return ready(notebook, blocks.REPORT, 0) or artifact(account, notebook, blocks.REPORT, options)


def quiz(account: Account, notebook: Notebook) -> str:
    options = blocks.QuizOptions(amount=blocks.Amount(quantity=1, difficulty=1))
    return ready(notebook, blocks.APP, blocks.QUIZ) or artifact(account, notebook, blocks.APP, options)


def deck(account: Account, notebook: Notebook) -> str:
    options = blocks.SlideOptions(format=1)
    return ready(notebook, blocks.SLIDES, 0) or artifact(account, notebook, blocks.SLIDES, options)


def ready(notebook: Notebook, type: int, variant: int) -> str | None:
    """A finished artifact of this kind that is there already."""
    for found in notebook.artifacts.values():
        options = found.row.app.options if found.row.app else None
        whole = found.row.status == ARTIFACT_READY and not found.lag
        if whole and found.row.type == type and (options.variant if options else 0) == variant:
            return found.row.id
    return None
