"""HAR 1.2, as DevTools exports it, into exchanges; and fixtures into HAR, for whatever else reads that.

Only addresses and bodies are taken from a HAR: its headers and cookies are not looked at.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from nlm_cdp import __version__
from nlm_cdp.api.chat.chat import ASK
from nlm_cdp.capture.calls import UPLOAD
from nlm_cdp.capture.exchange import Body, Exchange, Kind, Part, text_of
from nlm_cdp.capture.fixture import Fixture
from nlm_cdp.errors import InvalidArgument
from nlm_cdp.wire.batchexecute import CHAT_PATH, CONTENT_TYPE, PATH, UPLOAD_PATH, Call, chat_f_req, f_req, query

MEDIA = {"mimeType": "application/json; charset=utf-8"}
EMPTY: dict[str, Any] = {"cookies": [], "headers": [], "headersSize": -1}


def exchanges(text: str) -> Iterator[Exchange]:
    """The exchanges of a HAR, in its order. Raises InvalidArgument for what is no HAR."""
    try:
        entries = json.loads(text)["log"]["entries"]
        assert isinstance(entries, list)
    except (ValueError, KeyError, TypeError, AssertionError, RecursionError):
        raise InvalidArgument("this is no HAR file", hint="Export one from DevTools: Network, Export HAR.") from None
    number = 0
    for at, entry in enumerate(entries):
        try:
            kind = Kind.of(entry["request"]["url"], entry["request"]["method"])
            if kind is not None:
                number += 1
                yield exchange(number, kind, entry)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InvalidArgument(f"entry {at} of the HAR is not as HAR 1.2 has it") from None


def exchange(number: int, kind: Kind, entry: dict[str, Any]) -> Exchange:
    request, response = entry["request"], entry["response"]
    found = Exchange(number, kind, request["url"], datetime.fromisoformat(entry["startedDateTime"]).timestamp(), 0.0)
    found.status = response["status"] or None  # DevTools writes 0 for what never came
    found.took = entry["time"] / 1000
    sent = request.get("postData") or {}
    if "text" not in sent and sent.get("params"):
        sent = {"text": urlencode([(item["name"], item.get("value", "")) for item in sent["params"]])}
    found.bodies[Part.REQUEST] = body(sent, "the HAR holds no request body")
    found.bodies[Part.RESPONSE] = body(response.get("content") or {}, "the HAR holds no text of the answer")
    if error := response.get("_error"):
        found.bodies[Part.RESPONSE] = Body(lost=f"the request failed: {error}")
    return found


def body(content: dict[str, Any], missing: str) -> Body:
    text = content.get("text")
    if not isinstance(text, str):
        return Body("") if content.get("size") == 0 else Body(lost=missing)
    if content.get("encoding") != "base64":
        return Body(text)
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        return Body(lost="its base64 text is broken")
    return Body(text_of(data))


def har(fixtures: Iterable[Fixture]) -> dict[str, Any]:
    """Fixtures as a HAR: without headers, cookies and token, which were never recorded."""
    creator = {"name": "nlm-capture", "version": __version__}
    return {"log": {"version": "1.2", "creator": creator, "pages": [], "entries": [entry(each) for each in fixtures]}}


def entry(fixture: Fixture) -> dict[str, Any]:
    path, parameters, sent = request_of(fixture)
    answer = fixture.response.body
    lost = {"_error": fixture.response.lost} if fixture.response.lost is not None else {}
    return {
        "startedDateTime": f"{fixture.captured}T00:00:00+00:00",
        "time": 0,
        "request": {
            "method": "POST",
            "url": f"https://{fixture.host}{path}?{urlencode(parameters)}",
            "httpVersion": "HTTP/2",
            "queryString": [{"name": name, "value": value} for name, value in parameters.items()],
            "postData": {"mimeType": CONTENT_TYPE, "text": sent},
            "bodySize": len(sent),
            **EMPTY,
        },
        "response": {
            "status": fixture.response.status or 0,
            "statusText": "",
            "httpVersion": "HTTP/2",
            "redirectURL": "",
            "content": {"size": len((answer or "").encode("utf-8", "surrogatepass")), **MEDIA}
            | ({} if answer is None else {"text": answer}),
            "bodySize": -1,
            **EMPTY,
            **lost,
        },
        "cache": {},
        "timings": {"send": 0, "wait": 0, "receive": 0},
    }


def request_of(fixture: Fixture) -> tuple[str, dict[str, str], str]:
    """Path, query and body of the request."""
    params, build = fixture.request.params, {"bl": fixture.bl}
    if fixture.rpc == UPLOAD:
        return UPLOAD_PATH, {}, json.dumps(params, ensure_ascii=False)
    if fixture.rpc == ASK.id:
        return CHAT_PATH, {"rt": "c", "source-path": fixture.request.source_path} | build, sent(chat_f_req(params))
    text = f_req([Call(fixture.rpc, params)])
    return PATH, query([fixture.rpc], fixture.request.source_path, 1) | build, sent(text)


def sent(f_req_text: str) -> str:
    return urlencode({"f.req": f_req_text}, errors="surrogatepass") + "&"
