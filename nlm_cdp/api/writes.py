"""What every noun's writes share: an error that leaves open what happened, the looks that decide it, and deleting."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any, Literal, Protocol, TypeVar

from nlm_cdp.api.references import Listing
from nlm_cdp.errors import NlmError, NotFound, Outcome
from nlm_cdp.rpc import Result, ToolContext

READ_BACK = (1.0, 2.0, 4.0)
"""Seconds before each look at what a doubtful write has made."""


class Identified(Protocol):
    @property
    def id(self) -> str: ...


R = TypeVar("R", bound=Identified)
T = TypeVar("T")

# In doubt


def in_doubt(error: NlmError) -> NlmError:
    """The error of a write that may have taken effect; any other is raised."""
    if error.outcome is not Outcome.UNKNOWN:
        raise error
    return error


async def afterwards(lost: NlmError, what: str, look: Awaitable[T]) -> T:
    """What a look shows after a write whose reply was lost. Raises the loss where looking fails as well."""
    try:
        return await look
    except NlmError:
        raise lost.also(f"The {what} could not be read afterwards.") from None


async def looked(
    ctx: ToolContext, look: Callable[[], Awaitable[T]], enough: Callable[[T], bool], pauses: Sequence[float] = READ_BACK
) -> T | None:
    """What the last look showed that succeeded, of several until one shows enough. None: none succeeded."""
    seen: T | None = None
    for pause in pauses:
        await ctx.sleep(pause)
        try:
            seen = await look()
        except NlmError:
            continue
        if enough(seen):
            break
    return seen


# Deleting


class Deleted(Result):
    """`needs_confirmation`, `not_found`: nothing was changed; `would` says what would happen."""

    status: Literal["deleted", "needs_confirmation", "not_found"]
    notebook_id: str
    deleted: list[str]
    not_found: list[str]
    would: list[str] | None = None


async def delete(
    notebook: str,
    references: Iterable[str],
    find: Callable[[str], R],
    *,
    confirm: bool,
    would: Callable[[R], str],
    send: Callable[[list[str]], Awaitable[Any]],
) -> Deleted:
    """Delete what references mean, each once, if that is confirmed; those that mean nothing are told.

    `find` raises NotFound, or what else forbids to go on: nothing is sent before every reference is resolved. `send`
    takes the ids.
    """
    rows: dict[str, R] = {}
    not_found: list[str] = []
    for reference in references:
        try:
            row = find(reference)
        except NotFound:
            not_found.append(reference)
        else:
            rows[row.id] = row
    result = partial(Deleted, notebook_id=notebook, not_found=not_found)
    if not rows:
        return result(status="not_found", deleted=[])
    if not confirm:
        return result(status="needs_confirmation", deleted=[], would=[would(row) for row in rows.values()])
    await send(list(rows))
    return result(status="deleted", deleted=list(rows))


async def settle_deletion(lost: NlmError, noun: str, ids: Collection[str], look: Awaitable[Listing[Any]]) -> None:
    """After a deletion whose reply was lost: what stands in the listing is what happened. Raises the loss in doubt."""
    now = await afterwards(lost, f"{noun}s", look)
    if left := [each for each in ids if each in now.rows]:
        lost.details["still_there"] = left
        raise lost.also(f"The {noun}s were read afterwards: those in details.still_there are there.")
    if now.undecoded:
        raise lost.also(f"The {noun}s could not be read completely afterwards.")
