"""Files up and down through real Chromium, as tools."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from nlm_cdp.sim.faults import Fault, Kind
from tests.e2e.world import in_chromium, world

pytestmark = in_chromium


async def test_a_file_becomes_a_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "files"
    root.mkdir()
    (root / "スクリーン 🧪.md").write_text("# Lamps\n\nThe lamp is lit at sunset 🧪.", encoding="utf-8")
    async with world(tmp_path, monkeypatch, files_root=root) as there:
        added = await there.call("add_source", type="file", content="スクリーン 🧪.md", notebook="About", title="Lamps")
        assert [(row["title"], row["status"], row["kind"]) for row in added["sources"]] == [
            ("Lamps", "ready", "markdown")
        ]
        assert added["title_override_applied"]
        content = await there.call("get_source_content", source="Lamps", notebook="About")
        assert "lit at sunset 🧪" in content["content"]
        outside = await there.fails("add_source", type="file", content="/etc/passwd", notebook="About")
        assert outside.code == "FILE_REFUSED"
        assert there.sent("o4cbdc") == 1


async def test_a_refused_upload_leaves_no_stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "files"
    root.mkdir()
    (root / "notes.md").write_text("# Notes")
    async with world(tmp_path, monkeypatch, files_root=root) as there:
        before = (await there.call("list_sources", notebook="About"))["total"]
        there.service.faults.add(Fault(Kind.HTTP, "upload start", code=413))
        error = await there.fails("add_source", type="file", content="notes.md", notebook="About")
        assert error.code == "INVALID_ARGUMENT"
        assert (await there.call("list_sources", notebook="About"))["total"] == before


async def test_artifacts_become_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "files"
    async with world(tmp_path, monkeypatch, files_root=root) as there:
        made = await there.call("generate_artifact", type="audio", notebook="About", wait=True)
        assert made["artifact"]["status"] == "ready", made
        saved = await there.call("download_artifact", type="audio", notebook="About")
        path = Path(saved["file_path"])
        assert path.parent == root
        assert path.suffix == ".m4a"
        assert saved["mime_type"] == "audio/mp4"
        assert (path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest()) == (
            saved["size_bytes"],
            saved["sha256"],
        )
        again = await there.fails("download_artifact", type="audio", notebook="About")
        assert again.code == "FILE_REFUSED"
        await there.call("download_artifact", type="audio", notebook="About", overwrite=True)
        wrong = await there.fails("download_artifact", type="audio", notebook="About", path="audio.mp3")
        assert wrong.code == "INVALID_ARGUMENT"
        escape = await there.fails("download_artifact", type="audio", notebook="About", destination_dir="../..")
        assert escape.code == "FILE_REFUSED"

        await there.call("generate_artifact", type="report", notebook="About", wait=True)
        report = await there.call("download_artifact", type="report", notebook="About", path="sub/report")
        assert Path(report["file_path"]).name == "report.md"
        assert "simulat" in Path(report["file_path"]).read_text(encoding="utf-8").lower()
        assert not list(root.rglob("*.part"))
