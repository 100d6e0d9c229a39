"""The command line: what it takes, what it prints where, and the exit codes that scripts rely on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

import nlm_cdp
from nlm_cdp import __version__, cli
from nlm_cdp.api import RPCS
from nlm_cdp.api.chat import chat
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.sources import sources
from nlm_cdp.browser import own
from nlm_cdp.cli import main
from nlm_cdp.commands import shell_arguments
from nlm_cdp.errors import AccessGated, ChromeLost, ChromeNotFound, Network, NlmError, NotFound, SignedOut
from nlm_cdp.local.audit import audit
from nlm_cdp.local.traffic import Exchange
from nlm_cdp.runtime import Options
from nlm_cdp.wire.batchexecute import answer_frame
from nlm_cdp.wire.frames import frame_body
from tests.fakes import NB, S1, Bench, citation, notebook, snapshot, source

NAME = "nlm-cdp"
TITLE = "Überblick [red]x[/red] こんにちは 😀"


class FakeRuntime:
    """What `open_runtime` gives, over a bench; `options` is what the command line made of its arguments."""

    def __init__(self) -> None:
        self.bench = Bench()
        self.context = self.bench.context
        self.options: Options | None = None
        self.closed = False
        self.row: Any = None

    async def open(self) -> tuple[Any, Any]:
        return self, self.bench.store

    async def raw(self, rpc_id: str, params: Any, notebook: str | None) -> Any:
        if isinstance(self.row, NlmError):
            raise self.row
        return {"id": rpc_id, "params": params, "notebook": notebook}


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> FakeRuntime:
    found = FakeRuntime()

    @asynccontextmanager
    async def open_runtime(options: Options) -> AsyncIterator[FakeRuntime]:
        found.options = options
        async with trio.open_nursery() as nursery:
            yield found
            nursery.cancel_scope.cancel()
        found.closed = True

    monkeypatch.setattr("nlm_cdp.runtime.open_runtime", open_runtime)
    return found


class Ran:
    """One run: its exit code, and both outputs."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> None:
        try:
            self.code = main(list(arguments))
        except SystemExit as exc:
            self.code = exc.code if isinstance(exc.code, int) else 1
        self.out, self.err = capsys.readouterr()

    @property
    def value(self) -> Any:
        """Standard output as the one JSON value it must be."""
        return json.loads(self.out)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    return lambda *arguments: Ran(capsys, *arguments)


# Usage


def test_version_and_help(run: Any) -> None:
    ran = run("--version")
    assert (ran.code, ran.out.strip()) == (0, f"nlm-cdp {__version__}")
    ran = run("--help")
    assert ran.code == 0
    for command in ("serve", "demo", "sim", "doctor", "browser", "audit", "call", "rpc", "wire"):
        assert f"    {command} " in ran.out
        assert run(command, "--help").code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("brew",),
        ("call",),
        ("call", "list_notebooks", "--nope"),
        ("call", "list_notebooks", "limit"),
        ("call", "list_notebooks", "=5"),
        ("call", "list_notebooks", "limit=5", "limit=6"),
        ("call", "list_notebooks", "{"),
        ("call", "list_notebooks", "{" * 100_000),
        ("call", "list_notebooks", '{"limit": 5} trailing'),
        ("call", "list_notebooks", '{"limit": 5}', "offset=1"),
        ("rpc", "wXbhsf"),
        ("rpc", "wXbhsf", "{}"),
        ("rpc", "wXbhsf", "nonsense"),
        ("sim", "--port", "many"),
        ("wire",),
        ("wire", "decode"),
        ("wire", "classify", "[]"),
        ("wire", "classify", "--rpc", "rLM1Ne", "{}"),
        ("wire", "classify", "--rpc", "rLM1Ne", "[" * 100_000),
        ("wire", "decode", "/no/such/file"),
        ("wire", "decode", "."),
        ("browser", "--stop", "--status"),
        ("browser", "now"),
        ("audit", "--since", "yesterday"),
    ],
    ids=lambda value: " ".join(value)[:50],
)
def test_a_command_line_that_is_wrong(run: Any, runtime: FakeRuntime, arguments: tuple[str, ...]) -> None:
    ran = run(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert NAME in ran.err
    assert len(ran.err.splitlines()[-1]) < 300
    assert runtime.options is None


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ([], {}),
        (["a=1"], {"a": "1"}),
        (["a=b=c", "d="], {"a": "b=c", "d": ""}),
        (['content={"k":1}'], {"content": '{"k":1}'}),
        (["question=What? こんにちは", "source_ids=a,b"], {"question": "What? こんにちは", "source_ids": "a,b"}),
        (['{"a": [1, null, "ü"]}'], {"a": [1, None, "ü"]}),
        ([' {"a":"b"}'], {"a": "b"}),
        (["{}"], {}),
    ],
)
def test_arguments_of_a_tool(words: list[str], arguments: dict[str, Any]) -> None:
    assert shell_arguments(words) == arguments


