"""Actions of the chat: asking, and what the service keeps of it."""

from __future__ import annotations

from nlm_cdp.api.chat import chat as api
from nlm_cdp.api.chat import questions
from nlm_cdp.api.common import RequestContext
from nlm_cdp.sim.actions import preparing
from nlm_cdp.sim.actions.action import WEB, Action, Made
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account
from nlm_cdp.wire.pblite import Row

CONTEXT = RequestContext()
PAGE = 20


def question(account: Account, notebook: Notebook, text: str) -> api.Ask:
    """Everything the web app's nine cells say."""
    return api.Ask(
        sources=preparing.sources(account, notebook),
        question=text,
        context=api.ASK_CONTEXT,
        conversation_id=next(item.id for item in notebook.chats if item.listed),
        notebook_id=notebook.id,
    )


def ask(account: Account, notebook: Notebook) -> Made:
    return question(account, notebook, preparing.QUESTION), notebook.id


def ask_on(account: Account, notebook: Notebook) -> Made:
    """A follow-up, with what was said before: the answer first."""
    turns = preparing.conversation(account, notebook).turns
    answer = next((turn.answer.text for turn in reversed(turns) if turn.answer), "")
    asked = next((turn.question for turn in reversed(turns) if turn.question), "")
    history = [api.HistoryEntry(text=answer, role=2), api.HistoryEntry(text=asked, role=1)]
    return question(account, notebook, "And what are its faults?").model_copy(update={"history": history}), notebook.id


def list_chats(account: Account, notebook: Notebook) -> Made:
    preparing.conversation(account, notebook)
    return api.ListChats(context=CONTEXT, notebook_id=notebook.id, limit=PAGE), notebook.id


def list_turns(account: Account, notebook: Notebook) -> Made:
    chat = preparing.conversation(account, notebook)
    return api.ListTurns(context=WEB, conversation_id=chat.id, limit=PAGE), notebook.id


def status(account: Account, notebook: Notebook) -> Made:
    return api.GetStatus(conversation_id=preparing.conversation(account, notebook).id), notebook.id


def cancel(account: Account, notebook: Notebook) -> Made:
    return api.CancelGeneration(conversation_id=preparing.conversation(account, notebook).id), notebook.id


def suggest(account: Account, notebook: Notebook) -> Made:
    """A row, because the web app writes the empty cell at its end."""
    found = questions.SuggestPrompts(notebook_id=notebook.id, source_ids=preparing.sources(account, notebook), mode=4)
    row: Row = found.encode()
    return [*row, None, None], notebook.id


def suggest_about(account: Account, notebook: Notebook) -> Made:
    found = preparing.sources(account, notebook)
    prompts = questions.SuggestPrompts(notebook_id=notebook.id, source_ids=found, mode=8, about="faults")
    return prompts, notebook.id


def next_steps(account: Account, notebook: Notebook) -> Made:
    return questions.SuggestSteps(notebook_id=notebook.id), notebook.id


def next_steps_of(account: Account, notebook: Notebook) -> Made:
    found = preparing.source(account, notebook)
    return questions.SuggestSteps(notebook_id=notebook.id, source_ids=[found.id]), notebook.id


def delete(account: Account, notebook: Notebook) -> Made:
    return api.DeleteTurns(conversation_id=preparing.conversation(account, notebook).id), notebook.id


def delete_by_notebook(account: Account, notebook: Notebook) -> Made:
    chat = preparing.conversation(account, notebook)
    return api.DeleteNotebookTurns(notebook_id=notebook.id, conversation_id=chat.id), notebook.id


ACTIONS = (
    Action("ask-on", "Ask a follow-up", api.ASK, ask_on),
    Action("ask", "Ask", api.ASK, ask),
    Action("list-chats", "List conversations", api.LIST_CHATS, list_chats),
    Action("list-turns", "Read the conversation", api.LIST_TURNS, list_turns),
    Action("chat-status", "Is it writing?", api.STATUS, status),
    Action("cancel-answer", "Stop writing", api.CANCEL, cancel),
    Action("suggest-prompts", "Suggest questions", questions.SUGGEST_PROMPTS, suggest),
    Action("suggest-prompts-about", "Suggest quiz prompts", questions.SUGGEST_PROMPTS, suggest_about),
    Action("next-steps", "Suggest next steps", questions.SUGGEST_STEPS, next_steps),
    Action("next-steps-of", "Suggest for a source", questions.SUGGEST_STEPS, next_steps_of),
)
ENDINGS = (
    Action("delete-chat-of", "Delete by notebook", api.DELETE_NOTEBOOK_TURNS, delete_by_notebook),
    Action("delete-chat", "Delete the conversation", api.DELETE_TURNS, delete),
)
