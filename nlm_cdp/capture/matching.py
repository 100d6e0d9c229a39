"""Which declared call an unknown id stands for: the one whose request and response have the very same shape.

A match has to read every cell of every exchange that was seen, and to be the only one of those not seen alive that
does. Rows too small to tell calls apart match several, and then none; and an answer without a cell proves nothing, so a
deletion is never taken to be found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nlm_cdp.api import RPCS, leftover
from nlm_cdp.capture.calls import Recorded
from nlm_cdp.capture.reading import Reading
from nlm_cdp.errors import DecodeError
from nlm_cdp.rpc import Path, Rpc
from nlm_cdp.wire.pblite import canonical, unclaimed


@dataclass(slots=True)
class Candidate:
    """An unknown id: in how many calls it was seen, and what is left of the declared calls that fit them all."""

    id: str
    calls: int = 0
    answered: int = 0
    told: bool = False  # whether any answer held a cell
    fits: dict[str, set[Rpc[Any, Any]]] | None = None
    account: bool = False

    def add(self, call: Recorded, reading: Reading) -> None:
        self.calls += 1
        self.account = call.source_path == Path.ACCOUNT
        if reading.refused is not None or not reading.rows:
            return
        self.answered += 1
        self.told = self.told or bool(canonical(reading.rows[-1]))
        fitting: dict[str, set[Rpc[Any, Any]]] = {}
        for rpc in RPCS:
            if not rpc.stream and leftover(rpc, call.params) == [] and fits(rpc, reading.rows[-1]):
                fitting.setdefault(rpc.id, set()).add(rpc)
        before = self.fits
        self.fits = fitting if before is None else {id: before[id] | fitting[id] for id in before.keys() & fitting}


def fits(rpc: Rpc[Any, Any], row: Any) -> bool:
    try:
        rpc.response.decode(row)
    except DecodeError:
        return False
    return next(unclaimed(rpc.response, row), None) is None


@dataclass(frozen=True, slots=True)
class Match:
    """The declared id, and the variants of it that were recognised."""

    id: str
    rpcs: tuple[Rpc[Any, Any], ...]


def match(candidate: Candidate, alive: set[str]) -> Match | str:
    """The one declared id that an unknown one stands for, else why there is none. `alive`: ids that still answer."""
    if candidate.fits is None:
        return "its answer was not recorded"
    found = {id: rpcs for id, rpcs in candidate.fits.items() if id not in alive}
    if len(found) > 1:
        here = Path.ACCOUNT if candidate.account else Path.NOTEBOOK
        found = {id: rpcs for id, rpcs in found.items() if any(rpc.path is here for rpc in rpcs)} or found
    if not found:
        return "nothing that is declared and not seen otherwise has its shape"
    if len(found) > 1:
        return f"its shape is that of several: {', '.join(sorted(found))}"
    ((id, rpcs),) = found.items()
    if not candidate.told:
        return f"it may be {id}, but its empty answers prove nothing"
    return Match(id, tuple(sorted(rpcs, key=lambda rpc: rpc.variant)))
