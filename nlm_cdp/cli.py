"""nlm-cdp: the MCP server, the demo, and the tools of whoever repairs it. Standard output carries results alone."""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from nlm_cdp import __version__
from nlm_cdp.errors import InvalidArgument
from nlm_cdp.readable import FAILED, INTERRUPTED, OK, USAGE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nlm_cdp.runtime import Options, Runtime


def main(argv: list[str] | None = None) -> int:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a code page must not decide what a title may hold
            stream.reconfigure(encoding="utf-8", errors="replace", newline="\n")
    args = parser().parse_args(argv)
    try:
        code: int = args.run(args)
        print(end="", flush=True)  # a reader that is gone shows here, not when the interpreter ends
    except (KeyboardInterrupt, BrokenPipeError, BaseExceptionGroup) as exc:
        return ended(exc)
    except InvalidArgument as exc:
        return usage(f"{exc.message}. {exc.hint}")
    return code


def ended(error: BaseException) -> int:
    """The exit code of an end from outside: an interrupt, or a reader of our output that went away. Raises others."""
    group = error if isinstance(error, BaseExceptionGroup) else BaseExceptionGroup("", [error])
    if group.subgroup(KeyboardInterrupt) is not None:
        return INTERRUPTED
    if group.split(BrokenPipeError)[1] is not None:
        raise error
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return OK


def parser() -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(prog="nlm-cdp", description="Gemini Notebook as MCP tools, through your own Chrome.")
    root.add_argument("--version", action="version", version=f"nlm-cdp {__version__}")
    commands = root.add_subparsers(required=True, metavar="command")

    def command(name: str, run: Callable[[argparse.Namespace], int], summary: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=summary, description=summary)
        sub.set_defaults(run=run)
        return sub

    attaching = argparse.ArgumentParser(add_help=False)
    attaching.add_argument(
        "--endpoint",
        default=os.environ.get("NLM_CDP_ENDPOINT", "auto"),
        help="auto, http://127.0.0.1:PORT, ws://…, or a Chrome user-data folder",
    )
    attaching.add_argument("--account", default=os.environ.get("NLM_CDP_ACCOUNT"), help="authuser index or e-mail")
    attaching.add_argument(
        "--files-root", default=os.environ.get("NLM_CDP_FILES_ROOT"), help="folder for uploads and downloads"
    )
    attaching.add_argument("--demo", action="store_true", help="use the built-in simulator and a throwaway Chromium")

    def attached(name: str, run: Callable[[argparse.Namespace], int], summary: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=summary, description=summary, parents=[attaching])
        sub.set_defaults(run=run)
        return sub

    serve = attached("serve", run_serve, "Run the MCP server on standard input and output.")
    serve.add_argument(
        "--scopes",
        default=os.environ.get("NLM_CDP_SCOPES", "read,chat,write"),
        help="of read, chat, write, delete, share",
    )
    serve.add_argument(
        "--toolsets",
        default=os.environ.get("NLM_CDP_TOOLSETS", ""),
        help="default: all but labels, sharing, library, account",
    )
    demo = command("demo", run_demo, "Play a tour against the simulator, as a real MCP client.")
    demo.add_argument("--json", action="store_true", help="one JSON object per step")
    sim = command("sim", run_sim, "Serve the simulator alone; print one JSON line about it.")
    sim.add_argument("--port", type=int, default=0)
    doctor = attached("doctor", run_doctor, "Check each step from Chrome to one real call, and say what to fix.")
    doctor.add_argument("--json", action="store_true")
    browser = command("browser", run_browser, "Start a browser with a profile of its own, to sign in to once.")
    instead = browser.add_mutually_exclusive_group()
    instead.add_argument("--status", action="store_true", help="say whether it runs; exit code 3 if not")
    instead.add_argument("--stop", action="store_true", help="close it; its profile stays")
    instead.add_argument("--headless", action="store_true", help=argparse.SUPPRESS)
    audit = command(
        "audit", run_audit, "Show what this computer sent to the service: never content, only what and when."
    )
    audit.add_argument("--json", action="store_true", help="one JSON object for each request")
    audit.add_argument("--since", default="", help="30m, 12h, 1d, 2w, or a date")
    audit.add_argument("--clear", action="store_true", help="remove the record")
    call = attached("call", run_call, "Run one tool and print its structured result.")
    call.add_argument("tool")
    call.add_argument("arguments", nargs="*", help="key=value …, or one JSON object")
    rpc = attached("rpc", run_rpc, "Send one raw call and print the reply's row.")
    rpc.add_argument("id")
    rpc.add_argument("params", help="JSON array")
    rpc.add_argument("--source-path", default="/")
    wire = command("wire", run_usage, "Read recorded payloads.")
    kinds = wire.add_subparsers(required=True, metavar="what")
    for name, run, summary in (
        ("decode", run_wire_decode, "Decode a raw response body."),
        ("classify", run_wire_classify, "Name the call whose request a row is."),
        ("list", run_wire_list, "Print the registry of calls."),
    ):
        sub = kinds.add_parser(name, help=summary, description=summary)
        sub.set_defaults(run=run)
        if name != "list":
            sub.add_argument("--rpc", required=name == "classify", help="rpc id; chat for the streamed answer")
            sub.add_argument("input", metavar="FILE|-" if name == "decode" else "PARAMS_JSON|-")
    return root


