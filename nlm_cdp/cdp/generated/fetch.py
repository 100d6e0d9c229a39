# Written by tools/generate_cdp.py with PyCDP's generator, from tools/protocol/allow.toml; do not edit.

from __future__ import annotations

from dataclasses import dataclass

from nlm_cdp.cdp.shape import Command, JsonObject, OpenEnum, as_int, as_list, as_str

from . import io
from . import network


@dataclass
class HeaderEntry:
    name: str
    value: str

    def to_json(self) -> JsonObject:
        json: JsonObject = {}
        json["name"] = self.name
        json["value"] = self.value
        return json

    @classmethod
    def from_json(cls, json: JsonObject) -> HeaderEntry:
        return cls(name=as_str(json["name"]), value=as_str(json["value"]))


class RequestId(str):
    def to_json(self) -> str:
        return self

    @classmethod
    def from_json(cls, json: str) -> RequestId:
        return cls(as_str(json))


@dataclass
class RequestPattern:
    url_pattern: str | None = None
    request_stage: RequestStage | None = None

    def to_json(self) -> JsonObject:
        json: JsonObject = {}
        if self.url_pattern is not None:
            json["urlPattern"] = self.url_pattern
        if self.request_stage is not None:
            json["requestStage"] = self.request_stage.to_json()
        return json

    @classmethod
    def from_json(cls, json: JsonObject) -> RequestPattern:
        return cls(
            url_pattern=as_str(json["urlPattern"]) if json.get("urlPattern") is not None else None,
            request_stage=RequestStage.from_json(json["requestStage"]) if json.get("requestStage") is not None else None,
        )


class RequestStage(OpenEnum):
    REQUEST = "Request"
    RESPONSE = "Response"


def continue_request(request_id: RequestId) -> Command[None]:
    params: JsonObject = {}
    params["requestId"] = request_id.to_json()
    yield {"method": "Fetch.continueRequest", "params": params}


def enable(patterns: list[RequestPattern] | None = None) -> Command[None]:
    params: JsonObject = {}
    if patterns is not None:
        params["patterns"] = [i.to_json() for i in patterns]
    yield {"method": "Fetch.enable", "params": params}


def fail_request(request_id: RequestId, error_reason: network.ErrorReason) -> Command[None]:
    params: JsonObject = {}
    params["requestId"] = request_id.to_json()
    params["errorReason"] = error_reason.to_json()
    yield {"method": "Fetch.failRequest", "params": params}


def take_response_body_as_stream(request_id: RequestId) -> Command[io.StreamHandle]:
    params: JsonObject = {}
    params["requestId"] = request_id.to_json()
    json = yield {"method": "Fetch.takeResponseBodyAsStream", "params": params}
    return io.StreamHandle.from_json(json["stream"])


@dataclass
class RequestPaused:
    request_id: RequestId
    request: network.Request
    response_error_reason: network.ErrorReason | None
    response_status_code: int | None
    response_headers: list[HeaderEntry] | None

    @classmethod
    def from_json(cls, json: JsonObject) -> RequestPaused:
        return cls(
            request_id=RequestId.from_json(json["requestId"]),
            request=network.Request.from_json(json["request"]),
            response_error_reason=network.ErrorReason.from_json(json["responseErrorReason"]) if json.get("responseErrorReason") is not None else None,
            response_status_code=as_int(json["responseStatusCode"]) if json.get("responseStatusCode") is not None else None,
            response_headers=[HeaderEntry.from_json(i) for i in as_list(json["responseHeaders"])] if json.get("responseHeaders") is not None else None,
        )
