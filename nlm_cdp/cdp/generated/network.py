# Written by tools/generate_cdp.py with PyCDP's generator, from tools/protocol/allow.toml; do not edit.

from __future__ import annotations

from nlm_cdp.cdp.shape import as_str


class LoaderId(str):
    def to_json(self) -> str:
        return self

    @classmethod
    def from_json(cls, json: str) -> LoaderId:
        return cls(as_str(json))
