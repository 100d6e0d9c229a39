"""The tools as an MCP server: through the SDK's own client, and message by message over the transport's bytes."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
import trio
import trio.testing
from mcp import Client

from nlm_cdp import __version__
from nlm_cdp.api import RENAMED, RPCS, TOOLS
from nlm_cdp.api.chat import chat
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.sources import additions, sources
from nlm_cdp.api.studio import vocabulary
from nlm_cdp.errors import (
    ChromeApprovalPending,
    ChromeLost,
    ChromeNotFound,
    DecodeError,
    Drift,
    NlmError,
    NotFound,
    RateLimited,
    SignedOut,
)
from nlm_cdp.granted import DEFAULT_TOOLSETS, OTHER_TOOLSETS, SCOPES
from nlm_cdp.mcp import server
from nlm_cdp.mcp.jsonrpc import LineBuffer
from nlm_cdp.mcp.server import INSTRUCTIONS, NAME, describe, listed, server_of
from nlm_cdp.rpc import Args, Effect, Result, Scope, ToolContext, tool
from nlm_cdp.text import whole
from tests.fakes import NB, NB2, S1, Bench, answers, check, citation, lost, notebook, refused, snapshot
from tests.fakes import source as source_row
from tests.mcp.serving import said_in, serve_over

modes = pytest.mark.parametrize("mode", ["legacy", "auto"])
LATEST = "2026-07-28"


# Tools of our own, for what the product's do not do


class Nothing(Args):
    pass


class Said(Result):
    said: str


class Working(Args):
    seconds: float = 0
    reports: list[str] = []


DONE: list[str] = []


@tool(scope=Scope.READ, effect=Effect.READ)
async def work(ctx: ToolContext, args: Working) -> Said:
    """Report each text in turn, a share of the seconds after the other."""
    try:
        for text in args.reports:
            await trio.sleep(args.seconds / len(args.reports))
            await ctx.progress(text)
        if not args.reports:
            await trio.sleep(args.seconds)
    finally:
        DONE.append("end")
    return Said(said="done")


@tool(scope=Scope.READ, effect=Effect.READ)
async def break_reading(ctx: ToolContext, args: Nothing) -> Said:
    """Fail in a way nobody foresaw."""
    raise ValueError("payload: a secret of the user's")


@tool(scope=Scope.WRITE, effect=Effect.CREATE)
async def break_writing(ctx: ToolContext, args: Nothing) -> Said:
    """Fail in a way nobody foresaw, perhaps after a change."""
    return Said(said=None)  # type: ignore[arg-type]


@tool(scope=Scope.READ, effect=Effect.READ)
async def break_apart(ctx: ToolContext, args: Nothing) -> Said:
    """Fail in a task."""

    async def fail() -> None:
        raise SignedOut("the page is signed out")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(fail)
    raise AssertionError


@tool(scope=Scope.READ, effect=Effect.READ)
async def say_surrogates(ctx: ToolContext, args: Nothing) -> Said:
    """Say what no encoding takes."""
    await ctx.progress("bad \ud83d end")
    return Said(said="bad \ud83d end, good \ud83d\ude00")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    DONE.clear()
    own = {item.name: replace(item, toolset="system") for item in (
        work, break_reading, break_writing, break_apart, say_surrogates,
    )}  # fmt: skip
    monkeypatch.setattr("nlm_cdp.api.TOOLS", TOOLS | own)
    return Bench()


# Message by message


class Wire:
    """A client that writes and reads messages as they are."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream, self.lines = stream, LineBuffer()
        self.unread: list[dict[str, Any]] = []
        self.number = 0

    async def send(self, method: str, params: Any = None, *, notification: bool = False) -> int:
        self.number += 1
        message = {"jsonrpc": "2.0", "method": method} | ({"params": params} if params is not None else {})
        message |= {} if notification else {"id": self.number}
        await self.stream.send_all(json.dumps(message).encode() + b"\n")
        return self.number

    async def receive(self) -> dict[str, Any]:
        while not self.unread:
            chunk = await self.stream.receive_some()
            assert chunk, "the server is gone"
            self.unread += [json.loads(line) for line in self.lines.feed(bytes(chunk))]
        return self.unread.pop(0)

    async def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        """The result, or the error, of one request."""
        number = await self.send(method, params)
        answer = await self.receive()
        assert answer["id"] == number
        said: dict[str, Any] = answer.get("result") or answer["error"]
        return said

    async def call(self, name: str, arguments: Any = None, **meta: Any) -> int:
        params = {"name": name, "arguments": arguments or {}} | ({"_meta": meta} if meta else {})
        return await self.send("tools/call", params)

    async def until(self, number: int) -> list[dict[str, Any]]:
        """Everything that comes up to the answer to one request."""
        messages = [await self.receive()]
        while messages[-1].get("id") != number:
            messages.append(await self.receive())
        return messages


