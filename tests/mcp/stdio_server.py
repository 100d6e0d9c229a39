"""The process that test_stdio starts: a few tools, some dirt on standard output, and a word on stderr at the end."""
# ruff: noqa: T201

from __future__ import annotations

import os
import sys
from typing import Any

import mcp_types
import trio
from mcp.server.lowlevel import Server

from nlm_cdp.mcp.stdio import serve_stdio


async def on_list(_ctx: Any, _params: mcp_types.PaginatedRequestParams | None) -> mcp_types.ListToolsResult:
    tools = [mcp_types.Tool(name=name, input_schema={"type": "object"}) for name in ("echo", "dirt", "sleep")]
    return mcp_types.ListToolsResult(tools=tools)


async def on_call(_ctx: Any, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
    arguments = params.arguments or {}
    match params.name:
        case "echo":
            text = arguments["text"]
        case "dirt":
            print("printed")
            os.write(1, b"written\n")
            await trio.run_process([sys.executable, "-c", "print('said by a child')"])
            text = f"read {os.read(0, 1)!r}"
        case "sleep":
            print("sleeping", file=sys.stderr, flush=True)
            try:
                await trio.sleep(60)
            finally:
                print("tidied up", file=sys.stderr, flush=True)
            text = "slept"
        case other:
            raise ValueError(other)
    return mcp_types.CallToolResult(content=[mcp_types.TextContent(type="text", text=text)])


if __name__ == "__main__":
    print("before")
    trio.run(serve_stdio, Server[Any]("test", on_list_tools=on_list, on_call_tool=on_call))
    assert os.fstat(1) != os.fstat(2)
    print("served", file=sys.stderr, flush=True)
