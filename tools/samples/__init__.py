"""One request for each variant of each call, in an order that works: each sees what the ones before it left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nlm_cdp.rpc import Rpc
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account
from nlm_cdp.wire.pblite import Message
from tools.samples import account as accounts
from tools.samples import chat, labels, notebooks, notes, research, sharing, sources, studio

Sample = tuple[Rpc[Any, Any], Message, str | None]
"""A call, its request, and the notebook of its source path."""


def samples(account: Account, notebook: Notebook) -> Iterator[Sample]:
    for module in (notebooks, sources, chat, labels, notes, research, sharing, accounts, studio):
        yield from module.samples(account, notebook)
    for module in (chat, sources, notebooks):
        yield from module.endings(account, notebook)
