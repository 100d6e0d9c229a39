"""Real recordings as captures: each imports, classifies, and becomes a fixture without a word of its user's.

The recordings stand beside the checkout and are not handed out with it; without them these tests are skipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from nlm_cdp.api.chat.chat import ASK
from nlm_cdp.capture.calls import Recorded, calls_of
from nlm_cdp.capture.drift import Class, compare
from nlm_cdp.capture.exchange import Body, Exchange, Kind, Part
from nlm_cdp.capture.fixture import fixture, folder_of, known_strings, problems, redactor
from nlm_cdp.capture.reading import declared, read
from nlm_cdp.wire.batchexecute import CHAT_PATH, PATH, Call, chat_f_req, f_req, form
from nlm_cdp.wire.redact import ALLOWED
from nlm_cdp.wire.status import strings_in
from tests.capture.scripts import HOST

RECORDINGS = Path(__file__).parents[3] / "shared" / "wire"
pytestmark = pytest.mark.skipif(not RECORDINGS.is_dir(), reason="no recordings in ../shared/wire beside this checkout")


def imported() -> Iterator[tuple[str, Exchange]]:
    """Each recorded exchange, as a HAR of it would have been read."""
    for path in sorted(RECORDINGS.glob("*.json")):
        recording = json.loads(path.read_text(encoding="utf-8"))
        for number, item in enumerate(recording.get("exchanges") or recording["rpc"]):
            calls = item.get("calls") or [{"rpc_id": rpc, "params": item["params"]} for rpc in item.get("rpc_ids", [])]
            if calls:
                yield f"{path.stem}-{number}", exchange(number, calls, item)


def exchange(number: int, calls: list[dict[str, Any]], item: dict[str, Any]) -> Exchange:
    stream = calls[0]["rpc_id"] in (ASK.id, ASK.method)
    ids = ",".join(call["rpc_id"] for call in calls)
    query = urlencode({"rpcids": ids, "source-path": item.get("source_path") or "/"})
    text = chat_f_req(calls[0]["params"]) if stream else f_req(Call(call["rpc_id"], call["params"]) for call in calls)
    url = f"{HOST}{CHAT_PATH if stream else PATH}?{query}"
    found = Exchange(number, Kind.CHAT if stream else Kind.RPC, url, 0.0, 0.0, status=200)
    body = item.get("response_body") or item.get("response_body_reframed")
    found.bodies = {Part.REQUEST: Body(form(text, "token")), Part.RESPONSE: Body(body, None if body else "not kept")}
    return found


IMPORTED = list(imported()) if RECORDINGS.is_dir() else []
CALLS = [(f"{name}-{call.rpc}", call) for name, exchange in IMPORTED for call in calls_of(exchange)]
REDACT = redactor(b"key")
each_call = pytest.mark.parametrize("call", [call for _, call in CALLS], ids=[name for name, _ in CALLS])


@each_call
def test_a_recording_classifies(call: Recorded) -> None:
    assert declared(call) is not None
    assert call.lost is None


@each_call
def test_a_recording_becomes_a_fixture_that_is_in_order_and_says_nothing(call: Recorded) -> None:
    found = fixture(call, REDACT, origin="live", captured="2026-01-31")
    rpc = declared(call)
    assert list(problems(found.text, folder_of(call, rpc))) == []
    before, after = read(call, rpc), read(found.recorded, rpc)
    assert shape(before.rows) == shape(after.rows)
    assert before.unclaimed == found.unclaimed
    said, kept = (set(strings_in([params, *rows])) for params, rows in (
        (call.params, before.rows),
        (found.request.params, after.rows),
    ))  # fmt: skip
    assert not [text for text in said & kept if len(text) > 3 and not is_allowed(text)]


def test_all_of_them_together_show_no_drift() -> None:
    report = compare(call for _, call in CALLS)
    changed = [(entry.name, change.path, change.what) for entry in report.changed for change in entry.changes.values()]
    assert (report.kind, changed) == (Class.OK, [])
    assert report.looked == len(CALLS) > 130


def is_allowed(text: str) -> bool:
    return text in known_strings() or any(kept.pattern.fullmatch(text) for kept in ALLOWED)


def shape(value: Any) -> Any:
    """A value with its strings left open, JSON in a cell not looked into."""
    if isinstance(value, list):
        return [shape(item) for item in value]
    if isinstance(value, dict):
        return [shape(item) for item in value.values()]
    return str if isinstance(value, str) else value
