"""Artifacts as files: media through the browser's own loader, texts as they are; whole, and never over another.

Fresh media may be missing for some seconds after an artifact is ready, and one of several addresses may refuse while
another works: each is tried, and the artifact is listed again for fresh ones.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from pydantic import Field

from nlm_cdp import media
from nlm_cdp.api.common import refuse
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.notes import notes
from nlm_cdp.api.studio.artifacts import FAILED, READY, Asset, kind_of
from nlm_cdp.api.studio.blocks import STATUS, Artifact
from nlm_cdp.api.studio.reading import ArtifactInfo, Type, info
from nlm_cdp.api.studio.studio import GET, LIST, latest, listing, settle, whole
from nlm_cdp.errors import NlmError, NotFound, NotReady, Permission, Service
from nlm_cdp.local.files import safe_name
from nlm_cdp.rpc import Args, Effect, Result, Saved, Scope, ToolContext, tool

if TYPE_CHECKING:
    from pathlib import Path as FilePath

    from nlm_cdp.browser.transfer import Downloaded

AGAIN = (2.0, 4.0, 8.0)
"""Seconds between the tries at media that are not there yet."""


class DownloadArgs(Args):
    artifact: str | None = None
    type: Type | None = Field(None, description="its latest, without artifact")
    notebook: str | None = None
    path: str | None = Field(None, description="default: named after the title")
    destination_dir: str | None = None
    format: str | None = None
    overwrite: bool = False
    wait: bool = False
    timeout_s: float = Field(600, ge=5, le=3600)


class DownloadResult(Result):
    notebook_id: str
    artifact: ArtifactInfo
    file_path: str
    size_bytes: int
    mime_type: str
    sha256: str
    note: str | None = None


@tool(scope=Scope.READ, effect=Effect.READ, rpcs=(LIST, GET, notes.LIST), was=("download_audio",))
async def download_artifact(ctx: ToolContext, args: DownloadArgs) -> DownloadResult:
    """Save an artifact as a file under the download root."""
    if (args.artifact is None) == (args.type is None):
        raise refuse("give either artifact or type")
    if args.path is not None and args.destination_dir is not None:
        raise refuse("give either path or destination_dir")
    notebook = await notebooks.notebook_id(ctx, args.notebook)
    row = await wanted(ctx, notebook, args)
    row = await whole(ctx, notebook, row)
    if args.wait:
        row, _ = await settle(ctx, notebook, row, args.timeout_s)
    state = info(row, whole=True).status
    if state != STATUS[READY]:
        hint = "It failed; generate it anew." if state == STATUS[FAILED] else "Say wait, or poll get_artifact."
        raise NotReady(f"the artifact is {state}", hint=hint, state=state)
    form = chosen_form(row, args.format)
    kind = kind_of(row)
    if form in kind.texts:
        text = await ctx.offload(lambda: kind.texts[form](row))
        destination = await place(ctx, row, args, form)
        saved = await ctx.files.save(destination, text.encode("utf-8", "replace"), overwrite=args.overwrite)
        return result(notebook, row, saved, media_type(form))
    assets = kind.files[form](row)
    destination = await place(ctx, row, args, assets[0].extension)
    loaded = await fetched(ctx, notebook, row, form, destination=destination, args=args)
    note = odd_bytes(loaded.mime, destination.suffix)
    return result(notebook, row, loaded, loaded.mime, note)


def result(
    notebook: str, row: Artifact, file: Downloaded | Saved, mime: str, note: str | None = None
) -> DownloadResult:
    return DownloadResult(
        notebook_id=notebook,
        artifact=info(row, whole=True),
        file_path=str(file.path),
        size_bytes=file.size,
        mime_type=mime,
        sha256=file.sha256,
        note=note,
    )


async def wanted(ctx: ToolContext, notebook: str, args: DownloadArgs) -> Artifact:
    """The artifact named, or the latest of a type: a ready one before one that is not."""
    studio = await listing(ctx, notebook)
    if args.artifact is not None:
        return studio.meant(args.artifact)
    rows = [row for row in studio.rows.values() if kind_of(row).name == args.type]
    if not rows:
        raise NotFound(f"the notebook has no {args.type}", hint="list_artifacts shows what there is.")
    return max(rows, key=lambda row: (row.status == READY, row.created.seconds if row.created else 0))


def chosen_form(row: Artifact, wanted: str | None) -> str:
    kind = kind_of(row)
    forms = [*kind.files, *kind.texts]
    if not forms:
        raise refuse(f"a {kind.name} cannot be saved as a file")
    if wanted is not None and wanted not in forms:
        raise refuse(f"a {kind.name} cannot be saved as {wanted}", f"Possible: {', '.join(forms)}.")
    there = [form for form, find in kind.files.items() if find(row)] + list(kind.texts)
    if wanted is None:
        return there[0] if there else forms[0]
    if wanted not in there:
        raise NotReady(f"the artifact has no {wanted}", hint=f"It has {', '.join(there) or 'no file yet'}.")
    return wanted


async def place(ctx: ToolContext, row: Artifact, args: DownloadArgs, extension: str) -> FilePath:
    """Where the file goes; a name of the caller's must not say that it is something else."""
    if args.path is None:
        name = safe_name(row.title, extension)
        return await ctx.files.writable(str(PurePath(args.destination_dir or "") / name))
    suffix = PurePath(args.path).suffix.removeprefix(".").lower()
    if suffix and suffix != extension:
        raise refuse(f"the file will be .{extension}, not .{suffix}", "Name it so, or leave the extension out.")
    return await ctx.files.writable(args.path if suffix else f"{args.path}.{extension}")


async def fetched(
    ctx: ToolContext, notebook: str, row: Artifact, form: str, *, destination: FilePath, args: DownloadArgs
) -> Downloaded:
    """The first of its addresses that gives the file, looked for again while there is none."""
    deadline = ctx.now() + args.timeout_s

    async def progress(received: int, total: int | None) -> None:
        await ctx.progress(f"{destination.name}: {received} of {total or '?'} bytes")

    trouble: NlmError = NotReady("the artifact has no file yet")
    for pause in (*AGAIN, None):
        assets: list[Asset] = kind_of(row).files[form](row)
        for asset in assets:
            try:
                return await ctx.call.download(
                    asset.url,
                    destination,
                    overwrite=args.overwrite,
                    progress=progress,
                    timeout=max(1.0, deadline - ctx.now()),
                )
            except (NotReady, Permission, Service) as exc:
                trouble = exc
        if pause is None or ctx.now() + pause > deadline:
            break
        await ctx.sleep(pause)
        row = await latest(ctx, notebook, row)
    raise trouble


def odd_bytes(mime: str, suffix: str) -> str | None:
    expected = media.extension_for(mime)
    if expected is None or expected == suffix:
        return None
    return f"the bytes are {mime}: {expected} would be the usual extension"


def media_type(form: str) -> str:
    return {"md": "text/markdown", "csv": "text/csv", "json": "application/json", "html": "text/html"}[form]
