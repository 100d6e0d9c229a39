"""Copying a notebook, and taking one off the recent list."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api.notebooks import notebooks, writing
from nlm_cdp.errors import Network, Outcome
from tests.fakes import NB, NB2, NB3, REFUSALS, S1, Bench, lost, notebook, refused, source, with_notebook

COPIED = ["Copy", None, NB2, "📓", None, [1, False, True, None, None, None, 1, False, [1_700_000_000, 5]]]


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    with_notebook(bench, source(S1))
    return bench


async def test_a_copy(bench: Bench) -> None:
    bench.caller.script(writing.COPY, COPIED)
    result = await bench.call("copy_notebook", notebook="My notebook", title="Copy")
    assert result["notebook"] == {
        "id": NB2,
        "title": "Copy",
        "emoji": "📓",
        "source_count": 0,
        "role": "owner",
        "shared": False,
        "created": "2023-11-14T22:13:20Z",
        "url": f"https://notebook.google.com/notebook/{NB2}",
    }
    assert result["copied_from"] == NB
    assert "arrive" in result["note"]
    context = [2, None, None, [1, *[None] * 9, [1]]]
    assert bench.caller.sent(writing.COPY)[0].encode() == [context, NB, "Copy"]
    assert bench.caller.calls == ["wXbhsf", "te3DCe"]


@pytest.mark.parametrize("arguments", [{}, {"notebook": NB}, {"title": "x"}, {"notebook": NB, "title": ""}])
async def test_a_copy_needs_an_original_and_a_title(bench: Bench, arguments: dict[str, Any]) -> None:
    assert (await bench.fails("copy_notebook", **arguments)).code == "INVALID_ARGUMENT"
    assert bench.caller.requests == []


@pytest.mark.parametrize("status", [3, 7, 8])
async def test_a_copy_beyond_the_limit_is_a_quota(bench: Bench, status: int) -> None:
    bench.caller.script(writing.COPY, refused(status))
    bench.caller.script(notebooks.LIST, [[notebook(NB, limit=1), notebook(NB3, role=3)]])
    error = await bench.fails("copy_notebook", notebook=NB, title="Copy")
    assert (error.code, error.outcome) == ("QUOTA", Outcome.REJECTED)
    assert len(bench.caller.sent(writing.COPY)) == 1


@pytest.mark.parametrize(
    ("status", "code"),
    REFUSALS,
)
async def test_a_refused_copy(bench: Bench, status: int, code: str) -> None:
    bench.caller.script(writing.COPY, refused(status))
    bench.caller.script(notebooks.LIST, [[notebook(NB, limit=100)]])
    error = await bench.fails("copy_notebook", notebook=NB, title="Copy")
    assert (error.code, error.outcome) == (code, Outcome.REJECTED)
    assert len(bench.caller.sent(writing.COPY)) == 1


async def test_a_copy_whose_answer_was_lost_is_never_made_twice(bench: Bench) -> None:
    bench.caller.script(writing.COPY, lost())
    bench.caller.script(notebooks.LIST, [[notebook(NB), notebook(NB2, "Copy")]])
    error = await bench.fails("copy_notebook", notebook=NB, title="Copy")
    assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", Outcome.UNKNOWN)
    assert error.details["same_title"] == [NB2]
    bench.caller.script(notebooks.LIST, Network("offline"))
    assert (await bench.fails("copy_notebook", notebook=NB, title="Copy")).outcome is Outcome.UNKNOWN
    assert len(bench.caller.sent(writing.COPY)) == 2


async def test_forgetting_a_notebook(bench: Bench) -> None:
    bench.store.active = NB
    bench.caller.script(writing.FORGET, [])
    result = await bench.call("forget_notebook", notebook="My")
    assert result == {"status": "forgotten", "notebook_id": NB, "title": "My notebook"}
    assert bench.caller.sent(writing.FORGET)[0].encode() == [NB]
    assert bench.caller.calls == ["wXbhsf", "rLM1Ne", "fejl7e"]
    assert bench.store.active == NB


def test_its_status_13_is_no_failure() -> None:
    assert writing.FORGET.harmless == {13}


async def test_a_notebook_that_is_not_there_is_not_forgotten(bench: Bench) -> None:
    """The service would say the same as of one that is."""
    bench.caller.script(notebooks.GET, refused(5))
    assert (await bench.fails("forget_notebook", notebook=NB2)).code == "NOT_FOUND"
    assert bench.caller.sent(writing.FORGET) == []


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (3, "INVALID_ARGUMENT"),
        (5, "NOT_FOUND"),
        (7, "PERMISSION"),
        (8, "RATE_LIMITED"),
        (9, "NOT_READY"),
        (16, "SIGNED_OUT"),
    ],
)
async def test_forgetting_that_is_refused(bench: Bench, status: int, code: str) -> None:
    bench.caller.script(writing.FORGET, refused(status))
    error = await bench.fails("forget_notebook", notebook=NB)
    assert (error.code, error.outcome) == (code, Outcome.REJECTED)


async def test_forgetting_whose_answer_was_lost(bench: Bench) -> None:
    failure = lost()
    bench.caller.script(writing.FORGET, failure)
    assert await bench.fails("forget_notebook", notebook=NB) is failure
