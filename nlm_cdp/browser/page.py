"""Our hidden page: made on a light document of the app's origin, watched, and closed by us alone.

Every request is a `fetch` in an isolated world of it, so the browser supplies the credentials. Waits live here, not in
the page, whose timers stop in hidden tabs. What takes the page away (crash, navigation, a closed target) ends every
call at once with ChromeLost.
"""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any, TypeVar
from uuid import uuid4

import trio

from nlm_cdp.browser import bridge
from nlm_cdp.browser.account import Place
from nlm_cdp.browser.bridge import Answer, Bootstrap, Request
from nlm_cdp.cdp.connection import Connection
from nlm_cdp.cdp.generated import inspector, page, runtime, target
from nlm_cdp.cdp.protocol import CommandRefused
from nlm_cdp.cdp.shape import Command
from nlm_cdp.errors import AccessGated, AccountAmbiguous, ChromeLost, Drift, Network, NlmError, SignedOut, Timeout
from nlm_cdp.wire import page as app

T = TypeVar("T")

ANSWER_S, NETWORK_S = 10.0, 30.0
"""What a page has to answer a command, and one that waits for the network; a page whose process hangs never does."""


class Moved(Network):
    """The app answers from another of its hosts."""

    def __init__(self, origin: str) -> None:
        super().__init__("the app has moved to another host", details={"origin": origin})
        self.origin = origin


