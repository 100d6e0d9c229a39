"""pblite: protobuf messages as positional JSON arrays, field *n* at index *n - 1*, high numbers in a trailing object.

A `Message` declares each field's place once with a `Tag`; that one declaration reads, writes, classifies and diffs a
row. Decoding names the cells of the whole tree in one walk and validates it once, at the root. In wire paths `.n` is a
field number and `[i]` a list index.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    NamedTuple,
    NoReturn,
    Self,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, PydanticUndefined, core_schema

from nlm_cdp.errors import DecodeError

Row = list[Any]
Bit = Annotated[bool | int, Field(ge=0, le=1)]
"""A boolean that the service writes as true/false in one place and 1/0 in another; what was written is kept."""

NUMBER = re.compile("[1-9][0-9]{0,8}")
"""A field number (they are less than 2**29) as the key of a trailing object."""
DENSE = 1024
"""Field numbers from here on are never unfolded into a dense array (a hostile row could name field 10**9)."""


class Tag:
    """Where a field sits: field numbers from its message down.

    `each`: the path below every item of a list, for ids wrapped one by one. `bare`: a scalar stands for the message's
    field 1. `lenient`: a row of this list that does not decode is reported, the others live.
    """

    def __init__(self, *path: int, each: tuple[int, ...] = (), bare: bool = False, lenient: bool = False) -> None:
        if not path or min(path + each) < 1:
            raise TypeError("field numbers start at 1")
        self.path, self.each, self.bare, self.lenient = path, each, bare, lenient


class Message(BaseModel):
    """Named fields over one row; every field carries one `Tag`.

    A default is what we send, never what the wire said: `T | None` reads an empty cell as None and writes everything
    else; a falsy default reads an empty cell as itself and is written only when set; a truthy default that is not
    nullable must be there to decode.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)
    __slots__ = ("rejects",)
    PIVOT: ClassVar[int] = 0
    """Fields numbered this high or higher go to the trailing object on encode; 0: none do."""

    @classmethod
    def decode(cls, row: Row) -> Self:
        """The message of `row`; rows that a lenient list dropped are in `undecoded`. Raises DecodeError."""
        if type(row) is not list:
            raise DecodeError(cls.__name__, "", f"expected an array, got {kind(row)}")
        try:
            return fitted(cls, row, None)
        except DecodeError:
            if not has_lenient(cls):
                raise
        rejects: list[Misfit] = []
        message = fitted(cls, row, rejects)
        object.__setattr__(message, "rejects", tuple(f"{misfit.path}: {misfit.why}" for misfit in rejects))
        return message

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


M = TypeVar("M", bound=Message)


def fitted(cls: type[M], row: Row, rejects: list[Misfit] | None) -> M:
    """One walk and one validation; whatever does not fit is a DecodeError."""
    try:
        return validate(cls, walk(node_of(cls), row, rejects, {}))
    except Misfit as misfit:
        raise misfit.error(cls) from None
    except ValidationError as exc:
        raise validation_error(cls, exc) from None
    except RecursionError:
        raise DecodeError(cls.__name__, "", "nested too deeply") from None


def validate(cls: type[M], cells: Any) -> M:
    """Straight to the compiled validator: what `model_validate` adds costs as much as a small row.

    The walk names declared fields only, so looking for others would be wasted.
    """
    return cast("M", cls.__pydantic_validator__.validate_python(cells, extra="ignore"))


class Lazy(Generic[M]):
    """A message kept as its row until someone asks, whatever that row is; a listing never needs its documents."""

    __slots__ = ("message", "row")

    def __init__(self, message: type[M], row: Row) -> None:
        self.message, self.row = message, row

    @classmethod
    def of(cls, message: M) -> Lazy[M]:
        return cls(type(message), message.encode())

    def decode(self) -> M:
        return self.message.decode(self.row)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lazy) and self.row == other.row

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        dump = core_schema.plain_serializer_function_ser_schema(lambda lazy: lazy.decode(), when_used="unless-none")
        return core_schema.is_instance_schema(cls, serialization=dump)


