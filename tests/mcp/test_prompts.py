"""Prompts through the SDK's own client: short, filled in, and about tools that are on offer."""

from __future__ import annotations

import re

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from nlm_cdp.api import TOOLS
from nlm_cdp.mcp.prompts import DEFAULTS, RECIPES, Recipe, offered
from nlm_cdp.mcp.server import server_of
from tests.fakes import Bench
from tests.mcp.serving import said_in

modes = pytest.mark.parametrize("mode", ["legacy", "auto"])
every_recipe = pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)


async def text_of(bench: Bench, name: str, mode: str = "auto", **arguments: str) -> str:
    async with Client(server_of(bench.app), mode=mode) as client:
        (message,) = (await client.get_prompt(name, arguments)).messages
    assert message.role == "user"
    return said_in(message.content)


@modes
async def test_the_list_costs_no_context(mode: str) -> None:
    bench = Bench()
    async with Client(server_of(bench.app), mode=mode) as client:
        listed = (await client.list_prompts()).prompts
        assert client.server_capabilities.prompts is not None
    assert [prompt.name for prompt in listed] == [
        "brief_notebook",
        "check_citations",
        "find_gaps",
        "plan_audio_overview",
    ]
    for prompt in listed:
        assert prompt.title
        assert prompt.description
        assert prompt.arguments
    assert bench.contexts == 0


@every_recipe
def test_a_prompt_names_tools_and_arguments_that_exist(recipe: Recipe) -> None:
    assert recipe.tools
    assert recipe.tools <= set(TOOLS)
    assert set(re.findall(r"\b[a-z]+_[a-z]+(?:_[a-z]+)*\b", recipe.text)) <= recipe.tools | {"source_format"}
    for tool, argument, value in re.findall(r"`(\w+)` \((\w+): (\w+)\)", recipe.text.replace("\n", " ")):
        field = TOOLS[tool].args.model_fields[argument]
        assert value in repr(field.annotation)
    assert len(recipe.text.encode()) < 800


@every_recipe
async def test_a_prompt_is_filled_in(recipe: Recipe) -> None:
    bench = Bench()
    required = {argument.name: "Why is it $dark?" for argument in recipe.arguments if argument.required}
    text = await text_of(bench, recipe.name, **required)
    assert "the selected notebook" in text
    assert ("$dark" in text) == bool(required)
    assert not re.search(r"\$(?!dark)", text)
    given = {argument.name: f"My\n  {argument.name} {{x}}" for argument in recipe.arguments}
    text = await text_of(bench, recipe.name, **given)
    assert all(f"My {name} {{x}}" in text for name in given)
    assert bench.contexts == 0


def test_what_may_be_left_out_has_a_default() -> None:
    optional = {argument.name for recipe in RECIPES for argument in recipe.arguments if not argument.required}
    assert optional == set(DEFAULTS)


@modes
@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("nothing", {}, "no such prompt"),
        ("brief_notebook", {"colour": "red"}, "unknown argument colour"),
        ("check_citations", {}, "question is missing"),
        ("check_citations", {"question": " "}, "question is missing"),
    ],
)
async def test_a_prompt_that_cannot_be_given(mode: str, name: str, arguments: dict[str, str], said: str) -> None:
    async with Client(server_of(Bench().app), mode=mode) as client:
        with pytest.raises(MCPError) as caught:
            await client.get_prompt(name, arguments)
    assert caught.value.code == -32602
    assert said in caught.value.message
    assert caught.value.data["code"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize(
    ("scopes", "toolsets", "names"),
    [
        (("read", "chat", "write"), ("all",), {recipe.name for recipe in RECIPES}),
        ((), ("all",), {"brief_notebook"}),
        (("chat",), ("notebooks", "sources", "chat"), {"brief_notebook", "check_citations", "find_gaps"}),
        (("chat",), ("system",), set()),
    ],
)
async def test_a_prompt_is_offered_where_its_tools_are(
    scopes: tuple[str, ...], toolsets: tuple[str, ...], names: set[str]
) -> None:
    bench = Bench(scopes=scopes, toolsets=toolsets)
    assert set(offered(set(bench.app.catalogue.offered))) == names
    async with Client(server_of(bench.app), mode="auto") as client:
        assert {prompt.name for prompt in (await client.list_prompts()).prompts} == names
        for recipe in RECIPES:
            if recipe.name not in names:
                with pytest.raises(MCPError, match="no such prompt"):
                    await client.get_prompt(recipe.name, {"question": "x"})
