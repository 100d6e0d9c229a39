"""nlm-capture: record what the web app sends, look at it, and say what of it is not as declared."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from nlm_cdp import __version__
from nlm_cdp.capture import commands
from nlm_cdp.capture.watching import say
from nlm_cdp.errors import InvalidArgument, NlmError
from nlm_cdp.readable import INTERRUPTED, USAGE, error_text, exit_code
from nlm_cdp.text import print_utf8


def main(argv: list[str] | None = None) -> int:
    print_utf8()
    args = parser().parse_args(argv)
    try:
        code: int = args.run(args)
    except NlmError as exc:
        say(f"nlm-capture: {error_text(exc)}")
        for tab in exc.details.get("tabs", ()):
            say(f"  {tab}")
        return USAGE if isinstance(exc, InvalidArgument) else exit_code(exc)
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def parser() -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(prog="nlm-capture", description=(__doc__ or "").partition("\n")[0])
    root.add_argument("--version", action="version", version=f"nlm-capture {__version__}")
    names = root.add_subparsers(required=True, metavar="command")

    watching = argparse.ArgumentParser(add_help=False)
    endpoint = os.environ.get("NLM_CDP_ENDPOINT", "auto")
    watching.add_argument("--endpoint", default=endpoint, help="auto, http://127.0.0.1:PORT, ws://…, or a folder")
    watching.add_argument("--tab", help="which notebook tab: its number, or part of its address")
    watching.add_argument("--for", dest="within", metavar="90s|10m", help="how long; else until Ctrl-C")
    watching.add_argument("--demo", action="store_true", help="click through the simulated web app instead")
    watching.add_argument("--rpc", action="append", default=[], metavar="ID", help="only these: ids or methods")

    writing = argparse.ArgumentParser(add_help=False)
    writing.add_argument("--out", type=Path, default=Path("fixtures"), help="the folder of fixtures")
    writing.add_argument("--scenario", default="", help="a name for what was done; the first part of the file names")
    writing.add_argument(
        "--key", default=os.environ.get("NLM_CAPTURE_KEY"), help="same key, same placeholders; else a new one"
    )

    def command(
        name: str,
        work: Callable[[argparse.Namespace], int],
        summary: str,
        *parents: argparse.ArgumentParser,
        folder: bool = False,
    ) -> argparse.ArgumentParser:
        sub = names.add_parser(name, help=summary, description=summary, parents=parents)
        sub.set_defaults(run=work)
        if folder:
            sub.add_argument("folder", type=Path, nargs="?", default=Path("fixtures"), help="a folder of fixtures")
        return sub

    record = command("record", commands.run_record, "Record a notebook tab into redacted fixtures.", watching, writing)
    record.add_argument(
        "--raw-to", type=Path, metavar="DIR", help="also keep everything unredacted, for your eyes only"
    )
    follow = command("follow", commands.run_follow, "Show a notebook tab's traffic, decoded, as it happens.", watching)
    follow.add_argument("--json", action="store_true", help="one JSON object a line")
    drift = command("drift", commands.run_drift, "Say what was seen that is not as declared.", watching, folder=True)
    drift.add_argument("--live", action="store_true", help="watch a notebook tab instead of reading fixtures")
    drift.add_argument("--json", action="store_true")
    drift.add_argument("--html", type=Path, metavar="FILE", help="write the report as a page of its own")
    learn = command(
        "learn", commands.run_learn, "Find the new id of a call whose old one is gone.", watching, folder=True
    )
    learn.add_argument("--live", action="store_true", help="watch a notebook tab instead of reading fixtures")
    learn.add_argument("--yes", action="store_true", help="write what was found without asking")
    imported = command("import", commands.run_import, "Turn a HAR file into redacted fixtures.", writing)
    imported.add_argument("har", type=Path, metavar="FILE.har")
    imported.add_argument("--rpc", action="append", default=[], metavar="ID", help="only these: ids or methods")
    export = command("export", commands.run_export, "Write fixtures as a HAR file.", folder=True)
    export.add_argument("--har", type=Path, required=True, metavar="FILE.har")
    command(
        "check", commands.run_check, "Check that fixtures decode, are canonical and hold nothing personal.", folder=True
    )
    return root


if __name__ == "__main__":
    sys.exit(main())
