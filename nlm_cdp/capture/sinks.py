"""What is done with exchanges as they come: fixtures written, a line each for whoever watches, a comparison fed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nlm_cdp.capture.calls import Recorded, calls_of
from nlm_cdp.capture.drift import Class, Comparison
from nlm_cdp.capture.exchange import Exchange
from nlm_cdp.capture.fixture import LooksPersonal, Origin, fixture
from nlm_cdp.capture.folder import Folder
from nlm_cdp.capture.reading import declared, nearest, read
from nlm_cdp.errors import FileRefused
from nlm_cdp.local.files import write_whole
from nlm_cdp.overrides import Overrides
from nlm_cdp.rpc import Rpc
from nlm_cdp.wire.redact import Redactor

Say = Callable[[str], None]


@dataclass
class Filter:
    """The calls that are wanted: by wire id, declared id or method; all where nothing is named."""

    wanted: frozenset[str]
    overrides: Overrides

    def __call__(self, call: Recorded) -> bool:
        rpc = declared(call, self.overrides)
        return not self.wanted or bool(self.wanted & {call.rpc, *((rpc.id, rpc.method) if rpc is not None else ())})


@dataclass(kw_only=True)
class Writer:
    """Every wanted call as a fixture. `refused` counts what was not written because something in it looked personal."""

    folder: Folder
    redact: Redactor
    origin: Origin
    captured: str
    wanted: Filter
    say: Say
    paths: dict[int, list[Path]] = field(default_factory=dict)
    calls: int = 0
    lost: int = 0
    refused: int = 0

    def begun(self, exchange: Exchange) -> None:
        self.paths[exchange.number] = [self.folder.claim(call) for call in self.wanted_of(exchange)]

    def ended(self, exchange: Exchange) -> None:
        for call, path in zip(self.wanted_of(exchange), self.paths.pop(exchange.number), strict=True):
            self.calls += 1
            self.lost += call.lost is not None
            self.say(line(call, self.folder.overrides))
            try:
                self.folder.write(path, fixture(call, self.redact, origin=self.origin, captured=self.captured))
            except LooksPersonal as exc:
                self.refused += 1
                self.say(f"  NOT WRITTEN: {exc.message}")

    def wanted_of(self, exchange: Exchange) -> list[Recorded]:
        return [call for call in calls_of(exchange) if self.wanted(call)]

    @property
    def summary(self) -> str:
        parts = [f"{self.calls} calls", f"{self.folder.written} fixtures in {self.folder.root}"]
        parts += [f"{self.folder.same} like one before"] if self.folder.same else []
        parts += [f"{self.lost} with a body lost"] if self.lost else []
        parts += [f"{self.refused} NOT WRITTEN because they look personal"] if self.refused else []
        return ", ".join(parts)


class Raw:
    """Exchanges as they came, for one's own debugging: never inside a git work tree, for their owner's eyes."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        for folder in (self.root, *self.root.parents):
            if (folder / ".git").exists():
                raise FileRefused(f"{root} is inside a git work tree; unredacted captures must not get into one")

    def ended(self, exchange: Exchange) -> None:
        bodies = {str(part): plain(body.content, body.lost) for part, body in exchange.bodies.items()}
        about = {"kind": str(exchange.kind), "url": exchange.url, "status": exchange.status, "began": exchange.began}
        text = json.dumps(about | bodies, ensure_ascii=True, indent=1)
        write_whole(self.root / f"{exchange.number:06}.json", text.encode())


def plain(content: str | bytes | None, lost: str | None) -> dict[str, Any]:
    if isinstance(content, bytes):
        return {"hex": content.hex()}
    return {"text": content} if content is not None else {"lost": lost}


def line(call: Recorded, overrides: Overrides) -> str:
    """One call on one line: when, what, how much, which status, and whether the declarations know it."""
    rpc = declared(call, overrides)
    at = datetime.fromtimestamp(call.began, UTC).astimezone().strftime("%H:%M:%S")
    name = f"{rpc.method} {rpc.variant}".strip() if rpc is not None else "?"
    size = f"{len(call.body or ''):,} B"
    status = call.status if call.status is not None else "-"
    return f"{at}  {call.rpc:8} {name:38} {size:>12}  {status!s:>3}  {news(call, overrides)}".rstrip()


def news(call: Recorded, overrides: Overrides) -> str:
    comparison = Comparison(overrides)
    reading = comparison.add(call)
    entries = comparison.report().entries
    if call.lost is not None:
        return f"lost: {call.lost}"
    changed = [change for entry in entries for change in entry.changes.values()]
    if not changed:
        return f"refused: {reading.refused.name}" if reading.refused is not None else "known"
    worst = min(changed, key=lambda change: list(Class).index(change.kind))
    return f"{worst.kind}: {worst.where} {worst.path} {worst.what}".replace("  ", " ")


def told(call: Recorded, overrides: Overrides) -> dict[str, Any]:
    """Everything that the declarations make of a call: what `follow` shows."""
    rpc = declared(call, overrides)
    found = read(call, rpc)
    return {
        "rpc": call.rpc,
        "method": rpc.method if rpc is not None else None,
        "variant": (rpc.variant or None) if rpc is not None else None,
        "source_path": call.source_path,
        "status": call.status,
        "took_s": round(call.took, 3) if call.took is not None else None,
        "bytes": len(call.body or ""),
        "request": asked(call, rpc),
        "nearest": close(call, overrides) if rpc is None else None,
        "refused": {"code": found.refused.code, "name": found.refused.name} if found.refused is not None else None,
        "response": found.expect if found.refused is None else None,
        "rows": found.rows if rpc is None else None,
        "failure": found.failure,
        "unclaimed": found.unclaimed,
        "framing": call.faults,
        "lost": call.lost,
    }


def asked(call: Recorded, rpc: Rpc[Any, Any] | None) -> Any:
    return call.params if rpc is None else rpc.request.decode(call.params).model_dump(mode="json", exclude_none=True)


def close(call: Recorded, overrides: Overrides) -> dict[str, Any] | None:
    found = nearest(call, overrides) if isinstance(call.params, list) else None
    return {"call": found[0].name, "differs": found[1]} if found is not None else None
