"""Work that outlives the call that began it: started, looked up and cancelled by id, its result kept for a while.

Every job runs in the nursery that was given and ends in one of three ways, all of them kept in the job; what a job
raises never reaches its nursery. Both the running jobs and the kept results are bounded.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import trio

from nlm_cdp.errors import NlmError, Outcome, RateLimited
from nlm_cdp.rpc import JobStatus

logger = logging.getLogger(__name__)

T = TypeVar("T")

RUNNING = 4
KEPT = 50


class Job:
    """One piece of work; `about` is whatever its starter needs to remember, `said` its latest progress."""

    def __init__(self, job_id: str, about: Any) -> None:
        self.id, self.about = job_id, about
        self.status: JobStatus = "running"
        self.said = ""
        self.result: Any = None
        self.error: NlmError | None = None
        self.scope, self.over = trio.CancelScope(), trio.Event()

    async def report(self, message: str) -> None:
        self.said = message

    async def finished(self, within: float) -> bool:
        """Whether it has ended, after waiting that many seconds for it at most."""
        with trio.move_on_after(within):
            await self.over.wait()
        return self.over.is_set()


class Jobs:
    """The jobs of one process: at most `running` at once, and the `kept` results that ended last."""

    def __init__(self, nursery: trio.Nursery, *, running: int = RUNNING, kept: int = KEPT) -> None:
        self.nursery, self.running, self.kept = nursery, running, kept
        self.jobs: dict[str, Job] = {}

    def start(self, kind: str, about: Any, work: Callable[[Job], Awaitable[Any]]) -> Job:
        """Begin a job; its id begins with `kind`. Raises RateLimited while too many are running."""
        if sum(job.status == "running" for job in self.jobs.values()) >= self.running:
            raise RateLimited(
                f"{self.running} jobs are running already, which is the most there may be at once",
                hint="Wait for one of them to finish, or cancel one.",
            )
        job = Job(f"{kind}_{secrets.token_urlsafe(12)}", about)
        self.nursery.start_soon(self.run, job, work)
        self.jobs[job.id] = job
        return job

    def find(self, job_id: str) -> Job | None:
        return self.jobs.get(job_id)

    async def cancel(self, job_id: str) -> None:
        """End a job and wait until it has; one that ended before keeps its result."""
        if (job := self.jobs.get(job_id)) is not None:
            job.scope.cancel()
            await job.over.wait()

    async def close(self) -> None:
        """End every job."""
        for job in self.jobs.values():
            job.scope.cancel()
        for job in list(self.jobs.values()):
            await job.over.wait()

    async def run(self, job: Job, work: Callable[[Job], Awaitable[Any]]) -> None:
        try:
            with job.scope:
                job.result = await work(job)
                job.status = "done"
        except NlmError as exc:
            job.status, job.error = "failed", exc
        except Exception as exc:  # noqa: BLE001 - the edge of the task: one that fails must not take the process along
            name = type(exc).__name__
            logger.error("a background job failed inside: %s", name)  # noqa: TRY400 - its text may hold a payload
            message = f"the background job failed inside ({name})"
            job.status, job.error = "failed", NlmError(message, hint="Please report this.", outcome=Outcome.UNKNOWN)
        finally:
            if job.status == "running":
                job.status = "cancelled"
            job.over.set()
            self.jobs[job.id] = self.jobs.pop(job.id, job)  # the order is that of their ends
            self.forget()

    def forget(self) -> None:
        ended = [job.id for job in self.jobs.values() if job.status != "running"]
        for job_id in ended[: -self.kept]:
            del self.jobs[job_id]


async def side_by_side(works: Sequence[Callable[[], Awaitable[T]]], at_most: int) -> list[T]:
    """What several pieces of work give, in their order, with `at_most` of them under way at once.

    Work that may fail answers for that itself: what it raises ends the others, as in every nursery.
    """
    limiter = trio.CapacityLimiter(at_most)
    found: dict[int, T] = {}

    async def run(index: int, work: Callable[[], Awaitable[T]]) -> None:
        async with limiter:
            found[index] = await work()

    async with trio.open_nursery() as nursery:
        for index, work in enumerate(works):
            nursery.start_soon(run, index, work)
    return [found[index] for index in range(len(found))]
