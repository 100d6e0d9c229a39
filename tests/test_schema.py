"""Schemas as clients read them, and arguments as clients send them."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import jsonschema
import pytest
from pydantic import BaseModel, Field

from nlm_cdp.api.sources.adding import AddArgs
from nlm_cdp.errors import InvalidArgument
from nlm_cdp.rpc import Args, Result
from nlm_cdp.schema import input_schema, nullable, output_schema, read_arguments


class Everything(Args):
    """One argument of each kind."""

    text: str | None = None
    one_of: Literal["brief", "full"] = "brief"
    limit: int = Field(50, ge=1, le=1000)
    seconds: float = 1.5
    confirm: bool = False
    source_ids: list[str] | None = None
    numbers: list[int] | None = None
    options: dict[str, int] | None = None
    content: str | list[str] | None = None


class Inner(Result):
    """Prose that no client needs."""

    title: str | None = None
    note: str | None
    count: int


class Outer(Result):
    title: str
    inner: Inner
    many: list[Inner]
    maybe: Inner | None = None
    named: Annotated[str | None, Field(alias="_named")]


def read(**arguments: Any) -> dict[str, Any]:
    return read_arguments(Everything, arguments).model_dump(exclude_unset=True)


# Schemas


def test_an_input_schema_holds_what_a_caller_needs_and_nothing_else() -> None:
    assert input_schema(Everything) == {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "one_of": {"type": "string", "enum": ["brief", "full"], "default": "brief"},
            "limit": {"type": "integer"},
            "seconds": {"type": "number"},
            "confirm": {"type": "boolean"},
            "source_ids": {"type": "array", "items": {"type": "string"}},
            "numbers": {"type": "array", "items": {"type": "integer"}},
            "options": {"type": "object", "additionalProperties": {"type": "integer"}},
            "content": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        },
    }


def test_a_property_may_be_called_title() -> None:
    schema = output_schema(Outer)
    assert schema["properties"]["title"] == {"type": "string"}
    assert schema["$defs"]["Inner"]["properties"]["title"] == {"type": "string"}


def test_an_output_schema_says_what_is_sent_where_none_is_left_out() -> None:
    schema = output_schema(Outer)
    assert schema["required"] == ["title", "inner", "many"]
    assert schema["$defs"]["Inner"] == {
        "type": "object",
        "additionalProperties": False,
        "properties": {"title": {"type": "string"}, "note": {"type": "string"}, "count": {"type": "integer"}},
        "required": ["count"],
    }
    assert "_named" in schema["properties"]
    assert "null" not in json.dumps(schema)

    inner = Inner(note=None, count=1)
    result = Outer(title="t", inner=inner, many=[inner], named=None)
    jsonschema.validate(result.model_dump(by_alias=True, exclude_none=True), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(result.model_dump(by_alias=True), schema)


def test_nullable() -> None:
    assert nullable({"anyOf": [{"type": "string"}, {"type": "null"}]})
    assert not nullable({"anyOf": [{"type": "string"}, {"type": "array"}]})
    assert not nullable({"type": "string"})


# Arguments that hosts send as strings


@pytest.mark.parametrize(
    ("sent", "read_as"),
    [
        ({"source_ids": ["a", "b"]}, {"source_ids": ["a", "b"]}),
        ({"source_ids": '["a","b"]'}, {"source_ids": ["a", "b"]}),
        ({"source_ids": ' ["a, b"] '}, {"source_ids": ["a, b"]}),
        ({"source_ids": "a,b"}, {"source_ids": ["a", "b"]}),
        ({"source_ids": "a"}, {"source_ids": ["a"]}),
        ({"source_ids": "[a"}, {"source_ids": ["[a"]}),
        ({"source_ids": ""}, {"source_ids": []}),
        ({"numbers": "[1,2]"}, {"numbers": [1, 2]}),
        ({"limit": "5"}, {"limit": 5}),
        ({"limit": " 5 "}, {"limit": 5}),
        ({"limit": 5.0}, {"limit": 5}),
        ({"seconds": "2.5"}, {"seconds": 2.5}),
        ({"seconds": 2}, {"seconds": 2.0}),
        ({"confirm": "true"}, {"confirm": True}),
        ({"confirm": " TRUE"}, {"confirm": True}),
        ({"confirm": "false"}, {"confirm": False}),
        ({"options": '{"k":1}'}, {"options": {"k": 1}}),
        ({"one_of": "full"}, {"one_of": "full"}),
        ({"text": None, "limit": None}, {}),
    ],
    ids=json.dumps,
)
def test_what_the_schema_says_is_no_string_is_read_from_one(sent: dict[str, Any], read_as: dict[str, Any]) -> None:
    found = read(**sent)
    assert found == read_as
    assert [type(value) for value in found.values()] == [type(value) for value in read_as.values()]


SACRED = ['{"k":1}', "[1,2]", '["a"]', "123", "1.0", "true", "null", '"quoted"', "", " padded ", "a,b", "\u202e\u200b"]


@pytest.mark.parametrize("text", SACRED)
def test_a_string_stays_the_string_it_is(text: str) -> None:
    assert read(text=text, content=text) == {"text": text, "content": text}
    assert read_arguments(AddArgs, {"content": text}).model_dump()["content"] == text


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"confirm": "maybe"}, "confirm: input should be a valid boolean"),
        ({"confirm": "yes"}, "confirm: input should be a valid boolean"),
        ({"confirm": 1}, "confirm: input should be a valid boolean"),
        ({"confirm": "1"}, "confirm: input should be a valid boolean"),
        ({"limit": "many"}, "limit: input should be a valid integer"),
        ({"limit": "5.5"}, "limit: input should be a valid integer"),
        ({"limit": True}, "limit: input should be a valid integer"),
        ({"limit": 5.5}, "limit: input should be a valid integer"),
        ({"limit": 0}, "limit: input should be greater than or equal to 1"),
        ({"limit": "1001"}, "limit: input should be less than or equal to 1000"),
        ({"seconds": "soon"}, "seconds: input should be a valid number"),
        ({"seconds": True}, "seconds: input should be a valid number"),
        ({"text": 5}, "text: input should be a valid string"),
        ({"text": ["a"]}, "text: input should be a valid string"),
        ({"one_of": "all"}, "one_of: input should be 'brief' or 'full'"),
        ({"source_ids": {"a": 1}}, "source_ids: input should be a valid list"),
        ({"source_ids": ["a", 5]}, "source_ids.1: input should be a valid string"),
        ({"options": "{k"}, "options: input should be a valid dictionary"),
        ({"options": "[" * 100_000}, "options: input should be a valid dictionary"),
        ({"unknown": None}, "unknown argument unknown"),
        ({"limt": 5}, "unknown argument limt (did you mean limit?)"),
        ({"source_id": "a"}, "unknown argument source_id (did you mean source_ids?)"),
    ],
    ids=lambda value: json.dumps(value)[:60],
)
def test_what_does_not_fit_is_named(sent: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        read(**sent)
    assert caught.value.message.startswith(said)
    assert caught.value.hint == "See the tool's input schema."


def test_every_fault_is_told_but_no_value() -> None:
    secret = "s3cret" * 3
    with pytest.raises(InvalidArgument) as caught:
        read(limit=secret, confirm=secret, one_of=secret, nope=secret, source_ids=[{"x": secret}])
    message = caught.value.message
    assert [part.split(":")[0] for part in message.split("; ")] == [
        "one_of",
        "limit",
        "confirm",
        "source_ids.0",
        "unknown argument nope",
    ]
    assert secret not in message
    assert secret not in json.dumps(caught.value.details)


def test_a_long_name_is_cut_and_a_missing_argument_is_named() -> None:
    with pytest.raises(InvalidArgument) as caught:
        read(**{"x" * 10_000: 1})
    assert len(caught.value.message) < 120
    with pytest.raises(InvalidArgument, match=r"^content is missing$"):
        read_arguments(AddArgs, {"content": None})


def test_a_tool_without_arguments_takes_none() -> None:
    class Nothing(Args):
        pass

    assert input_schema(Nothing) == {"type": "object", "properties": {}}
    assert isinstance(read_arguments(Nothing, {}), BaseModel)
    with pytest.raises(InvalidArgument, match="unknown argument x"):
        read_arguments(Nothing, {"x": None})


@pytest.mark.parametrize("seconds", ["nan", "inf", "-inf", "1e400", "601", "0.5"])
def test_a_wait_has_a_bound(seconds: str) -> None:
    with pytest.raises(InvalidArgument, match=r"^timeout_s: input should be"):
        read_arguments(AddArgs, {"content": "x", "timeout_s": seconds})