def initialize(version: str) -> dict[str, Any]:
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


@asynccontextmanager
async def wired(bench: Bench, version: str | None = "2025-11-25") -> AsyncIterator[Wire]:
    """A server behind the stdio transport's serving, and a client that has shaken hands where a version is given."""
    ours, theirs = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve_over, server_of(bench.app), theirs)
        wire = Wire(ours)
        if version is not None:
            assert (await wire.ask("initialize", initialize(version)))["protocolVersion"] == version
            await wire.send("notifications/initialized", notification=True)
        yield wire
        await ours.send_stream.aclose()


# The handshake and the list


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
async def test_initialize(bench: Bench, version: str) -> None:
    async with wired(bench, None) as wire:
        said = await wire.ask("initialize", initialize(version))
        assert said["protocolVersion"] == version
        assert said["serverInfo"] == {"name": NAME, "version": __version__}
        assert said["instructions"] == INSTRUCTIONS
        assert set(said["capabilities"]) == {"tools", "resources", "prompts", "completions"}
        await wire.send("notifications/initialized", notification=True)
        listed = await wire.ask("tools/list")
        assert {item["name"] for item in listed["tools"]} >= set(TOOLS)
    assert bench.contexts == 0
    assert bench.caller.requests == []


async def test_discover(bench: Bench) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": LATEST,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    bench.caller.script(notebooks.LIST, [[notebook(NB)]])
    async with wired(bench, None) as wire:
        said = await wire.ask("server/discover", {"_meta": meta})
        assert LATEST in said["supportedVersions"]
        assert said["instructions"] == INSTRUCTIONS
        listed = await wire.ask("tools/list", {"_meta": meta})
        assert listed["ttlMs"] > 0
        assert bench.contexts == 0
        number = await wire.call("list_notebooks", **meta)
        answer = await wire.receive()
        assert answer["id"] == number
        assert answer["result"]["structuredContent"]["total"] == 1


@modes
async def test_the_list_is_the_same_every_time_and_costs_no_context(mode: str) -> None:
    bench = Bench()
    async with Client(server_of(bench.app), mode=mode) as client:
        first = await client.list_tools(cache_mode="bypass")
        again = await client.list_tools(cache_mode="bypass")
        assert [item.name for item in first.tools] == list(TOOLS)
        assert first.tools == again.tools == [describe(item) for item in TOOLS.values()]
        assert first.next_cursor is None
        assert client.instructions == INSTRUCTIONS
    assert listed(Bench().app.catalogue) == first.tools
    assert bench.contexts == 0


def test_instructions_name_what_there_is() -> None:
    assert len(INSTRUCTIONS.encode()) <= 700
    named = set(re.findall(r"\b[a-z]+_[a-z_]+\b", INSTRUCTIONS))
    arguments = {name for item in TOOLS.values() for name in item.args.model_fields}
    assert named <= set(TOOLS) | arguments
    assert {"confirm", "session_id"} <= arguments


FORMATS = {
    word
    for kind, options in vocabulary.OPTIONS.items()
    for word in (kind, *options, *(each for words in options.values() for each in words))
}


