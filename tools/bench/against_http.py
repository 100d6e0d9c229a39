"""Everything through MCP and Chromium against direct HTTP to the same simulator: one table, ratios of one run."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import trio

from nlm_cdp.api.chat import chat
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.sources import sources, uploading
from nlm_cdp.sim.chrome import throwaway_chrome
from tools.bench.calls import Host
from tools.bench.direct import Direct
from tools.bench.startup import BARE, INITIALIZE

ROUNDS, WARM = 5, 100
UPLOAD = 50 << 20
PAGE_FIRST = """
import sys, trio
from nlm_cdp.cdp.connection import open_connection
from nlm_cdp.sim.visitor import open_app

async def load(endpoint):
    async with open_connection(endpoint) as connection:
        app = await open_app(connection, "https://notebook.google.com/")
        assert not (await app.click("list-notebooks")).failed
"""
IN_A_RUNNING_BROWSER = f"{PAGE_FIRST}\ntrio.run(load, sys.argv[1])"
IN_ONE_OF_ITS_OWN = f"""{PAGE_FIRST}
import json
from nlm_cdp.sim.chrome import throwaway_chrome

async def start():
    async with throwaway_chrome(json.loads(sys.argv[1])["chrome_flags"]) as chrome:
        await load(chrome.endpoint)

trio.run(start)
"""
DIRECT_COLD = """
import json, sys
from nlm_cdp.api.notebooks.notebooks import LIST, ListNotebooks
from tools.bench.direct import Direct
assert Direct(json.loads(sys.argv[1])).call(LIST.id, ListNotebooks().encode())
"""

Work = Callable[[], Any]


def seconds(work: Work) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def pair(direct: Work, ours: Work, rounds: int = ROUNDS) -> tuple[float, float]:
    """Medians of both, taken in turns."""
    taken = [(seconds(direct), seconds(ours)) for _ in range(rounds)]
    return statistics.median(a for a, _ in taken), statistics.median(b for _, b in taken)


def row(name: str, floor: float, took: float, goal: str = "", unit: str = "ms") -> None:
    scale = 1000 if unit == "ms" else 1
    print(
        f"{name:<34} {floor * scale:>10.1f}{unit} {took * scale:>10.1f}{unit} {took / floor:>7.2f} {goal:>7}",
        flush=True,
    )


def run(*command: str) -> None:
    subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)


def pieces(size: int) -> Iterator[bytes]:
    block = b"0123456789abcde\n" * 65_536
    for at in range(0, size, len(block)):
        yield block[: size - at]


class Bench:
    def __init__(self, about: dict[str, Any], endpoint: str, folder: str) -> None:
        self.about, self.endpoint, self.folder = about, endpoint, Path(folder)
        self.direct = Direct(about)
        self.host = Host(endpoint, folder, "--files-root", folder, "--scopes", "read,chat,write")
        self.host.call()

    def tool(self, name: str, **arguments: Any) -> Any:
        return self.host.tool(name, arguments)

    def cold(self) -> None:
        ours = ["-m", "nlm_cdp.cli", "call", "list_notebooks", "--endpoint", self.endpoint]
        about = json.dumps(self.about)
        floor, took = pair(lambda: run("-c", DIRECT_COLD, about), lambda: run(*ours))
        row("cold start to first result", floor, took)
        floor, took = pair(lambda: run("-c", IN_A_RUNNING_BROWSER, self.endpoint), lambda: run(*ours))
        row("… against loading the app first", floor, took, "0.33")
        floor, took = pair(lambda: run("-c", IN_ONE_OF_ITS_OWN, about), lambda: run(*ours))
        row("… in a browser started for it", floor, took, "0.33")

    def calls(self) -> None:
        listing = notebooks.ListNotebooks().encode()
        floor, took = pair(lambda: self.direct.call(notebooks.LIST.id, listing), self.host.call, WARM)
        row("warm list_notebooks", floor, took, "1.2")
        with ThreadPoolExecutor(20) as pool:

            def many() -> None:
                list(pool.map(lambda _: self.direct.call(notebooks.LIST.id, listing), range(20)))

            floor, took = pair(many, lambda: self.host.many("list_notebooks", {}, 20), 10)
        row("20 reads at once", floor, took)
        get = notebooks.GetNotebook(notebook_id=self.about["large"]).encode()
        floor, took = pair(
            lambda: self.direct.call(notebooks.GET.id, get),
            lambda: self.tool("get_notebook", notebook=self.about["large"]),
        )
        row("a notebook of 300 sources", floor, took)
        load = sources.LoadSource(source_id=self.about["long"]).encode()
        where = {"source": self.about["long"], "notebook": self.about["long_notebook"], "max_chars": 1000}
        floor, took = pair(
            lambda: self.direct.call(sources.LOAD.id, load), lambda: self.tool("get_source_content", **where)
        )
        row("a source of 10 MB", floor, took)

    def files(self) -> None:
        small, file = self.about["small"], self.folder / "big.txt"
        with file.open("wb") as out:
            out.writelines(pieces(UPLOAD))

        def up() -> None:
            request = uploading.RegisterFile(names=["big.txt"], notebook_id=small).encode()
            made = uploading.REGISTER.response.decode(self.direct.call(uploading.REGISTER.id, request))
            self.direct.upload(small, made.sources[0].id, UPLOAD, pieces(UPLOAD))

        add = {"content": str(file), "type": "file", "notebook": small, "wait": False}
        floor, took = pair(up, lambda: self.tool("add_source", **add), 3)
        row("50 MB up", floor, took)
        fetch = {"artifact": self.about["audio"], "notebook": small, "overwrite": True, "path": "audio.m4a"}
        floor, took = pair(
            lambda: self.direct.download(self.about["audio_url"]), lambda: self.tool("download_artifact", **fetch), 3
        )
        row("200 MB down", floor, took)

    def answers(self) -> None:
        ask = chat.Ask(
            sources=self.about["sources"],
            question="What do faults do?",
            context=chat.ASK_CONTEXT,
            notebook_id=self.about["small"],
        ).encode()
        arguments = {"question": "What do faults do?", "notebook": self.about["small"]}
        taken = [
            (seconds(lambda: self.direct.first_chunk(ask)), self.host.first_progress("ask_question", arguments))
            for _ in range(ROUNDS)
        ]
        row("an answer's first progress", *map(statistics.median, zip(*taken, strict=True)))


def idle(command: list[str]) -> float:
    """MB of a server that has answered `initialize` and waits."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
        process.stdin.close()
    return pages * resource.getpagesize() / (1 << 20)


