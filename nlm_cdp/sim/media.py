"""Media hosts: finished files behind redirects, made as they are sent, of any size.

The first host wants the session cookie, as the service's own does; every host after it takes the key in its address
instead, since cookies of google.com do not reach it.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

import trio

from nlm_cdp.sim.http import Request, Response, Sized

DOWNLOAD, IMAGES, VIDEO = "contribution.usercontent.google.com", "lh3.googleusercontent.com", "rr1.googlevideo.com"
PATHS = {DOWNLOAD: "/download", IMAGES: "/notebooklm/media", VIDEO: "/videoplayback"}
BLOCK = 65_536
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
MDAT = 16  # bytes of the header of the one box that has everything
STARTS = {
    "application/pdf": b"%PDF-1.7\n%simulated\n",
    PPTX: b"PK\x03\x04\x14\0\0\0\0\0\0\0!\0" + bytes(12) + b"\x14\0\0\0ppt/presentation.xml",
    "audio/mp4": b"\0\0\0\x18ftypM4A \0\0\0\0M4A isom",
    "image/png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "video/mp4": b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom",
}
ENDS = {"application/pdf": b"\n%%EOF\n", PPTX: b"PK\x05\x06" + bytes(18), "image/png": b"\0\0\0\0IEND\xaeB`\x82"}
"""What files of a kind begin and end with; nothing can play or show what is between."""


@dataclass(frozen=True, slots=True)
class Media:
    """One file. `hops`: the hosts it is led over, the last of which has it, or whole addresses elsewhere.

    `chunked`: sent without a content length, and then with `pace` seconds before each block. `content`: the bytes
    themselves, where they matter.
    """

    id: str
    key: str
    mime: str
    size: int
    hops: tuple[str, ...] = (DOWNLOAD, IMAGES)
    chunked: bool = False
    content: bytes | None = None
    pace: float = 0

    def url(self, hop: int = 0) -> str:
        host = self.hops[hop]
        if host not in PATHS:
            return host
        query = {"id": self.id} if host == DOWNLOAD else {"id": self.id, "key": self.key}
        return f"https://{host}{PATHS[host]}?{urlencode(query)}"

    def pieces(self) -> Iterator[bytes]:
        """The bytes: numbered blocks between what files of the kind begin and end with."""
        if self.content is not None:
            yield self.content
            return
        start, end = STARTS.get(self.mime, b""), ENDS.get(self.mime, b"")
        if start[4:8] == b"ftyp":
            start += b"\0\0\0\x01mdat" + max(MDAT, self.size - len(start)).to_bytes(8)
        yield start[: self.size]
        for number, at in enumerate(range(len(start), self.size - len(end), BLOCK)):
            block = f"{self.id} {number:08d}\n".encode()
            yield (block * (BLOCK // len(block) + 1))[: min(BLOCK, self.size - len(end) - at)]
        yield end[: max(0, self.size - len(start))]

    async def stream(self) -> AsyncGenerator[bytes, None]:
        for piece in self.pieces():
            await trio.sleep(self.pace)
            yield piece

    @property
    def sha256(self) -> str:
        digest = hashlib.sha256()
        for piece in self.pieces():
            digest.update(piece)
        return digest.hexdigest()


PLAIN = [("content-type", "text/plain; charset=utf-8")]


def answer(media: Media | None, request: Request, *, signed_in: bool, sign_in: str) -> Response:
    """A redirect to the next host, or the file; `sign_in` is where a browser without the cookie is sent."""
    if media is None or request.host not in media.hops or request.path != PATHS[request.host]:
        return Response(404, list(PLAIN), b"Not found (simulated).")
    if request.host == DOWNLOAD and not signed_in:
        return Response(302, [*PLAIN, ("location", sign_in)])
    if request.host != DOWNLOAD and request.query.get("key") != media.key:
        return Response(403, list(PLAIN), b"Forbidden (simulated).")
    hop = media.hops.index(request.host)
    if hop + 1 < len(media.hops):
        return Response(302, [*PLAIN, ("location", media.url(hop + 1))])
    headers = [("content-type", media.mime), ("content-disposition", "attachment")]
    return Response(200, headers, media.stream() if media.chunked else Sized(media.pieces, media.size))
