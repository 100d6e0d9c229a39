"""What was seen against what is declared: one `Entry` for each call, with a `Change` for everything that differs.

`breaking`: what we send or read no longer fits. `gone`: the id answers no more, or the web app uses another in its
place. `new`: cells, numbers, ids and forms of a request that the declarations do not know and can live with. A refusal
or a lost answer is no drift, and neither is being signed out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from nlm_cdp.api import RPCS, leftover, variants
from nlm_cdp.capture.calls import UPLOAD, Recorded
from nlm_cdp.capture.matching import Candidate, Match, match
from nlm_cdp.capture.outline import Line, outline
from nlm_cdp.capture.reading import Reading, declared, nearest, read, read_upload
from nlm_cdp.overrides import Overrides
from nlm_cdp.rpc import Rpc
from nlm_cdp.wire.pblite import unknown_codes

UNKNOWN_METHOD, SIGNED_OUT = "UNIMPLEMENTED", "UNAUTHENTICATED"
"""The statuses that say something of an id itself, and of the user."""
INDEX = re.compile(r"\[\d+\]")


class Class(StrEnum):
    """The worse ones first."""

    BREAKING = "breaking"
    GONE = "gone"
    NEW = "new"
    OK = "ok"


@dataclass(slots=True)
class Change:
    """One difference. `where` is request, response or id; `path` a wire path; `tree` the cells around it."""

    kind: Class
    where: str
    path: str
    what: str
    tree: list[Line] = field(default_factory=list)


@dataclass(slots=True)
class Entry:
    """What became of one call, declared or not."""

    rpc: str
    method: str
    variant: str = ""
    calls: int = 0
    refused: int = 0
    lost: int = 0
    changes: dict[tuple[str, str], Change] = field(default_factory=dict)

    @property
    def kind(self) -> Class:
        return min((change.kind for change in self.changes.values()), key=list(Class).index, default=Class.OK)

    @property
    def name(self) -> str:
        return "-".join(filter(None, (self.rpc, self.method, self.variant)))

    def add(self, kind: Class, where: str, path: str, what: str, tree: list[Line] | None = None) -> None:
        """The same difference in many calls is one change."""
        self.changes.setdefault((where, path), Change(kind, where, path, what, tree or []))


@dataclass(slots=True)
class Report:
    """`unseen`: declared calls that nothing was heard of, which says nothing about them."""

    entries: list[Entry]
    unseen: list[str]
    looked: int
    signed_out: bool
    overrides: dict[str, str]

    @property
    def kind(self) -> Class:
        return min((entry.kind for entry in self.entries), key=list(Class).index, default=Class.OK)

    @property
    def changed(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.kind is not Class.OK]

    def as_json(self) -> dict[str, Any]:
        return {
            "drift": str(self.kind),
            "calls": self.looked,
            "signed_out": self.signed_out,
            "overrides": self.overrides,
            "rpcs": [
                {
                    "rpc": entry.rpc,
                    "method": entry.method,
                    "variant": entry.variant or None,
                    "class": str(entry.kind),
                    "calls": entry.calls,
                    "refused": entry.refused,
                    "lost": entry.lost,
                    "changes": [
                        {"class": str(change.kind), "in": change.where, "path": change.path, "what": change.what}
                        for change in entry.changes.values()
                    ],
                }
                for entry in self.entries
            ],
            "unseen": self.unseen,
        }


class Comparison:
    """Calls in, a report out; what is kept of a call is what is wrong with it, and the unknown ones until the end."""

    def __init__(self, overrides: Overrides | None = None) -> None:
        self.overrides = overrides or Overrides()
        self.entries: dict[str, Entry] = {}
        self.candidates: dict[str, Candidate] = {}
        self.answered = set[str]()
        self.looked = self.refusals = 0

    def add(self, call: Recorded) -> Reading:
        """Compare a call; what was read of its answer."""
        if call.params is None:
            self.entry(call.rpc, "", "").lost += 1
            return Reading()
        if call.rpc == UPLOAD:
            self.looked += 1
            entry = self.entry(UPLOAD, "Start", "")
            entry.calls += 1
            for said in read_upload(call.params):
                path, _, why = said.partition(": ")
                entry.add(Class.BREAKING if why == "missing" else Class.NEW, "request", path, why)
            return Reading()
        rpc = declared(call, self.overrides)
        reading = read(call, rpc)
        if (reading.refused is not None and reading.refused.name == SIGNED_OUT) or call.status == 401:
            self.refusals += 1
            return reading
        self.looked += 1
        if rpc is None and not variants(self.overrides.declared(call.rpc)):
            self.candidates.setdefault(call.rpc, Candidate(call.rpc)).add(call, reading)
        elif rpc is None:
            self.unclaimed(call)
        else:
            self.known(call, rpc, reading)
        return reading

    def entry(self, rpc: str, method: str, variant: str) -> Entry:
        return self.entries.setdefault(f"{rpc}/{variant}", Entry(rpc, method, variant))

    def unclaimed(self, call: Recorded) -> None:
        """A request of a declared id in a form that no variant claims."""
        close = nearest(call, self.overrides)
        assert close is not None
        rpc, paths = close
        entry = self.entry(call.rpc, rpc.method, rpc.variant)
        entry.calls += 1
        if not paths:
            entry.add(Class.BREAKING, "request", ".", "more than one declared variant claims this request")
        readable = leftover(rpc, call.params) is not None
        for said in paths:
            path, _, why = said.partition(": ")
            what = f"no variant claims this cell ({why})" if readable else f"no variant reads the request: {why}"
            tree = outline(rpc.request, call.params, path)
            entry.add(Class.NEW if readable else Class.BREAKING, "request", path, what, tree)

    def known(self, call: Recorded, rpc: Rpc[Any, Any], reading: Reading) -> None:
        entry = self.entry(rpc.id, rpc.method, rpc.variant)
        entry.calls += 1
        if reading.refused is not None:
            entry.refused += 1
            if reading.refused.name == UNKNOWN_METHOD:
                entry.add(Class.GONE, "id", "", "the service no longer knows this id")
            return
        if call.chunks is None:
            entry.lost += 1
            return
        self.answered.add(rpc.id)
        row = reading.rows[-1] if reading.rows else []
        if reading.failure is not None:
            path, _, why = reading.failure.partition(": ")
            entry.add(Class.BREAKING, "response", path, why, outline(rpc.response, row, path))
        for said in reading.unclaimed:
            path, _, why = said.partition(": ")
            rows = [row for row in reading.rows if isinstance(row, list)]
            tree = next((found for row in reversed(rows) if (found := outline(rpc.response, row, path))), [])
            entry.add(Class.NEW, "response", general(path), f"no field claims this cell ({why})", tree)
        for said in unknown_codes(reading.message) if reading.message is not None else ():
            path, _, number = said.partition(": ")
            tree = outline(rpc.response, row, path)
            what = f"the number {number} has no meaning yet"
            entry.add(Class.NEW, "response", f"{general(path)}={number}", what, tree)

    def report(self) -> Report:
        """Everything so far; an unknown id that does the work of a declared one is that one's change."""
        entries = dict(self.entries)
        for candidate in self.candidates.values():
            found = match(candidate, self.answered)
            if isinstance(found, Match):
                entry = entries.setdefault(found.id, Entry(found.id, found.rpcs[0].method))
                entry.calls += candidate.calls
                what = f"the web app calls {candidate.id} in its place; `nlm-capture learn` can make us do so too"
                entry.add(Class.GONE, "id", candidate.id, what)
            else:
                entry = entries.setdefault(candidate.id, Entry(candidate.id, ""))
                entry.calls += candidate.calls
                entry.add(Class.NEW, "id", "", f"no call with this id is declared ({found})")
        seen = {(entry.rpc, entry.variant) for entry in entries.values()}
        replaced = {entry.rpc for entry in entries.values() if entry.kind is Class.GONE}
        order = {rpc.id: number for number, rpc in enumerate(RPCS)}
        return Report(
            entries=sorted(entries.values(), key=lambda entry: (order.get(entry.rpc, len(order)), entry.variant)),
            unseen=[rpc.name for rpc in RPCS if (rpc.id, rpc.variant) not in seen and rpc.id not in replaced],
            looked=self.looked,
            signed_out=bool(self.refusals) and not self.looked,
            overrides=dict(self.overrides.ids),
        )


def general(path: str) -> str:
    """A path with its list indexes left open: the same cell of every item is one piece of news."""
    return INDEX.sub("[]", path)


def compare(calls: Iterable[Recorded], overrides: Overrides | None = None) -> Report:
    found = Comparison(overrides)
    for call in calls:
        found.add(call)
    return found.report()
