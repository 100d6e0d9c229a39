# Written by tools/generate_cdp.py with PyCDP's generator, from tools/protocol/allow.toml; do not edit.

from __future__ import annotations

from dataclasses import dataclass

from nlm_cdp.cdp.shape import Command, JsonObject, as_str


def enable() -> Command[None]:
    yield {"method": "Inspector.enable"}


@dataclass
class Detached:
    reason: str

    @classmethod
    def from_json(cls, json: JsonObject) -> Detached:
        return cls(reason=as_str(json["reason"]))


@dataclass
class TargetCrashed:
    @classmethod
    def from_json(cls, json: JsonObject) -> TargetCrashed:
        return cls()
