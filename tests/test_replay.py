"""Every fixture, both ways: the request classifies and writes itself back; the response decodes to what is expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlm_cdp.api import RPCS, classify
from nlm_cdp.capture.fixture import Fixture, parse, problems
from nlm_cdp.capture.reading import read
from nlm_cdp.sim.calls import HANDLERS
from nlm_cdp.wire.batchexecute import read_replies
from nlm_cdp.wire.chat import ChatReader
from nlm_cdp.wire.pblite import canonical

FOLDER = Path(__file__).parents[1] / "fixtures"
FIXTURES = sorted(FOLDER.glob("*/*.json"))
each_fixture = pytest.mark.parametrize("path", FIXTURES, ids=[f"{path.parent.name}/{path.stem}" for path in FIXTURES])


def load(path: Path) -> Fixture:
    return parse(path.read_text(encoding="utf-8"))


@each_fixture
def test_a_fixture_is_in_order(path: Path) -> None:
    assert list(problems(path.read_text(encoding="utf-8"), path.parent.name)) == []


@each_fixture
def test_what_was_read_encodes_to_the_same_rows(path: Path) -> None:
    fixture = load(path)
    rpc = classify(fixture.rpc, fixture.request.params)
    assert rpc is not None
    request = rpc.request.decode(fixture.request.params)
    assert canonical(rpc.request.decode(request.encode()).encode()) == canonical(fixture.request.params)
    reading = read(fixture.recorded, rpc)
    assert reading.rows or reading.refused is not None or rpc.null or not rpc.response.model_fields
    assert fixture.unclaimed == []
    for row in reading.rows:
        assert canonical(rpc.response.decode(row).encode()) == canonical(row)


@each_fixture
def test_the_body_reads_the_same_in_any_pieces(path: Path) -> None:
    fixture = load(path)
    body = fixture.response.body
    assert body is not None
    if fixture.rpc != "chat":
        assert read_replies(body).faults == []
        return
    reader = ChatReader()
    for at in range(0, len(body), 97):
        for _ in reader.feed(body[at : at + 97]):
            pass
    answer = reader.close()
    assert not answer.truncated
    assert answer.text == fixture.expect["answer"]
    assert [cited.source_id for cited in answer.citations] == fixture.expect["cited"]


def test_every_call_has_a_fixture_and_a_handler_and_the_other_way_round() -> None:
    declared = {(rpc.id, rpc.variant) for rpc in RPCS}
    assert {(fixture.rpc, fixture.variant) for fixture in map(load, FIXTURES)} == declared
    assert set(HANDLERS) == {rpc.name for rpc in RPCS}
