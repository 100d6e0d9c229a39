"""A server over a stream in memory, and the text of what it answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types
import trio
from mcp.server.lowlevel import Server

from nlm_cdp.mcp.jsonrpc import serve


async def serve_over(
    server: Server[Any], stream: trio.abc.Stream, send: Callable[[bytes], Awaitable[None]] | None = None
) -> None:
    """Serve the other end of a stream; `send` may stand between the server and it."""
    await serve(server, stream.receive_some, send or stream.send_all)


def said_in(block: mcp_types.ContentBlock) -> str:
    assert isinstance(block, mcp_types.TextContent)
    return block.text
