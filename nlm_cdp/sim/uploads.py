"""Resumable uploads: a start names the file and gets an address; its bytes go there at once, or a cancel ends it.

Of a file only size, hash and beginning are kept (`records.Upload`), so that memory stays flat whatever is sent. What a
finished upload does to its source is up to `Service.uploaded`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from nlm_cdp.sim.http import Digest, Request, Response
from nlm_cdp.sim.pages import text
from nlm_cdp.sim.records import Upload

if TYPE_CHECKING:
    from nlm_cdp.sim.state import Service

PATH = "/upload/_/"
START, FINALIZE, CANCEL = "upload start", "upload finalize", "upload cancel"
"""What a fault calls the three steps."""

COMMANDS = {"start": START, "upload, finalize": FINALIZE, "cancel": CANCEL}
HTML = ("text/html", "application/xhtml+xml")
DONE = b"OK: Enqueued blob bytes to spanner queue for processing."
FIELDS = ("PROJECT_ID", "SOURCE_NAME", "SOURCE_ID")


def step(request: Request) -> str | None:
    """Which step of an upload a request is, if any."""
    if request.method != "POST" or request.path != PATH:
        return None
    return COMMANDS.get(request.headers.get("x-goog-upload-command", ""))


def receive(service: Service, request: Request) -> Digest | None:
    """Where the bytes of a file go as they arrive."""
    if step(request) != FINALIZE:
        return None
    digest = Digest(service.upload_pace)
    if (upload := service.uploads.get(request.query.get("upload_id", ""))) is not None and upload.state == "active":
        upload.digest = digest
    return digest


def answer(service: Service, request: Request) -> Response:
    """The answer to one step of a browser that is signed in."""
    if step(request) == START:
        return start(service, request)
    upload = service.uploads.get(request.query.get("upload_id", ""))
    if upload is None:
        return text(404, "Not found (simulated): no such upload.")
    if upload.state != "active":
        return text(400, f"Bad request (simulated): the upload is {upload.state}.")
    return cancel(upload) if step(request) == CANCEL else finalize(service, upload, request)


def start(service: Service, request: Request) -> Response:
    authuser = request.query.get("authuser", "0")
    account = service.account(authuser)
    named = named_file(request.body)
    length = request.headers.get("x-goog-upload-header-content-length", "")
    mime = request.headers.get("x-goog-upload-header-content-type", "")
    if request.headers.get("x-goog-upload-protocol") != "resumable" or named is None or not length.isdecimal():
        return text(400, "Bad request (simulated).")
    if account is None or named["PROJECT_ID"] not in account.notebooks:
        return text(404, "Not found (simulated): no such notebook.")
    if mime in HTML:
        return text(400, "Bad request (simulated): this type of file is not taken.")
    upload = Upload(
        service.opaque(48), authuser, named["PROJECT_ID"], named["SOURCE_ID"], named["SOURCE_NAME"], mime, int(length)
    )
    service.uploads[upload.id] = upload
    host = service.upload_host or request.host
    query = {"authuser": authuser} if host == request.host else {}
    url = f"https://{host}{PATH}?" + urlencode({**query, "upload_id": upload.id, "upload_protocol": "resumable"})
    headers = [
        ("content-type", "text/plain; charset=utf-8"),
        ("x-guploader-uploadid", upload.id),
        ("x-goog-upload-chunk-granularity", "262144" if host == request.host else "1048576"),
        ("x-goog-upload-control-url", url),
        ("x-goog-upload-status", "active"),
        ("x-goog-upload-url", url),
    ]
    return Response(200, headers)


def named_file(body: bytes) -> dict[str, str] | None:
    """What the start says of the file: three texts and nothing else."""
    try:
        said: Any = json.loads(body)
    except ValueError:
        return None
    if not isinstance(said, dict) or set(said) != set(FIELDS):
        return None
    return said if all(isinstance(value, str) and value for value in said.values()) else None


def finalize(service: Service, upload: Upload, request: Request) -> Response:
    if request.headers.get("x-goog-upload-offset") != "0" or upload.digest.size != upload.length:
        return text(400, "Bad request (simulated): these are not the bytes that were announced.")
    upload.state = "final"
    service.uploaded(upload)
    headers = [("content-type", "text/html; charset=UTF-8"), ("x-goog-upload-status", "final")]
    return Response(200, headers, DONE)


def cancel(upload: Upload) -> Response:
    upload.state = "cancelled"
    return Response(200, [("content-type", "text/plain; charset=utf-8"), ("x-goog-upload-status", "cancelled")])
