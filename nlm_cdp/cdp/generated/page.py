# Written by tools/generate_cdp.py with PyCDP's generator, from tools/protocol/allow.toml; do not edit.

from __future__ import annotations

from dataclasses import dataclass

from nlm_cdp.cdp.shape import Command, JsonObject, OpenEnum, as_bool, as_list, as_str

from . import network
from . import runtime


class DialogType(OpenEnum):
    ALERT = "alert"
    CONFIRM = "confirm"
    PROMPT = "prompt"
    BEFOREUNLOAD = "beforeunload"


@dataclass
class Frame:
    id_: FrameId
    loader_id: network.LoaderId
    url: str
    security_origin: str
    parent_id: FrameId | None = None
    unreachable_url: str | None = None

    def to_json(self) -> JsonObject:
        json: JsonObject = {}
        json["id"] = self.id_.to_json()
        json["loaderId"] = self.loader_id.to_json()
        json["url"] = self.url
        json["securityOrigin"] = self.security_origin
        if self.parent_id is not None:
            json["parentId"] = self.parent_id.to_json()
        if self.unreachable_url is not None:
            json["unreachableUrl"] = self.unreachable_url
        return json

    @classmethod
    def from_json(cls, json: JsonObject) -> Frame:
        return cls(
            id_=FrameId.from_json(json["id"]),
            loader_id=network.LoaderId.from_json(json["loaderId"]),
            url=as_str(json["url"]),
            security_origin=as_str(json["securityOrigin"]),
            parent_id=FrameId.from_json(json["parentId"]) if json.get("parentId") is not None else None,
            unreachable_url=as_str(json["unreachableUrl"]) if json.get("unreachableUrl") is not None else None,
        )


class FrameId(str):
    def to_json(self) -> str:
        return self

    @classmethod
    def from_json(cls, json: str) -> FrameId:
        return cls(as_str(json))


@dataclass
class FrameTree:
    frame: Frame
    child_frames: list[FrameTree] | None = None

    def to_json(self) -> JsonObject:
        json: JsonObject = {}
        json["frame"] = self.frame.to_json()
        if self.child_frames is not None:
            json["childFrames"] = [i.to_json() for i in self.child_frames]
        return json

    @classmethod
    def from_json(cls, json: JsonObject) -> FrameTree:
        return cls(
            frame=Frame.from_json(json["frame"]),
            child_frames=[FrameTree.from_json(i) for i in as_list(json["childFrames"])] if json.get("childFrames") is not None else None,
        )


def create_isolated_world(frame_id: FrameId, world_name: str | None = None) -> Command[runtime.ExecutionContextId]:
    params: JsonObject = {}
    params["frameId"] = frame_id.to_json()
    if world_name is not None:
        params["worldName"] = world_name
    json = yield {"method": "Page.createIsolatedWorld", "params": params}
    return runtime.ExecutionContextId.from_json(json["executionContextId"])


def enable() -> Command[None]:
    yield {"method": "Page.enable"}


def get_frame_tree() -> Command[FrameTree]:
    json = yield {"method": "Page.getFrameTree"}
    return FrameTree.from_json(json["frameTree"])


def navigate(url: str) -> Command[tuple[FrameId, network.LoaderId | None, str | None, bool | None]]:
    params: JsonObject = {}
    params["url"] = url
    json = yield {"method": "Page.navigate", "params": params}
    return (
        FrameId.from_json(json["frameId"]),
        network.LoaderId.from_json(json["loaderId"]) if json.get("loaderId") is not None else None,
        as_str(json["errorText"]) if json.get("errorText") is not None else None,
        as_bool(json["isDownload"]) if json.get("isDownload") is not None else None,
    )


@dataclass
class FrameNavigated:
    frame: Frame

    @classmethod
    def from_json(cls, json: JsonObject) -> FrameNavigated:
        return cls(frame=Frame.from_json(json["frame"]))


@dataclass
class JavascriptDialogClosed:
    frame_id: FrameId
    result: bool

    @classmethod
    def from_json(cls, json: JsonObject) -> JavascriptDialogClosed:
        return cls(frame_id=FrameId.from_json(json["frameId"]), result=as_bool(json["result"]))


@dataclass
class JavascriptDialogOpening:
    url: str
    frame_id: FrameId
    type_: DialogType
    has_browser_handler: bool

    @classmethod
    def from_json(cls, json: JsonObject) -> JavascriptDialogOpening:
        return cls(
            url=as_str(json["url"]),
            frame_id=FrameId.from_json(json["frameId"]),
            type_=DialogType.from_json(json["type"]),
            has_browser_handler=as_bool(json["hasBrowserHandler"]),
        )
