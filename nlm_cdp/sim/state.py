"""The simulated service: its accounts with their notebooks, who is signed in, and the switches that change it.

Everything is deterministic but the time: ids come from a counter and a seed, and `Service.now` may be replaced. Tests
seed and change this state directly; the handlers change it as the service would.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Literal
from uuid import UUID

from nlm_cdp.api.common import Timestamp
from nlm_cdp.api.notebooks.project import Limits
from nlm_cdp.api.sources.rows import READY, DocsDescriptor, YouTube
from nlm_cdp.sim.filler import paragraphs
from nlm_cdp.sim.media import DOWNLOAD, IMAGES, Media
from nlm_cdp.sim.records import OWNER, TEXT, Conversation, Label, Note, Notebook, Source, Upload
from nlm_cdp.wire.pblite import Row

BUILD = "boq_labs-tailwind-frontend_20261112.04_p0"


@dataclass(slots=True)
class Account:
    """One signed-in account of the browser."""

    service: Service
    authuser: str
    email: str
    user_id: str
    token: str
    session_id: str
    limits: Limits = field(default_factory=lambda: Limits(f1=6, notebooks=500, sources=300, words=500_000, tier=2))
    notebooks: dict[str, Notebook] = field(default_factory=dict)
    collections: dict[str, Label] = field(default_factory=dict)
    language: str | None = "en"
    metered: bool = False

    def recent(self) -> list[Notebook]:
        """Most recently viewed first."""
        listed = [item for item in self.notebooks.values() if not item.forgotten]
        return sorted(listed, key=lambda item: (item.viewed.seconds, item.viewed.nanos), reverse=True)

    def add_notebook(
        self, title: str, *, emoji: str = "", role: int = OWNER, notebook_id: str | None = None
    ) -> Notebook:
        now = self.service.stamp()
        notebook = Notebook(notebook_id or self.service.new_id(), title, now, now, emoji, role)
        notebook.chats.append(Conversation(self.service.new_id()))
        self.notebooks[notebook.id] = notebook
        return notebook

    def add_source(
        self,
        notebook: Notebook,
        title: str,
        text: str = "",
        *,
        kind: int = TEXT,
        source_id: str | None = None,
        status: int = READY,
        url: str | None = None,
        youtube: YouTube | None = None,
        docs: DocsDescriptor | None = None,
        filler: int = 0,
    ) -> Source:
        """A source, there at once. `filler`: that many bytes of made-up text, which are never kept."""
        service = self.service
        if filler:
            text = "\n".join(islice(paragraphs(filler), 20))
        source = Source(source_id or service.new_id(), title, kind, text, service.stamp(), service.new_id(), status)
        source.url, source.youtube, source.docs, source.filler = url, youtube, docs, filler
        notebook.sources[source.id] = source
        return source

    def add_note(
        self,
        notebook: Notebook,
        title: str,
        content: str = "",
        *,
        note_id: str | None = None,
        type: int = 1,
        prompt_type: int | None = None,
        sources: list[str] | None = None,
    ) -> Note:
        now = self.service.stamp()
        note = Note(note_id or self.service.new_id(), title, content, now, now, type, prompt_type, sources)
        notebook.notes[note.id] = note
        return note

    def add_label(self, labels: dict[str, Label], name: str, emoji: str = "", *, label_id: str | None = None) -> Label:
        """A label of a notebook, or a collection of this account: of whichever `labels` holds."""
        label = Label(label_id or self.service.new_id(), name, emoji)
        labels[label.id] = label
        return label

    def located(self, source_id: str) -> tuple[Notebook, Source] | None:
        """A source and the notebook it is in; the id alone is enough for the service."""
        for notebook in self.notebooks.values():
            if (source := notebook.sources.get(source_id)) is not None:
                return notebook, source
        return None

    def conversation(self, conversation_id: str) -> Conversation | None:
        chats = (chat for notebook in self.notebooks.values() for chat in notebook.chats)
        return next((chat for chat in chats if chat.id == conversation_id), None)


class Service:
    """The whole service, and the switches that make it behave otherwise.

    `pace`: seconds between two frames of an answer. `moved`: whether the older host sends page loads to the newer one.
    `light_redirects`: whether /robots.txt leads to the app. `migrated`: whether writes with the context of before May
    2026 are refused. `signed_out_rpc`: what RPCs answer when signed out, HTTP 401 or status 16.

    `upload_host`: where the bytes of an upload go, if not to the host that was asked. `upload_pace`: seconds for each
    piece of them that arrives. `uploaded` is told of every upload that is complete.

    `studio_reads`: looks at an artifact for each step of its generation. `media_lag`: looks at which it is ready, but
    its media are not. `generations_fail`: whether what is generated from now on ends as failed.
    `late_research`: how many listings new research is missing from. `import_stops`: after how many entries an import
    breaks off.

    `ids`: by what id a declared call goes now; its declared one is unknown then. `reshape`: by a call's name, what is
    done to a copy of its reply's row, or of each snapshot's, before it leaves.
    """

    def __init__(self, *, seed: str = "simulator", now: Callable[[], float] = time.time) -> None:
        self.seed, self.now = seed, now
        self.pace = 0.03
        self.moved = True
        self.light_redirects = False
        self.migrated = False
        self.late_research = 1
        self.import_stops: int | None = None
        self.signed_out: Literal["redirect", "landing"] | None = None
        self.signed_out_rpc: Literal["http", "status"] = "http"
        self.gated = False
        self.counter = count(1)
        self.last = 0
        self.build = BUILD
        self.cookie = self.opaque(32)
        self.uploads: dict[str, Upload] = {}
        self.uploaded: Callable[[Upload], None] = self.arrived
        self.upload_host: str | None = None
        self.upload_pace = 0.0
        self.media: dict[str, Media] = {}
        self.studio_reads, self.media_lag = 1, 0
        self.generations_fail = False
        self.ids: dict[str, str] = {}
        self.reshape: dict[str, Callable[[Row], Row]] = {}
        self.accounts: dict[str, Account] = {}
        self.add_account("owner@simulated.example")
        self.add_account("second@simulated.example")

    def arrived(self, upload: Upload) -> None:
        """What an upload does to the source that was registered for it."""
        account = self.account(upload.authuser)
        if account is not None and (place := account.located(upload.source_id)) is not None:
            place[1].receive(upload)

    # Drift

    def declared(self, wire_id: str) -> str | None:
        """The declared id of what the service calls this now; None for a former id."""
        former = next((known for known, now in self.ids.items() if now == wire_id), None)
        return former or (None if wire_id in self.ids else wire_id)

    def reshaped(self, name: str, row: Row) -> Row:
        """A reply's row as it leaves."""
        change = self.reshape.get(name)
        return row if change is None else change(deepcopy(row))  # what is kept may share its lists

    # Made-up values

    def digest(self) -> bytes:
        return hashlib.blake2b(f"{self.seed}/{next(self.counter)}".encode(), digest_size=32).digest()

    def opaque(self, size: int) -> str:
        return self.digest().hex()[:size]

    def new_id(self) -> str:
        return str(UUID(bytes=self.digest()[:16], version=4))

    def number(self) -> int:
        """A signed 64-bit number."""
        return int.from_bytes(self.digest()[:8], signed=True)

    def stamp(self) -> Timestamp:
        """Now; never the same twice, so that an order by time is an order."""
        self.last = max(int(self.now() * 1_000_000) * 1_000, self.last + 1_000)
        return Timestamp(seconds=self.last // 10**9, nanos=self.last % 10**9)

    def new_token(self) -> str:
        return f"simulated-{self.opaque(22)}:{int(self.now() * 1000)}"

    # Accounts and sign-in

    def add_account(self, email: str) -> Account:
        """Another account of the browser; its `authuser` is the next index."""
        authuser = str(len(self.accounts))
        user_id = f"1{int.from_bytes(self.digest()[:10]) % 10**20:020d}"
        session_id = str(-abs(self.number()))
        account = Account(self, authuser, email, user_id, self.new_token(), session_id)
        self.accounts[authuser] = account
        return account

    def account(self, authuser: str) -> Account | None:
        """The account with this index or e-mail."""
        return next((item for item in self.accounts.values() if authuser in (item.authuser, item.email)), None)

    @property
    def owner(self) -> Account:
        return self.accounts["0"]

    def add_media(
        self,
        mime: str,
        size: int = 0,
        *,
        hops: tuple[str, ...] = (DOWNLOAD, IMAGES),
        chunked: bool = False,
        content: bytes | None = None,
        pace: float = 0,
    ) -> Media:
        """A finished file on the media hosts: of made-up bytes of that size, or of these bytes."""
        length = size if content is None else len(content)
        media = Media(self.opaque(16), self.opaque(24), mime, length, hops, chunked, content, pace)
        self.media[media.id] = media
        return media

    def rotate_token(self) -> None:
        """Make every page's token stale; the app page holds the new ones."""
        for account in self.accounts.values():
            account.token = self.new_token()

    def sign_out(
        self, how: Literal["redirect", "landing"] = "redirect", *, rpc: Literal["http", "status"] = "http"
    ) -> None:
        """End the session: its cookie and its tokens are worth nothing from now on."""
        self.signed_out, self.signed_out_rpc = how, rpc
        self.cookie = self.opaque(32)
        self.rotate_token()

    def switch(self) -> Account:
        """The user signs out and in again as somebody else, who is account 0 from now on."""
        self.sign_out()
        self.sign_in()
        first, second = self.accounts["0"], self.accounts["1"]
        first.authuser, second.authuser = "1", "0"
        self.accounts.update({"0": second, "1": first})
        return second

    def sign_in(self) -> None:
        self.signed_out = None

    def gate(self, *, on: bool = True) -> None:
        """Show a landing page instead of the app, as for a region without it."""
        self.gated = on
