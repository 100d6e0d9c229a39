"""Text as it leaves this program: UTF-8, without half a surrogate pair, which a page may hold and no message may."""

from __future__ import annotations

import sys
from typing import Any


def well_formed(text: str) -> str:
    """Join the surrogate pairs of `text`, and put U+FFFD for the lone ones."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def whole(value: Any) -> Any:
    """The value with lone surrogates replaced: they are no Unicode and would poison every later message."""
    if isinstance(value, str):
        return value if value.isascii() else well_formed(value)
    if isinstance(value, dict):
        return {key: whole(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [whole(item) for item in value]
    return value


def print_utf8() -> None:
    """Whatever the platform: a code page must not decide what a title may hold."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace", newline="\n")