# call


def test_a_result_is_printed_as_it_is(run: Any, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    runtime.bench.caller.script(notebooks.LIST, [[notebook(NB, TITLE)]])
    for arguments in (["limit=5"], ['{"limit": 5}'], ['{"limit": "5"}'], ["limit=5", "offset=0"]):
        ran = run("call", "list_notebooks", *arguments)
        assert (ran.code, ran.err) == (0, "")
        assert ran.value["notebooks"][0]["title"] == TITLE
        assert f'"title": "{TITLE}"' in ran.out
    assert runtime.closed


def test_progress_goes_to_standard_error(run: Any, runtime: FakeRuntime) -> None:
    caller = runtime.bench.caller
    caller.script(notebooks.GET, [notebook(NB, sources=(source(S1),))])
    caller.script(chat.ASK, [snapshot("pondering", kind=2, final=False), snapshot("Fog.")])
    caller.script(chat.LIST_CHATS, None)
    ran = run("call", "ask_question", "question=?", f"notebook={NB}")
    assert ran.code == 0
    assert ran.value["answer"] == "Fog."
    assert ran.err.startswith("thinking: pondering\n")


def test_the_shell_may_do_everything_but_still_must_confirm(run: Any, runtime: FakeRuntime) -> None:
    runtime.bench.caller.script(notebooks.GET, [notebook(NB, sources=(source(S1),))])
    runtime.bench.caller.script(sources.DELETE, [])
    arguments = ["call", "delete_source", f"notebook={NB}", f"sources={S1}"]
    assert run(*arguments).value["status"] == "needs_confirmation"
    assert run(*arguments, "confirm=false").value["status"] == "needs_confirmation"
    assert run(*arguments, "confirm=true").value["status"] == "deleted"


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (NotFound("nothing there: [red]x[/red] ü"), 1),
        (Network("offline"), 1),
        (ChromeNotFound("no browser"), 3),
        (ChromeLost("gone"), 3),
        (SignedOut("signed out"), 4),
        (AccessGated("gated"), 4),
    ],
)
def test_an_error_is_one_json_value_as_well(run: Any, runtime: FakeRuntime, failure: NlmError, code: int) -> None:
    runtime.bench.caller.script(notebooks.LIST, failure)
    ran = run("call", "list_notebooks")
    assert ran.code == code
    assert (ran.value["code"], ran.value["message"]) == (failure.code, failure.message)
    assert set(ran.value) >= {"code", "message", "hint", "outcome", "retriable"}
    assert ran.err.startswith(f"{failure.code}: {failure.message}")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["make_coffee"], "there is no tool"),
        (["list_notebooks", "limt=5"], "did you mean limit?"),
        (["list_notebooks", "limit=many"], "valid integer"),
        (["add_url_source", "url=x"], "add_source"),
        (["delete_notebook", "confirm=yes", f"notebook={NB}"], "valid boolean"),
    ],
)
def test_what_a_tool_refuses_is_an_error_of_the_tool(
    run: Any, runtime: FakeRuntime, arguments: list[str], said: str
) -> None:
    ran = run("call", *arguments)
    assert (ran.code, ran.value["code"]) == (1, "INVALID_ARGUMENT")
    assert said in ran.value["message"]
    assert runtime.bench.contexts == 0


def test_what_nobody_foresaw_is_an_error_too(run: Any, runtime: FakeRuntime) -> None:
    runtime.bench.caller.script(notebooks.LIST, ValueError("a secret"))
    ran = run("call", "list_notebooks")
    assert (ran.code, ran.value["code"]) == (1, "INTERNAL")
    assert "a secret" not in ran.out + ran.err


