"""Markup into elements, and the passages that a question finds in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlm_cdp.api.common import Timestamp
from nlm_cdp.sim.fetch import drive_file, is_slow, video, web_page
from nlm_cdp.sim.filler import paragraphs
from nlm_cdp.sim.markup import blocks, elements
from nlm_cdp.sim.records import MARKDOWN, TEXT, Source
from nlm_cdp.sim.retrieval import best_sentence, chunks, frequent, ranked, sentences, terms
from nlm_cdp.wire.document import units
from tests.fakes import present


def source(text: str, kind: int = TEXT, name: str = "s") -> Source:
    return Source(name, "Title", kind, text, Timestamp(seconds=1), "r")


@given(st.text(alphabet=st.sampled_from("ab1.|#->`*[]() \n\r🧪é。"), max_size=300))
def test_elements_and_chunks_are_contiguous_for_any_text(text: str) -> None:
    for kind in (TEXT, MARKDOWN):
        made = source(text, kind)
        at = 0
        for element in elements(blocks(text, inline=kind != TEXT)):
            assert element.start == at
            at = element.end
        assert at == units(made.wire_text)
        found = chunks(made)
        assert [chunk.start for chunk in found] == [0, *[chunk.end for chunk in found[:-1]]][: len(found)]
        assert not found or found[-1].end == at


def test_lists_are_numbered_as_in_recordings() -> None:
    made = list(elements(blocks("- a\n- b\n  - c\n\n- d\n7. e")))
    bullets = [present(present(element.paragraph).bullet) for element in made]
    assert [(b.level, b.glyph, b.kind, b.ordinal, b.counter) for b in bullets] == [
        (None, "•", 1, 1, 0),
        (None, "•", 1, 2, 1),
        (1, "•", 1, 1, 0),
        (None, "•", 1, 1, 0),
        (None, "7.", 2, 7, 1),
    ]


def test_a_ragged_table_is_kept() -> None:
    (element,) = elements(blocks("| a | b |\n|---|---|\n| c |"))
    table = present(element.table)
    assert (table.n_rows, table.n_columns) == (2, 2)
    assert [len(row.cells) for row in table.rows] == [2, 1]
    assert element.end == 3


def test_terms_leave_out_what_does_not_count() -> None:
    assert terms("What is the Glass of the classes? 東京都") == ["glass", "classe", "東", "京", "都"]
    assert frequent("lion lion tiger tiger ants of the the the 1234 1234 1234", 2) == ["tiger", "lion"]


def test_sentences() -> None:
    assert list(sentences("One. Two is 3.5 long! 三つ。四つ。\nlast")) == [
        "One.",
        "Two is 3.5 long!",
        "三つ。",
        "四つ。",
        "last",
    ]


def test_the_chunk_with_the_rarer_words_comes_first() -> None:
    text = "# Birds\nBirds fly over water.\n# Fish\nFish swim in water. Salmon swim upstream."
    found = ranked("Do salmon live in water?", [source(text, MARKDOWN)], 4)
    assert [chunk.text.partition("\n")[0] for _, chunk in found] == ["Fish", "Birds"]
    assert best_sentence("salmon", found[0][1]) == "Salmon swim upstream."
    assert ranked("zebra", [source(text)], 4) == []
    assert len(ranked("What is this?", [source(text), source("", name="empty")], 4)) == 1


def test_a_quoted_sentence_has_a_bound() -> None:
    ((_, chunk),) = ranked("word", [source("word " * 200)], 1)
    assert len(best_sentence("word", chunk)) <= 300


@pytest.mark.parametrize(
    "url",
    [
        "https://fail.example/",
        "https://x.invalid/",
        "http://a.b.invalid/c",
        "ftp://a.example/",
        "https://",
        "x",
        "http://[x",
    ],
)
def test_addresses_that_cannot_be_read(url: str) -> None:
    assert web_page(url) is None


def test_made_up_pages_say_so_and_stay_the_same() -> None:
    found = present(web_page("https://news.example/long_read-about%20whales?lang=en"))
    assert found == web_page("https://news.example/long_read-about%20whales?lang=en")
    assert "whales" in found.title
    for made in (found, present(video("https://www.youtube.com/watch?v=abc")), drive_file("x", "id")):
        assert "simulated" in made.text.lower()
        assert "simulated" in made.title.lower()
    assert video("https://www.youtube.com/nothing") is None
    assert is_slow("https://slow.example/x")
    assert not is_slow("https://slow.example.com/x")


@pytest.mark.parametrize("size", [1, 8, 9, 999, 1000, 1001, 70_000])
def test_filler_has_exactly_its_size(size: int) -> None:
    assert sum(map(len, paragraphs(size))) == size
