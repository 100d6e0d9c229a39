"""Frames in any split, replies in any order, and a body that is cut anywhere: read whole, or an error that says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlm_cdp.errors import (
    Cancelled,
    DecodeError,
    Drift,
    InvalidArgument,
    Network,
    NlmError,
    NotFound,
    NotReady,
    Outcome,
    Permission,
    RateLimited,
    Service,
    SignedOut,
    Timeout,
)
from nlm_cdp.wire.batchexecute import (
    PREFIX,
    STATUS,
    Call,
    FrameReader,
    NotRpcReply,
    Replies,
    Reply,
    Status,
    answer_frame,
    chat_f_req,
    compact,
    f_req,
    form,
    frame_body,
    frame_chunk,
    parse_form,
    query,
    read_replies,
    reply_of,
    trailer,
)
from nlm_cdp.wire.document import units

WIRE = Path(__file__).resolve().parents[3] / "shared" / "wire"
TYPE = "type.googleapis.com/google.internal.labs.tailwind.orchestration.v1.UserDisplayableError"
NOISE = [["di", 198], ["af.httprm", 197, "-1460015816955467607", 6]]
TITLES = [
    "🧪🧪 Lab",
    "👨‍👩‍👧‍👦 🏳️‍🌈 👍🏽 𝕊",
    "é",
    "\ud83d alone",
    'a "quoted"\n25\n[[ text\\',
    "\u2028\u0085\r",
    "plain",
]


def body(*frames: list[Any]) -> str:
    return frame_body([list(frames), NOISE])


def data(rpc: str | None, row: Any, discriminator: str = "generic") -> list[Any]:
    return answer_frame(rpc, row, discriminator=discriminator)


def status(rpc: str | None, value: Any) -> list[Any]:
    return answer_frame(rpc, None, value)


def read(*pieces: bytes | str) -> tuple[list[list[Any]], list[str]]:
    reader = FrameReader()
    frames = [frame for piece in pieces for frame in reader.feed(piece)]
    frames += reader.rest()
    reader.close()
    return frames, reader.faults


# Requests


ROWS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=8,
).map(lambda value: [value])
CALLS = st.builds(Call, st.text("abcXYZ019", min_size=1), ROWS, st.sampled_from(["generic", "1", "2"]))


@settings(deadline=None)
@given(st.lists(CALLS, min_size=1, max_size=3), st.text(max_size=10))
def test_a_form_reads_back_as_its_calls(calls: list[Call], token: str) -> None:
    token = token.encode("utf-8", "replace").decode()
    sent = form(f_req(calls), token)
    assert sent.isascii()
    assert sent.endswith("&")
    assert parse_form(sent) == calls


@settings(deadline=None)
@given(ROWS)
def test_a_chat_form_reads_back_as_one_call_without_a_name(row: list[Any]) -> None:
    assert parse_form(form(chat_f_req(row), "token")) == [Call("", row)]


def test_f_req_is_compact_with_its_params_as_text() -> None:
    assert f_req([Call("wXbhsf", [None, 1, None, ["é"]])]) == '[[["wXbhsf","[null,1,null,[\\"é\\"]]",null,"generic"]]]'
    assert chat_f_req([1, "q"]) == '[null,"[1,\\"q\\"]"]'
    assert query(["wXbhsf", "CCqFvf"], "/", 5) == {
        "rpcids": "wXbhsf,CCqFvf",
        "source-path": "/",
        "_reqid": "5",
        "rt": "c",
    }


DEEP = "[" * 100_000
NO_FORMS = ["", "at=1&", "f.req=", "f.req=x", "f.req=[]", "f.req={}", "f.req=null", "f.req=5", "f.req=[[[]]]"]
NO_FORMS += ["f.req=[[5]]", "f.req=[[[%22a%22]]]", "f.req=[[[%22a%22,5]]]", "f.req=[[[%22a%22,%22x%22]]]"]
NO_FORMS += ["f.req=[null]", "f.req=[null,5]", f"f.req={DEEP}", f"f.req=[null,%22{DEEP}%22]"]


@pytest.mark.parametrize("text", NO_FORMS)
def test_a_form_that_is_none_is_drift(text: str) -> None:
    with pytest.raises(Drift, match=r"^the request body is not a batchexecute form$"):
        parse_form(text)


# Frames


def test_a_body_reads_as_its_frames_without_faults() -> None:
    frames = [data("wXbhsf", [[[title, None, "nb-1", "🧪"]]]) for title in TITLES]
    text = body(*frames)
    found, faults = read(text)
    assert found[:-1] == [*frames, *NOISE]
    assert found[-1][:2] == ["e", len(frames) + 3]
    assert faults == []


def test_a_count_is_utf16_units_and_two() -> None:
    chunk = '[["wrb.fr","wXbhsf","[[[\\"🧪🧪 Lab\\",null,\\"nb-1\\",\\"🧪\\"]]]",null,null,null,"generic"]]'
    assert frame_chunk(json.loads(chunk)) == f"90\n{chunk}\n"
    text = f"{PREFIX}\n\n90\n{chunk}\n{frame_chunk([data('other', [1])])}"
    text += trailer(3, len(text.encode()))
    found = read_replies(text.encode())
    assert found.faults == []
    assert found.of("wXbhsf").row == [[["🧪🧪 Lab", None, "nb-1", "🧪"]]]
    assert found.of("other").row == [1]


@pytest.mark.parametrize("title", TITLES[:3] + TITLES[4:])
def test_every_split_reads_the_same(title: str) -> None:
    frames = [data("a", [title]), data("b", [title * 2])]
    text = frame_body([frames, NOISE, [["x", title]]])
    raw = text.encode()
    whole = read(text)
    assert whole == (read(raw))
    assert whole[1] == []
    assert read(*(raw[at : at + 1] for at in range(len(raw)))) == whole
    assert read(*text) == whole
    for at in range(len(raw)):
        assert read(raw[:at], raw[at:]) == whole
    for at in range(len(text)):
        assert read(text[:at], text[at:]) == whole


def test_an_escaped_pair_split_anywhere_is_one_character() -> None:
    inner = json.dumps(["🧪"])  # escaped as a surrogate pair
    text = frame_body([[["wrb.fr", "a", inner, None, None, None, "generic"]]])
    assert "\\\\ud83e\\\\uddea" in text
    for at in range(len(text)):
        reader = FrameReader()
        frames = [*reader.feed(text[:at]), *reader.feed(text[at:])]
        reader.close()
        assert json.loads(frames[0][2]) == ["🧪"]


def test_a_lone_surrogate_does_not_poison_the_rest() -> None:
    text = body(data("a", [["bad \ud83d end", "🧪"]]))
    found = read_replies(text)
    assert found.of("a").row == [["bad \ud83d end", "🧪"]]
    assert found.faults == []
    raw = read_replies(text.encode("utf-8", "surrogatepass"))  # no such bytes in UTF-8
    assert raw.of("a").row == [["bad \ud83d end", "🧪"]]


def reframed(text: str, shift: int | None = 0, *, newline: str = "\n") -> str:
    """The same body with other counts (None: none at all) or line ends."""
    lines = []
    for line in text.split("\n"):
        if line.isdigit():
            if shift is not None:
                lines.append(str(int(line) + shift))
        else:
            lines.append(line)
    return newline.join(lines)


@pytest.mark.parametrize("shift", [0, -2])
def test_counts_of_live_and_of_edited_bodies_are_right(shift: int) -> None:
    text = frame_body([[data("a", ["🧪"])], NOISE])
    edited = reframed(text, shift)
    assert len(edited) == len(text)
    assert read_replies(edited) == read_replies(text)
    assert read_replies(edited).faults == []


@pytest.mark.parametrize("shift", [-4, -3, -1, 1, 2, 50, None])
def test_a_wrong_or_missing_count_loses_nothing_and_is_told(shift: int | None) -> None:
    text = frame_body([[data("a", ["🧪", '\n25\n[["wrb.fr"']), data("b", [2])], NOISE])
    found = read_replies(reframed(text, shift))
    assert found.of("a").row == ["🧪", '\n25\n[["wrb.fr"']
    assert found.of("b").row == [2]
    said = "a chunk without its length" if shift is None else "a length says "
    assert sum(fault.startswith(said) for fault in found.faults) == 3


@pytest.mark.parametrize("newline", ["\r\n", "\n\n", "\n\r\n\n"])
def test_other_line_ends_are_read(newline: str) -> None:
    text = frame_body([[data("a", ["é"])], NOISE])
    found = read_replies(reframed(text, newline=newline).encode())
    assert found.of("a").row == ["é"]
    assert all(fault.startswith("the trailer counts") for fault in found.faults)


@pytest.mark.parametrize("head", ["", "\n", "\n\n\n", f"{PREFIX}\n", f"\n{PREFIX}\r\n\r\n"])
def test_the_prefix_may_be_missing_or_dressed_otherwise(head: str) -> None:
    text = head + frame_body([[data("a", [1])]]).removeprefix(f"{PREFIX}\n\n")
    assert read_replies(text).of("a").row == [1]


def test_two_lengths_in_a_row_are_a_fault() -> None:
    text = frame_body([[data("a", [1])]]).replace("\n\n", "\n\n17\n")
    found = read_replies(text)
    assert found.of("a").row == [1]
    assert "a length without its chunk" in found.faults


def test_a_last_line_without_its_line_break_is_read() -> None:
    whole = [data("a", ["é"]), ["di", 1], ["e", 3, None, None, 70]]
    for pieces in ([compact(whole)], list(compact(whole)), [f"{PREFIX}\n\n", compact(whole).encode()]):
        frames, _ = read(*pieces)
        assert frames == whole
    assert read_replies(compact(whole)).of("a").row == ["é"]


@pytest.mark.parametrize(
    ("count", "size", "said"),
    [(1, 0, "the trailer counts 5 frames, 4 came"), (0, 7, "the trailer counts 107 bytes, 100 came")],
)
def test_a_trailer_that_counts_otherwise_is_told(count: int, size: int, said: str) -> None:
    text = f"{PREFIX}\n\n" + frame_chunk([data("a", [1]), ["di", 11], ["af.httprm", 11]])
    true = len(text) + len(trailer(4, len(text)))
    assert read_replies(text + trailer(4, len(text))).faults == []
    false = f'[["e",{4 + count},null,null,{true + size}]]'
    found = read_replies(f"{text}{len(false) + 2}\n{false}\n")
    assert found.of("a").row == [1]
    assert found.faults == [said.replace("107", str(true + size)).replace("100", str(true))]


@pytest.mark.parametrize("chunk", ["null", "5.5", '"text"', "{}", "[null]", "[5]", "[{}]", "[[]]", '[["a"],[]]'])
def test_a_chunk_that_is_no_list_of_frames_is_drift(chunk: str) -> None:
    with pytest.raises(Drift, match=r"^a chunk of the reply is not a list of frames$"):
        read(f"{PREFIX}\n\n{len(chunk) + 2}\n{chunk}\n")


@pytest.mark.parametrize("chunk", ["[[", "[[1]]]", "undefined", "{'a': 1}", DEEP, "[9" + "9" * 5000 + "]"])
def test_a_chunk_that_is_not_json_is_drift(chunk: str) -> None:
    for declared in ("", f"{len(chunk) + 2}\n"):
        with pytest.raises(Drift, match=r"^a chunk of the reply is not JSON$") as caught:
            read(f'{PREFIX}\n\n[["x"]]\n{declared}{chunk}\n[["e",2]]\n')
        assert not isinstance(caught.value, DecodeError)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        (PREFIX, "is not an RPC reply"),
        (f"{PREFIX}\n", "is not an RPC reply"),
        (f"{PREFIX}\n\n\n", "is not an RPC reply"),
        ("<html>unusual traffic</html>", "is not an RPC reply"),
        ("<!doctype html>\n<html>\n[[]]\n", "is not an RPC reply"),
        ("undefined\n", "is not an RPC reply"),
        ("\x00\xff", "is not an RPC reply"),
    ],
)
def test_what_is_no_reply_at_all_says_so(text: str, said: str) -> None:
    for piece in (text, text.encode()):
        with pytest.raises(NotRpcReply, match=said):
            read_replies(piece)


def test_a_body_without_frames_of_ours_is_no_reply() -> None:
    with pytest.raises(NotRpcReply, match="holds no answer"):
        read_replies(frame_body([NOISE])).of("a")


BODIES = [
    frame_body([[data("a", ["é🧪", "x"])], NOISE]),
    frame_body([[data("a", list(range(10))), data("b", ["x"]), *NOISE]]),
    frame_body([[status("a", [5])], NOISE, [data("b", [1])]]),
]


@pytest.mark.parametrize("text", BODIES)
def test_a_cut_at_any_offset_is_noticed(text: str) -> None:
    raw = text.encode()
    whole = read_replies(raw)
    assert whole.cut is None
    assert whole.faults == []
    for at in range(len(raw)):
        try:
            found = read_replies(raw[:at])
        except (Network, NotRpcReply):
            continue
        if at == len(raw) - 1:  # nothing but the last line break is missing
            assert found.replies == whole.replies
            assert found.faults
        else:
            assert found.cut is not None
            assert found.replies == whole.replies[: len(found.replies)]
            for rpc in ("a", "b"):
                if rpc not in {reply.rpc for reply in found.replies}:
                    with pytest.raises(Network):
                        found.of(rpc)


def recorded() -> list[str]:
    if not WIRE.is_dir():
        return []
    exchanges = [
        exchange
        for name in ("notebooks_list", "sources_get_guide", "chat_get_history", "sharing_workflow", "notes_list")
        for exchange in json.loads((WIRE / f"{name}.json").read_text(encoding="utf-8"))["exchanges"]
    ]
    return [exchange["response_body"] for exchange in exchanges if not exchange.get("trimmed")]


def test_recorded_bodies_agree_with_their_counts_and_with_ours() -> None:
    texts = recorded()
    if not texts:
        pytest.skip("no recordings beside the checkout")
    for text in texts:
        frames, faults = read(text.encode())
        assert faults == []
        chunks = [json.loads(line) for line in text.split("\n") if line.startswith("[")]
        assert [frame for chunk in chunks for frame in chunk] == frames
        # what differs is only how JSON escapes some characters
        assert len(read(frame_body(chunks[:-1]))[0]) == len(frames)


def test_every_cut_of_a_recorded_body_is_noticed() -> None:
    texts = recorded()
    if not texts:
        pytest.skip("no recordings beside the checkout")
    raw = min(texts, key=len).encode()
    for at in range(len(raw) - 1):
        try:
            assert read_replies(raw[:at]).cut is not None
        except (Network, NotRpcReply):
            continue


FRAMES = st.lists(
    st.tuples(st.sampled_from(["x", "wrb.fr", "é"]), st.none() | st.integers() | st.text(max_size=6)).map(list),
    min_size=1,
    max_size=3,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(FRAMES, max_size=3), st.integers(0, 120), st.data())
def test_a_framed_body_has_true_counts(chunks: list[list[list[Any]]], padding: int, draws: st.DataObject) -> None:
    chunks = [*chunks, [["pad", "x" * padding]]]
    text = frame_body(chunks)
    frames, faults = read(text)
    assert faults == []
    assert frames[:-1] == [frame for chunk in chunks for frame in chunk]
    assert frames[-1] == ["e", len(frames), None, None, len(text.encode("utf-8", "surrogatepass"))]
    cuts = sorted(draws.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert read(*pieces) == (frames, faults)


@pytest.mark.parametrize("size", [60, 61, 69, 70, 71, 959, 960, 968, 969, 970, 9_958, 9_965, 9_970, 99_970, 999_969])
def test_a_trailer_counts_its_own_digits(size: int) -> None:
    text = trailer(4, size)
    assert json.loads(text.split("\n")[1])[0][4] == size + len(text)


def test_many_small_lines_cost_no_more_than_their_length() -> None:
    text = frame_body([[["x", n]] for n in range(20_000)])
    frames, faults = read(text)
    assert (len(frames), faults) == (20_001, [])
    with pytest.raises(NotRpcReply):
        read_replies("\n" * 300_000)


# Replies


def test_replies_may_come_in_any_order_and_chunk() -> None:
    ours, other = data("a", ["A"], "2"), data("b", ["B"], "1")
    for text in (
        frame_body([[other, ours], NOISE]),
        frame_body([[other], [ours], NOISE]),
        frame_body([[data("foreign", [1]), ours, ["unknown", 1], other]]),
    ):
        found = read_replies(text)
        assert found.of("a", "2").row == ["A"]
        assert found.of("b", "1").row == ["B"]


def test_the_last_reply_that_says_something_wins() -> None:
    heartbeat = data("a", None)
    for frames, row in (
        ([heartbeat, data("a", [1])], [1]),
        ([data("a", [1]), heartbeat], [1]),
        ([data("a", [1]), data("a", [2]), heartbeat], [2]),
        ([data("a", []), heartbeat], []),
        ([heartbeat, heartbeat], None),
    ):
        reply = read_replies(body(*frames)).of("a")
        assert (reply.row, reply.status) == (row, None)
    refused = read_replies(body(data("a", [1]), status("a", [5]))).of("a")
    assert refused.status is not None


def test_discriminators_tell_equal_ids_apart() -> None:
    found = read_replies(body(data("a", ["first"], "1"), data("a", ["second"], "2"), data("a", None, "1")))
    assert found.of("a", "1").row == ["first"]
    assert found.of("a", "2").row == ["second"]
    assert found.of("a").row == ["second"]  # nothing has ours: all of them count


@pytest.mark.parametrize(("text", "row"), [("[]", []), ("null", None), ('"x"', "x"), ("0", 0), ("false", False)])
def test_the_payload_is_whatever_its_json_says(text: str, row: Any) -> None:
    assert read_replies(body(["wrb.fr", "a", text, None, None, None, "generic"])).of("a").row == row


@pytest.mark.parametrize("text", ["", "undefined", "<html>", "[1", "NaN1", DEEP, "9" * 5000, "\ud83d"])
def test_a_payload_that_is_not_json_is_drift_without_its_text(text: str) -> None:
    with pytest.raises(Drift, match=r"^a reply's payload is not JSON$") as caught:
        read_replies(body(["wrb.fr", "a", text, None, None, None, "generic"]))
    assert caught.value.details == {"rpc": "a"}


@pytest.mark.parametrize("payload", [5, True, [1], {"a": 1}])
def test_a_payload_that_is_no_text_is_drift(payload: Any) -> None:
    with pytest.raises(Drift, match="payload is not text"):
        read_replies(body(["wrb.fr", "a", payload, None, None, None, "generic"]))


@pytest.mark.parametrize("rpc", [5, True, ["a"], {"a": 1}])
def test_a_call_is_named_by_text_or_not_at_all(rpc: Any) -> None:
    with pytest.raises(Drift, match="names its call by something other than an id"):
        read_replies(body(["wrb.fr", rpc, "[]", None, None, None, "generic"]))


def test_an_answer_to_another_call_is_drift_that_names_what_came() -> None:
    with pytest.raises(Drift, match="answered another call") as caught:
        read_replies(body(data("ZZZZZZ", [1]), data("YYYYYY", None))).of("a")
    assert caught.value.details == {"rpc": "a", "seen": ["YYYYYY", "ZZZZZZ"]}


@pytest.mark.parametrize("frame", [["wrb.fr", "a"], ["wrb.fr", "a", None], ["wrb.fr", "a", "null"]])
def test_a_short_frame_is_an_empty_success(frame: list[Any]) -> None:
    assert reply_of(frame) == Reply("a")


@pytest.mark.parametrize("frame", [["wrb.fr"], ["er"], ["e"], ["di", 5], ["x", "a", "[]"], [None], [["wrb.fr"]], [{}]])
def test_bookkeeping_is_passed_over(frame: list[Any]) -> None:
    reply = reply_of(frame)
    assert reply is None or reply.rpc == ""


# Refusals


KINDS: dict[int, type[NlmError]] = {
    1: Cancelled,
    2: Service,
    3: InvalidArgument,
    4: Timeout,
    5: NotFound,
    6: InvalidArgument,
    7: Permission,
    8: RateLimited,
    9: NotReady,
    10: Service,
    11: InvalidArgument,
    12: Drift,
    13: Service,
    14: Service,
    15: Service,
    16: SignedOut,
    17: Service,
    -1: Service,
}


@pytest.mark.parametrize(("code", "kind"), KINDS.items())
def test_a_status_is_a_typed_refusal(code: int, kind: type[NlmError]) -> None:
    reply = read_replies(body(status("a", [code]))).of("a")
    assert reply.status is not None
    error = reply.status.error()
    assert type(error) is kind
    assert error.outcome is Outcome.REJECTED
    assert error.details["status_code"] == code
    assert error.details["status"] == (STATUS[code] if 0 <= code < len(STATUS) else f"status {code}")
    assert "unknown" not in error.message or code == 2
    assert "sign" not in error.hint.lower() or code == 16


@pytest.mark.parametrize("value", [None, 0, [], "", False, [0]])
def test_no_status_and_ok_are_no_refusal(value: Any) -> None:
    assert read_replies(body(["wrb.fr", "a", "[1]", None, None, value, "generic"])).of("a").row == [1]


@pytest.mark.parametrize("value", ["text", {"code": 5}, [[5]], ["5"], [True], [None], 5])
def test_a_status_of_another_shape_is_a_refusal_all_the_same(value: Any) -> None:
    reply = read_replies(body(["wrb.fr", "a", None, None, None, value, "generic"])).of("a")
    assert reply.status is not None
    assert reply.status.code == 2


@pytest.mark.parametrize(
    ("details", "said"),
    [
        ([[TYPE, [1, 2, [3]]]], "the service refused: resource exhausted"),
        ([[TYPE, [None, [["You have used today's chats.", 5]]]]], "You have used today's chats."),
        ([[TYPE, None]], "the service refused: resource exhausted"),
        ([[TYPE, ["QUOTA_EXCEEDED"]]], "the service refused: resource exhausted"),
        ([[TYPE, ["本日の上限に達しました。"]]], "本日の上限に達しました。"),
        ([[TYPE]], "the service refused: resource exhausted"),
    ],
)
def test_quota_text_is_kept_and_a_type_url_is_no_text(details: Any, said: str) -> None:
    reply = read_replies(body(status("R7cb6c", [8, None, details]))).of("R7cb6c")
    assert reply.status is not None
    assert reply.status.user_displayable
    error = reply.status.error()
    assert type(error) is RateLimited
    assert error.retriable
    assert error.message == said
    assert "minutes" in error.hint


def test_a_displayable_refusal_is_a_limit_whatever_its_code() -> None:
    assert type(Status.read([3, None, [[TYPE, []]]]).error()) is RateLimited
    assert Status.read([9, "Wait for the import to end.", None]).error().message == "Wait for the import to end."
    assert not Status.read([3, None, [["type.googleapis.com/other", []]]]).user_displayable


@pytest.mark.parametrize(("code", "kind"), [(400, 3), (401, 16), (403, 7), (404, 5), (429, 8), (500, 13), (418, 2)])
def test_an_er_frame_refuses_all_calls(code: int, kind: int) -> None:
    frame = ["er", None, None, None, None, code, None, None, None, 9]
    for frames in ([frame], [data("a", [1]), frame], [frame, data("b", [1])]):
        reply = read_replies(body(*frames)).of("a", "1")
        assert reply.status == Status(kind)


def test_an_er_frame_for_another_call_is_not_ours() -> None:
    found = read_replies(body(["er", "b", 404], data("a", [1])))
    assert found.of("a").row == [1]
    assert found.of("b").status == Status(5)


@pytest.mark.parametrize("tail", ['[["e",4,null,null,707]]', '[["e",24,null,null,441040]]', '[["e"]]', '[["e",null]]'])
def test_a_trailer_is_no_error(tail: str) -> None:
    text = f"{PREFIX}\n\n" + frame_chunk([data("a", [1])]) + f"{len(tail) + 2}\n{tail}\n"
    assert read_replies(text).of("a").row == [1]


def test_replies_of_nothing() -> None:
    with pytest.raises(NotRpcReply):
        Replies().of("a")


def test_units_are_utf16() -> None:
    assert [units(text) for text in ("", "abc", "é", "🧪", "👨‍👩‍👧", "\ud83d", "a\ud83d\ude00")] == [
        0,
        3,
        1,
        2,
        8,
        1,
        3,
    ]
    assert units("é🧪" * 1_500_000) == 4_500_000
