"""Every fixture, both ways: the request classifies and writes itself back; the response decodes to what is expected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nlm_cdp.api import RPCS, classify
from nlm_cdp.sim.endpoints import HANDLERS
from nlm_cdp.wire.batchexecute import FrameReader, frame_body, read_replies, reply_of
from nlm_cdp.wire.chat import ChatReader
from nlm_cdp.wire.pblite import canonical, unclaimed

FOLDER = Path(__file__).parents[1] / "fixtures"
FIXTURES = sorted(FOLDER.glob("*/*.json"))


def load(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["format"] == 1
    return found


@pytest.mark.parametrize("path", FIXTURES, ids=[f"{path.parent.name}/{path.stem}" for path in FIXTURES])
def test_replay(path: Path) -> None:
    fixture = load(path)
    params = fixture["request"]["params"]
    rpc = classify(fixture["rpc"], params)
    assert rpc is not None
    assert (rpc.id, rpc.variant) == (fixture["rpc"], fixture["variant"])
    assert f"{rpc.id}-{rpc.method}" == path.parent.name
    request = rpc.request.decode(params)
    assert canonical(request.encode()) == canonical(params)
    assert canonical(rpc.request.decode(request.encode()).encode()) == canonical(params)

    body = fixture["response"]["body"]
    if rpc.stream:
        reader = ChatReader()
        for at in range(0, len(body), 97):
            for _ in reader.feed(body[at : at + 97]):
                pass
        answer = reader.close()
        assert not answer.truncated
        assert answer.text == fixture["expect"]["answer"]
        assert [cited.source_id for cited in answer.citations] == fixture["expect"]["cited"]
        rows = [reply.row for frame in FrameReader().feed(body) if (reply := reply_of(frame)) and reply.row]
    else:
        replies = read_replies(body)
        assert replies.faults == []
        row = replies.of(rpc.id).row
        rows = [row if row is not None else []]
        message = rpc.response.decode(rows[0])
        assert message.undecoded == ()
        assert message.model_dump(mode="json", exclude_none=True) == fixture["expect"]
    for row in rows:
        assert list(unclaimed(rpc.response, row)) == fixture["unclaimed"]
        if not fixture["unclaimed"]:
            assert canonical(rpc.response.decode(row).encode()) == canonical(row)


@pytest.mark.parametrize("path", FIXTURES, ids=[f"{path.parent.name}/{path.stem}" for path in FIXTURES])
def test_counts_are_true(path: Path) -> None:
    body = load(path)["response"]["body"]
    chunks = [json.loads(line) for line in body.split("\n") if line.startswith("[")]
    assert frame_body(chunks[:-1]) == body


def test_every_call_has_a_fixture_and_a_handler_and_the_other_way_round() -> None:
    declared = {(rpc.id, rpc.variant) for rpc in RPCS}
    assert {(found["rpc"], found["variant"]) for found in map(load, FIXTURES)} == declared
    assert set(HANDLERS) == {rpc.name for rpc in RPCS}
