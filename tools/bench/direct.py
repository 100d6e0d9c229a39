"""The way other clients work: cookies in a jar, tokens cut out of the app page, HTTP from this process."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from typing import Any

import httpcore
import httpx

from nlm_cdp.wire import batchexecute
from nlm_cdp.wire import page as app
from nlm_cdp.wire.pblite import Row

ORIGIN = f"https://{app.APP_HOSTS[0]}"


class Loopback(httpcore.SyncBackend):
    """Leads every host to the simulator, as the browser's flags do."""

    def __init__(self, port: int) -> None:
        self.port = port

    def connect_tcp(self, host: str, port: int, *args: Any, **more: Any) -> httpcore.NetworkStream:
        return super().connect_tcp("127.0.0.1", self.port, *args, **more)


class Direct:
    def __init__(self, about: dict[str, Any]) -> None:
        transport = httpx.HTTPTransport(verify=ssl.create_default_context(cafile=about["ca"]))
        transport._pool._network_backend = Loopback(about["port"])  # noqa: SLF001  (httpx has no other way in)
        headers = {"origin": ORIGIN, "sec-fetch-site": "same-origin", "content-type": batchexecute.CONTENT_TYPE}
        self.client = httpx.Client(transport=transport, headers=headers, timeout=120, follow_redirects=True)
        page = self.client.get(f"{ORIGIN}/").text
        self.token = app.value(page, app.TOKEN) or ""
        self.query = {"bl": app.value(page, app.BUILD) or "", "f.sid": app.value(page, app.SESSION_ID) or ""}

    def post(self, path: str, query: dict[str, str], f_req: str) -> httpx.Request:
        url = httpx.URL(f"{ORIGIN}{path}", params=query | self.query)
        return self.client.build_request("POST", url, content=batchexecute.form(f_req, self.token))

    def call(self, rpc: str, row: Row, source_path: str = "/") -> Any:
        """The row that a call is answered with."""
        f_req = batchexecute.f_req([batchexecute.Call(rpc, row)])
        answer = self.client.send(self.post(batchexecute.PATH, batchexecute.query([rpc], source_path, 1), f_req))
        answer.raise_for_status()
        return batchexecute.read_replies(answer.content).of(rpc).row

    def first_chunk(self, row: Row) -> None:
        """Until an answer's first frame with text is there; the rest is left."""
        request = self.post(batchexecute.CHAT_PATH, {"rt": "c"}, batchexecute.chat_f_req(row))
        answer = self.client.send(request, stream=True)
        for line in answer.iter_lines():
            if line.startswith("[") and "wrb.fr" in line:
                break
        answer.close()

    def upload(self, notebook: str, source: str, size: int, pieces: Iterator[bytes]) -> None:
        body = json.dumps(dict(zip(batchexecute.UPLOAD_FIELDS, (notebook, "big.txt", source), strict=True)))
        headers = {
            "x-goog-upload-command": "start",
            "x-goog-upload-protocol": "resumable",
            "x-goog-upload-header-content-length": str(size),
            "x-goog-upload-header-content-type": "text/plain",
        }
        url = f"{ORIGIN}{batchexecute.UPLOAD_PATH}?authuser=0"
        started = self.client.post(url, content=body, headers=headers).raise_for_status()
        headers = {"x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "0"}
        self.client.post(started.headers["x-goog-upload-url"], content=pieces, headers=headers).raise_for_status()

    def download(self, url: str) -> int:
        with self.client.stream("GET", url) as answer:
            answer.raise_for_status()
            return sum(len(piece) for piece in answer.iter_bytes(1 << 20))
