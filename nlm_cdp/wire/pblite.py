"""pblite: protobuf messages as positional JSON arrays, field *n* at index *n - 1*, high numbers in a trailing object.

A `Message` declares each field's place once with a `Tag`; that one declaration reads, writes, classifies and diffs a
row. Decoding names the cells of the whole tree in one walk and validates it once, at the root. In wire paths `.n` is a
field number and `[i]` a list index.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
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
            return validate(cls, named(cls, row, None))
        except Misfit as misfit:
            if not has_lenient(cls):
                raise misfit.error(cls) from None
        except ValidationError as exc:
            if not has_lenient(cls):
                raise validation_error(cls, exc) from None
        rejects: list[Misfit] = []
        try:
            message = validate(cls, named(cls, row, rejects))
        except Misfit as misfit:
            raise misfit.error(cls) from None
        except ValidationError as exc:
            raise validation_error(cls, exc) from None
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
            if self.PIVOT and slot.path[0] >= self.PIVOT:
                high[str(slot.path[0])] = plain
            else:
                put(row, slot.path, plain)
        return [*row, high] if high else row

    @property
    def undecoded(self) -> tuple[str, ...]:
        """Wire path and reason of each row that did not decode and was left out of a lenient list."""
        return getattr(self, "rejects", ())


M = TypeVar("M", bound=Message)


def validate(cls: type[M], cells: Any) -> M:
    """Straight to the compiled validator: what `model_validate` adds costs as much as a small row."""
    return cast("M", cls.__pydantic_validator__.validate_python(cells))


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
        return core_schema.is_instance_schema(cls)


class Slot(NamedTuple):
    """One field, compiled."""

    name: str
    path: tuple[int, ...]
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

    @property
    def walks(self) -> bool:
        return self.message is not None or bool(self.each)


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
TREES: dict[type[Message], dict[int, Any]] = {}
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
    return Slot(
        name=name,
        path=tag.path,
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
    )


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
        if any(shape.message for shape in inner):
            raise TypeError(f"{where}: a union of messages cannot be read by position")
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
    if cls not in LENIENT:
        LENIENT[cls] = False  # a recursive message settles on what its other fields say
        LENIENT[cls] = any(
            slot.lenient or (slot.message is not None and not slot.lazy and has_lenient(slot.message))
            for slot in slots(cls)
        )
    return LENIENT[cls]


# Reading


def named(cls: type[Message], row: Row, rejects: list[Misfit] | None) -> dict[str, Any]:
    """The cells of the whole tree under their names; with `rejects`, bad rows of lenient lists are moved there."""
    out: dict[str, Any] = {}
    size = len(row)
    plain = not size or type(row[-1]) is not dict
    for slot in SLOTS.get(cls) or slots(cls):
        path = slot.path
        if plain and len(path) == 1:
            cell = row[path[0] - 1] if path[0] <= size else None
        else:
            cell = reach(row, path)
        if cell is None:
            if slot.needed:
                raise Misfit("the cell is empty", dots(path))
            if slot.nulls:
                out[slot.name] = None
            continue
        if slot.message is not None or slot.each:
            before = len(rejects) if rejects else 0
            try:
                cell = descend(slot, cell, slot.depth, rejects)
            except Misfit as misfit:
                raise misfit.below(dots(path)) from None
            for reject in rejects[before:] if rejects else ():
                reject.below(dots(path))
        elif slot.literals and not any(cell == value and type(cell) is type(value) for value in slot.literals):
            raise Misfit("not one of the declared values", dots(path))
        out[slot.name] = cell
    return out


def descend(slot: Slot, cell: Any, depth: int, rejects: list[Misfit] | None) -> Any:
    message = slot.message
    if not depth:
        if message is None:
            return cell
        if slot.lazy:
            return Lazy(message, cell)
        if type(cell) is not list:
            if not slot.bare:
                raise Misfit(f"expected an array, got {kind(cell)}")
            cell = [cell]
        return named(message, cell, rejects)
    if type(cell) is not list:
        raise Misfit(f"expected an array, got {kind(cell)}")
    out = []
    if depth == 1 and message is not None and rejects is None and not (slot.each or slot.lazy or slot.bare):
        for index, item in enumerate(cell):  # the hot loop
            if type(item) is not list:
                raise Misfit(f"expected an array, got {kind(item)}", f"[{index}]")
            try:
                out.append(named(message, item, None))
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
    value = reach(item, each, within=True) if each else item
    before = len(rejects) if rejects else 0
    try:
        value = descend(slot, value, depth - 1, rejects)
    except Misfit as misfit:
        raise misfit.below(dots(each)) from None
    for reject in rejects[before:] if rejects else ():
        reject.below(dots(each))
    if slot.lenient and rejects is not None and slot.message is not None and not slot.lazy:
        return validated(slot.message, value)
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
            raise Misfit(f"expected an array, got {kind(row)}", dots(path[:depth]))
        size = len(row)
        if size and type(row[-1]) is dict and is_high(row):
            row = row[number - 1] if number < size else row[-1].get(str(number))
        else:
            row = row[number - 1] if number <= size else None
    return row


def is_high(row: Row) -> bool:
    """Whether the trailing object holds numbered fields; anything else there is an ordinary cell."""
    size, high = len(row), row[-1]
    return bool(high) and all(key.isascii() and key.isdecimal() and key[0] != "0" and int(key) >= size for key in high)


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
    """Wire paths of the non-null cells no field claims; 0, false, "" and [] are cells too.

    Nothing unclaimed means that the decoded message re-encodes to this row (in `canonical` form).
    """
    if type(row) is list:
        yield from left_over(row, tree(cls), at)


def tree(cls: type[Message]) -> dict[int, Any]:
    if (found := TREES.get(cls)) is not None:
        return found
    root: dict[int, Any] = {}
    for slot in slots(cls):
        node = root
        for number in slot.path[:-1]:
            node = node.setdefault(number, {})
        node[slot.path[-1]] = slot
    TREES[cls] = root
    return root


def left_over(row: Row, claimed: dict[int, Any], at: str) -> Iterator[str]:
    for number, value in cells(row):
        if value is None:
            continue
        found = claimed.get(number)
        if found is None:
            yield f"{at}.{number}: {kind(value)}"
        elif type(value) is list:
            if type(found) is dict:
                if all(cell is None for cell in value):  # a path through an empty parent cannot keep it
                    yield f"{at}.{number}: empty"
                yield from left_over(value, found, f"{at}.{number}")
            elif found.walks:
                yield from left_inside(found, value, found.depth, f"{at}.{number}")


def left_inside(slot: Slot, value: Any, depth: int, at: str) -> Iterator[str]:
    if type(value) is not list:
        return
    if not depth:
        if slot.message is not None:
            yield from unclaimed(slot.message, value, at)
        return
    for index, item in enumerate(value):
        here, cell = f"{at}[{index}]", item
        for number in slot.each if depth == 1 else ():
            if type(cell) is not list:
                break
            yield from (f"{here}.{n}: {kind(v)}" for n, v in cells(cell) if n != number and v is not None)
            cell, here = reach(cell, (number,)), f"{here}.{number}"
        yield from left_inside(slot, cell, depth - 1, here)


# Writing


def put(row: Row, path: tuple[int, ...], value: Any) -> None:
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
