"""What is to be added, and which row of the notebook it became."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlm_cdp.api.sources.intake import Item, Kind, address, heading, match, may_have_happened, plan, undecided, video_id
from nlm_cdp.api.sources.rows import Source
from nlm_cdp.errors import InvalidArgument, NlmError, Outcome, Service
from nlm_cdp.wire.status import Status

VIDEO = "dQw4w9WgXcQ"


def source(id: str, title: str | None = None, *, url: str | None = None, video: str | None = None) -> Source:
    youtube = [video] if video else None
    return Source.decode([[id], title, [*[None] * 5, youtube, None, [url] if url else None], [None, 2]])


def one(content: str, kind: Kind | None = None, title: str | None = None) -> Item:
    (item,) = plan(content, kind, title)
    return item


# Plans


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("https://example.org/a", "url"),
        ("  http://example.org  ", "url"),
        (f"https://www.youtube.com/watch?v={VIDEO}", "youtube"),
        (f"https://youtu.be/{VIDEO}?t=5", "youtube"),
        ("https://www.youtube.com/@channel", "url"),
        ("https://example.org/ is a page", "text"),
        ("A text\nof two lines", "text"),
        ("javascript:alert(1)", "text"),
        ("see http://example.org", "text"),
    ],
)
def test_the_kind_is_guessed_when_it_is_plain(content: str, kind: str) -> None:
    item = one(content)
    assert item.kind == kind
    assert item.content == (content if kind == "text" else content.strip())


def test_a_text_takes_the_title_given_or_its_first_line() -> None:
    assert one("  # Heading \nbody", "text").title == "Heading"
    assert one("body", title="Mine").title == "Mine"
    assert one("https://example.org/x", "text").title == "https://example.org/x"
    assert one("###").title == "Pasted text"
    assert len(one("x" * 500).title) == 80


def test_an_error_names_an_item_without_its_text() -> None:
    assert one("Title\nprivate text").shown == "Title"
    assert one("https://example.org/").shown == "https://example.org/"


def test_several_urls_are_one_call_and_equal_ones_stay_apart() -> None:
    items = plan(["https://example.org/", f"https://youtu.be/{VIDEO}", "https://example.org/"], None, None)
    assert [item.kind for item in items] == ["url", "youtube", "url"]
    assert len(set(items)) == 3


@pytest.mark.parametrize(
    ("content", "kind", "title", "said"),
    [
        ([], None, None, "nothing to add"),
        ("", None, None, "nothing to add"),
        (" \n", "text", None, "nothing to add"),
        (["https://example.org/", ""], None, None, "nothing to add"),
        (["https://example.org/", "a text"], None, None, "only URLs"),
        (["https://example.org/", "https://example.org/b"], "text", None, "only URLs"),
        (["https://example.org/", "https://example.org/b"], None, "Title", "exactly one source"),
        ("https://example.org/", "youtube", None, "names no YouTube video"),
        (f"https://www.youtube.com.evil.test/watch?v={VIDEO}", "youtube", None, "names no YouTube video"),
        ("not a URL", "url", None, "only http and https"),
        ("https://a.example/ https://b.example/", "url", None, "not one URL"),
        ("https://a.example/\nhttps://b.example/", "url", None, "not one URL"),
        ("https://evil.example\\@good.example/", None, None, "not one URL"),
        ("http://[", None, None, "not a URL"),
        ("http://[::1", "url", None, "not a URL"),
    ],
)
def test_what_cannot_be_added_is_refused_before_anything_is_sent(
    content: Any, kind: Kind | None, title: str | None, said: str
) -> None:
    with pytest.raises(InvalidArgument, match=said) as caught:
        plan(content, kind, title)
    assert caught.value.outcome is Outcome.NOT_SENT


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,x",
        "ftp://example.org/",
        "chrome://version",
        "about:x",
    ],
)
def test_local_schemes_are_refused(url: str) -> None:
    with pytest.raises(InvalidArgument, match="only http and https"):
        plan(url, "url", None)


PRIVATE = [
    "localhost",
    "localhost:9222",
    "LOCALHOST",
    "localhost.",
    "app.localhost",
    "printer.local",
    "metadata.google.internal",
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "127.0.0.1.",
    "0.0.0.0",
    "10.0.0.5",
    "172.16.3.4",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[fe80::1]",
    "[fd00::1]",
    "user:secret@192.168.1.1",
]


@pytest.mark.parametrize("host", PRIVATE)
def test_private_addresses_are_refused(host: str) -> None:
    for kind in (None, "url"):
        with pytest.raises(InvalidArgument, match="local or private") as caught:
            plan(f"http://{host}/json", kind, None)
        assert caught.value.hint == "Paste the text instead."


@pytest.mark.parametrize(
    "host", ["example.org", "1.example", "8.8.8.8", "[2606:4700::1111]", "localhost.example", "0x.org"]
)
def test_public_addresses_are_not(host: str) -> None:
    assert one(f"https://{host}:8443/x?y#z").content == f"https://{host}:8443/x?y#z"


@settings(deadline=None)
@given(st.text(max_size=40), st.sampled_from([None, "url", "youtube", "text"]))
def test_any_content_is_an_item_or_a_refusal(content: str, kind: Kind | None) -> None:
    for text in (content, f"http://{content}", f"https://youtu.be/{content}"):
        try:
            (item,) = plan(text, kind, None)
        except InvalidArgument:
            continue
        assert item.title or item.kind != "text"


@settings(deadline=None)
@given(st.text(min_size=1).filter(str.strip))
def test_any_text_has_a_heading_of_one_line(text: str) -> None:
    assert 0 < len(heading(text)) <= 80
    assert len(heading(text).splitlines()) == 1


@pytest.mark.parametrize(
    ("url", "video"),
    [
        (f"https://www.youtube.com/watch?v={VIDEO}&t=3s", VIDEO),
        (f"http://m.youtube.com/watch?list=x&v={VIDEO}", VIDEO),
        (f"https://music.youtube.com/watch?v={VIDEO}", VIDEO),
        (f"https://youtu.be/{VIDEO}", VIDEO),
        (f"https://youtu.be/{VIDEO}/extra", VIDEO),
        (f"https://youtube.com/shorts/{VIDEO}", VIDEO),
        (f"https://www.youtube.com/embed/{VIDEO}?x", VIDEO),
        (f"https://www.youtube.com/live/{VIDEO}/", VIDEO),
        (f"https://www.youtube.com/v/{VIDEO}", VIDEO),
        ("https://youtu.be/", None),
        ("https://www.youtube.com/shorts/", None),
        ("https://www.youtube.com/watch", None),
        ("https://www.youtube.com/watch?v=", None),
        (f"https://notyoutube.com/watch?v={VIDEO}", None),
        (f"https://youtu.be.evil.test/{VIDEO}", None),
        (f"ftp://youtu.be/{VIDEO}", None),
        ("https://[", None),
        ("", None),
    ],
)
def test_a_video_is_known_in_every_form_of_its_address(url: str, video: str | None) -> None:
    assert video_id(url) == video


# Rows


def test_items_are_found_by_address_title_or_video() -> None:
    items = [
        Item(0, "url", "https://www.example.org/a/?q=1#part"),
        Item(1, "youtube", f"https://youtu.be/{VIDEO}"),
        Item(2, "text", "the text", "Notes"),
    ]
    rows = [
        source("t", "Notes"),
        source("v", "A film", video=f"https://www.youtube.com/watch?v={VIDEO}"),
        source("w", "A page", url="http://example.org/a?q=1"),
        source("x", "Notes", url="https://example.org/notes"),
    ]
    assert {item.number: row.id for item, row in match(items, rows).items()} == {0: "w", 1: "v", 2: "t"}


def test_a_page_still_titled_by_its_address_is_found() -> None:
    item = Item(0, "url", "https://example.org/a")
    assert match([item], [source("w", "https://example.org/a")]) == {item: source("w", "https://example.org/a")}


def test_each_row_counts_once() -> None:
    items = [Item(number, "url", "https://example.org/") for number in range(3)]
    found = match(items, [source("a", url="https://example.org/"), source("b", url="https://example.org")])
    assert [row.id for row in found.values()] == ["a", "b"]
    assert items[2] not in found


@pytest.mark.parametrize("title", ["//[draft", "http://[x]/", "http://a\u2100b/", "[", None, "", "plain"])
def test_a_title_is_no_address_whatever_it_looks_like(title: str | None) -> None:
    assert match([Item(0, "url", "https://example.org/")], [source("a", title)]) == {}
    assert len(address(title or "")) == 3


@pytest.mark.parametrize(
    ("error", "may"),
    [
        (Status(3).error(), True),
        (Status(9).error(), True),
        (Status(5).error(), False),
        (Status(7).error(), False),
        (Service("lost", outcome=Outcome.UNKNOWN), True),
        (Service("not sent"), False),
    ],
)
def test_some_refusals_are_not_to_be_believed(error: NlmError, may: bool) -> None:
    assert may_have_happened(error) is may


def test_media_may_fail_in_passing_and_documents_may_not() -> None:
    def row(id: str, kind: int, status: int) -> Source:
        return Source.decode([[id], None, [None, None, None, None, kind], [None, status]])

    rows = [row("film", 10, 3), row("pdf", 3, 3), row("song", 10, 1)]
    assert undecided(rows, set()) == {"film"}
    assert undecided(rows, {"film"}) == set()
    assert undecided([row("film", 10, 2)], set()) == set()
