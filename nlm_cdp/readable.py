"""Results and errors as people and shells read them: the text beside structured content, and exit codes. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nlm_cdp.errors import NlmError

OK, FAILED, USAGE, NO_BROWSER, SIGNED_OUT, INTERRUPTED = 0, 1, 2, 3, 4, 130
"""Exit codes of every command."""

LONG = ("answer", "content", "markdown", "report", "summary")
"""Texts that are the point of a result: shown whole, first and unindented."""


def result_text(result: dict[str, Any]) -> str:
    """Everything a model without structured content needs: the main text, then every other value on a line."""
    main = [result[key] for key in LONG if isinstance(result.get(key), str)]
    rest = {key: value for key, value in result.items() if key not in LONG and key != "_provenance"}
    return "\n".join([*main, *([""] if main and rest else []), *lines(rest, "")]).strip()


def lines(value: dict[str, Any], indent: str) -> Iterator[str]:
    for key, item in value.items():
        if isinstance(item, dict):
            yield f"{indent}{key}:"
            yield from lines(item, indent + "  ")
        elif isinstance(item, list) and item and isinstance(item[0], dict):
            yield f"{indent}{key}:"
            for entry in item:
                yield f"{indent}- " + ", ".join(f"{name}: {shown(part)}" for name, part in entry.items())
        else:
            yield f"{indent}{key}: {shown(item)}"


def shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return "; ".join(map(shown, value)) or "none"
    if isinstance(value, dict):
        return " ".join(f"{key}={shown(item)}" for key, item in value.items())
    return " ".join(str(value).split())


def error_result(error: NlmError) -> dict[str, Any]:
    """An error as structured content."""
    optional = {"retry_after_s": error.retry_after_s, "state": error.state, "details": error.details or None}
    return {
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "outcome": str(error.outcome),
        "retriable": error.retriable,
        **{key: value for key, value in optional.items() if value is not None},
    }


def error_text(error: NlmError) -> str:
    parts = [f"{error.code}: {error.message.rstrip('.')}.", error.hint]
    if error.retry_after_s is not None:
        parts.append(f"Retry after {error.retry_after_s:g} s.")
    return " ".join(filter(None, parts))


def exit_code(error: NlmError) -> int:
    if error.code.startswith("CHROME_"):
        return NO_BROWSER
    return SIGNED_OUT if error.code in ("SIGNED_OUT", "ACCESS_GATED") else FAILED
