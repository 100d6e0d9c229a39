"""What every row that somebody is known to send must be."""

from __future__ import annotations

from typing import Any

from nlm_cdp.api import classify
from nlm_cdp.rpc import Rpc
from nlm_cdp.wire.pblite import canonical


def writes_itself_back(rpc: str, row: list[Any], expected: Rpc[Any, Any]) -> None:
    """It is one declared call, which writes the same row."""
    assert classify(rpc, row) is expected
    again, was = canonical(expected.request.decode(row).encode()), canonical(row)
    assert again == was
    assert repr(again) == repr(was)  # True is not 1 on the wire
