"""MCP resources: what a client can attach without calling a tool. Each is what the tool that reads the same answers.

Listing and completing know the local library only; reading a notebook, a source or a note is what touches Chrome.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import unquote

import mcp_types as mt

from nlm_cdp.errors import NotFound

Run = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
"""Runs a tool by name and gives its structured result."""

JSON, MARKDOWN = "application/json", "text/markdown"
LONGEST = 200_000
"""Characters of a source or a note in one resource; the tools read on from there."""
MOST = 100
"""Values that a completion may hold."""
REST = "nlm-cdp/result"
"""What a tool says beside the text itself, in the `_meta` of the text."""

LIBRARY, METADATA = "notebooklm://library", "notebooklm://metadata"
ENTRY, NOTEBOOK = "notebooklm://library/{id}", "notebooklm://notebook/{id}"
SOURCE, NOTE = "notebooklm://notebook/{id}/source/{source_id}", "notebooklm://notebook/{id}/note/{note_id}"

RESOURCES = [
    mt.Resource(uri=LIBRARY, name="library", description="The local library of notebooks.", mime_type=JSON),
    mt.Resource(uri=METADATA, name="metadata", description=f"Deprecated: read {LIBRARY} instead.", mime_type=JSON),
]
TEMPLATES = [
    mt.ResourceTemplate(
        uri_template=ENTRY, name="library entry", description="One notebook of the local library.", mime_type=JSON
    ),
    mt.ResourceTemplate(
        uri_template=NOTEBOOK, name="notebook", description="A notebook with its sources.", mime_type=JSON
    ),
    mt.ResourceTemplate(uri_template=SOURCE, name="source", description="The text of a source.", mime_type=MARKDOWN),
    mt.ResourceTemplate(uri_template=NOTE, name="note", description="The text of a note."),
]


async def read(uri: str, run: Run) -> mt.ReadResourceResult:
    """The contents of a resource. Raises NotFound for a URI that is none, else what the tool raises."""
    for template, reader in READERS.items():
        if (match := pattern(template).fullmatch(uri)) is not None:
            names = {name: unquote(value) for name, value in match.groupdict().items()}
            return mt.ReadResourceResult(contents=[await reader(uri, run, **names)])
    raise NotFound("there is no such resource", hint="See the lists of resources and of their templates.")


def pattern(template: str) -> re.Pattern[str]:
    """The URIs that a template makes."""
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/?#]+)", re.escape(template)) + "/?")


def as_json(uri: str, value: dict[str, Any]) -> mt.TextResourceContents:
    return mt.TextResourceContents(uri=uri, mime_type=JSON, text=json.dumps(value, ensure_ascii=False, indent=2))


def as_text(uri: str, mime: str, result: dict[str, Any], more: str) -> mt.TextResourceContents:
    """The content of a result; a cut one says so where it ends. What else there is goes along in `_meta`."""
    rest = {name.lstrip("_"): value for name, value in result.items() if name != "content"}
    left = result["total_chars"] - len(result["content"]) if result["has_more"] else 0
    cut = f"\n\n[{left} characters more: {more}, offset {len(result['content'])}]" if left else ""
    return mt.TextResourceContents(uri=uri, mime_type=mime, text=result["content"] + cut, _meta={REST: rest})


async def library(uri: str, run: Run) -> mt.TextResourceContents:
    return as_json(uri, await run("search_notebooks", {"query": ""}))


async def metadata(uri: str, run: Run) -> mt.TextResourceContents:
    deprecated = {"deprecated": f"Read {LIBRARY} instead: this is the same."}
    return as_json(uri, deprecated | await run("search_notebooks", {"query": ""}))


async def entry(uri: str, run: Run, id: str) -> mt.TextResourceContents:
    for found in (await run("search_notebooks", {"query": ""}))["entries"]:
        if found["id"] == id:
            return as_json(uri, found)
    raise NotFound("the library has no notebook of this id", hint=f"Read {LIBRARY} to see what is there.")


async def notebook(uri: str, run: Run, id: str) -> mt.TextResourceContents:
    return as_json(uri, await run("get_notebook", {"notebook": id}))


async def source(uri: str, run: Run, id: str, source_id: str) -> mt.TextResourceContents:
    asked = {"notebook": id, "source": source_id, "format": "markdown", "max_chars": LONGEST}
    return as_text(uri, MARKDOWN, await run("get_source_content", asked), f"get_source_content, source {source_id}")


async def note(uri: str, run: Run, id: str, note_id: str) -> mt.TextResourceContents:
    result = await run("get_note", {"notebook": id, "note": note_id, "max_chars": LONGEST})
    mime = JSON if result["note"]["kind"] == "mind_map" else MARKDOWN
    return as_text(uri, mime, result, f"get_note, note {note_id}")


READERS: dict[str, Callable[..., Awaitable[mt.TextResourceContents]]] = {
    LIBRARY: library,
    METADATA: metadata,
    ENTRY: entry,
    NOTEBOOK: notebook,
    SOURCE: source,
    NOTE: note,
}


async def complete(params: mt.CompleteRequestParams, run: Run) -> mt.Completion:
    """Notebooks of the library: by id for a resource, by name for a prompt. Of anything else nothing is known here."""
    kind = {"id": "id"} if isinstance(params.ref, mt.ResourceTemplateReference) else {"notebook": "name"}
    if params.argument.name not in kind:
        return mt.Completion(values=[], total=0, has_more=False)
    typed = params.argument.value.casefold()
    found = [
        each[kind[params.argument.name]]
        for each in (await run("search_notebooks", {"query": ""}))["entries"]
        if each["id"].startswith(typed) or typed in each["name"].casefold()
    ]
    return mt.Completion(values=found[:MOST], total=len(found), has_more=len(found) > MOST)
