"""Rows as they are: numbered cells, the trailing object of high numbers, canonical form; no declarations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from types import NoneType
from typing import Any, NoReturn, Self

from nlm_cdp.errors import DecodeError

Row = list[Any]

NUMBER = re.compile("[1-9][0-9]{0,8}")
"""A field number (they are less than 2**29) as the key of a trailing object."""
DENSE = 1024
"""Field numbers from here on are never unfolded into a dense array (a hostile row could name field 10**9)."""


class Misfit(ValueError):
    """A cell that does not fit; its path grows as the walk unwinds."""

    def __init__(self, why: str, at: str = "") -> None:
        super().__init__(why)
        self.why, self.path = why, at

    def below(self, at: str) -> Self:
        self.path = at + self.path
        return self

    def error(self, cls: type) -> DecodeError:
        return DecodeError(cls.__name__, self.path, self.why)


def not_an_array(cell: Any, at: str = "") -> Misfit:
    return Misfit(f"expected an array, got {kind(cell)}", at)


def reach(row: Any, path: tuple[int, ...], *, within: bool = False) -> Any:
    """The cell at a path of field numbers; None where a parent is absent (`within`: the first parent may not be)."""
    for depth, number in enumerate(path):
        if row is None and (depth or not within):
            return None
        if type(row) is not list:
            raise not_an_array(row, dots(path[:depth]))
        size = len(row)
        if size and type(row[-1]) is dict and is_high(row):
            row = row[number - 1] if number < size else row[-1].get(str(number))
        else:
            row = row[number - 1] if number <= size else None
    return row


def is_high(row: Row) -> bool:
    """Whether the trailing object holds numbered fields; anything else there is an ordinary cell."""
    size, high = len(row), row[-1]
    return bool(high) and all(NUMBER.fullmatch(key) and int(key) >= size for key in high)


def cells(row: Row) -> Iterator[tuple[int, Any]]:
    """Numbered cells, the trailing object's unfolded."""
    if row and type(row[-1]) is dict and is_high(row):
        yield from enumerate(row[:-1], start=1)
        yield from ((int(number), value) for number, value in row[-1].items())
    else:
        yield from enumerate(row, start=1)


def put(row: Row, path: Sequence[int], value: Any) -> None:
    *parents, last = path
    for number in parents:
        row.extend([None] * (number - len(row)))
        if row[number - 1] is None:
            row[number - 1] = []
        row = row[number - 1]
    row.extend([None] * (last - len(row)))
    row[last - 1] = value


def wrapped(value: Any, each: tuple[int, ...]) -> Any:
    for number in reversed(each):
        value = [*[None] * (number - 1), value]
    return value


def canonical(value: Any) -> Any:
    """Rows that mean the same become equal: no trailing nulls, numbered fields dense below `DENSE`."""
    if type(value) is not list:
        return value
    dense: list[Any] = []
    high: dict[str, Any] = {}
    for number, cell in cells(value):
        if number < DENSE or number <= len(value):
            dense.extend([None] * (number - len(dense)))
            dense[number - 1] = canonical(cell)
        elif cell is not None:
            high[str(number)] = canonical(cell)
    while dense and dense[-1] is None:
        dense.pop()
    return [*dense, high] if high else dense


def json_cell(text: str, where: str) -> Any:
    """The value of a cell that holds JSON as text (mind maps, app data). Raises DecodeError, never with the text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as exc:
        refuse_json(where, exc)


def refuse_json(where: str, exc: Exception) -> NoReturn:
    raise DecodeError(where, "", f"not JSON ({type(exc).__name__})") from None


def kind(value: Any) -> str:
    """A JSON value's type, as errors and reports name it."""
    return {list: "array", dict: "object", str: "string", bool: "boolean", NoneType: "null"}.get(type(value), "number")


def dots(path: tuple[int, ...]) -> str:
    return "".join(f".{number}" for number in path)
