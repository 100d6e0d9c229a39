"""Types by name and by bytes, and whether a file has its end."""

from __future__ import annotations

import io
import mimetypes
import zipfile

import pytest

from nlm_cdp.errors import InvalidArgument
from nlm_cdp.media import (
    DOCX,
    EPUB,
    EXTENSIONS,
    PDF,
    PPTX,
    TYPES,
    XLSX,
    ZIP,
    extension_for,
    has_its_end,
    mime_of,
    refuse_html,
    settled,
    sniff,
)

ACCEPTED = set(
    "pdf txt md markdown docx csv pptx epub avif bmp gif heic heif ico jp2 jpe jpeg jpg png tif tiff webp "  # noqa: SIM905
    "3g2 3gp aac aif aifc aiff amr au avi cda m4a mid mp3 mp4 mpeg ogg opus ra ram snd wav wma".split()
)


def archive(*names: str, stored: bytes = b"content" * 100) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        for name in names:
            made.writestr(name, stored)
    return buffer.getvalue()


def box(kind: bytes, content: bytes, *, long: bool = False) -> bytes:
    if long:
        return b"\0\0\0\x01" + kind + (len(content) + 16).to_bytes(8) + content
    return (len(content) + 8).to_bytes(4) + kind + content


MP4 = box(b"ftyp", b"M4A \0\0\0\0M4A isom") + box(b"moov", bytes(100)) + box(b"mdat", bytes(500), long=True)
JPEG = b"\xff\xd8\xff\xe0" + bytes(100) + b"\xff\xd9"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(100) + b"\0\0\0\0IEND\xaeB`\x82"


def test_every_extension_that_the_service_takes_has_its_type() -> None:
    assert set(TYPES) == ACCEPTED
    assert (mime_of("notes.md"), mime_of("b.markdown"), mime_of("A.CSV")) == (
        "text/markdown",
        "text/markdown",
        "text/csv",
    )
    assert (mime_of("x/a.b.m4a"), mime_of("b.epub"), mime_of("c.txt")) == ("audio/mp4", EPUB, "text/plain")
    assert (mime_of("a.docx"), mime_of("スクリーン 🧪.pptx")) == (DOCX, PPTX)


def test_the_platforms_table_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mimetypes, "guess_type", lambda *_: pytest.fail("asked the platform"))
    assert mime_of("notes.md") == "text/markdown"


@pytest.mark.parametrize("name", ["a", "a.", ".md", "a.exe", "a.xlsx", "a.md.zip", ""])
def test_what_the_service_does_not_take_is_an_error_that_lists_what_it_does(name: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        mime_of(name)
    assert "pdf, docx" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "mime"), [("a.html", ""), ("a.HTM", "text/plain"), ("a.xhtml", ""), ("a.md", "Text/HTML; x=y")]
)
def test_html_is_refused_whatever_it_is_called(name: str, mime: str) -> None:
    with pytest.raises(InvalidArgument, match="HTML"):
        refuse_html(name, mime)


def test_html_by_name_has_its_own_advice() -> None:
    with pytest.raises(InvalidArgument, match="HTML") as caught:
        mime_of("page.html")
    assert "URL" in caught.value.hint