@dataclass(frozen=True, slots=True)
class Slot:
    """One field, compiled."""

    name: str
    path: tuple[int, ...]
    at: str  # the last step of the path
    each: tuple[int, ...]
    message: type[Message] | None
    depth: int  # lists around the message or the scalar
    lazy: bool
    bare: bool
    lenient: bool
    needed: bool  # a truthy default that is not nullable: the cell must be there
    nulls: bool  # an empty cell is None although the default, what we send, is not
    omits_falsy: bool
    literals: tuple[Any, ...]  # pydantic takes True for Literal[1]; the wire does not
    walks: bool  # there is something to look at below the cell itself
    single: type[Message] | None  # the message, where the cell is one to be read at once


class Misfit(ValueError):
    """A cell that does not fit; its path grows as the walk unwinds."""

    def __init__(self, why: str, at: str = "") -> None:
        super().__init__(why)
        self.why, self.path = why, at

    def below(self, at: str) -> Self:
        self.path = at + self.path
        return self

    def error(self, cls: type[Message]) -> DecodeError:
        return DecodeError(cls.__name__, self.path, self.why)


SLOTS: dict[type[Message], tuple[Slot, ...]] = {}
NODES: dict[type[Message], Node] = {}
LENIENT: dict[type[Message], bool] = {}


def slots(cls: type[Message]) -> tuple[Slot, ...]:
    """The compiled fields of a message; raises TypeError for a declaration that would hide or lose cells."""
    if (found := SLOTS.get(cls)) is not None:
        return found
    if not cls.__pydantic_complete__:
        cls.model_rebuild()
    compiled = tuple(compile_slot(cls, name) for name in cls.model_fields)
    for a in compiled:
        for b in compiled:
            if a is not b and a.path == b.path[: len(a.path)]:
                raise TypeError(f"{cls.__name__}: {a.name} claims {dots(a.path)}, which covers {b.name}")
    SLOTS[cls] = compiled
    return compiled


def compile_slot(cls: type[Message], name: str) -> Slot:
    field, where = cls.model_fields[name], f"{cls.__name__}.{name}"
    tags = [item for item in field.metadata if isinstance(item, Tag)]
    if len(tags) != 1:
        raise TypeError(f"{where} carries {len(tags)} tags; one is needed")
    tag = tags[0]
    shape = shape_of(field.annotation, where)
    default = field.get_default(call_default_factory=True)
    required = default is PydanticUndefined
    if tag.lenient and (shape.message is None or shape.depth != 1):
        raise TypeError(f"{where}: only a list of messages can be lenient")
    if tag.each and shape.depth != 1:
        raise TypeError(f"{where}: only a list has a path below each item")
    if tag.bare and (shape.message is None or shape.lazy):
        raise TypeError(f"{where}: only a message can be bare")
    return Slot(
        name=name,
        path=tag.path,
        at=dots(tag.path[-1:]),
        each=tag.each,
        message=shape.message,
        depth=shape.depth,
        lazy=shape.lazy,
        bare=tag.bare,
        lenient=tag.lenient,
        needed=not required and not shape.nullable and bool(default),
        nulls=not required and shape.nullable and default is not None,
        omits_falsy=not required and not shape.nullable,
        literals=shape.literals,
        walks=shape.message is not None or bool(tag.each or shape.literals),
        single=None if shape.depth or shape.lazy else shape.message,
    )


