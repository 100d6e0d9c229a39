"""What the simulated service keeps: sources with their text, conversations with their turns, notebooks of both."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from nlm_cdp.api.common import Timestamp
from nlm_cdp.api.notebooks.project import ChatSettings
from nlm_cdp.api.research.research import Findings, Query
from nlm_cdp.api.sources.rows import READY, DocsDescriptor, YouTube
from nlm_cdp.api.studio.blocks import Artifact as ArtifactRow
from nlm_cdp.sim.http import Digest
from nlm_cdp.sim.markup import blocks, elements
from nlm_cdp.wire.chat import AnswerRow
from nlm_cdp.wire.document import Body, Document, plain_text, wire_text
from nlm_cdp.wire.pblite import Row

OWNER, EDITOR, VIEWER = 1, 2, 3
TEXT, WEB_PAGE, MARKDOWN, VIDEO = 4, 5, 8, 9
PROCESSING = 1
REGISTERED, MEDIA, PICTURE = 0, 10, 13
FILE_TYPES = {
    "application/pdf": 3,
    "application/epub+zip": 17,
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": 6,
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": 11,
    "text/csv": 16,
    "text/markdown": MARKDOWN,
    "text/plain": TEXT,
}
OPENING = 20_000


@dataclass(slots=True)
class Source:
    """One source; `filler` bytes of made-up text stand in for a text too large to keep."""

    id: str
    title: str
    type: int
    text: str
    added: Timestamp
    revision: str
    status: int = READY
    url: str | None = None
    youtube: YouTube | None = None
    docs: DocsDescriptor | None = None
    origin: int = 1
    fetch_error: int | None = None
    slow_reads: int | None = None
    later_title: str | None = None
    filler: int = 0
    stale: bool = False
    rows: Row | None = field(default=None, repr=False)

    @property
    def document(self) -> Row:
        """The text as a document row; made once."""
        if self.rows is None:
            found = blocks(self.text, inline=self.type != TEXT)
            self.rows = Document(body=Body(elements=list(elements(found)))).encode()
        return self.rows

    @property
    def wire_text(self) -> str:
        """The text that citations' offsets index."""
        return wire_text(self.document)

    @property
    def opening(self) -> str:
        """The first paragraphs as plain text; no guide and no search needs more."""
        return plain_text(self.document)[:OPENING]

    def advance(self) -> None:
        """One look at a slow source: after enough of them it is ready, under the title of its page."""
        if self.slow_reads is None:
            return
        if self.slow_reads:
            self.slow_reads -= 1
        else:
            self.slow_reads, self.status = None, READY
            self.title, self.later_title = self.later_title or self.title, None

    def receive(self, upload: Upload) -> None:
        """The file of a registered source: its text where it is one, else a text that says what is simulated."""
        self.type = FILE_TYPES.get(upload.mime, MEDIA if upload.mime.startswith(("audio/", "video/")) else PICTURE)
        text = bytes(upload.digest.head).decode("utf-8", "replace")
        is_text = upload.mime.startswith("text/")
        self.text = text if is_text else f"Simulated text of {upload.name}, a file of {upload.length} bytes."
        self.status, self.rows = READY, None

    @property
    def words(self) -> int:
        return self.filler // 6 or len(self.text.split())

    @property
    def tokens(self) -> int:
        """About a quarter of the text's length, as in the recordings of January 2026."""
        return -(-(self.filler or len(self.text)) // 4)


@dataclass(slots=True)
class Turn:
    id: str
    at: Timestamp
    question: str | None = None
    answer: AnswerRow | None = None


@dataclass(slots=True)
class Writing:
    """An answer that is being written: until when, and the turn it becomes."""

    token: str
    until: float
    turn: Turn
    stopped: bool = False


@dataclass(slots=True)
class Conversation:
    """`listed`: made by the service; one whose id a client made up works but shows nowhere.

    `emptied`: its turns were deleted; it stays. `writing`: the answer that was asked for last.
    """

    id: str
    turns: list[Turn] = field(default_factory=list)
    listed: bool = True
    emptied: bool = False
    writing: Writing | None = None

    def writes(self, now: float) -> bool:
        """Whether an answer is being written."""
        return self.writing is not None and not self.writing.stopped and now < self.writing.until

    def shown(self, now: float) -> list[Turn]:
        """The turns, without the one that is still being written."""
        hidden = self.writing.turn if self.writing is not None and self.writes(now) else None
        return [turn for turn in self.turns if turn is not hidden]


@dataclass(slots=True)
class Note:
    """A note, or a mind map with its tree as content; a deleted one leaves its tombstone in every listing."""

    id: str
    title: str
    content: str
    modified: Timestamp
    created: Timestamp
    type: int = 1
    prompt_type: int | None = None
    sources: list[str] | None = None
    deleted: bool = False


@dataclass(slots=True)
class Artifact:
    """`row` is how it stands, `done` what it becomes; `reads`: looks left until its next step.

    `lag`: looks at which it is ready without its media. `doomed`: it will fail.
    """

    row: ArtifactRow
    done: ArtifactRow
    reads: int
    lag: int = 0
    doomed: bool = False


@dataclass(slots=True)
class Label:
    """A label of sources, or a collection of notebooks; `members` are their ids."""

    id: str
    name: str
    emoji: str = ""
    members: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Research:
    """A task that looks for sources. `looks`: listings since it began; it runs through `lasts` of them.

    `stopping`: listings until a request to cancel it shows. `broken`: an import from it broke off.
    """

    id: str
    query: Query
    mode: int
    created: Timestamp
    updated: Timestamp
    lasts: int
    session_id: str | None = None
    status: int = 1
    looks: int = 0
    stopping: int | None = None
    findings: Findings | None = None
    broken: bool = False


@dataclass(slots=True)
class Notebook:
    """`chats`: the first was made with the notebook; `people`: roles by e-mail; `answering`: answers on their way.

    `forgotten`: off the recent list. `arriving`: sources of a copy that are there from the next look on.
    """

    id: str
    title: str
    created: Timestamp
    viewed: Timestamp
    emoji: str = ""
    role: int = OWNER
    shared: bool = False
    public: bool = False
    chat_only: bool | None = None
    settings: ChatSettings | None = None
    sources: dict[str, Source] = field(default_factory=dict)
    chats: list[Conversation] = field(default_factory=list)
    forgotten: bool = False
    arriving: list[Source] = field(default_factory=list)
    notes: dict[str, Note] = field(default_factory=dict)
    artifacts: dict[str, Artifact] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    research: dict[str, Research] = field(default_factory=dict)
    people: dict[str, int] = field(default_factory=dict)
    answering: int = 0

    @property
    def writable(self) -> bool:
        return self.role in (OWNER, EDITOR)


@dataclass(slots=True)
class Upload:
    """A resumable upload, from its start on; `digest` is what has arrived of the file so far."""

    id: str
    authuser: str
    notebook_id: str
    source_id: str
    name: str
    mime: str
    length: int
    digest: Digest = field(default_factory=Digest, repr=False)
    state: Literal["active", "final", "cancelled"] = "active"
