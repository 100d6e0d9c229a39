"""pblite: protobuf messages as positional JSON arrays, field *n* at index *n - 1*, high numbers in a trailing object.

A `Message` declares each field's place once with a `Tag`; that one declaration reads, writes, classifies and diffs a
row. Decoding names the cells of the whole tree in one walk and validates it once, at the root. In wire paths `.n` is a
field number and `[i]` a list index.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field

from nlm_cdp.errors import DecodeError
from nlm_cdp.wire.reading import read
from nlm_cdp.wire.rows import Row, canonical, cells, dots, json_cell, kind, put, reach, wrapped
from nlm_cdp.wire.slots import Lazy, Node, Record, Slot, Tag, node_of, slots

__all__ = [
    "Bit",
    "Lazy",
    "Message",
    "Row",
    "Tag",
    "canonical",
    "dots",
    "json_cell",
    "kind",
    "slots",
    "unclaimed",
    "unknown_codes",
]

Bit = Annotated[bool | int, Field(ge=0, le=1)]
"""A boolean that the service writes as true/false in one place and 1/0 in another; what was written is kept."""


class Message(Record):
    """Named fields over one row; every field carries one `Tag`.

    A default is what we send, never what the wire said: `T | None` reads an empty cell as None and writes everything
    else; a falsy default reads an empty cell as itself and is written only when set; a truthy default that is not
    nullable must be there to decode.
    """

    __slots__ = ("rejects",)
    PIVOT: ClassVar[int] = 0
    """Fields numbered this high or higher go to the trailing object on encode; 0: none do."""

    @classmethod
    def decode(cls, row: Row) -> Self:
        """The message of `row`; rows that a lenient list dropped are in `undecoded`. Raises DecodeError."""
        return read(cls, row)

    def encode(self) -> Row:
        """The row, dense except for fields from `PIVOT` on."""
        row: Row = []
        high: dict[str, Any] = {}
        for slot in slots(type(self)):
            value = getattr(self, slot.name)
            if value is None or (not value and slot.omits_falsy and slot.name not in self.model_fields_set):
                continue
            plain = unnamed(value, slot.each)
            number, *below = slot.path
            if not self.PIVOT or number < self.PIVOT:
                put(row, slot.path, plain)
            elif below:
                put(high.setdefault(str(number), []), below, plain)
            else:
                high[str(number)] = plain
        return [*row, high] if high else row

    @property
    def undecoded(self) -> tuple[str, ...]:
        """Wire path and reason of each row that did not decode and was left out of a lenient list."""
        return getattr(self, "rejects", ())


def unnamed(value: Any, each: tuple[int, ...] = ()) -> Any:
    if isinstance(value, Message):
        return value.encode()
    if isinstance(value, Lazy):
        return value.row
    if isinstance(value, list):
        return [wrapped(unnamed(item), each) for item in value]
    return value


def unclaimed(cls: type[Message], row: Row, at: str = "") -> Iterator[str]:
    """Wire paths of the non-null cells no field claims, and of lazy ones that do not decode.

    0, false, "" and [] are cells too. Nothing unclaimed means that the decoded message re-encodes to this row (in
    `canonical` form).
    """
    if type(row) is list:
        try:
            yield from left_over(row, node_of(cls), at)
        except RecursionError:
            yield f"{at}: nested too deeply"


def left_over(row: Row, node: Node, at: str) -> Iterator[str]:
    for number, value in cells(row):
        if value is None:
            continue
        claim = node.numbered.get(number)
        if claim is None:
            yield f"{at}.{number}: {kind(value)}"
        elif type(claim) is Slot:
            yield from left_inside(claim, value, claim.depth, f"{at}.{number}")
        elif type(claim) is Node and type(value) is list:
            if all(cell is None for _, cell in cells(value)):  # a path through an empty parent cannot keep it
                yield f"{at}.{number}: empty"
            yield from left_over(value, claim, f"{at}.{number}")


def left_inside(slot: Slot, value: Any, depth: int, at: str) -> Iterator[str]:
    if not depth:
        if slot.message is not None:
            if slot.lazy:
                yield from misread(slot.message, value, at)
            yield from unclaimed(slot.message, value, at)
        return
    if type(value) is not list:
        return
    for index, item in enumerate(value):
        here, cell = f"{at}[{index}]", item
        for number in slot.each if depth == 1 else ():
            if type(cell) is not list:
                break
            yield from (f"{here}.{n}: {kind(v)}" for n, v in cells(cell) if n != number and v is not None)
            cell, here = reach(cell, (number,)), f"{here}.{number}"
        yield from left_inside(slot, cell, depth - 1, here)


def unknown_codes(message: Message, at: str = "") -> Iterator[str]:
    """Wire path and number of each cell that holds a number its enumeration does not know."""
    for slot in slots(type(message)):
        value, here = getattr(message, slot.name), f"{at}{dots(slot.path)}"
        if slot.codes is not None and value and value not in slot.codes:
            yield f"{here}: {value}"
        elif isinstance(value, Message):
            yield from unknown_codes(value, here)
        elif slot.message is not None and isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, Message):
                    yield from unknown_codes(item, f"{here}[{index}]")


def misread(cls: type[Message], row: Row, at: str) -> Iterator[str]:
    try:
        cls.decode(row)
    except DecodeError as exc:
        yield f"{at}{exc.path}: {exc.why}"
