"""Fixtures: redacted, canonical, checked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nlm_cdp.capture.calls import Recorded, calls_of
from nlm_cdp.capture.fixture import Fixture, LooksPersonal, checked, fixture, known_strings, parse, problems, redactor
from nlm_cdp.errors import InvalidArgument
from nlm_cdp.wire.batchexecute import Call
from tests.capture.scripts import exchange, reply

NOTEBOOK = "68a9f400-ac16-41fd-b3dc-d411565a29d9"
CANARIES = (
    "g.a000-canary7f3Abcdefghijklmnop",
    "sidts-canary7f3Abcdefghijklmnop",
    "ya29.canary7f3AbcdefghijklmnopQRST",
    "AIzaCanary7f3AbcdefghijklmnopQRSTUVWXyz",
    "AQ.canary7f3AbcdefghijklmnopQRSTUVWX",
    "AF1_QpN-canary7f3Abcdefghijklmnop",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.canary7f3canary7f3",
    'SID="canary7f3canary7f3"',
    "__Secure-1PSIDTS=canary7f3canary7f3",
    "U88+6E^t=canary7f3$&canary7f3",
    "SNlM0e value is canary7f3:1795996800000",
    "canary-7f3@gmail.com and canary-7f3@gmail.com again",
    "https://lh3.googleusercontent.com/a/canary7f3=s96-c",
    "https://x.example/?at=canary7f3&f.sid=-12345678901234&upload_id=canary7f3canary",
    "&quot;SNlM0e&quot;:&quot;canary7f3:1795996800000&quot;",
    "%22SNlM0e%22%3A%22canary7f3%3A1795996800000%22",
    "canary-7f3",
    "Canary's nötes 🧪 canary-7f3",
    "1canary7f3DriveId_abcdefghijklmnopqrstuv",
)


def recorded(row: Any, params: Any = None, rpc: str = "wXbhsf") -> Recorded:
    """A call as it comes from the wire."""
    return calls_of(exchange([Call(rpc, params or [None, 1, None, [2]])], [reply(rpc, row)]))[0]


def made(call: Recorded, key: bytes = b"key") -> Fixture:
    return fixture(call, redactor(key), origin="live", captured="2026-11-30")


LISTING = [[["Secret title", [[["0f4f5a3c-0000-4000-8000-000000000001"], "Secret source"]], NOTEBOOK, "🧪"]]]


def test_a_fixture_has_the_shape_and_nothing_of_the_words() -> None:
    found = made(recorded(LISTING))
    assert (found.rpc, found.variant, found.unclaimed) == ("wXbhsf", "", [])
    assert "ecret" not in found.text
    assert NOTEBOOK not in found.text
    (notebook,) = found.expect["notebooks"]
    assert len(notebook["title"]) == len("Secret title")
    assert notebook["id"] != NOTEBOOK
    assert list(problems(found.text, "wXbhsf-ListRecentlyViewedProjects")) == []


def test_the_same_call_and_key_give_the_same_bytes_and_another_key_others() -> None:
    assert made(recorded(LISTING)).text == made(recorded(LISTING)).text
    assert made(recorded(LISTING)).text != made(recorded(LISTING), b"other").text


def test_ids_still_refer_to_each_other() -> None:
    redact = redactor(b"key")
    listing = fixture(recorded(LISTING), redact, origin="live", captured="2026-11-30")
    call = recorded([["Secret title", [], NOTEBOOK]], [NOTEBOOK, None, [2], None, 0], "rLM1Ne")
    got = fixture(call, redact, origin="live", captured="2026-11-30")
    assert got.request.params[0] == listing.expect["notebooks"][0]["id"] == got.expect["notebook"]["id"]


@pytest.mark.parametrize("canary", CANARIES)
def test_no_canary_survives_in_any_position(canary: str) -> None:
    """In a title, an id, a list, JSON in a cell, a key, a request, the path, and in what the frames say beside the row."""
    nested = json.dumps({"name": canary, "children": [{"name": json.dumps([canary])}], canary: 1})
    row = [[[canary, [[[canary], canary, [None, canary]]], NOTEBOOK, canary, nested, [nested, {"130": canary}]]]]
    call = recorded(row, [None, 1, canary, [2], nested, [canary, canary]])
    assert call.chunks is not None
    call.chunks.append([["di", canary], ["af.httprm", 12, canary, 10], ["novel", canary]])
    call.source_path, call.bl = f"/notebook/{canary}", canary
    text = made(call).text
    for form in (canary, json.dumps(canary)[1:-1], json.dumps(json.dumps(canary))[1:-1]):
        assert form not in text
    assert "canary" not in text.lower()
    assert checked(text) == text


def test_numbers_and_nesting_stay_as_they_were() -> None:
    row = [1, -2.5, True, False, None, [], [[3]], {"130": [4]}]
    found = made(recorded(row))
    body = found.recorded
    assert body.chunks is not None
    assert json.loads(body.chunks[0][0][2]) == row


def test_half_a_surrogate_pair_survives_the_file() -> None:
    call = recorded([[["a\ud83d", None, NOTEBOOK]]])
    text = made(call).text
    text.encode()
    assert parse(text).text == text


def test_what_looks_personal_is_refused_by_rule_and_never_shown() -> None:
    with pytest.raises(LooksPersonal) as caught:
        checked('{"a": "somebody@gmail.com"}')
    assert "somebody" not in str(caught.value)


def test_a_lost_request_or_answer_is_kept_as_lost() -> None:
    call = recorded(LISTING)
    call.chunks, call.lost = None, "the answer: the tab was closed"
    found = made(call)
    assert (found.response.body, found.response.lost, found.expect) == (None, "the answer: the tab was closed", None)
    call.params = None
    assert parse(made(call).text).request.params is None
    assert list(problems(made(call).text, "wXbhsf")) == ["its request is lost"]


def test_an_undeclared_call_is_recorded_all_the_same_and_not_ready_to_be_committed() -> None:
    found = made(recorded(["x"], [1, "private"], "Zz9Yy8"))
    assert (found.rpc, found.variant, found.expect) == ("Zz9Yy8", "", None)
    assert list(problems(found.text, "Zz9Yy8")) == ["its request is no declared call"]


def test_every_kind_of_damage_is_a_problem() -> None:
    good = made(recorded(LISTING))
    folder = "wXbhsf-ListRecentlyViewedProjects"

    def damaged(**changes: Any) -> list[str]:
        return list(problems(good.model_copy(update=changes).text, folder))

    assert list(problems(good.text, "elsewhere")) == [f"belongs into {folder}"]
    assert list(problems(good.text.replace("\n ", "\n  "), folder)) == ["is not in canonical form"]
    assert next(iter(problems("{}", folder))).startswith("not a fixture of format 1")
    assert list(problems(good.text.replace('"format": 1', '"format": 0'), folder))
    assert damaged(variant="other") == ["its request is the variant 'plain', not 'other'"]
    assert damaged(expect={}) == ["its answer decodes to something else than it expects"]
    assert damaged(unclaimed=[".9: string"]) == ["its answer leaves other cells unclaimed than it says"]
    body = (good.response.body or "").replace("[[", "[ [", 1)
    assert damaged(response=good.response.model_copy(update={"body": body}))
    assert any("e-mail" in said for said in damaged(host="somebody@gmail.com"))


def test_no_fixture_of_another_format_is_converted() -> None:
    with pytest.raises(InvalidArgument, match="format 1"):
        parse('{"format": 2}')


def test_what_declarations_name_is_kept() -> None:
    assert "interactive_mindmap" in known_strings()
    assert all(len(text) < 60 for text in known_strings())
