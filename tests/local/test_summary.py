"""The record as a person reads it."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.local.summary import begin, summary

NOW = 1_780_000_000.0


def row(day: int, **changes: Any) -> dict[str, Any]:
    return {
        "time": f"2026-05-{day:02}T12:00:00.000Z", "tool": "list_notebooks", "rpc": "wXbhsf", "method": "List",
        "effect": "read", "notebook": None, "sent": 10, "received": 2000, "status": 200, "outcome": "ok", "code": None,
        "ms": 5,
    } | changes  # fmt: skip


WRITE = {"tool": "create_notebook", "rpc": "CCqFvf", "method": "Create", "effect": "create"}


def test_days_tools_and_changes() -> None:
    text = summary([row(1), row(1), row(2, **WRITE), row(2, **WRITE, outcome="unknown", code="TIMEOUT", notebook="n1")])
    lines = text.splitlines()
    assert lines[0].startswith("4 requests from 2026-05-01 ")
    assert lines[0].endswith("40 B sent, 8.0 kB received; 1 failed")
    assert "2026-05-01  2 requests, 20 B sent, 4.0 kB received" in lines
    assert "      2  list_notebooks  wXbhsf  List" in lines
    assert "      2  create_notebook  CCqFvf  Create" in lines
    changes = lines[lines.index("Changes") + 1 :]
    assert len(changes) == 2
    assert changes[0].endswith("create_notebook  Create  create  ok")
    assert changes[1].endswith("create_notebook  Create  create  n1  unknown  TIMEOUT")


def test_nothing_and_nothing_changed() -> None:
    assert summary([]) == "Nothing is on record."
    assert summary([row(1)]).endswith("No changes.")
    assert summary([{"time": "2026-05-01T12:00:00Z"}]).startswith("1 requests")


@pytest.mark.parametrize(
    ("text", "seconds"), [("30m", 1800), ("12h", 43200), ("1d", 86400), ("2w", 1209600), ("0m", 0)]
)
def test_since_is_a_span(text: str, seconds: int) -> None:
    assert begin(text, NOW) == NOW - seconds


def test_since_is_a_date() -> None:
    assert begin("2026-05-01T00:00:00+00:00", NOW) == 1_777_593_600.0


@pytest.mark.parametrize("text", ["yesterday", "1y", "-1d", "d", "9999999d", "2026-13-01", "٣d"])
def test_since_is_nothing_else(text: str) -> None:
    with pytest.raises(ValueError, match="is no time"):
        begin(text, NOW)
