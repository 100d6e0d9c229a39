"""What the generated wrappers stand on: the form of a command, and reading Chrome's JSON without coercing it.

A cell of another type than the protocol's is a TypeError: text made from null, or a list made from text, would be an
invention. Errors name types only, never values. An enumeration is open, since a newer Chrome has newer words.
"""

from __future__ import annotations

from collections.abc import Generator
from enum import StrEnum
from typing import Any, Protocol, Self, TypeAlias, TypeVar

T = TypeVar("T")

JsonObject: TypeAlias = dict[str, Any]

Command: TypeAlias = Generator[JsonObject, JsonObject, T]
"""Yields `{method, params}` once, is sent the result object, and returns what it made of it."""


class EventClass(Protocol):
    @classmethod
    def from_json(cls, json: JsonObject, /) -> Self: ...


class OpenEnum(StrEnum):
    """Words the protocol lists; a word it does not list becomes a member too, equal to its text."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        member = str.__new__(cls, value)
        member._name_ = member._value_ = value
        return member

    def to_json(self) -> str:
        return self.value

    @classmethod
    def from_json(cls, json: str) -> Self:
        return cls(as_str(json))


def as_str(value: Any) -> str:
    return value if isinstance(value, str) else _refuse("string", value)


def as_bool(value: Any) -> bool:
    return value if isinstance(value, bool) else _refuse("boolean", value)


def as_int(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else _refuse("integer", value)


def as_float(value: Any) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else _refuse("number", value)


def as_dict(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else _refuse("object", value)


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else _refuse("array", value)


def _refuse(expected: str, value: object) -> Any:
    raise TypeError(f"{expected} expected, not {type(value).__name__}")
