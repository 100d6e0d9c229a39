"""Bodies of every size, kind and fate in real Chromium: recorded to the byte, or lost with a reason."""

from __future__ import annotations

import gc
import json
import tracemalloc
from typing import Any

import pytest
import trio

from nlm_cdp.capture.calls import calls_of
from nlm_cdp.capture.exchange import Ended, Exchange, Part
from nlm_cdp.capture.recorder import Recorder
from nlm_cdp.cdp.generated import page, target
from nlm_cdp.cdp.protocol import SessionLost
from nlm_cdp.sim.faults import Fault, Kind
from nlm_cdp.sim.visitor import ready
from nlm_cdp.wire.batchexecute import PATH, Call, f_req, read_replies
from tests.e2e.test_capture import Stage, stage
from tests.e2e.world import in_chromium

pytestmark = in_chromium

POST = """async function (fReq, how, times) {
  const url = "/_/LabsTailwindUi/data/batchexecute?rpcids=wXbhsf&source-path=%2F&rt=c";
  const type = { "content-type": "application/x-www-form-urlencoded;charset=UTF-8" };
  const text = `f.req=${encodeURIComponent(fReq)}&at=${encodeURIComponent(WIZ_global_data.SNlM0e)}&`;
  const ways = {
    fetch: () => fetch(url, { method: "POST", headers: type, body: text }).then((answer) => answer.text()),
    blob: () => fetch(url, { method: "POST", headers: type, body: new Blob([text]) }).then((answer) => answer.text()),
    form: () => fetch(url, { method: "POST", body: new URLSearchParams({ "f.req": fReq, at: WIZ_global_data.SNlM0e }) })
      .then((answer) => answer.text()),
    xhr: () => new Promise((resolve) => {
      const request = new XMLHttpRequest();
      request.open("POST", url);
      request.setRequestHeader("content-type", type["content-type"]);
      request.onloadend = () => resolve(request.responseText);
      request.send(text);
    }),
    bytes: () => fetch(url, { method: "POST", headers: type, body: new Uint8Array([0xac, 0xed, 0, 5]) }).then((a) => a.text()),
    beacon: () => navigator.sendBeacon(url, new Blob([new Uint8Array([0xac, 0xed, 0, 5])])),
    abort: async () => {
      const controller = new AbortController();
      const answer = await fetch(url, { method: "POST", headers: type, body: text, signal: controller.signal });
      const reader = answer.body.getReader();
      await reader.read();
      controller.abort();
    },
    early: () => {
      const controller = new AbortController();
      const answer = fetch(url, { method: "POST", headers: type, body: text, signal: controller.signal });
      controller.abort();
      return answer.catch(() => null);
    },
    leave: async () => {
      await (await fetch(url, { method: "POST", headers: type, body: text })).text();
      setTimeout(() => location.assign("/robots.txt"), 5);
    },
  };
  await Promise.all(Array.from({ length: Number(times) }, () => ways[how]()));
}"""


def request(size: int) -> str:
    return f_req([Call("wXbhsf", [None, 1, None, [2], "ä🧪" + "x" * size])])


async def post(there: Stage, how: str, text: str = "", times: int = 1) -> None:
    await there.visit.run(POST, text or request(1), how, str(times))


async def recorded(there: Stage, how: str, text: str = "", times: int = 1) -> list[Exchange]:
    await there.record(lambda: post(there, how, text, times))
    return there.exchanges


@pytest.mark.parametrize("how", ["fetch", "xhr", "form", "blob"])
async def test_the_request_is_recorded_to_the_byte_whatever_its_size_and_kind(how: str) -> None:
    sizes = (1_000, 70_000, 2_000_000)
    async with stage() as there:

        async def play() -> None:
            for size in sizes:
                await post(there, how, request(size))

        await there.record(play)
    assert [f_req([Call(call.rpc, call.params)]) for call in there.calls] == [request(size) for size in sizes]


async def test_bytes_that_are_no_text_are_recorded_as_bytes_and_no_form_is_made_of_them() -> None:
    async with stage() as there:
        (exchange,) = await recorded(there, "bytes")
    assert exchange.request.content == b"\xac\xed\x00\x05"
    assert there.calls[0].params is None
    assert "not text" in (there.calls[0].lost or "")


async def test_a_beacon_is_recorded_or_said_to_be_missing() -> None:
    async with stage() as there:

        async def play() -> None:
            await post(there, "beacon")
            await there.service.requests.wait_for(lambda logged: logged.path == PATH)
            await there.visit.evaluate("0")  # what Chrome told before its answer has been read by then

        await there.record(play)
        (exchange,) = there.exchanges
    assert exchange.request.content == b"\xac\xed\x00\x05" or exchange.request.lost
    assert there.calls[0].params is None


