"""Start to `initialize` answered: `nlm-cdp serve` against a bare SDK server without tools, in one run."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time

ROUNDS = 15
GOAL = 1.15
BARE = """
import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

async def main():
    server = Server("bare")
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main, backend="trio")
"""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


def answered(command: list[str]) -> float:
    """Seconds from starting a server to its answer."""
    began = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        took = time.perf_counter() - began
        assert answer["result"]["serverInfo"]
        process.stdin.close()
    return took


def main() -> None:
    bare = [sys.executable, "-c", BARE]
    ours = [sys.executable, "-m", "nlm_cdp.cli", "serve"]
    answered(bare), answered(ours)  # warm the file cache
    pairs = [(answered(bare), answered(ours)) for _ in range(ROUNDS)]
    floor, took = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"{'start to initialize':<32} {'bare SDK':>10} {'nlm-cdp':>10} {'ratio':>7} {'goal':>6}")
    print(f"{'median of ' + str(ROUNDS):<32} {floor:>9.3f}s {took:>9.3f}s {took / floor:>7.2f} {GOAL:>6}")


if __name__ == "__main__":
    main()
