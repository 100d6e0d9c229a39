"""Sharing: the rows and calls of it, and who may see a notebook now; the tools that change that are in `granting`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from nlm_cdp.api.common import SHORT, Empty, NotebookArgs, RequestContext, legible, named
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.notebooks.project import ROLES
from nlm_cdp.rpc import Effect, Result, Rpc, Scope, ToolContext, tool
from nlm_cdp.wire.pblite import Bit, Message, Tag

OWNER, EDITOR, VIEWER, NOBODY = 1, 2, 3, 4

# Messages


class GetShareStatus(Message):
    """`[nb,[2]]` from both clients (C); the web app sends a longer context (M)."""

    notebook_id: Annotated[str, Tag(1)]
    context: Annotated[RequestContext, Tag(2)] = SHORT


class Profile(Message):
    name: Annotated[str | None, Tag(1)] = None
    picture: Annotated[str | None, Tag(2)] = None


class Person(Message):
    """C; the e-mail may be missing (P)."""

    email: Annotated[str | None, Tag(1)] = None
    role: Annotated[int, Tag(2)]
    f3: Annotated[Empty | None, Tag(3)] = None
    profile: Annotated[Profile | None, Tag(4)] = None


class Link(Message):
    """Not there at all while access is restricted, before a link was opened as after it was closed (C)."""

    public: Annotated[bool, Tag(1)] = False
    discoverable: Annotated[bool | None, Tag(2)] = None


class ShareStatus(Message):
    """C up to the cap; N beyond (May 2026). Not understood: 7, 8."""

    people: Annotated[list[Person], Tag(1, lenient=True)] = []
    link: Annotated[Link | None, Tag(2)] = None
    cap: Annotated[int | None, Tag(3)] = None
    public_allowed: Annotated[bool | None, Tag(4)] = None
    f7: Annotated[list[Any] | None, Tag(7)] = None
    f8: Annotated[bool | None, Tag(8)] = None


class Greeting(Message):
    """`[0,text]`, or `[1,""]` without a text (P); M takes the flag for "do not notify"."""

    absent: Annotated[int, Tag(1)]
    text: Annotated[str, Tag(2)]


class Share(Message):
    notebook_id: Annotated[str, Tag(1, 1, 1)]
    greeting: Annotated[Greeting, Tag(1, 1, 4)]
    notify: Annotated[Bit, Tag(2)]
    context: Annotated[RequestContext, Tag(4)] = SHORT


class SetPublic(Share):
    """C."""

    public: Annotated[Bit, Tag(1, 1, 3, 1)]


class Grant(Message):
    email: Annotated[str, Tag(1)]
    role: Annotated[int, Tag(3)]


class GrantAccess(Share):
    """P; a removal may stand beside the grants."""

    grants: Annotated[list[Grant], Tag(1, 1, 2)]

    @field_validator("grants")
    @classmethod
    def grants_something(cls, grants: list[Grant]) -> list[Grant]:
        if all(grant.role == NOBODY for grant in grants):
            raise ValueError("nobody is granted anything")
        return grants


class Removal(Message):
    email: Annotated[str, Tag(1)]
    role: Annotated[Literal[4], Tag(3)] = 4


class RemoveAccess(Share):
    """P."""

    removals: Annotated[list[Removal], Tag(1, 1, 2), Field(min_length=1)]


# Calls

STATUS = Rpc("JFMDGd", "GetProjectDetails", GetShareStatus, ShareStatus, Effect.READ)
SET_PUBLIC = Rpc("QDyure", "ShareProject", SetPublic, Empty, Effect.SET, variant="public")
GRANT = Rpc("QDyure", "ShareProject", GrantAccess, Empty, Effect.CREATE, variant="grants", grade="P")
"""Sent twice it leaves the same state, but may mail people twice."""
REMOVE = Rpc("QDyure", "ShareProject", RemoveAccess, Empty, Effect.DELETE, variant="remove", grade="P")

# Results


class PersonInfo(Result):
    email: str | None = None
    role: str
    name: str | None = None


class ShareInfo(Result):
    """`view_level` chat: who only views sees the chat, not the sources."""

    notebook_id: str
    title: str
    url: str
    is_public: bool
    can_be_public: bool | None = None
    view_level: Literal["full", "chat"]
    people: list[PersonInfo]
    cap: int | None = None
    undecoded: list[str] | None = None

    def role_of(self, email: str) -> str | None:
        """The role of somebody who has access; e-mails are one whatever their case."""
        folded = email.casefold()
        roles = (person.role for person in self.people if person.email and person.email.casefold() == folded)
        return next((role for role in roles if role != ROLES[NOBODY]), None)


async def share_info(ctx: ToolContext, notebook: str) -> ShareInfo:
    """Who may see a notebook now. The view level stands only in the notebook's own row."""
    status = await ctx.call(STATUS, GetShareStatus(notebook_id=notebook))
    people = legible(status.people, status.undecoded)
    row = (await notebooks.get(ctx, notebook)).notebook
    return ShareInfo(
        notebook_id=row.id,
        title=row.title,
        url=ctx.call.notebook_url(row.id),
        is_public=status.link is not None and status.link.public,
        can_be_public=status.public_allowed,
        view_level="chat" if row.access is not None and row.access.chat_only else "full",
        people=[
            PersonInfo(
                email=person.email,
                role=named(ROLES, person.role),
                name=(person.profile.name if person.profile else None) or None,
            )
            for person in people
        ],
        cap=status.cap,
        undecoded=list(status.undecoded) or None,
    )


# Tools


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(STATUS, notebooks.GET))
async def get_share_status(ctx: ToolContext, args: NotebookArgs) -> ShareInfo:
    """Who may see a notebook: people with their roles, the public link, what viewers see."""
    return await share_info(ctx, await notebooks.notebook_id(ctx, args.notebook))
