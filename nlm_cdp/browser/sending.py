"""One file on its way up: Chrome opens it itself, named to a file input in our isolated world.

Two requests of the service's resumable protocol: `start` announces the file and gets an address, `upload, finalize`
carries all its bytes there. Whatever ends it early is told to the service as `cancel`.
"""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import parse_qs, urlencode, urlsplit

import trio

from nlm_cdp.browser.attach import create_target
from nlm_cdp.browser.bridge import INVOKE
from nlm_cdp.browser.page import Moved, Page
from nlm_cdp.cdp.generated import dom, runtime
from nlm_cdp.cdp.protocol import CommandRefused
from nlm_cdp.errors import ChromeLost, Drift, FileRefused, NlmError, Outcome
from nlm_cdp.wire import page as app
from nlm_cdp.wire.batchexecute import UPLOAD_FIELDS, UPLOAD_PATH

CONTENT_TYPE = "application/x-www-form-urlencoded;charset=UTF-8"
GOODBYE_S = 2.0

Answer: TypeAlias = dict[str, Any]
"""What upload.js says of a response; `failed` names the page's own error where there is none."""
Progress: TypeAlias = Callable[[int, int], Awaitable[None]]


class Sending:
    """`outcome`: what would become of the write if it failed now."""

    def __init__(self, page: Page, path: Path, size: int) -> None:
        self.page, self.path, self.size = page, path.absolute(), size
        self.authuser = page.place.authuser or page.facts.authuser or "0"
        self.outcome = Outcome.NOT_SENT

    def headers(self, command: str, **more: str) -> dict[str, str]:
        sent = {f"X-Goog-Upload-{name.replace('_', '-')}": value for name, value in more.items()}
        account = {"X-Goog-AuthUser": self.authuser} if self.authuser.isascii() else {}
        return {"Content-Type": CONTENT_TYPE, "X-Goog-Upload-Command": command, **account, **sent}

    async def start(self, notebook_id: str, source_id: str, mime: str) -> Answer:
        """Announce the file. Its name goes into the body alone: a header holds no character beyond Latin-1."""
        headers = self.headers(
            "start", Protocol="resumable", Header_Content_Length=str(self.size), Header_Content_Type=mime
        )
        body = json.dumps(dict(zip(UPLOAD_FIELDS, (notebook_id, self.path.name, source_id), strict=True)))
        await prepare(self.page)
        number = next(self.page.ids)
        try:
            url = f"{UPLOAD_PATH}?{urlencode({'authuser': self.authuser})}"
            answer: Answer = await self.page.invoke("command", number, url, headers, body, timeout=math.inf)
        except trio.Cancelled:
            await self.page.abort(number)
            raise
        return answer

    async def send(self, url: str, progress: Progress) -> Answer:
        """The bytes, to the address that the start was given."""
        async with page_at(self.page, app.origin(url)) as there:
            await prepare(there)
            number = next(there.ids)
            path = url.removeprefix(app.origin(url))
            answer: Answer = {"failed": "NoAnswer"}
            try:
                await self.choose(there, number)
                answer = await self.transported(there, number, path, progress)
            finally:
                if "failed" in answer:
                    await self.give_up(there, number, path)
        return answer

    async def choose(self, there: Page, number: int) -> None:
        """Name the file to an input of our world; Chrome opens it when it is sent."""
        arguments = [runtime.CallArgument(value=it) for it in (there.key, "input", number)]
        command = runtime.call_function_on(INVOKE, arguments=arguments, execution_context_id=there.world)
        made, _ = await there.execute(command)
        if made.object_id is None:
            raise NlmError("the bridge made no file input")
        try:
            await there.execute(dom.set_file_input_files([str(self.path)], object_id=made.object_id))
            await there.execute(runtime.release_object(made.object_id))
        except CommandRefused as exc:
            raise FileRefused("Chrome does not take the file", details={"reason": exc.reason}) from None
        if await there.invoke("size", number, timeout=30) != self.size:
            hint = (
                "Chrome may not be allowed to read that folder (a snap or a flatpak is not): copy the file elsewhere."
            )
            raise FileRefused("Chrome cannot read the file", hint=hint)

    async def transported(self, there: Page, number: int, url: str, progress: Progress) -> Answer:
        """Send the chosen file, tell how far it is, and give the answer."""
        tell, told = trio.open_memory_channel[Any](math.inf)

        async def run() -> None:
            headers = self.headers("upload, finalize", Offset="0")
            try:
                tell.send_nowait(await there.invoke("send", number, url, headers, timeout=math.inf))
            except NlmError as exc:
                tell.send_nowait(exc)

        await progress(0, self.size)
        there.streams[number] = tell
        self.outcome = Outcome.UNKNOWN
        there.nursery.start_soon(run)
        try:
            async for item in told:
                if isinstance(item, NlmError):
                    raise item
                if "loaded" not in item:
                    return dict(item)
                await progress(min(item["loaded"], self.size), self.size)
        finally:
            del there.streams[number]
        raise ChromeLost("our page in Chrome gave no answer")

    async def give_up(self, there: Page, number: int, url: str) -> None:
        """Stop sending, and say that no more will come; bounded, also while we are being cancelled."""
        await there.abort(number)
        with trio.CancelScope(shield=True), trio.move_on_after(GOODBYE_S):
            try:
                await there.invoke("drop", number, timeout=GOODBYE_S)
                await there.invoke("command", number, url, self.headers("cancel"), timeout=GOODBYE_S)
            except NlmError:
                return


async def prepare(page: Page) -> None:
    """Put our side of the transfer into the page's isolated world."""
    await page.evaluate(files("nlm_cdp.browser").joinpath("upload.js").read_text(encoding="utf-8"), page.key)


@asynccontextmanager
async def page_at(page: Page, origin: str) -> AsyncIterator[Page]:
    """A page of ours on the origin that gets the bytes: from any other, they would need the service's leave (CORS)."""
    if origin == page.place.origin:
        yield page
        return
    place = replace(page.place, origin=origin)
    other = Page(page.connection, place, await create_target(page.connection, place), page.nursery)
    try:
        try:
            await other.enter()
        except Moved:  # that host opens no pages any more, and the same service listens on ours
            yield page
        else:
            yield other
    finally:
        await other.close()


def checked_address(url: str | None) -> str:
    """The address the service gave for the bytes. Raises Drift for any but an upload's on one of the app's hosts."""
    if url is not None and app.is_app(url):
        parts = urlsplit(url)
        ids = parse_qs(parts.query, keep_blank_values=True).get("upload_id", [])
        if parts.path == UPLOAD_PATH and parts.netloc == parts.hostname and len(ids) == 1 and ids[0]:
            return url
    raise Drift("the service gave no usable address for the file's bytes")
