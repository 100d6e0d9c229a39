"""TOOLS as an application: a name and arguments in, a structured result or an error out, for the server and the shell.

Nothing is imported before somebody asks for it. Scopes and toolsets are fixed at the start, so the list never changes.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from nlm_cdp.errors import InvalidArgument, NlmError, Outcome, ScopeMissing
from nlm_cdp.granted import DEFAULT_SCOPES, DEFAULT_TOOLSETS
from nlm_cdp.local.traffic import TOOL
from nlm_cdp.text import whole

if TYPE_CHECKING:
    from nlm_cdp.rpc import Tool, ToolContext

logger = logging.getLogger(__name__)


class Catalogue:
    """The tools on offer. Built on first use: the declarations take longer to import than a client should wait."""

    def __init__(self, scopes: tuple[str, ...], toolsets: tuple[str, ...]) -> None:
        from nlm_cdp.api import RENAMED, TOOLS

        self.all, self.renamed, self.scopes = TOOLS, RENAMED, {"read", *scopes}
        everything = "all" in toolsets
        self.offered = {
            name: tool
            for name, tool in TOOLS.items()
            if tool.scope in self.scopes and (everything or tool.toolset in toolsets)
        }

    def find(self, name: str) -> Tool[Any, Any]:
        """Raises InvalidArgument for a name nobody knows, ScopeMissing for one outside the granted scopes."""
        if name in self.offered:
            return self.offered[name]
        if name in self.renamed:
            raise InvalidArgument(f"{name} is now called {self.renamed[name]}", hint=f"Call {self.renamed[name]}.")
        if name not in self.all:
            raise InvalidArgument(f"there is no tool {name[:80]!r}", hint="See tools/list.")
        tool = self.all[name]
        if tool.scope not in self.scopes:
            raise ScopeMissing(
                f"{name} needs the scope {tool.scope!s}, which was not granted",
                hint=f"The user can start the server with --scopes {','.join(sorted(self.scopes | {tool.scope}))}.",
            )
        raise ScopeMissing(
            f"{name} belongs to the toolset {tool.toolset}, which is not loaded",
            hint=f"The user can start the server with --toolsets including {tool.toolset}.",
        )

    def readable(self, name: str) -> Tool[Any, Any]:
        """A tool that only reads, which every scope allows; toolsets decide only what a model has to read."""
        return self.all[name] if self.all[name].read_only else self.find(name)


Progress = Callable[[str], Awaitable[None]]
MakeContext = Callable[[Progress], Awaitable["ToolContext"]]


async def silent(message: str) -> None:
    """Progress that nobody asked for."""


class Application:
    """Runs tools for whoever asks: the MCP server, and the shell."""

    def __init__(
        self,
        make_context: MakeContext,
        *,
        scopes: tuple[str, ...] = DEFAULT_SCOPES,
        toolsets: tuple[str, ...] = DEFAULT_TOOLSETS,
        waiting: Callable[[], str] = lambda: "",
    ) -> None:
        self.make_context, self.scopes, self.toolsets, self.waiting = make_context, scopes, toolsets, waiting
        self.built: Catalogue | None = None

    @property
    def catalogue(self) -> Catalogue:
        if self.built is None:
            self.built = Catalogue(self.scopes, self.toolsets)
        return self.built

    async def run(self, name: str, arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
        """One tool's structured result. Raises NlmError, whatever went wrong: this is the process edge."""
        return await self.perform(name, lambda: self.catalogue.find(name), arguments, progress)

    async def look(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The same, of a tool that only reads, whatever toolsets are loaded."""
        return await self.perform(name, lambda: self.catalogue.readable(name), arguments, silent)

    async def perform(
        self, name: str, find: Callable[[], Tool[Any, Any]], arguments: dict[str, Any], progress: Progress
    ) -> dict[str, Any]:
        from nlm_cdp.schema import read_arguments

        outcome = Outcome.NOT_SENT
        try:
            tool = find()
            TOOL.set(tool.name)  # each request is a task of its own
            args = read_arguments(tool.args, whole(arguments))
            context = await self.make_context(progress)
            outcome = outcome if tool.read_only else Outcome.UNKNOWN
            result = await tool.run(context, args)
            cleaned: dict[str, Any] = whole(result.model_dump(mode="python", by_alias=True, exclude_none=True))
        except NlmError:
            raise
        except Exception as exc:  # noqa: BLE001
            from nlm_cdp.groups import leaves

            first = next(iter(leaves(exc)), exc)
            if isinstance(first, NlmError):
                raise first from None
            logger.error("%s failed inside: %s at %s", name, type(first).__name__, origin_of(first))  # noqa: TRY400
            message = f"{name} failed inside ({type(first).__name__})"
            raise NlmError(message, hint="Please report this.", outcome=outcome) from None
        return cleaned


def origin_of(exc: BaseException) -> str:
    """File and line where an exception began; its text may hold a payload and is not told."""
    trace = exc.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else "unknown"
