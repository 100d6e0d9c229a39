"""The calls about the account, answered from the state."""

from __future__ import annotations

from typing import Any

from nlm_cdp.api.account import account as api
from nlm_cdp.api.common import Timestamp
from nlm_cdp.sim.answers import Handler
from nlm_cdp.sim.state import Account

METERED, NOT_METERED = 1, 2
FIVE_HOURS, WEEK = 1, 2
SECONDS = {FIVE_HOURS: 5 * 3600, WEEK: 7 * 24 * 3600}
AUDIO, CHAT = 1, 18


def row(account: Account, *, metered: bool | None = None) -> api.Account:
    """The bare row of January 2026 (C); the flag for metering: P."""
    return api.Account(
        limits=account.limits,
        settings=api.Settings(f1=True, f4=True, language=account.language),
        f4=[[1]],
        features=api.Features(f1=True, f2=1, f3=3, f4=2, metered=metered),
    )


def settings(account: Account, request: api.GetSettings) -> api.Account:
    return api.Account(inner=row(account))


def get_account(account: Account, request: api.GetAccount) -> api.Account:
    return api.Account(inner=row(account, metered=account.metered))


def set_language(account: Account, request: api.SetLanguage) -> api.Account:
    account.language = request.language
    return row(account)


def usage(account: Account, request: api.ListUsage) -> api.Usage:
    """The windows come in no particular order (P)."""
    if not account.metered:
        return api.Usage(status=NOT_METERED)
    now = int(account.service.now())
    return api.Usage(
        status=METERED,
        windows=[
            api.UsageWindow(code=code, resets=Timestamp(seconds=now + SECONDS[code]), used=used, left=100 - used)
            for code, used in ((WEEK, 12), (FIVE_HOURS, 40))
        ],
        exhausted=[],
        actions=[
            api.UsageAction(code=AUDIO, has_quota=False, deferred_left=0, tier=4, priority=1, percent=25),
            api.UsageAction(code=CHAT, has_quota=True, deferred_left=0, tier=1, priority=1, percent=1),
        ],
    )


def deferred_quota(account: Account, request: api.GetDeferredQuota) -> api.DeferredQuota:
    return api.DeferredQuota(available=True)


HANDLERS: tuple[Handler[Any, Any], ...] = (
    Handler(api.SETTINGS, settings),
    Handler(api.ACCOUNT, get_account),
    Handler(api.SET_LANGUAGE, set_language),
    Handler(api.USAGE, usage),
    Handler(api.DEFERRED_QUOTA, deferred_quota),
)
