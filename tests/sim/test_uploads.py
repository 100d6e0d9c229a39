"""Resumable uploads as the service takes them: start, bytes, cancel, and everything it refuses."""

from __future__ import annotations

import hashlib
import json
import tracemalloc
from typing import Any

import pytest
import trio

from nlm_cdp.sim.faults import Fault, Kind
from nlm_cdp.sim.http import Digest
from nlm_cdp.sim.uploads import DONE, FINALIZE, PATH, START

pytestmark = pytest.mark.realtime
APP = "notebook.google.com"


def start_of(sim, **changes: Any) -> tuple[dict[str, str], bytes]:
    notebook = next(iter(sim.service.owner.notebooks))
    headers = {
        "content-type": "application/x-www-form-urlencoded;charset=UTF-8",
        "origin": f"https://{APP}",
        "x-goog-upload-command": "start",
        "x-goog-upload-header-content-length": "5",
        "x-goog-upload-header-content-type": "text/markdown",
        "x-goog-upload-protocol": "resumable",
    }
    body = {"PROJECT_ID": notebook, "SOURCE_NAME": "notes.md", "SOURCE_ID": "S1"}
    for name, value in changes.items():
        (body if name.isupper() else headers)[name.replace("_", "-") if name.islower() else name] = value
    return headers, json.dumps(body).encode()


async def started(sim, client, **changes: Any) -> str:
    headers, body = start_of(sim, **changes)
    got = await client.request("POST", f"{PATH}?authuser=0", headers=headers, body=body)
    assert got.status == 200
    url: str = got.header("x-goog-upload-url")
    return url


async def step(client, url: str, command: str, body: bytes = b"", host: str = APP, **headers: str) -> Any:
    sent = {"origin": f"https://{host}", "x-goog-upload-command": command, "x-goog-upload-offset": "0", **headers}
    return await client.request("POST", url.removeprefix(f"https://{host}"), host=host, headers=sent, body=body)


async def test_a_start_gives_an_address_and_the_bytes_end_it(running) -> None:
    async with running() as (sim, client):
        told: list[Any] = []
        sim.service.uploaded = told.append
        headers, body = start_of(sim)
        got = await client.request("POST", f"{PATH}?authuser=0", headers=headers, body=body)
        (upload,) = sim.service.uploads.values()
        assert (got.status, got.body, got.header("content-type")) == (200, b"", "text/plain; charset=utf-8")
        url = f"https://{APP}/upload/_/?authuser=0&upload_id={upload.id}&upload_protocol=resumable"
        assert got.header("x-goog-upload-url") == got.header("x-goog-upload-control-url") == url
        assert got.header("x-goog-upload-status") == "active"
        assert got.header("x-goog-upload-chunk-granularity") == "262144"
        assert (upload.name, upload.source_id, upload.mime, upload.length) == ("notes.md", "S1", "text/markdown", 5)
        assert told == []

        done = await step(client, url, "upload, finalize", b"hello")
        assert (done.status, done.body, done.header("x-goog-upload-status")) == (200, DONE, "final")
        assert (upload.state, upload.digest.size, bytes(upload.digest.head)) == ("final", 5, b"hello")
        assert upload.digest.sha256 == hashlib.sha256(b"hello").hexdigest()
        assert told == [upload]
        assert (await step(client, url, "upload, finalize", b"hello")).status == 400
        assert (await step(client, url, "cancel")).status == 400
        assert told == [upload]


async def test_the_body_of_the_answer_is_the_recorded_one() -> None:
    assert DONE == b"OK: Enqueued blob bytes to spanner queue for processing."
    assert len(DONE) == 56


async def test_a_cancelled_upload_takes_no_bytes(running) -> None:
    async with running() as (sim, client):
        url = await started(sim, client)
        got = await step(client, url, "cancel")
        assert (got.status, got.header("x-goog-upload-status")) == (200, "cancelled")
        assert (await step(client, url, "upload, finalize", b"hello")).status == 400
        (upload,) = sim.service.uploads.values()
        assert (upload.state, upload.digest.size) == ("cancelled", 0)


