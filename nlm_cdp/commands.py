"""The commands of nlm-cdp, each from its arguments to its exit code. Each imports only what it needs, when it runs."""

from __future__ import annotations

import gc
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from nlm_cdp.errors import InvalidArgument
from nlm_cdp.granted import DEFAULT_TOOLSETS, OTHER_TOOLSETS, SCOPES
from nlm_cdp.readable import FAILED, OK, USAGE

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable

    from nlm_cdp.runtime import Options, Runtime

# serve


def run_serve(args: argparse.Namespace) -> int:
    try:
        wire = os.dup(1)  # what prints while it is imported must not reach the client
    except OSError:
        return usage("serving takes an open standard output")
    os.dup2(2, 1)
    gc.disable()  # importing makes no garbage worth collecting; it is switched on again before serving
    import trio

    from nlm_cdp.application import Application
    from nlm_cdp.mcp.server import server_of
    from nlm_cdp.mcp.stdio import serve_stdio
    from nlm_cdp.runtime import open_runtime

    scopes = split(args.scopes)
    if unknown := set(scopes) - {*SCOPES}:
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

    async def call(runtime: Runtime) -> Any:
        return await Application(runtime.context, scopes=SCOPES, toolsets=("all",)).run(args.tool, arguments, note)

    return attached_run(options(args, scopes=SCOPES, toolsets=("all",)), call)


def run_rpc(args: argparse.Namespace) -> int:
    from nlm_cdp.local.traffic import TOOL

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

    from nlm_cdp.errors import NlmError
    from nlm_cdp.local.audit import VARIABLE, Audit, is_off
    from nlm_cdp.local.summary import begin, summary
    from nlm_cdp.readable import error_text, exit_code

    try:
        since = begin(args.since, time.time()) if args.since else 0.0
    except ValueError as exc:
        return usage(str(exc))
    try:
        audit = Audit.here()
        if args.clear:
            audit.clear()
            print("The record is gone.")
        elif args.json:
            for line in audit.lines(since):
                print(json.dumps(line))
        else:
            off = f"\nNothing new is written: {VARIABLE}=0 is set." if is_off() else ""
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
