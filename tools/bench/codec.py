"""What reading the wire costs, as ratios: decoding against `json.loads` of the same two JSON layers, and peak memory.

One run prints one table. Both sides of a ratio are timed in turn and the best of several rounds counts, so that a busy
machine weighs on both alike. Recorded bodies come from `shared/wire` beside the checkout; without it they are skipped.
"""

from __future__ import annotations

import gc
import json
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nlm_cdp import verdict
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.sources import sources
from nlm_cdp.rpc import Rpc
from nlm_cdp.wire.batchexecute import answer_frame
from nlm_cdp.wire.chat import ChatReader
from nlm_cdp.wire.frames import frame_body

RECORDED = Path(__file__).resolve().parents[3] / "shared" / "wire"
ROUNDS = 15
MB = 1_000_000
SENTENCE = "The harbour keeps its own hours, and the ledger in the customs house counts every crate that comes ashore. "
TEXTS = {
    "ASCII": (SENTENCE, 6),
    "with “quotes”": (f"“{SENTENCE[:-1]}” ", 6),
    "with emoji": (f"{SENTENCE}🧪 ", 6),
}
"""Texts and their goals: one character beyond U+00FF makes Python keep two bytes for each, one beyond U+FFFF four."""


@dataclass(frozen=True)
class Measure:
    """One line of the table."""

    name: str
    unit: str
    goal: float
    ratio: float | None = None

    def __str__(self) -> str:
        if self.ratio is None:
            return f"{self.name:<46} {'-':>7}   {self.unit:<12} skipped: no recordings"
        judged = "ok" if self.ratio <= self.goal else "MISSED"
        return f"{self.name:<46} {self.ratio:6.2f}x   {self.unit:<12} goal {self.goal}x  {judged}"


def main() -> int:
    measures = list(measure())
    for line in measures:
        print(line)
    return int(any(line.ratio is not None and line.ratio > line.goal for line in measures))


def measure() -> Iterator[Measure]:
    cost = "json.loads"
    yield Measure("10 MB source text", cost, 1.3, against_json(framed(sources.LOAD, loaded(10 * MB, SENTENCE)), text))
    body = recorded("notebooks_list", lambda exchange: exchange["rpc_ids"] == [notebooks.LIST.id])
    yield Measure("recorded list of notebooks", cost, 6, against_json(body, listing) if body else None)
    yield Measure("notebook of 300 sources", cost, 6, against_json(framed(notebooks.GET, [project(300)]), notebook))
    body = recorded("chat_ask", lambda exchange: "GenerateFreeFormStreamed" in exchange["path"])
    yield Measure("recorded chat answer", cost, 1.5, against_json(body, answer) if body else None)
    for name, (sentence, goal) in TEXTS.items():
        yield Measure(f"peak memory, 60 MB source text, {name}", "body", goal, peak(60 * MB, sentence))


# What is read


def framed(rpc: Rpc[Any, Any], row: list[Any]) -> str:
    return frame_body([[answer_frame(rpc.id, row)], [["di", 1], ["af.httprm", 1, "-1", 1]]])


def loaded(size: int, sentence: str) -> list[Any]:
    """The row of a source text of so many bytes, in paragraphs of four sentences."""
    text = sentence * 4
    paragraph = [[[0, len(text), [text, []]]], [None, 1]]
    count = size // len(json.dumps([0, 0, paragraph], ensure_ascii=False).encode())
    return [source(0), None, None, [[[[n, n + len(text), paragraph] for n in range(count)]]]]


def source(number: int) -> list[Any]:
    """As long as the average of the recorded ones."""
    revised, added = [1768174649, 762990000], [1768174650, 66854000]
    address = f"https://archive.example.org/harbour/customs-house/ledgers/1911/folio-{number:06}.html"
    meta = [None, 3765, added, [f"10000000-0000-4000-8000-{number:012}", revised], 5, None, 1, [address]]
    title = f"The customs ledger of 1911, folio {number:06}: crates, casks and passengers"
    return [[f"00000000-0000-4000-8000-{number:012}"], title, meta, [None, 2]]


def project(count: int) -> list[Any]:
    meta = [1, False, True, None, None, [1767225600, 5], 1, False, [1767225600, 5]]
    title, notebook = "The customs house", "00000000-0000-4000-8000-000000000001"
    return [title, [source(number) for number in range(count)], notebook, "🧪", None, meta]


def recorded(name: str, wanted: Callable[[dict[str, Any]], bool]) -> str | None:
    """The first body of a recording that is wanted; None where there are no recordings."""
    file = RECORDED / f"{name}.json"
    if not file.is_file():
        return None
    exchanges = json.loads(file.read_text(encoding="utf-8"))["exchanges"]
    return next(str(exchange["response_body"]) for exchange in exchanges if wanted(exchange))


# How it is read


def text(body: str) -> Any:
    return verdict.read_answer(sources.LOAD, [body])


def listing(body: str) -> Any:
    return verdict.read_answer(notebooks.LIST, [body])


def notebook(body: str) -> Any:
    return verdict.read_answer(notebooks.GET, [body])


def answer(body: str) -> Any:
    reader = ChatReader()
    for _ in reader.feed(body):
        pass
    return reader.close()


def both_layers(body: str) -> Any:
    """The least that reading can mean: the chunk, and the text in its frames."""
    return [
        json.loads(frame[2])
        for line in body.split("\n")
        if line.startswith("[")
        for frame in json.loads(line)
        if frame[0] == "wrb.fr" and frame[2] is not None
    ]


def against_json(body: str, decode: Callable[[str], Any]) -> float:
    """Best time of ours by best time of json's, in turns; small bodies several times a turn."""
    repeat = max(1, MB // len(body))
    ours = json_s = float("inf")
    for _ in range(ROUNDS):
        json_s = min(json_s, timed(lambda: both_layers(body), repeat))
        ours = min(ours, timed(lambda: decode(body), repeat))
    return ours / json_s


def timed(run: Callable[[], Any], repeat: int) -> float:
    """Seconds, with the garbage collector at work on what `run` makes, but not on what was there before."""
    gc.collect()
    gc.freeze()
    started = time.perf_counter()
    for _ in range(repeat):
        run()
    took = time.perf_counter() - started
    gc.unfreeze()
    return took


def peak(size: int, sentence: str) -> float:
    """Peak of everything allocated while a body is read, the body included, by the body's bytes on the wire."""
    rows = framed(sources.LOAD, loaded(size, sentence)).encode()
    length = len(rows)
    tracemalloc.start()
    try:
        rows = bytes(bytearray(rows))  # allocated anew, so that it counts
        boxed: list[str | bytes] = [rows if not rows.isascii() else rows.decode()]  # as large answers arrive
        del rows
        verdict.read_answer(sources.LOAD, boxed)
        return tracemalloc.get_traced_memory()[1] / length
    finally:
        tracemalloc.stop()


if __name__ == "__main__":
    raise SystemExit(main())
