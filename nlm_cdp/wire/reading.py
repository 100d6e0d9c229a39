"""Rows into messages: one walk that names the cells of the whole tree, one validation at the root."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import ValidationError

from nlm_cdp.errors import DecodeError
from nlm_cdp.wire.rows import DENSE, Misfit, Row, cells, dots, kind, not_an_array, reach
from nlm_cdp.wire.slots import NODES, Lazy, Node, Slot, has_lenient, node_of, slots

if TYPE_CHECKING:
    from nlm_cdp.wire.pblite import Message

M = TypeVar("M", bound="Message")


def read(cls: type[M], row: Row) -> M:
    """The message of a row; rows of lenient lists that do not fit are left out and told in its `rejects`."""
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
