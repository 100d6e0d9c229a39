"""Samples of the chat calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nlm_cdp.api import chat as api
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
    yield api.LIST_TURNS, api.ListTurns(conversation_id=notebook.chats[0].id, limit=20), notebook.id