@pytest.mark.parametrize("name", TOOLS)
def test_descriptions_name_what_there_is(name: str) -> None:
    said = describe(TOOLS[name])
    texts = [
        said.description or "",
        *(part.get("description", "") for part in said.input_schema["properties"].values()),
    ]
    named = set(re.findall(r"\b[a-z]+_[a-z_]+\b", " ".join(texts)))
    assert named <= {*TOOLS, *TOOLS[name].args.model_fields, *TOOLS[name].result.model_fields, *FORMATS}


# Scopes and toolsets


def without(scopes: tuple[str, ...], toolsets: tuple[str, ...]) -> set[str]:
    """The tools outside of these scopes and sets."""
    return {name for name, item in TOOLS.items() if item.scope not in scopes or item.toolset not in toolsets}


@pytest.mark.parametrize(
    ("scopes", "toolsets", "hidden"),
    [
        (("read", "chat", "write"), DEFAULT_TOOLSETS, without(("read", "chat", "write"), DEFAULT_TOOLSETS)),
        ((), ("all",), {name for name, item in TOOLS.items() if item.scope is not Scope.READ}),
        (("chat",), ("chat",), without(("read", "chat"), ("chat",))),
        (SCOPES, ("notebooks", "system"), without(SCOPES, ("notebooks", "system"))),
        (SCOPES, ("all",), set()),
    ],
)
async def test_what_is_not_granted_is_not_listed_and_not_called(
    scopes: tuple[str, ...], toolsets: tuple[str, ...], hidden: set[str]
) -> None:
    bench = Bench(scopes=scopes, toolsets=toolsets)
    async with Client(server_of(bench.app), mode="auto") as client:
        assert {item.name for item in (await client.list_tools()).tools} == set(TOOLS) - hidden
        for name in hidden:
            result = await client.call_tool(name, {"made": "up"})
            error = error_of(result)
            assert error["code"] == "SCOPE"
            assert error["outcome"] == "not_sent"
            assert error["retriable"] is False
            missing = TOOLS[name].scope not in {"read", *scopes}
            assert (TOOLS[name].scope if missing else TOOLS[name].toolset) in error["message"]
            assert ("--scopes" if missing else "--toolsets") in error["hint"]
    assert bench.contexts == 0


def test_scopes_and_toolsets_are_those_that_the_command_line_knows() -> None:
    assert list(SCOPES) == list(Scope)
    assert {item.toolset for item in TOOLS.values()} <= {*DEFAULT_TOOLSETS, *OTHER_TOOLSETS}


# Results


def error_of(result: Any) -> dict[str, Any]:
    """The structure of a failed call, which must have the text beside it and every field that is promised."""
    assert result.is_error is True
    error: dict[str, Any] = result.structured_content
    assert set(error) >= {"code", "message", "hint", "outcome", "retriable"}
    assert set(error) <= {"code", "message", "hint", "outcome", "retriable", "retry_after_s", "state", "details"}
    assert error["outcome"] in ("not_sent", "rejected", "unknown")
    assert isinstance(error["retriable"], bool)
    assert len(result.content) == 1
    assert said_in(result.content[0]).startswith(f"{error['code']}: ")
    assert error["message"].rstrip(".") in said_in(result.content[0])
    return error


@modes
async def test_a_result_is_structure_and_text(bench: Bench, mode: str) -> None:
    row = notebook(NB, "Überblick 日本 [red]x[/red]", sources=(source_row(S1),))
    bench.caller.script(notebooks.LIST, [[row]])
    async with Client(server_of(bench.app), mode=mode) as client:
        await client.list_tools()  # from now on the client validates results
        result = await client.call_tool("list_notebooks", {"limit": "5"})
        assert not result.is_error
        assert result.structured_content is not None
        check("list_notebooks", result.structured_content)
        assert result.structured_content["notebooks"][0]["title"] == "Überblick 日本 [red]x[/red]"
        assert "title: Überblick 日本 [red]x[/red]" in said_in(result.content[0])
        assert len(result.content) == 1


