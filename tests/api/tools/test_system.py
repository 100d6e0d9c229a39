"""get_health: a real call is the judge, and every state says what to do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nlm_cdp import __version__, errors
from nlm_cdp.api import notebooks
from nlm_cdp.errors import NlmError
from tests.fakes import EVERYTHING, NB, Bench, notebook, refused


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def test_everything_works(bench: Bench) -> None:
    bench.caller.script(notebooks.LIST, [[notebook(NB)]])
    bench.caller.state = replace(bench.caller.state, page="https://notebook.google.com/robots.txt", account="a@b.test")
    await bench.store.create_session(NB)
    assert await bench.call("get_health") == {
        "status": "ok",
        "state": "ok",
        "authenticated": True,
        "account": "a@b.test",
        "chrome": {"version": "Chrome/156.0", "mode": "port", "endpoint": "http://127.0.0.1:9222"},
        "page": "https://notebook.google.com/robots.txt",
        "active_sessions": 1,
        "version": __version__,
        "config": {"endpoint": "auto", "scopes": list(EVERYTHING), "toolsets": ["all"]},
        "simulated": False,
    }
    assert bench.caller.calls == ["wXbhsf"]


@pytest.mark.parametrize(
    ("failure", "state"),
    [
        (errors.ChromeNotFound("no browser was found."), "no_browser"),
        (errors.ChromeDebuggingOff("debugging is off"), "debugging_off"),
        (errors.ChromeApprovalPending("waiting for consent"), "approval_pending"),
        (errors.ChromeApprovalDenied("the user said no"), "denied"),
        (errors.ChromePolicyBlocked("a policy forbids it"), "policy_blocked"),
        (errors.SignedOut("signed out"), "signed_out"),
        (errors.AccessGated("a landing page"), "gated"),
        (errors.AccountAmbiguous("two accounts"), "account_ambiguous"),
        (errors.ChromeLost("the connection is gone"), "could_not_check"),
        (errors.Network("offline"), "could_not_check"),
        (refused(13), "could_not_check"),
    ],
    ids=lambda value: value.code if isinstance(value, NlmError) else value,
)
async def test_what_does_not_work_is_a_finding_and_no_error(bench: Bench, failure: NlmError, state: str) -> None:
    bench.caller.script(notebooks.LIST, failure)
    result = await bench.call("get_health")
    assert (result["status"], result["state"], result["code"]) == ("error", state, failure.code)
    assert result["authenticated"] is False
    assert result["troubleshooting_tip"] == f"{failure.message.rstrip('.')}. {failure.hint}".strip()


async def test_an_unread_list_is_no_proof(bench: Bench) -> None:
    bench.caller.script(notebooks.LIST, ["x"])
    result = await bench.call("get_health")
    assert (result["state"], result["code"]) == ("could_not_check", "DRIFT")


async def test_a_simulation_says_so(bench: Bench) -> None:
    bench.caller.simulated = True
    bench.caller.script(notebooks.LIST, [])
    assert (await bench.call("get_health"))["simulated"] is True


async def test_it_takes_no_arguments(bench: Bench) -> None:
    arguments: dict[str, Any] = {"verbose": True}
    assert (await bench.fails("get_health", **arguments)).code == "INVALID_ARGUMENT"
