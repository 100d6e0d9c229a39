"""Rows of research tasks, and scripts of what listings of them show."""

from __future__ import annotations

from typing import Any

from nlm_cdp.api.research import research
from tests.fakes import START, Bench

R1, R2, R3 = (f"{digit * 8}-0000-4000-8000-{digit * 12}" for digit in "123")
SESSION = "99999999-0000-4000-8000-999999999999"
A, B = ["https://a.test/x", "Page A", "why A", 1], ["https://b.test/y", "Page B", "why B", 1]
REPORT: list[Any] = [None, "The report", None, 5, None, None, ["# Fog\n\nSee [A](https://a.test/x).", 3]]
RUNNING, DONE, NO_RESULTS, CANCELLED = 1, 2, 3, 4


def task(
    task_id: str = R1,
    status: int = DONE,
    *found: Any,
    query: str = "fog horns",
    corpus: int = 1,
    deep: bool = False,
    at: int = START,
    summary: str = "In short",
    in_notebook: str | None = None,
) -> list[Any]:
    findings = [list(found), summary] if found else None
    job: list[Any] = [in_notebook, [query, corpus], 5 if deep else 1, findings, status]
    if deep:
        job.append([SESSION, None, 1, None, "a model"])
    return [task_id, job, [at + 9, 5], [at, 5]]


def looks(bench: Bench, *looks: Any) -> None:
    """What each look at the listing shows; the last one repeats. Exceptions are raised."""
    bench.caller.script(research.POLL, *[look if isinstance(look, Exception) else [list(look)] for look in looks])
