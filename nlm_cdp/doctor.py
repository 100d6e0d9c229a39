"""Every step from "where is Chrome" to "one real call answered", and the fix for the first that fails."""

from __future__ import annotations

import json
import platform
import sys
from dataclasses import dataclass, field
from typing import Any

from nlm_cdp import __version__, overrides
from nlm_cdp.api import variants
from nlm_cdp.application import silent
from nlm_cdp.browser.candidate import State
from nlm_cdp.browser.discovery import survey
from nlm_cdp.errors import NlmError
from nlm_cdp.local.traffic import TOOL
from nlm_cdp.readable import OK, error_result, exit_code
from nlm_cdp.runtime import Options, open_runtime, patiently


@dataclass(slots=True)
class Report:
    steps: list[dict[str, Any]] = field(default_factory=list)
    error: NlmError | None = None

    def note(self, name: str, *, ok: bool | None, detail: str, fix: str = "") -> None:
        """`ok` None: told for information, passes no judgement."""
        self.steps.append({"step": name, "ok": ok, "detail": detail} | ({"fix": fix} if fix else {}))

    def as_json(self) -> dict[str, Any]:
        error = error_result(self.error) if self.error else None
        return {
            "ok": self.error is None,
            "steps": self.steps,
            "error": error,
            "fix": self.error.hint if self.error else None,
        }

    def as_text(self) -> str:
        marks = {True: "ok  ", False: "FAIL", None: "    "}
        lines = []
        for step in self.steps:
            lines.append(f"{marks[step['ok']]} {step['step']}: {step['detail']}")
            if step.get("fix") and self.error and self.error.code.startswith("CHROME_"):
                lines.append(f"     -> {step['fix']}")
        return "\n".join([*lines, "", f"Fix: {self.error.hint}" if self.error else "Everything works."])


async def examine(options: Options, as_json: bool) -> int:
    """Run the steps and print the report; the exit code says what kind of thing is wrong."""
    report = Report()
    report.note("nlm-cdp", ok=True, detail=f"{__version__} on Python {platform.python_version()}, {platform.system()}")
    note_overrides(report)
    if options.endpoint == "auto" and not options.demo:
        for candidate in await survey():
            if candidate.state is not State.NOT_INSTALLED:
                report.note(candidate.browser, ok=None, detail=candidate.told, fix=candidate.hint)
    await attached(report, options)
    print(json.dumps(report.as_json(), ensure_ascii=False, indent=2) if as_json else report.as_text())
    return exit_code(report.error) if report.error else OK


def note_overrides(report: Report) -> None:
    """The ids that this machine sends other than declared; a file that cannot be used fails the first call."""
    try:
        found = overrides.load()
    except NlmError as exc:
        report.note("Overrides", ok=False, detail=exc.message)
        return
    if found.ids:
        pairs = ", ".join(f"{declared} goes by {current}" for declared, current in found.ids.items())
        unknown = [declared for declared in found.ids if not variants(declared)]
        useless = f"; not declared: {', '.join(unknown)}" if unknown else ""
        report.note("Overrides", ok=None, detail=f"{pairs} ({found.path}){useless}")


async def attached(report: Report, options: Options) -> None:
    """The steps that need Chrome; each follows from the one before, so the first failure ends them."""
    TOOL.set("doctor")
    async with open_runtime(options) as runtime:
        context = await runtime.context(silent)
        session, _ = await runtime.open()
        step = "Chrome"
        try:
            await patiently(session.connected, note)
            report.note(step, ok=True, detail=f"{session.health().browser} ({session.health().mode})")
            step = "Page"
            await session.current_page()
            report.note(step, ok=True, detail=f"hidden page at {session.health().origin}")
            report.note("Account", ok=True, detail=session.health().account or "unknown")
            step = "One real call"
            from nlm_cdp.api.notebooks.notebooks import LIST, ListNotebooks

            answer = await context.call(LIST, ListNotebooks())
            report.note(step, ok=True, detail=f"{len(answer.notebooks or [])} notebooks listed")
        except NlmError as exc:
            report.note(step, ok=False, detail=f"{exc.message} ({exc.code})")
            report.error = exc


async def note(message: str) -> None:
    print(message, file=sys.stderr)