@pytest.mark.parametrize(
    ("head", "mime"),
    [
        (b"%PDF-1.7\n", PDF),
        (PNG, "image/png"),
        (JPEG, "image/jpeg"),
        (b"GIF89a..", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\0\0\0\0WAVEfmt ", "audio/wav"),
        (b"RIFF\0\0\0\0????", None),
        (MP4, "audio/mp4"),
        (box(b"ftyp", b"mp42\0\0\0\0"), "video/mp4"),
        (box(b"ftyp", b"isom\0\0\0\0"), "video/mp4"),
        (box(b"ftyp", b"avif\0\0\0\0"), "image/avif"),
        (box(b"ftyp", b"heic\0\0\0\0"), "image/heic"),
        (b"ID3\x04", "audio/mpeg"),
        (b"\xff\xfb\x90", "audio/mpeg"),
        (b"OggS\0", "audio/ogg"),
        (archive("[Content_Types].xml", "ppt/presentation.xml"), PPTX),
        (archive("[Content_Types].xml", "word/document.xml"), DOCX),
        (archive("[Content_Types].xml", "xl/workbook.xml"), XLSX),
        (archive("mimetype", stored=b"application/epub+zip"), EPUB),
        (archive("a.txt"), ZIP),
        (b"<!DOCTYPE html>", "text/html"),
        (b"\xef\xbb\xbf\n  <HTML lang=en>", "text/html"),
        (b"# Markdown about <html>", None),
        (b"a,b\n1,2\n", None),
        (b"", None),
        (b"%PD", None),
    ],
)
def test_bytes_show_what_they_are(head: bytes, mime: str | None) -> None:
    assert sniff(head) == mime


@pytest.mark.parametrize(
    ("declared", "sniffed", "mime"),
    [
        ("audio/mp4", "video/mp4", "audio/mp4"),
        ("video/mp4", "video/mp4", "video/mp4"),
        ("video/mp4", "audio/mp4", "audio/mp4"),
        ("text/plain", "video/mp4", "video/mp4"),
        (PPTX, ZIP, PPTX),
        (f"{XLSX}; charset=x", ZIP, XLSX),
        ("application/octet-stream", PDF, PDF),
        ("", None, "application/octet-stream"),
        ("Text/CSV; charset=utf-8", None, "text/csv"),
        ("audio/mpeg", "audio/mp4", "audio/mp4"),
    ],
)
def test_the_bytes_win_unless_they_only_show_the_container(declared: str, sniffed: str | None, mime: str) -> None:
    assert settled(declared, sniffed) == mime


def test_an_extension_for_every_type() -> None:
    assert extension_for("audio/mp4") == extension_for("audio/x-m4a") == ".m4a"
    assert (extension_for("video/mp4"), extension_for("image/jpeg"), extension_for("text/markdown")) == (
        ".mp4",
        ".jpg",
        ".md",
    )
    assert (extension_for(XLSX), extension_for("TEXT/CSV; charset=utf-8")) == (".xlsx", ".csv")
    assert extension_for("application/octet-stream") is None
    assert all(
        TYPES.get(extension[1:], mime) == mime for mime, extension in EXTENSIONS.items() if mime != "audio/x-m4a"
    )


WHOLE = [
    (PDF, b"%PDF-1.7\n" + bytes(5_000) + b"\n%%EOF\n"),
    ("image/png", PNG),
    ("image/jpeg", JPEG),
    (PPTX, archive("[Content_Types].xml", "ppt/presentation.xml")),
    (EPUB, archive("mimetype", "a.xhtml")),
    ("audio/mp4", MP4),
    ("video/mp4", MP4),
]


@pytest.mark.parametrize(("mime", "content"), WHOLE)
def test_a_whole_file_has_its_end_and_half_of_it_has_none(mime: str, content: bytes) -> None:
    assert has_its_end(io.BytesIO(content), mime) is True
    for size in (1, 7, 40, len(content) // 2, len(content) - 12):
        assert has_its_end(io.BytesIO(content[:size]), mime) is False


def test_boxes_that_make_no_sense_are_no_end() -> None:
    assert has_its_end(io.BytesIO(MP4 + b"\0\0\0\x04free"), "video/mp4") is False
    assert has_its_end(io.BytesIO(MP4 + b"\0\0\0\x64free"), "video/mp4") is False
    assert has_its_end(io.BytesIO(MP4 + b"\0\0\0\x01free" + bytes(8)), "video/mp4") is False


def test_an_end_without_a_mark_is_not_known() -> None:
    assert has_its_end(io.BytesIO(b"a,b\n"), "text/csv") is None
    assert has_its_end(io.BytesIO(MP4 + b"\0\0\0\0mdat" + bytes(50)), "video/mp4") is None
