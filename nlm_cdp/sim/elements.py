"""The calls about artifacts that only the web app makes: copies, read flags, and the options of suggested elements."""

from __future__ import annotations

from typing import Any

from nlm_cdp.api.common import Empty
from nlm_cdp.api.studio import blocks, contents
from nlm_cdp.api.studio import elements as api
from nlm_cdp.api.studio.artifacts import SUGGESTED
from nlm_cdp.api.studio.blocks import Artifact as Row
from nlm_cdp.api.studio.blocks import UserState
from nlm_cdp.sim.answers import INVALID, Handler, Refusal
from nlm_cdp.sim.generation import PENDING, echoed, maker_of, planned, stamped
from nlm_cdp.sim.notebooks import changeable
from nlm_cdp.sim.records import Artifact
from nlm_cdp.sim.state import Account
from nlm_cdp.sim.studio import changed, located

BARE: dict[str, Any] = {"created": None, "modified": None, "etag": None, "user": None}
APPS = {blocks.QUIZ: "notebooklm_quiz_web", blocks.FLASHCARDS: "notebooklm_flashcards_web"}


def configure(account: Account, request: api.Element) -> Row | Refusal:
    """The options of an element that is only suggested."""
    place = changed(account, request.artifact_id)
    if isinstance(place, Refusal):
        return place
    artifact, asked = place[1], vars(request)
    kept = echoed(asked["options"])
    maker = maker_of(artifact.row)
    if artifact.row.status != SUGGESTED or not isinstance(kept, type(getattr(artifact.row, maker.field).options)):
        return Refusal(INVALID)
    artifact.row = stamped(account, artifact.row, **{maker.field: maker.block(options=kept)})
    artifact.done = planned(account, place[0], artifact.row)
    return artifact.row


def copy(account: Account, request: api.CopyArtifacts) -> api.Copies | Refusal:
    target = changeable(account, request.target_id)
    if isinstance(target, Refusal):
        return target
    copies = []
    for artifact_id in request.artifact_ids:
        place = located(account, artifact_id)
        if isinstance(place, Refusal):
            return place
        original = place[1]
        same = {"id": account.service.new_id(), "copied_from": artifact_id}
        done = original.done.model_copy(update=same)
        maker = maker_of(done)
        block = in_a_cell(done.app) or maker.block(options=getattr(done, maker.field).options)
        fresh = original.done.model_copy(update=same | BARE | {"status": PENDING, maker.field: block})
        target.artifacts[done.id] = Artifact(fresh, done, account.service.studio_reads)
        copies.append(api.Copy(original_id=artifact_id, artifact=fresh))
    return api.Copies(copies=copies)


def in_a_cell(app: blocks.App | None) -> blocks.App | None:
    """An app as copies have it: its data beside the options, and no page yet."""
    if app is None or app.options is None:
        return None
    text = contents.app_json(Row(id="", app=app))
    content = blocks.AppContent(json_text=text, app=APPS.get(app.options.variant))
    return blocks.App(options=app.options, content=content)


def share(account: Account, request: api.ShareArtifact) -> Refusal:
    return Refusal(INVALID)


def mark_unread(account: Account, request: api.MarkUnread) -> api.Marked | Refusal:
    place = located(account, request.artifact_id)
    if isinstance(place, Refusal):
        return place
    place[1].row = place[1].row.model_copy(update={"user": UserState(unread=bool(request.unread))})
    return api.Marked(unread=request.unread)


def mark_viewed(account: Account, request: api.MarkViewed) -> Empty | Refusal:
    for artifact_id in request.artifact_ids:
        place = located(account, artifact_id)
        if isinstance(place, Refusal):
            return place
        place[1].row = place[1].row.model_copy(update={"user": UserState(unread=False)})
    return Empty()


ELEMENTS = (
    api.AUDIO,
    api.VIDEO,
    api.FLASHCARDS,
    api.QUIZ,
    api.MIND_MAP,
    api.INFOGRAPHIC,
    api.SLIDES,
)
HANDLERS: tuple[Handler[Any, Any], ...] = (
    *(Handler(rpc, configure) for rpc in ELEMENTS),
    Handler(api.COPY, copy),
    Handler(api.SHARE, share),
    Handler(api.MARK_UNREAD, mark_unread),
    Handler(api.MARK_VIEWED, mark_viewed),
)
