"""The sidecar itself: how it is doing, the way to sign in, and what it keeps on this machine."""

from __future__ import annotations

from contextlib import suppress
from typing import Literal

from nlm_cdp import __version__
from nlm_cdp.api.common import NoArgs
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.errors import AccessGated, FileRefused, NlmError, SignedOut
from nlm_cdp.rpc import Args, Effect, Result, Scope, ToolContext, tool


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
async def get_health(ctx: ToolContext, args: NoArgs) -> HealthResult:
    """Whether calls work right now, by a real one, and what to do if not."""
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


# Signing in

APP, SIGN_IN = "/", "/login"
"""The latter leads to Google's sign-in; the former shows who is signed in, and keeps to the account in use."""
NEXT = "Let the user sign in in the tab that was opened in their Chrome, then call get_health."


class SignInResult(Result):
    """`needs_confirmation`: nothing was done; `would` says what would happen."""

    status: Literal["opened", "signed_in", "needs_confirmation"]
    account: str | None = None
    url: str | None = None
    next: str | None = None
    would: str | None = None


@tool(scope=Scope.WRITE, effect=Effect.SET, rpcs=(notebooks.LIST,))
async def setup_auth(ctx: ToolContext, args: NoArgs) -> SignInResult:
    """Open a sign-in tab in the user's Chrome if it is needed."""
    try:
        await ctx.call(notebooks.LIST, notebooks.ListNotebooks())
    except (SignedOut, AccessGated):
        return SignInResult(status="opened", url=await ctx.call.open_tab(SIGN_IN), next=NEXT)
    return SignInResult(status="signed_in", account=ctx.call.health().account)


class ReAuthArgs(Args):
    confirm: bool = False


@tool(scope=Scope.WRITE, effect=Effect.SET, rpcs=(notebooks.LIST,))
async def re_auth(ctx: ToolContext, args: ReAuthArgs) -> SignInResult:
    """Forget chat sessions, close our page, open a sign-in tab; signs nobody out."""
    if not args.confirm:
        sessions = len(await ctx.store.sessions())
        would = (
            f"forget {sessions} local chat sessions and which notebook is selected, close our hidden page in Chrome,"
            " and open a sign-in tab there; Chrome itself stays signed in as it is"
        )
        return SignInResult(status="needs_confirmation", would=would)
    path = SIGN_IN
    with suppress(NlmError):  # what keeps this call from working is what starting over is for
        await ctx.call(notebooks.LIST, notebooks.ListNotebooks())
        path = APP
    url = await ctx.call.open_tab(path)  # where there is no Chrome, nothing is forgotten
    await ctx.call.drop_page()
    await ctx.store.forget_sessions()
    return SignInResult(status="opened", url=url, next=NEXT)


# Cleaning up


class StoredFile(Result):
    path: str
    size_bytes: int


class Category(Result):
    """`items`: how many there are, where that can be read."""

    name: Literal["sessions", "library", "files"]
    items: int | None = None
    files: list[StoredFile]


class CleanupResult(Result):
    """`needs_confirmation`: nothing was deleted; the categories are what would be."""

    status: Literal["deleted", "nothing_to_delete", "needs_confirmation"]
    categories: list[Category]
    note: str | None = None


class CleanupArgs(Args):
    confirm: bool = False
    preserve_library: bool = False


@tool(scope=Scope.DELETE, effect=Effect.DELETE)
async def cleanup_data(ctx: ToolContext, args: CleanupArgs) -> CleanupResult:
    """List and, confirmed, delete what this server keeps on this machine: chat sessions and the library."""
    if not await ctx.store.files():
        return CleanupResult(status="nothing_to_delete", categories=[])
    sessions = entries = None
    try:
        sessions, entries = len(await ctx.store.sessions()), len(await ctx.store.library.entries())
    except FileRefused:  # a damaged file, or one of a newer version, can still be removed whole
        if args.preserve_library:
            raise
    # only now are there all the files that reading makes
    files = [StoredFile(path=str(path), size_bytes=size) for path, size in await ctx.store.files()]
    categories = [Category(name="sessions", items=sessions, files=files)]
    if not args.preserve_library:
        categories.append(Category(name="library", items=entries, files=files))
        categories.append(Category(name="files", items=len(files), files=files))
    if not args.confirm:
        return CleanupResult(status="needs_confirmation", categories=categories)
    if args.preserve_library:
        await ctx.store.forget_sessions()
        return CleanupResult(status="deleted", categories=categories)
    if await ctx.store.remove_files():
        return CleanupResult(status="deleted", categories=categories)
    await ctx.store.forget_sessions()
    await ctx.store.library.clear()
    note = "Another process has the files open, so they stay, emptied of sessions and library."
    return CleanupResult(status="deleted", categories=categories[:2], note=note)
