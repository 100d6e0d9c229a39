# Written by tools/generate_cdp.py with PyCDP's generator, from tools/protocol/allow.toml; do not edit.

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nlm_cdp.cdp.shape import Command, JsonObject, as_int, as_str


@dataclass
class CallArgument:
    value: Any | None = None
    unserializable_value: UnserializableValue | None = None
    object_id: RemoteObjectId | None = None

    def to_json(self) -> JsonObject:
        json: JsonObject = {}
        if self.value is not None:
            json["value"] = self.value
        if self.unserializable_value is not None:
            json["unserializableValue"] = self.unserializable_value.to_json()
        if self.object_id is not None:
            json["objectId"] = self.object_id.to_json()
        return json

    @classmethod
    def from_json(cls, json: JsonObject) -> CallArgument:
        return cls(
            value=json["value"] if json.get("value") is not None else None,
            unserializable_value=UnserializableValue.from_json(json["unserializableValue"]) if json.get("unserializableValue") is not None else None,
            object_id=RemoteObjectId.from_json(json["objectId"]) if json.get("objectId") is not None else None,
        )


@dataclass
class ExceptionDetails:
    text: str
    line_number: int
    column_number: int
    exception: RemoteObject | None = None

    def to_json(self) -> JsonObject:
        json: JsonObject = {}
        json["text"] = self.text
        json["lineNumber"] = self.line_number
        json["columnNumber"] = self.column_number
        if self.exception is not None:
            json["exception"] = self.exception.to_json()
        return json

    @classmethod
    def from_json(cls, json: JsonObject) -> ExceptionDetails:
        return cls(
            text=as_str(json["text"]),
            line_number=as_int(json["lineNumber"]),
            column_number=as_int(json["columnNumber"]),
            exception=RemoteObject.from_json(json["exception"]) if json.get("exception") is not None else None,
        )


class ExecutionContextId(int):
    def to_json(self) -> int:
        return self

    @classmethod
    def from_json(cls, json: int) -> ExecutionContextId:
        return cls(as_int(json))


@dataclass
class RemoteObject:
    type_: str
    subtype: str | None = None
    class_name: str | None = None
    value: Any | None = None
    unserializable_value: UnserializableValue | None = None
    description: str | None = None
    object_id: RemoteObjectId | None = None

    def to_json(self) -> JsonObject:
        json: JsonObject = {}
        json["type"] = self.type_
        if self.subtype is not None:
            json["subtype"] = self.subtype
        if self.class_name is not None:
            json["className"] = self.class_name
        if self.value is not None:
            json["value"] = self.value
        if self.unserializable_value is not None:
            json["unserializableValue"] = self.unserializable_value.to_json()
        if self.description is not None:
            json["description"] = self.description
        if self.object_id is not None:
            json["objectId"] = self.object_id.to_json()
        return json

    @classmethod
    def from_json(cls, json: JsonObject) -> RemoteObject:
        return cls(
            type_=as_str(json["type"]),
            subtype=as_str(json["subtype"]) if json.get("subtype") is not None else None,
            class_name=as_str(json["className"]) if json.get("className") is not None else None,
            value=json["value"] if json.get("value") is not None else None,
            unserializable_value=UnserializableValue.from_json(json["unserializableValue"]) if json.get("unserializableValue") is not None else None,
            description=as_str(json["description"]) if json.get("description") is not None else None,
            object_id=RemoteObjectId.from_json(json["objectId"]) if json.get("objectId") is not None else None,
        )


class RemoteObjectId(str):
    def to_json(self) -> str:
        return self

    @classmethod
    def from_json(cls, json: str) -> RemoteObjectId:
        return cls(as_str(json))


class UnserializableValue(str):
    def to_json(self) -> str:
        return self

    @classmethod
    def from_json(cls, json: str) -> UnserializableValue:
        return cls(as_str(json))


def add_binding(name: str, execution_context_name: str | None = None) -> Command[None]:
    params: JsonObject = {}
    params["name"] = name
    if execution_context_name is not None:
        params["executionContextName"] = execution_context_name
    yield {"method": "Runtime.addBinding", "params": params}


def call_function_on(
    function_declaration: str,
    object_id: RemoteObjectId | None = None,
    arguments: list[CallArgument] | None = None,
    silent: bool | None = None,
    return_by_value: bool | None = None,
    await_promise: bool | None = None,
    execution_context_id: ExecutionContextId | None = None,
    unique_context_id: str | None = None,
) -> Command[tuple[RemoteObject, ExceptionDetails | None]]:
    params: JsonObject = {}
    params["functionDeclaration"] = function_declaration
    if object_id is not None:
        params["objectId"] = object_id.to_json()
    if arguments is not None:
        params["arguments"] = [i.to_json() for i in arguments]
    if silent is not None:
        params["silent"] = silent
    if return_by_value is not None:
        params["returnByValue"] = return_by_value
    if await_promise is not None:
        params["awaitPromise"] = await_promise
    if execution_context_id is not None:
        params["executionContextId"] = execution_context_id.to_json()
    if unique_context_id is not None:
        params["uniqueContextId"] = unique_context_id
    json = yield {"method": "Runtime.callFunctionOn", "params": params}
    return (
        RemoteObject.from_json(json["result"]),
        ExceptionDetails.from_json(json["exceptionDetails"]) if json.get("exceptionDetails") is not None else None,
    )


def enable() -> Command[None]:
    yield {"method": "Runtime.enable"}


def evaluate(
    expression: str,
    silent: bool | None = None,
    context_id: ExecutionContextId | None = None,
    return_by_value: bool | None = None,
    await_promise: bool | None = None,
    unique_context_id: str | None = None,
) -> Command[tuple[RemoteObject, ExceptionDetails | None]]:
    params: JsonObject = {}
    params["expression"] = expression
    if silent is not None:
        params["silent"] = silent
    if context_id is not None:
        params["contextId"] = context_id.to_json()
    if return_by_value is not None:
        params["returnByValue"] = return_by_value
    if await_promise is not None:
        params["awaitPromise"] = await_promise
    if unique_context_id is not None:
        params["uniqueContextId"] = unique_context_id
    json = yield {"method": "Runtime.evaluate", "params": params}
    return (
        RemoteObject.from_json(json["result"]),
        ExceptionDetails.from_json(json["exceptionDetails"]) if json.get("exceptionDetails") is not None else None,
    )


def release_object(object_id: RemoteObjectId) -> Command[None]:
    params: JsonObject = {}
    params["objectId"] = object_id.to_json()
    yield {"method": "Runtime.releaseObject", "params": params}


@dataclass
class BindingCalled:
    name: str
    payload: str
    execution_context_id: ExecutionContextId

    @classmethod
    def from_json(cls, json: JsonObject) -> BindingCalled:
        return cls(
            name=as_str(json["name"]),
            payload=as_str(json["payload"]),
            execution_context_id=ExecutionContextId.from_json(json["executionContextId"]),
        )


@dataclass
class ExecutionContextsCleared:
    @classmethod
    def from_json(cls, json: JsonObject) -> ExecutionContextsCleared:
        return cls()
