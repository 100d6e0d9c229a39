"""How an artifact comes about: pending, processing, then ready or failed, a step at every look or every few of them."""

from __future__ import annotations

import base64
from typing import Any

from nlm_cdp.api.common import Timestamp
from nlm_cdp.api.studio import blocks
from nlm_cdp.api.studio.artifacts import FAILED, READY, SUGGESTED
from nlm_cdp.api.studio.blocks import Artifact as Row
from nlm_cdp.api.studio.blocks import ArtifactSource, UserState
from nlm_cdp.sim.artwork import MAKES, NOTICE, Make, Material
from nlm_cdp.sim.records import Artifact, Notebook, Source
from nlm_cdp.sim.state import Account

PENDING, PROCESSING = 1, 2
LANGUAGE = "en"


def make(
    account: Account,
    notebook: Notebook,
    type: int,
    options: Any,
    sources: list[Source],
    *,
    artifact_id: str | None = None,
    derived_from: str | None = None,
) -> Artifact:
    """A new artifact: all that it will be is known, and not told yet."""
    kept = echoed(options)
    maker = MAKES[type, getattr(kept, "variant", 0)]
    row = Row(
        id=artifact_id or account.service.new_id(),
        title=notebook.title,
        type=type,
        sources=[ArtifactSource(id=source.id, type=source.type) for source in sources],
        status=PENDING,
        f20=1,
        derived_from=derived_from,
    ).model_copy(update={maker.field: maker.block(options=kept)})
    service = account.service
    doomed = service.generations_fail
    made = Artifact(row, planned(account, notebook, row), service.studio_reads, service.media_lag, doomed)
    notebook.artifacts[row.id] = made
    return made


def planned(account: Account, notebook: Notebook, row: Row) -> Row:
    """What a row will be when it is ready, out of its sources as they are now."""
    maker = maker_of(row)
    sources = [notebook.sources[each.id] for each in row.sources if each.id in notebook.sources]
    title = f"{maker.title}: {notebook.title} (simulated)"
    block = maker.finish(Material(account.service, notebook, sources, getattr(row, maker.field).options, title))
    return row.model_copy(update={"title": title, "status": READY, maker.field: block, "user": UserState(unread=True)})


def echoed(options: Any) -> Any:
    """The options as rows tell them: in a language, and those of apps in one form; an audio's has a sixth cell."""
    language = options.language or LANGUAGE
    if isinstance(options, blocks.AudioOptions):
        return options.model_copy(update={"language": language, "f6": True})
    if not isinstance(options, blocks.FlashcardOptions | blocks.QuizOptions | blocks.MindMapOptions):
        return options.model_copy(update={"language": language})
    kept = blocks.AppOptions(variant=options.variant, prompt=options.prompt, language=language, f9=True)
    amount = getattr(options, "amount", None)
    field = "quiz" if isinstance(options, blocks.QuizOptions) else "flashcards"
    return kept.model_copy(update={field: amount}) if amount else kept


def stamped(account: Account, row: Row, **changes: Any) -> Row:
    """The row as it is from now on; the first stamp is also its creation's."""
    now = account.service.stamp()
    dates = {"modified": now, "created": row.created or now, "etag": etag(now)}
    return row.model_copy(update=dates | changes)


def etag(at: Timestamp) -> str:
    return base64.b64encode(f"{at.seconds}-{at.nanos:09d}".encode()).decode()


def advance(account: Account, artifact: Artifact) -> Row:
    """One look: after enough of them it is processing, then ready without its media, then whole."""
    row = artifact.row
    if row.status == READY and artifact.lag:
        artifact.lag -= 1
        if not artifact.lag:
            artifact.row = with_content(row, artifact.done)
    elif row.status in (PENDING, PROCESSING):
        if row.created is None:
            artifact.row = stamped(account, row)
        elif artifact.reads > 1:
            artifact.reads -= 1
        else:
            artifact.reads = account.service.studio_reads
            artifact.row = step(account, artifact)
    return artifact.row


def step(account: Account, artifact: Artifact) -> Row:
    row, done = artifact.row, artifact.done
    if row.status == PENDING:
        return stamped(account, row, status=PROCESSING)
    if artifact.doomed:
        return stamped(account, row, status=FAILED)
    ready = stamped(account, row, status=READY, title=done.title, user=done.user)
    return ready if artifact.lag else with_content(ready, done)


def with_content(row: Row, done: Row) -> Row:
    field = maker_of(done).field
    return row.model_copy(update={field: getattr(done, field)})


def maker_of(row: Row) -> Make:
    variant = row.app.options.variant if row.app and row.app.options else 0
    return MAKES[row.type, variant]


def finish(account: Account, artifact: Artifact) -> Artifact:
    """Skip the waiting: for states that begin with artifacts."""
    artifact.row = with_content(
        stamped(account, artifact.row, status=READY, title=artifact.done.title, user=artifact.done.user), artifact.done
    )
    return artifact


def suggest(account: Account, notebook: Notebook, type: int, options: Any) -> Artifact:
    """A suggested artifact: it waits to be asked for, and hides from lists that filter it out."""
    made = make(account, notebook, type, options, list(notebook.sources.values()))
    card = blocks.Suggestion(title=made.done.title, description=NOTICE)
    made.row = stamped(account, made.row, status=SUGGESTED, suggestion=card)
    return made
