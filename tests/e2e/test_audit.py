"""The record of a real session: every request that the service saw, and nothing of what was in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from nlm_cdp.sim.faults import Fault, Kind
from tests.e2e.world import in_chromium, world

pytestmark = in_chromium
CANARY = "canary7f3"


def rows(tmp_path: Path) -> list[dict[str, object]]:
    return [json.loads(text) for text in (tmp_path / "data/audit.jsonl").read_text().splitlines()]


async def test_every_request_is_on_record_and_no_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "files"
    root.mkdir()
    (root / f"{CANARY}.md").write_text(f"# {CANARY}\n\nThe lamp is lit at sunset.")
    async with world(tmp_path, monkeypatch, files_root=root) as there:
        owner = there.service.service.owner
        owner.email = f"{CANARY}@example.com"
        made = await there.call("create_notebook", title=f"{CANARY} title")
        notebook = made["notebook"]["id"]
        await there.call("add_source", notebook=notebook, content=f"{CANARY}: the horn sounds.", title=CANARY)
        await there.call("add_source", notebook=notebook, type="file", content=f"{CANARY}.md")
        asked = await there.call("ask_question", notebook=notebook, question=f"{CANARY}: when does the horn sound?")
        assert CANARY in str(asked)
        await there.call("create_note", notebook=notebook, title=CANARY, content=CANARY)
        await there.call("generate_artifact", type="audio", notebook=notebook, wait=True)
        await there.call("download_artifact", type="audio", notebook=notebook)
        await there.call("get_account")
        there.service.faults.add(Fault(Kind.HTTP, "CCqFvf", code=503))
        await there.fails("create_notebook", title=CANARY)
        await there.fails("get_notebook", notebook=f"{CANARY} is no notebook")
        secrets = [CANARY, owner.email, owner.token, there.service.service.cookie]
        seen = Counter(rpc for logged in there.service.requests for rpc in logged.rpc_ids)
    for path in (tmp_path / "data").rglob("*"):
        if path.is_file():
            held = path.read_bytes()
            assert [secret for secret in secrets if secret.encode() in held] == [], path.name

    record = rows(tmp_path)
    calls = Counter(row["rpc"] for row in record)
    assert {rpc: calls[rpc] for rpc in seen} == dict(seen)
    assert (calls["upload"], calls["download"]) == (1, 1)
    assert all(row["tool"] for row in record)
    created = [row for row in record if row["rpc"] == "CCqFvf"]
    assert [(row["outcome"], row["status"], row["code"]) for row in created] == [
        ("ok", 200, None),
        ("unknown", 503, "SERVICE"),
    ]
    (up,) = [row for row in record if row["rpc"] == "upload"]
    assert (up["notebook"], up["sent"]) == (notebook, (root / f"{CANARY}.md").stat().st_size)
    (down,) = [row for row in record if row["rpc"] == "download"]
    assert down["received"] == next(path for path in root.iterdir() if path.suffix == ".m4a").stat().st_size
    chat = [row for row in record if row["tool"] == "ask_question" and row["effect"] != "read"]
    assert chat
    assert all(row["received"] for row in chat)

    environ = {**os.environ, "NLM_CDP_DATA_DIR": str(tmp_path / "data")}
    said = subprocess.run(  # noqa: ASYNC221
        [sys.executable, "-m", "nlm_cdp.cli", "audit"], capture_output=True, text=True, env=environ, check=True
    )
    assert "create_notebook" in said.stdout
    assert "unknown  SERVICE" in said.stdout


async def test_it_is_off_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLM_CDP_AUDIT", "0")
    async with world(tmp_path, monkeypatch) as there:
        await there.call("list_notebooks")
    assert not (tmp_path / "data/audit.jsonl").exists()


async def test_what_cannot_be_written_fails_no_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data/audit.jsonl").mkdir(parents=True)
    async with world(tmp_path, monkeypatch) as there:
        assert (await there.call("list_notebooks"))["total"] == 1


def test_the_demo_writes_nothing(tmp_path: Path) -> None:
    environ = {**os.environ, "NLM_CDP_DATA_DIR": str(tmp_path / "data")}
    command = [sys.executable, "-m", "nlm_cdp.cli", "call", "--demo", "list_notebooks"]
    done = subprocess.run(command, capture_output=True, env=environ, check=False)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "data").exists()
