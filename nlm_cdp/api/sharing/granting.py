"""Changing who may see a notebook: nothing widens without a yes, and the share status read afterwards is the truth.

The service answers success, and does nothing, where a removal names anybody who is not there and where a call names
somebody twice.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from nlm_cdp.api.common import NotebookArgs, refuse
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.notebooks.project import ROLES
from nlm_cdp.api.sharing import sharing
from nlm_cdp.api.sharing.sharing import GRANT, REMOVE, SET_PUBLIC, STATUS, ShareInfo, share_info
from nlm_cdp.errors import Drift, InvalidArgument, NlmError, Outcome, Permission, UnconfirmedWrite
from nlm_cdp.rpc import Args, Effect, Result, Rpc, Scope, ToolContext, tool

GRANTED = {"editor": sharing.EDITOR, "viewer": sharing.VIEWER}
LOOKS = (0.0, 1.0, 2.0)
"""Seconds before each look for a change that does not show yet."""

# Results


class ShareResult(ShareInfo):
    """The status as read back. `needs_confirmation`: nothing was changed; `would` says what would happen."""

    status: Literal["done", "unchanged", "needs_confirmation"]
    would: list[str] | None = None


class Unshared(Result):
    """`needs_confirmation`, `not_found`: nothing was changed; `would` says what would happen."""

    status: Literal["removed", "needs_confirmation", "not_found"]
    notebook_id: str
    removed: list[str]
    not_found: list[str]
    would: list[str] | None = None
    note: str | None = None


def result(
    status: Literal["done", "unchanged", "needs_confirmation"], seen: ShareInfo, would: list[str] | None = None
) -> ShareResult:
    return ShareResult(status=status, would=would, **dict(seen))


# Changes


async def carry_out(
    ctx: ToolContext,
    rpc: Rpc[Any, Any],
    request: sharing.Share | notebooks.SetViewLevel,
    shows: Callable[[ShareInfo], bool],
) -> ShareInfo:
    """Send one change, once, and give the status that shows it. A lost reply is settled in the same way, by looking."""
    doubt: NlmError | None = None
    try:
        await ctx.call(rpc, request)
    except NlmError as exc:
        if exc.outcome is not Outcome.UNKNOWN:
            raise explained(exc) from None
        doubt = exc
    for pause in LOOKS:
        await ctx.sleep(pause)
        try:
            seen = await share_info(ctx, request.notebook_id)
        except NlmError as exc:
            raise unsettled(doubt, f"The share status could not be read afterwards ({exc.code}).") from None
        if shows(seen):
            return seen
    raise unsettled(doubt, "The share status, read afterwards, does not show it.")


def unsettled(doubt: NlmError | None, news: str) -> NlmError:
    return (doubt or UnconfirmedWrite("the service accepted the change", outcome=Outcome.UNKNOWN)).also(news)


def explained(refused: NlmError) -> NlmError:
    """The refusal with the reasons there may be; the service gives none, so none is claimed."""
    if isinstance(refused, Permission):
        refused.hint = (
            "The service gives no reason. Perhaps this account may not share the notebook, or its organisation limits"
            " sharing, or somebody named cannot be given access."
        )
    elif isinstance(refused, InvalidArgument):
        refused.hint = f"Perhaps the service does not accept an address. {refused.hint}"
    return refused


def once_each(emails: Iterable[str]) -> None:
    folded = [email.casefold() for email in emails]
    if len(set(folded)) < len(folded):
        raise refuse("an e-mail is named twice", "Name each person once.")


def spare_the_owner(seen: ShareInfo, emails: Iterable[str]) -> None:
    if any(seen.role_of(email) == ROLES[sharing.OWNER] for email in emails):
        raise refuse("the owner's access cannot be changed", "Leave the owner out.")


def named(seen: ShareInfo) -> str:
    return f"notebook {seen.title!r} ({seen.notebook_id})"


# Tools

ADDRESS = re.compile(r"[^@\s]+@[^@\s]+")


def address(text: str) -> str:
    """Checked here and not by the schema, which a model has to read."""
    if ADDRESS.fullmatch(text) is None:
        raise ValueError("no e-mail address")
    return text


Email = Annotated[str, AfterValidator(address)]


class SetArgs(NotebookArgs):
    public: bool | None = Field(None, description="anyone with the link")
    view_level: Literal["full", "chat"] | None = Field(None, description="what viewers see")
    confirm: bool = Field(False, description="to widen access")


@tool(
    scope=Scope.SHARE,
    effect=Effect.SET,
    rpcs=(STATUS, notebooks.GET, SET_PUBLIC, notebooks.SET_VIEW_LEVEL),
    was=("set_share_public",),
)
async def set_sharing(ctx: ToolContext, args: SetArgs) -> ShareResult:
    """Open or close a notebook's public link, or set what its viewers see."""
    if args.public is None and args.view_level is None:
        raise refuse("nothing to change", "Give public, view_level or both.")
    seen = await share_info(ctx, await notebooks.notebook_id(ctx, args.notebook))
    public = None if args.public == seen.is_public else args.public
    level = None if args.view_level == seen.view_level else args.view_level
    if public is None and level is None:
        return result("unchanged", seen)
    would = [f"let anyone who has the link open {named(seen)}"] * (public is True)
    would += [f"let viewers of {named(seen)} see its sources, not only the chat"] * (level == "full")
    if would and not args.confirm:
        return result("needs_confirmation", seen, would)

    async def set_public() -> ShareInfo:
        greeting = sharing.Greeting(absent=int(bool(public)), text="")  # as the web app has it
        request = sharing.SetPublic(notebook_id=seen.notebook_id, public=int(bool(public)), greeting=greeting, notify=1)
        return await carry_out(ctx, SET_PUBLIC, request, lambda now: now.is_public is public)

    async def set_level() -> ShareInfo:
        request = notebooks.SetViewLevel(notebook_id=seen.notebook_id, chat_only=int(level == "chat"))
        return await carry_out(ctx, notebooks.SET_VIEW_LEVEL, request, lambda now: now.view_level == level)

    steps: list[Callable[[], Awaitable[ShareInfo]]] = [set_public] if public is not None else []
    if level is not None:
        steps.insert(0 if level == "chat" else 1, set_level)  # what narrows goes first, lest too much is open between
    for number, step in enumerate(steps):
        try:
            seen = await step()
        except NlmError as exc:
            raise exc.also("The other change was made before.") if number else exc from None
    return result("done", seen)


