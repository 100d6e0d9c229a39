"""Somebody who visits the simulated web app: opens a tab and clicks, as a person would, in a real browser.

Nothing is sent from here. Every request is the page's own, so whoever records the tab sees what a visit looks like.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trio

from nlm_cdp.cdp.connection import Connection
from nlm_cdp.cdp.generated import dom, runtime, target
from nlm_cdp.cdp.generated.target import SessionID, TargetID
from nlm_cdp.cdp.protocol import CommandRefused
from nlm_cdp.errors import NlmError, NotFound, Timeout
from nlm_cdp.sim.actions import ACTIONS, BATCHES

READY_S = 30.0
LOOK_S = 0.02
CLICK_S = 60.0
READY = "document.documentElement?.dataset.app === 'ready'"

CLICK = """async function (name) {
  const button = this.querySelector(`button[data-action="${CSS.escape(name)}"]`);
  if (!button) return null;
  const over = () => ["done", "failed"].includes(button.dataset.state);
  await new Promise((resolve) => {
    delete button.dataset.state;
    const watch = new MutationObserver(() => over() && (watch.disconnect(), resolve()));
    watch.observe(button, { attributes: true, attributeFilter: ["data-state"] });
    button.click();
  });
  return { state: button.dataset.state, said: button.parentElement.querySelector("output").textContent };
}"""
FILL = """function (name, field, value) {
  const button = this.querySelector(`button[data-action="${CSS.escape(name)}"]`);
  if (!button?.form?.elements[field]) return false;
  button.form.elements[field].value = value;
  return true;
}"""
TEXT = "function (selector) { return this.querySelector(selector)?.textContent ?? null; }"


@dataclass(frozen=True, slots=True)
class Clicked:
    """What the page says of a click when it is over."""

    name: str
    state: str
    said: str

    @property
    def failed(self) -> bool:
        return self.state != "done"


@dataclass(frozen=True, slots=True)
class Visit:
    """An open tab of the app. It stays open when the visit is over."""

    connection: Connection
    target_id: TargetID
    session: SessionID

    async def click(self, name: str, *, timeout: float = CLICK_S) -> Clicked:
        """Click an action's button and wait for what comes of it. Raises NotFound where there is no such button."""
        said = await self.run(CLICK, name, timeout=timeout)
        if said is None:
            raise NotFound(f"the page has no button {name!r}")
        return Clicked(name, said["state"], said["said"])

    async def fill(self, name: str, field: str, value: str) -> None:
        """Write into the form of an action."""
        if not await self.run(FILL, name, field, value):
            raise NotFound(f"the page has no form {name!r} with a field {field!r}")

    async def ask(self, question: str) -> Clicked:
        """Ask in the chat and wait for the end of the answer, which is `text(".answer")`."""
        await self.fill("ask", "question", question)
        return await self.click("ask")

    async def add_text(self, title: str, content: str) -> Clicked:
        await self.fill("add-text", "title", title)
        await self.fill("add-text", "content", content)
        return await self.click("add-text")

    async def upload(self, path: Path) -> Clicked:
        """Upload a file; the browser reads it from disk."""
        found = await self.evaluate("document.querySelector('input[type=file]')", by_value=False)
        if found.object_id is None:
            raise NotFound("the page has no form for files")
        chosen = dom.set_file_input_files([str(path)], found.object_id)
        await self.connection.execute(chosen, session=self.session)
        return await self.click("register-file")

    async def text(self, selector: str) -> str | None:
        """What an element of the page says."""
        said: str | None = await self.run(TEXT, selector)
        return said

    async def evaluate(self, expression: str, *, by_value: bool = True) -> runtime.RemoteObject:
        command = runtime.evaluate(expression, return_by_value=by_value)
        return value_of(await self.connection.execute(command, session=self.session))

    async def run(self, function: str, *arguments: str, timeout: float = CLICK_S) -> Any:
        """Call a function on the page's document, its arguments as data."""
        document = await self.evaluate("document", by_value=False)
        command = runtime.call_function_on(
            function,
            object_id=document.object_id,
            arguments=[runtime.CallArgument(value=value) for value in arguments],
            return_by_value=True,
            await_promise=True,
        )
        answer = await self.connection.execute(command, session=self.session, timeout=timeout)
        return value_of(answer).value


def value_of(answer: tuple[runtime.RemoteObject, runtime.ExceptionDetails | None]) -> runtime.RemoteObject:
    value, thrown = answer
    if thrown is not None:
        told = thrown.exception.description if thrown.exception else None
        raise NlmError(f"the page threw: {told or thrown.text}")
    return value


async def open_app(connection: Connection, url: str) -> Visit:
    """Open an ordinary tab at a page of the app, and wait until it can be clicked."""
    target_id = await connection.execute(target.create_target(url))
    session = await connection.execute(target.attach_to_target(target_id, flatten=True))
    visit = Visit(connection, target_id, session)
    await ready(visit)
    return visit


async def ready(visit: Visit) -> None:
    """Wait until the tab's app can be clicked."""
    with trio.move_on_after(READY_S):
        while True:
            if await is_ready(visit):
                return
            await trio.sleep(LOOK_S)
    raise Timeout(f"the app did not get ready within {READY_S:g} s")


async def is_ready(visit: Visit) -> bool:
    try:
        return (await visit.evaluate(READY)).value is True
    except CommandRefused:  # the page is on its way to another document
        return False


async def visit(connection: Connection, url: str, names: Sequence[str] | None = None) -> list[str]:
    """Click through the app, and tell which clicks failed; without names, everything there is, in its order."""
    there = await open_app(connection, url)
    clicks = [await there.click(name) for name in (everything() if names is None else names)]
    return [click.name for click in clicks if click.failed]


def everything() -> list[str]:
    """Each batch, then each action as often as a session plays it; "ask" submits the form of the chat."""
    return [*BATCHES, *(action.name for action in ACTIONS for _ in range(action.times))]
