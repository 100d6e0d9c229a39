"""The cells around a wire path, declared names beside the kinds that came: a difference as a small tree.

Only kinds are shown, never a value.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from nlm_cdp.wire.pblite import Message, kind
from nlm_cdp.wire.rows import cells
from nlm_cdp.wire.slots import Node, Slot, node_of

STEP = re.compile(r"\.(\d+)|\[(\d+)\]")


class Line(NamedTuple):
    """One cell: how deep, its wire path, the declared name (empty: none), what came, and whether it is the one."""

    depth: int
    path: str
    name: str
    seen: str
    marked: bool


def outline(message: type[Message], row: Any, path: str) -> list[Line]:
    """Each level down to `path`, with the cells beside it."""
    lines: list[Line] = []
    claim: Slot | Node | str | None = node_of(message)
    here, value, depth = "", row, 0
    for step in STEP.finditer(path):
        if step[2] is not None:
            index = int(step[2])
            here, value = f"{here}{step[0]}", value[index] if type(value) is list and index < len(value) else None
            lines.append(Line(depth, here, "", shown(value), here == path))
            depth += 1
            claim = inside(claim)
            continue
        number = int(step[1])
        claim = inside(claim)
        numbered = claim.numbered if isinstance(claim, Node) else {}
        row_cells = dict(cells(value)) if type(value) is list else {}
        for each in sorted({number, *numbered, *(key for key, cell in row_cells.items() if cell is not None)}):
            at = f"{here}.{each}"
            if each != number or at == path:
                lines.append(Line(depth, at, name(numbered.get(each)), shown(row_cells.get(each)), at == path))
            else:
                way = Line(depth, at, name(numbered.get(each)), shown(row_cells.get(each)), marked=False)
        if f"{here}.{number}" != path:
            lines.append(way)
        here, value, claim, depth = f"{here}.{number}", row_cells.get(number), numbered.get(number), depth + 1
    return lines


def inside(claim: Slot | Node | str | None) -> Slot | Node | str | None:
    """What is declared below a cell."""
    return node_of(claim.message) if isinstance(claim, Slot) and claim.message is not None else claim


def name(claim: Slot | Node | str | None) -> str:
    if isinstance(claim, Slot):
        return f"{claim.name}: {claim.message.__name__}" if claim.message is not None else claim.name
    return claim if isinstance(claim, str) else "…" if claim is not None else ""


def shown(value: Any) -> str:
    return f"array of {len(value)}" if type(value) is list else kind(value)
