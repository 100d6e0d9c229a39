"""Resources read by an MCP client, through a real Chromium."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from nlm_cdp.mcp.server import server_of
from tests.e2e.world import in_chromium, world

pytestmark = in_chromium


async def test_what_a_client_can_attach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there, Client(server_of(there.application), mode="auto") as client:

        async def read(uri: str) -> Any:
            (contents,) = (await client.read_resource(uri)).contents
            return contents

        notebook = there.service.service.owner.recent()[0]
        source = next(iter(notebook.sources.values()))
        await client.list_resources()
        await client.list_resource_templates()
        await client.list_prompts()
        assert json.loads((await read("notebooklm://library")).text)["entries"] == []
        assert len(there.service.requests) == 0

        found = json.loads((await read(f"notebooklm://notebook/{notebook.id}")).text)
        assert found["notebook"]["title"] == "About this simulation"
        contents = await read(f"notebooklm://notebook/{notebook.id}/source/{source.id}")
        assert "This service is a simulator" in contents.text
        note = (await there.call("create_note", notebook=notebook.id, title="Mine", content="# Yes\n🧪"))["note"]
        contents = await read(f"notebooklm://notebook/{notebook.id}/note/{note['id']}")
        assert "🧪" in contents.text
        with pytest.raises(MCPError, match="NOT_FOUND"):
            await read("notebooklm://notebook/00000000-0000-4000-8000-000000000000")