@modes
async def test_an_answer_with_everything_in_it(bench: Bench, mode: str) -> None:
    bench.caller.script(notebooks.GET, [notebook(NB, sources=(source_row(S1, "Horns"),))])
    answers(bench, snapshot("Fog [1]", citation(S1, "one blast"), follow_ups=("Why?",)))
    async with Client(server_of(bench.app), mode=mode) as client:
        await client.list_tools()
        result = await client.call_tool("ask_question", {"question": "?", "notebook": NB, "source_format": "json"})
        assert result.structured_content is not None
        check("ask_question", result.structured_content)
        assert result.structured_content["_provenance"]["ai_generated"] is True
        assert said_in(result.content[0]).startswith("Fog [1]\n")
        assert "excerpt: one blast" in said_in(result.content[0])
        assert "_provenance" not in said_in(result.content[0])


FAILURES = [
    ChromeNotFound("no browser", state="no_browser"),
    ChromeApprovalPending("Chrome is waiting", state="approval_pending"),
    RateLimited("slow down", retry_after_s=30.0),
    SignedOut("signed out", state="signed_out"),
    DecodeError("Notebooks", ".1[0].3", "the cell is empty", details={"path": ".1[0].3"}),
    Drift("another call", details={"rpc": "wXbhsf", "seen": ["rLM1Ne"]}),
    *(refused(code) for code in (3, 5, 7, 8, 9, 13, 14, 16)),
    refused(8, "You have reached your daily limit", displayable=True),
    lost(),
]


@modes
@pytest.mark.parametrize("failure", FAILURES, ids=lambda error: f"{error.code}-{error.outcome}")
async def test_a_failure_is_a_result_that_says_what_happened(bench: Bench, mode: str, failure: NlmError) -> None:
    bench.caller.script(notebooks.LIST, failure)
    async with Client(server_of(bench.app), mode=mode) as client:
        await client.list_tools()
        error = error_of(await client.call_tool("list_notebooks", {}))
        assert error["code"] == failure.code
        assert error["message"] == failure.message
        assert error["hint"] == failure.hint
        assert error["outcome"] == failure.outcome
        assert error.get("retry_after_s") == failure.retry_after_s
        assert error.get("state") == failure.state
        assert error.get("details", {}) == failure.details
        for told in (error["message"], error["hint"]):
            assert not [rpc.id for rpc in RPCS if re.search(rf"\b{rpc.id}\b", told)]
            assert not re.search(r"Traceback|f\.req|SNlM0e|ExceptionGroup", told)


def test_no_code_is_outside_the_promised_ones() -> None:
    promised = (
        "CHROME_NOT_FOUND CHROME_DEBUGGING_OFF CHROME_APPROVAL_PENDING CHROME_APPROVAL_DENIED CHROME_POLICY_BLOCKED"
        " CHROME_LOST SIGNED_OUT ACCESS_GATED ACCOUNT_AMBIGUOUS NOT_FOUND PERMISSION INVALID_ARGUMENT AMBIGUOUS QUOTA"
        " RATE_LIMITED NOT_READY TIMEOUT NETWORK SERVICE DRIFT UNCONFIRMED_WRITE FILE_REFUSED SCOPE CANCELLED"
        " INTERNAL"
    )
    kinds, found = [NlmError], set()
    while kinds:
        kind = kinds.pop()
        found.add(kind.code)
        kinds += kind.__subclasses__()
    assert found == set(promised.split())


