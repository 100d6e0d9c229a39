"""The owner of the socket, over memory streams and a clock of our own: what is sent, who is told, and what survives."""

from __future__ import annotations

import logging
import math
import struct
import sys
import tracemalloc
from functools import partial
from typing import Any

import pytest
import trio
import trio.testing
from websockets.frames import Opcode

from nlm_cdp.cdp import connection as module
from nlm_cdp.cdp.connection import EventsOverrun, connection_over
from nlm_cdp.cdp.generated import page, runtime, target
from nlm_cdp.cdp.generated.target import SessionID
from nlm_cdp.cdp.protocol import CommandRefused, SessionLost, UnknownEvent
from nlm_cdp.errors import ChromeLost, NlmError, Outcome, Timeout

S1, S2 = SessionID("S1"), SessionID("S2")
URL = "ws://127.0.0.1:9222/devtools/browser/0"
SECRET = "the-payload-of-the-user"
settled = trio.testing.wait_all_tasks_blocked


class Outcomes(list[Any]):
    """What became of calls made in the background: a value or an exception each."""

    async def gather(self, connection, command, **options) -> None:
        try:
            self.append(await connection.execute(command, **options))
        except NlmError as exc:
            self.append(exc)


class Gate(trio.abc.Stream):
    """A stream that stops sending, after `room` more bytes, until it is opened again."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream, self.room, self.opened = stream, sys.maxsize, trio.Event()

    def shut(self, room: int = 0) -> None:
        self.room, self.opened = room, trio.Event()

    def open(self) -> None:
        self.room = sys.maxsize
        self.opened.set()

    async def send_all(self, data: bytes | bytearray | memoryview[int]) -> None:
        if len(data) > self.room:
            await self.stream.send_all(data[: self.room])
            data = data[self.room :]
            await self.opened.wait()
        await self.stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        return await self.stream.receive_some(max_bytes)

    async def aclose(self) -> None:
        await self.stream.aclose()


# Calls


async def test_a_call_returns_what_the_command_makes_of_the_reply(connected) -> None:
    async with connected() as (connection, chrome), trio.open_nursery() as nursery:
        nursery.start_soon(lambda: chrome.answer(targetId="T1"))
        assert await connection.execute(target.create_target("about:blank", hidden=True)) == "T1"


async def test_calls_overlap_and_replies_find_their_caller(connected) -> None:
    async with connected() as (connection, chrome), trio.open_nursery() as nursery:
        slow, quick = Outcomes(), Outcomes()
        nursery.start_soon(lambda: slow.gather(connection, target.get_targets()))
        first = await chrome.hear()
        nursery.start_soon(lambda: quick.gather(connection, page.enable(), session=S1))
        second = await chrome.answer()
        await settled()
        assert (quick, slow) == ([None], [])
        assert second["sessionId"] == "S1"
        await chrome.say({"id": first["id"], "result": {"targetInfos": []}})
        await settled()
        assert slow == [[]]


async def test_a_refusal_is_raised_and_the_connection_lives(connected) -> None:
    async with connected() as (connection, chrome), trio.open_nursery() as nursery:
        outcomes = Outcomes()
        nursery.start_soon(lambda: outcomes.gather(connection, page.navigate("x"), session=S1))
        heard = await chrome.hear()
        await chrome.say({"id": heard["id"], "error": {"code": -32000, "message": "Cannot navigate"}})
        await settled()
        assert isinstance(outcomes[0], CommandRefused)
        nursery.start_soon(chrome.answer)
        await connection.execute(page.enable(), session=S1)


async def test_a_deadline_ends_one_call_and_its_late_reply_is_ignored(connected) -> None:
    async with connected() as (connection, chrome), trio.open_nursery() as nursery:
        start = trio.current_time()
        with pytest.raises(Timeout, match=r"^Chrome did not answer Page\.enable within 3 s\.$") as caught:
            await connection.execute(page.enable(), session=S1, timeout=3)
        assert trio.current_time() - start == 3
        assert caught.value.outcome is Outcome.UNKNOWN  # it was sent
        late = await chrome.hear()
        await chrome.say({"id": late["id"], "result": {}})
        nursery.start_soon(chrome.answer)
        await connection.execute(page.enable(), session=S1)


async def test_a_call_without_deadline_waits_as_long_as_it_takes(connected) -> None:
    async with connected() as (connection, chrome), trio.open_nursery() as nursery:
        outcomes = Outcomes()
        nursery.start_soon(lambda: outcomes.gather(connection, page.enable(), timeout=math.inf))
        await trio.sleep(3000)
        await chrome.answer()
        await settled()
        assert outcomes == [None]


async def test_200_cancelled_calls_leave_nothing_pending(connected) -> None:
    async with connected() as (connection, chrome):
        for _ in range(200):
            with trio.move_on_after(1) as scope:
                await connection.execute(page.enable(), session=S1)
            assert scope.cancelled_caught
        assert not connection._protocol.pending
        assert not connection._calls
        assert len({(await chrome.hear())["id"] for _ in range(200)}) == 200


async def test_an_idle_connection_sends_no_pings(connected) -> None:
    async with connected() as (connection, chrome):
        with trio.move_on_after(3000) as scope:
            await chrome.read()
        assert scope.cancelled_caught
        assert not connection.closed


async def test_a_ping_of_chrome_is_answered(connected) -> None:
    async with connected() as (_, chrome):
        chrome.protocol.send_ping(b"?")
        await chrome.write()
        await chrome.read()
        assert (chrome.frames[0].opcode, bytes(chrome.frames[0].data)) == (Opcode.PONG, b"?")


# Writing


@pytest.fixture
def gate(connected):
    gates = []

    def wrap(stream: trio.abc.Stream) -> Gate:
        gates.append(Gate(stream))
        return gates[0]

    return lambda: connected(wrap), gates


async def test_a_call_given_up_half_way_through_its_frame_leaves_the_stream_whole(gate) -> None:
    connected, gates = gate
    async with connected() as (connection, chrome), trio.open_nursery() as nursery:
        gates[0].shut(room=1000)
        with pytest.raises(Timeout) as caught:
            await connection.execute(runtime.evaluate("1" * 5000), session=S1, timeout=1)
        assert caught.value.outcome is Outcome.UNKNOWN
        gates[0].open()
        assert len((await chrome.hear())["params"]["expression"]) == 5000
        nursery.start_soon(chrome.answer)
        await connection.execute(page.enable(), session=S1)


async def test_a_call_given_up_before_its_turn_is_never_sent(gate) -> None:
    connected, gates = gate
    async with connected() as (connection, chrome), trio.open_nursery() as nursery:
        outcomes = Outcomes()
        gates[0].shut()
        nursery.start_soon(lambda: outcomes.gather(connection, page.enable(), session=S1))
        await settled()
        with pytest.raises(Timeout) as caught:
            await connection.execute(target.create_target("about:blank"), timeout=1)
        assert caught.value.outcome is Outcome.NOT_SENT
        gates[0].open()
        assert (await chrome.answer())["method"] == "Page.enable"
        nursery.start_soon(chrome.answer)
        await connection.execute(page.enable(), session=S2)
        assert outcomes == [None]


async def test_calls_are_sent_in_the_order_they_were_made(gate) -> None:
    connected, gates = gate
    async with connected() as (connection, chrome), trio.open_nursery() as nursery:
        gates[0].shut()
        for n in range(20):
            nursery.start_soon(Outcomes().gather, connection, runtime.evaluate(str(n)))
            await settled()
        gates[0].open()
        heard = [(await chrome.hear())["params"]["expression"] for _ in range(20)]
        assert heard == [str(n) for n in range(20)]
        nursery.cancel_scope.cancel()


async def test_leaving_does_not_wait_for_a_chrome_that_reads_nothing(gate) -> None:
    connected, gates = gate
    async with connected() as (connection, _), trio.open_nursery() as nursery:
        gates[0].shut()
        nursery.start_soon(Outcomes().gather, connection, page.enable())
        await settled()
        nursery.cancel_scope.cancel()
        start = trio.current_time()
    assert trio.current_time() - start <= module.GOODBYE_S


# The end of the socket


async def hang_up(chrome) -> None:
    await chrome.stream.aclose()


async def say_goodbye_and_hang_up(chrome) -> None:
    chrome.protocol.send_close(1001, "going away")
    await chrome.write()
    await chrome.stream.aclose()


async def say_goodbye_and_stay(chrome) -> None:
    chrome.protocol.send_close(1001, "going away")
    await chrome.write()


async def hang_up_within_a_frame(chrome) -> None:
    await chrome.write(b"\x81\x7e\x10\x00" + b"half of it")
    await chrome.stream.aclose()


async def write_garbage_and_stay(chrome) -> None:
    await chrome.write(b"\xff" * 20)


async def announce_too_much_and_stay(chrome) -> None:
    await chrome.write(b"\x81\x7f" + struct.pack("!Q", 2**40))


ENDS = [
    hang_up,
    say_goodbye_and_hang_up,
    say_goodbye_and_stay,
    hang_up_within_a_frame,
    write_garbage_and_stay,
    announce_too_much_and_stay,
]


@pytest.mark.parametrize("end", ENDS)
async def test_a_dead_socket_ends_every_call_at_once_and_plainly(connected, end) -> None:
    async with connected() as (connection, chrome), trio.open_nursery() as nursery:
        outcomes = Outcomes()
        for session in (None, S1, S2):  # the root connection too
            nursery.start_soon(partial(outcomes.gather, connection, page.enable(), session=session))
        nursery.start_soon(connection.wait_closed)
        await settled()
        start = trio.current_time()
        await end(chrome)
        await settled()
        assert connection.closed
        assert [type(outcome) for outcome in outcomes] == [ChromeLost] * 3
        assert len({id(outcome) for outcome in outcomes}) == 3
        assert all(outcome.outcome is Outcome.UNKNOWN for outcome in outcomes)
        with pytest.raises(ChromeLost) as caught:
            await connection.execute(page.enable())
        assert caught.value.outcome is Outcome.NOT_SENT
        assert connection.cause is not None
        assert {outcome.__cause__ for outcome in [*outcomes, caught.value]} == {connection.cause}
        assert trio.current_time() - start < 1
        assert not connection._protocol.pending


async def test_what_arrived_before_the_end_is_delivered(connected) -> None:
    async with connected() as (connection, chrome), trio.open_nursery() as nursery:
        outcomes = Outcomes()
        nursery.start_soon(lambda: outcomes.gather(connection, page.enable()))
        heard = await chrome.hear()
        with connection.events(runtime.ExecutionContextsCleared) as events:
            chrome.protocol.send_text(b'{"method": "Runtime.executionContextsCleared", "params": {}}')
            chrome.protocol.send_text(b'{"id": %d, "result": {}}' % heard["id"])
            chrome.protocol.send_close(1001)
            await chrome.write()
            await connection.wait_closed()
            assert await anext(events) == runtime.ExecutionContextsCleared()
            with pytest.raises(ChromeLost):
                await anext(events)
        await settled()
        assert outcomes == [None]


@pytest.mark.parametrize("error", [KeyError("mine"), ChromeLost("mine"), ExceptionGroup("mine", [KeyError("mine")])])
async def test_an_error_of_the_body_comes_out_as_it_is(wire, error: Exception) -> None:
    stream, chrome = wire
    async with trio.open_nursery() as nursery:
        nursery.start_soon(chrome.accept)
        with pytest.raises(type(error)) as caught:
            async with connection_over(stream, URL) as connection:
                raise error
        assert caught.value is error
        assert connection.closed


async def test_a_dead_socket_in_the_body_comes_out_plainly(wire) -> None:
    stream, chrome = wire

    async def work() -> None:
        async with connection_over(stream, URL) as connection:
            nursery.start_soon(hang_up, chrome)
            await connection.execute(page.enable())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(chrome.accept)
        with pytest.raises(ChromeLost):
            await work()


async def test_cancellation_of_the_body_ends_everything(wire) -> None:
    stream, chrome = wire
    async with trio.open_nursery() as nursery:
        nursery.start_soon(chrome.accept)
        with trio.move_on_after(5) as scope:
            async with connection_over(stream, URL) as connection:
                await connection.execute(page.enable(), timeout=math.inf)
        assert scope.cancelled_caught
        assert connection.closed
        assert trio.current_time() - scope.deadline <= module.GOODBYE_S


async def test_leaving_says_goodbye_and_what_comes_later_is_lost(wire) -> None:
    stream, chrome = wire
    async with trio.open_nursery() as nursery:
        nursery.start_soon(chrome.accept)
        async with connection_over(stream, URL) as connection:
            with connection.events(object) as events:
                pass
        await chrome.read()
        assert chrome.frames[0].opcode is Opcode.CLOSE
    await connection.wait_closed()
    with pytest.raises(ChromeLost):
        await connection.execute(page.enable())
    with connection.events(object) as events, pytest.raises(ChromeLost):
        await anext(events)


# Reading


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (b"", "text that is not JSON"),
        (f'{{"id": 1, "result": "{SECRET}'.encode(), "text that is not JSON"),
        (b'"\xff\xfe"', "text that is not UTF-8"),
        (b"[" * 100_000, "text that is not JSON"),
        ([SECRET], "JSON that is not an object"),
        ({"error": {"code": -32700, "message": SECRET}}, "neither a reply nor an event"),
        ({"method": "Foo.neverSeen", "params": {"x": SECRET}, "sessionId": "S1"}, "Chrome sent Foo.neverSeen,"),
        ({"method": "Network.policyUpdated"}, "Chrome sent Network.policyUpdated,"),
        ({"method": "Runtime.bindingCalled", "params": {"payload": SECRET}}, "Chrome sent Runtime.bindingCalled,"),
        ({"method": "x" * 1000, "params": {}}, "Chrome sent " + "x" * 100 + ","),
        ({"id": 4711, "result": {"x": SECRET}}, None),
        ({"id": "1", "error": SECRET}, None),
    ],
)
async def test_a_strange_message_is_one_debug_line_and_the_call_completes(connected, caplog, message, said) -> None:
    caplog.set_level(logging.DEBUG)
    async with connected() as (connection, chrome), trio.open_nursery() as nursery:
        outcomes = Outcomes()
        nursery.start_soon(lambda: outcomes.gather(connection, page.enable(), session=S1))
        heard = await chrome.hear()
        caplog.clear()
        await chrome.say(message)
        await settled()
        lines = [record.getMessage() for record in caplog.records if record.name.startswith("nlm_cdp")]
        assert len(lines) == (said is not None)
        assert all(said in line for line in lines)
        await chrome.say({"id": heard["id"], "result": {}, "sessionId": "S1"})
        await settled()
        assert outcomes == [None]
    assert SECRET not in caplog.text


async def test_nothing_that_travels_is_logged(connected, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    async with connected() as (connection, chrome), trio.open_nursery() as nursery:
        nursery.start_soon(lambda: chrome.answer(result={"type": "string", "value": SECRET}))
        result, _ = await connection.execute(runtime.evaluate(SECRET))
        assert result.value == SECRET
    assert SECRET not in caplog.text


async def test_a_page_that_goes_away_ends_its_calls(connected) -> None:
    async with connected() as (connection, chrome), trio.open_nursery() as nursery:
        mine, other = Outcomes(), Outcomes()
        nursery.start_soon(lambda: mine.gather(connection, page.enable(), session=S1, timeout=math.inf))
        nursery.start_soon(lambda: other.gather(connection, page.enable(), session=S2, timeout=5))
        await settled()
        await chrome.event("Target.detachedFromTarget", sessionId="S1")
        await settled()
        assert (type(mine[0]), other) == (SessionLost, [])


async def test_a_large_reply_costs_little_more_than_itself(connected) -> None:
    size = 60 * 2**20
    start, end = b'{"id":1,"result":{"result":{"type":"string","value":"', b'"}}}'

    class LargeReply(Gate):
        """Makes the reply while it is read, so that only the reader's memory counts."""

        pieces: list[int] | None = None

        async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
            if not self.pieces:
                return await super().receive_some(max_bytes)
            await trio.lowlevel.checkpoint()
            left = self.pieces.pop()
            if left == size:
                return b"\x81\x7f" + struct.pack("!Q", len(start) + size + len(end)) + start
            return b"x" * 2**20 if left else end

    gates: list[LargeReply] = []

    def gated(stream: trio.abc.Stream) -> LargeReply:
        gates.append(LargeReply(stream))
        return gates[0]

    async with (
        connected(gated) as (connection, chrome),
        trio.open_nursery() as nursery,
    ):
        outcomes = Outcomes()
        nursery.start_soon(lambda: outcomes.gather(connection, runtime.evaluate("1")))
        await chrome.hear()
        gates[0].pieces = [0, *range(1, 61), size]
        tracemalloc.start()
        await chrome.event("Foo.wakeUp")
        await settled()
        held, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    ((result, _),) = outcomes
    assert len(result.value) == size
    assert peak < 4 * size
    assert held < 1.5 * size


