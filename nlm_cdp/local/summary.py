"""The audit record as a person reads it: what was sent on each day, and every change in full. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def begin(text: str, now: float) -> float:
    """The time that `--since` means: `30m`, `12h`, `1d`, `2w` ago, or a date. Raises ValueError for anything else."""
    if match := re.fullmatch(r"([0-9]{1,6})([mhdw])", text):
        return now - timedelta(**{UNITS[match[2]]: int(match[1])}).total_seconds()
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        raise ValueError(f"{text[:40]!r} is no time: use 30m, 12h, 1d, 2w, or a date like 2026-12-01") from None


def summary(records: Iterable[dict[str, Any]]) -> str:
    """Per day the requests of each tool, then the changes one by one; times are this computer's."""
    found = list(records)
    if not found:
        return "Nothing is on record."
    days: dict[str, list[dict[str, Any]]] = {}
    for record in found:
        days.setdefault(local(record).date().isoformat(), []).append(record)
    parts = [overview(found), *(day(name, rows) for name, rows in days.items())]
    changes = [change(record) for record in found if record.get("effect") != "read"]
    parts.append("\n".join(["Changes", *changes]) if changes else "No changes.")
    return "\n\n".join(parts)


def overview(rows: list[dict[str, Any]]) -> str:
    failed = sum(row.get("outcome") != "ok" for row in rows)
    return (
        f"{len(rows)} requests from {local(rows[0]):%Y-%m-%d %H:%M} to {local(rows[-1]):%Y-%m-%d %H:%M},"
        f" {sizes(rows)}; {failed or 'none'} failed"
    )


def day(name: str, rows: list[dict[str, Any]]) -> str:
    counts = Counter((row.get("tool") or "-", row.get("rpc") or "", row.get("method") or "") for row in rows)
    wide = [max(len(key[column]) for key in counts) for column in range(3)]
    lines = [f"{name}  {len(rows)} requests, {sizes(rows)}"]
    for key, count in sorted(counts.items()):
        cells = "  ".join(text.ljust(width) for text, width in zip(key, wide, strict=True))
        lines.append(f"  {count:5}  {cells}".rstrip())
    return "\n".join(lines)


def change(row: dict[str, Any]) -> str:
    what = [row.get("tool") or "-", row.get("method"), row.get("effect"), row.get("notebook"), row.get("outcome")]
    return f"  {local(row):%Y-%m-%d %H:%M:%S}  " + "  ".join(str(cell) for cell in (*what, row.get("code")) if cell)


def sizes(rows: list[dict[str, Any]]) -> str:
    sent, received = (sum(row.get(name) or 0 for row in rows) for name in ("sent", "received"))
    return f"{readable(sent)} sent, {readable(received)} received"


def readable(number: int) -> str:
    for unit, scale in (("MB", 1_000_000), ("kB", 1000)):
        if number >= scale:
            return f"{number / scale:.1f} {unit}"
    return f"{number} B"


def local(row: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(row["time"]).astimezone(UTC).astimezone()