@modes
async def test_what_nobody_foresaw_is_internal_and_the_server_lives_on(
    bench: Bench, mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with Client(server_of(bench.app), mode=mode) as client:
        await client.list_tools()
        with caplog.at_level(logging.ERROR, "nlm_cdp.application"):
            result = await client.call_tool("break_reading", {})
        error = error_of(result)
        assert (error["code"], error["outcome"]) == ("INTERNAL", "not_sent")
        assert error["message"] == "break_reading failed inside (ValueError)"
        assert "secret" not in result.model_dump_json() + caplog.text
        assert re.search(r"break_reading failed inside: ValueError at .*test_server\.py:\d+", caplog.text)

        error = error_of(await client.call_tool("break_writing", {}))
        assert (error["code"], error["outcome"]) == ("INTERNAL", "unknown")

        error = error_of(await client.call_tool("break_apart", {}))
        assert (error["code"], error["message"]) == ("SIGNED_OUT", "the page is signed out")
        assert (await client.call_tool("work", {})).structured_content == {"said": "done"}


@modes
async def test_a_context_that_cannot_be_made_is_an_error_like_any_other(mode: str) -> None:
    bench = Bench()
    failures: list[Exception] = [ChromeNotFound("no browser"), RuntimeError("payload")]

    async def make_context(progress: Any) -> ToolContext:
        if failures:
            raise failures.pop(0)
        return await bench.context(progress)

    bench.app.make_context = make_context
    bench.caller.script(notebooks.LIST, [])
    async with Client(server_of(bench.app), mode=mode) as client:
        assert error_of(await client.call_tool("list_notebooks", {}))["code"] == "CHROME_NOT_FOUND"
        assert error_of(await client.call_tool("create_notebook", {"title": "x"}))["outcome"] == "not_sent"
        assert (await client.call_tool("list_notebooks", {})).structured_content["total"] == 0


# Names and arguments


@modes
async def test_names_and_arguments_that_do_not_exist(bench: Bench, mode: str) -> None:
    async with Client(server_of(bench.app), mode=mode) as client:
        await client.list_tools()

        async def refusal(name: str, **arguments: Any) -> str:
            error = error_of(await client.call_tool(name, arguments))
            assert (error["code"], error["outcome"]) == ("INVALID_ARGUMENT", "not_sent")
            return f"{error['message']} {error['hint']}"

        assert "no tool 'make_coffee'" in await refusal("make_coffee")
        assert len(await refusal("x" * 10_000)) < 200
        assert "unknown argument limt (did you mean limit?)" in await refusal("list_notebooks", limt=5)
        assert "unknown argument offst (did you mean offset?)" in await refusal("list_sources", offst=5)
        assert "limit: input should be a valid integer" in await refusal("list_notebooks", limit="many")
        assert "question is missing" in await refusal("ask_question")
        assert "confirm: input should be a valid boolean" in await refusal(
            "delete_notebook", notebook=NB, confirm="maybe"
        )
    assert bench.contexts == 0


async def test_a_call_that_is_no_call_costs_only_itself(bench: Bench) -> None:
    bench.caller.script(notebooks.LIST, [])
    async with wired(bench) as wire:
        params: Any
        for params in (
            {},
            {"name": 5},
            {"name": "list_notebooks", "arguments": []},
            {"name": "work", "arguments": "x"},
        ):
            assert (await wire.ask("tools/call", params))["code"] == -32602
        assert (await wire.ask("tools/brew", {}))["code"] == -32601
        for params in ({"name": "list_notebooks"}, {"name": "list_notebooks", "arguments": None}):
            assert (await wire.ask("tools/call", params))["structuredContent"]["total"] == 0


@pytest.mark.parametrize(("was", "now"), RENAMED.items())
async def test_a_former_name_leads_to_the_present_one(was: str, now: str) -> None:
    bench = Bench(scopes=())
    async with Client(server_of(bench.app), mode="auto") as client:
        error = error_of(await client.call_tool(was, {"anything": 1}))
        assert error["code"] == "INVALID_ARGUMENT"
        assert now in error["message"]
        assert now in error["hint"]
    assert bench.contexts == 0


@modes
@pytest.mark.parametrize("text", ['{"k":1}', "[1,2]", "123", "true", "null", '"quoted"'])
async def test_a_text_that_looks_like_json_arrives_as_it_is(bench: Bench, mode: str, text: str) -> None:
    bench.caller.script(notebooks.GET, [notebook(NB)])
    bench.caller.script(additions.ADD, lambda request: [[source_row(S1, request.contents[0].text.title, kind=4)]])
    async with Client(server_of(bench.app), mode=mode) as client:
        result = await client.call_tool("add_source", {"notebook": NB, "content": text, "type": "text"})
        assert not result.is_error
    (request,) = bench.caller.sent(additions.ADD)
    assert request.contents[0].text.content == text


@modes
async def test_arguments_that_came_as_strings(bench: Bench, mode: str) -> None:
    rows = tuple(source_row(source_id) for source_id in (S1, NB2))
    bench.caller.script(notebooks.GET, [notebook(NB, sources=rows)])
    bench.caller.script(sources.DELETE, [])
    answers(bench, snapshot("Yes."))
    async with Client(server_of(bench.app), mode=mode) as client:
        for sent in (f'["{S1}"]', S1, f"{S1},{NB2}", f'["{S1}","{NB2}"]', [S1]):
            result = await client.call_tool("ask_question", {"question": "5", "notebook": NB, "source_ids": sent})
            assert not result.is_error
        result = await client.call_tool("delete_source", {"notebook": NB, "sources": S1, "confirm": "false"})
        assert result.structured_content["status"] == "needs_confirmation"
        assert bench.caller.sent(sources.DELETE) == []
        result = await client.call_tool("delete_source", {"notebook": NB, "sources": S1, "confirm": "true"})
        assert result.structured_content["deleted"] == [S1]
    assert [request.sources for request in bench.caller.sent(chat.ASK)] == [[S1], [S1], [S1, NB2], [S1, NB2], [S1]]
    assert {request.question for request in bench.caller.sent(chat.ASK)} == {"5"}


# Lone surrogates


@modes
async def test_no_lone_surrogate_leaves_the_server(bench: Bench, mode: str) -> None:
    rows = (source_row(S1, "bad \ud83d end"), source_row(NB2, "cut \ud83d\ude00 pair"))
    bench.caller.script(notebooks.GET, [notebook(NB, "\udfff", sources=rows)])
    async with Client(server_of(bench.app), mode=mode) as client:
        await client.list_tools()
        result = await client.call_tool("list_sources", {"notebook": NB})
        assert [item["title"] for item in result.structured_content["sources"]] == ["bad \ufffd end", "cut 😀 pair"]
        assert "title: bad \ufffd end" in said_in(result.content[0])
        result.model_dump_json().encode()

        said: list[str | None] = []

        async def heard(progress: float, total: float | None, message: str | None) -> None:
            said.append(message)

        result = await client.call_tool("say_surrogates", {}, progress_callback=heard)
        assert result.structured_content == {"said": "bad \ufffd end, good 😀"}
        assert said == ["bad \ufffd end"]

        bench.caller.script(notebooks.LIST, [[notebook(NB, "one \ud83d"), notebook(NB2, "one \ude00")]])
        error = error_of(await client.call_tool("get_notebook", {"notebook": "one"}))
        assert [candidate["title"] for candidate in error["details"]["candidates"]] == ["one \ufffd", "one \ufffd"]


async def test_lone_surrogates_in_arguments_are_repaired(bench: Bench) -> None:
    bench.caller.script(notebooks.LIST, [])
    async with wired(bench) as wire:
        number = await wire.call("get_notebook", {"notebook": "bad \ud83d end", "no\ud83dpe": 1})
        (answer,) = await wire.until(number)
        assert answer["result"]["structuredContent"]["message"] == "unknown argument no\ufffdpe"
        number = await wire.call("get_notebook", {"notebook": "bad \ud83d end"})
        (answer,) = await wire.until(number)
        assert answer["result"]["structuredContent"]["details"] == {"notebook": "bad \ufffd end"}


async def test_no_lone_surrogate_reaches_the_page(bench: Bench) -> None:
    """In one process no transport has repaired the arguments before."""
    bench.caller.script(notebooks.CREATE, lambda request: notebook(NB, request.title))
    async with Client(server_of(bench.app), mode="auto") as client:
        await client.call_tool("create_notebook", {"title": "bad \ud83d end, good \ud83d\ude00"})
    assert bench.caller.sent(notebooks.CREATE)[0].title == "bad \ufffd end, good 😀"


def test_whole() -> None:
    assert whole(["a\ud800b", ("\ude00", 1, None), {"k": "\ud83d\ude00"}]) == [
        "a\ufffdb",
        ["\ufffd", 1, None],
        {"k": "😀"},
    ]
    assert whole("日本 😀 \ufffd") == "日本 😀 \ufffd"


# Progress


def progress_in(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [message["params"] for message in messages if message.get("method") == "notifications/progress"]


@pytest.mark.parametrize("token", ["t1", 0, 7])
async def test_a_long_call_shows_signs_of_life(bench: Bench, token: str | int) -> None:
    async with wired(bench) as wire:
        number = await wire.call("work", {"seconds": 75}, progressToken=token)
        messages = await wire.until(number)
        told = progress_in(messages)
        assert [params["progressToken"] for params in told] == [token] * len(told)
        assert [params["progress"] for params in told] == list(range(1, len(told) + 1))
        assert [params["message"] for params in told] == [f"still working ({seconds} s)" for seconds in range(5, 75, 5)]
        assert len(messages) == len(told) + 1
        assert messages[-1]["result"]["structuredContent"] == {"said": "done"}
        await trio.sleep(60)
        number = await wire.send("ping")
        assert len(await wire.until(number)) == 1


async def test_a_call_that_reports_itself_is_not_interrupted(bench: Bench) -> None:
    async with wired(bench) as wire:
        number = await wire.call(
            "work", {"seconds": 16, "reports": ["one", "two", "three", "four"]}, progressToken="t1"
        )
        told = progress_in(await wire.until(number))
        assert [params["message"] for params in told] == ["one", "two", "three", "four"]
        number = await wire.call("work", {"seconds": 13, "reports": ["only"]}, progressToken="t1")
        told = progress_in(await wire.until(number))
        assert [params["message"] for params in told] == ["still working (5 s)", "still working (10 s)", "only"]
        assert [params["progress"] for params in told] == [1, 2, 3]


async def test_without_a_token_nothing_is_reported(bench: Bench) -> None:
    async with wired(bench) as wire:
        for meta in ({}, {"progressToken": None}, {"progressToken": True}, {"other": 1}):
            number = await wire.call("work", {"seconds": 20, "reports": ["one"]}, **meta)
            assert progress_in(await wire.until(number)) == []


@modes
async def test_the_sdk_hears_progress_in_order_and_none_after_the_result(bench: Bench, mode: str) -> None:
    heard: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message))

    async with Client(server_of(bench.app), mode=mode) as client:
        arguments = {"seconds": 12, "reports": ["half", "whole"]}
        await client.call_tool("work", arguments, progress_callback=hear)
        assert [message for _, message in heard] == ["still working (5 s)", "half", "whole"]
        assert [number for number, _ in heard] == [1, 2, 3]
        await trio.sleep(30)
        assert len(heard) == 3


