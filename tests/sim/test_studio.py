"""The simulated studio: how artifacts come about, what their rows look like, and the service's odd ways."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from nlm_cdp.api.common import SHORT
from nlm_cdp.api.studio import blocks, creation, curating, elements, reworking, studio, suggesting
from nlm_cdp.api.studio.artifacts import KINDS, downloadable, kind_of, state
from nlm_cdp.api.studio.contents import table_rows
from nlm_cdp.api.studio.creation import CREATIONS, Order
from nlm_cdp.api.studio.vocabulary import OPTIONS, chosen
from nlm_cdp.sim.calls import run
from nlm_cdp.sim.generation import finish, make, suggest
from nlm_cdp.sim.media import DOWNLOAD
from nlm_cdp.sim.records import VIEWER, Artifact, Notebook
from nlm_cdp.sim.seed import seed
from nlm_cdp.sim.state import Account, Service
from nlm_cdp.wire.document import markdown
from tests.fakes import present

START = 1_700_000_000


@pytest.fixture
def account() -> Account:
    return Service(now=lambda: START).owner


@pytest.fixture
def notebook(account: Account) -> Notebook:
    return seed(account)


def call(account: Account, rpc: Any, request: Any) -> Any:
    return run(account, rpc.id, request.encode())


def order(account: Account, notebook: Notebook, kind: str, **options: str) -> Any:
    wanted = Order(notebook.id, list(notebook.sources), "Fog", None, chosen(kind, options, "Fog"))
    return call(account, CREATIONS[kind].rpc, CREATIONS[kind].request(wanted))


def look(account: Account, notebook: Notebook, number: int = 1) -> list[Any]:
    for _ in range(number):
        answer = call(account, studio.LIST, studio.ListArtifacts(notebook_id=notebook.id))
    return answer.artifacts or []


def done(account: Account, notebook: Notebook, type: int, options: Any) -> Artifact:
    return finish(account, make(account, notebook, type, options, list(notebook.sources.values())))


@pytest.mark.parametrize("kind", OPTIONS)
def test_an_artifact_is_pending_then_processing_then_ready(account: Account, notebook: Notebook, kind: str) -> None:
    made = order(account, notebook, kind).artifact
    row = made.encode()
    assert (row[1], row[4], row[10], row[15], row[19]) == (notebook.title, 1, None, None, 1)
    assert row[3] == [[[source.id], None, source.type] for source in notebook.sources.values()]
    assert [look(account, notebook)[0].status for _ in range(4)] == [1, 2, 3, 3]
    whole = call(account, studio.GET, studio.GetArtifact(artifact_id=made.id)).artifact
    assert (whole.id, kind_of(whole).name, state(whole, whole=True)) == (made.id, kind, "ready")
    assert whole.title.endswith("(simulated)")
    assert downloadable(whole)
    at = whole.modified
    assert base64.b64decode(whole.etag).decode() == f"{at.seconds}-{at.nanos:09d}"
    assert whole.user.unread is True
    for write in kind_of(whole).texts.values():
        assert "imulat" in write(whole)


def test_the_options_are_echoed_with_a_language(account: Account, notebook: Notebook) -> None:
    made = order(account, notebook, "quiz", quantity="more").artifact.encode()
    assert made[9] == [None, [2, None, "Fog", "en", None, None, None, [3, 2], True]]
    made = order(account, notebook, "flashcards").artifact.encode()
    assert made[9] == [None, [1, None, "Fog", "en", None, None, [2, 2], None, True]]
    made = order(account, notebook, "audio").artifact.encode()
    assert made[6][1][4:] == ["en", True, 1]
    empty = blocks.QuizOptions(amount=blocks.Amount())
    request = creation.CreateQuiz(notebook_id=notebook.id, sources=list(notebook.sources), options=empty)
    assert call(account, creation.QUIZ, request).artifact.encode()[9][1][7] == []


def test_more_looks_and_lagging_media(account: Account, notebook: Notebook) -> None:
    account.service.studio_reads, account.service.media_lag = 2, 2
    order(account, notebook, "video")
    seen = [look(account, notebook)[0] for _ in range(8)]
    assert [row.status for row in seen] == [1, 1, 2, 2, 3, 3, 3, 3]
    assert [state(row) for row in seen[4:]] == ["processing", "processing", "ready", "ready"]


def test_a_failure_says_nothing_and_is_retried_under_its_id(account: Account, notebook: Notebook) -> None:
    account.service.generations_fail = True
    made = order(account, notebook, "audio").artifact
    failed = look(account, notebook, 3)[0]
    assert (failed.status, failed.audio.media) == (4, [])
    account.service.generations_fail = False
    again = call(account, reworking.RETRY, reworking.RetryArtifact(artifact_id=made.id)).artifact
    assert (again.id, again.status) == (made.id, 1)
    assert look(account, notebook, 2)[0].status == 3
    refused = call(account, reworking.RETRY, reworking.RetryArtifact(artifact_id=made.id))
    assert refused.code == 3


def test_media_lead_to_the_media_hosts(account: Account, notebook: Notebook) -> None:
    row = done(account, notebook, blocks.AUDIO, blocks.AudioOptions()).row
    best = kind_of(row).files["m4a"](row)[0]
    assert best.url.startswith(f"https://{DOWNLOAD}/download?")
    assert best.url == present(row.audio).direct
    assert [entry.kind for entry in present(row.audio).media] == [4, 1, 2, 3]
    assert all(media.size > 0 for media in account.service.media.values())


def test_content_is_made_of_the_sources(account: Account, notebook: Notebook) -> None:
    report = done(account, notebook, blocks.REPORT, blocks.ReportOptions(kind="Briefing Doc", f8=True)).row
    written = present(report.report)
    text = present(written.markdown)
    assert markdown(present(written.document).decode()).split() == text.split()
    assert "It keeps its notebooks in memory" in text
    table = done(account, notebook, blocks.TABLE, blocks.TextOptions()).row
    assert [line[0] for line in table_rows(table)[1:]] == [source.title for source in notebook.sources.values()]
    quiz = done(account, notebook, blocks.APP, blocks.QuizOptions(amount=blocks.Amount(quantity=1))).row
    assert len(json.loads(kind_of(quiz).texts["json"](quiz))["quiz"]) == 3


def test_listings_leave_pages_out(account: Account, notebook: Notebook) -> None:
    quiz = done(account, notebook, blocks.APP, blocks.QuizOptions()).row
    assert present(quiz.app).html
    assert look(account, notebook)[0].app.html == ""


def test_suggestions_hide_from_the_filter(account: Account, notebook: Notebook) -> None:
    card = suggest(account, notebook, blocks.APP, blocks.QuizOptions()).row
    assert look(account, notebook) == []
    (listed,) = call(account, studio.LIST, studio.ListArtifacts(notebook_id=notebook.id, filter=None)).artifacts
    assert (listed.status, listed.suggestion.title) == (5, f"Quiz: {notebook.title} (simulated)")
    assert len(listed.encode()) == 36
    options = blocks.QuizOptions(prompt="Fog", amount=blocks.Amount(quantity=1))
    configured = elements.QuizElement(artifact_id=card.id, options=options, mask=["sources"])
    assert call(account, elements.QUIZ, configured).app.options.prompt == "Fog"
    other = elements.AudioElement(artifact_id=card.id, options=blocks.AudioOptions(), mask=["sources"])
    assert call(account, elements.AUDIO, other).code == 3
    call(account, reworking.RETRY, reworking.RetryArtifact(artifact_id=card.id))
    assert [row.status for row in look(account, notebook, 3)] == [3]
    whole = call(account, studio.GET, studio.GetArtifact(artifact_id=card.id)).artifact
    assert len(json.loads(kind_of(whole).texts["json"](whole))["quiz"]) == 3


def test_a_revision_is_a_new_row(account: Account, notebook: Notebook) -> None:
    deck = done(account, notebook, blocks.SLIDES, blocks.SlideOptions(format=1)).row
    change = reworking.SlideChange(slide=0, prompt="Shorter.")
    made = call(account, reworking.REVISE, reworking.ReviseSlides(artifact_id=deck.id, changes=[change])).artifact
    assert (made.title, made.derived_from, made.status) == (f"{deck.title} (2)", deck.id, 1)
    assert made.encode()[20] == deck.id
    rows = {row.id: row for row in look(account, notebook, 3)}
    assert "Shorter." in rows[made.id].slides.slides[0].text
    assert rows[deck.id].slides == deck.slides
    beyond = reworking.SlideChange(slide=99, prompt="x")
    assert call(account, reworking.REVISE, reworking.ReviseSlides(artifact_id=deck.id, changes=[beyond])).code == 3


def test_a_copy_keeps_its_data_in_a_cell(account: Account, notebook: Notebook) -> None:
    quiz = done(account, notebook, blocks.APP, blocks.QuizOptions()).row
    target = account.add_notebook("Target")
    (copy,) = call(account, elements.COPY, elements.CopyArtifacts(artifact_ids=[quiz.id], target_id=target.id)).copies
    row = copy.artifact.encode()
    assert (copy.original_id, len(row), row[25], row[4]) == (quiz.id, 26, quiz.id, 1)
    assert row[9][2][1] == "notebooklm_quiz_web"
    assert look(account, target, 3)[0].status == 3


def test_exports_are_new_files_each(account: Account, notebook: Notebook) -> None:
    report = done(account, notebook, blocks.REPORT, blocks.ReportOptions(f8=True)).row
    request = curating.ExportArtifact(artifact_id=report.id, title="x", type=2)
    urls = {call(account, curating.EXPORT, request).url for _ in range(2)}
    assert len(urls) == 2
    assert all(url.startswith("https://docs.google.com/spreadsheets/d/") for url in urls)
    text = curating.ExportText(content="x", title="x", type=1)
    assert call(account, curating.EXPORT_TEXT, text).url.startswith("https://docs.google.com/document/d/")


def test_read_flags(account: Account, notebook: Notebook) -> None:
    quiz = done(account, notebook, blocks.APP, blocks.QuizOptions()).row
    call(account, elements.MARK_VIEWED, elements.MarkViewed(artifact_ids=[quiz.id]))
    assert look(account, notebook)[0].user.unread is False
    assert call(account, elements.MARK_UNREAD, elements.MarkUnread(artifact_id=quiz.id, unread=1)).unread == 1
    assert look(account, notebook)[0].user.unread is True


def test_refusals(account: Account, notebook: Notebook) -> None:
    empty = account.add_notebook("Empty")
    assert order(account, empty, "quiz").code == 3
    foreign = creation.CreateTable(notebook_id=notebook.id, sources=["elsewhere"], options=blocks.TextOptions())
    assert call(account, creation.TABLE, foreign).code == 3
    gone = notebook.id, "nowhere"
    for rpc, request in (
        (studio.LIST, studio.ListArtifacts(notebook_id=gone[1])),
        (studio.GET, studio.GetArtifact(artifact_id=gone[1])),
        (curating.DELETE, curating.DeleteArtifact(artifact_id=gone[1])),
        (curating.RENAME, curating.RenameArtifact(artifact_id=gone[1], title="x")),
        (reworking.RETRY, reworking.RetryArtifact(artifact_id=gone[1])),
        (suggesting.SUGGEST, suggesting.SuggestReports(notebook_id=gone[1])),
    ):
        assert call(account, rpc, request).code == 5
    account.service.migrated = True
    old = creation.CreateTable(
        context=SHORT, notebook_id=notebook.id, sources=list(notebook.sources), options=blocks.TextOptions()
    )
    assert call(account, creation.TABLE, old).code == 3
    assert order(account, notebook, "data_table").artifact.status == 1
    notebook.role = VIEWER
    assert order(account, notebook, "quiz").code == 7


def test_a_drawn_map_is_kept_nowhere(account: Account, notebook: Notebook) -> None:
    pair = creation.Pair(key="[CONTEXT]", value="")
    drawn = call(account, creation.DRAW_MIND_MAP, creation.DrawMindMap(sources=list(notebook.sources), values=[pair]))
    assert json.loads(drawn.json_text)["children"][0]["name"] == "What this simulator is"
    assert look(account, notebook) == []
    assert notebook.notes == {}
    formats = creation.SuggestFormats(sources=list(notebook.sources), values=[pair])
    assert call(account, creation.SUGGEST_FORMATS, formats).code == 13


def test_every_kind_that_can_be_ordered_is_known() -> None:
    assert set(OPTIONS) == set(CREATIONS)
    assert set(CREATIONS) <= {kind.name for kind in KINDS}
