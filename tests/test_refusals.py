"""Every tool that changes the notebook, against every refusal and a lost reply: over the simulator, without a browser.

What needs a streamed answer (asking, cancelling it, saving it) and uploads are tested beside their tools and in Chromium.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import trio

from nlm_cdp.api import RPCS, TOOLS
from nlm_cdp.browser.account import Place
from nlm_cdp.browser.bridge import Answer, Bootstrap
from nlm_cdp.errors import NlmError, Outcome, SignedOut
from nlm_cdp.rpc import Effect
from nlm_cdp.session import open_session
from nlm_cdp.sim.faults import Fault, Kind
from nlm_cdp.sim.http import Request
from nlm_cdp.sim.records import Conversation, Turn
from nlm_cdp.sim.seed import seed
from nlm_cdp.sim.simulator import Simulator
from nlm_cdp.wire.page import APP_HOSTS, Health
from tests.fakes import REFUSALS, Bench

CODES = dict(REFUSALS)
CALLS = {f"{rpc.id} {rpc.variant or ''}".strip(): rpc for rpc in RPCS}
PLACE = Place(f"https://{APP_HOSTS[0]}", None, "0")
FACTS = Bootstrap(None, "0", None, simulated=True)
ABOUT = "About this simulation"


@dataclass
class DirectPage:
    """A signed-in page whose `fetch` is a call of the simulator."""

    sim: Simulator
    place: Place = PLACE
    facts: Bootstrap = FACTS
    generation: int = 1
    lost: str | None = None

    def __post_init__(self) -> None:
        self.token, self.cookie = self.sim.service.owner.token, self.sim.service.cookie

    async def bootstrap(self) -> None:
        if self.sim.service.signed_out:
            raise SignedOut("this Chrome is not signed in", state="signed_out")
        self.generation += 1
        self.__post_init__()

    def lose(self, reason: str) -> None:
        self.lost = reason

    async def call(self, request: Any) -> Answer:
        body = urlencode({"f.req": request.f_req, "at": self.token}).encode()
        headers = {"cookie": f"SID={self.cookie}", "sec-fetch-site": "same-origin"}
        response = self.sim.handle(Request("POST", APP_HOSTS[0], request.path, request.query, headers, body))
        if response.manner.ending != "proper":
            return Answer(sent=True, failed="TypeError")
        assert isinstance(response.body, bytes)
        await trio.sleep(response.manner.delay)
        headers = dict(response.headers)
        text = response.body.decode()
        return Answer(
            sent=True,
            status=response.status,
            type=headers.get("content-type"),
            retry_after=headers.get("retry-after"),
            body=text if response.manner.limit is None else text[: int(len(text) * response.manner.limit)],
        )

    async def close(self) -> None:
        pass


@dataclass
class DirectChrome:
    sim: Simulator
    health: Health = field(default_factory=lambda: Health(state="connecting"))

    async def hold(self, connected: Callable[[Any], None]) -> None:
        async def make_page() -> DirectPage:
            return DirectPage(self.sim)

        connected(make_page)
        await trio.sleep_forever()

    async def open_tab(self, path: str) -> str:
        raise AssertionError(path)


@asynccontextmanager
async def simulated() -> AsyncIterator[tuple[Simulator, Bench]]:
    sim = Simulator(0, Path(), "")  # nothing listens
    if not sim.service.owner.notebooks:
        seed(sim.service.owner)
    async with trio.open_nursery() as nursery:
        async with open_session(nursery, DirectChrome(sim)) as session:
            bench = Bench()
            bench.page = session
            yield sim, bench
        nursery.cancel_scope.cancel()


async def artifact(bench: Bench, kind: str, **options: Any) -> str:
    made = await bench.call("generate_artifact", type=kind, notebook=ABOUT, wait=True, **options)
    return str(made["artifact"]["id"])


async def failed_artifact(sim: Simulator, bench: Bench) -> str:
    sim.service.generations_fail = True
    made = await artifact(bench, "quiz")
    sim.service.generations_fail = False
    return made


async def note(bench: Bench) -> str:
    made = await bench.call("create_note", title="Kept", content="Text", notebook=ABOUT)
    return str(made["note"]["id"])


async def research(bench: Bench, *, wait: bool) -> str:
    started = await bench.call("start_research", query="simulators", notebook=ABOUT)
    await bench.call("get_research", research_id=started["research_id"], notebook=ABOUT, wait=wait)
    return str(started["research_id"])


async def label(bench: Bench) -> str:
    await bench.call("edit_label", name="Kept", add_sources=["Faults on request"], notebook=ABOUT)
    return "Kept"


SLIDES = [{"slide": 1, "instruction": "shorter"}]
GRANTS = [{"email": "someone@simulated.example", "role": "viewer"}]
PAGE = "https://page.example/one"


async def page(bench: Bench) -> str:
    added = await bench.call("add_source", content=PAGE, notebook=ABOUT, wait=True)
    return str(added["sources"][0]["id"])


async def deep(bench: Bench) -> str:
    started = await bench.call("start_research", query="simulators", mode="deep", notebook=ABOUT)
    return str(started["research_id"])


async def talked(sim: Simulator) -> dict[str, Any]:
    notebook = next(each for each in sim.service.owner.notebooks.values() if each.title == ABOUT)
    turn = Turn(sim.service.new_id(), sim.service.stamp(), question="Why?")
    notebook.chats.append(Conversation(sim.service.new_id(), [turn]))
    return {"notebook": ABOUT, "confirm": True}


Case = tuple[str, str, Callable[[Simulator, Bench], Any]]
CASES: list[Case] = [
    ("create_notebook", "CCqFvf", lambda _s, _b: {"title": "T"}),
    ("copy_notebook", "te3DCe", lambda _s, _b: {"notebook": ABOUT, "title": "T"}),
    ("rename_notebook", "s0tc2d rename", lambda _s, _b: {"notebook": ABOUT, "title": "T"}),
    ("delete_notebook", "WWINqb", lambda _s, _b: {"notebook": ABOUT, "confirm": True}),
    ("forget_notebook", "fejl7e", lambda _s, _b: {"notebook": ABOUT}),
    ("rename_source", "b7Wfje", lambda _s, _b: {"source": "Faults on request", "title": "T", "notebook": ABOUT}),
    ("delete_source", "tGMBJ", lambda _s, _b: {"sources": ["Faults on request"], "notebook": ABOUT, "confirm": True}),
    ("add_source", "izAoDd", lambda _s, _b: {"content": "Some text.", "type": "text", "notebook": ABOUT}),
    ("append_to_source", "QsNTEd", lambda _s, _b: {"source": "What this", "text": "More.", "notebook": ABOUT}),
    ("refresh_source", "FLmJqe", lambda _s, b: made("source", page(b))),
    ("delete_conversation", "J7Gthc", lambda s, _b: talked(s)),
    ("organize_sources", "agX4Bc organize", lambda _s, _b: {"notebook": ABOUT}),
    ("edit_label", "agX4Bc label", lambda _s, _b: {"name": "New", "notebook": ABOUT}),
    ("edit_label", "le8sX label-name", lambda _s, b: labelled(b, label="Kept", name="Other")),
    ("delete_labels", "GyzE7e labels", lambda _s, b: labelled(b, labels=["Kept"], confirm=True)),
    ("configure_chat", "s0tc2d chat", lambda _s, _b: {"goal": "learning_guide", "notebook": ABOUT}),
    ("create_note", "CYK0Xb note", lambda _s, _b: {"title": "T", "content": "Text", "notebook": ABOUT}),
    ("update_note", "cYAfTb", lambda _s, b: noted(b, note="Kept", title="T")),
    ("delete_note", "AH0mwd", lambda _s, b: noted(b, notes=["Kept"], confirm=True)),
    *(
        ("generate_artifact", f"R7cb6c {variant}", lambda _s, _b, kind=kind: {"type": kind, "notebook": ABOUT})
        for variant, kind in (
            *((each, each) for each in ("audio", "video", "report", "quiz", "flashcards", "infographic")),
            ("slides", "slide_deck"),
            ("table", "data_table"),
        )
    ),
    ("retry_artifact", "Rytqqe", lambda s, b: made("artifact", failed_artifact(s, b))),
    ("revise_slides", "KmcKPe", lambda _s, b: made("artifact", artifact(b, "slide_deck"), changes=SLIDES)),
    ("rename_artifact", "rc3d8d title", lambda _s, b: made("artifact", artifact(b, "report"), title="T")),
    ("export_artifact", "Krh3pd artifact", lambda _s, b: made("artifact", artifact(b, "report"), to="docs")),
    ("delete_artifact", "V5N4be", lambda _s, b: made("artifacts", artifact(b, "report"), confirm=True)),
    ("cancel_research", "Zbrupe", lambda _s, b: made("research_id", deep(b))),
    ("start_research", "Ljjv0c", lambda _s, _b: {"query": "simulators", "notebook": ABOUT}),
    ("start_research", "QA9ei", lambda _s, _b: {"query": "simulators", "mode": "deep", "notebook": ABOUT}),
    ("import_research", "LBwxtb", lambda _s, b: made("research_id", research(b, wait=True))),
    ("set_sharing", "QDyure public", lambda _s, _b: {"public": True, "confirm": True, "notebook": ABOUT}),
    ("set_sharing", "s0tc2d view", lambda _s, _b: {"view_level": "chat", "confirm": True, "notebook": ABOUT}),
    ("share_notebook", "QDyure grants", lambda _s, _b: {"grants": GRANTS, "confirm": True, "notebook": ABOUT}),
    ("unshare_notebook", "QDyure remove", lambda _s, b: shared(b)),
    ("set_output_language", "hT54vc", lambda _s, _b: {"language": "de", "confirm": True}),
]


async def made(argument: str, making: Any, **others: Any) -> dict[str, Any]:
    return {argument: await making, "notebook": ABOUT, **others}


async def labelled(bench: Bench, **arguments: Any) -> dict[str, Any]:
    await label(bench)
    return {"notebook": ABOUT, **arguments}


async def noted(bench: Bench, **arguments: Any) -> dict[str, Any]:
    await note(bench)
    return {"notebook": ABOUT, **arguments}


async def shared(bench: Bench) -> dict[str, Any]:
    await bench.call("share_notebook", grants=GRANTS, confirm=True, notebook=ABOUT)
    return {"emails": [GRANTS[0]["email"]], "confirm": True, "notebook": ABOUT}


every_case = pytest.mark.parametrize(("tool", "call", "arrange"), CASES, ids=[f"{case[0]}-{case[1]}" for case in CASES])
DEEP = "QA9ei"
"""Answers 3 for trouble of its own (field, n=1)."""


async def failure(tool: str, call: str, arrange: Any, fault: Fault) -> tuple[NlmError | dict[str, Any], int]:
    """What the tool ends in, and how many requests of the call the simulator saw for it."""
    rpc = CALLS[call]
    assert rpc in TOOLS[tool].rpcs
    async with simulated() as (sim, bench):
        arguments = arrange(sim, bench)
        if not isinstance(arguments, dict):
            arguments = await arguments
        before = len(sim.requests.to(rpc.id))
        sim.faults.add(replace(fault, on=rpc.id))
        try:
            result: NlmError | dict[str, Any] = await bench.call(tool, **arguments)
        except NlmError as exc:
            result = exc
        return result, len(sim.requests.to(rpc.id)) - before


@every_case
@pytest.mark.parametrize("code", CODES)
async def test_a_refusal_is_an_error_that_changed_nothing(tool: str, call: str, arrange: Any, code: int) -> None:
    error, sent = await failure(tool, call, arrange, Fault(Kind.STATUS, code=code, times=9))
    assert sent <= (2 if code == 16 else 1)
    if code in CALLS[call].harmless:
        assert isinstance(error, dict)
        return
    assert isinstance(error, NlmError), error
    expected = "SERVICE" if (call, code) == (DEEP, 3) else CODES[code]
    assert (error.code, error.outcome) == (expected, Outcome.REJECTED)


@every_case
async def test_a_lost_reply_is_told_and_nothing_is_made_twice(tool: str, call: str, arrange: Any) -> None:
    """A result is one that was read back."""
    result, sent = await failure(tool, call, arrange, Fault(Kind.CLOSE, commit=True, times=9))
    if isinstance(result, NlmError):
        assert result.outcome is Outcome.UNKNOWN
    assert sent == (2 if CALLS[call].effect is Effect.SET else 1)


def test_no_tool_that_writes_is_left_out() -> None:
    writing = {name for name, tool in TOOLS.items() if any(rpc.effect is not Effect.READ for rpc in tool.rpcs)}
    tested = {tool for tool, _, _ in CASES}
    assert writing - tested == {"ask_question", "cancel_answer", "save_answer"}
