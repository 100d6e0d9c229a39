"""The drift report as a page: what it says, that it is text and nothing else, and that it asks for nothing."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from nlm_cdp.capture.drift import Class, Entry, Report
from nlm_cdp.capture.html import page
from nlm_cdp.capture.outline import Line

HOSTILE = "</code></script><script>alert(1)</script><img src=x onerror='alert(1)' a=\"b\">&amp;"
LEAVING = re.compile(r"https?:|//|url\(|@import", re.IGNORECASE)


class Reader(HTMLParser):
    """Tags with their attributes, and the text between them but for style and script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.inline: dict[str, str] = {}
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "link", "input"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in {"style", "script"}:
            self.inline[self.open[-1]] = data
        else:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.texts))

    def of_class(self, name: str) -> list[dict[str, str | None]]:
        return [attrs for _, attrs in self.tags if name in (attrs.get("class") or "").split()]


def report(*entries: Entry, looked: int = 103, **known: Any) -> Report:
    return replace(Report(list(entries), unseen=[], looked=looked, signed_out=False, overrides={}), **known)


def entry(rpc: str = "rLM1Ne", *kinds: Class, method: str = "GetProject", tree: list[Line] | None = None) -> Entry:
    found = Entry(rpc, method, calls=1)
    for number, kind in enumerate(kinds):
        found.add(kind, "response", f".{number}", f"what is {kind}", tree)
    return found


def heading(text: str) -> str:
    found = re.search("<h1>(.*?)</h1>", text)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (report(entry("a", Class.NEW), entry("b", Class.BREAKING)), "2 changes: 1 breaking, 1 new"),
        (report(entry("a", Class.GONE, Class.NEW, Class.NEW)), "3 changes: 1 gone, 2 new"),
        (report(entry("a", Class.NEW)), "1 change: 1 new"),
        (report(entry("a")), "No drift in 103 calls"),
        (report(entry("a"), looked=1), "No drift in 1 call"),
        (report(looked=0, signed_out=True), "Could not look: this browser was signed out"),
        (report(looked=0), "Could not look: no calls were seen"),
    ],
)
def test_the_heading_is_the_verdict(found: Report, verdict: str) -> None:
    text = page(found, "fixtures/")
    assert heading(text) == verdict
    assert f"<title>{verdict}</title>" in text


def test_what_was_compared_and_the_overrides_in_force_are_said() -> None:
    text = Reader(page(report(entry(), overrides={"cFji9": "zNew99"}), "fixtures/ of 2026-11-30")).text
    assert "fixtures/ of 2026-11-30" in text
    assert "103 calls of 1 kind" in text
    assert re.search(r"cFji9\s+→\s+zNew99", text)


def test_every_call_is_there_with_its_numbers_the_worst_first() -> None:
    entries = [
        entry("okokok"),
        entry("newnew", Class.NEW),
        entry("goneee", Class.GONE),
        entry("broken", Class.BREAKING),
    ]
    entries[0].variant, entries[0].calls, entries[0].refused, entries[0].lost = "chat", 31, 17, 5
    entries[3].method = ""
    text = page(report(*entries), "")
    assert re.findall(r'<th scope="row"><code>(\w+)<', text) == ["broken", "goneee", "newnew", "okokok"]
    (row,) = re.findall(r'<tbody class="ok">.*?</tbody>', text)
    assert re.findall(r">([^<>]+)<", row) == ["ok", "okokok", "GetProject", "chat", "31", "17", "5"]
    (undeclared,) = re.findall(r'<tbody class="breaking">.*?</tbody>', text)
    assert "not declared" in undeclared


def test_a_status_is_a_word_and_is_counted_on_its_button() -> None:
    found = Reader(page(report(entry("a"), entry("b"), entry("c", Class.GONE, Class.NEW)), ""))
    for said in ("all 3", "breaking 0", "gone 1", "new 0", "ok 2"):
        assert said in found.text
    radios = {attrs["id"]: "disabled" in attrs for tag, attrs in found.tags if attrs.get("type") == "radio"}
    assert radios == {"only-all": False, "only-breaking": True, "only-gone": False, "only-new": True, "only-ok": False}


def test_every_change_is_there_with_the_worst_in_sight() -> None:
    text = page(report(entry("a", Class.NEW, Class.BREAKING, Class.GONE)), "")
    assert [text.count(f"what is {kind}") for kind in (Class.NEW, Class.BREAKING, Class.GONE)] == [1, 2, 1]
    assert re.search("<summary><strong>response</strong> <code>.1</code>: what is breaking.*and 2 more", text)


