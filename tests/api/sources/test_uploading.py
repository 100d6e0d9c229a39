"""Local files as sources, over a scripted page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.sources import sources, uploading
from nlm_cdp.errors import InvalidArgument, Network, NlmError, Outcome
from tests.fakes import NB, S1, S2, Bench, FakeFiles, lost, notebook, refused, source


def bench_with(tmp_path: Path, *rows: Any, registered: Any = None) -> Bench:
    bench = Bench()
    bench.files = FakeFiles(tmp_path)
    bench.caller.script(notebooks.GET, [notebook(NB)], *([notebook(NB, sources=tuple(part))] for part in rows))
    stub = [[S1], "notes.md", [None, None, None, None, 0]]
    bench.caller.script(uploading.REGISTER, registered if registered is not None else [[stub], None, [[stub]]])
    (tmp_path / "notes.md").write_text("# Notes")
    return bench


async def test_a_file_is_registered_sent_and_read_back(tmp_path: Path) -> None:
    bench = bench_with(tmp_path, [source(S1, "notes.md", kind=8)])
    added = await bench.call("add_source", type="file", content="notes.md", notebook=NB)
    assert [row["id"] for row in added["sources"]] == [S1]
    assert bench.caller.browser == [f"upload notes.md as text/markdown for {S1}"]
    (request,) = bench.caller.sent(uploading.REGISTER)
    assert request.names == ["notes.md"]
    assert "notes.md: 7 of 7 bytes sent" in bench.progress


async def test_a_failed_file_is_reported_at_the_first_look(tmp_path: Path) -> None:
    bench = bench_with(tmp_path, [source(S1, "notes.md", kind=3, status=3)])
    added = await bench.call("add_source", type="file", content="notes.md", notebook=NB)
    assert added["sources"][0]["status"] == "error"
    assert len(bench.caller.sent(notebooks.GET)) == 3


@pytest.mark.parametrize("name", ["missing.md", "../notes.md", "page.html", "no-extension", "data.exe"])
async def test_what_cannot_go_up_is_refused_before_anything_is_sent(tmp_path: Path, name: str) -> None:
    bench = bench_with(tmp_path)
    (tmp_path / "page.html").write_text("<p>")
    (tmp_path / "no-extension").write_text("x")
    (tmp_path / "data.exe").write_text("x")
    error = await bench.fails("add_source", type="file", content=name, notebook=NB)
    assert error.code in ("FILE_REFUSED", "INVALID_ARGUMENT")
    assert bench.caller.requests == []
    assert bench.caller.browser == []


async def test_the_stub_of_a_refused_upload_is_removed(tmp_path: Path) -> None:
    bench = bench_with(tmp_path)
    bench.caller.script(sources.DELETE, [])
    bench.caller.transfers = [InvalidArgument("too large", outcome=Outcome.REJECTED)]
    error = await bench.fails("add_source", type="file", content="notes.md", notebook=NB)
    assert error.code == "INVALID_ARGUMENT"
    assert "Nothing was added" in error.message
    assert [request.source_ids for request in bench.caller.sent(sources.DELETE)] == [[S1]]


async def test_a_stub_that_cannot_be_removed_is_named(tmp_path: Path) -> None:
    bench = bench_with(tmp_path)
    bench.caller.script(sources.DELETE, refused(7))
    bench.caller.transfers = [InvalidArgument("too large", outcome=Outcome.REJECTED)]
    error = await bench.fails("add_source", type="file", content="notes.md", notebook=NB)
    assert error.details["source_id"] == S1
    assert "could not be removed" in error.message


async def test_a_stub_that_may_have_the_file_stays_and_is_named(tmp_path: Path) -> None:
    bench = bench_with(tmp_path)
    bench.caller.transfers = [Network("cut", outcome=Outcome.UNKNOWN)]
    error = await bench.fails("add_source", type="file", content="notes.md", notebook=NB)
    assert (error.outcome, error.details["source_id"]) == (Outcome.UNKNOWN, S1)


@pytest.mark.parametrize("doubt", [refused(3), refused(9), lost()])
async def test_a_registration_in_doubt_is_looked_for(tmp_path: Path, doubt: NlmError) -> None:
    stub = source(S2, "notes.md", kind=0, status=1)
    bench = bench_with(tmp_path, [], [stub], [stub], [source(S2, "notes.md", kind=8)], registered=doubt)
    added = await bench.call("add_source", type="file", content="notes.md", notebook=NB)
    assert added["sources"][0]["id"] == S2
    assert bench.caller.browser == [f"upload notes.md as text/markdown for {S2}"]


async def test_a_registration_that_did_not_happen_sends_no_bytes(tmp_path: Path) -> None:
    bench = bench_with(tmp_path, [], registered=refused(3))
    error = await bench.fails("add_source", type="file", content="notes.md", notebook=NB)
    assert "no such source is there" in error.message
    assert bench.caller.browser == []


async def test_a_registration_in_doubt_that_cannot_be_looked_for_stays_in_doubt(tmp_path: Path) -> None:
    bench = bench_with(tmp_path, [], registered=lost())
    bench.caller.script(notebooks.GET, [notebook(NB)], refused(13))
    error = await bench.fails("add_source", type="file", content="notes.md", notebook=NB)
    assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", Outcome.UNKNOWN)
    assert "could not be read afterwards" in error.message
    assert bench.caller.browser == []


@pytest.mark.parametrize("row", [[[["notes.md"]]], [], [[]]])
async def test_a_registration_without_an_id_sends_no_bytes(tmp_path: Path, row: list[Any]) -> None:
    bench = bench_with(tmp_path, registered=row)
    error = await bench.fails("add_source", type="file", content="notes.md", notebook=NB)
    assert error.code == "DRIFT"
    assert bench.caller.browser == []


async def test_several_files_each_tell_their_own(tmp_path: Path) -> None:
    bench = bench_with(tmp_path, [source(S1, "notes.md", kind=8)])
    (tmp_path / "more.md").write_text("# More")
    bench.caller.script(sources.DELETE, [])
    bench.caller.transfers = [None, InvalidArgument("refused", outcome=Outcome.REJECTED)]
    added = await bench.call("add_source", type="file", content=["notes.md", "more.md"], notebook=NB)
    assert len(added["sources"]) == 1
    assert [failed["code"] for failed in added["failed"]] == ["INVALID_ARGUMENT"]


async def test_without_a_root_nothing_is_read(tmp_path: Path) -> None:
    from nlm_cdp.local.files import Roots

    bench = bench_with(tmp_path)
    bench.files.roots = Roots()
    error = await bench.fails("add_source", type="file", content=str(tmp_path / "notes.md"), notebook=NB)
    assert error.code == "FILE_REFUSED"
    assert "--files-root" in error.hint