async def test_bytes_may_be_wanted_on_another_host(running) -> None:
    async with running() as (sim, client):
        older = "notebooklm.google.com"
        sim.service.upload_host = older
        url = await started(sim, client)
        assert url.startswith(f"https://{older}/upload/_/?upload_id=")
        assert (
            await step(client, url, "upload, finalize", b"hello", origin=f"https://{APP}", host=older)
        ).status == 403
        assert (await step(client, url, "upload, finalize", b"hello", host=older)).status == 200


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"x_goog_upload_command": "begin"}, 400),
        ({"x_goog_upload_command": "query"}, 400),
        ({"x_goog_upload_protocol": "multipart"}, 400),
        ({"x_goog_upload_header_content_length": "many"}, 400),
        ({"x_goog_upload_header_content_type": "text/html"}, 400),
        ({"PROJECT_ID": "nobody's"}, 404),
        ({"SOURCE_NAME": ""}, 400),
        ({"SOURCE_ID": None}, 400),
        ({"EXTRA": "x"}, 400),
        ({"origin": "https://evil.example"}, 403),
    ],
)
async def test_a_start_of_another_form_is_refused(changes: dict[str, Any], status: int, running) -> None:
    async with running() as (sim, client):
        headers, body = start_of(sim, **changes)
        assert (await client.request("POST", f"{PATH}?authuser=0", headers=headers, body=body)).status == status
        assert (await client.request("POST", PATH, headers=headers, body=b"[]")).status in (400, 403)
        assert sim.service.uploads == {}


async def test_bytes_that_were_not_announced_are_refused(running) -> None:
    async with running() as (sim, client):
        url = await started(sim, client)
        assert (await step(client, url, "upload, finalize", b"hell")).status == 400
        assert (await step(client, url, "upload, finalize", b"hello", **{"x-goog-upload-offset": "1"})).status == 400
        assert (await step(client, f"https://{APP}{PATH}?upload_id=none", "upload, finalize", b"hello")).status == 404
        assert (await step(client, url, "upload, finalize", b"hello")).status == 200


async def test_an_upload_needs_the_session(running) -> None:
    async with running() as (sim, client):
        url = await started(sim, client)
        sim.service.sign_out()
        assert (await step(client, url, "upload, finalize", b"hello")).status == 401
        headers, body = start_of(sim)
        assert (await client.request("POST", PATH, headers=headers, body=body)).status == 401
    async with running(signed_in=False) as (sim, client):
        headers, body = start_of(sim)
        assert (await client.request("POST", PATH, headers=headers, body=body)).status == 401


async def test_faults_tell_the_steps_apart(running) -> None:
    async with running() as (sim, client):
        sim.faults.add(Fault(Kind.HTTP, FINALIZE, code=503), Fault(Kind.HTTP, START, code=429))
        headers, body = start_of(sim)
        assert (await client.request("POST", PATH, headers=headers, body=body)).status == 429
        url = await started(sim, client)
        assert (await step(client, url, "upload, finalize", b"hello")).status == 503
        sim.faults.add(Fault(Kind.HTTP, FINALIZE, code=500, commit=True))
        assert (await step(client, url, "upload, finalize", b"hello")).status == 500
        (upload,) = sim.service.uploads.values()
        assert upload.state == "final"


async def test_a_large_file_is_not_kept(running) -> None:
    async with running() as (sim, client):
        size, piece = 64_000_000, bytes(65_536)
        url = await started(sim, client, x_goog_upload_header_content_length=str(size))
        tracemalloc.start()
        try:
            async with client.line() as line:
                sent = {
                    **client.headers(APP, {"origin": f"https://{APP}", "x-goog-upload-command": "upload, finalize"}),
                    "x-goog-upload-offset": "0",
                    "content-length": str(size),
                }
                head = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
                target = url.removeprefix(f"https://{APP}")
                await line.stream.send_all(f"POST {target} HTTP/1.1\r\n{head}\r\n".encode())
                for at in range(0, size, len(piece)):
                    await line.stream.send_all(piece[: size - at])
                answer = await line.stream.receive_some(65_536)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert answer.startswith(b"HTTP/1.1 200")
        (upload,) = sim.service.uploads.values()
        assert (upload.digest.size, len(upload.digest.head)) == (size, Digest.KEPT)
        assert peak < 16_000_000


async def test_a_client_that_leaves_in_the_middle_leaves_the_upload_open(running) -> None:
    async with running() as (sim, client):
        url = await started(sim, client, x_goog_upload_header_content_length="1000000")
        (upload,) = sim.service.uploads.values()
        async with client.line() as line:
            sent = client.headers(APP, {"origin": f"https://{APP}", "x-goog-upload-command": "upload, finalize"})
            head = "".join(f"{name}: {value}\r\n" for name, value in {**sent, "content-length": "1000000"}.items())
            await line.stream.send_all(f"POST {url.removeprefix(f'https://{APP}')} HTTP/1.1\r\n{head}\r\n".encode())
            await line.stream.send_all(bytes(1000))
            with trio.fail_after(10):
                while upload.digest.size < 1000:
                    await trio.lowlevel.checkpoint()
        assert upload.state == "active"
        assert (await step(client, url, "cancel")).header("x-goog-upload-status") == "cancelled"
