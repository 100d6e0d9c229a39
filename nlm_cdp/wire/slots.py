"""Declarations, compiled: from a message's annotations to what the reader and the writer walk along."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticUndefined, core_schema

from nlm_cdp.wire.rows import DENSE, Row, dots

if TYPE_CHECKING:
    from nlm_cdp.wire.pblite import Message

M = TypeVar("M", bound="Message")


class Tag:
    """Where a field sits: field numbers from its message down.

    `each`: the path below every item of a list, for ids wrapped one by one. `bare`: a scalar stands for the message's
    field 1. `lenient`: a row of this list that does not decode is reported, the others live. `codes`: the numbers of an
    open enumeration that have a meaning; others decode too, and are news.
    """

    def __init__(
        self,
        *path: int,
        each: tuple[int, ...] = (),
        bare: bool = False,
        lenient: bool = False,
        codes: Container[int] | None = None,
    ) -> None:
        if not path or min(path + each) < 1:
            raise TypeError("field numbers start at 1")
        self.path, self.each, self.bare, self.lenient, self.codes = path, each, bare, lenient, codes


class Record(BaseModel):
    """What every message is to pydantic; `pblite.Message` is the one to inherit from."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True, defer_build=True)


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
    codes: Container[int] | None


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
        codes=tag.codes,
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
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return Shape(message=cast("type[Message]", annotation))
    if any(isinstance(arg, type) and issubclass(arg, Record) for arg in args):
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
