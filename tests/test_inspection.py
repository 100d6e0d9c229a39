"""What `nlm-cdp wire` says of recorded payloads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nlm_cdp import api
from nlm_cdp.api.common import RequestContext
from nlm_cdp.api.notebooks.notebooks import CREATE, GET, LIST, CreateNotebook, GetNotebook
from nlm_cdp.inspection import classify_params, decode_body, decode_chat, registry
from nlm_cdp.overrides import Overrides
from nlm_cdp.wire.batchexecute import answer_frame
from nlm_cdp.wire.frames import compact, frame_body

PROJECT = ["T", None, "nb-1", "🧪"]
MOVED = Overrides({"rLM1Ne": "Qx91Zz"})
TAIL = [["di", 1], ["af.httprm", 1, "-1", 1]]


def body(*frames: list[Any]) -> bytes:
    return frame_body([list(frames), TAIL]).encode()


def decoded(*frames: list[Any], rpc: str | None = None) -> dict[str, Any]:
    (reply,) = decode_body(body(*frames), rpc)["replies"]
    assert json.loads(json.dumps(reply)) == reply
    return dict(reply)


# Bodies


def test_a_reply_is_read_with_what_it_leaves_over() -> None:
    reply = decoded(answer_frame(LIST.id, [[[*PROJECT, "new"], ["no id"]], 0]))
    assert (reply["rpc"], reply["outcome"], reply["variant"]) == (LIST.id, "data", None)
    assert reply["unclaimed"] == [".1[0].5: string", ".2: number"]
    assert reply["undecoded"] == [".1[1].3: the cell is empty"]


def test_drift_in_a_lazy_document_is_left_over_too() -> None:
    source = [["id"], "title"]
    reply = decoded(answer_frame("hizoJc", [source, None, None, [["junk"]]]))
    assert reply["outcome"] == "data"
    assert reply["unclaimed"] == [".4.1.1: expected an array, got string"]


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (answer_frame(GET.id, None, [5]), {"outcome": "rejected", "status": 5, "message": "NOT_FOUND"}),
        (answer_frame(GET.id, None, [9, "Not yet ready."]), {"outcome": "rejected", "message": "Not yet ready."}),
        (answer_frame(GET.id, None), {"outcome": "empty", "status": None}),
        (
            answer_frame(GET.id, ["junk"]),
            {"outcome": "drift", "message": "GotNotebook.1: expected an array, got string"},
        ),
        (answer_frame("ZZZZZZ", [1]), {"rpc": "ZZZZZZ", "outcome": "drift"}),
        (["er", GET.id, 404], {"outcome": "rejected", "status": 5}),
    ],
)
def test_every_outcome_has_its_name(frame: list[Any], expected: dict[str, Any]) -> None:
    reply = decoded(frame)
    assert {name: reply[name] for name in expected} == expected


def test_the_variant_that_leaves_least_over_is_named() -> None:
    reply = decoded(answer_frame("s0tc2d", PROJECT))
    assert reply["outcome"] == "data"
    assert reply["variant"] in {call.variant for call in api.variants("s0tc2d")}


def test_one_call_can_be_asked_for() -> None:
    both = [answer_frame(LIST.id, [None]), answer_frame(GET.id, [PROJECT])]
    assert [reply["rpc"] for reply in decode_body(body(*both))["replies"]] == [LIST.id, GET.id]
    assert decoded(*both, rpc=GET.id)["rpc"] == GET.id
    missing = decoded(*both, rpc=CREATE.id)
    assert (missing["rpc"], missing["outcome"]) == (CREATE.id, "drift")
    assert missing["message"] == f"the body answers {GET.id}, {LIST.id}"


@pytest.mark.parametrize(
    ("raw", "outcome", "said"),
    [
        (b"", "not_rpc", "empty"),
        (b"<html>wall</html>", "not_rpc", "not an RPC reply"),
        (body(), "not_rpc", "holds no answer"),
        (body(answer_frame(LIST.id, [None]))[:50], "not_rpc", "cut"),
        (b")]}'\n\n9\n[null]\n", "drift", "not a list of frames"),
        (b')]}\'\n\n[["x"]]\n[broken\n', "drift", "not JSON"),
        (body(["wrb.fr", LIST.id, "undefined"]), "drift", "not JSON"),
    ],
)
def test_a_body_that_cannot_be_read_says_why(raw: bytes, outcome: str, said: str) -> None:
    (reply,) = decode_body(raw)["replies"]
    assert reply["outcome"] == outcome
    assert said in reply["message"]


def test_framing_faults_and_cuts_are_told_beside_the_replies() -> None:
    whole = body(answer_frame(LIST.id, [None]))
    assert "framing" not in decode_body(whole)
    assert decode_body(whole.replace(b"\n2", b"\n3"))["framing"]
    cut = decode_body(whole[:-20])
    assert cut["replies"][0]["outcome"] == "data"
    assert cut["framing"] == ["the reply was cut inside a chunk"]


# Chat


def snapshot(text: str, *, final: bool = False, kind: int = 1, more: Any = None) -> list[Any]:
    citation = [None, None, 0.5, [[None, 3, 9]], [[[3, 9, [[[3, 9, ["quoted"]]]]]]], [[["s1"], "rev"]], ["chunk"]]
    return [[text, None, ["c", "t", 1], None, [[[]], None, None, None, kind]], [citation, "junk"], more, None, final]


def chat(*rows: Any) -> bytes:
    return frame_body([*([["wrb.fr", None, compact(row)]] for row in rows), TAIL]).encode()


def test_a_stream_is_its_answer_and_its_citations() -> None:
    found = decode_chat(chat([], snapshot("Half"), snapshot("Whole [1]", final=True)))
    assert found["outcome"] == "data"
    assert (found["answer"], found["truncated"], found["follow_ups"]) == ("Whole [1]", False, [])
    assert found["citations"] == [{"index": 1, "source_id": "s1", "excerpt": "quoted", "start": 3, "end": 9}]
    assert found["undecoded"] == ["citation 2: expected an array, got string"]
    assert found["unclaimed"] == [".2[1]: expected an array, got string"]


def test_what_any_frame_leaves_over_is_told_once() -> None:
    rows = [[*snapshot("Half"), None, None, None, "new"], [*snapshot("Whole", final=True), None, None, None, "new"]]
    assert decode_chat(chat(*rows))["unclaimed"] == [".2[1]: expected an array, got string", ".9: string"]


def test_a_cut_stream_is_its_truncated_answer() -> None:
    raw = chat(snapshot("Half"), snapshot("Whole", final=True))
    found = decode_chat(raw[: raw.index(b"Whole")])
    assert (found["outcome"], found["answer"], found["truncated"]) == ("data", "Half", True)


@pytest.mark.parametrize(
    ("raw", "outcome", "said"),
    [
        (b"<html>", "not_rpc", "not an RPC reply"),
        (chat(snapshot("Half"))[:40], "not_rpc", "cut"),
        (chat("junk"), "drift", "Snapshot: expected an array"),
        (chat([["text", 1, "turn"]]), "drift", "Snapshot.1.3"),
        (frame_body([[["wrb.fr", None, "undefined"]]]).encode(), "drift", "not JSON"),
        (frame_body([[["wrb.fr", None, None, None, None, [3]]]]).encode(), "rejected", "invalid argument"),
        (frame_body([TAIL]).encode(), "rejected", "allowance"),
        (chat(snapshot("", final=True)), "rejected", "empty text"),
        (chat(snapshot("**Hm**", kind=2)), "rejected", "thinking"),
    ],
)
def test_a_stream_without_an_answer_says_why(raw: bytes, outcome: str, said: str) -> None:
    found = decode_chat(raw)
    assert found["outcome"] == outcome
    assert said in found["message"]


# Requests


def test_a_request_is_named_read_and_written_back() -> None:
    row = GetNotebook(notebook_id="nb-1").encode()
    found = classify_params(GET.id, row)
    assert found["variant"] == GET.method
    assert found["reencoded"] == row
    assert found["unclaimed"] == []
    assert found["request"]["notebook_id"] == "nb-1"
    assert json.loads(json.dumps(found)) == found


def test_variants_of_one_id_are_told_apart() -> None:
    named: dict[str, list[Any]] = {
        "rename": ["nb", [[None, None, None, [None, "Title"]]]],
        "chat": ["nb", [[None, None, None, None, None, None, None, [[1], [4]]]]],
        "view": ["nb", [[None, None, None, None, None, None, None, None, [[True]]]]],
    }
    for variant, row in named.items():
        found = classify_params("s0tc2d", row)
        assert found["variant"] == variant
        assert found["reencoded"] == row


def test_a_request_nobody_claims_shows_what_the_nearest_leaves_over() -> None:
    row = [*CreateNotebook(title="T", context=RequestContext()).encode(), None, "new"]
    found = classify_params(CREATE.id, row)
    assert (found["variant"], found["request"], found["reencoded"]) == (None, None, None)
    assert found["unclaimed"] == [".6: string"]
    assert classify_params(CREATE.id, [5])["unclaimed"] == []
    assert classify_params("ZZZZZZ", [])["variant"] is None


def test_the_chat_stream_has_a_name_to_ask_for() -> None:
    row = [[[["s1"]]], "question", None, [2, None, [1], [1]], None, None, None, "nb-1", 1]
    found = classify_params("chat", row)
    assert found["variant"] == "GenerateFreeFormStreamed"
    assert found["reencoded"] == row


def test_the_registry_lists_every_call() -> None:
    rows = registry()
    assert [(row["id"], row["variant"]) for row in rows] == [(call.id, call.variant or None) for call in api.RPCS]
    assert json.loads(json.dumps(rows)) == rows
    assert {row["effect"] for row in rows} <= {"read", "set", "create", "delete"}


def test_an_override_makes_a_moved_id_readable() -> None:
    answer = body(answer_frame("Qx91Zz", [PROJECT]))
    assert decode_body(answer)["replies"][0]["outcome"] == "drift"
    (found,) = decode_body(answer, overrides=MOVED)["replies"]
    assert (found["rpc"], found["outcome"], found["unclaimed"]) == ("Qx91Zz", "data", [])
    params = ["nb-1", None, [2], None, 0]
    assert classify_params("Qx91Zz", params)["variant"] is None
    assert classify_params("Qx91Zz", params, MOVED)["variant"] == "GetProject"


def test_the_registry_shows_where_an_id_has_moved() -> None:
    moved = {item["id"]: item["now"] for item in registry(MOVED) if "now" in item}
    assert moved == {"rLM1Ne": "Qx91Zz"}
    assert not [item for item in registry() if "now" in item]