async def test_numbers_rise_although_reports_cross(bench: Bench) -> None:
    class Slow:
        sent: list[float] = []

        async def report_progress(self, progress: float, message: str) -> None:
            await trio.sleep(1 / progress)
            self.sent.append(progress)

    class Request:
        session = Slow()

    reports = server.Reports(Request())  # type: ignore[arg-type]
    async with trio.open_nursery() as nursery:
        for number in range(10):
            nursery.start_soon(reports, str(number))
    assert Slow.sent == [float(number) for number in range(1, 11)]


async def test_an_answer_streams_its_progress(bench: Bench) -> None:
    bench.caller.script(notebooks.GET, [notebook(NB, sources=(source_row(S1),))])
    thinking = [snapshot("**Reading**\n\nfirst", kind=2, final=False), 5]
    answers(bench, *(thinking * 15), snapshot("Fog.", final=False), 1, snapshot("Fog and horns."))
    async with wired(bench) as wire:
        number = await wire.call("ask_question", {"question": "?", "notebook": NB}, progressToken="t1")
        messages = await wire.until(number)
        told = progress_in(messages)
        assert len(told) >= 15
        said = [params["message"] for params in told]
        assert said.count("thinking: Reading") == 15
        assert next(text for text in said if text.startswith("answering")).startswith("answering (4 characters)")
        numbers = [params["progress"] for params in told]
        assert numbers == sorted(set(numbers))
        assert messages[-1]["result"]["structuredContent"]["answer"] == "Fog and horns."


