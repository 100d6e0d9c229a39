# Written by tools/generate_cdp.py with PyCDP's generator, from tools/protocol/allow.toml; do not edit.

from __future__ import annotations

from dataclasses import dataclass

from nlm_cdp.cdp.shape import Command, JsonObject, as_bool, as_list, as_str

from . import browser


class SessionID(str):
    def to_json(self) -> str:
        return self

    @classmethod
    def from_json(cls, json: str) -> SessionID:
        return cls(as_str(json))


class TargetID(str):
    def to_json(self) -> str:
        return self

    @classmethod
    def from_json(cls, json: str) -> TargetID:
        return cls(as_str(json))


@dataclass
class TargetInfo:
    target_id: TargetID
    type_: str
    url: str
    attached: bool
    opener_id: TargetID | None = None
    browser_context_id: browser.BrowserContextID | None = None
    subtype: str | None = None

    def to_json(self) -> JsonObject:
        json: JsonObject = {}
        json["targetId"] = self.target_id.to_json()
        json["type"] = self.type_
        json["url"] = self.url
        json["attached"] = self.attached
        if self.opener_id is not None:
            json["openerId"] = self.opener_id.to_json()
        if self.browser_context_id is not None:
            json["browserContextId"] = self.browser_context_id.to_json()
        if self.subtype is not None:
            json["subtype"] = self.subtype
        return json

    @classmethod
    def from_json(cls, json: JsonObject) -> TargetInfo:
        return cls(
            target_id=TargetID.from_json(json["targetId"]),
            type_=as_str(json["type"]),
            url=as_str(json["url"]),
            attached=as_bool(json["attached"]),
            opener_id=TargetID.from_json(json["openerId"]) if json.get("openerId") is not None else None,
            browser_context_id=browser.BrowserContextID.from_json(json["browserContextId"]) if json.get("browserContextId") is not None else None,
            subtype=as_str(json["subtype"]) if json.get("subtype") is not None else None,
        )


def attach_to_target(target_id: TargetID, flatten: bool | None = None) -> Command[SessionID]:
    params: JsonObject = {}
    params["targetId"] = target_id.to_json()
    if flatten is not None:
        params["flatten"] = flatten
    json = yield {"method": "Target.attachToTarget", "params": params}
    return SessionID.from_json(json["sessionId"])


def close_target(target_id: TargetID) -> Command[None]:
    params: JsonObject = {}
    params["targetId"] = target_id.to_json()
    yield {"method": "Target.closeTarget", "params": params}


def create_target(
    url: str,
    browser_context_id: browser.BrowserContextID | None = None,
    background: bool | None = None,
    hidden: bool | None = None,
) -> Command[TargetID]:
    params: JsonObject = {}
    params["url"] = url
    if browser_context_id is not None:
        params["browserContextId"] = browser_context_id.to_json()
    if background is not None:
        params["background"] = background
    if hidden is not None:
        params["hidden"] = hidden
    json = yield {"method": "Target.createTarget", "params": params}
    return TargetID.from_json(json["targetId"])


def detach_from_target(session_id: SessionID | None = None) -> Command[None]:
    params: JsonObject = {}
    if session_id is not None:
        params["sessionId"] = session_id.to_json()
    yield {"method": "Target.detachFromTarget", "params": params}


def get_targets() -> Command[list[TargetInfo]]:
    json = yield {"method": "Target.getTargets"}
    return [TargetInfo.from_json(i) for i in as_list(json["targetInfos"])]


@dataclass
class DetachedFromTarget:
    session_id: SessionID

    @classmethod
    def from_json(cls, json: JsonObject) -> DetachedFromTarget:
        return cls(session_id=SessionID.from_json(json["sessionId"]))
