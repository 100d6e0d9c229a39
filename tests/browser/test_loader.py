"""Which addresses a download may touch, judged without a browser; the hops themselves are in test_transfer.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio

from nlm_cdp.browser.account import Place
from nlm_cdp.browser.loader import check_hop, first_of
from nlm_cdp.browser.transfer import download
from nlm_cdp.errors import Drift, Network, Service

HERE = Place("https://notebook.google.com", None, None)


@pytest.mark.parametrize(
    "url",
    [
        "https://contribution.usercontent.google.com/download?id=x",
        "https://lh3.googleusercontent.com/notebooklm/x=m140?authuser=0",
        "https://LH3.GoogleUserContent.com:443/x",
        "https://storage.googleapis.com/x",
        "https://rr3---sn-4g5e6nsz.googlevideo.com/videoplayback?x",
        "https://accounts.google.com/ServiceLogin",
    ],
)
def test_https_on_the_media_hosts_is_followed(url: str) -> None:
    check_hop(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://lh3.googleusercontent.com/x",
        "https://user@lh3.googleusercontent.com/x",
        "https://lh3.googleusercontent.com@evil.example/x",
        "https://evil.example\\@lh3.googleusercontent.com/x",
        "https://lh3.googleusercontent.com\\.evil.example/x",
        "https://lh3.googleusercontent.com.evil.example/x",
        "https://evilgoogle.com/x",
        "https://evil.example/.google.com/x",
        "https://evil.example?.google.com",
        "https://evil.example#.google.com",
        "https://lh3.googleusercontent.com:8443/x",
        "https://lh3.googleusercontent.com:x/",
        "https://127.0.0.1/x",
        "https:///x",
        "https://[::1",
        "//lh3.googleusercontent.com/x",
        "file:///etc/passwd",
        "chrome://settings",
        "javascript:1",
        "",
    ],
)
async def test_any_other_address_is_refused_before_anything_happens(url: str, tmp_path: Path) -> None:
    async def progress(_: int, __: int | None) -> None:
        pytest.fail("nothing is loaded")

    nobody: Any = None
    with pytest.raises(Drift):
        await download(nobody, HERE, url, tmp_path / "out", overwrite=False, progress=progress, timeout=1)
    assert list(tmp_path.iterdir()) == []


async def test_the_step_that_ends_first_decides() -> None:
    ended: list[str] = []

    async def soon() -> str:
        await trio.sleep(1)
        return "soon"

    async def never() -> str:
        try:
            await trio.sleep_forever()
        finally:
            ended.append("never")
        return "never"

    async def fails() -> str:
        raise Network("no")

    assert await first_of(soon, never) == "soon"
    assert ended == ["never"]
    with pytest.raises(Network):
        await first_of(fails, never)

    async def late() -> str:
        await trio.sleep(1)
        raise Service("too late")

    with pytest.raises((Network, Service)):
        await first_of(late, fails)
    with trio.move_on_after(1) as scope:
        await first_of(never, never)
    assert scope.cancelled_caught
