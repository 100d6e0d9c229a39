"""Write `fixtures/`: one exchange with the simulator for each variant of each call.

The bytes depend on nothing but the code: ids come from the simulator's counter, times from a fixed clock. `--check`
says whether anything would change.
"""

from __future__ import annotations

import argparse
import http.client
import json
import ssl
import sys
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import trio

from nlm_cdp.api import RPCS
from nlm_cdp.rpc import Rpc
from nlm_cdp.sim.seed import seed
from nlm_cdp.sim.simulator import Simulator, simulator
from nlm_cdp.wire import batchexecute
from nlm_cdp.wire.chat import ChatReader
from nlm_cdp.wire.page import APP_HOSTS
from nlm_cdp.wire.pblite import unclaimed
from tools.samples import samples

FOLDER = Path(__file__).parents[1] / "fixtures"
FORMAT = 1
CAPTURED, SECONDS = "2026-11-30T00:00:00Z", 1_795_996_800


class Client:
    """The app's host, spoken to without a browser."""

    def __init__(self, service: Simulator) -> None:
        context = ssl.create_default_context(cafile=str(service.ca))
        self.connection = http.client.HTTPSConnection("127.0.0.1", service.port, context=context)
        self.origin = f"https://{APP_HOSTS[0]}"
        self.cookie = self.send("GET", "/", "").getheader("set-cookie", "")

    def send(self, method: str, path: str, body: str, **headers: str) -> http.client.HTTPResponse:
        sent = {"Host": APP_HOSTS[0], "Origin": self.origin, "Content-Type": batchexecute.CONTENT_TYPE, **headers}
        self.connection.request(method, path, body.encode(), sent | {"Sec-Fetch-Site": "same-origin"})
        answer = self.connection.getresponse()
        if method == "GET":
            answer.read()
        return answer

    def post(self, rpc: Rpc[Any, Any], params: Any, source_path: str, token: str) -> tuple[int, str]:
        if rpc.stream:
            path, query, text = batchexecute.CHAT_PATH, {"rt": "c"}, batchexecute.chat_f_req(params)
        else:
            path, query = batchexecute.PATH, batchexecute.query([rpc.id], source_path, 1)
            text = batchexecute.f_req([batchexecute.Call(rpc.id, params)])
        cookie = self.cookie.partition(";")[0]
        answer = self.send("POST", f"{path}?{urlencode(query)}", batchexecute.form(text, token), Cookie=cookie)
        return answer.status, answer.read().decode()


def exchange(rpc: Rpc[Any, Any], params: Any, source_path: str, answer: tuple[int, str], build: str) -> dict[str, Any]:
    status, body = answer
    expect, left = outcome(rpc, body)
    return {
        "format": FORMAT,
        "origin": "simulator",
        "captured": CAPTURED,
        "host": APP_HOSTS[0],
        "bl": build,
        "rpc": rpc.id,
        "variant": rpc.variant,
        "request": {"params": params, "source_path": source_path},
        "response": {"status": status, "body": body},
        "expect": expect,
        "unclaimed": left,
    }


def outcome(rpc: Rpc[Any, Any], body: str) -> tuple[Any, list[str]]:
    """What the body decodes to, and what no field claims in it."""
    if rpc.stream:
        reader = ChatReader()
        snapshots = list(reader.feed(body))
        answer = reader.close()
        left = {path for snapshot in snapshots for path in unclaimed(rpc.response, snapshot.encode())}
        return {"answer": answer.text, "cited": [cited.source_id for cited in answer.citations]}, sorted(left)
    row = batchexecute.read_replies(body).of(rpc.id).row
    message = rpc.response.decode(row if row is not None else [])
    return message.model_dump(mode="json", exclude_none=True), list(unclaimed(rpc.response, row or []))


async def collect() -> dict[Path, str]:
    """Every fixture's path and text."""
    found: dict[Path, str] = {}
    async with simulator(seed=False) as running:
        running.service.now = lambda: SECONDS
        running.service.pace = 0.0
        running.service.accounts.clear()
        running.service.add_account("owner@simulated.example")
        client = await trio.to_thread.run_sync(Client, running)
        for rpc, message, notebook in samples(running.service.owner, seed(running.service.owner)):
            params, source_path = message.encode(), rpc.source_path(notebook)
            post = partial(client.post, rpc, params, source_path, running.service.owner.token)
            answer = await trio.to_thread.run_sync(post)
            fixture = exchange(rpc, params, source_path, answer, running.service.build)
            path = FOLDER / f"{rpc.id}-{rpc.method}" / f"{rpc.variant or 'plain'}.json"
            found[path] = json.dumps(fixture, ensure_ascii=False, indent=1) + "\n"
    if missing := {rpc.name for rpc in RPCS} - {f"{path.parent.name}{variant_of(path)}" for path in found}:
        raise SystemExit(f"no sample of {', '.join(sorted(missing))}")
    return found


def variant_of(path: Path) -> str:
    return "" if path.stem == "plain" else f"-{path.stem}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    found = trio.run(collect)
    there = {path: path.read_text(encoding="utf-8") for path in FOLDER.glob("*/*.json")}
    changed = sorted(path for path in found.keys() | there.keys() if found.get(path) != there.get(path))
    for path in changed:
        print(path.relative_to(FOLDER.parent))
        if args.check:
            continue
        if path in found:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(found[path], encoding="utf-8", newline="\n")
        else:
            path.unlink()
    return 1 if args.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
