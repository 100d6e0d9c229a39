"""The signed-in account: its rows and calls, and what it may have and has used; its language is set in `language`."""

from __future__ import annotations

from typing import Annotated, Any

from nlm_cdp.api.common import NoArgs, Provenance, RequestContext, Timestamp, iso, legible, named
from nlm_cdp.api.notebooks.project import Limits
from nlm_cdp.api.notebooks.reading import LimitsInfo, limits_info
from nlm_cdp.errors import Drift, NlmError
from nlm_cdp.rpc import Effect, Path, Result, Rpc, Scope, ToolContext, tool
from nlm_cdp.wire import page
from nlm_cdp.wire.pblite import Message, Tag

TIERS = {1: "free", 2: "pro", 3: "ultra_20tb", 4: "plus", 5: "workspace_expanded", 6: "ultra_30tb"}
METERING = {1: "metered", 2: "not_metered", 3: "failed"}
NOT_METERED = 2
WINDOWS = {1: "five_hours", 2: "week"}
ACTIONS = {
    1: "audio",
    2: "video",
    3: "video_breakdown",
    4: "short_video",
    5: "infographic",
    6: "slide_deck",
    7: "report",
    8: "data_table",
    9: "flashcards",
    10: "quiz",
    11: "mind_map",
    12: "canvas",
    13: "slide_edit",
    14: "flashcard_edit",
    15: "deep_research",
    16: "notebook_agent",
    17: "fast_research",
    18: "chat",
    19: "agent_image",
    20: "guided_view",
    21: "document_guide",
    22: "suggestion_chips",
}

# Messages


class GetSettings(Message):
    """`[_,[1,…,[1]]]` (C); the web app sends the full context (P)."""

    context: Annotated[RequestContext | None, Tag(1)] = None
    provenance: Annotated[Provenance | None, Tag(2)] = Provenance()


class GetAccount(Message):
    """`[]` (P)."""


class Settings(Message):
    """C. Not understood: 1, 4."""

    f1: Annotated[bool | None, Tag(1)] = None
    f4: Annotated[bool | None, Tag(4)] = None
    language: Annotated[str | None, Tag(5, 1)] = None


class Features(Message):
    """C, except 7: P. Not understood: 1 to 4."""

    f1: Annotated[bool | None, Tag(1)] = None
    f2: Annotated[int | None, Tag(2)] = None
    f3: Annotated[int | None, Tag(3)] = None
    f4: Annotated[int | None, Tag(4)] = None
    metered: Annotated[bool | None, Tag(7)] = None


class Account(Message):
    """C. It comes bare, or inside one or two more rows (P)."""

    inner: Annotated[Account | None, Tag(1)] = None
    limits: Annotated[Limits | None, Tag(2)] = None
    settings: Annotated[Settings | None, Tag(3)] = None
    f4: Annotated[list[Any] | None, Tag(4)] = None
    features: Annotated[Features | None, Tag(5)] = None

    @property
    def bare(self) -> Account:
        return self.inner.bare if self.inner is not None else self

    @property
    def language(self) -> str | None:
        return self.bare.settings.language if self.bare.settings is not None else None


class SetLanguage(Message):
    language: Annotated[str, Tag(1, 1, 2, 1, 5, 1)]


class ListUsage(Message):
    """`[_]` (P), or with the web app's context (M)."""

    context: Annotated[RequestContext | None, Tag(1)] = None


class UsageWindow(Message):
    """P."""

    code: Annotated[int, Tag(5)]
    resets: Annotated[Timestamp | None, Tag(6)] = None
    used: Annotated[int | float | None, Tag(7)] = None
    left: Annotated[int | float | None, Tag(8)] = None


class UsageAction(Message):
    """P. `tier` is what it costs, 1 to 4."""

    code: Annotated[int, Tag(1)]
    has_quota: Annotated[bool | None, Tag(2)] = None
    deferred_left: Annotated[int | None, Tag(3)] = None
    tier: Annotated[int | None, Tag(4)] = None
    priority: Annotated[int | None, Tag(5)] = None
    percent: Annotated[int | float | None, Tag(6)] = None