def test_an_interrupt(run: Any, runtime: FakeRuntime) -> None:
    runtime.bench.caller.script(notebooks.LIST, KeyboardInterrupt())
    ran = run("call", "list_notebooks")
    assert (ran.code, ran.out) == (130, "")


def test_other_ends_are_not_taken_for_an_interrupt() -> None:
    with pytest.raises(ValueError, match="x"):
        cli.ended(ValueError("x"))
    with pytest.raises(BaseExceptionGroup):
        cli.ended(BaseExceptionGroup("", [BrokenPipeError(), ValueError("x")]))
    assert cli.ended(BaseExceptionGroup("", [ValueError("x"), BaseExceptionGroup("", [KeyboardInterrupt()])])) == 130


# Where Chrome is


@pytest.mark.parametrize(
    ("arguments", "environ", "expected"),
    [
        ([], {}, ("auto", None, False)),
        (["--endpoint", "http://127.0.0.1:9", "--account", "1"], {}, ("http://127.0.0.1:9", "1", False)),
        ([], {"NLM_CDP_ENDPOINT": "ws://x", "NLM_CDP_ACCOUNT": "a@b.test"}, ("ws://x", "a@b.test", False)),
        (["--endpoint=auto", "--demo"], {"NLM_CDP_ENDPOINT": "ws://x"}, ("auto", None, True)),
    ],
)
def test_what_the_options_and_the_environment_say(
    runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch, arguments: list[str], environ: dict[str, str], expected: Any
) -> None:
    for name in ("NLM_CDP_ENDPOINT", "NLM_CDP_ACCOUNT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    runtime.bench.caller.script(notebooks.LIST, [])
    assert main(["call", *arguments, "list_notebooks"]) == 0
    chosen = runtime.options
    assert chosen is not None
    assert (chosen.endpoint, chosen.account, chosen.demo) == expected
    assert set(chosen.scopes) == {"read", "chat", "write", "delete", "share"}


# rpc


def test_a_raw_call(run: Any, runtime: FakeRuntime) -> None:
    ran = run("rpc", "wXbhsf", '[null, 1, "ü"]')
    assert (ran.code, ran.value) == (0, {"id": "wXbhsf", "params": [None, 1, "ü"], "notebook": None})
    assert run("rpc", "x", "[]", "--source-path", f"/notebook/{NB}").value["notebook"] == NB
    runtime.row = SignedOut("signed out")
    ran = run("rpc", "x", "[]")
    assert (ran.code, ran.value["code"]) == (4, "SIGNED_OUT")


# wire


def body_file(tmp_path: Path, *frames: list[Any]) -> str:
    file = tmp_path / "body.txt"
    file.write_bytes(frame_body([list(frames)]).encode())
    return str(file)


def test_a_body_is_decoded(run: Any, tmp_path: Path) -> None:
    row = notebook(NB, TITLE)
    row.extend([None] * 8 + ["new"])
    file = body_file(tmp_path, answer_frame("wXbhsf", [[row]]), answer_frame("rLM1Ne", None, [5]))
    ran = run("wire", "decode", file)
    assert (ran.code, ran.err) == (0, "")
    listed, got = ran.value["replies"]
    assert (listed["rpc"], listed["outcome"]) == ("wXbhsf", "data")
    assert listed["unclaimed"] == [".1[0].20: string"]
    assert (got["outcome"], got["status"]) == ("rejected", 5)
    assert [reply["rpc"] for reply in run("wire", "decode", "--rpc", "rLM1Ne", file).value["replies"]] == ["rLM1Ne"]


@pytest.mark.parametrize(
    ("frames", "outcome"),
    [
        ([answer_frame("wXbhsf", ["x"])], "drift"),
        ([answer_frame("zzzzzz", [])], "drift"),
        ([answer_frame("wXbhsf", None)], "empty"),
        ([["di", 1]], "not_rpc"),
    ],
)
def test_a_body_that_holds_something_else(run: Any, tmp_path: Path, frames: list[Any], outcome: str) -> None:
    ran = run("wire", "decode", body_file(tmp_path, *frames))
    assert ran.code == 0
    assert [reply["outcome"] for reply in ran.value["replies"]] == [outcome]


@pytest.mark.parametrize("body", [b"", b"<!doctype html>", b"\xff\xfe\x00", b')]}\'\n\n12\n[["wrb.fr"'])
def test_no_body_at_all(run: Any, tmp_path: Path, body: bytes) -> None:
    file = tmp_path / "body"
    file.write_bytes(body)
    for more in ((), ("--rpc", "wXbhsf"), ("--rpc", "chat")):
        ran = run("wire", "decode", str(file), *more)
        assert ran.code == 0
        assert isinstance(ran.value, dict)


def test_a_stream_is_decoded(run: Any, tmp_path: Path) -> None:
    row = snapshot("Fog [1] 日本", citation(S1, "one blast 😀"), follow_ups=("Why?",))
    ran = run("wire", "decode", "--rpc", "chat", body_file(tmp_path, answer_frame(None, row)))
    assert ran.code == 0
    assert (ran.value["outcome"], ran.value["answer"], ran.value["truncated"]) == ("data", "Fog [1] 日本", False)
    assert ran.value["citations"][0]["excerpt"] == "one blast 😀"
    assert ran.value["follow_ups"] == ["Why?"]


@pytest.mark.parametrize(
    ("rpc", "row", "variant"),
    [
        ("s0tc2d", [NB, [[None, None, None, [None, "New"]]]], "rename"),
        ("s0tc2d", [NB, [[None] * 7 + [[[1], [4]]]]], "chat"),
        ("s0tc2d", [NB, [[None] * 8 + [[[1]]]]], "view"),
        ("rLM1Ne", [NB, None, [2], None, 0], "GetProject"),
        ("chat", [[[["a"]]], "?", None, [2, None, [1], [1]], None, None, None, NB, 1], "GenerateFreeFormStreamed"),
        ("rLM1Ne", [NB, None, [2], None, 0, None, "new"], None),
        ("zzzzzz", [], None),
    ],
)
def test_a_request_is_classified(run: Any, rpc: str, row: list[Any], variant: str | None) -> None:
    ran = run("wire", "classify", "--rpc", rpc, json.dumps(row))
    assert ran.code == 0
    assert ran.value["variant"] == variant
    assert (ran.value["reencoded"] == row) == (variant is not None)
    assert ran.value["unclaimed"] == ([".7: string"] if row[-1:] == ["new"] else [])


def test_the_registry(run: Any) -> None:
    ran = run("wire", "list")
    assert ran.code == 0
    assert [(call["id"], call["method"], call["variant"]) for call in ran.value] == [
        (rpc.id, rpc.method, rpc.variant or None) for rpc in RPCS
    ]


# In a process of its own


def process(*arguments: str, capture_output: bool = True, **options: Any) -> subprocess.CompletedProcess[bytes]:
    environ = os.environ | {"PYTHONPATH": str(Path(nlm_cdp.__file__).parent.parent), "PYTHONIOENCODING": "cp1252"}
    command = [sys.executable, "-m", "nlm_cdp.cli", *arguments]
    done: subprocess.CompletedProcess[bytes] = subprocess.run(
        command, env=environ, check=False, timeout=60, capture_output=capture_output, **options
    )
    return done


def test_a_code_page_decides_nothing(tmp_path: Path) -> None:
    body = frame_body([[answer_frame(None, snapshot(TITLE))]]).encode()
    done = process("wire", "decode", "--rpc", "chat", "-", input=body)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout.decode("utf-8"))["answer"] == TITLE
    assert b"\r" not in done.stdout
    done = process(
        "wire",
        "classify",
        "--rpc",
        "s0tc2d",
        "-",
        input=json.dumps([NB, [[None] * 3 + [[None, TITLE]]]], ensure_ascii=False).encode(),
    )
    assert json.loads(done.stdout.decode("utf-8"))["request"]["change"]["title"] == TITLE
    assert process("serve", "--help").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--scopes", "read,destroy"], "unknown scope: destroy"),
        (["--toolsets", "notebooks,poems"], "unknown toolset: poems"),
    ],
)
def test_serving_what_there_is_not(arguments: list[str], said: str) -> None:
    done = process("serve", *arguments, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().strip() == f"nlm-cdp: {said}"


def test_serving_needs_no_browser_to_begin_with(tmp_path: Path) -> None:
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "delete_notebook"}},
    ]
    lines = "".join(json.dumps(message) + "\n" for message in messages).encode()
    done = process("serve", "--endpoint", str(tmp_path / "no-chrome"), "--scopes", "read,write", input=lines)
    assert (done.returncode, done.stderr) == (0, b"")
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines())}
    names = {tool["name"] for tool in answers[2]["tools"]}
    assert names >= {"list_notebooks", "add_source"}
    assert not names & {"ask_question", "delete_notebook"}
    assert answers[3]["structuredContent"]["code"] == "SCOPE"


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX descriptors")
@pytest.mark.parametrize("descriptor", [0, 1])
def test_serving_without_standard_streams(descriptor: int) -> None:
    done = process("serve", capture_output=False, stderr=subprocess.PIPE, preexec_fn=lambda: os.close(descriptor))
    assert done.returncode == 2
    assert b"open standard" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a closed pipe shows otherwise there")
