"""Samples of the source calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nlm_cdp.api import adding
from nlm_cdp.api import sources as api
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account

if TYPE_CHECKING:
    from tools.samples import Sample

TEXT = "# Lighthouses\nThe lamp is lit at sunset.\nIn fog the horn sounds every ninety seconds 🧪."


def samples(account: Account, notebook: Notebook) -> Iterator[Sample]:
    source = next(iter(notebook.sources))
    contents = [
        adding.Content(web="https://a.example/lamps"),
        adding.Content(video="https://www.youtube.com/watch?v=dQw4w9WgXcQ"),
        adding.Content(text=adding.Text(title="Lighthouses", content=TEXT), text_type=adding.TEXT_CONTENT),
    ]
    yield adding.ADD, adding.AddSources(contents=contents, notebook_id=notebook.id), notebook.id
    yield api.RENAME, api.RenameSource(source_id=source, title="Ünïcode 🧪"), notebook.id
    yield api.LOAD, api.LoadSource(source_id=source), notebook.id
    yield api.GUIDE, api.GuideSources(source_ids=[source]), notebook.id


def endings(account: Account, notebook: Notebook) -> Iterator[Sample]:
    yield api.DELETE, api.DeleteSources(source_ids=[next(iter(notebook.sources))]), notebook.id
