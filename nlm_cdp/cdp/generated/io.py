# Written by tools/generate_cdp.py with PyCDP's generator, from tools/protocol/allow.toml; do not edit.

from __future__ import annotations

from nlm_cdp.cdp.shape import Command, JsonObject, as_bool, as_str


class StreamHandle(str):
    def to_json(self) -> str:
        return self

    @classmethod
    def from_json(cls, json: str) -> StreamHandle:
        return cls(as_str(json))


def close(handle: StreamHandle) -> Command[None]:
    params: JsonObject = {}
    params["handle"] = handle.to_json()
    yield {"method": "IO.close", "params": params}


def read(handle: StreamHandle, size: int | None = None) -> Command[tuple[bool | None, str, bool]]:
    params: JsonObject = {}
    params["handle"] = handle.to_json()
    if size is not None:
        params["size"] = size
    json = yield {"method": "IO.read", "params": params}
    return (
        as_bool(json["base64Encoded"]) if json.get("base64Encoded") is not None else None,
        as_str(json["data"]),
        as_bool(json["eof"]),
    )
