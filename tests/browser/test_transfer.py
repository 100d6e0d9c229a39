"""Files up and down in a real Chromium: what arrives, what is told, what every fault becomes, what is left behind."""

from __future__ import annotations

import gc
import hashlib
import logging
import os
import stat
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import trio

from nlm_cdp.browser import transfer
from nlm_cdp.browser.account import Place
from nlm_cdp.browser.attach import open_page
from nlm_cdp.browser.page import Page
from nlm_cdp.browser.transfer import Downloaded, download, upload
from nlm_cdp.cdp.connection import Connection, open_connection
from nlm_cdp.cdp.generated import fetch, target
from nlm_cdp.errors import ChromeLost, FileRefused, InvalidArgument, NlmError, Timeout
from nlm_cdp.sim.chrome import throwaway_chrome
from nlm_cdp.sim.faults import Fault, Kind
from nlm_cdp.sim.media import DOWNLOAD, IMAGES, PATHS, STARTS, VIDEO, Media
from nlm_cdp.sim.records import Upload
from nlm_cdp.sim.simulator import Simulator, simulator
from nlm_cdp.sim.uploads import CANCEL, FINALIZE, START
from tests.e2e.world import in_chromium

pytestmark = in_chromium
HERE = Place("https://notebook.google.com", None, None)
OLDER = "notebooklm.google.com"
ELSEWHERE = "https://evil.example/x"
MB = 1_000_000


@dataclass
class There:
    """A simulator, a Chromium, a page of ours in it, and a folder for files."""

    service: Simulator
    connection: Connection
    page: Page
    folder: Path
    before: set[str]
    told: list[tuple[int, int | None]] = field(default_factory=list)

    async def note(self, done: int, total: int | None) -> None:
        self.told.append((done, total))

    def file(self, name: str, content: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content)
        return path

    async def up(self, path: Path, *, mime: str = "text/markdown", progress: Any = None, timeout: float = 60) -> None:
        notebook = next(iter(self.service.service.owner.notebooks))
        await upload(
            self.page,
            path,
            notebook_id=notebook,
            source_id="S1",
            mime=mime,
            progress=progress or self.note,
            timeout=timeout,
        )

    async def down(
        self,
        media: Media | str,
        name: str = "out",
        *,
        overwrite: bool = False,
        progress: Any = None,
        timeout: float = 60,
    ) -> Downloaded:
        url = media if isinstance(media, str) else media.url()
        to = self.folder / name
        return await download(
            self.connection, HERE, url, to, overwrite=overwrite, progress=progress or self.note, timeout=timeout
        )

    @property
    def uploads(self) -> list[Upload]:
        return list(self.service.service.uploads.values())

    def steps(self) -> list[str]:
        """The commands of the upload requests so far."""
        requests = self.service.requests.to("/upload/_/")
        return [logged.headers.get("x-goog-upload-command", logged.method) for logged in requests]

    def media(self, mime: str = "audio/mp4", size: int = 3 * MB, **more: Any) -> Media:
        return self.service.service.add_media(mime, size, **more)

    async def nothing_is_left(self) -> None:
        """No part file, no page but the one that was there, nothing running in it."""
        assert [path.name for path in self.folder.rglob(".nlm-*")] == []
        assert self.page.streams == {}
        assert await self.page.evaluate("(key) => globalThis[key].running.size", self.page.key) == 0
        with trio.fail_after(5):  # Chrome answers a close before it has closed
            while await target_ids(self.connection) - self.before:
                await trio.lowlevel.checkpoint()


@asynccontextmanager
async def there(tmp_path: Path) -> AsyncIterator[There]:
    async with (
        simulator() as service,
        throwaway_chrome(service.chrome_flags) as chrome,
        open_connection(chrome.endpoint) as connection,
        trio.open_nursery() as nursery,
    ):
        page = await open_page(nursery, connection, HERE)
        folder = tmp_path / "files"
        folder.mkdir()
        yield There(service, connection, page, folder, await target_ids(connection))
        await page.close()
        nursery.cancel_scope.cancel()


