"""The Project row: a notebook as the wire has it, in listings, answers and echoes."""

from __future__ import annotations

from typing import Annotated

from nlm_cdp.api.common import Timestamp
from nlm_cdp.api.sources.rows import Source
from nlm_cdp.wire.pblite import Message, Tag

ROLES = {1: "owner", 2: "editor", 3: "viewer", 4: "not shared"}
GOALS = {1: "default", 2: "custom", 3: "learning_guide"}
LENGTHS = {1: "default", 4: "longer", 5: "shorter"}


class NotebookMeta(Message):
    """C, except 26: N. Not understood: 3, 7, 8, 14, 15, 16, 18, 19, 23."""

    role: Annotated[int, Tag(1)] = 0
    shared: Annotated[bool, Tag(2)] = False
    f3: Annotated[bool | None, Tag(3)] = None
    viewed: Annotated[Timestamp | None, Tag(6)] = None
    f7: Annotated[int | None, Tag(7)] = None
    f8: Annotated[bool | None, Tag(8)] = None
    created: Annotated[Timestamp | None, Tag(9)] = None
    public: Annotated[bool, Tag(13)] = False
    f14: Annotated[bool | None, Tag(14)] = None
    f15: Annotated[int | None, Tag(15)] = None
    f16: Annotated[bool | None, Tag(16)] = None
    f18: Annotated[bool | None, Tag(18)] = None
    f19: Annotated[int | None, Tag(19)] = None
    f23: Annotated[bool | None, Tag(23)] = None
    product: Annotated[int | None, Tag(26)] = None


class Goal(Message):
    """`[]` stands for the defaults in some rows."""

    code: Annotated[int | None, Tag(1)] = None
    prompt: Annotated[str | None, Tag(2)] = None


class ChatSettings(Message):
    goal: Annotated[Goal | None, Tag(1)] = None
    length: Annotated[int | None, Tag(2, 1)] = None


class Access(Message):
    chat_only: Annotated[bool, Tag(1)] = False
    f2: Annotated[str | None, Tag(2)] = None


class Limits(Message):
    """Per account (C); the tier is an opaque number (N)."""

    f1: Annotated[int | None, Tag(1)] = None
    notebooks: Annotated[int | None, Tag(2)] = None
    sources: Annotated[int | None, Tag(3)] = None
    words: Annotated[int | None, Tag(4)] = None
    tier: Annotated[int | None, Tag(5)] = None


class Notebook(Message):
    """A Project row: 12 cells in January 2026, more since; `chats` only right after creation (C)."""

    title: Annotated[str, Tag(1)] = ""
    sources: Annotated[list[Source], Tag(2, lenient=True)] = []
    id: Annotated[str, Tag(3)]
    emoji: Annotated[str, Tag(4)] = ""
    meta: Annotated[NotebookMeta | None, Tag(6)] = None
    chat: Annotated[ChatSettings | None, Tag(8)] = None
    access: Annotated[Access | None, Tag(9)] = None
    premium: Annotated[list[bool], Tag(10)] = []
    limits: Annotated[Limits | None, Tag(11)] = None
    chats: Annotated[list[str], Tag(12, each=(1,))] = []