# Cancellation


async def test_a_cancelled_call_ends_without_an_answer_and_others_go_on(bench: Bench) -> None:
    async with wired(bench) as wire:
        cancelled = await wire.call("work", {"seconds": 600}, progressToken="t1")
        await trio.sleep(7)
        assert (await wire.receive())["params"]["message"] == "still working (5 s)"
        params = {"requestId": cancelled, "reason": "no longer needed"}
        await wire.send("notifications/cancelled", params, notification=True)
        await wire.send("notifications/cancelled", params, notification=True)
        number = await wire.call("work", {"seconds": 30})
        messages = await wire.until(number)
        assert len(messages) == 1
        assert DONE == ["end", "end"]


async def test_cancelling_a_question_sends_nothing_more(bench: Bench) -> None:
    bench.caller.script(notebooks.GET, [notebook(NB, sources=(source_row(S1),))])
    answers(bench, 600, snapshot("late"))
    async with wired(bench) as wire:
        cancelled = await wire.call("ask_question", {"question": "?", "notebook": NB})
        await trio.sleep(10)
        await wire.send("notifications/cancelled", {"requestId": cancelled}, notification=True)
        answers(bench, snapshot("in time"))
        number = await wire.call("ask_question", {"question": "?", "notebook": NB})
        (answer,) = await wire.until(number)
        assert answer["result"]["structuredContent"]["answer"] == "in time"
        assert bench.caller.calls == ["rLM1Ne", "chat"] * 2 + ["hPTbtc"]
        assert [row.message_count for row in bench.store.rows.values()] == [1]


