"""nlm-cdp: the MCP server, the demo, and the tools of whoever repairs it. Standard output carries results alone."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from nlm_cdp import __version__, commands
from nlm_cdp.errors import InvalidArgument
from nlm_cdp.granted import DEFAULT_SCOPES, OTHER_TOOLSETS, SCOPES
from nlm_cdp.readable import INTERRUPTED, OK
from nlm_cdp.text import print_utf8

if TYPE_CHECKING:
    from collections.abc import Callable


def main(argv: list[str] | None = None) -> int:
    print_utf8()
    args = parser().parse_args(argv)
    try:
        code: int = args.run(args)
        print(end="", flush=True)  # a reader that is gone shows here, not when the interpreter ends
    except (KeyboardInterrupt, BrokenPipeError, BaseExceptionGroup) as exc:
        return ended(exc)
    except InvalidArgument as exc:
        return commands.usage(f"{exc.message}. {exc.hint}")
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
    names = root.add_subparsers(required=True, metavar="command")

    def command(name: str, run: Callable[[argparse.Namespace], int], summary: str) -> argparse.ArgumentParser:
        sub = names.add_parser(name, help=summary, description=summary)
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
        sub = names.add_parser(name, help=summary, description=summary, parents=[attaching])
        sub.set_defaults(run=run)
        return sub

    serve = attached("serve", commands.run_serve, "Run the MCP server on standard input and output.")
    serve.add_argument(
        "--scopes",
        default=os.environ.get("NLM_CDP_SCOPES", ",".join(DEFAULT_SCOPES)),
        help=f"of {', '.join(SCOPES)}",
    )
    serve.add_argument(
        "--toolsets",
        default=os.environ.get("NLM_CDP_TOOLSETS", ""),
        help=f"default: all but {', '.join(OTHER_TOOLSETS)}",
    )
    demo = command("demo", commands.run_demo, "Play a tour against the simulator, as a real MCP client.")
    demo.add_argument("--json", action="store_true", help="one JSON object per step")
    sim = command("sim", commands.run_sim, "Serve the simulator alone; print one JSON line about it.")
    sim.add_argument("--port", type=int, default=0)
    doctor = attached(
        "doctor", commands.run_doctor, "Check each step from Chrome to one real call, and say what to fix."
    )
    doctor.add_argument("--json", action="store_true")
    browser = command("browser", commands.run_browser, "Start a browser with a profile of its own, to sign in to once.")
    instead = browser.add_mutually_exclusive_group()
    instead.add_argument("--status", action="store_true", help="say whether it runs; exit code 3 if not")
    instead.add_argument("--stop", action="store_true", help="close it; its profile stays")
    instead.add_argument("--headless", action="store_true", help=argparse.SUPPRESS)
    audit = command(
        "audit", commands.run_audit, "Show what this computer sent to the service: never content, only what and when."
    )
    audit.add_argument("--json", action="store_true", help="one JSON object for each request")
    audit.add_argument("--since", default="", help="30m, 12h, 1d, 2w, or a date")
    audit.add_argument("--clear", action="store_true", help="remove the record")
    call = attached("call", commands.run_call, "Run one tool and print its structured result.")
    call.add_argument("tool")
    call.add_argument("arguments", nargs="*", help="key=value …, or one JSON object")
    rpc = attached("rpc", commands.run_rpc, "Send one raw call and print the reply's row.")
    rpc.add_argument("id")
    rpc.add_argument("params", help="JSON array")
    rpc.add_argument("--source-path", default="/")
    wire = command("wire", commands.run_usage, "Read recorded payloads.")
    kinds = wire.add_subparsers(required=True, metavar="what")
    for name, run, summary in (
        ("decode", commands.run_wire_decode, "Decode a raw response body."),
        ("classify", commands.run_wire_classify, "Name the call whose request a row is."),
        ("list", commands.run_wire_list, "Print the registry of calls."),
    ):
        sub = kinds.add_parser(name, help=summary, description=summary)
        sub.set_defaults(run=run)
        if name != "list":
            sub.add_argument("--rpc", required=name == "classify", help="rpc id; chat for the streamed answer")
            sub.add_argument("input", metavar="FILE|-" if name == "decode" else "PARAMS_JSON|-")
    return root


if __name__ == "__main__":
    sys.exit(main())