def test_a_change_without_a_tree_has_nothing_to_open() -> None:
    rows = Reader(page(report(entry("a", Class.NEW)), "")).of_class("plain")
    assert len(rows) == 1


def test_only_what_breaks_is_open_from_the_start() -> None:
    tree = [Line(0, ".1", "title", "object", marked=True)]
    text = page(report(entry("a", Class.NEW, tree=tree), entry("b", Class.BREAKING, tree=tree)), "")
    assert re.findall("<tbody class=.(\\w+).*?<details( open)?>", text) == [("breaking", " open"), ("new", "")]


def test_a_tree_nests_as_deep_as_its_lines_say() -> None:
    tree = [
        Line(0, ".2", "chats", "null", marked=False),
        Line(0, ".1", "notebook: Notebook", "array of 2", marked=False),
        Line(1, ".1[0]", "", "array of 3", marked=False),
        Line(2, ".1[0].7", "", "string", marked=True),
        Line(0, ".3", "title", "null", marked=True),
        Line(0, ".4", "id", "object", marked=True),
    ]
    text = page(report(entry("a", Class.NEW, tree=tree)), "")
    found = Reader(text)  # which wants every tag closed where it belongs
    cells = found.of_class("cell")[1:]
    assert [attrs["class"] for attrs in cells] == [
        "cell null",
        "cell",
        "cell",
        "cell marked",
        "cell null marked",
        "cell marked",
    ]
    assert "notebook: Notebook" in found.text
    assert re.findall(r'role="img" aria-label="(\w+)">(.)<', text) == [("new", "+"), ("missing", "−"), ("differs", "≠")]
    assert text.count("<ul><li><div") == 3


def test_what_was_not_seen_is_listed_closed_and_says_that_it_says_nothing() -> None:
    text = page(report(entry(), unseen=["ub2Bae-OpenHome"]), "")
    assert re.search(r'<details class="aside" id="unseen">\s*<summary>1 declared call not seen', text)
    assert "This says nothing about them" in text
    assert "ub2Bae-OpenHome" in text
    assert 'id="unseen" hidden>' in page(report(entry()), "")


def test_without_a_call_there_is_no_table_to_see() -> None:
    (section,) = [attrs for tag, attrs in Reader(page(report(looked=0), "")).tags if tag == "section"]
    assert "hidden" in section


@pytest.mark.parametrize("hostile", [HOSTILE, "$verdict ${policy} $", "\ud800 \x00 \u202e \u2028"])
def test_hostile_text_is_text(hostile: str) -> None:
    def tags(text: str) -> list[str]:
        return [tag for tag, _ in Reader(text).tags]

    def told(text: str) -> str:
        found = Entry(text, text, text, calls=1)
        tree = [Line(0, text, text, text, marked=True), Line(1, ".1", "", text, marked=False)]
        found.add(Class.NEW, text, text, text, tree)
        found.add(Class.NEW, text, "", text, [])
        return page(report(found, unseen=[text], overrides={text: text}), text)

    text = told(hostile)
    assert tags(text) == tags(told("plain"))
    assert not re.search("[\ud800\x00\u202e\u2028]", text)
    text.encode()
    if hostile.isprintable():
        assert re.sub(r"\s+", " ", hostile) in Reader(text).text


def test_equal_reports_give_equal_pages() -> None:
    def one() -> str:
        tree = [Line(0, ".1", "title", "object", marked=True)]
        return page(report(entry("a", Class.NEW, tree=tree), entry("b"), overrides={"a": "b"}, unseen=["c"]), "x")

    assert one() == one()


def test_the_page_refers_to_nothing_outside_itself() -> None:
    found = Reader(page(report(entry("a", Class.BREAKING), unseen=["b"]), "fixtures/"))
    references = [
        value for _, attrs in found.tags for name, value in attrs.items() if name in {"src", "href", "action"}
    ]
    assert references == ["data:,"]
    assert not any(name.startswith("on") or name == "style" for _, attrs in found.tags for name in attrs)
    assert not LEAVING.search(found.inline["style"])
    assert not re.search(r"https?:|fetch|XMLHttpRequest|import|eval", found.inline["script"])


def test_the_policy_allows_the_pages_own_style_and_script_alone() -> None:
    found = Reader(page(report(entry()), ""))
    (policy,) = [attrs["content"] for _, attrs in found.tags if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(found.inline[tag].encode()).digest()).decode()
        assert rules[f"{tag}-src"] == f"'sha256-{digest}'"
