# Written by tools/generate_cdp.py with PyCDP's generator, from tools/protocol/allow.toml; do not edit.

from __future__ import annotations

from dataclasses import dataclass

from nlm_cdp.cdp.shape import Command, JsonObject, OpenEnum, as_bool, as_float, as_int, as_str


class ErrorReason(OpenEnum):
    FAILED = "Failed"
    ABORTED = "Aborted"
    TIMED_OUT = "TimedOut"
    ACCESS_DENIED = "AccessDenied"
    CONNECTION_CLOSED = "ConnectionClosed"
    CONNECTION_RESET = "ConnectionReset"
    CONNECTION_REFUSED = "ConnectionRefused"
    CONNECTION_ABORTED = "ConnectionAborted"
    CONNECTION_FAILED = "ConnectionFailed"
    NAME_NOT_RESOLVED = "NameNotResolved"
    INTERNET_DISCONNECTED = "InternetDisconnected"
    ADDRESS_UNREACHABLE = "AddressUnreachable"
    BLOCKED_BY_CLIENT = "BlockedByClient"
    BLOCKED_BY_RESPONSE = "BlockedByResponse"


class LoaderId(str):
    def to_json(self) -> str:
        return self

    @classmethod
    def from_json(cls, json: str) -> LoaderId:
        return cls(as_str(json))


class MonotonicTime(float):
    def to_json(self) -> float:
        return self

    @classmethod
    def from_json(cls, json: float) -> MonotonicTime:
        return cls(as_float(json))


@dataclass
class Request:
    url: str
    method: str
    post_data: str | None = None
    has_post_data: bool | None = None

    def to_json(self) -> JsonObject:
        json: JsonObject = {}
        json["url"] = self.url
        json["method"] = self.method
        if self.post_data is not None:
            json["postData"] = self.post_data
        if self.has_post_data is not None:
            json["hasPostData"] = self.has_post_data
        return json

    @classmethod
    def from_json(cls, json: JsonObject) -> Request:
        return cls(
            url=as_str(json["url"]),
            method=as_str(json["method"]),
            post_data=as_str(json["postData"]) if json.get("postData") is not None else None,
            has_post_data=as_bool(json["hasPostData"]) if json.get("hasPostData") is not None else None,
        )


class RequestId(str):
    def to_json(self) -> str:
        return self

    @classmethod
    def from_json(cls, json: str) -> RequestId:
        return cls(as_str(json))


@dataclass
class Response:
    url: str
    status: int
    from_service_worker: bool | None = None

    def to_json(self) -> JsonObject:
        json: JsonObject = {}
        json["url"] = self.url
        json["status"] = self.status
        if self.from_service_worker is not None:
            json["fromServiceWorker"] = self.from_service_worker
        return json

    @classmethod
    def from_json(cls, json: JsonObject) -> Response:
        return cls(
            url=as_str(json["url"]),
            status=as_int(json["status"]),
            from_service_worker=as_bool(json["fromServiceWorker"]) if json.get("fromServiceWorker") is not None else None,
        )


class TimeSinceEpoch(float):
    def to_json(self) -> float:
        return self

    @classmethod
    def from_json(cls, json: float) -> TimeSinceEpoch:
        return cls(as_float(json))


def configure_durable_messages(
    max_total_buffer_size: int | None = None,
    max_resource_buffer_size: int | None = None,
) -> Command[None]:
    params: JsonObject = {}
    if max_total_buffer_size is not None:
        params["maxTotalBufferSize"] = max_total_buffer_size
    if max_resource_buffer_size is not None:
        params["maxResourceBufferSize"] = max_resource_buffer_size
    yield {"method": "Network.configureDurableMessages", "params": params}


def enable(
    max_total_buffer_size: int | None = None,
    max_resource_buffer_size: int | None = None,
    max_post_data_size: int | None = None,
) -> Command[None]:
    params: JsonObject = {}
    if max_total_buffer_size is not None:
        params["maxTotalBufferSize"] = max_total_buffer_size
    if max_resource_buffer_size is not None:
        params["maxResourceBufferSize"] = max_resource_buffer_size
    if max_post_data_size is not None:
        params["maxPostDataSize"] = max_post_data_size
    yield {"method": "Network.enable", "params": params}


def get_request_post_data(request_id: RequestId) -> Command[tuple[str, bool]]:
    params: JsonObject = {}
    params["requestId"] = request_id.to_json()
    json = yield {"method": "Network.getRequestPostData", "params": params}
    return (as_str(json["postData"]), as_bool(json["base64Encoded"]))


def get_response_body(request_id: RequestId) -> Command[tuple[str, bool]]:
    params: JsonObject = {}
    params["requestId"] = request_id.to_json()
    json = yield {"method": "Network.getResponseBody", "params": params}
    return (as_str(json["body"]), as_bool(json["base64Encoded"]))


@dataclass
class LoadingFailed:
    request_id: RequestId
    timestamp: MonotonicTime
    error_text: str
    canceled: bool | None

    @classmethod
    def from_json(cls, json: JsonObject) -> LoadingFailed:
        return cls(
            request_id=RequestId.from_json(json["requestId"]),
            timestamp=MonotonicTime.from_json(json["timestamp"]),
            error_text=as_str(json["errorText"]),
            canceled=as_bool(json["canceled"]) if json.get("canceled") is not None else None,
        )


@dataclass
class LoadingFinished:
    request_id: RequestId
    timestamp: MonotonicTime

    @classmethod
    def from_json(cls, json: JsonObject) -> LoadingFinished:
        return cls(
            request_id=RequestId.from_json(json["requestId"]),
            timestamp=MonotonicTime.from_json(json["timestamp"]),
        )


@dataclass
class RequestWillBeSent:
    request_id: RequestId
    request: Request
    timestamp: MonotonicTime
    wall_time: TimeSinceEpoch
    redirect_response: Response | None

    @classmethod
    def from_json(cls, json: JsonObject) -> RequestWillBeSent:
        return cls(
            request_id=RequestId.from_json(json["requestId"]),
            request=Request.from_json(json["request"]),
            timestamp=MonotonicTime.from_json(json["timestamp"]),
            wall_time=TimeSinceEpoch.from_json(json["wallTime"]),
            redirect_response=Response.from_json(json["redirectResponse"]) if json.get("redirectResponse") is not None else None,
        )


@dataclass
class ResponseReceived:
    request_id: RequestId
    response: Response

    @classmethod
    def from_json(cls, json: JsonObject) -> ResponseReceived:
        return cls(request_id=RequestId.from_json(json["requestId"]), response=Response.from_json(json["response"]))
