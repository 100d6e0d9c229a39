"""Labels: groups of a notebook's sources, which may overlap. Their rows and calls, listing and organizing.

The service takes silently what it cannot do: ids it does not know, and all but the first id of several. The tools that
change labels are in `editing`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from nlm_cdp.api.common import Empty, InNotebook, NotebookArgs, legible
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.references import Listing
from nlm_cdp.api.writes import afterwards, in_doubt
from nlm_cdp.errors import NlmError
from nlm_cdp.rpc import Effect, Result, Rpc, Scope, ToolContext, tool
from nlm_cdp.wire.pblite import Bit, Message, Tag

# Messages. N: May to September 2026; M sends `[2]` for every context.


class Label(Message):
    """Emoji `""`: none."""

    name: Annotated[str, Tag(1)] = ""
    sources: Annotated[list[str] | None, Tag(2, each=(1,))] = None
    id: Annotated[str, Tag(3)]
    emoji: Annotated[str, Tag(4)] = ""

    @property
    def members(self) -> list[str]:
        return self.sources or []


class ListLabels(InNotebook):
    pass


class Labels(Message):
    labels: Annotated[list[Label] | None, Tag(1, lenient=True)] = None


class LabelSet(Message):
    """All labels of the notebook, as they are after a creation."""

    labels: Annotated[list[Label] | None, Tag(2, lenient=True)] = None


class Grouping(Message):
    """True sorts every source anew, which replaces all labels, false the unlabelled ones; M writes 1, 0 or nothing."""

    everything: Annotated[Bit | None, Tag(1)] = None


class OrganizeSources(InNotebook):
    grouping: Annotated[Grouping, Tag(5)]


class CreateLabel(InNotebook):
    name: Annotated[str, Tag(6, 1, 1)]
    emoji: Annotated[str | None, Tag(6, 1, 2)] = ""


class MutateLabel(InNotebook):
    label_id: Annotated[str, Tag(3)]


class RenameLabel(MutateLabel):
    """`[name]` keeps the emoji of a collection (N); of a label that is not known, so we send both."""

    name: Annotated[str | None, Tag(4, 1, 1, 1)] = None
    emoji: Annotated[str | None, Tag(4, 1, 1, 2)] = None

    @model_validator(mode="after")
    def changes_something(self) -> RenameLabel:
        if self.name is None and self.emoji is None:
            raise ValueError("a rename sets the name or the emoji")
        return self


class AddToLabel(MutateLabel):
    """Only the first id of each part counts (N): send one. A name beside it is refused (M)."""

    source_ids: Annotated[list[str], Tag(4, 1, 2, each=(1,))]
    removed: Annotated[list[str] | None, Tag(4, 1, 3, each=(1,))] = None


class RemoveFromLabel(MutateLabel):
    source_ids: Annotated[list[str], Tag(4, 1, 3, each=(1,))]


class DeleteLabels(InNotebook):
    label_ids: Annotated[list[str], Tag(3)]


# Calls

LIST = Rpc("I3xc3c", "GetLabels", ListLabels, Labels, Effect.READ, variant="labels", grade="N")
ORGANIZE = Rpc(
    "agX4Bc", "CreateLabel", OrganizeSources, LabelSet, Effect.CREATE, variant="organize", timeout=120.0, grade="N"
)
CREATE = Rpc("agX4Bc", "CreateLabel", CreateLabel, LabelSet, Effect.CREATE, variant="label", grade="N")
RENAME = Rpc("le8sX", "MutateLabel", RenameLabel, Empty, Effect.SET, variant="label-name", grade="N")
ADD = Rpc("le8sX", "MutateLabel", AddToLabel, Empty, Effect.CREATE, variant="label-add", grade="N")
REMOVE = Rpc("le8sX", "MutateLabel", RemoveFromLabel, Empty, Effect.SET, variant="label-remove", grade="N")
DELETE = Rpc("GyzE7e", "DeleteLabels", DeleteLabels, Empty, Effect.DELETE, variant="labels", grade="N")


async def listing(ctx: ToolContext, notebook: str) -> Listing[Label]:
    answer = await ctx.call(LIST, ListLabels(notebook_id=notebook))
    return known(answer)


def known(answer: Labels | LabelSet) -> Listing[Label]:
    """The labels of an answer. Raises Drift where no row of it could be read."""
    rows = {row.id: row for row in legible(answer.labels or [], answer.undecoded)}
    return Listing("label", rows, lambda row: [row.name], list(answer.undecoded))


# Results


class LabelInfo(Result):
    id: str
    name: str
    emoji: str | None = None
    source_ids: list[str]


class LabelList(Result):
    notebook_id: str
    labels: list[LabelInfo]
    undecoded: list[str] | None = None


class Organized(LabelList):
    """`needs_confirmation`: nothing was changed; `would` says what would happen."""

    status: Literal["organized", "needs_confirmation"]
    would: list[str] | None = None


def info(row: Label) -> LabelInfo:
    return LabelInfo(id=row.id, name=row.name, emoji=row.emoji or None, source_ids=row.members)


# Tools


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(LIST,))
async def list_labels(ctx: ToolContext, args: NotebookArgs) -> LabelList:
    """List a notebook's labels with the sources under each."""
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    return LabelList(notebook_id=notebook, **shown(await listing(ctx, notebook)))


class OrganizeArgs(NotebookArgs):
    mode: Literal["unlabelled", "all"] = Field("unlabelled", description="all replaces every label")
    confirm: bool = Field(False, description="needed for all")


@tool(scope=Scope.WRITE, effect=Effect.CREATE, rpcs=(ORGANIZE, LIST))
async def organize_sources(ctx: ToolContext, args: OrganizeArgs) -> Organized:
    """Let the service sort sources under labels by topic; existing labels stay unless mode is all."""
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    async with ctx.exclusive(f"labels:{notebook}"):
        before = await listing(ctx, notebook)
        if args.mode == "all" and not args.confirm:
            doomed = [f"delete {described(row)}" for row in before.rows.values()]
            would = ["replace every label by new ones", *doomed]
            return Organized(status="needs_confirmation", notebook_id=notebook, would=would, **shown(before))
        request = OrganizeSources(notebook_id=notebook, grouping=Grouping(everything=args.mode == "all"))
        now = await created(ctx, ORGANIZE, request, before)
    return Organized(status="organized", notebook_id=notebook, **shown(now))


def shown(labels: Listing[Label]) -> dict[str, Any]:
    """The part of a result that lists labels."""
    return {"labels": [info(row) for row in labels.rows.values()], "undecoded": labels.undecoded or None}


def described(row: Label) -> str:
    count = len(row.members)
    return f"label {row.name!r} ({row.id}) of {count} source{'' if count == 1 else 's'}"


async def created(
    ctx: ToolContext, rpc: Rpc[Any, LabelSet], request: OrganizeSources | CreateLabel, before: Listing[Label]
) -> Listing[Label]:
    """All labels after a call that makes some. After a lost reply they are read: the loss is raised if none changed."""
    try:
        answer = await ctx.call(rpc, request)
    except NlmError as exc:
        lost = in_doubt(exc)
    else:
        return known(answer)
    now = await afterwards(lost, "labels", listing(ctx, request.notebook_id))
    if now.rows == before.rows:
        raise lost.also("The labels were read afterwards: they have not changed so far.")
    return now
