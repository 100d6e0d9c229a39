"""The one websocket to Chrome, owned by trio: commands go out in order, replies and events come back to who asked.

One task writes, so that a cancelled call never leaves half a frame behind. One task reads, and nothing Chrome says
stops it. When the socket dies, everything that waits is told at once. Nothing here dials again: each socket may cost
the user a click.
"""

from __future__ import annotations

import logging
import math
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast

import trio
from websockets.exceptions import ConnectionClosed

from nlm_cdp.cdp.handshake import dial, upgrade
from nlm_cdp.cdp.protocol import BadMessage, Event, Failure, Protocol, Reply, UnknownEvent
from nlm_cdp.errors import ChromeLost, NlmError, Outcome, Timeout

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from websockets.trio.client import ClientConnection

    from nlm_cdp.cdp.generated.target import SessionID
    from nlm_cdp.cdp.shape import Command

T = TypeVar("T")
E = TypeVar("E")

logger = logging.getLogger(__name__)

EVENTS_HELD = 16_384  # far more than any burst; who lags further behind has stopped reading
GOODBYE_S = 1.0


class EventsOverrun(NlmError):
    """A subscriber lagged so far behind that events were lost to it."""


@asynccontextmanager
async def open_connection(url: str) -> AsyncIterator[Connection]:
    """Connect to a browser's websocket address. Chrome may ask the user first, and may take minutes."""
    async with connection_over(await dial(url), url) as connection:
        yield connection


@asynccontextmanager
async def connection_over(stream: trio.abc.Stream, url: str) -> AsyncIterator[Connection]:
    """The same over a stream that already leads to Chrome."""
    connection = Connection()
    failure: Exception | None = None
    async with trio.open_nursery() as nursery:
        try:
            websocket: ClientConnection = await nursery.start(connection.run, stream, url)
            try:
                yield connection
            finally:
                with trio.move_on_after(GOODBYE_S, shield=True):
                    await websocket.aclose()
                connection.life.cancel()
        except Exception as exc:  # noqa: BLE001 - raised below, where the nursery cannot wrap it in a group
            failure = exc
    if failure is not None:
        raise failure


@dataclass(slots=True)
class Call:
    """A command in flight: its text until it is sent, its answer once there is one."""

    text: str | None
    answer: Reply | Failure | None = None
    settled: trio.Event = field(default_factory=trio.Event)

    def take(self) -> str:
        assert self.text is not None
        text, self.text = self.text, None
        return text


