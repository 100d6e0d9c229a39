"""The tour: a real MCP client over stdio against `serve --demo`, one step after the other, each shown as it happens."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from mcp import Client, StdioServerParameters

from nlm_cdp import __version__
from nlm_cdp.mcp.server import NAME
from nlm_cdp.readable import FAILED, NO_BROWSER, OK

TITLE = "The lighthouse keeper's handbook"
TEXT = """# The lighthouse keeper's handbook

## The lamp

The lamp must be lit thirty minutes before sunset and put out thirty minutes after sunrise.

## The lens

The lens is cleaned every morning with a linen cloth; vinegar is used once a week against salt.

## Fog

In fog the horn sounds one long blast every ninety seconds. When the fog horn fails, the bell is rung by hand.

## The log

The log records the weather at six, noon, six and midnight, and every ship that passes within three miles.
"""
QUESTION = "How often does the fog horn sound, and what happens when it fails?"

Step = dict[str, Any]


class Show:
    """Prints each step, for a person or as one JSON object a line."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.began = time.monotonic()
        self.number = 0

    def begin(self, name: str) -> None:
        self.number += 1
        self.heard: list[str] = []
        if not self.as_json:
            print(f"\n{self.number}. {name}", flush=True)

    def end(self, name: str, facts: Step, text: str) -> None:
        if self.as_json:
            about = {"step": self.number, "name": name, "elapsed_s": round(time.monotonic() - self.began, 2)}
            print(json.dumps(about | {"progress": self.heard} | facts, ensure_ascii=False), flush=True)
            return
        for line in text.splitlines():
            print(f"   {line}", flush=True)

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        self.heard.append(message or "")
        if not self.as_json:
            print(f"   … {message}", flush=True)


async def tour(as_json: bool) -> int:
    """Play it; the exit code is 0 when every step succeeded, 3 without a browser."""
    show = Show(as_json=as_json)
    command = ["-m", "nlm_cdp.cli", "serve", "--demo", "--scopes", "read,chat,write,delete"]
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    async with Client(server, read_timeout_seconds=180) as client:
        show.begin("Connect")
        tools = (await client.list_tools()).tools
        show.end(
            "Connect",
            {"server": NAME, "version": __version__, "protocol": client.protocol_version, "tools": len(tools)},
            f"{NAME} {__version__}, MCP {client.protocol_version}, {len(tools)} tools",
        )
        try:
            await run_steps(partial(call, client, show))
        except StepFailed as failed:
            return failed.code
    return OK


class StepFailed(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


async def call(
    client: Client, show: Show, name: str, title: str, text: Callable[[Step], str], /, **arguments: Any
) -> Step:
    """One step: call a tool, show what it says while it works and what it gives."""
    show.begin(title)
    result = await client.call_tool(name, arguments, progress_callback=show.progress)
    found: Step = result.structured_content or {}
    if result.is_error:
        show.end(title, {"tool": name, "error": found}, f"failed: {found.get('message')} {found.get('hint')}")
        raise StepFailed(FAILED)
    if found.get("status") == "error":
        show.end(title, {"tool": name, "error": found}, f"failed: {found['troubleshooting_tip']}")
        raise StepFailed(NO_BROWSER if str(found["code"]).startswith("CHROME_") else FAILED)
    show.end(title, {"tool": name, "result": found}, text(found))
    return found


async def run_steps(call: Callable[..., Awaitable[Step]]) -> None:
    await call("get_health", "Start Chromium and sign in to the simulator", health)
    created = await call("create_notebook", "Create a notebook", lambda found: named(found["notebook"]), title=TITLE)
    notebook = created["notebook"]["id"]
    await call(
        "add_source",
        "Add a source",
        lambda found: "\n".join(f"{named(source)}: {source['status']}" for source in found["sources"]),
        notebook=notebook,
        content=TEXT,
        wait=True,
    )
    asked = await call(
        "ask_question",
        f"Ask: {QUESTION}",
        answered,
        notebook=notebook,
        question=QUESTION,
        source_format="footnotes",
    )
    await call(
        "get_conversation",
        "Read the conversation back",
        lambda found: f"{len(found['turns'])} turns in conversation {found['conversation_id']}",
        session_id=asked["session_id"],
    )
    await call(
        "delete_notebook",
        "Delete it, without confirming: nothing happens",
        lambda found: f"{found['status']}: {found['would']}",
        notebook=notebook,
    )
    await call(
        "delete_notebook",
        "Delete it, confirmed",
        lambda found: found["status"],
        notebook=notebook,
        expected_title=TITLE,
        confirm=True,
    )


def health(found: Step) -> str:
    return f"{found['chrome']['version']}, signed in as {found['account']}" + (
        " (a simulation)" if found["simulated"] else ""
    )


def named(thing: Step) -> str:
    return f"{thing['title']} ({thing['id']})"


def answered(found: Step) -> str:
    cited = [
        f"[{source['index']}] {source['title']}, characters {source['start']}-{source['end']}"
        for source in found["sources"]
    ]
    return "\n".join([found["answer"], "", *cited])
