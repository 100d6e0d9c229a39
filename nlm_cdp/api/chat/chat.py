"""The chat's messages and calls. Asking is `asking`, what the service keeps of it `conversation`."""

from __future__ import annotations

from typing import Annotated, ClassVar

from nlm_cdp.api.common import Empty, Provenance, RequestContext, Timestamp
from nlm_cdp.rpc import Effect, Rpc
from nlm_cdp.wire.chat import AnswerRow, Snapshot
from nlm_cdp.wire.pblite import Message, Tag

QUESTION, REPLY = 1, 2
NO_CONTEXT = RequestContext(client_type=None, provenance=None)

# Messages


class HistoryEntry(Message):
    text: Annotated[str, Tag(1)]
    role: Annotated[int, Tag(3)]


class Ask(Message):
    """Nine slots since mid-2026 (P); five in January 2026, with a conversation id made by the client (C).

    History is optional: the service has its own when a conversation is named. The enterprise edition sends sources,
    question and its name of the notebook (M).
    """

    PIVOT: ClassVar[int] = 70_000
    sources: Annotated[list[str], Tag(1, each=(1, 1))]
    question: Annotated[str, Tag(2)]
    history: Annotated[list[HistoryEntry] | None, Tag(3)] = None
    context: Annotated[RequestContext | None, Tag(4)] = None
    conversation_id: Annotated[str | None, Tag(5)] = None
    user_message_id: Annotated[str | None, Tag(6)] = None
    notebook_id: Annotated[str | None, Tag(8)] = None
    origin: Annotated[int | None, Tag(9)] = 1
    capabilities: Annotated[str | None, Tag(15)] = None  # JSON
    resource: Annotated[str | None, Tag(70_000)] = None


ASK_CONTEXT = RequestContext(capabilities=[1], provenance=Provenance(flags=None))
"""`[2,_,[1],[1]]`."""


class ListChats(Message):
    """`[[],_,nb,20]`; the limit is ignored (C)."""

    context: Annotated[RequestContext | None, Tag(1)] = NO_CONTEXT
    notebook_id: Annotated[str, Tag(3)]
    limit: Annotated[int, Tag(4)] = 1


class ChatRow(Message):
    """2 and 3: N (October 2026), when it was made and when it was used last."""

    id: Annotated[str, Tag(1)]
    created: Annotated[Timestamp | None, Tag(2)] = None
    used: Annotated[Timestamp | None, Tag(3)] = None


class Chats(Message):
    chats: Annotated[list[ChatRow], Tag(1)] = []

    @property
    def newest(self) -> str | None:
        """The id of the notebook's conversation."""
        return self.chats[0].id if self.chats else None


class ListTurns(Message):
    """`limit` is the size of a page; the cursor of one page asks for the next, older one (N)."""

    context: Annotated[RequestContext | None, Tag(1)] = NO_CONTEXT
    conversation_id: Annotated[str, Tag(4)]
    limit: Annotated[int, Tag(5)]
    cursor: Annotated[str | None, Tag(6)] = None


class Turn(Message):
    """N: a question has its text at 4, an answer its row at 5.1."""

    id: Annotated[str, Tag(1)]
    at: Annotated[Timestamp | None, Tag(2)] = None
    role: Annotated[int, Tag(3)]
    question: Annotated[str | None, Tag(4)] = None
    answer: Annotated[AnswerRow | None, Tag(5, 1)] = None


class Turns(Message):
    """Newest first."""

    turns: Annotated[list[Turn] | None, Tag(1, lenient=True)] = None
    next_token: Annotated[str | None, Tag(2)] = None


class GetStatus(Message):
    context: Annotated[RequestContext | None, Tag(1)] = None
    conversation_id: Annotated[str, Tag(2)]


IDLE, GENERATING = 1, 2


class ChatStatus(Message):
    """`[_,1]`, or `[token,2]` while an answer is being written."""

    token: Annotated[str | None, Tag(1)] = None
    status: Annotated[int, Tag(2)] = 0


class CancelGeneration(Message):
    """Ends the writing; the stream of the answer stays open without a word (N)."""

    context: Annotated[RequestContext | None, Tag(1)] = None
    conversation_id: Annotated[str, Tag(2)]
    agency_session: Annotated[str | None, Tag(3)] = None


class DeleteTurns(Message):
    """`[[],conv,_,1]`, as the web app sends it. The conversation stays, empty (N)."""

    context: Annotated[RequestContext | None, Tag(1)] = NO_CONTEXT
    conversation_id: Annotated[str, Tag(2)]
    f4: Annotated[int | None, Tag(4)] = 1


class DeleteNotebookTurns(Message):
    """M."""

    notebook_id: Annotated[str, Tag(1)]
    conversation_id: Annotated[str, Tag(2)]


# Calls

ASK = Rpc("chat", "GenerateFreeFormStreamed", Ask, Snapshot, Effect.CREATE, timeout=180.0, stream=True)
"""The stream has no rpc id on the wire."""
LIST_CHATS = Rpc("hPTbtc", "ListChatSessions", ListChats, Chats, Effect.READ, null=True)
LIST_TURNS = Rpc("khqZz", "ListChatTurns", ListTurns, Turns, Effect.READ, null=True, grade="N")
STATUS = Rpc("oXwmh", "GetChatSessionStatus", GetStatus, ChatStatus, Effect.READ, grade="N")
CANCEL = Rpc("XgrPMd", "CancelGeneration", CancelGeneration, Empty, Effect.SET, grade="N")
DELETE_TURNS = Rpc("J7Gthc", "DeleteChatTurns", DeleteTurns, Empty, Effect.DELETE, grade="P")
DELETE_NOTEBOOK_TURNS = Rpc(
    "J7Gthc", "DeleteChatTurns", DeleteNotebookTurns, Empty, Effect.DELETE, variant="notebook", grade="M"
)
"""Another client's form; we never send it."""