def main() -> None:
    print(f"{'':<34} {'direct HTTP':>12} {'nlm-cdp':>12} {'ratio':>7} {'goal':>7}")
    command = [sys.executable, "-m", "tools.bench.service"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as service, tempfile.TemporaryDirectory() as folder:
        assert service.stdout is not None
        os.environ["NLM_CDP_DATA_DIR"] = folder
        try:
            about = json.loads(service.stdout.readline())
            trio.run(against, about, folder)
        finally:
            service.terminate()
    if sys.platform == "linux":
        floor = statistics.median(idle([sys.executable, "-c", BARE]) for _ in range(3))
        took = statistics.median(idle([sys.executable, "-m", "nlm_cdp.cli", "serve"]) for _ in range(3))
        print(f"{'':<34} {'bare SDK':>12}")
        row("idle memory", floor, took, "1.3", "MB")


async def against(about: dict[str, Any], folder: str) -> None:
    async with throwaway_chrome(about["chrome_flags"]) as chrome:
        await trio.to_thread.run_sync(measure, about, chrome.endpoint, folder)


def measure(about: dict[str, Any], endpoint: str, folder: str) -> None:
    bench = Bench(about, endpoint, folder)
    try:
        bench.cold()
        bench.calls()
        bench.answers()
        bench.files()
    finally:
        bench.host.close()


if __name__ == "__main__":
    main()
