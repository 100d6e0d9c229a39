"""Rows of every declared message, mutated one cell at a time: nothing is invented, misplaced or leaked."""

from __future__ import annotations

import copy
import json
import traceback
import tracemalloc
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Union, get_args, get_origin

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import model_validator

from nlm_cdp import api
from nlm_cdp.errors import DecodeError
from nlm_cdp.wire import chat, document
from nlm_cdp.wire.pblite import (
    Bit,
    Lazy,
    Message,
    Row,
    Tag,
    canonical,
    dots,
    json_cell,
    slots,
    unclaimed,
)
from nlm_cdp.wire.rows import Misfit
from nlm_cdp.wire.slots import Slot

PAYLOAD = "private" + "-payload"


# Every declaration there is


def reached(messages: set[type[Message]]) -> list[type[Message]]:
    """Messages, and all that they hold."""
    found = sorted(messages, key=qualified)
    for message in found:
        found.extend(slot.message for slot in slots(message) if slot.message is not None and slot.message not in found)
    return found


def declared() -> list[type[Message]]:
    """Requests, answers, and all that they and the wire modules hold."""
    found = {call.request for call in api.RPCS} | {call.response for call in api.RPCS}
    for module in (chat, document):
        found |= {item for item in vars(module).values() if isinstance(item, type) and issubclass(item, Message)}
    return sorted(reached(found - {Message}), key=qualified)


def is_rewritten(message: type[Message]) -> bool:
    """Whether two forms of a row are read and one of them written: bare scalars, and what decodes in its own way."""
    return any("decode" in vars(item) or any(slot.bare for slot in slots(item)) for item in reached({message}))


def qualified(message: type[Message]) -> str:
    return f"{message.__module__.removeprefix('nlm_cdp.')}.{message.__qualname__}"


DECLARED = declared()
every = pytest.mark.parametrize("message", DECLARED, ids=qualified)


# A full row for each, made from its declaration alone


def sample(message: type[Message], depth: int = 3) -> Row:
    """A row with every cell set; where a message allows only one of several, the first that decodes."""
    values = {slot.name: sampled(slot, message, depth) for slot in slots(message)}
    required = {name for name, field in message.model_fields.items() if field.is_required()}
    for kept in (set(values), *({name} | required for name in values)):
        row = row_of(message, {name: value for name, value in values.items() if name in kept})
        try:
            message.decode(row)
        except DecodeError:
            continue
        return row
    raise AssertionError(f"no sample of {message.__name__} decodes")


def sampled(slot: Slot, message: type[Message], depth: int) -> Any:
    if slot.message is not None:
        if depth <= 0 and not message.model_fields[slot.name].is_required() and not slot.needed:
            return None
        value: Any = sample(slot.message, depth - 1)
    else:
        value = scalar(message.model_fields[slot.name].annotation)
    for level in range(slot.depth):
        items = [value, copy.deepcopy(value)]
        value = [within(slot.each, item) for item in items] if level == 0 else items
    return value


def scalar(annotation: Any) -> Any:
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (Annotated, list):
        return scalar(args[0])
    if origin in (Union, UnionType):
        return scalar(next(arg for arg in args if arg is not NoneType))
    if origin is Literal:
        return args[0]
    return {str: "text", int: 7, bool: True, float: 0.5, Any: "anything"}[annotation]


def row_of(message: type[Message], values: dict[str, Any]) -> Row:
    row: Row = []
    high: dict[str, Any] = {}
    for slot in slots(message):
        if values.get(slot.name) is None:
            continue
        *parents, last = slot.path
        if message.PIVOT and slot.path[0] >= message.PIVOT:
            assert not parents
            high[str(last)] = values[slot.name]
            continue
        cell = row
        for number in parents:
            cell.extend([None] * (number - len(cell)))
            cell[number - 1] = cell[number - 1] or []
            cell = cell[number - 1]
        cell.extend([None] * (last - len(cell)))
        cell[last - 1] = values[slot.name]
    return [*row, high] if high else row