@modes
async def test_a_client_that_gives_up(bench: Bench, mode: str) -> None:
    async with Client(server_of(bench.app), mode=mode) as client:
        with trio.move_on_after(3) as scope:
            await client.call_tool("work", {"seconds": 600})
        assert scope.cancelled_caught
        await trio.sleep(1)
        assert DONE == ["end"]
        assert (await client.call_tool("work", {})).structured_content == {"said": "done"}


async def test_calls_run_side_by_side(bench: Bench) -> None:
    async with wired(bench) as wire:
        slow = await wire.call("work", {"seconds": 60})
        quick = await wire.call("work", {"seconds": 1})
        assert (await wire.receive())["id"] == quick
        assert (await wire.receive())["id"] == slow


async def test_three_calls_lose_the_browser_at_once(bench: Bench) -> None:
    async def vanish(_request: Any) -> Any:
        await trio.sleep(1)
        return ChromeLost("Chrome closed the connection")

    bench.caller.script(notebooks.LIST, vanish)
    async with wired(bench) as wire:
        numbers = {await wire.call("list_notebooks") for _ in range(3)}
        received = [await wire.receive() for _ in range(3)]
        assert {answer["id"] for answer in received} == numbers
        assert all(answer["result"]["structuredContent"]["code"] == "CHROME_LOST" for answer in received)
        assert "ExceptionGroup" not in json.dumps(received)
        bench.caller.script(notebooks.LIST, [])
        number = await wire.call("list_notebooks")
        (answer,) = await wire.until(number)
        assert answer["result"]["structuredContent"]["total"] == 0


async def test_a_promise_about_errors_that_the_schema_of_a_result_does_not_make(bench: Bench) -> None:
    """A failed call's structure is no result of the tool; clients that validated it would hide the error."""
    bench.caller.script(notebooks.LIST, NotFound("nothing there"))
    async with Client(server_of(bench.app), mode="auto") as client:
        listed = {item.name: item for item in (await client.list_tools()).tools}
        result = await client.call_tool("list_notebooks", {})
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(result.structured_content, listed["list_notebooks"].output_schema)
        assert error_of(result)["code"] == "NOT_FOUND"
