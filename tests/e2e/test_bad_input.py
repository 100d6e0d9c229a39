"""What goes wrong in the field, injected one at a time: the right code and hint in time, and the next call works."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from nlm_cdp.sim.faults import Fault, Kind, displayable
from nlm_cdp.sim.log import Logged
from tests.e2e.world import World, in_chromium, world

pytestmark = in_chromium
LIST, CREATE, DELETE, RENAME, ADD, LOAD = "wXbhsf", "CCqFvf", "WWINqb", "s0tc2d", "izAoDd", "hizoJc"


async def lives_on(there: World) -> None:
    with trio.fail_after(20):
        assert (await there.call("list_notebooks"))["total"] >= 1


READS = [
    pytest.param(Fault(Kind.WALL, LIST), "SERVICE", 1, id="html wall"),
    pytest.param(Fault(Kind.EMPTY, LIST), "SERVICE", 1, id="empty body"),
    pytest.param(Fault(Kind.PREFIX, LIST), "SERVICE", 1, id="prefix only"),
    pytest.param(Fault(Kind.FOREIGN, LIST), "DRIFT", 1, id="another id"),
    pytest.param(Fault(Kind.PAYLOAD, LIST, body="undefined"), "DRIFT", 1, id="payload is not JSON"),
    pytest.param(Fault(Kind.STATUS, LIST, code=5), "NOT_FOUND", 1, id="status 5"),
    pytest.param(Fault(Kind.STATUS, LIST, code=7), "PERMISSION", 1, id="status 7"),
    pytest.param(Fault(Kind.STATUS, LIST, code=8, details=displayable()), "RATE_LIMITED", 1, id="status 8"),
    pytest.param(Fault(Kind.ER, LIST, code=500), "SERVICE", 1, id="er frame"),
    pytest.param(Fault(Kind.HTTP, LIST, times=2, code=500), "SERVICE", 2, id="500"),
    pytest.param(Fault(Kind.HTTP, LIST, times=2, code=503), "SERVICE", 2, id="503"),
    pytest.param(Fault(Kind.HTTP, LIST, code=429, headers={"retry-after": "9"}), "RATE_LIMITED", 1, id="429"),
    pytest.param(Fault(Kind.HTTP, LIST, code=404), "DRIFT", 1, id="404"),
    pytest.param(Fault(Kind.CUT, LIST, times=2, amount=0.5), "NETWORK", 2, id="half a body"),
    pytest.param(Fault(Kind.SHORT, LIST, times=2, amount=0.5), "NETWORK", 2, id="half a body, properly ended"),
    pytest.param(Fault(Kind.RESET, LIST, times=2, amount=1), "NETWORK", 2, id="reset"),
]


@pytest.mark.parametrize(("fault", "code", "sent"), READS)
async def test_a_read_that_fails_says_why(
    fault: Fault, code: str, sent: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, monkeypatch) as there:
        await there.call("list_notebooks")
        before = there.sent(LIST)
        there.service.faults.add(fault)
        with trio.fail_after(20):
            error = await there.fails("list_notebooks")
        assert error.code == code
        assert error.hint
        assert there.sent(LIST) - before == sent
        if fault.headers:
            assert error.retry_after_s == 9
        await lives_on(there)


HARMLESS = [
    pytest.param(Fault(Kind.SEVERAL, LIST), id="several replies"),
    pytest.param(Fault(Kind.COUNT, LIST, amount=1), id="lengths off by one"),
    pytest.param(Fault(Kind.COUNT, LIST, amount=-2), id="lengths without the two"),
    pytest.param(Fault(Kind.SLOW, LIST, seconds=0.0), id="byte by byte"),
    pytest.param(Fault(Kind.HTTP, LIST, code=500), id="one 500"),
    pytest.param(Fault(Kind.RESET, LIST), id="one reset"),
    pytest.param(Fault(Kind.HTTP, LIST, code=400), id="one 400"),
    pytest.param(Fault(Kind.HTTP, LIST, code=401), id="one 401"),
    pytest.param(Fault(Kind.STATUS, LIST, code=16), id="one status 16"),
]


@pytest.mark.parametrize("fault", HARMLESS)
async def test_a_read_gets_over_it(fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        there.service.faults.add(fault)
        assert (await there.call("list_notebooks"))["total"] == 1


async def test_a_stale_token_costs_one_refresh_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        await there.call("list_notebooks")
        there.service.service.rotate_token()
        loads = len(there.service.requests.to("/"))
        async with trio.open_nursery() as nursery:
            for number in range(5):
                nursery.start_soon(partial(there.call, "create_notebook", title=f"N{number}"))
        assert len(there.service.requests.to("/")) == loads + 1
        assert (await there.call("list_notebooks"))["total"] == 6


# Not before the first byte: there Chromium itself sends the request again on a new connection.
LOST = [
    pytest.param(Fault(Kind.CUT, amount=1), id="closed after the commit"),
    pytest.param(Fault(Kind.RESET, amount=1), id="reset after the commit"),
    pytest.param(Fault(Kind.HTTP, code=500, commit=True), id="500 after the commit"),
    pytest.param(Fault(Kind.HTTP, code=401, commit=True), id="401 after the commit"),
    pytest.param(Fault(Kind.HTTP, code=429, commit=True), id="429 after the commit"),
    pytest.param(Fault(Kind.EMPTY, commit=True), id="empty body after the commit"),
    pytest.param(Fault(Kind.CUT, amount=0.4), id="cut"),
]


@pytest.mark.parametrize("fault", LOST)
async def test_a_create_whose_reply_is_lost_is_sent_once(
    fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, monkeypatch) as there:
        there.service.faults.add(replace(fault, on=CREATE))
        error = await there.fails("create_notebook", title="Once")
        assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", "unknown")
        assert there.sent(CREATE) == 1
        assert len(error.details["same_title"]) == 1
        listed = await there.call("list_notebooks", query="Once")
        assert listed["total"] == 1


@pytest.mark.parametrize("code", [3, 5, 7, 8, 9, 13])
@pytest.mark.parametrize(
    ("tool", "rpc", "arguments"),
    [
        ("create_notebook", CREATE, {"title": "T"}),
        ("rename_notebook", RENAME, {"notebook": "About", "title": "T"}),
        ("delete_notebook", DELETE, {"notebook": "About", "confirm": True}),
    ],
)
async def test_a_refused_write_is_an_error(
    tool: str, rpc: str, arguments: dict[str, Any], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, monkeypatch) as there:
        there.service.faults.add(Fault(Kind.STATUS, rpc, code=code))
        error = await there.fails(tool, **arguments)
        assert error.outcome == "rejected"
        assert rpc not in error.message
        assert there.sent(rpc) == 1
        await lives_on(there)


@pytest.mark.parametrize("how", ["redirect", "landing"])
@pytest.mark.parametrize("rpc", ["http", "status"])
@pytest.mark.parametrize("early", [True, False])
async def test_signed_out_is_said_everywhere_and_mends_itself(
    how: Any, rpc: Any, early: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, monkeypatch) as there:
        if not early:
            await there.call("list_notebooks")
        there.service.service.sign_out(how, rpc=rpc)
        error = await there.fails("list_notebooks")
        assert (error.code, error.state) == ("SIGNED_OUT", "signed_out")
        health = await there.call("get_health")
        assert (health["state"], health["authenticated"]) == ("signed_out", False)
        there.service.service.sign_in()
        await lives_on(there)


async def test_a_gate_is_not_a_sign_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        there.service.service.gate()
        error = await there.fails("list_notebooks")
        assert error.code == "ACCESS_GATED"
        there.service.service.gate(on=False)
        await lives_on(there)


UNREADABLE = Fault(Kind.STATUS, "khqZz", code=13, times=3)
"""Keeps an answer that was written all the same from being read back."""


async def test_half_a_stream_with_text_is_a_truncated_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        there.service.faults.add(Fault(Kind.CUT, "chat", amount=0.8), UNREADABLE)
        answer = await there.call("ask_question", question="What is the simulator?", notebook="About")
        assert answer["truncated"]
        assert answer["answer"]


CHATS = [
    pytest.param(Fault(Kind.BOOKKEEPING, "chat"), "RATE_LIMITED", "rejected", id="allowance used up"),
    pytest.param(Fault(Kind.THINKING, "chat"), "SERVICE", "unknown", id="thinking only"),
    pytest.param(Fault(Kind.STATUS, "chat", code=3), "INVALID_ARGUMENT", "rejected", id="refused"),
    pytest.param(
        Fault(Kind.BROKEN, "chat", code=8, details=displayable("Slow down, please.")),
        "RATE_LIMITED",
        "rejected",
        id="error frame",
    ),
    pytest.param(Fault(Kind.CUT, "chat", amount=1), "NETWORK", "unknown", id="closed"),
    pytest.param(Fault(Kind.HTTP, "chat", code=500), "SERVICE", "unknown", id="500"),
]


@pytest.mark.parametrize(("fault", "code", "outcome"), CHATS)
async def test_a_question_that_fails_is_asked_once(
    fault: Fault, code: str, outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, monkeypatch) as there:
        there.service.faults.add(fault, UNREADABLE)
        error = await there.fails("ask_question", question="What is the simulator?", notebook="About")
        assert error.details.get("cause", error.code) == code
        assert error.outcome == outcome
        assert there.sent("chat") == 1
        await lives_on(there)


async def test_a_source_that_appeared_although_refused_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, monkeypatch) as there:
        there.service.faults.add(Fault(Kind.STATUS, ADD, code=3, commit=True))
        added = await there.call("add_source", content="https://a.example/lamps", notebook="About")
        assert (added["added"], len(added["sources"]), added["failed"]) == (True, 1, [])
        assert there.sent(ADD) == 1


async def test_a_source_that_was_refused_is_looked_for_before_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, monkeypatch) as there:
        there.service.faults.add(Fault(Kind.STATUS, ADD, code=3))
        error = await there.fails("add_source", content="https://a.example/lamps", notebook="About")
        assert (error.code, error.outcome) == ("INVALID_ARGUMENT", "rejected")
        assert "read afterwards" in error.message


async def test_sixty_megabytes_arrive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        notebook = there.service.service.owner.recent()[0]
        notebook_id = notebook.id
        there.service.service.owner.add_source(notebook, "Large", filler=60_000_000)
        content = await there.call("get_source_content", source="Large", notebook=notebook_id, offset=1_000_000)
        assert content["total_chars"] > 50_000_000
        assert len(content["content"]) == 20_000
        assert content["has_more"]
        await lives_on(there)


async def test_lone_surrogates_do_not_poison_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        owner = there.service.service.owner
        owner.add_source(owner.recent()[0], "bad \ud83d end")
        titles = [row["title"] for row in (await there.call("list_sources", notebook="About"))["sources"]]
        assert "bad \ufffd end" in titles


def aborted(rpc: str, logged: Logged) -> bool:
    return rpc in logged.rpc_ids and bool(logged.aborted)


async def test_cancelling_reaches_the_fetch_in_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        await there.call("list_notebooks")
        for kind, rpc, tool, arguments in (
            (Kind.SILENT, LIST, "list_notebooks", {}),
            (Kind.SILENT, "chat", "ask_question", {"question": "?", "notebook": "About"}),
        ):
            there.service.faults.add(Fault(kind, rpc))
            async with trio.open_nursery() as nursery:
                nursery.start_soon(partial(there.call, tool, **arguments))
                await there.service.requests.wait_for(
                    lambda logged: logged.fault is not None and logged.aborted is None
                )
                nursery.cancel_scope.cancel()
            with trio.fail_after(5):
                await there.service.requests.wait_for(partial(aborted, rpc))
        await lives_on(there)