def within(each: tuple[int, ...], value: Any) -> Any:
    for number in reversed(each):
        value = [None] * (number - 1) + [value]
    return value


# Cells, with the wire path that an error in them must name


class Place(NamedTuple):
    """Where a cell is: the indexes that lead to it, its wire path, and what belongs there."""

    indexes: tuple[int, ...]
    path: str
    wants: str  # "array", or a scalar's type


def places(message: type[Message], row: Row, indexes: tuple[int, ...] = (), path: str = "") -> Iterator[Place]:
    """Every declared cell that is set, parents before what is in them."""
    seen = set()
    for slot in slots(message):
        cell: Any = row
        at, name = indexes, path
        for number in slot.path:
            cell = cell[number - 1] if type(cell) is list and number <= len(cell) else None
            at, name = (*at, number - 1), f"{name}.{number}"
            if cell is not None and number != slot.path[-1] and name not in seen:
                seen.add(name)
                yield Place(at, name, "array")
        if cell is not None:
            yield from inside(slot, message, cell, slot.depth, indexes=at, path=name)


def inside(
    slot: Slot, message: type[Message], cell: Any, depth: int, *, indexes: tuple[int, ...], path: str
) -> Iterator[Place]:
    wants = (
        "bare"
        if slot.bare
        else "array"
        if depth or slot.message
        else wanted(message.model_fields[slot.name].annotation)
    )
    yield Place(indexes, path, wants)
    if depth:
        for index, item in enumerate(cell):
            at, name, value = (*indexes, index), f"{path}[{index}]", item
            for number in slot.each if depth == 1 else ():
                yield Place(at, name, "array")
                value, at, name = value[number - 1], (*at, number - 1), f"{name}.{number}"
            yield from inside(slot, message, value, depth - 1, indexes=at, path=name)
    elif slot.message is not None:
        yield from places(slot.message, cell, indexes, path)


def wanted(annotation: Any) -> str:
    """The scalar types that a cell, or an item of it, may have."""
    origin, args = get_origin(annotation), [arg for arg in get_args(annotation) if arg is not NoneType]
    if origin in (Annotated, list) or (origin in (Union, UnionType) and len(args) == 1):
        return wanted(args[0])
    if origin in (Union, UnionType):
        return "+".join(sorted(map(wanted, args)))
    return "any" if annotation is Any else type(scalar(annotation)).__name__


def put(row: Row, indexes: tuple[int, ...], value: Any) -> Row:
    """A copy with another value in a cell; just a copy where an earlier mutation took that cell away."""
    mutated = copy.deepcopy(row)
    cell: Any = mutated
    for index in indexes[:-1]:
        cell = cell[index] if type(cell) is list and index < len(cell) else None
    if type(cell) is list and indexes[-1] < len(cell):
        cell[indexes[-1]] = value
    return mutated


WRONG: dict[str, list[Any]] = {
    "array": [PAYLOAD, {PAYLOAD: PAYLOAD}, 5, True],
    "str": [[PAYLOAD], {PAYLOAD: PAYLOAD}, 5, True],
    "int": [PAYLOAD, [PAYLOAD], {PAYLOAD: PAYLOAD}, True, 1.5],
    "bool": [PAYLOAD, [PAYLOAD], {PAYLOAD: PAYLOAD}, 1, 0],
    "float": [PAYLOAD, [PAYLOAD], {PAYLOAD: PAYLOAD}, True],
    "float+int": [PAYLOAD, [PAYLOAD], {PAYLOAD: PAYLOAD}, True],
    "bool+int": [PAYLOAD, [PAYLOAD], {PAYLOAD: PAYLOAD}, 2, 0.0],
    "int+str": [[PAYLOAD], {PAYLOAD: PAYLOAD}, True, 1.5],
    "any": [],
    "bare": [],  # a scalar stands for a message there
}


def complaints(message: type[Message], row: Row) -> list[str]:
    """What is said about a row, as `path: reason`, in whichever way it is said."""
    try:
        decoded = message.decode(row)
    except DecodeError as error:
        assert_no_leak(error)
        return [error.message.removeprefix(message.__name__)]
    return [*decoded.undecoded, *(text for text in unclaimed(message, row))]


