"""The drift report's page in a real Chromium, opened from a file: it opens, narrows, prints, and asks for nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nlm_cdp.capture.drift import Class, Entry, Report
from nlm_cdp.capture.html import page
from nlm_cdp.capture.outline import Line
from nlm_cdp.cdp.connection import Connection, open_connection
from nlm_cdp.cdp.generated import page as tab
from nlm_cdp.cdp.generated import runtime, target
from nlm_cdp.cdp.generated.target import SessionID
from nlm_cdp.sim.chrome import throwaway_chrome
from tests.e2e.world import in_chromium

pytestmark = in_chromium
NOWHERE = "--host-resolver-rules=MAP * ~NOTFOUND"
END = "that was all"
LOADED = "new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', done))"
SHOWN = "[...document.querySelectorAll('tbody')].filter((one) => one.checkVisibility()).map((one) => one.querySelector('th').textContent)"
TREE = "document.querySelector('tbody.new .marked').checkVisibility()"
HOSTILE = "<script>document.title = 'taken'</script>"


def drifted() -> Report:
    tree = [
        Line(0, ".1", "notebook: Notebook", "array of 11", marked=False),
        Line(1, ".1.1", "title", "string", marked=False),
        Line(1, ".1.14", "", "array of 2", marked=True),
    ]
    broken, fresh = Entry("rLM1Ne", "GetProject", calls=2), Entry("wXbhsf", "ListRecentlyViewedProjects", calls=1)
    broken.add(Class.BREAKING, "response", ".1.1", "Input should be a valid string", tree)
    fresh.add(Class.NEW, "response", ".1[].14", f"no field claims this cell {HOSTILE}", tree)
    return Report([Entry("cFji9", "GetNotes", calls=1), fresh, broken], ["ub2Bae-OpenHome"], 4, False, {})


@dataclass
class Opened:
    connection: Connection
    session: SessionID
    log: Path

    async def ask(self, expression: str) -> Any:
        command = runtime.evaluate(expression, return_by_value=True, await_promise=True)
        result, exception = await self.connection.execute(command, session=self.session)
        assert exception is None
        return result.value

    async def complaints(self) -> list[str]:
        """What the console got to hear until now, as Chromium writes it to its log in its own time."""
        await self.ask(f"console.log('{END}')")
        while END not in (text := self.log.read_text("utf-8", "replace")):
            await self.ask("0")
        return [line for line in text.splitlines() if ":CONSOLE" in line and END not in line]


@asynccontextmanager
async def opened(tmp_path: Path, *flags: str) -> AsyncIterator[Opened]:
    file = tmp_path / "drift.html"
    file.write_bytes(page(drifted(), "fixtures/").encode())
    async with (
        throwaway_chrome([NOWHERE, "--enable-logging=stderr", *flags]) as chrome,
        open_connection(chrome.endpoint) as connection,
    ):
        created = await connection.execute(target.create_target(file.as_uri()))
        session = await connection.execute(target.attach_to_target(created, flatten=True))
        with connection.events(tab.FrameNavigated, session=session) as navigated:
            await connection.execute(tab.enable(), session=session)
            while (await connection.execute(tab.get_frame_tree(), session=session)).frame.url != file.as_uri():
                await anext(navigated)
        found = Opened(connection, session, chrome.profile.parent / "stderr")
        await found.ask(LOADED)
        yield found


async def test_the_page_opens_without_a_complaint_and_hostile_text_stays_text(tmp_path: Path) -> None:
    async with opened(tmp_path) as found:
        assert await found.complaints() == []
        assert await found.ask("document.title") == "2 changes: 1 breaking, 1 new"
        assert await found.ask("getComputedStyle(document.querySelector('.cells ul')).listStyleType") == "none"
        assert HOSTILE in await found.ask("document.querySelector('tbody.new').textContent")


async def test_the_page_can_ask_for_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as found:
        refused = await found.ask(
            "new Promise((done) => {"
            " addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective));"
            " document.body.append(Object.assign(new Image(), { src: 'https://elsewhere.test/' })); })"
        )
        assert refused == "img-src"
        (complaint,) = await found.complaints()
        assert "elsewhere.test" in complaint


async def test_a_changed_call_opens_to_its_tree(tmp_path: Path) -> None:
    async with opened(tmp_path) as found:
        assert await found.ask("document.querySelector('tbody.breaking .marked').checkVisibility()")
        assert not await found.ask(TREE)
        await found.ask("document.querySelector('tbody.new summary').click()")
        assert await found.ask(TREE)
        assert await found.ask("document.querySelector('tbody.new .marked').innerText.split(/\\s+/).join(' ')") == (
            "+ .14 not declared array of 2"
        )
        assert await found.complaints() == []


async def test_one_button_opens_and_closes_every_change(tmp_path: Path) -> None:
    async with opened(tmp_path) as found:
        count = "document.querySelectorAll('tbody details[open]').length"
        await found.ask("document.querySelector('button').click()")
        assert await found.ask(count) == 2
        await found.ask("document.querySelector('button').click()")
        assert await found.ask(count) == 0


async def test_rows_are_narrowed_by_status_and_by_text(tmp_path: Path) -> None:
    async with opened(tmp_path) as found:
        type_in = "(said) => { const box = document.querySelector('[type=search]'); box.value = said; box.dispatchEvent(new Event('input')); }"
        output = "document.querySelector('output').value"
        assert await found.ask(SHOWN) == ["rLM1Ne", "wXbhsf", "cFji9"]
        assert await found.ask(output) == ""
        await found.ask("document.getElementById('only-ok').click()")
        assert await found.ask(SHOWN) == ["cFji9"]
        assert await found.ask(output) == "1 of 3 shown"
        await found.ask(f"({type_in})('project')")
        assert await found.ask(SHOWN) == []
        assert await found.ask(output) == "Nothing matches."
        await found.ask("document.getElementById('only-all').click()")
        assert await found.ask(SHOWN) == ["rLM1Ne", "wXbhsf"]
        await found.ask(f"({type_in})('claims PROJECTS')")
        assert await found.ask(SHOWN) == ["wXbhsf"]


async def test_everything_that_acts_can_have_the_focus(tmp_path: Path) -> None:
    async with opened(tmp_path) as found:
        unreachable = await found.ask(
            "[...document.querySelectorAll('input:enabled, button, summary')]"
            ".filter((one) => { one.focus(); return one !== document.activeElement || one.tabIndex !== 0; }).length"
        )
        assert unreachable == 0
        assert await found.ask("document.querySelectorAll('input:enabled, button, summary').length") == 10


async def test_on_a_narrow_screen_nothing_sticks_out(tmp_path: Path) -> None:
    async with opened(tmp_path, "--window-size=510,900") as found:
        await found.ask("document.querySelector('button').click()")
        await found.ask("document.body.style.width = '340px'")  # no window can be made as narrow as a phone
        assert await found.ask("innerWidth") == 510
        widest = "Math.max(...[...document.querySelectorAll('body *')].map((one) => one.getBoundingClientRect().right))"
        assert await found.ask(widest) <= 340


async def test_on_paper_everything_is_open(tmp_path: Path) -> None:
    """By style where the browser can, else by script."""
    async with opened(tmp_path) as found:
        count = "document.querySelectorAll('details:not([open])').length"
        assert await found.ask(count) == 3
        await found.ask("dispatchEvent(new Event('beforeprint')), 0")
        assert await found.ask(count) == 0
        await found.ask("dispatchEvent(new Event('afterprint')), 0")
        assert await found.ask(count) == 3
        assert not await found.ask(TREE)
        await found.ask(
            "for (const rule of document.styleSheets[0].cssRules)"
            " if (rule.media?.mediaText === 'print') rule.media.mediaText = 'all';"
        )
        assert await found.ask(TREE)
        assert await found.ask("document.querySelector('#unseen li').checkVisibility()")
        assert not await found.ask("document.querySelector('.filters').checkVisibility()")
