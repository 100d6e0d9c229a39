"""Each kind of fault, seen from the client's side of the line."""

from __future__ import annotations

import pytest
import trio

from nlm_cdp.api.chat import chat
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.sources import additions
from nlm_cdp.errors import Drift, Network, NlmError, RateLimited, Service
from nlm_cdp.sim.faults import CHAT, FOREIGN_ID, Fault, Kind, displayable
from nlm_cdp.wire.batchexecute import CHAT_PATH, PATH, Call, Reply, chat_f_req, f_req, form, read_replies
from nlm_cdp.wire.chat import ChatReader
from nlm_cdp.wire.frames import NotRpcReply
from tests.fakes import present

pytestmark = pytest.mark.realtime
LIST = Call("wXbhsf", notebooks.ListNotebooks().encode())
CREATE = Call("CCqFvf", notebooks.CreateNotebook(title="Made").encode())


def list_body(client) -> bytes:
    return form(f_req([LIST]), client.at).encode()


async def reply(client, call: Call = LIST) -> Reply:
    got = await client.post(call)
    assert got.status == 200
    return read_replies(got.body).of(call.rpc)


def question(sim) -> chat.Ask:
    notebook = next(iter(sim.service.owner.notebooks.values()))
    return chat.Ask(
        sources=list(notebook.sources), question="Faults?", context=chat.ASK_CONTEXT, notebook_id=notebook.id
    )


# Which request, how often, and whether it took effect


async def test_faults_are_used_up_in_order_by_the_requests_they_are_for(running) -> None:
    async with running() as (sim, client):
        sim.faults.add(Fault(Kind.STATUS, on="CCqFvf", code=8), Fault(Kind.STATUS, on="wXbhsf", times=2, code=5))
        sim.faults.add(Fault(Kind.STATUS, code=14))
        codes = [(await reply(client)).status for _ in range(4)]
        assert [status and status.code for status in codes] == [5, 5, 14, None]
        refused = (await reply(client, CREATE)).status
        assert refused is not None
        assert refused.code == 8
        assert sim.faults.pending == []
        used = [logged.fault.code for logged in sim.requests.to("wXbhsf") if logged.fault]
        assert used == [5, 5, 14]


async def test_a_fault_for_every_call_spares_pages(running) -> None:
    async with running() as (sim, client):
        sim.faults.add(Fault(Kind.HTTP, code=500))
        assert (await client.request("GET", "/")).status == 200
        assert (await client.post(LIST)).status == 500
        sim.faults.add(Fault(Kind.HTTP, code=500), Fault(Kind.WALL))
        sim.faults.clear()
        assert (await reply(client)).row


@pytest.mark.parametrize("commit", [True, False])
async def test_a_refused_write_may_have_taken_effect(running, commit: bool) -> None:
    async with running(seed=False) as (sim, client):
        for fault in (
            Fault(Kind.STATUS, code=9, commit=commit),
            Fault(Kind.HTTP, code=503, commit=commit),
            Fault(Kind.EMPTY, commit=commit),
        ):
            sim.faults.add(fault)
            await client.post(CREATE)
        for kind in (Kind.CLOSE, Kind.RESET):
            sim.faults.add(Fault(kind, commit=commit))
            headers = client.headers("notebook.google.com", client.same_origin)
            body = form(f_req([CREATE]), client.at).encode()
            await client.turned_away("POST", client.target(PATH, rpcids="CCqFvf"), headers, body)
        assert len(sim.service.owner.notebooks) == 5 * commit


async def test_a_source_may_be_added_although_the_call_was_refused(running) -> None:
    async with running(seed=False) as (sim, client):
        notebook = sim.service.owner.add_notebook("Doubtful")
        sim.faults.add(Fault(Kind.STATUS, on="izAoDd", code=9, commit=True))
        page = additions.Content(web="https://a.example/page")
        assert await client.refusal(additions.ADD, additions.AddSources(contents=[page], notebook_id=notebook.id)) == 9
        assert [source.url for source in notebook.sources.values()] == ["https://a.example/page"]


# What the service says


@pytest.mark.parametrize(
    ("details", "said"),
    [
        (displayable([[None, "You have reached your daily limit."]]), "You have reached your daily limit."),
        (displayable([1, [2]]), ""),
        (displayable(), ""),
    ],
)
async def test_a_refusal_that_a_person_should_see(running, details, said) -> None:
    async with running() as (sim, client):
        sim.faults.add(Fault(Kind.STATUS, code=8, details=details))
        status = (await reply(client)).status
        assert status is not None
        assert (status.code, status.user_displayable, status.message) == (8, True, said)