def assert_no_leak(error: BaseException) -> None:
    assert PAYLOAD not in "".join(traceback.format_exception(error))
    chain: BaseException | None = error
    while chain is not None:
        assert PAYLOAD not in str(chain)
        assert PAYLOAD not in repr(chain)
        assert chain.__cause__ is None
        chain = chain.__context__


def same(left: Any, right: Any) -> bool:
    """Equality that tells true from 1; a float field may turn 1 into 1.0."""
    if type(left) is list and type(right) is list:
        return len(left) == len(right) and all(map(same, left, right))
    if type(left) is dict and type(right) is dict:
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return left == right and (type(left) is bool) == (type(right) is bool)


def assert_faithful(message: type[Message], row: Row) -> None:
    """Decoding that leaves nothing over keeps everything."""
    decoded = message.decode(row)
    if not is_rewritten(message) and not decoded.undecoded and not list(unclaimed(message, row)):
        assert same(canonical(decoded.encode()), canonical(row)), (message, row, decoded.encode())


@every
def test_a_full_row_decodes_and_is_written_back(message: type[Message]) -> None:
    row = sample(message)
    assert list(unclaimed(message, row)) == []
    assert same(canonical(message.decode(row).encode()), canonical(row))


@every
def test_a_wrong_type_in_any_cell_is_named_and_never_shown(message: type[Message]) -> None:
    row = sample(message)
    for place in places(message, row):
        for wrong in WRONG[place.wants]:
            said = complaints(message, put(row, place.indexes, wrong))
            assert PAYLOAD not in "".join(said)
            if "decode" not in vars(message):
                assert any(text.startswith(f"{place.path}: ") for text in said), (place, wrong, said)


@every
def test_what_is_present_in_a_cell_is_kept_or_told(message: type[Message]) -> None:
    row = sample(message, depth=2)
    for place in places(message, row):
        value: Any
        for value in ([], 0, False, "", None, True, 1, 1.0, {}, [None], [[]], [0]):
            mutated = put(row, place.indexes, value)
            try:
                message.decode(mutated)
            except DecodeError:
                continue
            assert_faithful(message, mutated)


@every
def test_an_undeclared_cell_is_reported_with_its_path(message: type[Message]) -> None:
    number = max((slot.path[0] for slot in slots(message)), default=0) + 1
    row = sample(message)
    for value, kind in ((0, "number"), (False, "boolean"), ("", "string"), ([], "array"), ({}, "object")):
        if row and type(row[-1]) is dict:
            longer = [*row[:-1], row[-1] | {str(number): value}]
        else:
            longer = [*row, *[None] * (number - 1 - len(row)), value, None]
        assert list(unclaimed(message, longer)) == [f".{number}: {kind}"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.sampled_from(["", "x", "0", "2", "07", "101", "9" * 12]), inner, max_size=3)
    ),
    max_leaves=20,
)


@st.composite
def hostile(draw: st.DrawFn) -> tuple[type[Message], Row]:
    """A message with an arbitrary row, or with a full one in which some cells hold arbitrary values."""
    message = draw(st.sampled_from(DECLARED))
    if draw(st.booleans()):
        return message, draw(st.lists(JSON, max_size=8))
    row = sample(message, depth=2)
    found = list(places(message, row))
    for place in draw(st.lists(st.sampled_from(found), max_size=3)) if found else []:
        row = put(row, place.indexes, draw(JSON))
    return message, row


