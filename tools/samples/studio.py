"""Samples of the calls about artifacts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nlm_cdp.api import blocks, creation, curating, elements, reworking, studio, suggesting
from nlm_cdp.api.common import Provenance, RequestContext
from nlm_cdp.api.studio_options import OPTIONS, chosen
from nlm_cdp.sim.generation import finish, make, suggest
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account

if TYPE_CHECKING:
    from tools.samples import Sample

PROMPT = "For keepers of lighthouses 🧪"


def samples(account: Account, notebook: Notebook) -> Iterator[Sample]:
    where, sources = notebook.id, list(notebook.sources)
    for kind in OPTIONS:
        order = creation.Order(where, sources, PROMPT, "en", chosen(kind, {}, PROMPT))
        rpc = creation.CREATIONS[kind].rpc
        yield rpc, creation.CREATIONS[kind].request(order), where
    guide = creation.CreateInteractiveReport(
        context=RequestContext(provenance=Provenance(flags=[1]), app=[1, 4, 8, 10, 14, 2, 3, 6]),
        notebook_id=where,
        sources=sources,
        options=blocks.TextOptions(prompt=PROMPT, language="en"),
    )
    yield creation.INTERACTIVE_REPORT, guide, where
    pair = creation.Pair(key="[CONTEXT]", value=PROMPT)
    yield creation.DRAW_MIND_MAP, creation.DrawMindMap(sources=sources, values=[pair]), where
    yield creation.SUGGEST_FORMATS, creation.SuggestFormats(sources=sources, values=[pair]), where
    yield from of_artifacts(account, notebook)
    yield from of_elements(account, notebook)
    yield suggesting.SUGGEST, suggesting.SuggestReports(notebook_id=where), where
    yield suggesting.CHOICES, suggesting.ListChoices(notebook_id=where), where


def of_artifacts(account: Account, notebook: Notebook) -> Iterator[Sample]:
    where, sources = notebook.id, list(notebook.sources.values())
    report, deck, quiz = (
        finish(account, make(account, notebook, type, options, sources)).row.id
        for type, options in (
            (blocks.REPORT, blocks.ReportOptions(kind="Briefing Doc", f8=True)),
            (blocks.SLIDES, blocks.SlideOptions(format=1)),
            (blocks.APP, blocks.QuizOptions(amount=blocks.Amount(quantity=1, difficulty=1))),
        )
    )
    account.service.generations_fail = True
    failed = make(account, notebook, blocks.AUDIO, blocks.AudioOptions(), sources).row.id
    account.service.generations_fail = False
    for _ in range(3):
        yield studio.LIST, studio.ListArtifacts(notebook_id=where), where
    yield studio.GET, studio.GetArtifact(artifact_id=quiz), where
    yield reworking.RETRY, reworking.RetryArtifact(artifact_id=failed), where
    change = reworking.SlideChange(slide=0, prompt="Shorter.")
    yield reworking.REVISE, reworking.ReviseSlides(artifact_id=deck, changes=[change]), where
    yield curating.RENAME, curating.RenameArtifact(artifact_id=report, title="Ünïcode 🧪"), where
    yield curating.EXPORT, curating.ExportArtifact(artifact_id=report, title="Exported", type=1), where
    yield curating.EXPORT_TEXT, curating.ExportText(content="A text.", title="Exported", type=2), where
    target = account.add_notebook("Target").id
    yield elements.COPY, elements.CopyArtifacts(artifact_ids=[quiz], target_id=target), where
    yield elements.SHARE, elements.ShareArtifact(public=1, notebook_id=where, artifact_id=report), where
    yield elements.MARK_UNREAD, elements.MarkUnread(artifact_id=report, unread=0), where
    yield elements.MARK_VIEWED, elements.MarkViewed(artifact_ids=[report]), where
    yield curating.DELETE, curating.DeleteArtifact(artifact_id=report), where


def of_elements(account: Account, notebook: Notebook) -> Iterator[Sample]:
    """The options of suggested elements, with the masks that one client sends (M)."""
    for rpc, type, mask, options in (
        (
            elements.AUDIO,
            blocks.AUDIO,
            "audio_overview.generation_options.episode_focus",
            blocks.AudioOptions(prompt=PROMPT, length=2, language="en", format=2),
        ),
        (
            elements.VIDEO,
            blocks.VIDEO,
            "explainer_video.generation_options.video_focus",
            blocks.VideoOptions(prompt=PROMPT, language="en", format=3, style=1),
        ),
        (
            elements.FLASHCARDS,
            blocks.APP,
            "app.generation_options.free_text_steering_prompt",
            blocks.FlashcardOptions(prompt=PROMPT, language="en", amount=blocks.Amount(quantity=1, difficulty=2)),
        ),
        (
            elements.QUIZ,
            blocks.APP,
            "app.generation_options.free_text_steering_prompt",
            blocks.QuizOptions(prompt=PROMPT, language="en", amount=blocks.Amount(quantity=2, difficulty=2)),
        ),
        (
            elements.MIND_MAP,
            blocks.APP,
            "app.generation_options.free_text_steering_prompt",
            blocks.MindMapOptions(prompt=PROMPT, language="en"),
        ),
        (
            elements.INFOGRAPHIC,
            blocks.INFOGRAPHIC,
            "infographic.generation_options.user_steering_prompt",
            blocks.InfographicOptions(prompt=PROMPT, language="en", orientation=1, detail=2, style=1),
        ),
        (
            elements.SLIDES,
            blocks.SLIDES,
            "slides.generation_options.user_steering_prompt",
            blocks.SlideOptions(prompt=PROMPT, language="en", format=1, length=3),
        ),
    ):
        suggested = suggest(account, notebook, type, options).row.id
        sources, paths = list(notebook.sources), [mask, "sources"]
        yield rpc, rpc.request(artifact_id=suggested, sources=sources, options=options, mask=paths), notebook.id
