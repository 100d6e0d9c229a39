"""The simulator as a process of its own, with what the benchmarks need in it; prints one JSON line about it."""

from __future__ import annotations

import json

import trio

from nlm_cdp.api.studio import blocks
from nlm_cdp.sim import artwork
from nlm_cdp.sim.generation import finish, make
from nlm_cdp.sim.simulator import simulator

SOURCES, TEXT, FILE = 300, 10 << 20, 200 << 20
"""Sources of the large notebook; bytes of the large text and of the file that is downloaded."""


async def serve() -> None:
    async with simulator() as running:
        owner = running.service.owner
        running.service.pace = 0.05
        small = next(iter(owner.notebooks.values()))
        large = owner.add_notebook("Large")  # not listed, so that lists stay small
        large.forgotten = True
        for number in range(SOURCES):
            owner.add_source(large, f"Source {number}", "Some text.")
        long = owner.add_notebook("Long")
        long.forgotten = True
        text = owner.add_source(long, "Long text", "", filler=TEXT)
        artwork.AUDIO_BYTES = FILE
        audio = finish(owner, make(owner, small, blocks.AUDIO, blocks.AudioOptions(), list(small.sources.values())))
        about = {
            **{name: getattr(running, name) for name in ("port", "ca", "chrome_flags")},
            "small": small.id,
            "sources": list(small.sources),
            "large": large.id,
            "long": text.id,
            "long_notebook": long.id,
            "audio": audio.row.id,
            "audio_url": next(media.url() for media in running.service.media.values() if media.size == FILE),
        }
        print(json.dumps(about, default=str), flush=True)
        await trio.sleep_forever()


if __name__ == "__main__":
    trio.run(serve)