@pytest.mark.parametrize("code", [400, 401, 403, 404, 429, 500, 503])
async def test_http_errors(running, code: int) -> None:
    async with running() as (sim, client):
        sim.faults.add(Fault(Kind.HTTP, code=code, headers={"retry-after": "7"}, body="said"))
        got = await client.post(LIST)
        assert (got.status, got.header("retry-after"), got.text) == (code, "7", "said")
        assert got.header("x-nlm-simulated") == "1"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(Kind.WALL), NotRpcReply),
        (Fault(Kind.EMPTY), NotRpcReply),
        (Fault(Kind.PREFIX), NotRpcReply),
        (Fault(Kind.FOREIGN), Drift),
        (Fault(Kind.BOOKKEEPING), NotRpcReply),
        (Fault(Kind.PAYLOAD, body="undefined"), Drift),
        (Fault(Kind.PAYLOAD, body="[1,"), Drift),
        (Fault(Kind.SHORT, amount=40), Network),
        (Fault(Kind.SHORT, amount=0.5), Network),
    ],
    ids=lambda value: value.kind if isinstance(value, Fault) else "",
)
async def test_bodies_that_are_no_answer(running, fault: Fault, error: type[NlmError]) -> None:
    async with running() as (sim, client):
        sim.faults.add(fault)
        got = await client.post(LIST)
        assert got.status == 200
        with pytest.raises(error):
            read_replies(got.body).of("wXbhsf")


async def test_payloads_that_are_not_what_they_should_be(running) -> None:
    async with running() as (sim, client):
        sim.faults.add(Fault(Kind.NULL), Fault(Kind.PAYLOAD, body='"text"'), Fault(Kind.PAYLOAD, body='[["x"]]'))
        assert [(await reply(client)).row for _ in range(3)] == [None, "text", [["x"]]]


async def test_a_batch_level_error_frame(running) -> None:
    async with running() as (sim, client):
        sim.faults.add(Fault(Kind.ER, code=400))
        replies = read_replies((await client.post(LIST)).body).replies
        assert [(reply.rpc, reply.status and reply.status.code) for reply in replies] == [("", 3)]


async def test_several_replies_around_the_true_one(running) -> None:
    async with running() as (sim, client):
        sim.faults.add(Fault(Kind.SEVERAL))
        found = read_replies((await client.post(LIST)).body)
        assert [reply.rpc for reply in found.replies] == ["wXbhsf", FOREIGN_ID, "wXbhsf", "wXbhsf"]
        assert found.of("wXbhsf").row
        sim.faults.add(Fault(Kind.SEVERAL))
        got = await client.post(LIST, CREATE)
        found = read_replies(got.body)
        assert [reply.rpc for reply in found.replies[2:4]] == ["CCqFvf", "wXbhsf"]
        assert found.of("CCqFvf").row[0] == "Made"


async def test_lengths_that_are_off(running) -> None:
    async with running() as (sim, client):
        for off in (-1, 1, 3):
            sim.faults.add(Fault(Kind.COUNT, amount=off))
            found = read_replies((await client.post(LIST)).body)
            assert found.of("wXbhsf").row
            assert found.faults


# The line


@pytest.mark.parametrize(
    ("fault", "whole", "reset"),
    [
        (Fault(Kind.CLOSE), False, False),
        (Fault(Kind.RESET), False, True),
        (Fault(Kind.RESET, amount=20), True, True),
        (Fault(Kind.CUT, amount=20), True, False),
        (Fault(Kind.CUT, amount=0.5), True, False),
    ],
    ids=lambda value: f"{value.kind}-{value.amount}" if isinstance(value, Fault) else "",
)
async def test_connections_that_end_early(running, fault: Fault, whole: bool, reset: bool) -> None:
    async with running() as (sim, client):
        sim.faults.add(fault)
        headers = client.headers("notebook.google.com", client.same_origin)
        seen, was_reset = await client.turned_away(
            "POST", client.target(PATH, rpcids="wXbhsf"), headers, list_body(client)
        )
        assert was_reset is reset
        head, _, body = seen.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200") is (whole and not reset) or reset
        if fault.kind is Kind.CUT:
            (length,) = [int(line[16:]) for line in head.split(b"\r\n") if line.startswith(b"content-length: ")]
            assert len(body) == (20 if fault.amount == 20 else length // 2)
        if not whole:
            assert seen == b""
        assert (await reply(client)).row


async def test_silence_ends_when_the_client_leaves(running) -> None:
    async with running() as (sim, client):
        sim.faults.add(Fault(Kind.SILENT))
        headers = client.headers("notebook.google.com", client.same_origin)
        async with client.line() as line:
            await line.send("POST", client.target(PATH, rpcids="wXbhsf"), headers, list_body(client))
            await sim.requests.wait_for(lambda logged: logged.fault is not None)
        left = await sim.requests.wait_for(lambda logged: logged.aborted is True)
        assert left.rpc_ids == ["wXbhsf"]


async def test_a_late_answer_is_whole_and_leaves_others_alone(running) -> None:
    async with running() as (sim, client):
        sim.faults.add(Fault(Kind.LATE, on="CCqFvf", seconds=3600))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.post, CREATE)
            await sim.requests.wait_for(lambda logged: logged.rpc_ids == ["CCqFvf"])
            assert "Made" in [row[0] for row in (await reply(client)).row[0]]
            nursery.cancel_scope.cancel()
        sim.faults.add(Fault(Kind.LATE, seconds=0.001))
        assert (await reply(client)).row


