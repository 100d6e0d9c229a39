"""Every tool against every fault of the service and the line, one at a time: over the simulator, without a browser.

For each: what the tool ends in, what became of a change, and how often the request was sent. What a proxy can do to the
socket is in tests/e2e/test_hostile.py, refusals by status in tests/test_refusals.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from nlm_cdp.api import TOOLS
from nlm_cdp.errors import NlmError, Outcome
from nlm_cdp.rpc import Effect
from nlm_cdp.sim.faults import Fault, Kind, displayable
from nlm_cdp.sim.simulator import Simulator
from tests.fakes import Bench, FakeFiles
from tests.test_refusals import (
    ABOUT,
    CALLS,
    CASES,
    Case,
    artifact,
    label,
    made,
    noted,
    research,
    simulated,
)

Arrange = Callable[[Simulator, Bench], Any]


async def started(bench: Bench) -> dict[str, Any]:
    await label(bench)
    return {"notebook": ABOUT}


READS: list[Case] = [
    ("list_notebooks", "wXbhsf", lambda _s, _b: {}),
    ("get_notebook", "rLM1Ne", lambda _s, _b: {"notebook": ABOUT}),
    ("list_sources", "rLM1Ne", lambda _s, _b: {"notebook": ABOUT}),
    ("get_source_content", "hizoJc", lambda _s, _b: {"source": "Faults on request", "notebook": ABOUT}),
    ("get_source_guide", "tr032e", lambda _s, _b: {"source": "Faults on request", "notebook": ABOUT}),
    ("search_sources", "ASU5Oe", lambda _s, _b: {"query": "What do faults do?", "notebook": ABOUT}),
    ("list_labels", "I3xc3c labels", lambda _s, b: started(b)),
    ("get_conversation", "hPTbtc", lambda _s, _b: {"notebook": ABOUT}),
    ("suggest_questions", "otmP3b", lambda _s, _b: {"notebook": ABOUT, "about": "faults"}),
    ("list_notes", "cFji9", lambda _s, b: noted(b)),
    ("get_note", "cFji9", lambda _s, b: noted(b, note="Kept")),
    ("list_artifacts", "gArtLc", lambda _s, _b: {"notebook": ABOUT}),
    ("get_artifact", "gArtLc", lambda _s, b: made("artifact", artifact(b, "report"))),
    ("download_artifact", "gArtLc", lambda _s, b: made("artifact", artifact(b, "report"))),
    ("suggest_reports", "ciyUvf", lambda _s, _b: {"notebook": ABOUT}),
    ("get_research", "e3bVqc", lambda _s, b: made("research_id", research(b, wait=True))),
    ("get_share_status", "JFMDGd", lambda _s, _b: {"notebook": ABOUT}),
    ("get_account", "ZwVcOc", lambda _s, _b: {}),
]


@dataclass(frozen=True)
class Trouble:
    """A fault, and what it means.

    `read`: the code a read ends in, `write` that of a write; None where the call works after all. `outcome`: what became
    of a write that failed. `again`: requests of a call that may be repeated; one that may not is sent `once`.
    """

    name: str
    fault: Fault | None = None
    read: str | None = None
    write: str | None = None
    outcome: Outcome = Outcome.UNKNOWN
    again: int = 2
    once: int = 1
    before: Callable[[Simulator], None] = lambda _: None


def http(code: int) -> Fault:
    return Fault(Kind.HTTP, code=code, headers={"retry-after": "7"}, times=9)


QUOTA = Fault(Kind.STATUS, code=8, details=displayable("You have reached your daily limit."), times=9)
TROUBLES = (
    Trouble("stale token", again=1, before=lambda sim: sim.service.rotate_token()),  # the refused try has no id yet
    Trouble("late", Fault(Kind.LATE, seconds=5), again=1),
    Trouble("429", http(429), "RATE_LIMITED", "UNCONFIRMED_WRITE", again=1),
    Trouble("500", http(500), "SERVICE", "UNCONFIRMED_WRITE"),
    Trouble("503", http(503), "SERVICE", "UNCONFIRMED_WRITE"),
    Trouble("cut body", Fault(Kind.CUT, amount=0.5, times=9), "NETWORK", "UNCONFIRMED_WRITE"),
    Trouble("short body", Fault(Kind.SHORT, amount=0.5, times=9), "NETWORK", "UNCONFIRMED_WRITE"),
    Trouble("wall of HTML", Fault(Kind.WALL, times=9), "SERVICE", "UNCONFIRMED_WRITE", again=1),
    Trouble("quota", QUOTA, "RATE_LIMITED", "RATE_LIMITED", Outcome.REJECTED, again=1),
)


each_call = pytest.mark.parametrize(
    ("tool", "call", "arrange"), READS + CASES, ids=[f"{case[0]}-{case[1]}" for case in READS + CASES]
)


@each_call
@pytest.mark.parametrize("trouble", TROUBLES, ids=[trouble.name for trouble in TROUBLES])
async def test_a_fault_ends_in_its_own_error_and_nothing_is_sent_twice(
    tool: str, call: str, arrange: Arrange, trouble: Trouble, tmp_path: Path
) -> None:
    """A write that ends in a result although its answer was spoilt is one that the tool has read back."""
    rpc = CALLS[call]
    assert rpc in TOOLS[tool].rpcs

    def arm(sim: Simulator) -> None:
        if trouble.fault is not None:
            sim.faults.add(replace(trouble.fault, on=rpc.id))
        trouble.before(sim)

    result, sent = await tried(tool, rpc.id, arrange, arm, tmp_path)
    reads, repeatable = rpc.effect is Effect.READ, rpc.effect in (Effect.READ, Effect.SET)
    code = trouble.read if reads else trouble.write
    if isinstance(result, NlmError):
        assert result.code == code, result
        if not reads:
            assert result.outcome is trouble.outcome
        if trouble.name in ("429", "503"):
            assert result.retry_after_s == 7
    else:
        assert code is None or (not reads and trouble.outcome is Outcome.UNKNOWN)
    assert sent == (trouble.again if repeatable else trouble.once)


@each_call
async def test_a_sign_out_is_told_as_one_and_nothing_is_sent_after_it(
    tool: str, call: str, arrange: Arrange, tmp_path: Path
) -> None:
    """Where the write itself is the first to meet it (HTTP 401), what became of it is not known."""
    rpc = CALLS[call]
    result, sent = await tried(tool, rpc.id, arrange, lambda sim: sim.service.sign_out(), tmp_path)
    assert isinstance(result, NlmError)
    met = sent == 1 and rpc.effect is not Effect.READ
    assert (result.code, sent) == ("UNCONFIRMED_WRITE" if met else "SIGNED_OUT", 1 if sent else 0)
    assert "sign" in result.hint.lower() or met


async def tried(
    tool: str, rpc: str, arrange: Arrange, arm: Callable[[Simulator], None], folder: Path
) -> tuple[NlmError | dict[str, Any], int]:
    """What a tool ends in once something is wrong, and how often its call was sent meanwhile."""
    async with simulated() as (sim, bench):
        bench.files = FakeFiles(folder)
        arguments = arrange(sim, bench)
        arguments = arguments if isinstance(arguments, dict) else await arguments
        before = len(sim.requests.to(rpc))
        arm(sim)
        try:
            result: NlmError | dict[str, Any] = await bench.call(tool, **arguments)
        except NlmError as exc:
            result = exc
        return result, len(sim.requests.to(rpc)) - before


def test_no_tool_that_calls_the_service_is_left_out() -> None:
    """Answers stream and need a real page: tests/e2e/test_asking.py; health and sign-in: tests/e2e/test_system.py."""
    calling = {name for name, tool in TOOLS.items() if tool.rpcs}
    elsewhere = {"ask_question", "get_answer", "cancel_answer", "save_answer"}
    elsewhere |= {"get_health", "re_auth", "setup_auth", "select_notebook"}
    assert calling - {tool for tool, _, _ in READS + CASES} == elsewhere
