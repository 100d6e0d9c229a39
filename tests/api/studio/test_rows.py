"""Every row of an artifact call that somebody is known to send: one declared call, and the same row back."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api import classify
from nlm_cdp.api.studio import blocks, creation, curating, elements, reworking, studio, suggesting, vocabulary
from nlm_cdp.api.studio.creation import CREATIONS, Order
from nlm_cdp.rpc import Rpc
from nlm_cdp.wire.pblite import canonical
from tests.api.rows import writes_itself_back
from tests.fakes import NB, NB2, S1, S2

P1 = [1, *[None] * 9, [1]]
CTX = [2, None, None, P1]
CTX3C = [2, None, [1], [1, *[None] * 9, [1, 3]]]
CTXA = [*CTX, [[1, 4, 8, 2, 3, 6]]]
CTXA2 = [*CTX, [[1, 4, 8, 10, 14, 2, 3, 6]]]
NINE = [*CTX, [[1, 4, 8, 10, 14, 2, 3, 6, 7]]]
SRC, FLAT = [[[S1]], [[S2]]], [[S1], [S2]]
A1 = "artifact-1"


def description(type: int, slot: int, config: Any, sources: Any = SRC) -> list[Any]:
    return [None, None, type, sources, *[None] * (slot - 4), config]


def created(type: int, slot: int, config: Any, context: Any = CTXA, sources: Any = SRC) -> list[Any]:
    return [context, NB, description(type, slot, config, sources)]


def audio(*options: Any) -> list[Any]:
    return [None, list(options)]


def video(*options: Any) -> list[Any]:
    return [None, None, list(options)]


def app(*options: Any) -> list[Any]:
    return [None, list(options)]


BRIEF = ["Briefing Doc", "Key insights and important quotes", None, FLAT, "en", "Write it.", None, True]
CREATED = [
    ("audio, py", creation.AUDIO, created(1, 6, audio("Fog", 2, None, FLAT, "en", None, 1))),
    ("audio, py without prompt", creation.AUDIO, created(1, 6, audio(None, 2, None, FLAT, "en", None, 1))),
    ("audio, py without sources", creation.AUDIO, created(1, 6, audio(None, 2, None, [], "en", None, 1), sources=[])),
    ("audio, mcp", creation.AUDIO, created(1, 6, audio("", 2, None, FLAT, "en", None, 1), [2])),
    ("report", creation.REPORT, created(2, 7, [None, BRIEF])),
    ("report, January", creation.REPORT, created(2, 7, [None, BRIEF], [2])),
    ("report of one's own", creation.REPORT, created(2, 7, [None, ["Custom Report", "Custom format", *BRIEF[2:]]])),
    ("video", creation.VIDEO, created(3, 8, video(FLAT, "en", None, None, 1, 1))),
    ("video, mcp", creation.VIDEO, created(3, 8, video(FLAT, "en", "", None, 2, 9), [2])),
    ("cinematic", creation.VIDEO, created(3, 8, video(FLAT, "en", "Fog", None, 3))),
    ("cinematic with a style", creation.VIDEO, created(3, 8, video(FLAT, "en", "Fog", None, 3, 1))),
    ("short, py", creation.VIDEO, created(3, 8, video(FLAT, "en", "Fog", None, 4, 1))),
    ("short, mcp", creation.VIDEO, created(3, 8, video(FLAT, None, "Fog", None, 4, None, None, 1), [2])),
    ("style of one's own", creation.VIDEO, created(3, 8, video(FLAT, "en", None, None, 2, None, "Chalk on slate"))),
    ("the same, mcp", creation.VIDEO, created(3, 8, video(FLAT, "en", "", None, 1, 2, "Chalk on slate"), [2])),
    ("a bare 2, mcp", creation.VIDEO, created(3, 8, video(FLAT, "en", "", None, 1, 2), [2])),
    ("quiz", creation.QUIZ, created(4, 9, app(2, None, "Fog", None, None, None, None, [2, 2]))),
    ("quiz, January", creation.QUIZ, created(4, 9, app(2, None, None, None, None, None, None, [None, None]), [2])),
    ("flashcards", creation.FLASHCARDS, created(4, 9, app(1, None, "Fog", None, None, None, [2, 3]))),
    ("flashcards, January", creation.FLASHCARDS, created(4, 9, app(1, *[None] * 5, [None, None]), [2])),
    ("flashcards, mcp", creation.FLASHCARDS, created(4, 9, app(1, *[None] * 5, [1, 2]), [2])),
    ("mind map", creation.MIND_MAP, created(4, 9, app(4))),
    ("mind map with a prompt", creation.MIND_MAP, created(4, 9, app(4, None, "Fog"))),
    ("mind map, web app", creation.MIND_MAP, created(4, 9, app(4, None, "Fog", "en"))),
    ("infographic", creation.INFOGRAPHIC, created(7, 14, [["Fog", "en", None, 1, 2, 1]])),
    ("infographic, mcp", creation.INFOGRAPHIC, created(7, 14, [[None, "en", None, 3, 3, 11]], [2])),
    ("slides, py", creation.SLIDES, created(8, 16, [["Fog", "en", 1, 1]])),
    ("slides, mcp", creation.SLIDES, created(8, 16, [[None, "en", 1, 3]], [2])),
    ("table", creation.TABLE, created(9, 18, [None, ["Fog", "en"]])),
    ("table, mcp", creation.TABLE, created(9, 18, [None, ["", "en"]], [2])),
    ("interactive report", creation.INTERACTIVE_REPORT, created(11, 34, [None, ["", "en"]], CTXA2)),
    (
        "interactive report, another template",
        creation.INTERACTIVE_REPORT,
        created(11, 34, [None, ["Fog", "en"]], [2, None, None, [1, *[None] * 9, [2]], CTXA2[4]]),
    ),
]


def element(slot: int, config: Any, *paths: str, context: Any = NINE) -> list[Any]:
    row = [A1, None, None, SRC, *[None] * (slot - 4), config]
    return [row, [[*paths, "sources"]], None, context]


APP = "app.generation_options"
AUDIO, VIDEO = "audio_overview.generation_options", "explainer_video.generation_options"
ELEMENTS = [
    (
        "quiz",
        elements.QUIZ,
        element(
            9,
            app(2, None, None, "en", None, None, None, [2, 2]),
            f"{APP}.free_text_steering_prompt",
            f"{APP}.language_code",
            f"{APP}.quiz_generation_options.question_quantity",
            f"{APP}.quiz_generation_options.quiz_difficulty",
        ),
    ),
    (
        "flashcards",
        elements.FLASHCARDS,
        element(
            9,
            app(1, None, "Fog", "en", None, None, [1, 2]),
            f"{APP}.flashcards_generation_options.card_quantity",
            f"{APP}.flashcards_generation_options.flashcards_difficulty",
        ),
    ),
    ("mind map", elements.MIND_MAP, element(9, app(4, None, "Fog", "en"), f"{APP}.language_code")),
    (
        "audio",
        elements.AUDIO,
        element(
            6,
            audio("Fog", 2, None, None, "en", None, 2),
            f"{AUDIO}.episode_focus",
            f"{AUDIO}.episode_length",
            f"{AUDIO}.language_code",
            f"{AUDIO}.show_format",
        ),
    ),
    (
        "audio, plain",
        elements.AUDIO,
        element(6, audio("", None, None, None, "en", None, 2), f"{AUDIO}.episode_focus", f"{AUDIO}.show_format"),
    ),
    (
        "video",
        elements.VIDEO,
        element(8, video(None, "en", "Fog", None, 3, 1), f"{VIDEO}.template_format", f"{VIDEO}.video_overview_style"),
    ),
    ("short", elements.VIDEO, element(8, video(None, "en", "Fog", None, 4), f"{VIDEO}.video_focus")),
    (
        "infographic",
        elements.INFOGRAPHIC,
        element(14, [["Fog", "en", None, 1, 2, 1]], "infographic.generation_options.aspect_ratio"),
    ),
    ("slides", elements.SLIDES, element(16, [["Fog", "en", 1, 3]], "slides.generation_options.deck_type")),
]

MAP = ["interactive_mindmap", [["[CONTEXT]", ""]], ""]
UNSUGGESTED = 'NOT artifact.status = "ARTIFACT_STATUS_SUGGESTED"'
OTHERS = [
    ("list, January and mcp", studio.LIST, [[2], NB, UNSUGGESTED]),
    ("list, py", studio.LIST, [CTXA, NB, UNSUGGESTED]),
    ("list with suggestions", studio.LIST, [[2], NB]),
    ("get", studio.GET, [A1]),
    ("get, mcp", studio.GET, [A1, NINE]),
    ("rename", curating.RENAME, [[A1, "Fog"], [["title"]]]),
    ("delete", curating.DELETE, [[2], A1]),
    ("retry, py", reworking.RETRY, [CTXA, A1]),
    ("retry, mcp", reworking.RETRY, [CTXA2, A1]),
    ("revise", reworking.REVISE, [[2], A1, [[[0, "Shorter."]]]]),
    ("revise several", reworking.REVISE, [[2], A1, [[[0, "Shorter."], [3, "Longer."]]]]),
    ("export", curating.EXPORT, [None, A1, None, "Fog", 1]),
    ("export, sheets", curating.EXPORT, [None, A1, None, "Fog", 2]),
    ("export with a text, mcp", curating.EXPORT, [None, A1, "Replacement text", "Fog", 1]),
    ("export a text", curating.EXPORT_TEXT, [None, None, "Loose text", "Fog", 1]),
    ("export a text, sheets", curating.EXPORT_TEXT, [None, None, "Loose text", "Fog", 2]),
    ("copy", elements.COPY, [CTX, [A1], NB2]),
    ("share", elements.SHARE, [[1], NB]),
    ("share one", elements.SHARE, [[1], NB, A1]),
    ("share no more", elements.SHARE, [[0], NB]),
    ("share one no more", elements.SHARE, [[0], NB, A1]),
    ("share nothing, January", elements.SHARE, [[1], ""]),
    ("suggest", suggesting.SUGGEST, [[2], NB]),
    ("suggest from sources, web app", suggesting.SUGGEST, [[2], NB, FLAT]),
    ("choices", suggesting.CHOICES, [CTX]),
    ("choices of a notebook", suggesting.CHOICES, [CTX, NB]),
    ("choices of a type, web app", suggesting.CHOICES, [CTXA2, None, 1]),
    ("draw, January and mcp", creation.DRAW_MIND_MAP, [SRC, *[None] * 4, MAP, None, [2, None, [1]]]),
    (
        "draw, py",
        creation.DRAW_MIND_MAP,
        [SRC, *[None] * 4, [MAP[0], [["[CONTEXT]", "Fog"]], "en"], None, [2, None, [1]]],
    ),
    (
        "formats",
        creation.SUGGEST_FORMATS,
        [SRC, *[None] * 4, ["suggested_report_formats", [["[CONTEXT]", ""]], ""], None, [2, None, [1]]],
    ),
    ("read flag", elements.MARK_UNREAD, [CTX3C, A1, [None, None, None, None, 0], [["is_unread"]]]),
    ("viewed", elements.MARK_VIEWED, [CTX, [A1]]),
]
REQUESTS = [
    *CREATED,
    *((f"element, {name}", rpc, row) for name, rpc, row in ELEMENTS),
    *OTHERS,
]


@pytest.mark.parametrize(("rpc", "row"), [pytest.param(rpc, row, id=name) for name, rpc, row in REQUESTS])
def test_a_request_is_one_call_and_writes_itself_back(rpc: Rpc[Any, Any], row: list[Any]) -> None:
    writes_itself_back(rpc.id, row, rpc)


@pytest.mark.parametrize(
    ("rpc", "row"),
    [
        ("R7cb6c", created(4, 9, app(3))),
        ("R7cb6c", created(4, 9, app(2, *[None] * 5, [2, 2]))),
        ("R7cb6c", created(1, 7, [None, BRIEF])),
        ("R7cb6c", created(10, 24, ["x"])),
        ("rc3d8d", [[A1, "Fog"], [["sources"]]]),
        ("yyryJe", [SRC, *[None] * 4, ["another", [["[CONTEXT]", ""]], ""], None, [2, None, [1]]]),
        ("Rytqqe", [CTXA, [A1]]),
    ],
)
def test_what_nobody_sends_is_none_of_them(rpc: str, row: list[Any]) -> None:
    assert classify(rpc, row) is None


# What we send


def sent(kind: str, prompt: str | None = "Fog", language: str | None = "en", **options: str) -> Any:
    order = Order(NB, [S1, S2], prompt, language, vocabulary.chosen(kind, options, prompt))
    row = CREATIONS[kind].request(order).encode()
    assert row[:2] == [CTXA, NB]
    assert row[2][:2] == [None, None]
    assert row[2][3] == SRC
    config = row[2][-1]
    assert canonical(row[2][4:-1]) == []
    return row[2][2], len(row[2]) - 1, config


@pytest.mark.parametrize(
    ("kind", "options", "expected"),
    [
        ("audio", {}, (1, 6, audio("Fog", 2, None, FLAT, "en", None, 1))),
        ("audio", {"format": "debate", "length": "long"}, (1, 6, audio("Fog", 3, None, FLAT, "en", None, 4))),
        ("video", {}, (3, 8, video(FLAT, "en", "Fog", None, 1, 1))),
        ("video", {"format": "brief", "style": "kawaii"}, (3, 8, video(FLAT, "en", "Fog", None, 2, 9))),
        ("video", {"format": "cinematic"}, (3, 8, video(FLAT, "en", "Fog", None, 3))),
        ("video", {"format": "short"}, (3, 8, video(FLAT, "en", "Fog", None, 4, 1))),
        ("video", {"style_prompt": "Chalk"}, (3, 8, video(FLAT, "en", "Fog", None, 1, None, "Chalk"))),
        (
            "video",
            {"style": "custom", "style_prompt": "Chalk"},
            (3, 8, video(FLAT, "en", "Fog", None, 1, None, "Chalk")),
        ),
        ("quiz", {}, (4, 9, app(2, None, "Fog", "en", None, None, None, [2, 2]))),
        ("quiz", {"quantity": "more", "difficulty": "easy"}, (4, 9, app(2, None, "Fog", "en", *[None] * 3, [3, 1]))),
        (
            "flashcards",
            {"quantity": "fewer", "difficulty": "hard"},
            (4, 9, app(1, None, "Fog", "en", *[None] * 2, [1, 3])),
        ),
        ("mind_map", {}, (4, 9, app(4, None, "Fog", "en"))),
        ("infographic", {}, (7, 14, [["Fog", "en", None, 1, 2, 1]])),
        (
            "infographic",
            {"orientation": "square", "detail": "concise", "style": "scientific"},
            (7, 14, [["Fog", "en", None, 3, 1, 11]]),
        ),
        ("slide_deck", {}, (8, 16, [["Fog", "en", 1]])),
        ("slide_deck", {"format": "presenter", "length": "short"}, (8, 16, [["Fog", "en", 2, 2]])),
        ("data_table", {}, (9, 18, [None, ["Fog", "en"]])),
        (
            "report",
            {"format": "custom"},
            (2, 7, [None, ["Custom Report", "Custom format", None, FLAT, "en", "Fog", None, True]]),
        ),
    ],
)
def test_each_option_lands_in_its_slot(kind: str, options: dict[str, str], expected: Any) -> None:
    type, slot, config = sent(kind, **options)
    assert (type, slot, canonical(config)) == (expected[0], expected[1], canonical(expected[2]))


def test_a_reports_preset_is_its_title_and_the_instructions_follow_the_directive() -> None:
    titles = {}
    for word in ("briefing_doc", "study_guide", "blog_post"):
        config = sent("report", format=word)[2][1]
        titles[word] = config[:2]
        directive = vocabulary.PRESETS[word].directive
        assert config[5] == f"{directive}\n\nFog"
        assert sent("report", prompt=None, format=word)[2][1][5] == directive
    assert titles == {
        "briefing_doc": ["Briefing Doc", "Key insights and important quotes"],
        "study_guide": ["Study Guide", "Short-answer quiz, essay questions, glossary"],
        "blog_post": ["Blog Post", "Insightful takeaways in readable article format"],
    }


@pytest.mark.parametrize("kind", CREATIONS)
def test_without_prompt_and_language_nothing_stands_in_their_place(kind: str) -> None:
    rpc = CREATIONS[kind].rpc
    order = Order(NB, [S1], None, None, vocabulary.chosen(kind, {}, None))
    sent = rpc.request.decode(CREATIONS[kind].request(order).encode()).options
    assert sent.language is None
    assert (sent.prompt is None) == (kind != "report")


# Rows of answers


@pytest.mark.parametrize(
    "row",
    [
        [A1, "Report", 2, None, 3, None, None, "Only the text"],
        [A1, "File", 10, None, 3, *[None] * 19, ["t.xlsx", "x/y", "https://p", "https://d"]],
        [A1, "Guide", 11, [[[S1], None, 5]], 3, *[None] * 29, [[[[[0, 3, [[[0, 3, ["Fog"]]]]]]]], ["p", "en", True]]],
        [A1, "", 2, [[[S1], None, 8]], 5, *[None] * 30, ["Title", "Why"]],
        [A1, "", 3, None, 7, True, *[None] * 11, [[[12, 5]], None, [{"a": 1}], None, False]],
        [A1, "", 12, None, 6],
    ],
)
def test_newer_rows_decode_to_the_last_cell(row: list[Any]) -> None:
    message = blocks.Artifact.decode(row)
    again = message.encode()
    if message.report is not None:
        assert message.report.markdown == "Only the text"
        again[7] = again[7][0]
    assert canonical(again) == canonical(row)
