"""Changing labels: every reference is resolved before the first write, each source is a call of its own, and what was
done is read back, because the service answers a change of nothing like a change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from nlm_cdp.api.common import Empty, refuse
from nlm_cdp.api.labels import labels
from nlm_cdp.api.labels.labels import Label, LabelInfo
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.references import Candidate, Listing, meant
from nlm_cdp.api.sources.sources import listing
from nlm_cdp.api.writes import Deleted, afterwards, delete, in_doubt, settle_deletion
from nlm_cdp.errors import Drift, NlmError, Outcome, UnconfirmedWrite
from nlm_cdp.rpc import Args, Effect, Result, Rpc, Scope, ToolContext, tool


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
            steps = [*renaming(notebook, row, args.name, args.emoji), *moving(notebook, row, added, removed)]
            return await carry_out(ctx, notebook, row, steps, done=[])
        request = labels.CreateLabel(notebook_id=notebook, name=args.name or "", emoji=args.emoji or "")
        row = await create(ctx, request, before)
        return await carry_out(ctx, notebook, row, moving(notebook, row, added, []), done=["create the label"])


def check(args: EditArgs) -> None:
    if args.label is None:
        if args.name is None:
            raise refuse("a new label needs a name", "Give name, or label to change an existing one.")
        if args.remove_sources:
            raise refuse("a new label has no sources to remove")
    elif args.name is None and args.emoji is None and not args.add_sources and not args.remove_sources:
        raise refuse("nothing to change", "Give name, emoji, add_sources or remove_sources.")


async def sources(ctx: ToolContext, notebook: str, args: EditArgs, row: Label | None) -> tuple[list[str], list[str]]:
    """The ids of the sources to add and to remove; what a label holds can be removed even where its source is gone."""
    if not args.add_sources and not args.remove_sources:
        return [], []
    there = await listing(ctx, notebook)
    held = [Candidate(source_id, "") for source_id in (row.members if row else ()) if source_id not in there.rows]
    added = [there.meant(each).id for each in args.add_sources or []]
    either = [*held, *there.candidates]
    removed = [meant(each, either, "source", there.undecoded) for each in args.remove_sources or []]
    if both := sorted({*added} & {*removed}):
        raise refuse("a source cannot be added and removed at once", source_ids=both)
    return list(dict.fromkeys(added)), list(dict.fromkeys(removed))


async def create(ctx: ToolContext, request: labels.CreateLabel, before: Listing[Label]) -> Label:
    """A new label. The service answers with all of them: ours is the one that was not there before."""
    now = await labels.created(ctx, labels.CREATE, request, before)
    new = [row for row in now.rows.values() if row.id not in before.rows]
    if len(new) > 1:
        new = [row for row in new if row.name == request.name]
    if len(new) != 1:
        raise Drift("the service does not tell which label is the new one", outcome=Outcome.UNKNOWN)
    return new[0]


@dataclass(frozen=True, slots=True)
class Step:
    """One call that changes a label; `shows`: whether a label, read afterwards, has the change."""

    said: str
    rpc: Rpc[Any, Empty]
    request: labels.MutateLabel
    shows: Callable[[Label], bool]

    def is_done(self, now: Listing[Label]) -> bool:
        row = now.rows.get(self.request.label_id)
        return row is not None and self.shows(row)


def renaming(notebook: str, row: Label, name: str | None, emoji: str | None) -> Iterator[Step]:
    """The call that gives a label its name and emoji; what they are already costs none."""
    before = (row.name, row.emoji)
    name = row.name if name is None else name
    emoji = row.emoji if emoji is None else emoji
    if (name, emoji) != before:
        sent = None if name == row.name else name
        request = labels.RenameLabel(notebook_id=notebook, label_id=row.id, name=sent, emoji=emoji)
        # the service may store another name or emoji than it was given
        yield Step("set name and emoji", labels.RENAME, request, lambda now: (now.name, now.emoji) != before)


def moving(notebook: str, row: Label, added: Iterable[str], removed: Iterable[str]) -> list[Step]:
    """The calls that add and remove sources, each where it changes something."""
    return [
        *(adding(notebook, row, source) for source in added if source not in row.members),
        *(removing(notebook, row, source) for source in removed if source in row.members),
    ]


def adding(notebook: str, row: Label, source: str) -> Step:
    request = labels.AddToLabel(notebook_id=notebook, label_id=row.id, source_ids=[source])
    return Step(f"add {source}", labels.ADD, request, lambda now: source in now.members)


def removing(notebook: str, row: Label, source: str) -> Step:
    request = labels.RemoveFromLabel(notebook_id=notebook, label_id=row.id, source_ids=[source])
    return Step(f"remove {source}", labels.REMOVE, request, lambda now: source not in now.members)


async def carry_out(ctx: ToolContext, notebook: str, row: Label, steps: list[Step], *, done: list[str]) -> LabelResult:
    """Take the steps and read back what the label is; an error tells how far they got."""
    for number, step in enumerate(steps):
        try:
            await take(ctx, notebook, step)
        except NlmError as exc:
            exc.details |= {"label": row.id, "done": done, "not_done": [each.said for each in steps[number:]]}
            if done:
                exc.also("Earlier steps took effect: see details.done.")
            raise
        done.append(step.said)
    if not steps:
        return LabelResult(notebook_id=notebook, label=labels.info(row))
    try:
        now = await labels.listing(ctx, notebook)
    except NlmError as exc:
        note = f"done, but the label could not be read afterwards ({exc.code}): it is shown as it was before"
        return LabelResult(notebook_id=notebook, label=labels.info(row), note=note)
    if unseen := [step.said for step in steps if not step.is_done(now)]:
        raise UnconfirmedWrite(
            "the service accepted the change, but the label does not show all of it",
            outcome=Outcome.UNKNOWN,
            details={"label": row.id, "not_seen": unseen},
        )
    return LabelResult(notebook_id=notebook, label=labels.info(now.rows[row.id]))


async def take(ctx: ToolContext, notebook: str, step: Step) -> None:
    """One step. After a lost reply, the label itself tells whether it took effect."""
    try:
        await ctx.call(step.rpc, step.request)
    except NlmError as exc:
        lost = in_doubt(exc)
        if not step.is_done(await afterwards(lost, "labels", labels.listing(ctx, notebook))):
            raise lost.also("The labels were read afterwards: the change is not there.") from None


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
