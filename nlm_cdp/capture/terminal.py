"""Reports for a terminal. Pure: texts in, text out."""

from __future__ import annotations

import json
from typing import Any

from nlm_cdp.capture.drift import Class, Report

RED, YELLOW, DIM, PLAIN = "\x1b[31;1m", "\x1b[33;1m", "\x1b[2m", "\x1b[0m"
WIDE = 2000


def report_text(report: Report, about: str) -> str:
    """What changed, the worst first; then what was not seen."""
    if not report.looked:
        why = "this browser is signed out" if report.signed_out else "no calls were seen"
        return f"Could not look: {why}."
    lines = []
    for kind in Class:
        for entry in report.changed:
            if entry.kind is kind:
                lines.append(f"{kind:9} {entry.name}")
                lines += [
                    f"          {change.where} {change.path}".rstrip() + f": {change.what}"
                    for change in entry.changes.values()
                ]
    changes = sum(len(entry.changes) for entry in report.changed)
    verdict = f"{changes} change{'s' * (changes != 1)}" if changes else "No drift"
    seen = sum(1 for entry in report.entries if entry.calls)
    lines.append(f"{verdict} in {report.looked} calls of {seen} kinds ({about}).")
    if report.overrides:
        lines.append(f"Overrides in force: {', '.join(f'{ours} → {new}' for ours, new in report.overrides.items())}.")
    if report.unseen:
        lines.append(f"Not seen, which says nothing about them: {len(report.unseen)} declared calls.")
    return "\n".join(lines)


def follow_text(head: str, found: dict[str, Any], *, colour: bool) -> str:
    """One call: its line, then what was asked, what came, and whatever does not fit the declarations."""

    def painted(text: str, paint: str) -> str:
        return f"{paint}{text}{PLAIN}" if colour else text

    lines = [head, painted(f"  asked    {short(found['request'])}", DIM)]
    if found["nearest"]:
        lines.append(painted(f"  UNCLAIMED request; nearest: {found['nearest']['call']}", YELLOW))
        lines += [painted(f"    {path}", YELLOW) for path in found["nearest"]["differs"]]
    if found["refused"]:
        lines.append(painted(f"  refused  {found['refused']['name']}", RED))
    elif found["response"] is not None:
        lines.append(painted(f"  answered {short(found['response'])}", DIM))
    elif found["rows"]:
        lines.append(painted(f"  answered {short(found['rows'][-1])}", DIM))
    if found["failure"]:
        lines.append(painted(f"  DOES NOT DECODE {found['failure']}", RED))
    lines += [painted(f"  UNCLAIMED {path}", YELLOW) for path in found["unclaimed"]]
    lines += [painted(f"  FRAMING {fault}", YELLOW) for fault in found["framing"]]
    if found["lost"]:
        lines.append(painted(f"  LOST {found['lost']}", YELLOW))
    return "\n".join(lines)


def short(value: Any) -> str:
    """On one line, and not for ever; control characters of somebody's text must not reach the terminal."""
    text = json.dumps(value, ensure_ascii=False)
    text = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
    return text if len(text) <= WIDE else f"{text[:WIDE]}… ({len(text):,} characters)"