# serve


def run_serve(args: argparse.Namespace) -> int:
    try:
        wire = os.dup(1)  # what prints while it is imported must not reach the client
    except OSError:
        return usage("serving takes an open standard output")
    os.dup2(2, 1)
    gc.disable()  # importing makes no garbage worth collecting; it is switched on again before serving
    import trio

    from nlm_cdp.application import DEFAULT_TOOLSETS, OTHER_TOOLSETS, Application
    from nlm_cdp.runtime import open_runtime
    from nlm_cdp.server import server_of
    from nlm_cdp.stdio import serve_stdio

    scopes = split(args.scopes)
    if unknown := set(scopes) - {"read", "chat", "write", "delete", "share"}:
        return usage(f"unknown scope: {', '.join(sorted(unknown))}")
    toolsets = split(args.toolsets) or DEFAULT_TOOLSETS
    if unknown := set(toolsets) - {*DEFAULT_TOOLSETS, *OTHER_TOOLSETS, "all"}:
        return usage(f"unknown toolset: {', '.join(sorted(unknown))}")

    async def serve() -> int:
        async with open_runtime(options(args, scopes=scopes, toolsets=toolsets)) as runtime:
            application = Application(runtime.context, scopes=scopes, toolsets=toolsets, waiting=runtime.waiting)
            gc.freeze()
            gc.enable()
            try:
                await serve_stdio(server_of(application), stdout_fd=wire)
            except InvalidArgument as exc:  # there is no standard input or output
                return usage(exc.message)
        return OK

    return trio.run(serve, strict_exception_groups=True)


def run_demo(args: argparse.Namespace) -> int:
    import trio

    from nlm_cdp.demo import tour

    return trio.run(tour, args.json)


def run_sim(args: argparse.Namespace) -> int:
    import trio

    async def serve() -> None:
        from nlm_cdp.sim.simulator import simulator

        async with simulator(port=args.port) as service:
            about = {name: getattr(service, name) for name in ("port", "hosts", "ca", "spki", "chrome_flags")}
            print(json.dumps(about, default=str), flush=True)
            await trio.sleep_forever()

    trio.run(serve)
    return OK


# One call


def run_call(args: argparse.Namespace) -> int:
    from nlm_cdp.application import Application

    try:
        arguments = shell_arguments(args.arguments)
    except ValueError as exc:
        return usage(str(exc))
    scopes = ("read", "chat", "write", "delete", "share")

    async def call(runtime: Runtime) -> Any:
        return await Application(runtime.context, scopes=scopes, toolsets=("all",)).run(args.tool, arguments, note)

    return attached_run(options(args, scopes=scopes, toolsets=("all",)), call)


def run_rpc(args: argparse.Namespace) -> int:
    from nlm_cdp.traffic import TOOL

    try:
        params = json.loads(args.params)
    except (ValueError, RecursionError):
        params = None
    if not isinstance(params, list):
        return usage("PARAMS_JSON is not a JSON array")

    async def call(runtime: Runtime) -> Any:
        TOOL.set("rpc")
        session, _ = await runtime.open()
        return await session.raw(args.id, params, args.source_path.strip("/").removeprefix("notebook/") or None)

    return attached_run(options(args), call)


def run_doctor(args: argparse.Namespace) -> int:
    import trio

    from nlm_cdp.doctor import examine

    return trio.run(examine, options(args), args.json)


def run_browser(args: argparse.Namespace) -> int:
    from functools import partial

    import trio

    from nlm_cdp.browser import own
    from nlm_cdp.browser.machine import Machine
    from nlm_cdp.errors import NlmError
    from nlm_cdp.readable import NO_BROWSER, error_text, exit_code

    start = partial(own.start, headless=args.headless)
    try:
        report = trio.run(own.stop if args.stop else own.status if args.status else start, Machine.here())
    except NlmError as exc:
        print(error_text(exc), file=sys.stderr)
        return exit_code(exc)
    except OSError as exc:
        print(f"nlm-cdp: {exc.filename}: {exc.strerror}; no browser was started or closed", file=sys.stderr)
        return FAILED
    print(report.text)
    return OK if report.running or args.stop else NO_BROWSER


