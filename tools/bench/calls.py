"""A warm call: list_notebooks through MCP and Chromium against the in-page fetch of the same request, in one run.

The simulator and the server run as processes of their own; the in-page figure is measured inside a page, by its clock.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

import trio

from nlm_cdp.api.notebooks.notebooks import LIST, ListNotebooks
from nlm_cdp.browser.account import Place
from nlm_cdp.browser.attach import open_page
from nlm_cdp.browser.bridge import Request as PageRequest
from nlm_cdp.cdp.connection import open_connection
from nlm_cdp.sim.chrome import throwaway_chrome
from nlm_cdp.wire import batchexecute
from tools.bench.startup import INITIALIZE

CALLS = 300
GOAL = 1.5
IN_PAGE = """async function(key, request) {
  const began = performance.now();
  await globalThis[key].call(-1, request);
  return performance.now() - began;
}"""


async def measure() -> tuple[list[float], list[float]]:
    """Milliseconds of each call, in the page and through MCP, in turns."""
    with subprocess.Popen([sys.executable, "-m", "nlm_cdp.cli", "sim"], stdout=subprocess.PIPE) as simulator:
        assert simulator.stdout is not None
        try:
            about = json.loads(simulator.stdout.readline())
            async with throwaway_chrome(about["chrome_flags"]) as chrome:
                return await rounds(chrome.endpoint)
        finally:
            simulator.terminate()


async def rounds(endpoint: str) -> tuple[list[float], list[float]]:
    call = batchexecute.Call(LIST.id, ListNotebooks().encode())
    query = batchexecute.query([LIST.id], "/", 1)
    request = PageRequest(batchexecute.PATH, query, batchexecute.f_req([call])).as_json()
    in_page: list[float] = []
    through: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        host = Host(endpoint, folder)
        async with open_connection(endpoint) as connection, trio.open_nursery() as nursery:
            host.call()
            page = await open_page(nursery, connection, Place("https://notebook.google.com", None, None))
            for _ in range(CALLS):
                in_page.append(await page.evaluate(IN_PAGE, page.key, request))
                through.append(host.call())
            await page.close()
            nursery.cancel_scope.cancel()
        host.close()
    return in_page, through


class Host:
    """An MCP client that does nothing but write and read lines, so that no time of its own counts."""

    def __init__(self, endpoint: str, folder: str, *options: str) -> None:
        command = [sys.executable, "-m", "nlm_cdp.cli", "serve", "--endpoint", endpoint, *options]
        environment = dict(os.environ) | {"NLM_CDP_DATA_DIR": folder}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self.number = 0
        self.ask("initialize", INITIALIZE["params"])

    def ask(self, method: str, params: Any) -> bytes:
        self.send(method, params)
        return self.line()

    def send(self, method: str, params: Any) -> None:
        assert self.process.stdin is not None
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def line(self) -> bytes:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def tool(self, name: str, arguments: dict[str, Any]) -> Any:
        """One call and its result; whatever is told in between is passed over."""
        self.send("tools/call", {"name": name, "arguments": arguments})
        while "result" not in (answer := json.loads(self.line())):
            assert "error" not in answer, answer
        assert not answer["result"]["isError"], answer
        return answer["result"]["structuredContent"]

    def many(self, name: str, arguments: dict[str, Any], times: int) -> None:
        """So many calls at once, until the last is answered."""
        for _ in range(times):
            self.send("tools/call", {"name": name, "arguments": arguments})
        for _ in range(times):
            assert not json.loads(self.line())["result"]["isError"]

    def first_progress(self, name: str, arguments: dict[str, Any]) -> float:
        """Seconds until a call first tells how far it is; its end is awaited as well, and not counted."""
        began, took = time.perf_counter(), 0.0
        self.send("tools/call", {"name": name, "arguments": arguments, "_meta": {"progressToken": self.number}})
        while "result" not in json.loads(self.line()):
            took = took or time.perf_counter() - began
        return took

    def call(self) -> float:
        """Milliseconds of one list_notebooks."""
        began = time.perf_counter()
        line = self.ask("tools/call", {"name": "list_notebooks", "arguments": {}})
        took = (time.perf_counter() - began) * 1000
        assert not json.loads(line)["result"]["isError"], line
        return took

    def close(self) -> None:
        self.process.communicate()


def main() -> None:
    in_page, through = trio.run(measure)
    floor, took = statistics.median(in_page), statistics.median(through)
    print(f"{'warm list_notebooks':<32} {'in page':>10} {'MCP':>10} {'ratio':>7} {'goal':>6}")
    print(f"{'median of ' + str(len(through)):<32} {floor:>8.2f}ms {took:>8.2f}ms {took / floor:>7.2f} {GOAL:>6}")


if __name__ == "__main__":
    main()
