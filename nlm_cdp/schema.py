"""Models as the JSON schemas a client reads, and a client's arguments as a model reads them. Pure.

Hosts send lists, numbers and booleans as strings; they are read as what the schema says, and only where it says no
string: a text that looks like JSON stays a text.
"""

from __future__ import annotations

import difflib
import json
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from nlm_cdp.errors import InvalidArgument

Schema = dict[str, Any]


BOUNDS = {
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
}
"""Checked here, and told in the error of whoever oversteps them; in every client's context they are dead weight."""


def input_schema(model: type[BaseModel]) -> Schema:
    """What a model reads, at every turn: as short as it can be and still be true."""
    return without_weight(slim(model.model_json_schema()))


def without_weight(schema: Schema) -> Schema:
    """Without bounds, and without defaults but of enums: a number or a flag left out is what one would expect."""
    out = {key: value for key, value in schema.items() if key not in BOUNDS}
    if "enum" not in out:
        out.pop("default", None)
    if "properties" in schema:
        out["properties"] = {name: without_weight(part) for name, part in schema["properties"].items()}
        out.pop("additionalProperties", None)
    if "items" in schema:
        out["items"] = without_weight(schema["items"])
    if "anyOf" in schema:
        out["anyOf"] = [without_weight(branch) for branch in schema["anyOf"]]
    if "$defs" in schema:
        out["$defs"] = {name: without_weight(part) for name, part in schema["$defs"].items()}
    return out


def output_schema(model: type[BaseModel]) -> Schema:
    """The schema of what is sent: empty optional fields are left out, so nothing in it is nullable."""
    return slim(model.model_json_schema(by_alias=True))


def slim(schema: Schema) -> Schema:
    """The same schema without titles, null branches and null defaults; what could be null is not required."""
    if "anyOf" in schema:
        branches = [branch for branch in schema["anyOf"] if branch != {"type": "null"}]
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        if len(branches) == 1:
            return slim(rest | branches[0])
        schema = rest | {"anyOf": branches}
    out: Schema = {}
    for key, value in schema.items():
        if key == "title" or (key == "default" and value is None):
            continue
        if key in ("properties", "$defs"):
            out[key] = {name: slim(part) for name, part in value.items()}
        elif key == "required":
            required = [name for name in value if not nullable(schema["properties"][name])]
            out |= {key: required} if required else {}
        elif isinstance(value, dict):
            out[key] = slim(value)
        elif isinstance(value, list) and value and all(isinstance(part, dict) for part in value):
            out[key] = [slim(part) for part in value]
        else:
            out[key] = value
    if "$defs" in out:
        for part in out["$defs"].values():
            part.pop("description", None)
    if "properties" in out:
        out.pop("description", None)
    return out


def nullable(schema: Schema) -> bool:
    return {"type": "null"} in schema.get("anyOf", ())


def read_arguments(model: type[BaseModel], arguments: dict[str, Any]) -> BaseModel:
    """The arguments as a model. Raises InvalidArgument naming each fault, never a value."""
    properties = properties_of(model)
    given = {
        name: coerced(value, properties.get(name, {}))
        for name, value in arguments.items()
        if not (value is None and name in properties)
    }
    try:
        return model.model_validate(given)
    except ValidationError as exc:
        errors = exc.errors(include_input=False, include_url=False, include_context=False)
        faults = [fault(error["type"], error["loc"], error["msg"], list(properties)) for error in errors[:5]]
        raise InvalidArgument("; ".join(faults), hint="See the tool's input schema.") from None


@cache
def properties_of(model: type[BaseModel]) -> dict[str, Schema]:
    found: dict[str, Schema] = model.model_json_schema().get("properties", {})
    return found


def fault(kind: str, loc: tuple[int | str, ...], message: str, known: list[str]) -> str:
    name = ".".join(map(str, loc))[:80]
    if kind == "extra_forbidden":
        close = difflib.get_close_matches(name, known, n=1)
        return f"unknown argument {name}" + (f" (did you mean {close[0]}?)" if close else "")
    if kind == "missing":
        return f"{name} is missing"
    return f"{name}: {message[0].lower()}{message[1:]}"


def coerced(value: Any, schema: Schema) -> Any:
    """A string as the type that the schema asks for, where that is not a string and the text allows it."""
    types = {branch.get("type") for branch in (schema, *schema.get("anyOf", ()))}
    if isinstance(value, float) and value.is_integer() and "integer" in types:
        return int(value)  # the same number to JSON
    if not isinstance(value, str) or "string" in types or "enum" in schema:
        return value
    text = value.strip()
    if "boolean" in types and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if types & {"integer", "number"}:
        return number(text, value)
    if "array" in types:
        return items(text)
    if "object" in types and text.startswith("{"):
        return parsed(text, value)
    return value


def number(text: str, otherwise: Any) -> Any:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return otherwise


def items(text: str) -> list[Any]:
    """A list from JSON, from a comma-separated text, or of one."""
    if text.startswith("["):
        found = parsed(text, None)
        if isinstance(found, list):
            return found
    return [part.strip() for part in text.split(",") if part.strip()]


def parsed(text: str, otherwise: Any) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return otherwise
