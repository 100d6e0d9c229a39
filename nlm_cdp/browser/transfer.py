"""Files up and down with the browser's own hands: its disk access, its loader, its cookies.

What may go wrong is judged here, by status and by the bytes, whatever the name or the type that was announced; how the
bytes travel is in `sending` and `loader`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import trio

from nlm_cdp import media
from nlm_cdp.browser.account import Place
from nlm_cdp.browser.attach import create_target
from nlm_cdp.browser.loader import Loader, check_hop, header
from nlm_cdp.browser.page import Page
from nlm_cdp.browser.partfile import PartFile, refuse_existing
from nlm_cdp.browser.sending import Answer, Progress, Sending, checked_address
from nlm_cdp.cdp.connection import Connection
from nlm_cdp.cdp.generated import fetch
from nlm_cdp.errors import (
    AccessGated,
    Drift,
    FileRefused,
    InvalidArgument,
    Network,
    NlmError,
    NotReady,
    Outcome,
    Permission,
    RateLimited,
    Service,
    SignedOut,
    Timeout,
)
from nlm_cdp.local.files import encodable
from nlm_cdp.wire import page as app

MIME = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)


# Up


async def upload(
    page: Page,
    path: Path,
    *,
    notebook_id: str,
    source_id: str,
    mime: str,
    progress: Progress,
    timeout: float,
) -> None:
    """Send a file as the bytes of a registered source; cancelling stops it here and at the service.

    An error's outcome is `not_sent` until the bytes leave, then `rejected` or `unknown`.
    """
    media.refuse_html(path.name, mime)
    if not MIME.fullmatch(mime):
        raise InvalidArgument("a MIME type is written type/subtype")
    before = await trio.to_thread.run_sync(looked_at, path)
    sending = Sending(page, path, before.st_size)
    try:
        with trio.fail_after(timeout):
            started = await sending.start(notebook_id, source_id, mime)
            check_answer(started, "active")
            check_answer(await sending.send(checked_address(started["url"]), progress), "final")
    except trio.TooSlowError:
        raise accounted(Timeout(f"the file was not sent within {timeout:g} s"), sending) from None
    except NlmError as exc:
        if isinstance(exc, Network):  # all that Chrome says of a file that shrinks under it
            await check_unchanged(sending, before)
        raise accounted(exc, sending) from None
    await check_unchanged(sending, before)
    await progress(before.st_size, before.st_size)


async def check_unchanged(sending: Sending, before: os.stat_result) -> None:
    """Raise FileRefused unless the file is still the one that was announced: what was sent may be neither."""
    try:
        after = await trio.to_thread.run_sync(sending.path.stat)
        same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    except OSError:
        same = False
    if not same:
        hint = "Its source may hold a mixture: delete that, and add the file again."
        raise accounted(FileRefused("the file changed while it was sent", hint=hint), sending)


def accounted(error: NlmError, sending: Sending) -> NlmError:
    """The error, with the file and the truth about the write in it."""
    if error.outcome is not Outcome.REJECTED:
        error.outcome = sending.outcome
    error.details.setdefault("path", str(sending.path))
    return error


def looked_at(path: Path) -> os.stat_result:
    if not encodable(str(path)):
        raise FileRefused("the file's name is not valid Unicode", hint="Rename the file.")
    try:
        found = path.stat()
    except OSError as exc:
        raise FileRefused(f"{path.name} cannot be read: {exc.strerror}", details={"path": str(path)}) from None
    if not found.st_size:
        raise InvalidArgument(f"{path.name} is empty", details={"path": str(path)})
    return found


def check_answer(answer: Answer, wanted: str) -> None:
    """Raise what an answer of the upload protocol says went wrong; `wanted` is the state it should report."""
    if "failed" in answer:
        raise Network("the browser could not send the file", details={"error": answer["failed"]})
    status = answer["status"]
    if answer["redirected"]:
        raise SignedOut("the service sent the upload to another page", state="signed_out", outcome=Outcome.REJECTED)
    if status in (400, 415):
        raise InvalidArgument("the service refuses the file: its type or its size", outcome=Outcome.REJECTED)
    if status == 413:
        raise InvalidArgument("the file is larger than the service takes", outcome=Outcome.REJECTED)
    if status != 200:
        raise refused(status, answer["retry_after"])
    if answer["state"] is None:
        raise Service("something else than the service's upload server answered")
    if answer["state"] != wanted:
        raise Drift("the service does not confirm the upload")


def refused(status: int, retry_after: str | None) -> NlmError:
    """What an HTTP status other than success means, up or down."""
    seconds = float(retry_after) if retry_after and retry_after.strip().isdecimal() else None
    match status:
        case 401:
            return SignedOut("the service does not know this browser", state="signed_out", outcome=Outcome.REJECTED)
        case 403:
            return Permission("the service does not let this account do that", outcome=Outcome.REJECTED)
        case 429:
            return RateLimited("the service asks for a pause", retry_after_s=seconds, outcome=Outcome.REJECTED)
    if status >= 500:
        return Service(f"the service failed with HTTP {status}", retry_after_s=seconds)
    return Drift(f"the service answered with HTTP {status}", outcome=Outcome.REJECTED)


# Down


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A file in its place. `mime` is what its bytes show, where they show any.

    `verified`: it is known to be whole, by its announced size or by its end; Chrome does not tell a broken line from
    the end of a text that was sent without its size.
    """

    path: Path
    size: int
    mime: str
    sha256: str
    verified: bool