class GrantArgs(Args):
    email: Email
    role: Literal["viewer", "editor"]


class ShareArgs(Args):
    grants: list[GrantArgs] = Field(min_length=1)
    notebook: str | None = None
    notify: bool = Field(True, description="mail them, unless false")
    message: str | None = Field(None, min_length=1, description="text of the mail")
    confirm: bool = Field(False, description="to invite or raise a role")


@tool(scope=Scope.SHARE, effect=Effect.CREATE, rpcs=(STATUS, notebooks.GET, GRANT))
async def share_notebook(ctx: ToolContext, args: ShareArgs) -> ShareResult:
    """Invite people to a notebook by e-mail, or change their roles."""
    once_each(grant.email for grant in args.grants)
    if args.message is not None and not args.notify:
        raise refuse("a message goes out only with a mail", "Leave message out, or set notify.")
    seen = await share_info(ctx, await notebooks.notebook_id(ctx, args.notebook))
    spare_the_owner(seen, (grant.email for grant in args.grants))
    wanted = [grant for grant in args.grants if seen.role_of(grant.email) != grant.role]
    if not wanted:
        return result("unchanged", seen)
    if not args.confirm and any(widens(seen, grant) for grant in wanted):
        mail = (" and mail them the message" if args.message else " and mail them") if args.notify else ""
        return result("needs_confirmation", seen, [f"{intent(seen, grant)}{mail}" for grant in wanted])
    greeting = sharing.Greeting(absent=int(args.message is None), text=args.message or "")
    request = sharing.GrantAccess(
        notebook_id=seen.notebook_id,
        grants=[sharing.Grant(email=grant.email, role=GRANTED[grant.role]) for grant in wanted],
        greeting=greeting,
        notify=int(args.notify),
    )
    now = await carry_out(ctx, GRANT, request, lambda now: all(now.role_of(each.email) == each.role for each in wanted))
    return result("done", now)


def widens(seen: ShareInfo, grant: GrantArgs) -> bool:
    """Whether somebody gets more than before; only from editor to viewer is it surely less."""
    return (seen.role_of(grant.email), grant.role) != ("editor", "viewer")


def intent(seen: ShareInfo, grant: GrantArgs) -> str:
    before = seen.role_of(grant.email)
    if before is None:
        return f"invite {grant.email} as {grant.role} to {named(seen)}"
    return f"make {grant.email} {grant.role} instead of {before} of {named(seen)}"


class UnshareArgs(Args):
    emails: list[Email] = Field(min_length=1)
    notebook: str | None = None
    confirm: bool = False


@tool(scope=Scope.SHARE, effect=Effect.DELETE, rpcs=(STATUS, notebooks.GET, REMOVE))
async def unshare_notebook(ctx: ToolContext, args: UnshareArgs) -> Unshared:
    """Take people's access to a notebook away."""
    once_each(args.emails)
    seen = await share_info(ctx, await notebooks.notebook_id(ctx, args.notebook))
    spare_the_owner(seen, args.emails)
    there = [email for email in args.emails if seen.role_of(email) is not None]
    absent = [email for email in args.emails if email not in there]
    if absent and seen.undecoded:
        raise Drift(
            "the list of people could not be read completely, so it cannot say who is not there",
            details={"undecoded": seen.undecoded},
        )
    unshared = Unshared(status="not_found", notebook_id=seen.notebook_id, removed=[], not_found=absent)
    if there and not args.confirm:
        unshared.status = "needs_confirmation"
        unshared.would = [f"remove {email} ({seen.role_of(email)}) from {named(seen)}" for email in there]
    elif there:
        request = sharing.RemoveAccess(
            notebook_id=seen.notebook_id,
            removals=[sharing.Removal(email=email) for email in there],
            greeting=sharing.Greeting(absent=0, text=""),
            notify=0,
        )
        now = await carry_out(ctx, REMOVE, request, lambda now: not any(now.role_of(email) for email in there))
        unshared.status, unshared.removed = "removed", there
        unshared.note = "The notebook is public: its link still opens it for everyone." if now.is_public else None
    return unshared
