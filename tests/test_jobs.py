"""Background jobs: how they end, how many there may be, what is kept, and that none outlives its nursery."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

import pytest
import trio

from nlm_cdp.errors import NotFound, Outcome, RateLimited
from nlm_cdp.jobs import Job, Jobs, side_by_side


async def nap(job: Job, seconds: float = 10.0, result: Any = "rested") -> Any:
    await job.report("asleep")
    await trio.sleep(seconds)
    return result


async def test_a_job_from_beginning_to_end() -> None:
    async with trio.open_nursery() as nursery:
        jobs = Jobs(nursery)
        job = jobs.start("nap", "about it", nap)
        assert job.id.startswith("nap_")
        assert (job.status, job.about, job.said) == ("running", "about it", "")
        assert not await job.finished(4)
        assert (trio.current_time(), job.said) == (4, "asleep")
        assert await job.finished(60)
        assert trio.current_time() == 10
        assert (job.status, job.result, job.error) == ("done", "rested", None)
        assert jobs.find(job.id) is job
        assert jobs.find("nap_x") is None
        assert await job.finished(0)


async def test_what_a_job_raises_is_kept_and_reaches_nobody_else() -> None:
    async def fail(job: Job) -> None:
        raise NotFound("no such thing")

    async with trio.open_nursery() as nursery:
        jobs = Jobs(nursery)
        job, other = jobs.start("a", None, fail), jobs.start("b", None, nap)
        assert await job.finished(1)
        assert job.status == "failed"
        assert isinstance(job.error, NotFound)
        assert await other.finished(60)
        assert other.result == "rested"


async def test_a_fault_of_our_own_is_told_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    async def fail(job: Job) -> None:
        raise ValueError("a secret")

    async with trio.open_nursery() as nursery:
        jobs = Jobs(nursery)
        with caplog.at_level(logging.ERROR):
            job = jobs.start("a", None, fail)
            await job.finished(1)
    assert job.error is not None
    assert (job.error.code, job.error.outcome) == ("INTERNAL", Outcome.UNKNOWN)
    assert "ValueError" in job.error.message
    assert "secret" not in job.error.message + caplog.text


async def test_cancelling_ends_a_job_before_it_returns() -> None:
    ended = []

    async def work(job: Job) -> None:
        try:
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep(3)
            ended.append(job.id)

    async with trio.open_nursery() as nursery:
        jobs = Jobs(nursery)
        job, other = jobs.start("a", None, work), jobs.start("b", None, nap)
        await trio.sleep(1)
        await jobs.cancel(job.id)
        assert (job.status, ended, trio.current_time()) == ("cancelled", [job.id], 4)
        assert other.status == "running"
        await jobs.cancel(job.id)
        await jobs.cancel("nobody")
        await other.finished(60)
        await jobs.cancel(other.id)
        assert (other.status, other.result) == ("done", "rested")


async def test_only_so_many_run_at_once_and_every_end_makes_room() -> None:
    async def fail(job: Job) -> None:
        raise NotFound("at once")

    async with trio.open_nursery() as nursery:
        jobs = Jobs(nursery, running=2)
        first = jobs.start("a", None, nap)
        failed = jobs.start("b", None, fail)
        with pytest.raises(RateLimited) as caught:
            jobs.start("c", None, nap)
        assert caught.value.retriable
        assert caught.value.outcome is Outcome.NOT_SENT
        await failed.finished(1)
        second = jobs.start("d", None, nap)
        with pytest.raises(RateLimited):
            jobs.start("e", None, nap)
        await jobs.cancel(second.id)
        jobs.start("f", None, nap)
        assert first.status == "running"
        await jobs.close()


async def test_the_results_that_ended_last_are_kept_and_running_jobs_always() -> None:
    async with trio.open_nursery() as nursery:
        jobs = Jobs(nursery, running=10, kept=3)
        slow = jobs.start("slow", None, partial(nap, seconds=100))
        made = [jobs.start("n", None, partial(nap, seconds=float(9 - number))) for number in range(6)]
        await made[0].finished(60)
        assert [jobs.find(job.id) is not None for job in made] == [True, True, True, False, False, False]
        assert jobs.find(slow.id) is slow
        await slow.finished(200)
        assert [jobs.find(job.id) is not None for job in [slow, *made]] == [True, True, True, *[False] * 4]


async def test_closing_ends_all_and_so_does_the_nursery() -> None:
    async with trio.open_nursery() as nursery:
        jobs = Jobs(nursery)
        made = [jobs.start("a", None, nap) for _ in range(3)]
        await trio.sleep(1)
        await jobs.close()
        assert [job.status for job in made] == ["cancelled"] * 3
        late = jobs.start("a", None, nap)
        await trio.sleep(1)
        nursery.cancel_scope.cancel()
    assert late.status == "cancelled"
    assert trio.current_time() == 2


async def test_a_start_that_fails_takes_no_place() -> None:
    async with trio.open_nursery() as nursery:
        jobs = Jobs(nursery, running=1)
    with pytest.raises(RuntimeError):
        jobs.start("a", None, nap)
    assert jobs.jobs == {}


async def test_side_by_side_keeps_the_order_and_the_bound() -> None:
    busy = most = 0

    async def work(number: int) -> int:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        await trio.sleep(10 - number)
        busy -= 1
        return number

    found = await side_by_side([partial(work, number) for number in range(10)], 3)
    assert found == list(range(10))
    assert most == 3
    assert await side_by_side([], 3) == []
