"""The media hosts: redirects, who may have what, and bodies that are made as they are sent."""

from __future__ import annotations

import hashlib
import io
from urllib.parse import urlsplit

import pytest

from nlm_cdp import media as types
from nlm_cdp.sim.media import DOWNLOAD, IMAGES, PATHS, STARTS, VIDEO, Media

pytestmark = pytest.mark.realtime


async def get(client, url: str):
    parts = urlsplit(url)
    return await client.request("GET", f"{parts.path}?{parts.query}", host=parts.hostname)


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_file_is_behind_its_redirects(chunked: bool, running) -> None:
    async with running() as (sim, client):
        media = sim.service.add_media("video/mp4", 300_000, hops=(DOWNLOAD, IMAGES, VIDEO), chunked=chunked)
        assert [urlsplit(media.url(hop)).hostname for hop in range(3)] == [DOWNLOAD, IMAGES, VIDEO]
        url = media.url()
        for hop in (1, 2):
            got = await get(client, url)
            assert (got.status, got.header("location")) == (302, media.url(hop))
            url = got.header("location")
        got = await get(client, url)
        assert (got.status, got.header("content-type"), len(got.body)) == (200, "video/mp4", 300_000)
        assert got.header("content-length") == (None if chunked else "300000")
        assert hashlib.sha256(got.body).hexdigest() == media.sha256


async def test_the_first_host_wants_the_session_and_the_others_the_key(running) -> None:
    async with running(signed_in=False) as (sim, client):
        media = sim.service.add_media("audio/mp4", 100)
        assert "accounts.google.com" in (await get(client, media.url())).header("location")
        assert (await get(client, media.url(1))).status == 200
        assert (await get(client, media.url(1).replace(media.key, "guessed"))).status == 403
        assert (await get(client, f"https://{IMAGES}{PATHS[IMAGES]}?id=none")).status == 404
        assert (await get(client, f"https://{VIDEO}{PATHS[VIDEO]}?id={media.id}&key={media.key}")).status == 404
        assert (await get(client, f"https://{IMAGES}/elsewhere?id={media.id}&key={media.key}")).status == 404


async def test_a_redirect_may_lead_anywhere(running) -> None:
    async with running() as (sim, client):
        for away in ("https://evil.example/x", "http://lh3.googleusercontent.com/x", "file:///etc/passwd"):
            media = sim.service.add_media("audio/mp4", 100, hops=(DOWNLOAD, away))
            assert (await get(client, media.url())).header("location") == away


@pytest.mark.parametrize("size", [0, 1, 30, 100, 65_536, 200_001])
@pytest.mark.parametrize("mime", [*STARTS, "text/csv"])
def test_the_bytes_have_the_size_and_look_like_their_kind(mime: str, size: int) -> None:
    media = Media("id", "key", mime, size)
    made = b"".join(media.pieces())
    if size >= 100:
        assert len(made) == size
        assert types.sniff(made) == (mime if mime in STARTS else None)
        assert types.has_its_end(io.BytesIO(made), mime) is (True if mime in STARTS else None)
    if mime == "text/csv":
        assert len(made) == size


async def test_given_bytes_are_sent_as_they_are(running) -> None:
    async with running() as (sim, client):
        media = sim.service.add_media("text/plain", content=b"\0\xff exactly")
        assert (await get(client, media.url(1))).body == b"\0\xff exactly"
        assert media.size == 10
