"""nlm-capture at a terminal: of several notebook tabs its user chooses one, is asked again, or leaves."""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from nlm_cdp.capture.commands import fixtures
from nlm_cdp.cdp.generated import target
from nlm_cdp.errors import NotFound
from nlm_cdp.sim.visitor import Visit, open_app
from nlm_cdp.wire.page import APP_HOSTS
from tests.e2e.capturing import Seated, seated
from tests.e2e.test_capture import Stage, stage
from tests.e2e.world import in_chromium

pytestmark = [
    *in_chromium,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals"),
]
HOME = f"https://{APP_HOSTS[0]}/"
QUESTION = "Which one? "


class Asked:
    """A run that asks which of two tabs it shall record: one of a notebook, and one of all of them."""

    def __init__(self, there: Stage, home: Visit, run: Seated, out: Path) -> None:
        self.there, self.home, self.run, self.out = there, home, run, out

    @property
    def listed(self) -> dict[str, str]:
        """The tabs that it told, by their numbers."""
        lines = self.run.said.partition(QUESTION)[0].splitlines()
        return dict(line.split(": ", 1) for line in lines if line[:1].isdecimal() and line[1:2] == ":")

    def number(self, *, home: bool) -> str:
        (number,) = [number for number, url in self.listed.items() if (url == HOME) is home]
        return number

    @property
    def recorded(self) -> list[str]:
        try:
            return [str(fixture.rpc) for _, fixture in fixtures(self.out)]
        except NotFound:
            return []


@asynccontextmanager
async def asked(folder: Path) -> AsyncIterator[Asked]:
    out = folder / "fixtures"
    async with stage() as there:
        home = await open_app(there.connection, HOME)
        async with seated(there.chrome.endpoint, folder, "record", "--out", str(out)) as run:
            await run.until(QUESTION)
            yield Asked(there, home, run, out)
    assert "Traceback" not in run.said
    assert run.results == ""


@pytest.mark.parametrize("home", [True, False])
async def test_the_number_that_is_typed_is_the_tab_that_is_recorded(tmp_path: Path, home: bool) -> None:
    async with asked(tmp_path) as at:
        assert sorted(at.listed) == ["1", "2"]
        assert HOME in at.listed.values()
        assert any(url.startswith(f"{HOME}notebook/") for url in at.listed.values())
        number = at.number(home=home)
        await at.run.types(f"{number}\n")
        await at.run.until(f"Recording {at.listed[number]}; ")
        chosen, other = (at.home, at.there.visit) if home else (at.there.visit, at.home)
        await other.click("list-notes")
        await chosen.click("list-notebooks")
        await at.run.until("wXbhsf")
        at.run.process.send_signal(signal.SIGINT)
    assert at.run.process.returncode == 0
    assert at.recorded == ["wXbhsf"]


async def test_what_is_no_number_of_the_list_is_asked_again(tmp_path: Path) -> None:
    """The digits are those that stand in the notebook's address: they choose it no more than a word does."""
    async with asked(tmp_path) as at:
        address = at.listed[at.number(home=False)]
        digits = [digit for digit in "03456789" if digit in address]
        assert digits
        wrong = [*digits, "99", "-1", "elsewhere", "", HOME]
        for times, answer in enumerate(wrong, start=2):
            await at.run.types(f"{answer}\n")
            await at.run.until(QUESTION, times=times)
        assert at.run.said.count("Type a number from 1 to 2.") == len(wrong)
        assert "Recording" not in at.run.said
        await at.run.types(f" {at.number(home=True)} \n")
        await at.run.until(f"Recording {HOME}; ")
        at.run.process.send_signal(signal.SIGINT)
    assert at.run.process.returncode == 0


async def test_the_end_of_input_is_no_answer(tmp_path: Path) -> None:
    async with asked(tmp_path) as at:
        await at.run.types("\x04")
    assert at.run.process.returncode == 2
    assert "no tab was chosen. Choose one with --tab NUMBER." in at.run.said
    assert "Recording" not in at.run.said
    assert not at.out.exists()


async def test_an_interrupt_at_the_question_ends_it_at_once(tmp_path: Path) -> None:
    async with asked(tmp_path) as at:
        at.run.process.send_signal(signal.SIGINT)
    assert at.run.process.returncode == 130
    assert not at.out.exists()


async def test_a_tab_that_is_closed_before_it_is_chosen_is_named(tmp_path: Path) -> None:
    async with asked(tmp_path) as at:
        await at.there.connection.execute(target.close_target(at.home.target_id))
        await at.run.types(f"{at.number(home=True)}\n")
    assert at.run.process.returncode == 3
    assert f"the tab was closed before the recording began. It is the tab at {HOME}" in at.run.said
