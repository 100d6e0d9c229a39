"""What the simulated service finds at an address. It has no network: every page and transcript is made up, and says so.

The text depends on the address alone, so the same address always gives the same source.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from nlm_cdp.api.sources.intake import video_id

UNREACHABLE = "fail.example"
SLOW = "slow.example"
SLOW_READS = 2
"""How often a source of a slow host is seen processing before it is ready."""


class Found(NamedTuple):
    title: str
    text: str
    channel: str | None = None


def host_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def is_slow(url: str) -> bool:
    return host_of(url) == SLOW


def web_page(url: str) -> Found | None:
    """The page at an address; None for one that cannot be read."""
    host = host_of(url)
    if not host or host == UNREACHABLE or host.endswith(".invalid") or urlsplit(url).scheme not in ("http", "https"):
        return None
    parts = urlsplit(url)
    words = [word for word in re.split(r"[^\w]+|_", unquote(f"{parts.path} {parts.query}")) if word]
    subject = " ".join(words) or host
    title = f"{subject[:1].upper()}{subject[1:120]} - simulated page"
    lines = [
        f"# {subject[:1].upper()}{subject[1:]}",
        f"This is a simulated page. It stands for {url} because the simulator has no network and fetched nothing.",
        f"The address names the host **{host}** and these words: {', '.join(words) or 'none'}.",
        "## What this page can be used for",
        f"- A question about {subject} finds this sentence.",
        f"- A question about {host} finds this one.",
        "- Citations of this page carry true offsets into this text.",
        "| Part | Value |",
        "| --- | --- |",
        f"| Host | {host} |",
        f"| Words | {len(words)} |",
        "> Nothing on this page is a fact about the world; it was made up from its own address.",
    ]
    return Found(title, "\n".join(lines))


def video(url: str) -> Found | None:
    """A video's title, channel and transcript; None where the address names no video."""
    number = video_id(url)
    if number is None:
        return None
    lines = [
        f"This is a simulated transcript of the video {number}; the simulator has no network and watched nothing.",
        "Hello and welcome to a video that does not exist.",
        f"Its number is {number}, and that is all that its address tells us.",
        "A real transcript would be spoken text without headings, as this one is.",
        "Thank you for not watching.",
    ]
    return Found(f"Simulated video {number}", "\n".join(lines), "Simulated channel")


def drive_file(title: str | None, file_id: str) -> Found:
    """A Drive document; its own title wins over the one that was sent (C)."""
    name = f"Simulated Drive file {file_id[:8]}"
    lines = [
        f"# {name}",
        "This is a simulated Drive document; the simulator has no Drive and opened nothing.",
        f"The request called it {title or 'nothing'}.",
    ]
    return Found(name, "\n".join(lines))
