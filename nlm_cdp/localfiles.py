"""The files a tool may touch: inside the roots, checked before anything is opened, written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import trio

from nlm_cdp.browser.partfile import PartFile, refuse_existing
from nlm_cdp.local.files import Roots
from nlm_cdp.rpc import Saved


class LocalFiles:
    """What `ToolContext.files` is in a running process; the disk is looked at in a thread."""

    def __init__(self, roots: Roots) -> None:
        self.roots = roots

    async def readable(self, path: str) -> Path:
        return await trio.to_thread.run_sync(self.roots.readable, path)

    async def writable(self, path: str) -> Path:
        return await trio.to_thread.run_sync(self.roots.writable, path)

    async def save(self, destination: Path, data: bytes, *, overwrite: bool) -> Saved:
        return await trio.to_thread.run_sync(lambda: saved(destination, data, overwrite=overwrite))


def saved(destination: Path, data: bytes, *, overwrite: bool) -> Saved:
    if not overwrite:
        refuse_existing(destination)
    part = PartFile(destination)
    try:
        part.write(data)
        part.publish(overwrite=overwrite)
    finally:
        part.discard()
    return Saved(destination, part.size, part.hash.hexdigest())