def test_a_reader_that_goes_away_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = process("wire", "list", capture_output=False, stdout=writing, stderr=subprocess.PIPE)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


# browser


@pytest.mark.parametrize(
    ("options", "does", "running", "code"),
    [
        ((), "start", True, 0),
        (("--headless",), "start", True, 0),
        (("--status",), "status", True, 0),
        (("--status",), "status", False, 3),
        (("--stop",), "stop", False, 0),
    ],
)
def test_browser(
    run: Any, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], does: str, running: bool, code: int
) -> None:
    did: list[Any] = []

    def fake(name: str) -> Any:
        async def work(machine: Any, **given: Any) -> own.Report:
            did.append((name, given))
            return own.Report(running=running, text=f"It did {name}.")

        return work

    for name in ("start", "status", "stop"):
        monkeypatch.setattr(own, name, fake(name))
    ran = run("browser", *options)
    assert (ran.code, ran.out, ran.err) == (code, f"It did {does}.\n", "")
    assert did == [(does, {"headless": "--headless" in options} if does == "start" else {})]


def test_browser_without_one_installed(run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("NLM_CDP_CHROME", str(tmp_path / "absent"))
    ran = run("browser")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith("CHROME_NOT_FOUND: NLM_CDP_CHROME names")
    assert "--headless" not in run("browser", "--help").out
    (tmp_path / "file").touch()
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path / "file"))
    ran = run("browser")
    assert (ran.code, ran.out) == (1, "")
    assert str(tmp_path / "file") in ran.err


