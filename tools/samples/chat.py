"""Samples of the chat calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nlm_cdp.api import chat as api
from nlm_cdp.api import steering
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account

if TYPE_CHECKING:
    from tools.samples import Sample


def samples(account: Account, notebook: Notebook) -> Iterator[Sample]:
    question = api.Ask(
        sources=list(notebook.sources),
        question="What is the simulator?",
        context=api.ASK_CONTEXT,
        notebook_id=notebook.id,
    )
    yield api.ASK, question, notebook.id
    yield api.LIST_CHATS, api.ListChats(notebook_id=notebook.id), notebook.id
    conversation = notebook.chats[0].id
    yield api.LIST_TURNS, api.ListTurns(conversation_id=conversation, limit=20), notebook.id
    yield api.STATUS, api.GetStatus(conversation_id=conversation), notebook.id
    yield api.CANCEL, api.CancelGeneration(conversation_id=conversation), notebook.id
    sources = list(notebook.sources)
    prompts = steering.SuggestPrompts(notebook_id=notebook.id, source_ids=sources, mode=8, about="faults")
    yield steering.SUGGEST_PROMPTS, prompts, notebook.id
    yield steering.SUGGEST_STEPS, steering.SuggestSteps(notebook_id=notebook.id, source_ids=sources[:1]), notebook.id


def endings(account: Account, notebook: Notebook) -> Iterator[Sample]:
    conversation = notebook.chats[0].id
    by_notebook = api.DeleteNotebookTurns(notebook_id=notebook.id, conversation_id=conversation)
    yield api.DELETE_NOTEBOOK_TURNS, by_notebook, notebook.id
    yield api.DELETE_TURNS, api.DeleteTurns(conversation_id=conversation), notebook.id
