"""Ids that the service has changed, as this user's machine knows them: a stopgap until the registry is mended.

One small JSON file, written by `nlm-capture learn`: `{"format": 1, "ids": {"<declared id>": "<id of today>"}}`.
`NLM_CDP_OVERRIDES` names another file; empty, it turns overrides off.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nlm_cdp.errors import InvalidArgument
from nlm_cdp.local.files import data_folder, write_whole
from nlm_cdp.rpc import A, Q, Rpc

VARIABLE = "NLM_CDP_OVERRIDES"
FORMAT = 1
ID = re.compile("[A-Za-z0-9]{4,10}")


@dataclass(frozen=True, slots=True)
class Overrides:
    """Declared id -> the id the service knows it by now; `path` is the file they came from."""

    ids: Mapping[str, str] = field(default_factory=dict)
    path: Path | None = None

    def applied(self, rpc: Rpc[Q, A]) -> Rpc[Q, A]:
        """The call as it is sent today."""
        return replace(rpc, id=self.ids[rpc.id]) if rpc.id in self.ids else rpc

    def declared(self, id: str) -> str:
        """The declared id behind one seen on the wire."""
        return next((ours for ours, theirs in self.ids.items() if theirs == id), id)


def location() -> Path | None:
    """The file in use, whether it is there or not; None where overrides are off."""
    named = os.environ.get(VARIABLE)
    if named is None:
        return data_folder() / "overrides.json"
    return Path(named).expanduser() if named else None


def load() -> Overrides:
    """The overrides in force. Raises InvalidArgument for a file that holds something else or was named in vain."""
    path = location()
    try:
        text = path.read_text(encoding="utf-8") if path is not None else None
    except FileNotFoundError:
        if os.environ.get(VARIABLE):
            raise invalid(path, "there is no such file") from None
        return Overrides()
    except (OSError, UnicodeDecodeError) as exc:
        raise invalid(path, type(exc).__name__) from None
    return Overrides() if text is None else Overrides(parsed(path, text), path)


def parsed(path: Path | None, text: str) -> dict[str, str]:
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise invalid(path, "it is not JSON") from None
    ids = found.get("ids") if isinstance(found, dict) and found.get("format") == FORMAT else None
    if not isinstance(ids, dict) or not all(isinstance(id, str) and ID.fullmatch(id) for id in (*ids, *ids.values())):
        raise invalid(path, "it does not map ids to ids")
    if len(set(ids.values())) < len(ids):
        raise invalid(path, "two calls would go by one id")
    return ids


def save(path: Path, ids: Mapping[str, str]) -> None:
    """Write the file whole or not at all, for its owner alone."""
    text = json.dumps({"format": FORMAT, "ids": dict(sorted(ids.items()))}, indent=1) + "\n"
    write_whole(path, text.encode())


def invalid(path: Path | None, why: str) -> InvalidArgument:
    return InvalidArgument(
        f"the overrides in {path} cannot be used: {why}", hint=f"Mend or remove the file, or set {VARIABLE} to nothing."
    )