class Connection:
    cause: BaseException | None = None
    """What ended the connection."""

    def __init__(self) -> None:
        self._protocol = Protocol()
        self._calls: dict[int, Call] = {}
        self._outbox, self._unsent = trio.open_memory_channel[int](math.inf)
        self._subscriptions: set[Subscription[Any]] = set()
        self._ended = trio.Event()
        self.life = trio.CancelScope()

    @property
    def closed(self) -> bool:
        return self._ended.is_set()

    async def wait_closed(self) -> None:
        await self._ended.wait()

    async def execute(
        self,
        command: Command[T],
        *,
        session: SessionID | None = None,
        timeout: float = 30.0,
    ) -> T:
        """Send a command and return what it makes of Chrome's reply, whose failures it raises."""
        if self.closed:
            raise self.lost() from self.cause
        id_, text = self._protocol.send(command, session)
        method = self._protocol.pending[id_].method
        self._calls[id_] = call = Call(text)
        del text
        self._outbox.send_nowait(id_)
        try:
            with trio.move_on_after(timeout):
                await call.settled.wait()
        finally:
            del self._calls[id_]
            self._protocol.forget(id_)
        match call.answer:
            case Reply(value=value):
                return cast("T", value)
            case Failure(error=error):
                raise error
        outcome = Outcome.NOT_SENT if call.text is not None else Outcome.UNKNOWN
        if self.closed:
            raise self.lost(outcome) from self.cause
        raise Timeout(f"Chrome did not answer {method} within {timeout:g} s.", outcome=outcome)

    @contextmanager
    def events(self, *types: type[E], session: SessionID | None = None) -> Iterator[Subscription[E]]:
        """Subscribe to events of these types, or of any: of one session, or of the browser and every session."""
        subscription: Subscription[E] = Subscription(self, types or (object,), session)
        self._subscriptions.add(subscription)
        if self.closed:
            subscription.end()
        try:
            yield subscription
        finally:
            self._subscriptions.discard(subscription)
            subscription.close()

    def lost(self, outcome: Outcome = Outcome.NOT_SENT) -> ChromeLost:
        details = {} if self.cause is None else {"cause": str(self.cause)}
        return ChromeLost("The connection to Chrome is gone.", outcome=outcome, details=details)

    async def run(
        self,
        stream: trio.abc.Stream,
        url: str,
        *,
        task_status: trio.TaskStatus[ClientConnection] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        with self.life:
            async with AsyncExitStack() as stack:
                websocket = await upgrade(stack, stream, url)
                await trio.lowlevel.checkpoint_if_cancelled()
                self.life.shield = True  # from here on, who is cancelled says goodbye first and ends this then
                await self._live(websocket, task_status)

    async def _live(self, websocket: ClientConnection, task_status: trio.TaskStatus[ClientConnection]) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._write, websocket)
            task_status.started(websocket)
            await self._read(websocket)
            nursery.cancel_scope.cancel()

    async def _write(self, websocket: ClientConnection) -> None:
        async for id_ in self._unsent:
            if (call := self._calls.get(id_)) is None:
                continue  # nobody waits for it any more, so it is never sent
            try:
                await websocket.send(call.take())
            except ConnectionClosed:
                return  # the reader meets the same end and reports it

    async def _read(self, websocket: ClientConnection) -> None:
        try:
            while True:
                self._receive(await websocket.recv(decode=False))
        except ConnectionClosed as exc:
            self.cause = exc
        finally:
            self._ended.set()
            for call in self._calls.values():
                call.settled.set()
            for subscription in self._subscriptions:
                subscription.end()

    def _receive(self, data: bytes) -> None:
        try:
            text = data.decode()
            del data  # what may be 60 MB is not kept twice
            received = self._protocol.receive(text)
        except BadMessage as exc:
            logger.debug("Skipped: %s", exc)
            return
        except UnicodeDecodeError:
            logger.debug("Skipped: Chrome sent text that is not UTF-8.")
            return
        for item in received:
            if isinstance(item, Event):
                self._publish(item)
            elif (call := self._calls.get(item.id)) is not None:
                call.answer = item
                call.settled.set()

    def _publish(self, event: Event) -> None:
        if isinstance(event.value, UnknownEvent):
            logger.debug("Skipped: Chrome sent %.100s, which is not read.", event.value.method)
        for subscription in self._subscriptions:
            subscription.offer(event)


class Subscription(Generic[E]):
    """Events since the subscription began, in order; ends with ChromeLost when the socket dies."""

    def __init__(self, connection: Connection, types: tuple[type, ...], session: SessionID | None) -> None:
        self._connection, self._types, self._session = connection, types, session
        self._arriving, self._waiting = trio.open_memory_channel[Any](EVENTS_HELD)
        self._overrun = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> E:
        try:
            event: E = await self._waiting.receive()
        except trio.EndOfChannel:
            if self._overrun:
                raise EventsOverrun(f"More than {EVENTS_HELD} events of Chrome were waiting to be read.") from None
            raise self._connection.lost() from self._connection.cause
        return event

    def offer(self, event: Event) -> None:
        if self._overrun or self._session not in (None, event.session) or not isinstance(event.value, self._types):
            return
        try:
            self._arriving.send_nowait(event.value)
        except trio.WouldBlock:
            self._overrun = True
            self.end()

    def end(self) -> None:
        self._arriving.close()

    def close(self) -> None:
        self._arriving.close()
        self._waiting.close()
