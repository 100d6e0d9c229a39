"""Drive files by id and by every form of address."""

from __future__ import annotations

import pytest

from nlm_cdp.api.sources.drive import DOCUMENT, PDF, PRESENTATION, SPREADSHEET, File, file_at, wanted_file
from nlm_cdp.errors import InvalidArgument

ID = "1nUn_EBWNlEKhJa47ywGnp3HRZGHZTntwOT0j36Noip5"
DOCS, DRIVE = "https://docs.google.com", "https://drive.google.com"


@pytest.mark.parametrize(
    ("address", "mime"),
    [
        (f"{DOCS}/document/d/{ID}/edit", DOCUMENT),
        (f"{DOCS}/document/d/{ID}", DOCUMENT),
        (f"{DOCS}/document/d/{ID}/edit?usp=sharing#heading=h.1", DOCUMENT),
        (f"{DOCS}/document/u/0/d/{ID}/edit", DOCUMENT),
        (f"{DOCS}/a/example.org/document/d/{ID}/edit", DOCUMENT),
        (f"{DOCS}/presentation/d/{ID}/edit#slide=id.p", PRESENTATION),
        (f"{DOCS}/spreadsheets/d/{ID}/edit#gid=0", SPREADSHEET),
        (f"{DOCS}/open?id={ID}", None),
        (f"{DRIVE}/file/d/{ID}/view?usp=drive_link", None),
        (f"{DRIVE}/file/u/1/d/{ID}/preview", None),
        (f"{DRIVE}/a/example.org/file/d/{ID}/view", None),
        (f"{DRIVE}/open?id={ID}&authuser=0", None),
        (f"{DRIVE}/uc?export=download&id={ID}", None),
        (f"{DRIVE}/u/2/open?id={ID}", None),
    ],
)
def test_addresses_of_files(address: str, mime: str | None) -> None:
    assert file_at(address) == File(ID, mime)


@pytest.mark.parametrize(
    "address",
    [
        f"{DOCS}/document/d/e/2PACX-1vQ{ID}/pub",
        f"{DOCS}/document/create",
        f"{DOCS}/forms/d/{ID}/edit",
        f"{DRIVE}/drive/folders/{ID}",
        f"{DRIVE}/drive/my-drive",
        f"{DRIVE}/open",
        f"{DRIVE}/open?id=../../x",
        f"https://docs.google.com.evil.test/document/d/{ID}/edit",
        f"https://evil.test/document/d/{ID}/edit",
        f"ftp://docs.google.com/document/d/{ID}/edit",
        f"docs.google.com/document/d/{ID}/edit",
        "https://[broken/document/d/x",
        ID,
        "",
    ],
)
def test_what_is_no_address_of_a_file(address: str) -> None:
    assert file_at(address) is None


def test_a_bare_id_needs_a_type() -> None:
    assert wanted_file(ID, PDF) == File(ID, PDF)
    assert wanted_file(f"{DRIVE}/file/d/{ID}/view", DOCUMENT) == File(ID, DOCUMENT)
    assert wanted_file(f"{DOCS}/document/d/{ID}/edit", None) == File(ID, DOCUMENT)
    assert wanted_file(f"{DOCS}/document/d/{ID}/edit", DOCUMENT) == File(ID, DOCUMENT)


@pytest.mark.parametrize(
    ("text", "mime", "said"),
    [
        (ID, None, "what type"),
        (f"{DRIVE}/file/d/{ID}/view", None, "what type"),
        (ID, "video/mp4", "only Google Docs"),
        (f"{DOCS}/document/d/{ID}/edit", PDF, "another type"),
        ("short", PDF, "neither"),
        ("https://a.test/x", PDF, "neither"),
    ],
)
def test_what_cannot_be_added_is_refused(text: str, mime: str | None, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        wanted_file(text, mime)
