"""How the sidecar itself is doing."""

from __future__ import annotations

from typing import Literal

from nlm_cdp import __version__
from nlm_cdp.api import notebooks
from nlm_cdp.errors import NlmError
from nlm_cdp.rpc import Args, Effect, Result, Scope, ToolContext, tool


class HealthArgs(Args):
    pass


class ChromeInfo(Result):
    version: str | None = None
    mode: str | None = None
    endpoint: str | None = None


class HealthResult(Result):
    status: Literal["ok", "error"]
    state: str
    authenticated: bool
    account: str | None = None
    chrome: ChromeInfo
    page: str | None = None
    active_sessions: int
    version: str
    config: dict[str, str | list[str] | None]
    code: str | None = None
    troubleshooting_tip: str | None = None
    simulated: bool


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(notebooks.LIST,))
async def get_health(ctx: ToolContext, args: HealthArgs) -> HealthResult:
    """Whether calls work right now, judged by a real one; says what to do if not."""
    error: NlmError | None = None
    try:
        await ctx.call(notebooks.LIST, notebooks.ListNotebooks())
    except NlmError as exc:
        error = exc
    health = ctx.call.health()
    return HealthResult(
        status="ok" if error is None else "error",
        state="ok" if error is None else state_of(error),
        authenticated=error is None,
        account=health.account,
        chrome=ChromeInfo(version=health.browser, mode=health.mode, endpoint=health.endpoint),
        page=health.page,
        active_sessions=len(await ctx.store.sessions()),
        version=__version__,
        config=ctx.config,
        code=error.code if error else None,
        troubleshooting_tip=f"{error.message.rstrip('.')}. {error.hint}".strip() if error else None,
        simulated=ctx.call.simulated,
    )


def state_of(error: NlmError) -> str:
    """One of the sign-in states of the design; what proves nothing about sign-in is `could_not_check`."""
    return {
        "CHROME_NOT_FOUND": "no_browser",
        "CHROME_DEBUGGING_OFF": "debugging_off",
        "CHROME_APPROVAL_PENDING": "approval_pending",
        "CHROME_APPROVAL_DENIED": "denied",
        "CHROME_POLICY_BLOCKED": "policy_blocked",
        "SIGNED_OUT": "signed_out",
        "ACCESS_GATED": "gated",
        "ACCOUNT_AMBIGUOUS": "account_ambiguous",
    }.get(error.code, "could_not_check")