async def target_ids(connection: Connection) -> set[str]:
    return {info.target_id for info in await connection.execute(target.get_targets())}


async def failing(run: Any) -> NlmError:
    with pytest.raises(NlmError) as caught:
        await run
    return caught.value


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# Up


async def test_a_file_arrives_whole_under_its_name(tmp_path: Path) -> None:
    content = os.urandom(5 * MB)
    async with there(tmp_path) as it:
        finished: list[Upload] = []
        it.service.service.uploaded = finished.append
        await it.up(it.file("notes.md", content))
        (sent,) = it.uploads
        assert finished == [sent]
        assert (sent.name, sent.mime, sent.source_id, sent.state) == ("notes.md", "text/markdown", "S1", "final")
        assert (sent.digest.size, sent.digest.sha256) == (len(content), sha256(content))
        assert bytes(sent.digest.head) == content[:65_536]
        assert it.told[0] == (0, len(content))
        assert it.told[-1] == (len(content), len(content))
        assert [done for done, _ in it.told] == sorted(done for done, _ in it.told)
        await it.nothing_is_left()


async def test_what_an_upload_sends(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        await it.up(it.file("notes.md", b"four"))
        start, finalize = it.service.requests.to("/upload/_/")
        for logged in (start, finalize):
            assert (logged.method, logged.host, logged.query["authuser"]) == ("POST", "notebook.google.com", "0")
            assert logged.headers["origin"] == "https://notebook.google.com"
            assert logged.headers["sec-fetch-site"] == "same-origin"
            assert logged.headers["x-goog-authuser"] == "0"
            assert logged.headers["content-type"] == "application/x-www-form-urlencoded;charset=UTF-8"
        sent = {name: value for name, value in start.headers.items() if name.startswith("x-goog-upload")}
        assert sent == {
            "x-goog-upload-command": "start",
            "x-goog-upload-protocol": "resumable",
            "x-goog-upload-header-content-length": "4",
            "x-goog-upload-header-content-type": "text/markdown",
        }
        assert finalize.headers["x-goog-upload-command"] == "upload, finalize"
        assert finalize.headers["x-goog-upload-offset"] == "0"
        assert finalize.query["upload_id"] == it.uploads[0].id


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
async def test_a_name_of_any_characters_goes_into_the_body_only(tmp_path: Path) -> None:
    names = ["スクリーン 🧪.pdf", 'a"b.txt', "one\ntwo.md", "%2e%2e&x=1.md", "é" * 100 + ".md", "-.md"]
    async with there(tmp_path) as it:
        for name in names:
            await it.up(it.file(name, name.encode()))
        assert [sent.name for sent in it.uploads] == names
        assert [bytes(sent.digest.head).decode() for sent in it.uploads] == names
        assert {sent.state for sent in it.uploads} == {"final"}


async def test_several_go_up_at_once(tmp_path: Path) -> None:
    async with there(tmp_path) as it, trio.open_nursery() as nursery:
        for number in range(4):
            nursery.start_soon(it.up, it.file(f"{number}.md", bytes([number]) * MB))
        nursery.cancel_scope.deadline = trio.current_time() + 60
    assert {sent.digest.sha256 for sent in it.uploads} == {sha256(bytes([number]) * MB) for number in range(4)}


async def test_the_account_of_the_page_is_named(tmp_path: Path) -> None:
    async with there(tmp_path) as it, trio.open_nursery() as nursery:
        second = it.service.service.accounts["1"]
        notebook = second.add_notebook("Of the second")
        page = await open_page(nursery, it.connection, Place(HERE.origin, None, "1"))
        file = it.file("a.md", b"x")
        await upload(
            page, file, notebook_id=notebook.id, source_id="S", mime="text/plain", progress=it.note, timeout=60
        )
        assert [logged.query["authuser"] for logged in it.service.requests.to("/upload/_/")] == ["1", "1"]
        assert it.service.requests.to("/upload/_/")[0].headers["x-goog-authuser"] == "1"
        await page.close()


async def test_bytes_go_to_the_other_host_from_a_page_of_that_host(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        it.service.service.upload_host = OLDER
        await it.up(it.file("a.md", b"over there"))
        assert it.uploads[0].state == "final"
        start, finalize = it.service.requests.to("/upload/_/")
        assert (start.host, finalize.host) == ("notebook.google.com", OLDER)
        assert finalize.headers["origin"] == f"https://{OLDER}"
        await it.nothing_is_left()


async def test_a_page_of_ours_may_not_send_to_the_other_host(tmp_path: Path) -> None:
    """Why there is a page for it: across origins Chromium asks first, and says no more than that it failed."""
    async with there(tmp_path) as it:
        send = f"""async () => {{
            try {{ await fetch("https://{OLDER}/upload/_/?upload_id=x", {{
                method: "POST", credentials: "include", headers: {{ "X-Goog-Upload-Command": "cancel" }} }});
                return "sent"; }} catch (error) {{ return error.name; }} }}"""
        assert await it.page.evaluate(send) == "TypeError"
        assert it.steps() == ["OPTIONS"]


async def test_bytes_stay_here_where_the_other_host_opens_no_pages(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        it.service.service.upload_host = OLDER
        away = {"location": "https://notebook.google.com/"}
        for path in ("/robots.txt", "/favicon.ico", "/manifest.json"):
            it.service.faults.add(Fault(Kind.HTTP, path, code=302, headers=away))
        await it.up(it.file("a.md", b"over here"))
        assert it.uploads[0].state == "final"
        assert [logged.host for logged in it.service.requests.to("/upload/_/")] == ["notebook.google.com"] * 2
        await it.nothing_is_left()


REFUSALS = [
    (400, "INVALID_ARGUMENT"),
    (401, "SIGNED_OUT"),
    (403, "PERMISSION"),
    (404, "DRIFT"),
    (413, "INVALID_ARGUMENT"),
    (415, "INVALID_ARGUMENT"),
    (429, "RATE_LIMITED"),
    (500, "SERVICE"),
    (503, "SERVICE"),
]


async def test_a_refusal_says_why_and_whether_the_bytes_left(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        file = it.file("a.md", b"x" * 1000)
        for step in (START, FINALIZE):
            for status, code in REFUSALS:
                it.service.faults.add(Fault(Kind.HTTP, step, code=status, headers={"retry-after": "7"}))
                error = await failing(it.up(file))
                server = "not_sent" if step == START else "unknown"
                assert (error.code, error.outcome) == (code, "rejected" if status < 500 else server), (step, status)
                assert error.details["path"] == str(file)
                assert error.retry_after_s == (7 if status in (429, 500, 503) else None)
        assert {sent.state for sent in it.uploads} == {"active"}
        await it.up(file)
        await it.nothing_is_left()


ODDITIES = [
    (Fault(Kind.EMPTY, START), "SERVICE", "not_sent"),
    (Fault(Kind.EMPTY, FINALIZE, commit=True), "SERVICE", "unknown"),
    (Fault(Kind.WALL, START), "SERVICE", "not_sent"),
    (Fault(Kind.WALL, FINALIZE), "SERVICE", "unknown"),
    (Fault(Kind.CLOSE, START, times=3), "NETWORK", "not_sent"),
    (Fault(Kind.RESET, FINALIZE, times=3), "NETWORK", "unknown"),
    (Fault(Kind.CUT, FINALIZE, amount=0.5), "NETWORK", "unknown"),
    (Fault(Kind.HTTP, START, code=302, headers={"location": "https://accounts.google.com/"}), "SIGNED_OUT", "rejected"),
    (Fault(Kind.HTTP, FINALIZE, code=302, headers={"location": "/robots.txt"}), "SIGNED_OUT", "rejected"),
    (Fault(Kind.HTTP, FINALIZE, code=302, headers={"location": "https://accounts.google.com/"}), "NETWORK", "unknown"),
    (Fault(Kind.HTTP, START, code=200, headers={"x-goog-upload-status": "active"}), "DRIFT", "not_sent"),
    (Fault(Kind.HTTP, FINALIZE, code=200, headers={"x-goog-upload-status": "active"}), "DRIFT", "unknown"),
]


async def test_an_answer_of_another_kind_is_no_success(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        file = it.file("a.md", b"x" * 1000)
        for fault, code, outcome in ODDITIES:
            it.service.faults.add(fault)
            error = await failing(it.up(file))
            assert (error.code, error.outcome) == (code, outcome), fault
            it.service.faults.clear()
        await it.up(file)
        await it.nothing_is_left()


async def test_what_the_service_would_refuse_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        for name in ("a.html", "a.HTM", "a.xhtml"):
            assert isinstance(await failing(it.up(it.file(name, b"x"))), InvalidArgument)
        for mime in (
            "text/html",
            "application/xhtml+xml",
            "TEXT/HTML; charset=utf-8",
            "text",
            "text/plain\r\nX: y",
            "",
        ):
            assert isinstance(await failing(it.up(it.file("a.md", b"x"), mime=mime)), InvalidArgument)
        assert isinstance(await failing(it.up(it.file("empty.md", b""))), InvalidArgument)
        assert isinstance(await failing(it.up(it.folder / "absent.md")), FileRefused)
        if sys.platform == "linux":
            odd = Path(os.fsdecode(os.fsencode(it.folder) + b"/\xff.md"))
            odd.write_bytes(b"x")
            assert isinstance(await failing(it.up(odd)), FileRefused)
        assert it.steps() == []


async def test_a_file_that_chrome_cannot_read_is_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with there(tmp_path) as it:
        ours, seen_by_us = it.file("gone.md", b"x" * 10), it.file("there.md", b"y" * 10)
        ours.unlink()
        monkeypatch.setattr(transfer, "looked_at", lambda _: seen_by_us.stat())
        error = await failing(it.up(ours))
        assert (error.code, error.outcome) == ("FILE_REFUSED", "not_sent")
        assert it.steps() == ["start", "cancel"]
        await it.nothing_is_left()


@pytest.mark.parametrize("change", ["shrinks", "grows", "goes"])
async def test_a_file_that_changes_on_its_way_is_an_error(change: str, tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        it.service.service.upload_pace = 0.005
        file = it.file("a.md", b"x" * 6 * MB)

        async def meddle(done: int, _: int) -> None:
            if done > 0 and file.exists() and file.stat().st_size == 6 * MB:
                {
                    "shrinks": lambda: os.truncate(file, MB),
                    "grows": lambda: os.truncate(file, 7 * MB),
                    "goes": file.unlink,
                }[change]()

        error = await failing(it.up(file, progress=meddle))
        assert (error.code, error.outcome) == ("FILE_REFUSED", "unknown")
        assert "changed" in error.message
        await it.nothing_is_left()


async def test_cancelling_stops_the_sending_and_tells_the_service(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        it.service.service.upload_pace = 0.05
        file = it.file("a.md", b"x" * 20 * MB)
        with trio.CancelScope() as scope:

            async def stop(done: int, _: int) -> None:
                if done:
                    scope.cancel()

            await it.up(file, progress=stop)
        assert scope.cancelled_caught
        assert it.steps() == ["start", "cancel"]
        assert it.uploads[0].state == "cancelled"
        assert it.uploads[0].digest.size < 20 * MB
        await it.nothing_is_left()
        it.service.service.upload_pace = 0
        await it.up(file)
        assert it.uploads[1].state == "final"


async def test_a_deadline_says_what_became_of_it(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        file = it.file("a.md", b"x")
        for step, outcome in ((START, "not_sent"), (FINALIZE, "unknown")):
            it.service.faults.add(Fault(Kind.SILENT, step))
            error = await failing(it.up(file, timeout=1))
            assert isinstance(error, Timeout)
            assert (error.outcome, error.details["path"]) == (outcome, str(file))
        assert it.uploads[-1].state == "cancelled"
        await it.nothing_is_left()


async def test_a_cancel_that_goes_unanswered_holds_nobody_up(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        it.service.faults.add(Fault(Kind.SILENT, FINALIZE), Fault(Kind.SILENT, CANCEL))
        with trio.fail_after(10):
            assert isinstance(await failing(it.up(it.file("a.md", b"x"), timeout=0.5)), Timeout)


async def test_a_page_that_goes_away_ends_the_upload(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        it.service.service.upload_pace = 0.05

        closed: list[int] = []

        async def close(done: int, _: int) -> None:
            if done and not closed:
                closed.append(done)
                await it.connection.execute(target.close_target(it.page.target_id))

        error = await failing(it.up(it.file("a.md", b"x" * 20 * MB), progress=close))
        assert isinstance(error, ChromeLost)
        assert error.outcome == "unknown"


async def test_a_callers_own_failure_stops_it_too(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        it.service.service.upload_pace = 0.05

        async def fail(done: int, _: int) -> None:
            if done:
                raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            await it.up(it.file("a.md", b"x" * 20 * MB), progress=fail)
        assert it.uploads[0].state == "cancelled"
        await it.nothing_is_left()


# Down


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_file_comes_down_whole_over_its_redirects(chunked: bool, tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        for number, mime in enumerate(STARTS):
            media = it.media(mime, hops=(DOWNLOAD, VIDEO if mime == "video/mp4" else IMAGES), chunked=chunked)
            it.told.clear()
            got = await it.down(media, f"{number}")
            assert got == Downloaded(it.folder / f"{number}", 3 * MB, mime, media.sha256, verified=True)
            assert sha256(got.path.read_bytes()) == media.sha256
            assert it.told[0] == (0, None if chunked else 3 * MB)
            assert it.told[-1] == (3 * MB, None if chunked else 3 * MB)
            if sys.platform != "win32":
                assert stat.S_IMODE(got.path.stat().st_mode) == 0o600
        await it.nothing_is_left()


async def test_bytes_of_every_kind_come_down_as_they_are(tmp_path: Path) -> None:
    """Chrome tells some as text and some as base64, by their content or their type."""
    contents = [
        os.urandom(2_500_000),
        "é🧪漢".encode() * 200_000,
        b"\0\xff\xfe\r\n\xc3(\xed\xa0\x80" * 100_000,
        b"\xef\xbb\xbfa",
    ]
    async with there(tmp_path) as it:
        for mime in ("text/csv", "text/markdown; charset=utf-8", "application/json", "image/svg+xml"):
            for number, content in enumerate(contents):
                media = it.media(mime, content=content, chunked=number % 2 == 1)
                got = await it.down(media, overwrite=True)
                assert got.path.read_bytes() == content
                assert (got.sha256, got.mime) == (sha256(content), mime.partition(";")[0])
                assert got.verified is not media.chunked


async def test_the_bytes_decide_what_it_is(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        pdf = it.media("application/octet-stream", content=b"%PDF-1.7\n" + bytes(100))
        assert (await it.down(pdf, "a.bin")).mime == "application/pdf"
        page = it.media("application/pdf", content=b"\n<!DOCTYPE html><title>Sign in</title>")
        assert (await failing(it.down(page, "b.pdf"))).code == "SERVICE"
        assert [path.name for path in it.folder.iterdir()] == ["a.bin"]


async def test_only_what_a_navigation_sends(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        await it.down(it.media())
        for path in (PATHS[DOWNLOAD], PATHS[IMAGES]):
            (logged,) = it.service.requests.to(path)
            assert logged.method == "GET"
            assert logged.headers["sec-fetch-mode"] == "navigate"
            assert not {"authorization", "x-goog-authuser", "origin", "referer"} & set(logged.headers)


async def test_cookies_are_supplied_by_chrome_and_kept_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Fetch.requestPaused carries the Cookie header; it is not read, and nothing that is read holds it."""
    caplog.set_level(logging.DEBUG)
    async with there(tmp_path) as it:
        cookie = it.service.service.cookie
        with it.connection.events(fetch.RequestPaused) as events:
            await it.down(it.media())
            for _ in range(4):
                assert cookie not in repr(await anext(events))
        gc.collect()
        dicts = [thing for thing in gc.get_objects() if type(thing) is dict]
        assert [held for held in dicts if cookie in str(held.get("Cookie", ""))] == []
        assert cookie not in caplog.text


FAULTS = [
    (Fault(Kind.WALL, PATHS[IMAGES]), "SERVICE"),
    (Fault(Kind.EMPTY, PATHS[IMAGES]), "SERVICE"),
    (Fault(Kind.CUT, PATHS[IMAGES], amount=0.5), "NETWORK"),
    (Fault(Kind.RESET, PATHS[IMAGES], amount=MB), "NETWORK"),
    (Fault(Kind.CLOSE, PATHS[DOWNLOAD], times=5), "NETWORK"),
    (Fault(Kind.HTTP, PATHS[IMAGES], code=204), "DRIFT"),
    (Fault(Kind.HTTP, PATHS[IMAGES], code=302), "DRIFT"),
    (Fault(Kind.HTTP, PATHS[IMAGES], code=304), "DRIFT"),
    (Fault(Kind.HTTP, PATHS[DOWNLOAD], code=401), "SIGNED_OUT"),
    (Fault(Kind.HTTP, PATHS[DOWNLOAD], code=403), "PERMISSION"),
    (Fault(Kind.HTTP, PATHS[IMAGES], code=404), "NOT_READY"),
    (Fault(Kind.HTTP, PATHS[IMAGES], code=429, headers={"retry-after": "7"}), "RATE_LIMITED"),
    (Fault(Kind.HTTP, PATHS[IMAGES], code=500), "SERVICE"),
    (Fault(Kind.HTTP, PATHS[DOWNLOAD], code=302, headers={"location": "https://accounts.google.com/x"}), "SIGNED_OUT"),
    (
        Fault(Kind.HTTP, PATHS[DOWNLOAD], code=302, headers={"location": "https://google.com/sorry/index"}),
        "ACCESS_GATED",
    ),
]


async def test_what_is_no_file_is_an_error_and_leaves_none(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        media = it.media()
        for fault, code in FAULTS:
            it.service.faults.add(fault)
            error = await failing(it.down(media))
            assert error.code == code, fault
            assert error.retry_after_s == (7 if code == "RATE_LIMITED" else None)
            assert list(it.folder.iterdir()) == []
            it.service.faults.clear()
        await it.nothing_is_left()
        assert (await it.down(media)).sha256 == media.sha256


async def test_half_a_file_of_unknown_length_is_known_by_its_end(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        for mime in STARTS:
            it.service.faults.add(Fault(Kind.CUT, PATHS[IMAGES], amount=MB))
            error = await failing(it.down(it.media(mime, chunked=True)))
            assert (error.code, error.details) == ("NETWORK", {"received": MB, "announced": None}), mime
            assert list(it.folder.iterdir()) == []


async def test_half_a_text_of_unknown_length_is_not_vouched_for(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        it.service.faults.add(Fault(Kind.CUT, PATHS[IMAGES], amount=MB))
        got = await it.down(it.media("text/csv", chunked=True))
        assert (got.size, got.verified) == (MB, False)


async def test_fresh_media_are_not_ready_at_first(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        media = it.media()
        it.service.faults.add(Fault(Kind.HTTP, PATHS[DOWNLOAD], times=2, code=404))
        codes = [(await failing(it.down(media))).code for _ in range(2)]
        assert codes == ["NOT_READY"] * 2
        assert (await it.down(media)).sha256 == media.sha256


async def test_a_browser_without_the_session_is_signed_out(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        it.service.service.sign_out()
        error = await failing(it.down(it.media()))
        assert (error.code, error.state) == ("SIGNED_OUT", "signed_out")


HOPS = [
    ELSEWHERE,
    "http://evil.example/x",
    "https://lh3.googleusercontent.com.evil.example/x",
    "https://evilgoogle.com/x",
    "https://google.com.evil.example/x",
    "https://lh3.googleusercontent.com@evil.example/x",
    "//evil.example/x",
    "https://lh3.googleusercontent.com:8443/x",
    "https://127.0.0.1/x",
    "file:///etc/passwd",
    "data:audio/mp4,x",
    "javascript:1",
    "about:blank",
]


async def test_a_hop_to_elsewhere_is_never_followed(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        for hop in HOPS:
            error = await failing(it.down(it.media(hops=(DOWNLOAD, hop))))
            assert error.code == "DRIFT", hop
        went = {logged.host for logged in it.service.requests if logged.headers.get("sec-fetch-mode") == "navigate"}
        assert went == {"notebook.google.com", DOWNLOAD}
        assert "/x" not in [logged.path for logged in it.service.requests]
        await it.nothing_is_left()


async def test_a_stopped_hop_stays_stopped_when_the_page_goes(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        for _ in range(20):
            await failing(it.down(it.media(hops=(DOWNLOAD, ELSEWHERE))))
        await it.down(it.media())
        assert "evil.example" not in {logged.host for logged in it.service.requests}


async def test_google_without_tls_is_reached_with_it(tmp_path: Path) -> None:
    """Google's hosts are on Chromium's list of those that it never asks without TLS; the simulator speaks nothing else."""
    async with there(tmp_path) as it:
        media = it.media()
        plain = media.url(1).replace("https:", "http:")
        it.service.faults.add(Fault(Kind.HTTP, PATHS[DOWNLOAD], code=302, headers={"location": plain}))
        assert (await it.down(media)).sha256 == media.sha256


# The file it becomes


async def test_an_existing_file_needs_overwrite(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        mine = it.file("out", b"mine")
        media = it.media()
        requests = len(it.service.requests)
        assert (await failing(it.down(media))).code == "FILE_REFUSED"
        assert (mine.read_bytes(), len(it.service.requests)) == (b"mine", requests)
        it.service.faults.add(Fault(Kind.CUT, PATHS[IMAGES], amount=0.5))
        assert (await failing(it.down(media, overwrite=True))).code == "NETWORK"
        assert mine.read_bytes() == b"mine"
        assert (await it.down(media, overwrite=True)).sha256 == sha256(mine.read_bytes())
        await it.nothing_is_left()


async def test_a_file_that_appears_meanwhile_is_not_clobbered(tmp_path: Path) -> None:
    async with there(tmp_path) as it:

        async def intrude(done: int, _: int | None) -> None:
            if done:
                it.file("out", b"mine")

        assert (await failing(it.down(it.media(), progress=intrude))).code == "FILE_REFUSED"
        assert (it.folder / "out").read_bytes() == b"mine"
        await it.nothing_is_left()


async def test_of_two_to_one_name_one_wins_and_is_intact(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        first, second = it.media(), it.media()
        ended: list[Downloaded | NlmError] = []

        async def run(media: Media) -> None:
            try:
                ended.append(await it.down(media))
            except NlmError as error:
                ended.append(error)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(run, first)
            nursery.start_soon(run, second)
        won, lost = sorted(ended, key=lambda one: isinstance(one, NlmError))
        assert isinstance(lost, FileRefused)
        assert isinstance(won, Downloaded)
        assert won.sha256 == sha256(won.path.read_bytes())
        await it.nothing_is_left()


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
async def test_a_link_under_the_name_is_never_written_through(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        victim = it.file("victim", b"mine")
        for name, aim in (("good", victim), ("broken", it.folder / "absent")):
            (it.folder / name).symlink_to(aim)
            assert (await failing(it.down(it.media(), name))).code == "FILE_REFUSED"
        got = await it.down(it.media(), "good", overwrite=True)
        assert not got.path.is_symlink()
        assert victim.read_bytes() == b"mine"


async def test_a_place_that_cannot_be_written_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        requests = len(it.service.requests)
        it.file("taken", b"x")
        assert (await failing(it.down(it.media(), "taken/out"))).code == "FILE_REFUSED"
        assert len(it.service.requests) == requests
        assert (await it.down(it.media(), "new/folder/out")).path.exists()


@pytest.mark.parametrize("when", [0, 1])
async def test_cancelling_a_download_leaves_nothing(when: int, tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        with trio.CancelScope() as scope:

            async def stop(done: int, _: int | None) -> None:
                if done >= when:
                    scope.cancel()

            await it.down(it.media(size=50 * MB, chunked=True, pace=0.01), progress=stop)
        assert scope.cancelled_caught
        assert list(it.folder.iterdir()) == []
        await it.nothing_is_left()
        with trio.fail_after(10):
            await it.service.requests.wait_for(lambda logged: logged.path == PATHS[IMAGES] and bool(logged.aborted))


async def test_a_download_that_takes_too_long_leaves_nothing(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        for path in (PATHS[DOWNLOAD], PATHS[IMAGES]):
            it.service.faults.add(Fault(Kind.SILENT, path))
            assert isinstance(await failing(it.down(it.media(), timeout=1)), Timeout)
        assert list(it.folder.iterdir()) == []
        await it.nothing_is_left()


async def test_a_page_that_is_closed_under_a_download_is_chrome_lost(tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        closed: list[int] = []

        async def close(done: int, _: int | None) -> None:
            if done and not closed:
                closed.append(done)
                infos = await it.connection.execute(target.get_targets())
                (mine,) = [info for info in infos if info.attached and info.target_id != it.page.target_id]
                await it.connection.execute(target.close_target(mine.target_id))

        error = await failing(it.down(it.media(size=50 * MB, chunked=True, pace=0.01), progress=close))
        assert isinstance(error, ChromeLost)
        assert list(it.folder.iterdir()) == []


# Size


def memory() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


SIZES = [pytest.param(5 * MB, 20 * MB, id="short"), pytest.param(50 * MB, 200 * MB, id="long", marks=pytest.mark.long)]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("sent", "received"), SIZES)
async def test_memory_stays_flat(sent: int, received: int, tmp_path: Path) -> None:
    async with there(tmp_path) as it:
        most = 0

        async def watch(_: int, __: int | None) -> None:
            nonlocal most
            most = max(most, memory())

        async def grown(run: Callable[[], Any]) -> float:
            nonlocal most
            before = most = memory()
            await run()
            return max(most, memory()) - before

        file = it.folder / "large.md"
        with file.open("wb") as opened:
            for number in range(sent // 100_000):
                opened.write(bytes([number % 256]) * 100_000)
        media = it.media("video/mp4", received, hops=(DOWNLOAD, VIDEO))
        assert await grown(lambda: it.up(file, progress=watch)) < 32 * 2**20
        assert it.uploads[0].digest.size == sent
        assert await grown(lambda: it.down(media, progress=watch)) < 32 * 2**20
        assert (it.folder / "out").stat().st_size == received
