"""What the buttons of the simulated web app send: the web app's own requests, at least one for each declared call.

`ACTIONS` works in its order from a fresh seed, each action seeing what those before it left; whatever destroys comes
last. Clicked out of order, an action makes for itself what it needs.
"""

from __future__ import annotations

from nlm_cdp.sim.actions import account as accounts
from nlm_cdp.sim.actions import chat, elements, labels, notebooks, notes, research, sharing, sources, studio
from nlm_cdp.sim.actions.action import Action

__all__ = ["ACTIONS", "AREAS", "BATCHES", "NAMED", "Action"]

BEGINNINGS: dict[str, tuple[Action, ...]] = {
    "Notebooks": notebooks.ACTIONS,
    "Sources": sources.ACTIONS,
    "Chat": chat.ACTIONS,
    "Labels and collections": labels.ACTIONS,
    "Notes": notes.ACTIONS,
    "Research": research.ACTIONS,
    "Sharing": sharing.ACTIONS,
    "Account": accounts.ACTIONS,
    "Studio": studio.ACTIONS,
    "Suggested elements": elements.ACTIONS,
}
ENDINGS: dict[str, tuple[Action, ...]] = {
    "Studio": studio.ENDINGS,
    "Sharing": sharing.ENDINGS,
    "Notes": notes.ENDINGS,
    "Labels and collections": labels.ENDINGS,
    "Chat": chat.ENDINGS,
    "Sources": sources.ENDINGS,
    "Notebooks": notebooks.ENDINGS,
}
AREAS: dict[str, tuple[Action, ...]] = {area: (*found, *ENDINGS.get(area, ())) for area, found in BEGINNINGS.items()}
"""Every action under the heading it has on the page."""

ACTIONS: tuple[Action, ...] = tuple(
    action for group in (BEGINNINGS, ENDINGS) for actions in group.values() for action in actions
)
NAMED: dict[str, Action] = {action.name: action for action in ACTIONS}

BATCHES: dict[str, tuple[str, ...]] = {
    "open-notebook": (
        "open-home",
        "get-notebook",
        "list-notes",
        "list-artifacts",
        "list-chats",
        "list-labels",
        "share-status",
        "poll-research",
        "get-settings",
    )
}
"""Calls that travel in one request, as those of a page load do."""
