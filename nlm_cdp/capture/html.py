"""A drift report as one page to look at: it holds all of itself, and its policy lets it ask for nothing else.

Pure: a report in, a text out; equal reports give equal texts. All that came over the wire is escaped.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections import Counter
from functools import cache
from importlib.resources import files
from string import Template

from nlm_cdp.capture.drift import Change, Class, Entry, Report
from nlm_cdp.capture.outline import Line

INLINE = re.compile("<(style|script)>(.*?)</", re.DOTALL)
UNDECLARED = '<em class="soft">not declared</em>'
HEAD = '<div class="cell head"><span></span><span>cell</span><span>declared as</span><span>what came</span></div>'


def page(report: Report, about: str) -> str:
    """The report as a document of its own; `about` says what was compared."""
    template, policy = loaded()
    return template.substitute(
        policy=policy,
        verdict=safe(verdict(report)),
        tone=report.kind if report.looked else "none",
        facts=facts(report, about),
        empty=" hidden" * (not report.entries),
        filters=filters(report.entries),
        rows="\n".join(row(entry) for entry in sorted(report.entries, key=lambda entry: rank(entry.kind))),
        complete=" hidden" * (not report.unseen),
        missing=plural(len(report.unseen), "declared call"),
        unseen="".join(f"<li><code>{safe(name)}</code></li>" for name in report.unseen),
    )


@cache
def loaded() -> tuple[Template, str]:
    """The template, and a policy that runs its own style and script, known by their hashes, and no others."""
    text = files("nlm_cdp.capture").joinpath("drift.html").read_text(encoding="utf-8")
    hashes = {
        tag: base64.b64encode(hashlib.sha256(code.encode()).digest()).decode() for tag, code in INLINE.findall(text)
    }
    allowed = "".join(f"; {tag}-src 'sha256-{digest}'" for tag, digest in hashes.items())
    return Template(text), f"default-src 'none'{allowed}; img-src data:; base-uri 'none'; form-action 'none'"


def verdict(report: Report) -> str:
    """The one sentence on top."""
    if not report.looked:
        return f"Could not look: {'this browser was signed out' if report.signed_out else 'no calls were seen'}"
    found = Counter(change.kind for entry in report.entries for change in entry.changes.values())
    if not found:
        return f"No drift in {plural(report.looked, 'call')}"
    parts = ", ".join(f"{found[kind]} {kind}" for kind in Class if found[kind])
    return f"{plural(found.total(), 'change')}: {parts}"


def facts(report: Report, about: str) -> str:
    looked = f"{plural(report.looked, 'call')} of {plural(sum(1 for entry in report.entries if entry.calls), 'kind')}"
    swaps = ", ".join(f"<code>{safe(ours)}</code> → <code>{safe(new)}</code>" for ours, new in report.overrides.items())
    pairs = {"Compared": safe(about), "Looked at": looked, "Overrides in force": swaps or "none"}
    return "".join(f"<dt>{name}</dt><dd>{said}</dd>" for name, said in pairs.items())


def filters(entries: list[Entry]) -> str:
    found = Counter(entry.kind for entry in entries)
    return "".join(
        f'<label class="{name}"><input type="radio" name="only" id="only-{name}"'
        f"{' checked' * (name == 'all')}{' disabled' * (not count)}>{name} {count}</label>"
        for name, count in [("all", len(entries)), *((str(kind), found[kind]) for kind in Class)]
    )


def row(entry: Entry) -> str:
    """One call; below it, what is not as declared."""
    numbers = "".join(
        f'<td class="number{" zero" * (not count)}" data-what="{what}">{count}</td>'
        for what, count in (("seen", entry.calls), ("refused", entry.refused), ("lost", entry.lost))
    )
    more = f'<tr class="more"><td colspan="7">{details(entry)}</td></tr>' if entry.changes else ""
    return (
        f'<tbody class="{entry.kind}"><tr class="call"><td>{badge(entry.kind)}</td>'
        f'<th scope="row"><code>{safe(entry.rpc)}</code></th><td>{safe(entry.method) or UNDECLARED}</td>'
        f"<td>{safe(entry.variant)}</td>{numbers}</tr>{more}</tbody>"
    )


def details(entry: Entry) -> str:
    """What changed, the worst in sight; what would open on nothing more does not open."""
    worst, *others = changes = sorted(entry.changes.values(), key=lambda change: rank(change.kind))
    summary, inside = headline(worst), cells(worst)
    if others:
        summary += f' <span class="soft">and {len(others)} more</span>'
        inside = "".join(
            f'<div class="change {change.kind}"><p>{badge(change.kind)} {headline(change)}</p>{cells(change)}</div>'
            for change in changes
        )
    if not inside:
        return f'<p class="plain">{summary}</p>'
    return f"<details{' open' * (entry.kind is Class.BREAKING)}><summary>{summary}</summary>{inside}</details>"


def headline(change: Change) -> str:
    path = f" <code>{safe(change.path)}</code>" if change.path else ""
    return f"<strong>{safe(change.where)}</strong>{path}: {safe(change.what)}"


def cells(change: Change) -> str:
    """The tree around a change: lists within lists, as deep as its lines say."""
    if not change.tree:
        return ""
    text, depth = "", -1
    for line in change.tree:
        text += "<ul>" * (line.depth - depth) if line.depth > depth else "</li>" + "</ul></li>" * (depth - line.depth)
        text, depth = f"{text}<li>{cell(line)}", line.depth
    return f'<div class="cells">{HEAD}{text}{"</li></ul>" * (depth + 1)}</div>'


def cell(line: Line) -> str:
    null, step = line.seen == "null", line.path[max(line.path.rfind("."), line.path.rfind("["), 0) :]
    declared = safe(line.name) or ("" if step.startswith("[") else UNDECLARED)
    shape, said = ("−", "missing") if null else ("+", "new") if declared == UNDECLARED else ("≠", "differs")
    sign = f'<span role="img" aria-label="{said}">{shape}</span>' if line.marked else "<span></span>"
    texts = "".join(f"<span>{text}</span>" for text in (safe(step), declared, safe(line.seen)))
    return f'<div class="cell{" null" * null}{" marked" * line.marked}">{sign}{texts}</div>'


def rank(kind: Class) -> int:
    return list(Class).index(kind)


def badge(kind: Class) -> str:
    return f'<span class="badge {kind}">{kind}</span>'


def safe(text: str) -> str:
    """As text and nothing else: no markup, and no character that is invisible or turns the writing's direction."""
    return html.escape("".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text))


def plural(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
