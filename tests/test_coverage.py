"""What every tool and every call must have, and the snapshots that make a change of the interface visible.

`pytest tests/test_coverage.py --update` writes the snapshots anew; review what changed as what it is, the API.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from nlm_cdp.api import MODULES, RENAMED, RPCS, TOOLS
from nlm_cdp.mcp.server import describe
from nlm_cdp.rpc import Effect, Rpc, Scope, Tool
from nlm_cdp.wire.pblite import Message, slots

SNAPSHOTS = Path(__file__).parent / "snapshots"
TOOL_TESTS = Path(__file__).parent / "api"

every_tool = pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
every_rpc = pytest.mark.parametrize("rpc", RPCS, ids=[rpc.name for rpc in RPCS])


def snapshot_of(tool: Tool[Any, Any]) -> str:
    kept = {"name", "description", "inputSchema", "outputSchema", "annotations"}
    said = describe(tool).model_dump(by_alias=True, exclude_none=True, mode="json")
    return json.dumps({key: said[key] for key in said if key in kept}, ensure_ascii=False, indent=2) + "\n"


# Snapshots


@every_tool
def test_a_tool_is_what_its_snapshot_says(tool: Tool[Any, Any], update: bool) -> None:
    file = SNAPSHOTS / f"{tool.name}.json"
    if update:
        file.write_text(snapshot_of(tool), encoding="utf-8", newline="\n")
    assert file.is_file(), f"{tool.name} has no snapshot: run pytest with --update and review it"
    assert json.loads(snapshot_of(tool)) == json.loads(file.read_text(encoding="utf-8"))


def test_no_snapshot_is_stale(update: bool) -> None:
    stale = [file for file in SNAPSHOTS.iterdir() if file.suffix != ".json" or file.stem not in TOOLS]
    if update:
        for file in stale:
            file.unlink()
        stale = []
    assert stale == []


def test_every_tool_is_tested() -> None:
    tests = "".join(file.read_text(encoding="utf-8") for file in TOOL_TESTS.rglob("test_*.py"))
    assert [name for name in TOOLS if f'"{name}"' not in tests] == []


# Tools


@every_tool
def test_a_tool_is_described(tool: Tool[Any, Any]) -> None:
    said = describe(tool)
    assert said.description
    assert said.description.endswith(".")
    assert "  " not in said.description
    for schema in (said.input_schema, said.output_schema):
        assert schema is not None
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert schema is said.input_schema or schema["additionalProperties"] is False
        assert not {"anyOf", "oneOf", "allOf", "not", "$ref"} & set(schema)
        assert schema["properties"] or schema is said.input_schema
    for part in parts(said.output_schema):
        assert part != {"type": "null"}
        assert part.get("additionalProperties") is not True


def parts(schema: Any) -> list[dict[str, Any]]:
    """Every schema inside a schema, itself included."""
    if isinstance(schema, list):
        return [part for item in schema for part in parts(item)]
    if not isinstance(schema, dict):
        return []
    return [schema, *(part for item in schema.values() for part in parts(item))]


@every_tool
def test_hints_follow_from_effect_and_scope(tool: Tool[Any, Any]) -> None:
    said = describe(tool).annotations
    assert said is not None
    hints = said.model_dump(exclude_none=True)
    assert hints == {
        "read_only_hint": tool.effect is Effect.READ,
        "destructive_hint": tool.effect is Effect.DELETE or tool.scope in (Scope.DELETE, Scope.SHARE),
        "idempotent_hint": tool.effect is not Effect.CREATE,
        "open_world_hint": bool(tool.rpcs),
    }
    assert (tool.effect is Effect.READ) == (tool.scope is Scope.READ)


@every_tool
def test_what_destroys_asks_first(tool: Tool[Any, Any]) -> None:
    if tool.destructive:
        said = describe(tool)
        assert "confirm" in said.input_schema["properties"]
        assert tool.args.model_fields["confirm"].default is False
        assert said.output_schema is not None
        assert "needs_confirmation" in said.output_schema["properties"]["status"]["enum"]
        assert tool.scope in (Scope.DELETE, Scope.SHARE)


@every_tool
def test_a_tool_is_no_more_harmless_than_its_calls(tool: Tool[Any, Any]) -> None:
    effects = {rpc.effect for rpc in tool.rpcs}
    if tool.effect is Effect.READ:
        assert effects <= {Effect.READ}
    if Effect.DELETE in effects:
        assert tool.effect is Effect.DELETE
    if Effect.CREATE in effects:
        assert tool.effect is Effect.CREATE


def test_former_names_lead_to_tools() -> None:
    assert set(RENAMED.values()) <= set(TOOLS)
    assert not set(RENAMED) & set(TOOLS)
    assert sum(len(tool.was) for tool in TOOLS.values()) == len(RENAMED)


# Calls


@every_rpc
def test_a_call_is_declared_so_that_it_compiles(rpc: Rpc[Any, Any]) -> None:
    seen: set[type[Message]] = set()

    def compile_tree(message: type[Message]) -> None:
        if message not in seen:
            seen.add(message)
            for slot in slots(message):
                if slot.message is not None:
                    compile_tree(slot.message)

    compile_tree(rpc.request)
    compile_tree(rpc.response)
    assert rpc.grade in {"C", "N", "P", "M"}
    assert rpc.timeout > 0


def test_calls_are_told_apart() -> None:
    assert len({rpc.name for rpc in RPCS}) == len(RPCS)
    declared = {id(item) for module in MODULES for item in vars(module).values() if isinstance(item, Rpc)}
    assert {id(rpc) for tool in TOOLS.values() for rpc in tool.rpcs} <= declared
    assert len(declared) == len(RPCS)


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_every_tool_is_called_in_a_real_browser(name: str) -> None:
    files = (Path(__file__).parent / "e2e").glob("test_*.py")
    assert any(f'"{name}"' in path.read_text(encoding="utf-8") for path in files)
