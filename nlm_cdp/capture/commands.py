"""The commands of nlm-capture, each from its arguments to its exit code.

Standard output carries results alone; what happens meanwhile goes to standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from nlm_cdp import overrides
from nlm_cdp.capture import har
from nlm_cdp.capture.calls import Recorded, calls_of
from nlm_cdp.capture.drift import Class, Comparison, Report
from nlm_cdp.capture.exchange import Exchange
from nlm_cdp.capture.fixture import CLOCK, Fixture, parse, problems, redactor
from nlm_cdp.capture.folder import Folder
from nlm_cdp.capture.matching import Match, match
from nlm_cdp.capture.sinks import Filter, Raw, Writer, line, told
from nlm_cdp.capture.terminal import follow_text, report_text
from nlm_cdp.capture.watching import Watching, run, say, seconds
from nlm_cdp.errors import Ambiguous, InvalidArgument, NlmError, NotFound
from nlm_cdp.local.files import write_whole
from nlm_cdp.readable import FAILED, OK, error_text

BREAKING, NOT_LOOKED = 1, 4
"""Exit codes of `drift`, beside 0 and 2."""


def watched(args: argparse.Namespace) -> Watching:
    return Watching(args.endpoint, args.tab, seconds(args.within), args.demo)


def wanted(args: argparse.Namespace) -> Filter:
    return Filter(frozenset(args.rpc), overrides.load())


def writer(args: argparse.Namespace, *, origin: str) -> Writer:
    folder = Folder(args.out, args.scenario, overrides.load())
    simulated = origin == "simulator"
    key = args.key or ("simulator" if simulated else secrets.token_hex())
    now = datetime.fromtimestamp(CLOCK, UTC) if simulated else datetime.now(UTC)
    return Writer(
        folder=folder,
        redact=redactor(key.encode()),
        origin="simulator" if simulated else "live",
        captured=now.date().isoformat(),
        wanted=wanted(args),
        say=say,
    )


# record, follow


def run_record(args: argparse.Namespace) -> int:
    raw = confirmed(args.raw_to) if args.raw_to is not None else None
    sink = writer(args, origin="simulator" if args.demo else "live")

    def ended(exchange: Exchange) -> None:
        if raw is not None:
            raw.ended(exchange)
        sink.ended(exchange)

    why = run(watched(args), ended, sink.begun)
    say(sink.summary + (f"; it ended because {why}" if why else ""))
    return FAILED if sink.refused else OK


def confirmed(folder: Path) -> Raw:
    """Where raw captures go, once the user has typed what that means."""
    raw = Raw(folder)
    say(
        f"{folder} will hold your notebooks' contents and this session's token, unredacted. Type 'unredacted' to go on:"
    )
    if sys.stdin.readline().strip() != "unredacted":
        raise InvalidArgument("nothing is recorded: the word was not typed")
    return raw


def run_follow(args: argparse.Namespace) -> int:
    only, colour = wanted(args), sys.stdout.isatty() and "NO_COLOR" not in os.environ

    def ended(exchange: Exchange) -> None:
        for call in filter(only, calls_of(exchange)):
            found = told(call, only.overrides)
            if args.json:
                print(json.dumps(found, ensure_ascii=False), flush=True)
            else:
                print(follow_text(line(call, only.overrides), found, colour=colour), flush=True)

    run(watched(args), ended)
    return OK


# drift, learn


def run_drift(args: argparse.Namespace) -> int:
    try:
        comparison, about = compared(args)
    except NlmError as exc:
        if isinstance(exc, InvalidArgument):
            raise
        say(f"nlm-capture: {error_text(exc)}")
        return NOT_LOOKED
    report = comparison.report()
    if args.html is not None:
        from nlm_cdp.capture.html import page

        write_whole(args.html, page(report, about).encode())
    print(json.dumps(report.as_json(), ensure_ascii=False, indent=2) if args.json else report_text(report, about))
    return verdict(report)


def verdict(report: Report) -> int:
    if not report.looked:
        return NOT_LOOKED
    return BREAKING if report.kind in (Class.BREAKING, Class.GONE) else OK


def compared(args: argparse.Namespace) -> tuple[Comparison, str]:
    """What was watched or read, compared; and what that was."""
    comparison, only = Comparison(overrides.load()), wanted(args)
    if args.live or args.demo:

        def ended(exchange: Exchange) -> None:
            for call in filter(only, calls_of(exchange)):
                say(line(call, only.overrides))
                comparison.add(call)

        run(watched(args), ended)
        return comparison, "a notebook tab"
    for call in filter(only, recorded(args.folder)):
        comparison.add(call)
    return comparison, str(args.folder)


def recorded(folder: Path) -> Iterator[Recorded]:
    return (fixture.recorded for _, fixture in fixtures(folder))


def fixtures(folder: Path) -> Iterator[tuple[Path, Fixture]]:
    """The fixtures of a folder. Raises NotFound where there are none."""
    paths = sorted(folder.glob("*/*.json"))
    if not paths:
        raise NotFound(f"there are no fixtures in {folder}", hint="Record some with nlm-capture record.")
    for path in paths:
        try:
            yield path, parse(path.read_text(encoding="utf-8"))
        except (InvalidArgument, UnicodeDecodeError) as exc:
            raise InvalidArgument(f"{path}: {exc}") from None


def run_learn(args: argparse.Namespace) -> int:
    comparison, _ = compared(args)
    path = overrides.location()
    if path is None:
        raise InvalidArgument(f"overrides are off: {overrides.VARIABLE} is empty")
    found: dict[str, str] = {}
    for candidate in comparison.candidates.values():
        said = match(candidate, comparison.answered)
        if not isinstance(said, Match):
            print(f"{candidate.id}: {said}")
        elif said.id in found:
            raise Ambiguous(f"{candidate.id} and {found[said.id]} both have the shape of {said.id}: nothing is written")
        else:
            found[said.id] = candidate.id
            names = ", ".join(rpc.name for rpc in said.rpcs)
            print(f"{candidate.id}: does the work of {names} ({candidate.answered} of {candidate.calls} calls match)")
    if not found:
        print("Nothing was learned.")
        return FAILED if comparison.candidates else OK
    if not args.yes:
        say(f"Write this to {path}, so that this machine uses the new ids? [y/N]")
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            return FAILED
    overrides.save(path, {**comparison.overrides.ids, **found})
    print(f"Written to {path}. Servers that start now use it; reset_session makes a running one use it too.")
    return OK


# import, export, check


def run_import(args: argparse.Namespace) -> int:
    sink = writer(args, origin="live")
    for exchange in har.exchanges(read(args.har)):
        sink.begun(exchange)
        sink.ended(exchange)
    say(sink.summary)
    return FAILED if sink.refused else OK


def run_export(args: argparse.Namespace) -> int:
    found = har.har(fixture for _, fixture in fixtures(args.folder))
    write_whole(args.har, (json.dumps(found, indent=1) + "\n").encode())
    say(f"{len(found['log']['entries'])} entries in {args.har}")
    return OK


def run_check(args: argparse.Namespace) -> int:
    paths = sorted(args.folder.glob("*/*.json"))
    wrong = 0
    for path in paths:
        for problem in problems(read(path), path.parent.name):
            print(f"{path}: {problem}")
            wrong += 1
    say(f"{len(paths)} fixtures, {wrong} problems")
    return FAILED if wrong or not paths else OK


def read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise InvalidArgument(f"{path} cannot be read: {getattr(exc, 'strerror', None) or 'it is not UTF-8'}") from None