async def test_byte_by_byte(running) -> None:
    async with running() as (sim, client):
        sim.service.owner.add_notebook("é🧪")
        sim.faults.add(Fault(Kind.SLOW))
        found = read_replies((await client.post(LIST)).body)
        assert found.faults == []
        assert found.of("wXbhsf").row[0][0][0] == "é🧪"


async def test_pages_fail_too(running) -> None:
    async with running() as (sim, client):
        sim.faults.add(Fault(Kind.HTTP, on="/", code=503), Fault(Kind.WALL, on="/robots.txt"))
        assert (await client.request("GET", "/robots.txt")).text.startswith("<!doctype")
        assert (await client.request("GET", "/")).status == 503
        sim.faults.add(Fault(Kind.CUT, on="/", amount=100))
        seen, _ = await client.turned_away("GET", "/", client.headers("notebook.google.com"), b"")
        assert len(seen.partition(b"\r\n\r\n")[2]) == 100


async def test_one_connection_serves_many_requests(running) -> None:
    async with running() as (sim, client), client.line() as line:
        headers = client.headers("notebook.google.com", client.same_origin)
        for _ in range(3):
            await line.send("POST", client.target(PATH, rpcids="wXbhsf"), headers, list_body(client))
            assert (await line.head()).status == 200
            body = await line.body()
            assert read_replies(body).of("wXbhsf").row
            line.http.start_next_cycle()
        assert [logged.aborted for logged in sim.requests.to("wXbhsf")] in ([False] * 3, [False, False, None])


async def test_garbage_is_refused(running) -> None:
    async with running() as (_, client), client.line() as line:
        await line.stream.send_all(b"NONSENSE\r\n\r\n")
        seen = b""
        while data := await line.stream.receive_some(1000):
            seen += data
        assert seen.startswith(b"HTTP/1.1 400")


async def test_an_error_in_the_block_stays_itself(running) -> None:
    with pytest.raises(Service, match="mine"):
        async with running():
            raise Service("mine")


# The chat


async def test_a_chat_that_brings_no_answer(running) -> None:
    async with running() as (sim, client):
        for fault, error in (
            (Fault(Kind.BOOKKEEPING, on=CHAT), RateLimited),
            (Fault(Kind.THINKING, on=CHAT), Service),
            (Fault(Kind.STATUS, on=CHAT, code=8, details=displayable()), RateLimited),
            (Fault(Kind.BROKEN, on=CHAT, code=8, details=displayable()), RateLimited),
            (Fault(Kind.WALL, on=CHAT), NotRpcReply),
            (Fault(Kind.EMPTY, on=CHAT), NotRpcReply),
            (Fault(Kind.ER, on=CHAT, code=429), RateLimited),
            (Fault(Kind.PAYLOAD, on=CHAT, body="{"), Drift),
        ):
            sim.faults.add(fault)
            with pytest.raises(error):
                await client.ask(question(sim))
        notebook = next(iter(sim.service.owner.notebooks.values()))
        assert notebook.answering == 0
        assert sum(len(conversation.turns) for conversation in notebook.chats) == 2 * 2


async def test_a_chat_without_its_end_or_with_heartbeats(running) -> None:
    async with running() as (sim, client):
        sim.faults.add(Fault(Kind.UNFINISHED, on=CHAT), Fault(Kind.SEVERAL, on=CHAT))
        answer, snapshots = await client.ask(question(sim))
        assert answer.truncated
        assert answer.text == snapshots[-1].answer.text
        answer, _ = await client.ask(question(sim))
        assert not answer.truncated


@pytest.mark.parametrize("kind", [Kind.CUT, Kind.SHORT, Kind.RESET])
async def test_a_chat_that_is_cut(running, kind: Kind) -> None:
    async with running() as (sim, client):
        sim.faults.add(Fault(kind, on=CHAT, amount=0.7))
        headers = client.headers("notebook.google.com", client.same_origin)
        body = form(chat_f_req(question(sim).encode()), client.at).encode()
        if kind is Kind.SHORT:
            async with client.asking(question(sim)) as (_, line):
                seen = await line.body()
        else:
            seen, reset = await client.turned_away("POST", client.target(CHAT_PATH), headers, body)
            assert reset is (kind is Kind.RESET)
            seen = seen.partition(b"\r\n\r\n")[2]
        reader = ChatReader()
        snapshots = list(reader.feed(seen))
        if kind is not Kind.RESET:
            assert snapshots
            assert not snapshots[-1].final
            assert reader.close().truncated


async def test_a_chat_byte_by_byte_and_with_wrong_lengths(running) -> None:
    async with running() as (sim, client):
        sim.faults.add(Fault(Kind.SLOW, on=CHAT))
        answer, _ = await client.ask(question(sim))
        assert answer.citations
        sim.faults.add(Fault(Kind.COUNT, on=CHAT, amount=3))
        async with client.asking(question(sim)) as (_, line):
            reader = ChatReader()
            snapshots = list(reader.feed(await line.body()))
        assert reader.close().text == present(snapshots[-1].answer).text
        assert reader.frames.faults
