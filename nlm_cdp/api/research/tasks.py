"""The research tasks of a notebook: the listing that tells them, and which of them a reference means."""

from __future__ import annotations

from typing import NamedTuple

from nlm_cdp.api.common import Timestamp, legible
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.references import Candidate, meant
from nlm_cdp.api.research.research import POLL, PollResearch, Task, Tasks
from nlm_cdp.errors import NotFound
from nlm_cdp.rpc import ToolContext


class Listing(NamedTuple):
    """A notebook's tasks, newest first, and the answer they came in."""

    tasks: list[Task]
    answer: Tasks

    def task(self, reference: str | None) -> Task | None:
        """The task meant: by its id, its session's id, its query or a prefix; the latest where none is named.

        None for an id that is not there: a fresh task shows late. Raises NotFound or Ambiguous for other references.
        """
        if reference is None:
            return self.tasks[0] if self.tasks else None
        for ids in ({task.id: task for task in self.tasks}, {task.session_id: task for task in self.tasks}):
            if reference in ids:
                return ids[reference]
        if notebooks.is_id(reference) and not self.answer.undecoded:
            return None
        candidates = [Candidate(task.id, task.query) for task in self.tasks]
        found = meant(reference, candidates, "research task", self.answer.undecoded)
        return next(task for task in self.tasks if task.id == found)


async def listing(ctx: ToolContext, notebook: str) -> Listing:
    """The tasks of this notebook and of no other."""
    answer = await ctx.call(POLL, PollResearch(notebook_id=notebook))
    rows = legible(answer.tasks or [], answer.undecoded)
    mine = {row.id: row for row in rows if row.job.notebook_id in (None, notebook)}
    return Listing(sorted(mine.values(), key=age), answer)


def age(task: Task) -> tuple[int, int]:
    """Sorts the newest first."""
    at = task.created or task.updated or Timestamp(seconds=0)
    return -at.seconds, -at.nanos


def absent(listed: Listing) -> NotFound:
    """The error for an id that is not in the listing, where that is needed."""
    return NotFound(
        "no research of this notebook has this id",
        hint="One just started takes some seconds to show. If it was started in another notebook, name that.",
        details={"research": [{"id": task.id, "query": task.query} for task in listed.tasks[:20]]},
    )
