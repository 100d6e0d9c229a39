"""Frames in any split and a body that is cut anywhere: read whole, or an error that says so."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlm_cdp.errors import (
    DecodeError,
    Drift,
    Network,
)
from nlm_cdp.wire.batchexecute import (
    read_replies,
)
from nlm_cdp.wire.frames import PREFIX, FrameReader, NotRpcReply, compact, frame_body, frame_chunk, trailer
from tests.wire.bodies import DEEP, NOISE, TITLES, WIRE, body, data, read, status


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
