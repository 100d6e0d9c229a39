"""Addresses in texts."""

from __future__ import annotations

import pytest

from nlm_cdp.api.sources.links import links

A = "https://a.test/x"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"see [A]({A}) and [B](http://b.test)", [A, "http://b.test"]),
        (f'[A]({A} "A title")', [A]),
        (f"[A](<{A}>)", [A]),
        (f"[1]: {A}\n[2]: {A}?q=1&r=2#top", [A, f"{A}?q=1&r=2#top"]),
        (f"<{A}> `{A}` |{A}| “{A}” 见{A}。", [A, A, A, f"{A}”", A]),
        (f"![A]({A}.png)", [f"{A}.png"]),
        ("[W](https://en.wikipedia.org/wiki/Fog_(weather))", ["https://en.wikipedia.org/wiki/Fog_(weather)"]),
        ("(https://en.wikipedia.org/wiki/Fog_(weather))", ["https://en.wikipedia.org/wiki/Fog_(weather)"]),
        (f"[[{A}]] ({A}[1])", [A, f"{A}[1]"]),
        (f"{A}. {A}, {A}!", [f"{A}.", A, f"{A},", A, f"{A}!", A]),
        (f"**{A}** _{A}_", [f"{A}**", A, f"{A}_", A]),
        (r"https://a.test/a\_b\(c\)", ["https://a.test/a_b(c)"]),
        (f"{A})[B](https://b.test/y)", [A, "https://b.test/y"]),
        ("https://web.archive.test/2020/https://a.test/x", ["https://web.archive.test/2020/https://a.test/x"]),
        ("https://de.test/Nebel/ä?q=日本", ["https://de.test/Nebel/ä?q=日本"]),
        ("http https:/a https//b httphttp:/ ftp://a.test HTTP", []),
        ("", []),
    ],
)
def test_links(text: str, found: list[str]) -> None:
    assert list(links(text)) == found


@pytest.mark.parametrize(
    "piece",
    [
        "![",
        "[x](",
        "http",
        "http:",
        "https://",
        "https://a(",
        "https://a[",
        "https://a)",
        "https://a.b/c)[",
        "((((",
        "a",
        ".",
    ],
)
def test_no_character_is_looked_at_twice(piece: str) -> None:
    """What comes out is no longer than what went in, twice over: the time cannot grow faster than the text."""
    text = piece * 50_000
    assert sum(map(len, links(text))) <= 2 * len(text)
    text = f"[x]({text}"
    assert sum(map(len, links(text))) <= 2 * len(text)