@settings(max_examples=1200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(hostile())
def test_arbitrary_rows_raise_nothing_but_decode_error(case: tuple[type[Message], Row]) -> None:
    message, row = case
    list(unclaimed(message, row))
    canonical(row)
    try:
        message.decode(row)
    except DecodeError:
        return
    assert_faithful(message, row)


@pytest.mark.parametrize("row", [None, "row", 5, True, {}, {"1": "x"}])
def test_what_is_no_array_is_refused(row: Any) -> None:
    with pytest.raises(DecodeError, match=r"^TurnRef: expected an array, got "):
        chat.TurnRef.decode(row)


# One message with everything in it


class Leaf(Message):
    name: Annotated[str, Tag(1)]
    size: Annotated[int, Tag(3)] = 0


class Tree(Message):
    """A bit of every kind of field."""

    PIVOT: ClassVar[int] = 50
    id: Annotated[str, Tag(1, 2)]
    leaf: Annotated[Leaf | None, Tag(2)] = None
    leaves: Annotated[list[Leaf], Tag(3, 1)] = []
    ids: Annotated[list[str], Tag(4, each=(1, 2))] = []
    wrapped: Annotated[list[Leaf], Tag(5, each=(2,))] = []
    grid: Annotated[list[list[int]] | None, Tag(6)] = None
    groups: Annotated[list[list[Leaf]], Tag(7)] = []
    refresh: Annotated[int | None, Tag(8)] = 0
    kind: Annotated[Literal[1, 2], Tag(9)] = 1
    kinds: Annotated[list[Literal["a", 1]], Tag(10)] = []
    bit: Annotated[Bit | None, Tag(11)] = None
    child: Annotated[Tree | None, Tag(12)] = None
    later: Annotated[Lazy[Leaf] | None, Tag(13)] = None
    free: Annotated[list[Any], Tag(14)] = []
    high: Annotated[str | None, Tag(70_000)] = None
    higher: Annotated[int | None, Tag(90_000, 2)] = None
    highest: Annotated[int | None, Tag(90_000, 3)] = None


LEAVES = st.builds(Leaf, name=st.text(max_size=3), size=st.integers())
FREE = st.lists(st.none() | st.booleans() | st.integers() | st.text(max_size=2) | st.just({"5": 1}), max_size=3)
TREES: st.SearchStrategy[Tree] = st.deferred(
    lambda: st.builds(
        Tree,
        id=st.text(max_size=3),
        leaf=st.none() | LEAVES,
        leaves=st.lists(LEAVES, max_size=3),
        ids=st.lists(st.text(max_size=3), max_size=3),
        wrapped=st.lists(LEAVES, max_size=2),
        grid=st.none() | st.lists(st.lists(st.integers(), max_size=2), max_size=2),
        groups=st.lists(st.lists(LEAVES, max_size=2), max_size=2),
        refresh=st.none() | st.integers(),
        kind=st.sampled_from([1, 2]),
        kinds=st.lists(st.sampled_from(["a", 1]), max_size=3),
        bit=st.sampled_from([None, True, False, 0, 1]),
        child=st.none() | TREES,
        later=st.none() | LEAVES.map(Lazy.of),
        free=FREE,
        high=st.none() | st.text(max_size=3),
        higher=st.none() | st.integers(),
        highest=st.none() | st.integers(),
    )
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TREES)
def test_a_message_survives_its_row(tree: Tree) -> None:
    row = json.loads(json.dumps(tree.encode()))
    assert Tree.decode(row) == tree
    assert list(unclaimed(Tree, row)) == []
    assert same(canonical(Tree.decode(row).encode()), canonical(row))


def test_a_default_is_what_we_send_and_never_what_the_wire_said() -> None:
    sent = Tree(id="x")
    assert sent.encode() == [[None, "x"], None, None, None, None, None, None, 0, 1]
    read = Tree.decode([[None, "x"], None, None, None, None, None, None, None, 2])
    assert read.refresh is None
    assert read.encode() == [[None, "x"], None, None, None, None, None, None, None, 2]
    with pytest.raises(DecodeError, match=r"^Tree\.9: the cell is empty$"):
        Tree.decode([[None, "x"]])
    with pytest.raises(DecodeError, match=r"^Tree\.1\.2: the cell is empty$"):
        Tree.decode([[], None, None, None, None, None, None, None, 2])


def test_presence_of_falsy_cells_is_kept() -> None:
    class Falsy(Message):
        text: Annotated[str, Tag(1)] = ""
        maybe: Annotated[str | None, Tag(2)] = None
        many: Annotated[list[int], Tag(3)] = []

    assert Falsy().encode() == []
    row: list[Any]
    for row in ([""], [None, ""], [None, None, []], ["", "", []]):
        assert Falsy.decode(row).encode() == row


@pytest.mark.parametrize("wrong", [True, 1.0, 3, "1", [1]])
def test_a_literal_refuses_what_only_equals_it(wrong: Any) -> None:
    for number, cell, path in ((9, wrong, ".9"), (10, ["a", wrong], ".10[1]")):
        row = [[None, "x"], *[None] * 6, None, 1]
        row.extend([None] * (number - len(row)))
        row[number - 1] = cell
        with pytest.raises(DecodeError) as caught:
            Tree.decode(row)
        assert caught.value.path == path


@pytest.mark.parametrize("value", [True, False, 0, 1])
def test_a_bit_is_kept_as_it_was_written(value: Any) -> None:
    row = [[None, "x"], *[None] * 7, 1, None, value]
    assert Tree.decode(row).bit is value
    assert same(Tree.decode(row).encode(), row)


@pytest.mark.parametrize("value", [2, -1, "1", 1.0, [1]])
def test_a_bit_is_nothing_else(value: Any) -> None:
    with pytest.raises(DecodeError) as caught:
        Tree.decode([[None, "x"], *[None] * 7, 1, None, value])
    assert caught.value.path == ".11"


def test_a_bare_scalar_stands_for_a_message() -> None:
    class Report(Message):
        leaf: Annotated[Leaf | None, Tag(1, bare=True)] = None

    assert Report.decode(["name"]) == Report.decode([["name"]])
    assert Report.decode(["name"]).encode() == [["name"]]
    with pytest.raises(DecodeError, match=r"^Report\.1\.1: "):
        Report.decode([5])


# Lenient lists


class Branch(Message):
    name: Annotated[str, Tag(1)]
    leaves: Annotated[list[Leaf], Tag(2, 1, lenient=True)] = []
    wrapped: Annotated[list[Leaf], Tag(3, each=(2,), lenient=True)] = []


class Trunk(Message):
    branches: Annotated[list[Branch], Tag(2, lenient=True)] = []


class Forest(Message):
    """Lenient lists below plain ones."""

    trunk: Annotated[Trunk, Tag(1)]
    trunks: Annotated[list[Trunk], Tag(3)] = []


def test_bad_rows_are_left_out_and_named_by_absolute_paths() -> None:
    good = ["b", [[["leaf"]]]]
    bad_leaf = ["b", [[["leaf"], [5], "junk", ["leaf", None, "seven"]]]]
    bad_wrapped = ["b", None, [[None, ["leaf"]], [None, [[]]], [None, "junk"], 7, [None, ["leaf", None, []]]]]
    row = [[None, [good, [None], bad_leaf, bad_wrapped, 5]], None, [[None, [["b", 5]]], [None, [bad_leaf]]]]
    forest = Forest.decode(row)
    said = [text.partition(":")[0] for text in forest.undecoded]
    assert said == [
        ".1.2[1].1",
        ".1.2[2].2.1[1].1",
        ".1.2[2].2.1[2]",
        ".1.2[2].2.1[3].3",
        ".1.2[3].3[1].2.1",
        ".1.2[3].3[2].2",
        ".1.2[3].3[3]",
        ".1.2[3].3[4].2.3",
        ".1.2[4]",
        ".3[0].2[0].2",
        ".3[1].2[0].2.1[1].1",
        ".3[1].2[0].2.1[2]",
        ".3[1].2[0].2.1[3].3",
    ]
    assert [branch.name for branch in forest.trunk.branches] == ["b", "b", "b"]
    assert [len(branch.leaves) for branch in forest.trunk.branches] == [1, 1, 0]
    assert [len(branch.wrapped) for branch in forest.trunk.branches] == [0, 0, 1]
    assert len(forest.trunks) == 2


def test_a_lenient_list_that_is_none_is_an_error() -> None:
    with pytest.raises(DecodeError, match=r"^Trunk\.2: expected an array, got string$"):
        Trunk.decode([None, PAYLOAD])


def test_a_good_listing_reports_nothing() -> None:
    assert Trunk.decode([None, [["b", [[["leaf"]]]]]]).undecoded == ()


def test_an_error_outside_of_a_lenient_list_is_not_forgiven() -> None:
    with pytest.raises(DecodeError, match=r"^Forest\.1: the cell is empty$"):
        Forest.decode([None, None, [[None, [5]]]])


class Ring(Message):
    links: Annotated[list[Link], Tag(1)] = []
    leaves: Annotated[list[Leaf], Tag(2, lenient=True)] = []


class Link(Message):
    ring: Annotated[Ring | None, Tag(1)] = None


def test_a_recursive_message_forgives_wherever_it_starts() -> None:
    bad = [None, [["leaf"], [5]]]
    assert Ring.decode([[[bad]]]).undecoded == (".1[0].1.2[1].1: Input should be a valid string",)
    assert Link.decode([bad]).undecoded == (".1.2[1].1: Input should be a valid string",)


# Lazy


class Shelf(Message):
    book: Annotated[Lazy[Leaf] | None, Tag(2)] = None
    books: Annotated[list[Lazy[Leaf]], Tag(3)] = []


def test_a_lazy_message_is_its_row_until_someone_asks() -> None:
    row = [None, ["leaf", None, 3], [["a"], PAYLOAD]]
    shelf = Shelf.decode(row)
    assert shelf.book is not None
    assert shelf.book.row is row[1]
    assert shelf.book.decode() == Leaf(name="leaf", size=3)
    assert shelf.encode() == row
    assert shelf.book == Lazy.of(Leaf(name="leaf", size=3))
    assert shelf.book != shelf.books[0]
    with pytest.raises(DecodeError, match=r"^Leaf: expected an array, got string$"):
        shelf.books[1].decode()


def test_drift_inside_a_lazy_message_is_seen_all_the_same() -> None:
    row = [None, ["leaf", "new"], [["a"], PAYLOAD, [5], ["b", None, None, 0]]]
    assert list(unclaimed(Shelf, row)) == [
        ".2.2: string",
        ".3[1]: expected an array, got string",
        ".3[2].1: Input should be a valid string",
        ".3[3].4: number",
    ]


# Unclaimed


def test_unclaimed_paths_are_absolute_and_count_falsy_cells() -> None:
    row = [
        [0, "x"],
        ["leaf", False],
        [[["leaf", None, 1, ""]], []],
        [[[None, "id", 5], None, 6]],
        [[7, ["leaf", 8]]],
        None,
        [[["leaf", 0]]],
        0,
        1,
        *[None] * 5,
        0,
    ]
    assert list(unclaimed(Tree, row)) == [
        ".1.1: number",
        ".2.2: boolean",
        ".3.1[0].4: string",
        ".3.2: array",
        ".4[0].3: number",
        ".4[0].1.3: number",
        ".5[0].1: number",
        ".5[0].2.2: number",
        ".7[0][0].2: number",
        ".15: number",
    ]


@pytest.mark.parametrize("empty", [[], [None], [None, None], [{"2": None}], [None, {"7": None}]])
def test_an_empty_parent_is_reported_because_a_path_through_it_cannot_keep_it(empty: Row) -> None:
    row = [[None, "x"], None, empty, *[None] * 5, 1]
    assert list(unclaimed(Tree, row)) == [".3: empty"]


# High field numbers


def test_high_fields_are_read_dense_and_trailing_and_written_trailing() -> None:
    fields = ([None, "x"], *[None] * 7, 1)
    trailing = [*fields, {"70000": "high", "90000": [None, 5, 6]}]
    dense = [*fields, *[None] * (70_000 - 1 - len(fields)), "high", *[None] * (20_000 - 1), [None, 5, 6]]
    for row in (trailing, dense):
        tree = Tree.decode(row)
        assert (tree.high, tree.higher, tree.highest) == ("high", 5, 6)
        assert tree.encode() == trailing
        assert list(unclaimed(Tree, row)) == []


def test_a_bullet_reads_in_both_of_its_forms() -> None:
    dense = [None, None, 1, *[None] * 97, "●", 1, 2, 3]
    sparse = [None, None, 1, {"101": "●", "102": 1, "103": 2, "104": 3}]
    assert document.Bullet.decode(dense) == document.Bullet.decode(sparse)
    assert document.Bullet.decode(dense).encode() == sparse
    assert canonical(dense) == canonical(sparse)


def test_undeclared_high_fields_are_reported() -> None:
    assert list(unclaimed(Leaf, ["leaf", {"70000": 0, "9": None, "11": "x"}])) == [".70000: number", ".11: string"]


@pytest.mark.parametrize("key", ["", "0", "007", "-3", "+9", " 9", "x", "1", "2", "²", "٣", "9" * 10, "9" * 5000])
def test_a_trailing_object_that_is_none_is_an_ordinary_cell(key: str) -> None:
    row = [[None, "x"], ["leaf"], {key: 1, "70000": "high"}]
    with pytest.raises(DecodeError, match=r"^Tree\.3: expected an array, got object$"):
        Tree.decode(row)
    assert list(unclaimed(Leaf, ["leaf", None, 3, {key: 1}])) == [".4: object"]
    assert canonical(["leaf", None, {key: 1}]) == ["leaf", None, {key: 1}]


def test_an_empty_trailing_object_is_reported() -> None:
    assert Leaf.decode(["leaf", {}]).name == "leaf"
    assert list(unclaimed(Leaf, ["leaf", {}])) == [".2: object"]


def test_hostile_field_numbers_take_no_memory() -> None:
    row = [[None, "x"], *[None] * 7, 1, {"999999999": [{"999999999": "x"}], "536870911": 1, "1023": 1}]
    tracemalloc.start()
    try:
        tree = Tree.decode(row)
        assert [text.partition(":")[0] for text in unclaimed(Tree, row)] == [".999999999", ".536870911", ".1023"]
        assert len(canonical(row)) == 1024
        assert len(json.dumps(tree.encode())) < 100
        assert tracemalloc.get_traced_memory()[1] < 500_000
    finally:
        tracemalloc.stop()


def test_canonical_rows_mean_the_same() -> None:
    assert canonical([1, None, [None], None]) == [1, None, []]
    assert canonical([1, {"4": 2}]) == [1, None, None, 2]
    assert canonical([1, {"70000": 2, "80000": None}]) == [1, {"70000": 2}]
    assert canonical("text") == "text"


# Depth


def nested(depth: int) -> Row:
    """Tables within tables, `depth` times."""
    element: Row = [0, 1, [[[0, 1, ["x"]]]]]
    for _ in range(depth):
        element = [0, 1, None, None, [1, 1, [[0, 1, [[0, 1, [element]]]]]]]
    return [[[element]]]


def test_rows_too_deep_for_the_stack_are_refused_not_fatal() -> None:
    row = nested(5000)
    with pytest.raises(DecodeError, match="nested too deeply"):
        document.Document.decode(row)
    assert any("nested too deeply" in text for text in unclaimed(document.Document, row))
    holder = [None, None, None, None, row]
    assert chat.AnswerRow.decode(holder).document is not None
    assert any("nested too deeply" in text for text in unclaimed(chat.AnswerRow, holder))


# Declarations


@every
def test_every_declaration_compiles(message: type[Message]) -> None:
    assert {slot.name for slot in slots(message)} == set(message.model_fields)


def refused() -> dict[str, Any]:
    def untagged() -> type[Message]:
        class Bad(Message):
            name: str

        return Bad

    def twice() -> type[Message]:
        class Bad(Message):
            name: Annotated[str, Tag(1), Tag(2)]

        return Bad

    def duplicate() -> type[Message]:
        class Bad(Message):
            name: Annotated[str, Tag(1)]
            other: Annotated[str, Tag(1)]

        return Bad

    def prefix() -> type[Message]:
        class Bad(Message):
            role: Annotated[int, Tag(6, 1)] = 0
            meta: Annotated[Leaf | None, Tag(6)] = None

        return Bad

    def union() -> type[Message]:
        class Bad(Message):
            either: Annotated[Leaf | Branch, Tag(1)]

        return Bad

    def union_list() -> type[Message]:
        class Bad(Message):
            either: Annotated[list[Leaf] | str, Tag(1)]

        return Bad

    def literal_union() -> type[Message]:
        class Bad(Message):
            either: Annotated[Literal[1] | str, Tag(1)]

        return Bad

    def mapping() -> type[Message]:
        class Bad(Message):
            cells: Annotated[dict[str, Leaf], Tag(3)]

        return Bad

    def pair() -> type[Message]:
        class Bad(Message):
            cells: Annotated[tuple[Leaf, Leaf], Tag(3)]

        return Bad

    def lenient_scalars() -> type[Message]:
        class Bad(Message):
            names: Annotated[list[str], Tag(1, lenient=True)]

        return Bad

    def lenient_message() -> type[Message]:
        class Bad(Message):
            leaf: Annotated[Leaf, Tag(1, lenient=True)]

        return Bad

    def each_of_one() -> type[Message]:
        class Bad(Message):
            name: Annotated[str, Tag(1, each=(1,))]

        return Bad

    def each_of_groups() -> type[Message]:
        class Bad(Message):
            names: Annotated[list[list[str]], Tag(1, each=(1,))]

        return Bad

    def bare_scalar() -> type[Message]:
        class Bad(Message):
            name: Annotated[str, Tag(1, bare=True)]

        return Bad

    return {name: make for name, make in locals().items() if callable(make)}


@pytest.mark.parametrize("make", refused().values(), ids=refused())
def test_a_declaration_that_would_hide_or_lose_cells_is_refused(make: Any) -> None:
    message = make()
    for use in (lambda: message.decode([]), lambda: slots(message), lambda: list(unclaimed(message, [1]))):
        with pytest.raises(TypeError, match=r"^Bad[.:]"):
            use()


@pytest.mark.parametrize("path", [(), (0,), (1, 0), (-1,)])
def test_field_numbers_start_at_one(path: tuple[int, ...]) -> None:
    with pytest.raises(TypeError, match="field numbers start at 1"):
        Tag(*path)
    with pytest.raises(TypeError, match="field numbers start at 1"):
        Tag(1, each=(*path, 0))


def test_a_field_nobody_declared_cannot_be_set() -> None:
    with pytest.raises(ValueError, match="Extra inputs are not permitted"):
        Leaf(name="leaf", sise=3)  # type: ignore[call-arg]


def test_a_validator_speaks_at_the_path_of_its_message() -> None:
    class Picky(Message):
        name: Annotated[str, Tag(1)]

        @model_validator(mode="after")
        def is_short(self) -> Picky:
            if len(self.name) > 3:
                raise ValueError("too long")
            return self

    class Owner(Message):
        picky: Annotated[list[Picky], Tag(2, 1)]

    with pytest.raises(DecodeError, match=r"^Owner\.2\.1\[1\]: Value error, too long$") as caught:
        Owner.decode([None, [[["abc"], [PAYLOAD]]]])
    assert_no_leak(caught.value)


# JSON in a cell


def test_json_in_a_cell_is_read_or_refused_without_its_text() -> None:
    assert json_cell('[1,{"a":null}]', "MindMap") == [1, {"a": None}]
    deep = "[" * 100_000 + f'"{PAYLOAD}"' + "]" * 100_000
    for text in ("", PAYLOAD, f'["{PAYLOAD}"', "undefined", deep, "[1] [2]"):
        with pytest.raises(DecodeError, match=r"^MindMap: not JSON \(") as caught:
            json_cell(text, "MindMap")
        assert_no_leak(caught.value)


def test_paths_read_as_field_numbers() -> None:
    assert dots((6, 1)) == ".6.1"
    assert Misfit("why", ".2").below("[3]").below(".1").path == ".1[3].2"
