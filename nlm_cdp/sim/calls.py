"""The handler of every declared call, and what each call is answered."""

from __future__ import annotations

from typing import Any

from nlm_cdp.api import classify
from nlm_cdp.sim import (
    account,
    chat,
    elements,
    labels,
    notebooks,
    notes,
    research,
    sharing,
    sources,
    steering,
    studio,
    upkeep,
    webapp,
)
from nlm_cdp.sim.answers import INVALID, Answer, Handler, Refusal, Reshaped
from nlm_cdp.sim.state import Account
from nlm_cdp.wire.pblite import Message

HANDLERS: dict[str, Handler[Any, Any]] = {
    handler.rpc.name: handler
    for module in (
        notebooks,
        sources,
        chat,
        labels,
        notes,
        research,
        sharing,
        account,
        studio,
        elements,
        steering,
        upkeep,
        webapp,
    )
    for handler in module.HANDLERS
}


def run(whose: Account, rpc: str, params: Any) -> Answer:
    """The answer to one call; params that no declared call claims are an invalid argument."""
    declared = classify(rpc, params)
    if declared is None:
        return Refusal(INVALID)
    answer: Answer = HANDLERS[declared.name].run(whose, declared.request.decode(params))
    if isinstance(answer, Message) and declared.name in whose.service.reshape:
        return Reshaped(whose.service.reshaped(declared.name, answer.encode()))
    return answer
