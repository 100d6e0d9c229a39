"""What a caller wants added, and which row of the notebook it became. Pure."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from nlm_cdp.api.common import refuse
from nlm_cdp.api.sources import drive
from nlm_cdp.api.sources.rows import FAILED, MEDIA, Source
from nlm_cdp.errors import NlmError, Outcome

Kind = Literal["url", "youtube", "text", "drive", "file"]
YOUTUBE_HOSTS = {"youtube.com", "www.youtube.com", "m.youtube.com", "music.youtube.com", "youtu.be"}
VIDEO_PATHS = ("/shorts/", "/embed/", "/live/", "/v/")


@dataclass(frozen=True, slots=True)
class Item:
    """One source to add; `number` keeps two equal ones apart. `file`: what a Drive address or id means."""

    number: int
    kind: Kind
    content: str
    title: str = ""
    file: drive.File | None = None

    @property
    def shown(self) -> str:
        """How an error names this item: its address, or its title, never its text."""
        return self.title if self.kind == "text" else self.content


def plan(content: str | list[str], kind: Kind | None, title: str | None, mime: str | None = None) -> list[Item]:
    """The items of one call. Raises InvalidArgument before anything is sent."""
    contents = [content] if isinstance(content, str) else content
    if not contents or not all(text.strip() for text in contents):
        raise refuse("there is nothing to add")
    if len(contents) > 1:
        if kind == "text" or (kind not in ("drive", "file") and not all(looks_like_url(text) for text in contents)):
            raise refuse("only URLs and files can be added several at once", "Add texts one at a time.")
        if title is not None:
            raise refuse("a title needs exactly one source")
    items = []
    for number, text in enumerate(contents):
        guessed = kind or guess(text)
        if guessed == "text":
            items.append(Item(number, guessed, text, title or heading(text)))
        elif guessed == "file":
            items.append(Item(number, guessed, text.strip(), title or ""))
        elif guessed == "drive":
            items.append(Item(number, guessed, text.strip(), title or "", drive.wanted_file(text.strip(), mime)))
        else:
            url = checked_url(text.strip())
            if guessed == "youtube" and video_id(url) is None:
                raise refuse("this URL names no YouTube video")
            items.append(Item(number, guessed, url))
    if mime is not None and all(item.kind not in ("drive", "file") for item in items):
        raise refuse("mime_type belongs to Drive and local files alone")
    return items


def guess(text: str) -> Kind:
    if not looks_like_url(text):
        return "text"
    if drive.file_at(text.strip()) is not None:
        return "drive"
    return "youtube" if video_id(text.strip()) else "url"


def looks_like_url(text: str) -> bool:
    stripped = text.strip()
    return "://" in stripped[:16] and not any(character.isspace() for character in stripped)


def heading(text: str) -> str:
    """A pasted text's title when none is given: its first line, which is what the web app's user would see."""
    line = text.strip().splitlines()[0].lstrip("#").strip()
    return line[:80] or "Pasted text"


def checked_url(url: str) -> str:
    """The URL, if the service could fetch it: http(s), and no address of this machine or of a private network."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        raise refuse("this is not a URL") from None
    if parts.scheme not in ("http", "https") or not host:
        raise refuse("only http and https URLs can be added", scheme=parts.scheme)
    if any(character.isspace() or character in "\\\x00" for character in url):
        raise refuse("this is not one URL", "Give several URLs as a list.")
    host = host.rstrip(".")
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")) or is_private(host):
        raise refuse(
            "this address is local or private: the service fetches pages itself and cannot reach it",
            "Paste the text instead.",
        )
    return url


def is_private(host: str) -> bool:
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        # a host that ends in a number is an address in an old spelling (127.1, 0x7f000001)
        return re.fullmatch(r"(.*\.)?(\d+|0x[0-9a-f]*)", host) is not None


def video_id(url: str) -> str | None:
    """The video a YouTube address names, in any of its forms."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or parts.hostname not in YOUTUBE_HOSTS:
        return None
    if parts.hostname == "youtu.be":
        return parts.path.strip("/").split("/")[0] or None
    if parts.path == "/watch":
        return next(iter(parse_qs(parts.query).get("v", ())), None)
    for prefix in VIDEO_PATHS:
        if parts.path.startswith(prefix):
            return parts.path.removeprefix(prefix).split("/")[0] or None
    return None


def may_have_happened(error: NlmError) -> bool:
    """Refusals with status 3 and 9 were seen although the source appeared afterwards; so may a lost reply."""
    return error.outcome is Outcome.UNKNOWN or error.details.get("status_code") in (3, 9)


def match(items: Iterable[Item], rows: list[Source]) -> dict[Item, Source]:
    """Which new row each item became: by address or title, each row once."""
    left, found = list(rows), {}
    for item in items:
        row = next((row for row in left if is_same(item, row)), None)
        if row is not None:
            found[item] = row
            left.remove(row)
    return found


def is_same(item: Item, row: Source) -> bool:
    if item.kind == "text":
        return row.url is None and row.title == item.title
    if item.kind == "youtube":
        return video_id(row.url or "") == video_id(item.content)
    if item.file is not None:
        return row.drive_id == item.file.id
    return address(row.url or row.title or "") == address(item.content)


def address(url: str) -> tuple[str, str, str]:
    """What makes two addresses the same page: the service drops fragments and a trailing slash."""
    try:
        parts = urlsplit(url)
    except ValueError:  # a row without an address is compared by its title, which may be anything
        return "", url, ""
    return (parts.hostname or "").removeprefix("www."), parts.path.rstrip("/"), parts.query


def undecided(rows: Iterable[Source], failing: set[str]) -> set[str]:
    """Media that failed for the first time: audio and video pass through the error state while still processing."""
    return {row.id for row in rows if row.status == FAILED and row.type == MEDIA and row.id not in failing}