# audit


def test_audit_shows_and_clears_the_record(run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path))
    empty = run("audit")
    assert (empty.code, empty.err) == (0, "")
    assert empty.out == f"Nothing is on record.\n\nThe record is in {tmp_path / 'audit.jsonl'}\n"
    assert list(tmp_path.iterdir()) == []
    record = audit()
    assert record is not None
    record(Exchange("CCqFvf", "CreateProject", "create", sent=5))
    record.now = lambda: 1_600_000_000.0
    record(Exchange("wXbhsf", "List", "read"))
    rows = [json.loads(line) for line in run("audit", "--json").out.splitlines()]
    assert [row["rpc"] for row in rows] == ["CCqFvf", "wXbhsf"]
    recent = [json.loads(line) for line in run("audit", "--json", "--since", "1d").out.splitlines()]
    assert [row["rpc"] for row in recent] == ["CCqFvf"]
    text = run("audit", "--since", "1h").out
    assert "1 requests" in text
    assert "CreateProject  create  ok" in text
    monkeypatch.setenv("NLM_CDP_AUDIT", "0")
    assert "NLM_CDP_AUDIT=0 is set" in run("audit").out
    cleared = run("audit", "--clear")
    assert (cleared.code, cleared.out) == (0, "The record is gone.\n")
    assert run("audit", "--json").out == ""


def test_audit_of_a_record_that_cannot_be_read(run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path))
    (tmp_path / "audit.jsonl").mkdir()
    for options in ((), ("--json",), ("--clear",)):
        ran = run("audit", *options)
        assert (ran.code, ran.out) == (1, "")
        assert "cannot be read or removed" in ran.err
    monkeypatch.setenv("NLM_CDP_DATA_DIR", "relative")
    assert run("audit").code == 1
