"""What a button of the simulated web app does: one declared call, with a request that is made when it is clicked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nlm_cdp.api.common import Provenance, RequestContext
from nlm_cdp.rpc import Rpc
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account
from nlm_cdp.wire.pblite import Message, Row

Made = tuple[Message | Row, str | None]
"""A request, and the notebook of its source path."""

WEB = RequestContext(capabilities=[1], provenance=Provenance(flags=[1, 3]))
"""The context that the web app sends where the clients make do with less."""

CAPABLE = RequestContext(app=[1, 4, 8, 10, 14, 2, 3, 6])
"""The same for calls about artifacts."""


@dataclass(frozen=True, slots=True)
class Action:
    """`make` puts into the account's state whatever the call needs, so that an action works at any time.

    `times`: clicks in a session that plays every action. `status`: what the live service refuses the call with, where
    that is all it ever answered.
    """

    name: str
    label: str
    rpc: Rpc[Any, Any]
    make: Callable[[Account, Notebook], Made]
    times: int = 1
    status: int = 0

    def request(self, account: Account, notebook: Notebook) -> tuple[Row, str]:
        """The call's row and source path."""
        made, where = self.make(account, notebook)
        row = made.encode() if isinstance(made, Message) else made
        return row, self.rpc.source_path(where)
