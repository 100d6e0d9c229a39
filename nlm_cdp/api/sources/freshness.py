"""Whether Drive sources are as new as their files: the calls, and the check of many at once."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Annotated

from nlm_cdp.api.common import SHORT, Empty, RequestContext
from nlm_cdp.api.sources.rows import Source
from nlm_cdp.errors import NlmError
from nlm_cdp.rpc import Effect, Rpc, ToolContext
from nlm_cdp.wire.pblite import Message, Tag

AT_ONCE = 8
"""Checks under way at the same time; each takes about 0.3 s."""


class CheckFreshness(Message):
    source_id: Annotated[str, Tag(2, 1)]
    context: Annotated[RequestContext, Tag(3)] = SHORT


class Freshness(Message):
    fresh: Annotated[bool, Tag(2)]
    source_id: Annotated[str | None, Tag(3, 1)] = None


class Checked(Message):
    """`[]` says that there is nothing to report; only for Drive sources there ever was something (C)."""

    source: Annotated[Freshness | None, Tag(1)] = None

    @property
    def fresh(self) -> bool:
        return self.source.fresh if self.source is not None else True


class RefreshSource(Message):
    source_id: Annotated[str, Tag(2, 1)]
    context: Annotated[RequestContext, Tag(3)] = SHORT


CHECK = Rpc("yR9Yof", "CheckSourceFreshness", CheckFreshness, Checked, Effect.READ)
REFRESH = Rpc("FLmJqe", "RefreshSource", RefreshSource, Empty, Effect.SET, null=True, timeout=120.0, grade="P")


async def check(ctx: ToolContext, notebook: str, source_id: str) -> bool:
    return (await ctx.call(CHECK, CheckFreshness(source_id=source_id), notebook=notebook)).fresh


async def freshness_of(ctx: ToolContext, notebook: str, rows: Iterable[Source]) -> dict[str, bool]:
    """Of each Drive source whether it is fresh; one that cannot be told is left out, and hides no other."""

    async def told(source_id: str) -> bool | None:
        try:
            return await check(ctx, notebook, source_id)
        except NlmError:
            return None

    ids = [row.id for row in rows if row.drive_id is not None]
    found: list[bool | None] = await ctx.together([partial(told, source_id) for source_id in ids], AT_ONCE)
    return {source_id: fresh for source_id, fresh in zip(ids, found, strict=True) if fresh is not None}
