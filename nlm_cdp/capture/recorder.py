"""Watches one notebook tab: a session of its own beside the user's page, which nothing here disturbs.

Bodies are asked for the moment Chrome has them. Whoever handles the exchanges does so in a task of its own, so that a
slow disk never makes the reader lag. Our server's own calls are not seen: they are made in another page.
"""

from __future__ import annotations

import math
from base64 import b64decode
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

import trio

from nlm_cdp.capture.exchange import EVENTS, Begun, Body, Ended, Fold, Output, Part, Question, text_of
from nlm_cdp.cdp.connection import Connection, Subscription
from nlm_cdp.cdp.generated import inspector, network, target
from nlm_cdp.cdp.protocol import CommandRefused, SessionLost
from nlm_cdp.cdp.shape import Command
from nlm_cdp.errors import Ambiguous, ChromeLost, NlmError, NotFound, Timeout

BUFFER, LARGEST = 512 << 20, 128 << 20
"""Bytes of answers that Chrome keeps for us, of the whole tab and of one answer."""
ENABLE_S = 5.0
"""What a tab has to answer the first command; one that hangs, or that Chrome has put to sleep, never does."""
GRACE_S = 5.0
"""What a recording that is told to stop still waits for, so that calls in flight are whole."""

T = TypeVar("T")
Handler = Callable[[Begun | Ended], Awaitable[None]]


def choose(found: list[target.TargetInfo], wanted: str | None) -> target.TargetInfo:
    """The tab whose URL holds `wanted`, or whose number (from 1) it is; without it, the only one there is."""
    if not found:
        raise NotFound("no notebook tab is open", hint="Open Gemini Notebook in this Chrome, then try again.")
    if wanted is not None and wanted.isdecimal():  # not looked for in addresses: an id of theirs may hold it as well
        named = [info for number, info in enumerate(found, start=1) if str(number) == wanted]
    else:
        named = [info for info in found if wanted is None or wanted in info.url]
    if len(named) == 1:
        return named[0]
    choices = [f"{number}: {info.url}" for number, info in enumerate(found, start=1)]
    message = f"{len(named)} notebook tabs are open" if named else "no notebook tab has such a number or address"
    raise Ambiguous(message, hint="Choose one with --tab NUMBER.", details={"tabs": choices})


class Recorder:
    """One recording. `ended` says why it is over, once it is."""

    def __init__(self, connection: Connection, tab: target.TargetID, handle: Handler) -> None:
        self.connection, self.tab, self.handle = connection, tab, handle
        self.fold = Fold()
        self.session: target.SessionID | None = None
        self.ended: str | None = None
        self.stopping, self.idle = trio.Event(), trio.Event()
        self.finished, self.unhandled = trio.open_memory_channel[Begun | Ended](math.inf)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Record until `stop`, or until the tab is gone; everything that was seen has been handled by then."""
        self.session = await self.attach()
        try:
            with (
                self.connection.events(*EVENTS, inspector.TargetCrashed, session=self.session) as events,
                self.connection.events(target.DetachedFromTarget) as detached,
            ):
                await self.enable()
                async with trio.open_nursery() as handling:
                    handling.start_soon(self.handle_all)
                    task_status.started()
                    with self.finished:
                        await self.watch(events, detached)
                        self.emit(None, self.fold.end(self.ended or "the recording ended before it was whole"))
        finally:
            await self.detach()

    async def watch(self, events: Subscription[object], detached: Subscription[target.DetachedFromTarget]) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.follow, events, nursery)
            nursery.start_soon(self.follow_target, detached, nursery.cancel_scope)
            await self.stopping.wait()
            with trio.move_on_after(GRACE_S):
                await self.idle.wait()
            nursery.cancel_scope.cancel()

    def stop(self) -> None:
        """Take no new calls, and end as soon as those in flight are whole."""
        self.stopping.set()
        self.rest()

    async def attach(self) -> target.SessionID:
        try:
            return await self.connection.execute(target.attach_to_target(self.tab, flatten=True))
        except CommandRefused as exc:
            if exc.gone:
                raise closed_before() from None
            raise

    async def enable(self) -> None:
        try:
            await self.execute(network.enable(BUFFER, LARGEST, LARGEST), timeout=ENABLE_S)
            await self.keep_answers()
        except SessionLost:
            raise closed_before() from None
        except Timeout:
            hint = "Show it in Chrome, reload it if need be, then try again."
            raise Timeout("the tab does not answer: it hangs, or Chrome has put it to sleep", hint=hint) from None

    async def keep_answers(self) -> None:
        """Have Chrome keep answers over a navigation; an older one reports as lost what a navigation takes away."""
        try:
            await self.execute(network.configure_durable_messages(BUFFER, LARGEST))
        except SessionLost:
            raise
        except CommandRefused:
            return

    async def follow(self, events: Subscription[object], nursery: trio.Nursery) -> None:
        try:
            async for event in events:
                if isinstance(event, inspector.TargetCrashed):
                    self.emit(nursery, self.fold.end("the tab crashed"))
                elif not (self.stopping.is_set() and isinstance(event, network.RequestWillBeSent)):
                    self.emit(nursery, self.fold.receive(event))
        except NlmError as exc:
            self.over(exc.message, nursery.cancel_scope)

    async def follow_target(self, detached: Subscription[target.DetachedFromTarget], scope: trio.CancelScope) -> None:
        """Detaching is told to the browser's own session."""
        try:
            async for event in detached:
                if event.session_id == self.session:
                    self.over("the tab was closed", scope)
        except ChromeLost as exc:
            self.over(exc.message, scope)

    def over(self, why: str, scope: trio.CancelScope) -> None:
        self.ended = self.ended or why
        scope.cancel()

    def emit(self, nursery: trio.Nursery | None, outputs: Iterable[Output]) -> None:
        for output in outputs:
            if not isinstance(output, Question):
                self.finished.send_nowait(output)
            elif nursery is not None:
                nursery.start_soon(self.ask, nursery, output)
        self.rest()

    def rest(self) -> None:
        if not self.fold.open and self.stopping.is_set():
            self.idle.set()

    async def ask(self, nursery: trio.Nursery, question: Question) -> None:
        command = network.get_request_post_data if question.part is Part.REQUEST else network.get_response_body
        try:
            text, encoded = await self.execute(command(question.request_id))
            body = Body(decoded(text) if encoded else text)
        except CommandRefused as exc:
            body = Body(lost=f"Chrome no longer has it: {exc.reason}")
        except NlmError as exc:
            body = Body(lost=exc.message)
        self.emit(nursery, self.fold.answer(question, body))

    async def execute(self, command: Command[T], timeout: float = 30) -> T:
        return await self.connection.execute(command, session=self.session, timeout=timeout)

    async def handle_all(self) -> None:
        async for output in self.unhandled:
            await self.handle(output)

    async def detach(self) -> None:
        with trio.CancelScope(shield=True), trio.move_on_after(1):
            try:
                await self.connection.execute(target.detach_from_target(self.session), timeout=1)
            except NlmError:
                return  # the tab or the socket is gone, and the session with it


def closed_before() -> ChromeLost:
    hint = "Choose another tab; without --tab, all that are open are listed."
    return ChromeLost("the tab was closed before the recording began", hint=hint)


def decoded(text: str) -> str | bytes:
    """What came base64-encoded, as text where it is text."""
    return text_of(b64decode(text))
