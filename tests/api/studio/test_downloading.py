"""Artifacts as files, over a scripted page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nlm_cdp.api.notes import notes
from nlm_cdp.api.studio import studio
from nlm_cdp.errors import NlmError, NotReady, Permission, RateLimited, Service
from tests.api.studio.test_studio import AUDIO, PENDING, REPORT, URL, row
from tests.fakes import NB, START, Bench, FakeFiles


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench()
    bench.store.active = NB
    bench.files = FakeFiles(tmp_path)
    bench.caller.script(studio.LIST, [[AUDIO, REPORT]])
    bench.caller.script(notes.LIST, [None, [START]])
    return bench


async def test_the_download_address_is_taken_first(bench: Bench, tmp_path: Path) -> None:
    saved = await bench.call("download_artifact", type="audio")
    assert bench.caller.browser == [f"download {URL}-dv"]
    assert saved["file_path"] == str(tmp_path / "An artifact.m4a")
    assert (saved["mime_type"], saved["size_bytes"]) == ("audio/mp4", 4)
    assert "An artifact.m4a: 4 of 4 bytes" in bench.progress


@pytest.mark.parametrize("trouble", [NotReady("404"), Permission("403"), Service("html")])
async def test_another_address_is_tried(bench: Bench, trouble: NlmError) -> None:
    bench.caller.transfers = [trouble, None]
    await bench.call("download_artifact", type="audio")
    assert bench.caller.browser == [f"download {URL}-dv", f"download {URL}"]


async def test_fresh_media_are_waited_for(bench: Bench) -> None:
    bench.caller.transfers = [NotReady("404")] * 4 + [None]
    await bench.call("download_artifact", type="audio")
    assert len(bench.caller.browser) == 5
    assert len(bench.caller.sent(studio.LIST)) == 3


async def test_media_that_never_come_are_an_error(bench: Bench) -> None:
    bench.caller.transfers = [NotReady("404")] * 20
    error = await bench.fails("download_artifact", type="audio")
    assert error.code == "NOT_READY"
    assert len(bench.caller.browser) == 8


async def test_what_another_address_cannot_mend_ends_it(bench: Bench) -> None:
    bench.caller.transfers = [RateLimited("slowly")]
    assert (await bench.fails("download_artifact", type="audio")).code == "RATE_LIMITED"
    assert len(bench.caller.browser) == 1


async def test_a_text_is_written_without_the_browser(bench: Bench, tmp_path: Path) -> None:
    saved = await bench.call("download_artifact", artifact="Study Guide", destination_dir="sub")
    assert (tmp_path / "sub" / "Study Guide.md").read_text() == "# Fog\n\nHorns."
    assert (saved["mime_type"], saved["size_bytes"], bench.caller.browser) == ("text/markdown", 13, [])
    error = await bench.fails("download_artifact", artifact="Study Guide", destination_dir="sub")
    assert error.code == "FILE_REFUSED"
    await bench.call("download_artifact", artifact="Study Guide", destination_dir="sub", overwrite=True)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "INVALID_ARGUMENT"),
        ({"type": "audio", "artifact": "x"}, "INVALID_ARGUMENT"),
        ({"type": "audio", "path": "a.m4a", "destination_dir": "b"}, "INVALID_ARGUMENT"),
        ({"type": "audio", "format": "mp3"}, "INVALID_ARGUMENT"),
        ({"type": "audio", "path": "a.mp3"}, "INVALID_ARGUMENT"),
        ({"type": "audio", "path": "../a.m4a"}, "FILE_REFUSED"),
        ({"type": "audio", "path": "/etc/a.m4a"}, "FILE_REFUSED"),
        ({"type": "video"}, "NOT_FOUND"),
        ({"artifact": "Nothing"}, "NOT_FOUND"),
    ],
)
async def test_what_is_refused_is_refused_before_anything_is_fetched(
    bench: Bench, arguments: dict[str, Any], code: str
) -> None:
    assert (await bench.fails("download_artifact", **arguments)).code == code
    assert bench.caller.browser == []


@pytest.mark.parametrize("title", ["../../evil", "CON", "a/b:c*?", "\u202egpj.exe", "x" * 400])
async def test_a_title_cannot_choose_the_folder(bench: Bench, tmp_path: Path, title: str) -> None:
    bench.caller.script(studio.LIST, [[row("a" * 8, 2, title=title, _8=["# Fog"])]])
    saved = Path((await bench.call("download_artifact", type="report"))["file_path"])
    assert saved.parent == tmp_path
    assert saved.is_file()


async def test_what_is_not_ready_is_not_fetched_unless_waited_for(bench: Bench) -> None:
    bench.caller.script(studio.LIST, [[PENDING]], [[PENDING]], [[AUDIO]])
    error = await bench.fails("download_artifact", type="audio")
    assert (error.code, error.state) == ("NOT_READY", "pending")
    assert (await bench.call("download_artifact", type="audio", wait=True))["artifact"]["status"] == "ready"