class Page:
    """One hidden page; `generation` counts how often its tokens were read."""

    def __init__(self, connection: Connection, place: Place, target_id: target.TargetID, nursery: trio.Nursery) -> None:
        self.connection, self.place, self.target_id, self.nursery = connection, place, target_id, nursery
        self.session: target.SessionID | None = None
        self.world: runtime.ExecutionContextId | None = None
        self.key = f"nlm_{uuid4().hex}"
        self.binding = f"{self.key}_emit"
        self.facts = Bootstrap(None, None, None, simulated=False)
        self.generation = 0
        self.lost: str | None = None
        self.scopes: set[trio.CancelScope] = set()
        self.streams: dict[int, trio.MemorySendChannel[Any]] = {}
        self.watching, self.watching_target = trio.CancelScope(), trio.CancelScope()
        self.ids = count(1)

    # Making it

    async def enter(self) -> None:
        """Attach, land on a light document of the origin, and put the bridge into an isolated world there."""
        try:
            await self.move_in()
        except Timeout:
            hint = (
                "The process that draws it may hang with another tab: close the notebook tab that hangs, or reload it."
            )
            raise Timeout("our page in Chrome does not answer", hint=hint, state="could_not_check") from None

    async def move_in(self) -> None:
        await self.nursery.start(self.watch_target)
        self.session = await self.execute(target.attach_to_target(self.target_id, flatten=True))
        await self.nursery.start(self.watch)
        await self.execute(page.enable())
        await self.execute(inspector.enable())
        await self.execute(runtime.enable())
        await self.land()
        tree = await self.execute(page.get_frame_tree())
        self.world = await self.execute(page.create_isolated_world(tree.frame.id_, world_name=self.key))
        await self.execute(runtime.add_binding(self.binding, execution_context_name=self.key))
        authuser = self.place.authuser if self.place.authuser != "0" else None
        await self.evaluate(bridge.source(), self.key, bridge.FACTS | {"authuser": authuser})

    async def land(self) -> None:
        """The first light path that stays on the origin will do, whatever its status."""
        for path in (*app.LIGHT_PATHS, "/"):
            where = await self.navigate(path)
            if app.is_app(where) and app.origin(where) == self.place.origin:
                return
        raise self.judged(where)

    async def navigate(self, path: str) -> str:
        """Where our page ends up when sent to a path of the origin."""
        _, _, error, _ = await self.execute(page.navigate(self.place.origin + path), NETWORK_S)
        if error and error != "net::ERR_ABORTED":
            raise Network(f"the browser could not open the app: {error}")
        tree = await self.execute(page.get_frame_tree())
        return tree.frame.url

    async def bootstrap(self) -> None:
        """Read the app page and its tokens anew. Raises SignedOut, AccessGated, Network, or Drift (a changed page)."""
        said = await self.invoke("bootstrap", timeout=NETWORK_S)
        if said.get("failed"):
            raise Network("the browser could not read the app page", details={"error": said["failed"]})
        if said.get("redirected") or not said.get("signed_in"):
            status = said.get("status") or 0
            if status >= 500:
                raise Network(f"the app page answered with HTTP {status}")
            # where a redirect leads is hidden from a fetch; a navigation of our own page shows it
            self.world = None
            where = await self.navigate("/" if said.get("redirected") else "/login")
            self.lose("it was used to find out about the sign-in")
            raise self.judged(where)
        named = said.get("authuser"), said.get("email")
        self.facts = Bootstrap(said.get("build"), *named, bool(said.get("simulated")), said.get("user"))
        if self.place.authuser is not None and not app.answers_to(self.place.authuser, *named):
            raise AccountAmbiguous("the app answers as another account than the one asked for", state="other_account")
        self.generation += 1

    def judged(self, where: str) -> NlmError:
        """What it means that the app led here."""
        match app.landing(where):
            case app.Landing.SIGNED_OUT:
                return SignedOut("this Chrome is not signed in to Gemini Notebook", state="signed_out")
            case app.Landing.GATED:
                return AccessGated("Google shows a landing page instead of the app", state="gated")
            case app.Landing.APP if app.origin(where) != self.place.origin:
                return Moved(app.origin(where))
            case app.Landing.APP:
                return Drift("the app page holds no token although it is signed in", state="could_not_check")
        return Network("the app led to another site or to an error page", state="could_not_check")

    # Using it

    async def call(self, request: Request) -> Answer:
        """One request and its whole answer; cancelling aborts the fetch in the page."""
        number = next(self.ids)
        try:
            return await self.fetch(number, request.as_json())
        except trio.Cancelled:
            await self.abort(number)
            raise

    async def stream(self, request: Request, chunk: Callable[[str], Awaitable[None]]) -> Answer:
        """One request whose body is handed to `chunk` piece by piece as it arrives."""
        number = next(self.ids)
        send, receive = trio.open_memory_channel[Any](math.inf)
        self.streams[number] = send
        scope = trio.CancelScope()
        self.nursery.start_soon(self.run_stream, number, request.as_json() | {"stream": True}, send, scope)
        answer: Answer | None = None
        ended = False
        try:
            while answer is None or not ended:
                item = await receive.receive()
                if isinstance(item, NlmError):
                    raise item
                if isinstance(item, Answer):
                    answer = item
                    ended = ended or not answer.sent
                elif "end" in item:
                    ended = True
                else:
                    await chunk(item["chunk"])
            return answer
        finally:
            del self.streams[number]
            if answer is None:
                await self.abort(number)
            scope.cancel()  # an answer may never come

    async def run_stream(
        self, number: int, request: dict[str, Any], send: trio.MemorySendChannel[Any], scope: trio.CancelScope
    ) -> None:
        with scope:
            try:
                send.send_nowait(await self.fetch(number, request))
            except NlmError as exc:
                send.send_nowait(exc)

    async def fetch(self, number: int, request: dict[str, Any]) -> Answer:
        said = await self.invoke("call", number, request, timeout=math.inf)
        return Answer.read(said)

    async def abort(self, number: int) -> None:
        """Stop a fetch, even while we are being cancelled; bounded, and a page that is gone needs none."""
        if self.lost is not None:
            return
        with trio.CancelScope(shield=True), trio.move_on_after(1):
            try:
                await self.invoke("abort", number, timeout=1)
            except NlmError:
                return

    async def invoke(self, name: str, *args: Any, timeout: float) -> Any:
        return await self.evaluate(bridge.INVOKE, self.key, name, *args, timeout=timeout)

    async def evaluate(self, function: str, *args: Any, timeout: float = ANSWER_S) -> Any:
        """Run a function in our world and give its (awaited) value."""
        command = runtime.call_function_on(
            function,
            arguments=[runtime.CallArgument(value=arg) for arg in args],
            execution_context_id=self.world,
            await_promise=True,
            return_by_value=True,
        )
        result, exception = await self.execute(command, timeout=timeout)
        if exception is not None:
            raise NlmError("the bridge failed in the page", details={"line": exception.line_number})
        return result.value

    async def execute(self, command: Command[T], timeout: float = ANSWER_S) -> T:
        """A command to this page; ends with ChromeLost the moment the page is gone."""
        if self.lost is not None:
            raise ChromeLost(f"our page in Chrome is gone: {self.lost}")
        with trio.CancelScope() as scope:
            self.scopes.add(scope)
            try:
                return await self.connection.execute(command, session=self.session, timeout=timeout)
            except CommandRefused as exc:
                if exc.gone:
                    self.lose(exc.reason)
                    raise ChromeLost("our page in Chrome went away during the call") from None
                raise
            except ChromeLost as exc:  # the socket died, whoever is told first
                self.lose(exc.message)
                raise
            finally:
                self.scopes.discard(scope)
        raise ChromeLost(f"our page in Chrome is gone: {self.lost}")

    # Watching it

    async def watch(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Hand chunks to their streams, and notice when the page is taken away."""
        own = (inspector.TargetCrashed, inspector.Detached, runtime.ExecutionContextsCleared, runtime.BindingCalled)
        with self.connection.events(*own, session=self.session) as events:
            task_status.started()
            with self.watching:
                try:
                    async for event in events:
                        self.notice(event)
                except NlmError as exc:
                    self.lose(exc.message)

    async def watch_target(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Detaching is told to the browser's own session."""
        with self.connection.events(target.DetachedFromTarget) as events:
            task_status.started()
            with self.watching_target:
                try:
                    async for event in events:
                        if event.session_id == self.session:
                            self.lose("its target was closed")
                except NlmError as exc:
                    self.lose(exc.message)

    def notice(self, event: object) -> None:
        match event:
            case runtime.BindingCalled(name=name, payload=payload) if name == self.binding:
                try:
                    message = json.loads(payload)
                    stream = self.streams.get(message["id"])
                except (ValueError, TypeError, LookupError):
                    return  # not the bridge's own: what Chrome says ends nothing here
                if stream is not None:
                    stream.send_nowait(message)
            case runtime.ExecutionContextsCleared() if self.world is not None:
                self.lose("it navigated")
            case inspector.TargetCrashed() | inspector.Detached():
                self.lose("it crashed")

    def lose(self, reason: str) -> None:
        if self.lost is None:
            self.lost = reason
            for scope in self.scopes:
                scope.cancel()

    async def close(self) -> None:
        """Close our own target, and nothing else."""
        self.lose("it was closed")
        self.watching.cancel()
        self.watching_target.cancel()
        with trio.CancelScope(shield=True), trio.move_on_after(1):
            try:
                await self.connection.execute(target.close_target(self.target_id), timeout=1)
            except NlmError:
                return
