"""Drift on request: calls that go by other ids, and replies of another shape."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api.chat import chat
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.sim import orders
from nlm_cdp.sim.actions import NAMED
from nlm_cdp.sim.faults import Fault, Kind
from nlm_cdp.wire.batchexecute import Call, read_replies

pytestmark = pytest.mark.realtime
PARAMS = notebooks.ListNotebooks().encode()


async def test_a_call_by_another_id(running) -> None:
    async with running() as (sim, client):
        sim.service.ids = {"wXbhsf": "nEwId1"}
        former = await client.post(Call("wXbhsf", PARAMS))
        assert former.status == 400
        assert '"er"' in former.text
        now = await client.post(Call("nEwId1", PARAMS))
        assert now.status == 200
        assert [reply.rpc for reply in read_replies(now.body).replies] == ["nEwId1"]
        assert (await client.post(Call("rLM1Ne", ["nothing"]))).status == 200


async def test_a_fault_knows_a_call_by_either_id(running) -> None:
    async with running() as (sim, client):
        sim.service.ids = {"wXbhsf": "nEwId1"}
        sim.faults.add(Fault(Kind.HTTP, "wXbhsf", code=503))
        assert (await client.post(Call("nEwId1", PARAMS))).status == 503


async def test_two_calls_that_swap_their_ids(running) -> None:
    async with running() as (sim, client):
        sim.service.ids = {"wXbhsf": "rLM1Ne", "rLM1Ne": "wXbhsf"}
        row = read_replies((await client.post(Call("rLM1Ne", PARAMS))).body).of("rLM1Ne").row
        assert row[0][0][0] == "About this simulation"


async def test_the_page_sends_what_a_call_goes_by_now(running) -> None:
    async with running() as (sim, _):
        sim.service.ids = {"wXbhsf": "nEwId1", "fejl7e": "nEwId2"}
        account = sim.service.owner
        order = orders.order(account, next(iter(account.notebooks.values())), [NAMED["list-notebooks"]])
        assert order["query"]["rpcids"] == "nEwId1"
        assert order["f_req"].startswith('[[["nEwId1",')
        harmless = orders.order(account, next(iter(account.notebooks.values())), [NAMED["forget-notebook"]])
        assert harmless["expected"] == {"nEwId2": 13}


async def test_a_reply_of_another_shape(running) -> None:
    async with running() as (sim, client):

        def change(row: list[Any]) -> list[Any]:
            row[0][0][3] = ["an emoji, inside a list"]
            return row

        sim.service.reshape[notebooks.LIST.name] = change
        row = read_replies((await client.post(Call("wXbhsf", PARAMS))).body).of("wXbhsf").row
        assert row[0][0][3] == ["an emoji, inside a list"]
        sim.service.reshape.clear()
        row = read_replies((await client.post(Call("wXbhsf", PARAMS))).body).of("wXbhsf").row
        assert row[0][0][3] == "🧪"


async def test_what_is_kept_is_not_reshaped(running) -> None:
    async with running() as (sim, client):
        source = next(iter(next(iter(sim.service.owner.notebooks.values())).sources.values()))
        before = source.wire_text
        sim.service.reshape["hizoJc-LoadSource"] = lambda row: row[3].clear() or row
        row = read_replies((await client.post(Call("hizoJc", [[source.id], [2], [2]]))).body).of("hizoJc").row
        assert row[3] == []
        assert source.wire_text == before


async def test_an_answer_of_another_shape(running) -> None:
    async with running() as (sim, client):
        sim.service.reshape[chat.ASK.name] = lambda row: [*row, *([None] * (20 - len(row))), ["new"]]
        account = sim.service.owner
        notebook = next(iter(account.notebooks.values()))
        question = chat.Ask(sources=list(notebook.sources), question="What is it?", notebook_id=notebook.id)
        async with client.asking(question) as (got, line):
            body = await line.body()
        assert got.status == 200
        assert body.decode().count('[\\"new\\"]') > 5
