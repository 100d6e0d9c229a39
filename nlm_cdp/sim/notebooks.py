"""The calls about notebooks, answered from the state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nlm_cdp.api.common import Empty, Provenance, RequestContext
from nlm_cdp.api.notebooks import notebooks as api
from nlm_cdp.api.notebooks import project, writing
from nlm_cdp.api.sources.rows import READY
from nlm_cdp.sim.answers import DENIED, INTERNAL, INVALID, NOT_FOUND, Handler, Refusal
from nlm_cdp.sim.records import OWNER, Notebook, Source
from nlm_cdp.sim.retrieval import frequent, sentences
from nlm_cdp.sim.rows import copied_row, created_row, mutated_row, notebook_row
from nlm_cdp.sim.state import Account
from nlm_cdp.wire.chat import Chip

TEXT_CHIP = 9


def list_notebooks(account: Account, request: api.ListNotebooks) -> api.Notebooks:
    rows = [notebook_row(account, notebook) for notebook in account.recent()]
    return api.Notebooks(notebooks=rows or None)


def create(account: Account, request: api.CreateNotebook) -> project.Notebook | Refusal:
    if is_full(account) or is_outdated(account, request.context, request.old_provenance):
        return Refusal(INVALID)
    return created_row(account.add_notebook(request.title))


def copy(account: Account, request: writing.CopyNotebook) -> project.Notebook | Refusal:
    """The sources follow: the answer and the first look at the listing show none."""
    original = account.notebooks.get(request.notebook_id)
    if original is None:
        return Refusal(NOT_FOUND)
    if is_full(account) or is_outdated(account, request.context, None):
        return Refusal(INVALID)
    made = account.add_notebook(request.title, emoji=original.emoji)
    made.arriving = [twin(account, source) for source in original.sources.values()]
    return copied_row(made)


def twin(account: Account, source: Source) -> Source:
    return replace(source, id=account.service.new_id(), added=account.service.stamp())


def forget(account: Account, request: writing.ForgetNotebook) -> Refusal:
    """Answered with status 13 whatever it does (C)."""
    if (notebook := account.notebooks.get(request.notebook_id)) is not None:
        notebook.forgotten = True
    return Refusal(INTERNAL)


def is_full(account: Account) -> bool:
    owned = sum(notebook.role == OWNER for notebook in account.notebooks.values())
    return owned >= (account.limits.notebooks or 0)


def is_outdated(account: Account, context: RequestContext, old: Provenance | None) -> bool:
    """Whether a migrated account refuses a write for its context of before May 2026."""
    return account.service.migrated and context.provenance is None and (old is None or old.flags is None)


def get(account: Account, request: api.GetNotebook) -> api.GotNotebook | Refusal:
    """Reading a notebook makes it the most recently viewed, and lets its slow sources get on."""
    notebook = account.notebooks.get(request.notebook_id)
    if notebook is None:
        return Refusal(NOT_FOUND)
    notebook.viewed, notebook.forgotten = account.service.stamp(), False
    for source in notebook.sources.values():
        source.advance()
    row = notebook_row(account, notebook)
    notebook.sources |= {source.id: source for source in notebook.arriving}
    notebook.arriving.clear()
    return api.GotNotebook(notebook=row)


def changeable(account: Account, notebook_id: str) -> Notebook | Refusal:
    """The notebook a write is about, or why it may not be."""
    notebook = account.notebooks.get(notebook_id)
    if notebook is None:
        return Refusal(NOT_FOUND)
    return notebook if notebook.writable else Refusal(DENIED)


def rename(account: Account, request: api.RenameNotebook) -> project.Notebook | Refusal:
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    if request.change.title is not None:
        notebook.title = request.change.title
    if request.change.emoji is not None:
        notebook.emoji = request.change.emoji
    return mutated_row(notebook)


def configure_chat(account: Account, request: api.ConfigureChat) -> project.Notebook | Refusal:
    """Going back to the default goal keeps the earlier prompt (C, chat_configure)."""
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    goal, before = request.settings.goal, notebook.settings.goal if notebook.settings else None
    if goal is not None and goal.prompt is None and before is not None and before.prompt is not None:
        goal = project.Goal(code=goal.code, prompt=before.prompt)
    notebook.settings = project.ChatSettings(goal=goal, length=request.settings.length)
    access = project.Access(chat_only=bool(notebook.chat_only), f2="")
    return mutated_row(notebook, chat=notebook.settings, access=access)


def set_view_level(account: Account, request: api.SetViewLevel) -> project.Notebook | Refusal:
    """Shared, the echo has a second cell (C, sharing_workflow), else it has not (C, sharing_set_view_level)."""
    notebook = changeable(account, request.notebook_id)
    if isinstance(notebook, Refusal):
        return notebook
    notebook.chat_only = bool(request.chat_only)
    second: dict[str, Any] = {"f2": ""} if notebook.shared else {}
    access = project.Access(chat_only=notebook.chat_only, **second)
    return mutated_row(notebook, chat=notebook.settings, access=access)


def delete(account: Account, request: api.DeleteNotebooks) -> Empty | Refusal:
    """Several ids in one call were refused when it was tried (C)."""
    if len(request.notebook_ids) != 1:
        return Refusal(INVALID)
    notebook = account.notebooks.get(request.notebook_ids[0])
    if notebook is None:
        return Refusal(NOT_FOUND)
    if notebook.role != OWNER:
        return Refusal(DENIED)
    del account.notebooks[notebook.id]
    return Empty()


def guide(account: Account, request: api.GuideNotebook) -> api.Guide | Refusal | None:
    """Summary, topics and chips out of the sources' own words; nothing for an empty notebook."""
    notebook = account.notebooks.get(request.notebook_id)
    if notebook is None:
        return Refusal(NOT_FOUND)
    ready = [source for source in notebook.sources.values() if source.status == READY]
    if not ready:
        return None
    openings = [next(sentences(source.opening), source.title) for source in ready[:3]]
    summary = " ".join(["(Simulated guide, made of the sources' first sentences.)", *openings])
    topics = frequent(" ".join(source.opening for source in ready[:20]), 3)
    questions = [f"What do the sources say about {topic}?" for topic in topics]
    return api.Guide(
        summary=summary,
        topics=[api.Topic(question=question, prompt=briefing(question)) for question in questions],
        chips=[Chip(text=question, kind=TEXT_CHIP) for question in questions],
    )


def briefing(question: str) -> str:
    return f'Write a briefing document about this question: "{question}". Quote the sources where that helps.'


HANDLERS: tuple[Handler[Any, Any], ...] = (
    Handler(api.LIST, list_notebooks),
    Handler(api.CREATE, create),
    Handler(api.GET, get),
    Handler(api.RENAME, rename),
    Handler(api.CONFIGURE_CHAT, configure_chat),
    Handler(api.SET_VIEW_LEVEL, set_view_level),
    Handler(api.DELETE, delete),
    Handler(writing.COPY, copy),
    Handler(writing.FORGET, forget),
    Handler(api.GUIDE, guide),
)