@dataclass(frozen=True, slots=True)
class Node:
    """What the cells of one array are claimed for: a scalar field (its name), a field to be walked into, or paths."""

    at: str
    numbered: dict[int, str | Slot | Node]
    dense: tuple[str | Slot | Node | None, ...]
    beyond: bool  # whether there are numbers that `dense` does not reach
    expected: tuple[Slot, ...]  # what an empty cell means something for

    @classmethod
    def of(cls, fields: Sequence[Slot], depth: int = 0, at: str = "") -> Node:
        numbered: dict[int, str | Slot | Node] = {}
        for number, grouped in groupby(sorted(fields, key=attrgetter("path")), key=lambda slot: slot.path[depth]):
            first, *others = grouped
            if len(first.path) > depth + 1:
                numbered[number] = cls.of([first, *others], depth + 1, f".{number}")
            else:
                numbered[number] = first if first.walks else first.name
        last = max(numbered, default=0)
        dense = tuple(numbered.get(number) for number in range(1, min(last, DENSE) + 1))
        expected = () if depth else tuple(slot for slot in fields if slot.needed or slot.nulls)
        return cls(at, numbered, dense, last > DENSE, expected)


def node_of(cls: type[Message]) -> Node:
    if (found := NODES.get(cls)) is None:
        found = NODES[cls] = Node.of(slots(cls))
    return found


class Shape(NamedTuple):
    nullable: bool = False
    depth: int = 0
    message: type[Message] | None = None
    lazy: bool = False
    literals: tuple[Any, ...] = ()


def shape_of(annotation: Any, where: str) -> Shape:
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return shape_of(args[0], where)
    if origin in (Union, UnionType):
        inner = [shape_of(arg, where) for arg in args if arg is not NoneType]
        if len(inner) == 1:
            return inner[0]._replace(nullable=NoneType in args)
        if any(shape.message or shape.literals for shape in inner):
            raise TypeError(f"{where}: a union of messages or literals cannot be read by position")
        return Shape(nullable=NoneType in args, depth=max(shape.depth for shape in inner))
    if origin is list:
        item = shape_of(args[0], where)
        return item._replace(nullable=False, depth=item.depth + 1)
    if origin is Lazy:
        return Shape(message=args[0], lazy=True)
    if origin is Literal:
        return Shape(literals=args)
    if isinstance(annotation, type) and issubclass(annotation, Message):
        return Shape(message=annotation)
    if any(isinstance(arg, type) and issubclass(arg, Message) for arg in args):
        raise TypeError(f"{where}: only list[...] may hold messages")
    return Shape(nullable=annotation is Any)


def has_lenient(cls: type[Message]) -> bool:
    """Whether a lenient list can be met in decoding this message."""
    if (found := LENIENT.get(cls)) is not None:
        return found
    reached = [cls]
    for message in reached:
        inner = (slot.message for slot in slots(message) if slot.message is not None and not slot.lazy)
        reached.extend(item for item in inner if item not in reached)
    LENIENT[cls] = any(slot.lenient for message in reached for slot in slots(message))
    return LENIENT[cls]


# Reading


def walk(node: Node, row: Row, rejects: list[Misfit] | None, out: dict[str, Any]) -> dict[str, Any]:
    """`out` with the cells of a whole tree under their names; with `rejects`, bad rows of lenient lists go there."""
    claims: Iterable[tuple[Any, Any]] = zip(row, node.dense)  # noqa: B905 - the keyword costs as much as a small row
    if row and (type(row[-1]) is dict or (node.beyond and len(row) > DENSE)):
        claims = ((cell, node.numbered.get(number)) for number, cell in cells(row))
    for cell, claim in claims:
        if cell is None or claim is None:
            continue
        if type(claim) is str:
            out[claim] = cell
            continue
        before = len(rejects) if rejects else 0
        try:
            if type(claim) is Slot:
                if claim.single is not None and type(cell) is list:
                    out[claim.name] = walk(NODES.get(claim.single) or node_of(claim.single), cell, rejects, {})
                else:
                    out[claim.name] = descend(claim, cell, claim.depth, rejects)
            elif type(cell) is list:
                walk(claim, cell, rejects, out)
            else:
                raise not_an_array(cell)
        except Misfit as misfit:
            raise misfit.below(claim.at) from None
        if rejects:
            for reject in rejects[before:]:
                reject.below(claim.at)
    for slot in node.expected:
        if slot.name not in out:
            if slot.needed:
                raise Misfit("the cell is empty", dots(slot.path))
            out[slot.name] = None
    return out