class Usage(Message):
    """P. `exhausted` was not seen filled."""

    status: Annotated[int, Tag(1)]
    windows: Annotated[list[UsageWindow], Tag(2, lenient=True)] = []
    exhausted: Annotated[list[Any] | None, Tag(3)] = None
    actions: Annotated[list[UsageAction], Tag(4, lenient=True)] = []


class GetDeferredQuota(Message):
    """`[]` (M)."""


class DeferredQuota(Message):
    available: Annotated[bool, Tag(1)] = False


# Calls

SETTINGS = Rpc("ZwVcOc", "GetOrCreateAccount", GetSettings, Account, Effect.READ, path=Path.ACCOUNT)
ACCOUNT = Rpc("SatQRc", "GetAccount", GetAccount, Account, Effect.READ, path=Path.ACCOUNT, grade="P")
SET_LANGUAGE = Rpc("hT54vc", "MutateAccount", SetLanguage, Account, Effect.SET, path=Path.ACCOUNT)
USAGE = Rpc("EylDcb", "ListQuotaSummary", ListUsage, Usage, Effect.READ, path=Path.ACCOUNT, grade="P")
DEFERRED_QUOTA = Rpc(
    "sODAg",
    "GetArtifactDeferredGenerationQuota",
    GetDeferredQuota,
    DeferredQuota,
    Effect.READ,
    path=Path.ACCOUNT,
    grade="M",
)

# Results


class WindowInfo(Result):
    window: str
    used_percent: float | None = None
    remaining_percent: float | None = None
    resets: str | None = None


class UsageInfo(Result):
    """`out_of_quota`: what cannot be generated now. `unavailable`: the code of the error that reading it ended in."""

    status: str
    windows: list[WindowInfo]
    out_of_quota: list[str]
    undecoded: list[str] | None = None
    unavailable: str | None = None


class AccountResult(Result):
    email: str | None = None
    authuser: str
    tier: str | None = None
    limits: LimitsInfo | None = None
    output_language: str | None = None
    usage: UsageInfo


async def settings(ctx: ToolContext) -> Account:
    account = (await ctx.call(SETTINGS, GetSettings())).bare
    if account.limits is None and account.settings is None:
        raise Drift("the account's row holds neither limits nor settings")
    return account


async def usage(ctx: ToolContext) -> UsageInfo:
    """What has been used. The account is worth telling without it, so a failure is part of the answer."""
    try:
        features = (await ctx.call(ACCOUNT, GetAccount())).bare.features
        if features is not None and features.metered is False:
            return UsageInfo(status=METERING[NOT_METERED], windows=[], out_of_quota=[])
        answer = await ctx.call(USAGE, ListUsage())
        legible([*answer.windows, *answer.actions], answer.undecoded)
    except NlmError as exc:
        return UsageInfo(status="unknown", windows=[], out_of_quota=[], unavailable=exc.code)
    return UsageInfo(
        status=named(METERING, answer.status),
        windows=[
            WindowInfo(
                window=named(WINDOWS, row.code),
                used_percent=row.used,
                remaining_percent=row.left,
                resets=iso(row.resets),
            )
            for row in answer.windows
        ],
        out_of_quota=[named(ACTIONS, row.code) for row in answer.actions if row.has_quota is False],
        undecoded=list(answer.undecoded) or None,
    )


# Tools


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(SETTINGS, ACCOUNT, USAGE))
async def get_account(ctx: ToolContext, args: NoArgs) -> AccountResult:
    """The signed-in account: tier, limits, output language, and usage where it is metered."""
    account = await settings(ctx)
    limits, known = account.limits, ctx.call.health().account or ""
    return AccountResult(
        email=known if "@" in known else None,
        authuser=page.authuser(ctx.call.notebook_url("-")) or "0",  # links say which account they are for
        tier=named(TIERS, limits.tier) if limits and limits.tier else None,
        limits=limits_info(limits),
        output_language=account.language,
        usage=await usage(ctx),
    )
