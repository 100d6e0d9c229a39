"""The stream of an answer: which snapshot wins, what its citations are, and every way there is no answer."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlm_cdp.errors import DecodeError, Drift, InvalidArgument, Network, NlmError, RateLimited, Service, SignedOut
from nlm_cdp.wire.batchexecute import answer_frame
from nlm_cdp.wire.chat import ANSWER, THINKING, Answer, ChatReader, Snapshot
from nlm_cdp.wire.document import units
from nlm_cdp.wire.frames import NotRpcReply, compact, frame_body, frame_chunk
from nlm_cdp.wire.pblite import Row

WIRE = Path(__file__).resolve().parents[3] / "shared" / "wire"
TAIL = [["di", 198], ["af.httprm", 197, "-1460015816955467607", 6]]
TYPE = "type.googleapis.com/google.internal.labs.tailwind.orchestration.v1.UserDisplayableError"
HEARTBEAT: Row = []


def paragraph(text: str, start: int = 0) -> Row:
    end = start + units(text)
    return [start, end, [[[start, end, [text]]]]]


def citation(source: str, text: str = "quoted", at: int = 0) -> Row:
    end = at + units(text)
    return [None, None, 0.9, [[None, at, end]], [[paragraph(text, at)]], [[[source], "revision"]], [f"c-{source}"]]


def snapshot(
    text: str = "",
    *,
    kind: int | None = ANSWER,
    final: bool = False,
    citations: Any = None,
    follow_ups: list[str] | None = None,
    reason: int | None = None,
    table: Any = None,
) -> Row:
    document = [[[paragraph(text)]], None, None, table, kind]
    answer = [text, None, ["conversation", "turn", 7], reason, document]
    return [answer, citations, None, [follow_ups] if follow_ups else None, final]


def frames(*rows: Any) -> list[list[Any]]:
    return [["wrb.fr", None, compact(row)] for row in rows]


def body(*rows: Any) -> str:
    return frame_body([*([frame] for frame in frames(*rows)), TAIL])


def read(*pieces: bytes | str) -> Answer:
    reader = ChatReader()
    for piece in pieces:
        for _ in reader.feed(piece):
            pass
    return reader.close()


def refused(*pieces: bytes | str) -> NlmError:
    with pytest.raises(NlmError) as caught:
        read(*pieces)
    return caught.value


# Which snapshot is the answer


def test_an_answer_with_everything() -> None:
    row = snapshot("Yes [1].", final=True, citations=[citation("s1", "🧪 passage", 40)], follow_ups=["And then?"])
    answer = read(body(row))
    assert answer.text == "Yes [1]."
    assert answer.follow_ups == ["And then?"]
    assert answer.turn is not None
    assert (answer.turn.conversation_id, answer.turn.turn_id, answer.turn.number) == ("conversation", "turn", 7)
    assert answer.document == row[0][4]
    assert not answer.truncated
    assert answer.undecoded == []
    (cited,) = answer.citations
    assert (cited.index, cited.source_id, cited.excerpt) == (1, "s1", "🧪 passage")
    assert (cited.start, cited.end) == (40, 50)


def test_each_stream_gives_its_own_answer() -> None:
    for text in ("first", "second", "third"):
        assert read(body(snapshot("stale"), snapshot(text, final=True))).text == text
    one, two = ChatReader(), ChatReader()
    streams = [(one, body(snapshot("one", final=True))), (two, body(snapshot("two", final=True)))]
    for at in range(max(len(text) for _, text in streams)):
        for reader, text in streams:
            list(reader.feed(text[at : at + 1]))
    assert (one.close().text, two.close().text) == ("one", "two")


def test_thinking_is_never_the_answer() -> None:
    thinking = [snapshot("**Weighing the options**", kind=THINKING), snapshot("**More**", kind=THINKING)]
    assert read(body(*thinking, snapshot("Final.", final=True))).text == "Final."
    assert read(body(snapshot("Draft."), *thinking)).text == "Draft."
    error = refused(body(*thinking))
    assert type(error) is Service
    assert "thinking" in error.message
    assert "Weighing" not in str(error)
    late = snapshot("**Even when marked final**", kind=THINKING, final=True)
    assert type(refused(body(late))) is Service


def test_the_final_snapshot_wins_not_the_longest() -> None:
    long = snapshot("A long draft answer [1][2]", citations=[citation("s1"), citation("s2")])
    short = snapshot("Short [1].", final=True, citations=[citation("s3")])
    answer = read(body(long, short, HEARTBEAT, None))
    assert answer.text == "Short [1]."
    assert [cited.source_id for cited in answer.citations] == ["s3"]
    assert read(body(short, long)).text == "Short [1]."


def test_without_a_final_snapshot_the_last_one_stands_and_says_so() -> None:
    answer = read(body(snapshot("One"), snapshot("One two"), HEARTBEAT))
    assert answer.text == "One two"
    assert answer.truncated


def test_an_empty_beginning_is_no_empty_answer() -> None:
    assert read(body(snapshot(""), snapshot("Gro"), snapshot("Grown", final=True))).text == "Grown"


def test_a_snapshot_without_a_kind_is_an_answer() -> None:
    row = snapshot("Text", final=True, kind=None)
    assert read(body(row)).text == "Text"
    row[0][4] = None
    assert read(body(row)).document is None


def test_snapshots_are_seen_as_they_come() -> None:
    reader = ChatReader()
    seen: list[Snapshot] = []
    for character in body(snapshot("a", kind=THINKING), HEARTBEAT, snapshot("b"), snapshot("bc", final=True)):
        seen += reader.feed(character)
    kinds = [(item.answer.kind, item.answer.text, item.final) for item in seen if item.answer]
    assert kinds == [(THINKING, "a", False), (ANSWER, "b", False), (ANSWER, "bc", True)]


TEXT = body(snapshot("é 🧪 [1]", citations=[citation("s", "👨‍👩‍👧")]), HEARTBEAT, snapshot("🧪 é", final=True))


def test_every_split_gives_the_same_answer() -> None:
    whole, raw = read(TEXT), TEXT.encode()
    assert read(raw) == whole
    assert read(*(raw[at : at + 1] for at in range(len(raw)))) == whole
    assert read(*TEXT) == whole
    for at in range(0, len(raw), 3):
        assert read(raw[:at], raw[at:]) == whole


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, len(TEXT)), max_size=6))
def test_any_pieces_give_the_same_answer(cuts: list[int]) -> None:
    cuts = sorted(cuts)
    assert read(*(TEXT[a:b] for a, b in zip([0, *cuts], [*cuts, len(TEXT)], strict=True))) == read(TEXT)


def test_a_stream_cut_anywhere_is_truncated_or_an_error() -> None:
    raw = TEXT.encode()
    first = raw.index(b"\n", raw.index(b"wrb.fr")) + 1
    last = raw.index(b"\n", raw.index(b"true") + 1)
    for at in range(len(raw)):
        if at < first - 1:
            assert isinstance(refused(raw[:at]), Network | NotRpcReply)
        else:
            answer = read(raw[:at])
            assert answer.truncated == (at < last)
            assert answer.text == ("é 🧪 [1]" if at < last else "🧪 é")


def test_a_last_snapshot_without_its_line_break_is_read() -> None:
    text = f")]}}'\n\n{compact(frames(snapshot('All of it', final=True)))}"
    answer = read(text)
    assert (answer.text, answer.truncated) == ("All of it", False)


# No answer


@pytest.mark.parametrize("text", ["", "  \n", "\u2003"])
@pytest.mark.parametrize("reason", [None, 1, 2, 9])
def test_an_empty_answer_is_an_error_that_says_why(text: str, reason: int | None) -> None:
    error = refused(body(snapshot(text, final=True, reason=reason)))
    assert type(error) is Service
    assert error.details == {"reason": reason}
    said = {1: "do not answer", 2: "filtered"}.get(reason or 0, "empty")
    assert said in error.message
    assert error.hint


@pytest.mark.parametrize("text", [frame_body([TAIL]), body(HEARTBEAT, HEARTBEAT), body(None), body([None])])
def test_a_stream_of_nothing_but_bookkeeping_is_an_exhausted_allowance(text: str) -> None:
    error = refused(text)
    assert type(error) is RateLimited
    assert error.retriable


@pytest.mark.parametrize("text", ["", "<html>unusual traffic</html>", ")]}'\n\n"])
def test_what_is_no_stream_says_so(text: str) -> None:
    assert type(refused(text)) is NotRpcReply


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ([3], InvalidArgument),
        ([8, None, [[TYPE, ["Try later today."]]]], RateLimited),
        ([13], Service),
        ([16], SignedOut),
    ],
)
def test_an_error_frame_is_raised_before_and_after_text(status: Any, kind: type[NlmError]) -> None:
    error_frame = ["wrb.fr", None, None, None, None, status]
    text = frames(snapshot("Half an answer"))
    for chunks in (
        [[error_frame], TAIL],
        [text, [error_frame], TAIL],
        [[*text, error_frame]],
        [[answer_frame(None, None, status)]],
    ):
        assert type(refused(frame_body(chunks))) is kind


def test_a_refused_question_says_what_to_check() -> None:
    error = refused(frame_body([[["wrb.fr", None, None, None, None, [3]]]]))
    assert "12 KB" in error.hint
    assert "sources" in error.hint
    limited = refused(frame_body([[["wrb.fr", None, None, None, None, [3, None, [[TYPE, ["Try later."]]]]]]]))
    assert "12 KB" not in limited.hint
    assert limited.message == "Try later."


def test_an_er_frame_is_an_error_and_a_trailer_is_not() -> None:
    er = ["er", None, None, None, None, 400, None, None, None, 9]
    assert type(refused(frame_body([frames(snapshot("Text", final=True)), [er]]))) is InvalidArgument
    for tail in ([["e", 4, None, None, 707]], [["e", 24, None, None, 441040]]):
        text = f")]}}'\n\n{frame_chunk(frames(snapshot('Text', final=True)))}{frame_chunk(tail)}"
        assert read(text).text == "Text"


@pytest.mark.parametrize(
    ("row", "path"),
    [
        ("text", ""),
        (5, ""),
        (["text"], ".1"),
        ([[5]], ".1.1"),
        ([["text", None, "turn"]], ".1.3"),
        ([["text"], "junk"], ".2"),
        ([["text"], None, [["junk", [0]]]], ".3[0].1"),
        ([["text"], None, None, None, 1], ".5"),
    ],
)
def test_a_snapshot_of_another_shape_is_drift(row: Any, path: str) -> None:
    error = refused(body(snapshot("Half"), row))
    assert isinstance(error, DecodeError)
    assert error.path == path


def test_a_kind_that_cannot_be_read_is_drift() -> None:
    assert isinstance(refused(body([["text", None, None, None, "junk"]])), DecodeError)
    assert type(refused(frame_body([[["wrb.fr", None, "not json"]]]))) is Drift


# Citations


def test_cumulative_snapshots_do_not_multiply_citations() -> None:
    rows = [snapshot(f"Text {n} [1][2][3]", citations=[citation("a"), citation("b"), citation("c")]) for n in range(6)]
    rows[-1][4] = True
    assert [cited.index for cited in read(body(*rows)).citations] == [1, 2, 3]


@pytest.mark.parametrize("junk", ["junk", 5, None, [], [None, None, 0.5, "x"], [None] * 6 + [["chunk"]]])
def test_a_bad_citation_leaves_a_hole_and_never_shifts_the_others(junk: Any) -> None:
    row = snapshot("One [1], three [3].", final=True, citations=[citation("a"), junk, citation("c")])
    answer = read(body(row))
    assert [(cited.index, cited.source_id) for cited in answer.citations] == [(1, "a"), (3, "c")]
    assert len(answer.undecoded) == 1
    assert answer.undecoded[0].startswith("citation 2")


def test_a_citation_of_another_source_form_is_told() -> None:
    direct = citation("a")
    direct[4] = [paragraph("not wrapped")]
    answer = read(body(snapshot("x [1]", final=True, citations=[direct])))
    assert answer.citations == []
    assert answer.undecoded == ["citation 1.5.1[0]: expected an array, got number"]


@pytest.mark.parametrize("table", [None, []])
def test_no_citations_are_none(table: Any) -> None:
    answer = read(body(snapshot("Text", final=True, citations=table, table=table)))
    assert (answer.citations, answer.undecoded) == ([], [])


def test_the_documents_own_table_serves_where_the_snapshot_has_none() -> None:
    entries = [[["c-a"], citation("a")], "junk", [["c-c"], citation("c")]]
    answer = read(body(snapshot("One [1], three [3].", final=True, table=entries)))
    assert [(cited.index, cited.source_id) for cited in answer.citations] == [(1, "a"), (3, "c")]
    assert len(answer.undecoded) == 1
    error = refused(body(snapshot("One [1].", final=True, table="junk")))
    assert isinstance(error, DecodeError)


def test_ranges_may_be_missing_or_start_at_zero() -> None:
    bare, zero = citation("a"), citation("b")
    bare[3], zero[3] = None, [[None, None, 6]]
    answer = read(body(snapshot("x [1][2]", final=True, citations=[bare, zero])))
    assert [(cited.start, cited.end) for cited in answer.citations] == [(None, None), (0, 6)]


def test_follow_ups_come_from_either_place() -> None:
    chips = [*snapshot("x", final=True), [[["q1", 9], ["q2", 9]]]]
    assert read(body(chips)).follow_ups == ["q1", "q2"]
    chips[3] = [["q3"]]
    assert read(body(chips)).follow_ups == ["q3"]


# Recorded


@pytest.mark.parametrize("name", ["chat_ask", "chat_ask_with_source_ids"])
def test_a_recorded_answer_is_whole(name: str) -> None:
    if not WIRE.is_dir():
        pytest.skip("no recordings beside the checkout")
    exchanges = json.loads((WIRE / f"{name}.json").read_text(encoding="utf-8"))["exchanges"]
    (text,) = (item["response_body"] for item in exchanges if "GenerateFreeFormStreamed" in item["path"])
    answer = read(text.encode())
    assert not answer.truncated
    assert answer.undecoded == []
    assert answer.citations
    assert [cited.index for cited in answer.citations] == list(range(1, len(answer.citations) + 1))
    assert all(cited.excerpt and cited.source_id for cited in answer.citations)
    assert len(answer.follow_ups) == 3


# Size


def test_a_long_answer_is_held_once() -> None:
    """400 cumulative snapshots that grow to 300 KB: 60 MB go through, and only the last one stays."""
    final, count = 300_000, 400
    sentence = "The ledger counts every crate that comes ashore. "
    text = sentence * (final // len(sentence) + 1)
    reader = ChatReader()
    tracemalloc.start()
    try:
        list(reader.feed(")]}'\n\n"))
        for number in range(1, count + 1):
            part = text[: final * number // count]
            piece = frame_chunk(frames(snapshot(part, final=number == count)))
            for at in range(0, len(piece), 65_536):
                for seen in reader.feed(piece[at : at + 65_536]):
                    assert seen.answer is not None
        del seen
        list(reader.feed(frame_chunk([["e", count + 1, None, None, 1]])))
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    answer = reader.close()
    assert len(answer.text) == final
    assert not answer.truncated
    assert kept < 10 * final
    assert peak < 30 * final