def not_an_array(cell: Any, at: str = "") -> Misfit:
    return Misfit(f"expected an array, got {kind(cell)}", at)


def descend(slot: Slot, cell: Any, depth: int, rejects: list[Misfit] | None) -> Any:
    message = slot.message
    if not depth:
        if message is None:
            if slot.literals and not any(cell == value and type(cell) is type(value) for value in slot.literals):
                raise Misfit("not one of the declared values")
            return cell
        if slot.lazy:
            return Lazy(message, cell)
        if type(cell) is not list:
            if not slot.bare:
                raise not_an_array(cell)
            cell = [cell]
        return walk(NODES.get(message) or node_of(message), cell, rejects, {})
    if type(cell) is not list:
        raise not_an_array(cell)
    out = []
    if depth == 1 and message is not None and rejects is None and not (slot.each or slot.lazy or slot.bare):
        node = node_of(message)
        for index, item in enumerate(cell):  # the hot loop
            if type(item) is not list:
                raise not_an_array(item, f"[{index}]")
            try:
                out.append(walk(node, item, None, {}))
            except Misfit as misfit:
                raise misfit.below(f"[{index}]") from None
        return out
    for index, item in enumerate(cell):
        before = len(rejects) if rejects else 0
        try:
            out.append(item_of(slot, item, depth, rejects))
        except Misfit as misfit:
            if not slot.lenient or rejects is None:
                raise misfit.below(f"[{index}]") from None
            rejects[before:] = [misfit]
        for reject in rejects[before:] if rejects else ():
            reject.below(f"[{index}]")
    return out


def item_of(slot: Slot, item: Any, depth: int, rejects: list[Misfit] | None) -> Any:
    each = slot.each if depth == 1 else ()
    value = reach(item, each, within=True)
    before = len(rejects) if rejects else 0
    try:
        value = descend(slot, value, depth - 1, rejects)
        if slot.lenient and rejects is not None and slot.message is not None and not slot.lazy:
            value = validated(slot.message, value)
    except Misfit as misfit:
        raise misfit.below(dots(each)) from None
    for reject in rejects[before:] if rejects else ():
        reject.below(dots(each))
    return value


def validated(message: type[M], value: Any) -> M:
    try:
        return validate(message, value)
    except ValidationError as exc:
        error = validation_error(message, exc)
        raise Misfit(error.why, error.path) from None


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


def validation_error(cls: type[Message], exc: ValidationError) -> DecodeError:
    first = exc.errors(include_input=False, include_url=False, include_context=False)[0]
    at: type[Message] | None = cls
    path = ""
    each: tuple[int, ...] = ()
    for part in first["loc"]:
        if isinstance(part, int):
            path += f"[{part}]{dots(each)}"
        elif at is not None and (slot := next((s for s in slots(at) if s.name == part), None)) is not None:
            path += dots(slot.path)
            at, each = slot.message, slot.each
    why = "the cell is empty" if first["type"] == "missing" else first["msg"]
    return DecodeError(cls.__name__, path, why)


# What nobody declared


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
            if all(cell is None for cell in value):  # a path through an empty parent cannot keep it
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


def misread(cls: type[Message], row: Row, at: str) -> Iterator[str]:
    try:
        cls.decode(row)
    except DecodeError as exc:
        yield f"{at}{exc.path}: {exc.why}"


# Writing


def put(row: Row, path: Sequence[int], value: Any) -> None:
    *parents, last = path
    for number in parents:
        row.extend([None] * (number - len(row)))
        if row[number - 1] is None:
            row[number - 1] = []
        row = row[number - 1]
    row.extend([None] * (last - len(row)))
    row[last - 1] = value


def unnamed(value: Any, each: tuple[int, ...] = ()) -> Any:
    if isinstance(value, Message):
        return value.encode()
    if isinstance(value, Lazy):
        return value.row
    if isinstance(value, list):
        return [wrapped(unnamed(item), each) for item in value]
    return value


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


# Cells that hold text


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