async def download(
    connection: Connection,
    place: Place,
    url: str,
    destination: Path,
    *,
    overwrite: bool,
    progress: Callable[[int, int | None], Awaitable[None]],
    timeout: float,
) -> Downloaded:
    """Save what Chrome gets from an address of the service; on failure or cancellation no file is left behind."""
    check_hop(url)
    if not overwrite:
        await trio.to_thread.run_sync(refuse_existing, destination)
    part = await trio.to_thread.run_sync(PartFile, destination)
    loader: Loader | None = None
    try:
        with trio.fail_after(timeout):
            loader = Loader(connection, await create_target(connection, place))
            response = await loader.response(url)
            check_response(response)
            mime, verified = await save(loader, response, part, progress)
            await trio.to_thread.run_sync(lambda: part.publish(overwrite=overwrite))
    except trio.TooSlowError:
        raise Timeout(f"{destination.name} did not arrive within {timeout:g} s") from None
    finally:
        with trio.CancelScope(shield=True):
            if loader is not None:
                await loader.close()
            await trio.to_thread.run_sync(part.discard)
    return Downloaded(destination, part.size, mime, part.hash.hexdigest(), verified)


def check_response(response: fetch.RequestPaused) -> None:
    """Raise what an answer that is no file means."""
    landing = app.landing(response.request.url)
    if landing is app.Landing.SIGNED_OUT:
        raise SignedOut("the download led to the sign-in page", state="signed_out")
    if landing is app.Landing.GATED:
        raise AccessGated("Google shows a page that wants a person instead of the file", state="gated")
    status = response.response_status_code or 0
    if status == 404:
        raise NotReady("the file is not there, or not yet", hint="List it again for a fresh address, then retry.")
    if status != 200:
        raise refused(status, header(response, "retry-after"))
    if (header(response, "content-type") or "").lower().startswith(media.HTML_TYPES):
        raise page_instead()


def page_instead() -> Service:
    return Service(
        "the service sent a page instead of the file",
        hint="List it again for a fresh address; if that does not help, open the notebook in Chrome to see why.",
    )


async def save(
    loader: Loader,
    response: fetch.RequestPaused,
    part: PartFile,
    progress: Callable[[int, int | None], Awaitable[None]],
) -> tuple[str, bool]:
    """Write the body piece by piece; gives its type, and whether it is known to be whole."""
    total = announced(response)
    await progress(0, total)
    async with aclosing(loader.body(response)) as pieces:
        async for piece in pieces:
            await trio.to_thread.run_sync(part.write, piece)
            await progress(part.size, total)
    sniffed = media.sniff(part.head)
    mime = media.settled(header(response, "content-type") or "", sniffed)
    if not part.size:
        raise Service("the service sent an empty file")
    if sniffed in media.HTML_TYPES:
        raise page_instead()
    whole = part.size == total if total is not None else await trio.to_thread.run_sync(part.has_its_end, mime)
    if whole is False:
        details = {"received": part.size, "announced": total}
        raise Network("the file ended before its end", hint="Try again.", details=details)
    return mime, whole is not None


def announced(response: fetch.RequestPaused) -> int | None:
    """The size that the body will have; unknown where it is sent in chunks or compressed."""
    length = header(response, "content-length")
    if length is None or not length.isdecimal() or header(response, "content-encoding") not in (None, "identity"):
        return None
    return int(length)
