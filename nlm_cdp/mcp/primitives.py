"""What the server offers beside tools, in MCP's own words: resources, completions, prompts.

Their modules are imported by the first request for them, and their lists are the same for as long as the server runs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import mcp_types as mt
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from nlm_cdp.errors import Ambiguous, InvalidArgument, NlmError, NotFound

Context = ServerRequestContext[Any]


class Primitives:
    """The handlers; `run` runs a tool that only reads, `offered` names the tools on offer."""

    def __init__(
        self, run: Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]], offered: Callable[[], set[str]]
    ) -> None:
        self.run, self.offered = run, offered

    async def on_list_resources(self, ctx: Context, params: mt.PaginatedRequestParams | None) -> mt.ListResourcesResult:
        from nlm_cdp.mcp.resources import RESOURCES

        return mt.ListResourcesResult(resources=RESOURCES)

    async def on_list_resource_templates(
        self, ctx: Context, params: mt.PaginatedRequestParams | None
    ) -> mt.ListResourceTemplatesResult:
        from nlm_cdp.mcp.resources import TEMPLATES

        return mt.ListResourceTemplatesResult(resource_templates=TEMPLATES)

    async def on_read_resource(self, ctx: Context, params: mt.ReadResourceRequestParams) -> mt.ReadResourceResult:
        from nlm_cdp.mcp.resources import read

        with protocol_errors():
            return await read(params.uri, self.run)

    async def on_completion(self, ctx: Context, params: mt.CompleteRequestParams) -> mt.CompleteResult:
        from nlm_cdp.mcp.resources import complete

        with protocol_errors():
            return mt.CompleteResult(completion=await complete(params, self.run))

    async def on_list_prompts(self, ctx: Context, params: mt.PaginatedRequestParams | None) -> mt.ListPromptsResult:
        from nlm_cdp.mcp.prompts import offered

        return mt.ListPromptsResult(prompts=[recipe.prompt for recipe in offered(self.offered()).values()])

    async def on_get_prompt(self, ctx: Context, params: mt.GetPromptRequestParams) -> mt.GetPromptResult:
        from nlm_cdp.mcp.prompts import get

        with protocol_errors():
            return get(params.name, params.arguments or {}, self.offered())


@contextmanager
def protocol_errors() -> Iterator[None]:
    """An error where the protocol has no result to hold it: the same text and structure, as a JSON-RPC error."""
    from nlm_cdp.readable import error_result, error_text

    try:
        yield
    except NlmError as exc:
        code = mt.INVALID_PARAMS if isinstance(exc, NotFound | InvalidArgument | Ambiguous) else mt.INTERNAL_ERROR
        raise MCPError(code, error_text(exc), error_result(exc)) from None
