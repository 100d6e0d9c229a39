"""What a reference means: the id, the title or a prefix of something in a listing that may not have been read whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from nlm_cdp.errors import Ambiguous, Drift, NotFound

R = TypeVar("R")


class Candidate(NamedTuple):
    id: str
    title: str


def resolve(reference: str, candidates: Iterable[Candidate], noun: str) -> str:
    """The id that a full id, an exact title or a unique prefix of either names. Raises NotFound or Ambiguous."""
    known = list(candidates)
    if any(candidate.id == reference for candidate in known):
        return reference
    folded = reference.casefold()
    for matches in (
        [c for c in known if c.title == reference],
        [c for c in known if c.title.casefold() == folded],
        [c for c in known if c.id.startswith(reference) or c.title.casefold().startswith(folded)] if folded else [],
    ):
        found = {match.id: match.title for match in matches}  # one thing may match under several titles
        if len(found) == 1:
            return matches[0].id
        if found:
            listed = [{"id": id, "title": title} for id, title in list(found.items())[:20]]
            raise Ambiguous(f"{len(found)} {noun}s match this reference", details={"candidates": listed})
    raise NotFound(
        f"no {noun} has this id, title or prefix",
        hint=f"List the {noun}s to see what is there.",
        details={noun: reference},
    )


def meant(reference: str, candidates: list[Candidate], noun: str, undecoded: Iterable[str]) -> str:
    """The same in a listing with rows that could not be read: these may hide another match, so it takes an id."""
    if (unread := list(undecoded)) and all(candidate.id != reference for candidate in candidates):
        raise Drift(
            f"the list of {noun}s could not be read completely, so it cannot say which one this title or prefix means",
            hint=f"Use the {noun}'s id.",
            details={"undecoded": unread},
        )
    return resolve(reference, candidates, noun)


@dataclass(frozen=True)
class Listing(Generic[R]):
    """What is there of one noun, by id; `titles`: what a row may be called beside it; `undecoded`: by wire path."""

    noun: str
    rows: dict[str, R]
    titles: Callable[[R], Iterable[str]]
    undecoded: list[str]

    @property
    def candidates(self) -> list[Candidate]:
        return [Candidate(id, title) for id, row in self.rows.items() for title in self.titles(row)]

    def meant(self, reference: str) -> R:
        """The row that a reference means. Raises NotFound, Ambiguous, or Drift."""
        return self.rows[meant(reference, self.candidates, self.noun, self.undecoded)]
