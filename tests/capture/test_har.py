"""HAR files in and out."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from nlm_cdp.capture.calls import calls_of
from nlm_cdp.capture.exchange import Exchange, Kind
from nlm_cdp.capture.fixture import Fixture, fixture, redactor
from nlm_cdp.capture.har import exchanges, har
from nlm_cdp.errors import InvalidArgument
from nlm_cdp.wire.frames import frame_body
from tests.capture.scripts import CHAT, FORM, HOST, RPCS, reply
from tests.capture.test_fixture import LISTING, made, recorded

BODY = frame_body([[reply("wXbhsf", LISTING)]])


def entry(url: str = RPCS, **changes: Any) -> dict[str, Any]:
    """An entry as DevTools writes it, with what must not be looked at."""
    return {
        "startedDateTime": "2026-11-30T00:00:00.000Z",
        "time": 250.0,
        "request": {
            "method": "POST",
            "url": url,
            "headers": [{"name": "Cookie", "value": "SID=canary"}],
            "cookies": [{"name": "SID", "value": "canary"}],
            "postData": {"mimeType": "application/x-www-form-urlencoded", "text": FORM},
        },
        "response": {
            "status": 200,
            "content": {"size": 1, "mimeType": "application/json", "text": BODY},
            "headers": [],
        },
    } | changes


def read(*entries: dict[str, Any]) -> list[Exchange]:
    return list(exchanges(json.dumps({"log": {"version": "1.2", "entries": list(entries)}})))


def test_an_export_of_devtools_is_read() -> None:
    (found,) = read(entry())
    assert (found.kind, found.status, found.took, found.number) == (Kind.RPC, 200, 0.25, 1)
    (call,) = calls_of(found)
    assert (call.rpc, call.params, call.lost) == ("wXbhsf", [None, 1, None, [2]], None)
    assert "canary" not in repr(found)


def test_what_is_not_the_apps_is_passed_over() -> None:
    other = entry(f"{HOST}/", request={"method": "GET", "url": f"{HOST}/"})
    assert [found.number for found in read(other, entry(), other, entry())] == [1, 2]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"text": base64.b64encode(BODY.encode()).decode(), "encoding": "base64"}, BODY),
        ({"text": base64.b64encode(b"\xff\xfe").decode(), "encoding": "base64"}, b"\xff\xfe"),
        ({"text": "***", "encoding": "base64"}, None),
        ({"size": 10}, None),
        ({"size": 0}, ""),
    ],
)
def test_bodies_in_every_form(content: dict[str, Any], expected: str | bytes | None) -> None:
    (found,) = read(entry(response={"status": 200, "content": content}))
    assert found.response.content == expected
    assert (found.response.lost is None) == (expected is not None)


def test_a_form_in_parameters_and_none_at_all() -> None:
    parameters = [{"name": "f.req", "value": '[[["wXbhsf","[null,1]",null,"generic"]]]'}, {"name": "at", "value": "x"}]
    request = {"method": "POST", "url": RPCS, "postData": {"params": parameters}}
    assert calls_of(read(entry(request=request))[0])[0].params == [None, 1]
    assert calls_of(read(entry(request={"method": "POST", "url": RPCS}))[0])[0].params is None


def test_a_request_that_failed_is_lost_with_its_reason() -> None:
    (found,) = read(entry(response={"status": 0, "content": {}, "_error": "net::ERR_ABORTED"}))
    assert (found.status, found.response.lost) == (None, "the request failed: net::ERR_ABORTED")


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"log": {}}', '{"log": {"entries": 7}}', "[" * 100_000])
def test_what_is_no_har_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="no HAR"):
        list(exchanges(text))


@pytest.mark.parametrize("broken", [{}, {"request": 7}, {"request": {"url": 7, "method": "POST"}}, []])
def test_a_broken_entry_is_named(broken: Any) -> None:
    with pytest.raises(InvalidArgument, match="entry 1 of the HAR"):
        list(exchanges(json.dumps({"log": {"entries": [entry(), broken]}})))


def again(found: Fixture) -> Fixture:
    """A fixture by way of a HAR; its strings change once more, its shape does not."""
    (exchange,) = exchanges(json.dumps(har([found])))
    (call,) = calls_of(exchange)
    return fixture(call, redactor(b"key"), origin="live", captured="2026-11-30")


def test_a_fixture_goes_out_and_comes_back_the_same_shape() -> None:
    first = made(recorded(LISTING))
    second = again(first)
    assert (second.rpc, second.host, second.bl) == (first.rpc, first.host, first.bl)
    assert second.request.source_path == first.request.source_path
    assert len(second.text) == len(first.text)
    assert second.unclaimed == first.unclaimed


def test_the_stream_and_an_upload_go_out_to_their_own_addresses() -> None:
    first = made(recorded(LISTING))
    chat = first.model_copy(update={"rpc": "chat"})
    upload = first.model_copy(update={"rpc": "upload"})
    urls = [item["request"]["url"] for item in har([chat, upload])["log"]["entries"]]
    assert urls[0].startswith(CHAT.partition("?")[0])
    assert [found.kind for found in exchanges(json.dumps(har([chat, upload])))] == [Kind.CHAT, Kind.UPLOAD]


def test_a_lost_body_goes_out_as_lost() -> None:
    first = made(recorded(LISTING))
    lost = first.model_copy(update={"response": first.response.model_copy(update={"body": None, "lost": "why"})})
    (found,) = exchanges(json.dumps(har([lost])))
    assert found.response.content is None
    assert "why" in (found.response.lost or "")
