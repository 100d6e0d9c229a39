# Written by tools/generate_cdp.py with PyCDP's generator, from tools/protocol/allow.toml; do not edit.

from __future__ import annotations

from nlm_cdp.cdp.shape import Command, as_str


class BrowserContextID(str):
    def to_json(self) -> str:
        return self

    @classmethod
    def from_json(cls, json: str) -> BrowserContextID:
        return cls(as_str(json))


def get_version() -> Command[tuple[str, str, str, str, str]]:
    json = yield {"method": "Browser.getVersion"}
    return (
        as_str(json["protocolVersion"]),
        as_str(json["product"]),
        as_str(json["revision"]),
        as_str(json["userAgent"]),
        as_str(json["jsVersion"]),
    )
