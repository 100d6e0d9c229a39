"""Changing labels: every reference is resolved before the first write, each source is a call of its own, and what was
done is read back, because the service answers a change of nothing like a change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic import Field

from nlm_cdp.api.common import refuse
from nlm_cdp.api.labels import labels
from nlm_cdp.api.labels.labels import Label, LabelInfo
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.references import Candidate, Listing, meant
from nlm_cdp.api.sources.rows import distinct
from nlm_cdp.api.writes import Deleted, afterwards, delete, in_doubt, settle_deletion
from nlm_cdp.errors import Drift, NlmError, Outcome, UnconfirmedWrite
from nlm_cdp.rpc import Args, Effect, Result, Scope, ToolContext, tool


class LabelResult(Result):
    notebook_id: str
    label: LabelInfo
    note: str | None = None


class EditArgs(Args):
    label: str | None = Field(None, description="id, name or prefix; left out: a new label")
    name: str | None = Field(None, min_length=1)
    emoji: str | None = Field(None, description='"" clears it')
    add_sources: list[str] | None = None
    remove_sources: list[str] | None = None
    notebook: str | None = None


Change = labels.RenameLabel | labels.AddToLabel | labels.RemoveFromLabel


@tool(
    scope=Scope.WRITE,
    effect=Effect.CREATE,
    rpcs=(labels.CREATE, labels.RENAME, labels.ADD, labels.REMOVE, labels.LIST, notebooks.GET),
)
async def edit_label(ctx: ToolContext, args: EditArgs) -> LabelResult:
    """Make a label, or change its name, emoji or sources (ids, titles or prefixes)."""
    check(args)
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    async with ctx.exclusive(f"labels:{notebook}"):
        before = await labels.listing(ctx, notebook)
        row = before.meant(args.label) if args.label is not None else None
        if row is None and any(args.name == label.name for label in before.rows.values()):
            raise refuse("a label with this name is there already", "Name it as label to change it.")
        added, removed = await sources(ctx, notebook, args, row)
        if row is not None:
            changes = [*renamed(notebook, row, args.name, args.emoji), *moved(notebook, row, added, removed)]
            return await carry_out(ctx, notebook, row, changes, done=[])
        request = labels.CreateLabel(notebook_id=notebook, name=args.name or "", emoji=args.emoji or "")
        row = await create(ctx, request, before)
        return await carry_out(ctx, notebook, row, list(moved(notebook, row, added, {})), done=["create the label"])


def check(args: EditArgs) -> None:
    if args.label is None:
        if args.name is None:
            raise refuse("a new label needs a name", "Give name, or label to change an existing one.")
        if args.remove_sources:
            raise refuse("a new label has no sources to remove")
    elif args.name is None and args.emoji is None and not args.add_sources and not args.remove_sources:
        raise refuse("nothing to change", "Give name, emoji, add_sources or remove_sources.")


async def sources(
    ctx: ToolContext, notebook: str, args: EditArgs, row: Label | None
) -> tuple[dict[str, None], dict[str, None]]:
    """The ids of the sources to add and to remove; what a label holds can be removed even where its source is gone."""
    if not args.add_sources and not args.remove_sources:
        return {}, {}
    got = await notebooks.get(ctx, notebook)
    there = [Candidate(source.id, source.title or "") for source in distinct(got.notebook.sources)]
    held = [Candidate(source_id, "") for source_id in (row.sources if row else None) or []]
    added = {meant(each, there, "source", got.undecoded): None for each in args.add_sources or []}
    either = list({candidate.id: candidate for candidate in [*held, *there]}.values())
    removed = {meant(each, either, "source", got.undecoded): None for each in args.remove_sources or []}
    if both := sorted(added.keys() & removed.keys()):
        raise refuse("a source cannot be added and removed at once", source_ids=both)
    return added, removed


async def create(ctx: ToolContext, request: labels.CreateLabel, before: Listing[Label]) -> Label:
    """A new label. The service answers with all of them: ours is the one that was not there before."""
    now = await labels.created(ctx, labels.CREATE, request, before)
    new = [row for row in now.rows.values() if row.id not in before.rows]
    if len(new) > 1:
        new = [row for row in new if row.name == request.name]
    if len(new) != 1:
        raise Drift("the service does not tell which label is the new one", outcome=Outcome.UNKNOWN)
    return new[0]


def renamed(notebook: str, row: Label, name: str | None, emoji: str | None) -> Iterator[Change]:
    """The call that gives a label its name and emoji; what they are already costs none."""
    name = row.name if name is None else name
    emoji = row.emoji if emoji is None else emoji
    if (name, emoji) != (row.name, row.emoji):
        sent = None if name == row.name else name
        yield labels.RenameLabel(notebook_id=notebook, label_id=row.id, name=sent, emoji=emoji)


def moved(notebook: str, row: Label, added: Iterable[str], removed: Iterable[str]) -> Iterator[Change]:
    """The calls that add and remove sources, each where it changes something."""
    members = row.sources or []
    for source in added:
        if source not in members:
            yield labels.AddToLabel(notebook_id=notebook, label_id=row.id, source_ids=[source])
    for source in removed:
        if source in members:
            yield labels.RemoveFromLabel(notebook_id=notebook, label_id=row.id, source_ids=[source])


def said(change: Change) -> str:
    match change:
        case labels.RenameLabel():
            return "set name and emoji"
        case labels.AddToLabel():
            return f"add {change.source_ids[0]}"
        case _:
            return f"remove {change.source_ids[0]}"


def holds(change: Change, before: Label, now: Label | None) -> bool:
    """Whether a label shows a change; the service may store another name or emoji than it was given."""
    if now is None:
        return False
    match change:
        case labels.RenameLabel():
            return (now.name, now.emoji) != (before.name, before.emoji)
        case labels.AddToLabel():
            return change.source_ids[0] in (now.sources or [])
        case _:
            return change.source_ids[0] not in (now.sources or [])


async def carry_out(
    ctx: ToolContext, notebook: str, row: Label, changes: list[Change], *, done: list[str]
) -> LabelResult:
    """Make the changes and read back what the label is; an error tells how far they got."""
    for number, change in enumerate(changes):
        try:
            await make(ctx, row, change)
        except NlmError as exc:
            exc.details |= {"label": row.id, "done": done, "not_done": [said(each) for each in changes[number:]]}
            if done:
                exc.also("Earlier steps took effect: see details.done.")
            raise
        done.append(said(change))
    if not changes:
        return LabelResult(notebook_id=notebook, label=labels.info(row))
    try:
        now = (await labels.listing(ctx, notebook)).rows.get(row.id)
    except NlmError as exc:
        note = f"done, but the label could not be read afterwards ({exc.code}): it is shown as it was before"
        return LabelResult(notebook_id=notebook, label=labels.info(row), note=note)
    unseen = [said(change) for change in changes if not holds(change, row, now)]
    if now is None or unseen:
        raise UnconfirmedWrite(
            "the service accepted the change, but the label does not show all of it",
            outcome=Outcome.UNKNOWN,
            details={"label": row.id, "not_seen": unseen},
        )
    return LabelResult(notebook_id=notebook, label=labels.info(now))


async def make(ctx: ToolContext, row: Label, change: Change) -> None:
    """One change. After a lost reply, the label itself tells whether it took effect."""
    try:
        match change:
            case labels.RenameLabel():
                await ctx.call(labels.RENAME, change)
            case labels.AddToLabel():
                await ctx.call(labels.ADD, change)
            case _:
                await ctx.call(labels.REMOVE, change)
        return
    except NlmError as exc:
        lost = in_doubt(exc)
    now = await afterwards(lost, "labels", labels.listing(ctx, change.notebook_id))
    if not holds(change, row, now.rows.get(row.id)):
        raise lost.also("The labels were read afterwards: the change is not there.")


# Deleting


class DeleteArgs(Args):
    labels: list[str] = Field(min_length=1)
    notebook: str | None = None
    confirm: bool = False


@tool(scope=Scope.DELETE, effect=Effect.DELETE, rpcs=(labels.DELETE, labels.LIST))
async def delete_labels(ctx: ToolContext, args: DeleteArgs) -> Deleted:
    """Delete labels; their sources stay. Cannot be undone."""
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    listing = await labels.listing(ctx, notebook)

    async def send(ids: list[str]) -> None:
        try:
            await ctx.call(labels.DELETE, labels.DeleteLabels(notebook_id=notebook, label_ids=ids))
        except NlmError as exc:
            await settle_deletion(in_doubt(exc), "label", ids, labels.listing(ctx, notebook))

    return await delete(
        notebook,
        args.labels,
        listing.meant,
        confirm=args.confirm,
        would=lambda row: f"delete {labels.described(row)}; the sources stay",
        send=send,
    )
