# Written by tools/generate_cdp.py with PyCDP's generator, from tools/protocol/allow.toml; do not edit.

from __future__ import annotations

from nlm_cdp.cdp.shape import Command, JsonObject

from . import runtime


def set_file_input_files(files: list[str], object_id: runtime.RemoteObjectId | None = None) -> Command[None]:
    params: JsonObject = {}
    params["files"] = [i for i in files]
    if object_id is not None:
        params["objectId"] = object_id.to_json()
    yield {"method": "DOM.setFileInputFiles", "params": params}
