"""The Source row, which notebooks, sources and uploads share, and how a tool shows it."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import unquote, urlsplit

from pydantic import model_validator

from nlm_cdp.api.common import Timestamp, iso, named
from nlm_cdp.rpc import Result
from nlm_cdp.wire.pblite import Message, Tag

STATUS = {1: "processing", 2: "ready", 3: "error", 4: "deleting", 5: "preparing"}
READY, FAILED = 2, 3
KINDS = {
    0: "registered file",
    1: "google_doc",
    2: "google_slides",
    3: "pdf",
    4: "text",
    5: "web_page",
    6: "powerpoint",
    7: "google_sheet",
    8: "markdown",
    9: "youtube",
    10: "media",
    11: "word",
    12: "excel",
    13: "image",
    14: "drive_file",
    15: "gmail",
    16: "csv",
    17: "epub",
    18: "gemini_chat",
    19: "ai_mode_chat",
    20: "expert_content",
}
PDF, TEXT, WEB_PAGE, MARKDOWN, MEDIA = 3, 4, 5, 8, 10
DRIVE_STATUS = {1: "inaccessible", 2: "syncing", 3: "active", 4: "deleted", 5: "ai_access_denied"}

DRIVE_PROBLEMS = {
    1: "this account cannot open the Drive file any more",
    4: "the Drive file was deleted",
    5: "the Drive file's owner does not let AI read it",
}


class DocsDescriptor(Message):
    document_id: Annotated[str, Tag(1)]
    revision: Annotated[str | None, Tag(2)] = None
    version: Annotated[int | None, Tag(3)] = None


class Revision(Message):
    id: Annotated[str, Tag(1)]
    at: Annotated[Timestamp | None, Tag(2)] = None


class YouTube(Message):
    url: Annotated[str, Tag(1)]
    video_id: Annotated[str | None, Tag(2)] = None
    channel: Annotated[str | None, Tag(3)] = None


class DriveDescriptor(Message):
    """P."""

    file_id: Annotated[str, Tag(1)]
    kind: Annotated[str | int | None, Tag(2)] = None
    mime: Annotated[str | None, Tag(3)] = None
    f4: Annotated[str | None, Tag(4)] = None


class SourceMeta(Message):
    """C; 10, 15 and 20: P (newer rows)."""

    docs: Annotated[DocsDescriptor | None, Tag(1)] = None
    words: Annotated[int | None, Tag(2)] = None
    added: Annotated[Timestamp | None, Tag(3)] = None
    revision: Annotated[Revision | None, Tag(4)] = None
    type: Annotated[int, Tag(5, codes=KINDS)] = 0
    youtube: Annotated[YouTube | None, Tag(6)] = None
    origin: Annotated[int | None, Tag(7)] = None  # 1 added by the user, 2 by discovery
    url: Annotated[str | None, Tag(8, 1)] = None
    tokens: Annotated[int | None, Tag(9)] = None  # about a quarter of the characters in every recording
    drive: Annotated[DriveDescriptor | None, Tag(10)] = None
    modified: Annotated[Timestamp | None, Tag(15)] = None
    mime: Annotated[str | None, Tag(20)] = None


class SourceState(Message):
    """`drive` and the fetch error below `.3`: P."""

    status: Annotated[int, Tag(2, codes=STATUS)] = 0
    fetch_error: Annotated[int | None, Tag(3, 7, 1)] = None
    drive: Annotated[int | None, Tag(4, codes=DRIVE_STATUS)] = None


class Source(Message):
    """The id stands as `[id]`, in some Drive rows as `[_, true, [id]]` (P)."""

    plain_id: Annotated[str | None, Tag(1, 1)] = None
    degraded: Annotated[bool | None, Tag(1, 2)] = None
    wrapped_id: Annotated[str | None, Tag(1, 3, 1)] = None
    title: Annotated[str | None, Tag(2)] = None
    meta: Annotated[SourceMeta | None, Tag(3)] = None
    state: Annotated[SourceState | None, Tag(4)] = None

    @model_validator(mode="after")
    def has_an_id(self) -> Source:
        if self.plain_id is None and self.wrapped_id is None:
            raise ValueError("a source without an id")
        return self

    @property
    def id(self) -> str:
        return self.plain_id or self.wrapped_id or ""

    @property
    def status(self) -> int:
        return self.state.status if self.state else 0

    @property
    def type(self) -> int:
        return self.meta.type if self.meta else 0

    @property
    def url(self) -> str | None:
        """The web page's address, or the video's."""
        if self.meta is None:
            return None
        return self.meta.url or (self.meta.youtube.url if self.meta.youtube else None)

    @property
    def drive_id(self) -> str | None:
        """The Drive file it was made of."""
        if self.meta is None:
            return None
        file = self.meta.docs.document_id if self.meta.docs else None
        return file or (self.meta.drive.file_id if self.meta.drive else None)

    @property
    def name(self) -> str | None:
        """The title; a PDF that was added by its address has that in its place, and goes by its file's name."""
        if self.type != PDF or self.title is None or self.title != self.url:
            return self.title
        return pdf_name(self.title) or self.title


def pdf_name(address: str) -> str | None:
    """The name of the PDF at the end of an address, without its extension."""
    try:
        path = urlsplit(address).path
    except ValueError:
        return None
    stem, dot, extension = unquote(path.rpartition("/")[2]).rpartition(".")
    return stem.strip() or None if dot and extension.lower() == "pdf" else None


def distinct(rows: list[Source]) -> list[Source]:
    """Each source once: listings were seen to repeat an id, and every count must agree."""
    return list({row.id: row for row in rows}.values())


class SourceInfo(Result):
    """`problem`: why it cannot be used, or not as it should be. `fresh`: None where that was not asked or not told."""

    id: str
    title: str | None = None
    kind: str
    type_code: int
    mime: str | None = None
    status: str
    url: str | None = None
    words: int | None = None
    added: str | None = None
    drive_status: str | None = None
    fresh: bool | None = None
    problem: str | None = None


def source_info(row: Source) -> SourceInfo:
    meta, drive = row.meta or SourceMeta(), row.state.drive if row.state else None
    return SourceInfo(
        id=row.id,
        title=row.name,
        kind=named(KINDS, row.type),
        type_code=row.type,
        mime=meta.mime or (meta.drive.mime if meta.drive else None),
        status=named(STATUS, row.status),
        url=row.url,
        words=meta.words,
        added=iso(meta.added),
        drive_status=named(DRIVE_STATUS, drive) if drive else None,
        problem=problem(row),
    )


def problem(row: Source) -> str | None:
    """What is wrong with a source, and what helps; None for one that is well, or well under way."""
    state = row.state or SourceState()
    if state.status == FAILED and row.type == MEDIA:
        return "not processed; audio and video may pass through this state: look again in a minute"
    if state.status == FAILED:
        code = f" (fetch error {state.fetch_error})" if state.fetch_error is not None else ""
        return f"the service could not process it{code}: delete it and add it again"
    return DRIVE_PROBLEMS.get(state.drive or 0)
