"""Which Drive file a caller means: a bare id, or an address of Google Docs or Drive in any of its forms. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qs, urlsplit

from nlm_cdp.api.common import refuse

DOCUMENT = "application/vnd.google-apps.document"
PRESENTATION = "application/vnd.google-apps.presentation"
SPREADSHEET = "application/vnd.google-apps.spreadsheet"
PDF = "application/pdf"
MIMES = (DOCUMENT, PRESENTATION, SPREADSHEET, PDF)
"""What the service adds by id; it answers an add of anything else with nothing."""

DOCS_HOST, DRIVE_HOSTS = "docs.google.com", ("drive.google.com", "docs.google.com")
EDITORS = {"document": DOCUMENT, "presentation": PRESENTATION, "spreadsheets": SPREADSHEET}
FILE_ID = re.compile(r"[\w-]{10,}", re.ASCII)
DOMAIN, USER, ID = r"(?:/a/[^/]+)?", r"(?:/u/\d+)?", r"([\w-]{10,})"
EDITOR_PATH = re.compile(rf"{DOMAIN}/({'|'.join(EDITORS)}){USER}/d/{ID}(?:/.*)?", re.ASCII)
FILE_PATH = re.compile(rf"{DOMAIN}/file{USER}/d/{ID}(?:/.*)?", re.ASCII)
BY_QUERY = re.compile(rf"{DOMAIN}{USER}/(?:open|uc)", re.ASCII)


class File(NamedTuple):
    """`mime` is None where the address does not tell."""

    id: str
    mime: str | None


def file_at(address: str) -> File | None:
    """The file an address of Docs or Drive names; None for any other address, pages published to the web among them."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https"):
        return None
    if parts.hostname == DOCS_HOST and (match := EDITOR_PATH.fullmatch(parts.path)):
        return File(match[2], EDITORS[match[1]])
    if parts.hostname in DRIVE_HOSTS and (found := drive_id(parts)):
        return File(found, None)
    return None


def drive_id(parts: SplitResult) -> str | None:
    if match := FILE_PATH.fullmatch(parts.path):
        return match[1]
    if BY_QUERY.fullmatch(parts.path):
        found = next(iter(parse_qs(parts.query).get("id", ())), "")
        return found if FILE_ID.fullmatch(found) else None
    return None


def wanted_file(text: str, mime: str | None) -> File:
    """The file to add, with its type. Raises InvalidArgument before anything is sent."""
    found = File(text, None) if FILE_ID.fullmatch(text) else file_at(text)
    if found is None:
        raise refuse("this is neither the id of a Drive file nor the address of one")
    if mime is not None and mime not in MIMES:
        raise refuse(
            "the service adds only Google Docs, Slides, Sheets and PDF from Drive",
            "Download the file and add it as a file.",
            mime_types=list(MIMES),
        )
    if mime is not None and found.mime not in (None, mime):
        raise refuse("the address names a file of another type than mime_type says", mime_type=found.mime)
    known = found.mime or mime
    if known is None:
        raise refuse("this does not say what type the file has", "Give mime_type.", mime_types=list(MIMES))
    return File(found.id, known)