# Events


async def test_a_subscription_holds_what_came_after_it_began_in_order(connected) -> None:
    async with connected() as (connection, chrome), trio.open_nursery() as nursery:
        await chrome.event("Runtime.executionContextsCleared", S1)
        await settled()
        with connection.events(runtime.BindingCalled, session=S1) as events:
            nursery.start_soon(chrome.answer)
            await connection.execute(page.enable(), session=S1)  # subscribe, then act
            for n in range(3):
                await chrome.event("Runtime.bindingCalled", S1, name="b", payload=str(n), executionContextId=1)
            assert [(await anext(events)).payload for _ in range(3)] == ["0", "1", "2"]
            with trio.move_on_after(1) as scope:
                await anext(events)
            assert scope.cancelled_caught
            await chrome.event("Runtime.bindingCalled", S1, name="b", payload="3", executionContextId=1)
            async for event in events:
                assert event.payload == "3"
                break
        with pytest.raises(trio.ClosedResourceError):
            await anext(events)
        assert not connection._subscriptions


async def test_subscribers_are_independent(connected) -> None:
    async with connected() as (connection, chrome):
        with (
            connection.events(runtime.ExecutionContextsCleared, session=S1) as first,
            connection.events(runtime.ExecutionContextsCleared, target.DetachedFromTarget) as anywhere,
            connection.events(UnknownEvent) as unknown,
            connection.events() as everything,
        ):
            await chrome.event("Runtime.executionContextsCleared", S2)
            await chrome.event("Foo.bar", S1)
            await chrome.event("Target.detachedFromTarget", sessionId="S2")
            await chrome.event("Runtime.executionContextsCleared", S1)
            await chrome.stream.aclose()
            cleared, gone = runtime.ExecutionContextsCleared(), target.DetachedFromTarget(S2)
            for events, expected in (
                (first, [cleared]),
                (anywhere, [cleared, gone, cleared]),
                (unknown, [UnknownEvent("Foo.bar")]),
                (everything, [cleared, UnknownEvent("Foo.bar"), gone, cleared]),
            ):
                assert [await anext(events) for _ in expected] == expected
                with pytest.raises(ChromeLost) as caught:
                    await anext(events)
                assert caught.value.__cause__ is connection.cause


