"""Bodies to read: framed ones with noise behind them, and titles whose characters are counted in several ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nlm_cdp.wire.batchexecute import (
    answer_frame,
)
from nlm_cdp.wire.frames import FrameReader, frame_body

WIRE = Path(__file__).resolve().parents[3] / "shared" / "wire"
TYPE = "type.googleapis.com/google.internal.labs.tailwind.orchestration.v1.UserDisplayableError"
DEEP = "[" * 100_000
NOISE = [["di", 198], ["af.httprm", 197, "-1460015816955467607", 6]]
TITLES = [
    "🧪🧪 Lab",
    "👨‍👩‍👧‍👦 🏳️‍🌈 👍🏽 𝕊",
    "é",
    "\ud83d alone",
    'a "quoted"\n25\n[[ text\\',
    "\u2028\u0085\r",
    "plain",
]


def body(*frames: list[Any]) -> str:
    return frame_body([list(frames), NOISE])


def data(rpc: str | None, row: Any, discriminator: str = "generic") -> list[Any]:
    return answer_frame(rpc, row, discriminator=discriminator)


def status(rpc: str | None, value: Any) -> list[Any]:
    return answer_frame(rpc, None, value)


def read(*pieces: bytes | str) -> tuple[list[list[Any]], list[str]]:
    reader = FrameReader()
    frames = [frame for piece in pieces for frame in reader.feed(piece)]
    frames += reader.rest()
    reader.close()
    return frames, reader.faults
