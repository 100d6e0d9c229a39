"""What the simulated service keeps: sources with their text, conversations with their turns, notebooks of both."""

from __future__ import annotations

from dataclasses import dataclass, field

from nlm_cdp.api.common import Timestamp
from nlm_cdp.api.project import ChatSettings
from nlm_cdp.api.rows import READY, DocsDescriptor, YouTube
from nlm_cdp.sim.markup import blocks, elements
from nlm_cdp.wire.chat import AnswerRow
from nlm_cdp.wire.document import Body, Document, plain_text, wire_text
from nlm_cdp.wire.pblite import Row

OWNER, EDITOR, VIEWER = 1, 2, 3
TEXT, WEB_PAGE, MARKDOWN, VIDEO = 4, 5, 8, 9
PROCESSING = 1
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
class Conversation:
    """`listed`: made by the service; one whose id a client made up works but shows nowhere."""

    id: str
    turns: list[Turn] = field(default_factory=list)
    listed: bool = True


@dataclass(slots=True)
class Notebook:
    """`chats`: the first was made with the notebook; `answering` counts the answers on their way."""

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
    answering: int = 0

    @property
    def writable(self) -> bool:
        return self.role in (OWNER, EDITOR)