async def test_forty_answers_of_a_megabyte_at_once_are_all_whole() -> None:
    payload = json.dumps([["x" * 1_000_000]])
    async with stage() as there:
        there.service.faults.add(Fault(Kind.PAYLOAD, times=40, body=payload))
        await recorded(there, "fetch", times=40)
    assert [call.lost for call in there.calls] == [None] * 40
    assert all(read_replies(call.body or "").replies[0].row == json.loads(payload) for call in there.calls)


async def test_a_page_that_leaves_right_after_the_answer_leaves_it_with_us() -> None:
    async with stage() as there:

        async def play() -> None:
            with there.connection.events(page.FrameNavigated, session=there.visit.session) as navigated:
                await there.connection.execute(page.enable(), session=there.visit.session)
                await post(there, "leave")
                await anext(navigated)

        await there.record(play)
    (call,) = there.calls
    assert call.body is not None or call.lost


async def test_an_empty_answer_is_lost_as_empty() -> None:
    async with stage() as there:
        there.service.faults.add(Fault(Kind.HTTP, code=204))
        (exchange,) = await recorded(there, "fetch")
    assert (exchange.status, there.calls[0].lost) == (204, "the answer: the reply is empty")


async def test_an_aborted_request_is_lost_with_its_reason() -> None:
    async with stage() as there:
        there.service.faults.add(Fault(Kind.SLOW, seconds=0.05))
        (exchange,) = await recorded(there, "abort")
        assert exchange.failed == "the page gave it up"
        assert "gave it up" in (there.calls[0].lost or "")
        there.exchanges.clear()
        there.service.faults.add(Fault(Kind.SILENT))
        await recorded(there, "early")
    assert all("gave" in (call.lost or "") for call in there.calls)


async def test_a_long_stream_is_recorded_whole() -> None:
    async with stage() as there:
        there.service.service.pace = 0.3
        await there.record(lambda: there.visit.ask("What do faults do?"))
    (call,) = [call for call in there.calls if call.rpc == "chat"]
    assert call.lost is None
    assert len(read_replies(call.body or "").replies) > 2


async def test_a_tab_that_is_closed_ends_the_recording_with_its_reason() -> None:
    async with stage() as there:
        there.service.faults.add(Fault(Kind.SILENT))

        async def close() -> None:
            nursery.start_soon(post_and_be_cut_off)
            await there.service.requests.wait_for(lambda logged: "wXbhsf" in logged.rpc_ids)
            await there.connection.execute(target.close_target(there.visit.target_id))

        async def post_and_be_cut_off() -> None:
            with pytest.raises(SessionLost):
                await post(there, "fetch")

        async with trio.open_nursery() as nursery:
            recorder = Recorder(there.connection, there.visit.target_id, there.handle)
            await nursery.start(recorder.run)
            await close()
    assert recorder.ended == "the tab was closed"
    assert [exchange.bodies[Part.RESPONSE].lost for exchange in there.exchanges] == ["the tab was closed"]


async def test_a_thousand_exchanges_over_many_navigations_lose_nothing_and_hold_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each is recorded once, whatever was recorded before it; what has been handled is let go of."""
    async with stage() as there:
        numbers: list[int] = []
        lost: list[Any] = []
        held: list[int] = []

        async def handle(output: Any) -> None:
            if isinstance(output, Ended):
                numbers.append(output.exchange.number)
                lost.extend(call.lost for call in calls_of(output.exchange) if call.lost)
                if len(numbers) % 250 == 0:
                    gc.collect()
                    held.append(tracemalloc.get_traced_memory()[0])

        monkeypatch.setattr(there, "handle", handle)

        async def play() -> None:
            for _ in range(20):
                await post(there, "fetch", times=50)
                with there.connection.events(page.FrameNavigated, session=there.visit.session) as navigated:
                    await there.connection.execute(page.enable(), session=there.visit.session)
                    await there.visit.evaluate("location.reload()")
                    await anext(navigated)
                await ready(there.visit)
                there.service.requests.clear()  # what the simulator remembers is not ours

        tracemalloc.start()
        try:
            recorder = await there.record(play)
        finally:
            tracemalloc.stop()
    assert recorder.fold.seen == len(numbers) == 1_000
    assert sorted(numbers) == list(range(1, 1_001))
    assert lost == []
    assert recorder.fold.open == {}
    assert held[-1] - held[0] < 2_000_000
