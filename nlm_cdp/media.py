"""What a file is: its type by the name it goes up under, by the bytes it comes down with, and whether it has its end.

The tables are our own: the platform's know no Markdown on one machine and call it something else on the next. Pure.
"""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import BinaryIO

from nlm_cdp.errors import InvalidArgument

OOXML = "application/vnd.openxmlformats-officedocument."
DOCX, PPTX, XLSX = (
    f"{OOXML}wordprocessingml.document",
    f"{OOXML}presentationml.presentation",
    f"{OOXML}spreadsheetml.sheet",
)
EPUB, PDF, ZIP = "application/epub+zip", "application/pdf", "application/zip"

UPLOADED = {
    "application/pdf": "pdf",
    DOCX: "docx",
    PPTX: "pptx",
    EPUB: "epub",
    "text/plain": "txt",
    "text/markdown": "md markdown",
    "text/csv": "csv",
    "image/avif": "avif",
    "image/bmp": "bmp",
    "image/gif": "gif",
    "image/heic": "heic",
    "image/heif": "heif",
    "image/jp2": "jp2",
    "image/jpeg": "jpg jpeg jpe",
    "image/png": "png",
    "image/tiff": "tiff tif",
    "image/webp": "webp",
    "image/x-icon": "ico",
    "audio/aac": "aac",
    "audio/aiff": "aiff aif aifc",
    "audio/amr": "amr",
    "audio/basic": "au snd",
    "audio/midi": "mid",
    "audio/mp4": "m4a",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg",
    "audio/opus": "opus",
    "audio/wav": "wav",
    "audio/x-ms-wma": "wma",
    "audio/x-pn-realaudio": "ra ram",
    "application/x-cdf": "cda",
    "video/3gpp": "3gp",
    "video/3gpp2": "3g2",
    "video/mp4": "mp4",
    "video/mpeg": "mpeg",
    "video/x-msvideo": "avi",
}
"""The types the service takes, with their extensions; the first of several is the one to write."""

DOWNLOADED = {
    XLSX: "xlsx",
    ZIP: "zip",
    "audio/flac": "flac",
    "audio/x-m4a": "m4a",
    "image/svg+xml": "svg",
    "video/quicktime": "mov",
    "video/webm": "webm",
}
TYPES = {extension: mime for mime, extensions in UPLOADED.items() for extension in extensions.split()}
EXTENSIONS = {mime: f".{extensions.split()[0]}" for mime, extensions in (UPLOADED | DOWNLOADED).items()}
HTML_TYPES, HTML_EXTENSIONS = ("text/html", "application/xhtml+xml"), ("html", "htm", "xhtml")


# By name


def mime_of(name: str) -> str:
    """The type a file goes up under, by its extension. Raises InvalidArgument for what the service does not take."""
    extension = PurePath(name).suffix.removeprefix(".").lower()
    refuse_html(name, "")
    if extension not in TYPES:
        raise InvalidArgument(
            f"the service takes no files of type .{extension}" if extension else "the file's name has no extension",
            hint=f"It takes {', '.join(TYPES)}; name the type with mime_type if the extension is wrong.",
        )
    return TYPES[extension]


def refuse_html(name: str, mime: str) -> None:
    """The service refuses HTML whatever it is called; so do we, before anything is sent."""
    essence = mime.partition(";")[0].strip().lower()
    if PurePath(name).suffix.removeprefix(".").lower() in HTML_EXTENSIONS or essence in HTML_TYPES:
        raise InvalidArgument(
            "the service takes no HTML files",
            hint="Add the page by its URL, or save it as PDF, text or Markdown and add that.",
        )


def extension_for(mime: str) -> str | None:
    """The extension, with its dot, that a file of this type should have."""
    return EXTENSIONS.get(mime.partition(";")[0].strip().lower())


# By content

HEAD = 65_536
"""Bytes of a file that `sniff` may want to see."""

STARTS = (
    (b"%PDF-", PDF),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
    (b"\xff\xf2", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"\x1a\x45\xdf\xa3", "video/webm"),
)
RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}
BRANDS = {
    b"M4A ": "audio/mp4",
    b"M4B ": "audio/mp4",
    b"avif": "image/avif",
    b"heic": "image/heic",
    b"heix": "image/heic",
    b"mif1": "image/heif",
    b"qt  ": "video/quicktime",
}
MEMBERS = ((b"ppt/", PPTX), (b"word/", DOCX), (b"xl/", XLSX))
CONTAINERS = {"video/mp4": ("audio/mp4", "audio/x-m4a"), ZIP: (PPTX, DOCX, XLSX, EPUB)}
"""What the bytes of a container cannot tell apart from it."""


def sniff(head: bytes) -> str | None:
    """The type that a file's first bytes show; None for text and whatever else has no mark."""
    for start, mime in STARTS:
        if head.startswith(start):
            return mime
    if head[:4] == b"RIFF":
        return RIFF.get(head[8:12])
    if head[4:8] == b"ftyp":
        return BRANDS.get(head[8:12], "video/mp4")
    if head.startswith(b"PK\x03\x04"):
        if head[30:58] == b"mimetypeapplication/epub+zip":
            return EPUB
        return next((mime for member, mime in MEMBERS if member in head), ZIP)
    opening = head[:512].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return "text/html" if opening.startswith((b"<!doctype html", b"<html", b"<head>")) else None


def settled(declared: str, sniffed: str | None) -> str:
    """The type to believe: the bytes' where they have one, unless they only show the container of what was declared."""
    essence = declared.partition(";")[0].strip().lower() or "application/octet-stream"
    if sniffed is None or essence in CONTAINERS.get(sniffed, ()):
        return essence
    return sniffed


# Its end


def has_its_end(file: BinaryIO, mime: str) -> bool | None:
    """Whether a file of unannounced length is complete; None for types whose end has no mark."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 66_000))
    tail = file.read()
    if mime == PDF:
        return b"%%EOF" in tail[-1_024:]
    if mime == "image/png":
        return b"IEND" in tail[-12:]
    if mime == "image/jpeg":
        return b"\xff\xd9" in tail[-1_024:]
    if mime in (ZIP, *CONTAINERS[ZIP]):
        record = tail[tail.rfind(b"PK\x05\x06") :]  # 22 bytes and a comment
        return record[:4] == b"PK\x05\x06" and len(record) == 22 + int.from_bytes(record[20:22], "little")
    if mime in ("video/mp4", "video/quicktime", *CONTAINERS["video/mp4"]):
        return boxes_end_at(file, size)
    return None


def boxes_end_at(file: BinaryIO, size: int) -> bool | None:
    """Whether the boxes of an MP4 file end where the file does; None if the last goes on to wherever that is."""
    at = 0
    while at < size:
        file.seek(at)
        header = file.read(16)
        length = int.from_bytes(header[:4])
        if length == 1:
            length = int.from_bytes(header[8:16])
        elif length == 0 and len(header) >= 8:
            return None
        if length < 8:
            return False
        at += length
    return at == size
