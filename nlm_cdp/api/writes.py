"""What every noun's writes share: an error that leaves open what happened, and deleting what references mean."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable
from functools import partial
from typing import Any, Literal, Protocol, TypeVar

from nlm_cdp.errors import NlmError, NotFound, Outcome
from nlm_cdp.rpc import Result


class Identified(Protocol):
    @property
    def id(self) -> str: ...


R = TypeVar("R", bound=Identified)


def in_doubt(error: NlmError) -> NlmError:
    """The error of a write that may have taken effect; any other is raised."""
    if error.outcome is not Outcome.UNKNOWN:
        raise error
    return error


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
    send: Callable[[list[R]], Awaitable[Any]],
) -> Deleted:
    """Delete what references mean, each once, if that is confirmed; those that mean nothing are told.

    `find` raises NotFound, or what else forbids to go on: nothing is sent before every reference is resolved.
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
    await send(list(rows.values()))
    return result(status="deleted", deleted=list(rows))


async def settle_deletion(
    lost: NlmError, noun: str, ids: Collection[str], look: Callable[[], Awaitable[tuple[Collection[str], bool]]]
) -> None:
    """After a deletion whose reply was lost: what stands in the listing is what happened. Raises the loss in doubt.

    `look`: the ids that are there, and whether the listing was read whole.
    """
    try:
        there, whole = await look()
    except NlmError:
        raise lost.also(f"The {noun}s could not be read afterwards.") from None
    if left := [each for each in ids if each in there]:
        lost.details["still_there"] = left
        raise lost.also(f"The {noun}s were read afterwards: those in details.still_there are there.")
    if not whole:
        raise lost.also(f"The {noun}s could not be read completely afterwards.")