async def test_who_lags_too_far_is_told_and_nobody_else_suffers(connected, monkeypatch) -> None:
    monkeypatch.setattr(module, "EVENTS_HELD", 3)
    async with connected() as (connection, chrome), trio.open_nursery() as nursery:
        with connection.events(object) as lagging, connection.events(object) as reading:
            for n in range(10):
                await chrome.event(f"Foo.n{n}")
                assert await anext(reading) == UnknownEvent(f"Foo.n{n}")
            assert [await anext(lagging) for _ in range(3)] == [UnknownEvent(f"Foo.n{n}") for n in range(3)]
            for _ in range(2):
                with pytest.raises(EventsOverrun, match="3 events"):
                    await anext(lagging)
            nursery.start_soon(lambda: chrome.answer(targetInfos=[]))
            assert await connection.execute(target.get_targets()) == []


async def test_there_is_room_for_a_burst(connected) -> None:
    async with connected() as (connection, chrome):
        with connection.events(runtime.ExecutionContextsCleared) as events:
            for _ in range(10):
                for _ in range(1000):
                    chrome.protocol.send_text(b'{"method":"Runtime.executionContextsCleared"}')
                await chrome.write()
            heard = [await anext(events) for _ in range(10_000)]
        assert {type(event) for event in heard} == {runtime.ExecutionContextsCleared}


async def test_an_event_reaches_its_subscriber_before_the_reply_that_follows_it_returns(connected) -> None:
    async with connected() as (connection, chrome), trio.open_nursery() as nursery:

        async def event_then_reply() -> None:
            heard = await chrome.hear()
            await chrome.event("Runtime.executionContextsCleared", S1)
            await chrome.say({"id": heard["id"], "result": {}})

        with connection.events(runtime.ExecutionContextsCleared) as events:
            nursery.start_soon(event_then_reply)
            await connection.execute(page.enable(), session=S1)
            returned = trio.current_time()
            await anext(events)
            assert trio.current_time() == returned