def run_audit(args: argparse.Namespace) -> int:
    import time

    from nlm_cdp.audit import VARIABLE, Audit
    from nlm_cdp.errors import NlmError
    from nlm_cdp.files import data_folder
    from nlm_cdp.readable import error_text, exit_code
    from nlm_cdp.summary import begin, summary

    try:
        since = begin(args.since, time.time()) if args.since else 0.0
    except ValueError as exc:
        return usage(str(exc))
    try:
        audit = Audit(data_folder() / "audit.jsonl")
        if args.clear:
            audit.clear()
            print("The record is gone.")
        elif args.json:
            for line in audit.lines(since):
                print(json.dumps(line))
        else:
            off = f"\nNothing new is written: {VARIABLE}=0 is set." if os.environ.get(VARIABLE) == "0" else ""
            print(f"{summary(audit.lines(since))}\n\nThe record is in {audit.path}{off}")
    except NlmError as exc:
        print(error_text(exc), file=sys.stderr)
        return exit_code(exc)
    except OSError as exc:
        print(f"nlm-cdp: the record cannot be read or removed: {exc.strerror} ({exc.filename})", file=sys.stderr)
        return FAILED
    return OK


def attached_run(chosen: Options, work: Callable[[Runtime], Awaitable[Any]]) -> int:
    """Run something against Chrome and print its result; an error's structured form goes to standard output too."""
    import trio

    from nlm_cdp.errors import NlmError
    from nlm_cdp.readable import error_result, error_text, exit_code
    from nlm_cdp.runtime import open_runtime, patiently

    async def run() -> tuple[Any, NlmError | None]:
        async with open_runtime(chosen) as runtime:
            try:
                return await patiently(lambda: work(runtime), note), None
            except NlmError as exc:
                return None, exc

    result, error = trio.run(run)
    if error is None:
        return printed(result)
    printed(error_result(error))
    print(error_text(error), file=sys.stderr)
    return exit_code(error)


def options(args: argparse.Namespace, scopes: tuple[str, ...] = (), toolsets: tuple[str, ...] = ()) -> Options:
    from nlm_cdp.runtime import Options

    return Options(
        endpoint=args.endpoint,
        account=args.account,
        demo=args.demo,
        scopes=scopes,
        toolsets=toolsets,
        files_root=args.files_root,
    )


def shell_arguments(words: list[str]) -> dict[str, Any]:
    """`key=value …` or one JSON object. Raises ValueError with what is wrong."""
    if len(words) == 1 and words[0].lstrip().startswith("{"):
        try:
            found = json.loads(words[0])
        except (ValueError, RecursionError):
            raise ValueError("the arguments are not valid JSON") from None
        return dict(found)
    out: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise ValueError(f"expected key=value or one JSON object, got {word[:40]!r}")
        if key in out:
            raise ValueError(f"{key[:40]} is given twice")
        out[key] = value
    return out


async def note(message: str) -> None:
    print(message, file=sys.stderr)


# wire


def run_wire_decode(args: argparse.Namespace) -> int:
    from nlm_cdp import overrides
    from nlm_cdp.inspection import decode_body, decode_chat

    try:
        body = sys.stdin.buffer.read() if args.input == "-" else read_file(args.input)
    except OSError as exc:
        return usage(f"cannot read {args.input}: {exc.strerror}")
    return printed(decode_chat(body) if args.rpc == "chat" else decode_body(body, args.rpc, overrides.load()))


def run_wire_classify(args: argparse.Namespace) -> int:
    from nlm_cdp import overrides
    from nlm_cdp.inspection import classify_params

    text = sys.stdin.buffer.read() if args.input == "-" else args.input
    try:
        params = json.loads(text)
    except (ValueError, RecursionError):
        return usage("PARAMS_JSON is not JSON")
    if not isinstance(params, list):
        return usage("PARAMS_JSON is not a JSON array")
    return printed(classify_params(args.rpc, params, overrides.load()))


def run_wire_list(args: argparse.Namespace) -> int:
    from nlm_cdp import overrides
    from nlm_cdp.inspection import registry

    return printed(registry(overrides.load()))


def read_file(name: str) -> bytes:
    with open(name, "rb") as file:  # noqa: PTH123
        return file.read()


def printed(value: Any) -> int:
    print(json.dumps(value, ensure_ascii=False, indent=2))
    return OK


def run_usage(args: argparse.Namespace) -> int:
    return usage("a subcommand is needed")


def usage(message: str) -> int:
    print(f"nlm-cdp: {message}", file=sys.stderr)
    return USAGE


def split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


if __name__ == "__main__":
    sys.exit(main())
