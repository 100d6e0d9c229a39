"""Studio tools over scripted rows: reading and waiting, generating with all its doubts, changing and deleting."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from typing import Any

import pytest

from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.notes import notes
from nlm_cdp.api.studio import creation, curating, reworking, studio, suggesting
from nlm_cdp.api.studio.artifacts import KINDS, downloadable, kind_of, state
from nlm_cdp.api.studio.blocks import Artifact
from nlm_cdp.api.studio.creation import CREATIONS
from nlm_cdp.errors import Drift, Network, NlmError, Outcome, SignedOut, Timeout
from tests.fakes import NB, REFUSALS, S1, S2, START, Bench, lost, refused, source, text_element, with_notebook

A1, A2, A3, N1 = (f"{digit * 8}-{digit * 4}-4{digit * 3}-8{digit * 3}-{digit * 12}" for digit in "789e")
TREE = '{"name": "Fog", "children": [{"name": "Horn", "children": [{"name": "Every 90 s"}]}, {"name": "Bell"}]}'
URL = "https://lh3.googleusercontent.com/notebooklm/x=m140"
QUIZ = {
    "quiz": [
        {
            "question": "When?",
            "answerOptions": [
                {"text": "At sunset", "isCorrect": True, "rationale": "So it says."},
                {"text": "At noon", "isCorrect": False},
            ],
            "hint": "Dark",
        }
    ],
    "topics": {"covered": ["t"]},
}
CARDS = {"flashcards": [{"f": "Q <1>", "b": "A & B"}]}


def row(artifact_id: str, type: int, status: int = 3, title: str = "An artifact", **cells: Any) -> list[Any]:
    """A row with cells by field number, as `_7`."""
    made: list[Any] = [artifact_id, title, type, [[[S1], None, 8]], status, *[None] * 17]
    made[10], made[15] = [START + 90, 5], [START, 6]
    for name, cell in cells.items():
        number = int(name[1:])
        made.extend([None] * (number - len(made)))
        made[number - 1] = cell
    return made


def page(data: dict[str, Any]) -> str:
    return f'<!doctype html><app-root data-app-data="\n{html.escape(json.dumps(data))}\n"></app-root>'


def media(*entries: Any) -> list[Any]:
    return [None, [None, 2, None, [[S1]], "en", True, 1], None, None, True, list(entries), [61, 500_000_000]]


def document(*elements: Any) -> list[Any]:
    return [[list(elements)], None, None, None, 1]


def table(*lines: tuple[str, ...]) -> list[Any]:
    rows = [[0, 9, [[0, 9, [text_element(text)]] for text in line]] for line in lines]
    return [0, 9, None, None, [len(lines), len(lines[0]), rows]]


def app(variant: int, html_text: str | None = "", *more: Any, prompt: str | None = None) -> list[Any]:
    return [html_text, [variant, None, prompt, "en", *[None] * 4, True], *more]


MP4 = "audio/mp4"
AUDIO = row(A1, 1, _7=media([URL, 1, MP4], [URL + "x", 2], [URL + "-dv", 4, MP4]))
PENDING = row(A1, 1, 1, "The notebook", _7=[None, [None, 2, None, [[S1]], "en", True, 1]])
REPORT = row(A2, 2, title="Study Guide", _8=["# Fog\n\nHorns.", ["Study Guide", "d", None, [[S1]], "en", "Write."]])
NOTED = [N1, [N1, TREE, [2, "1", [START + 5], 5, [[S1], [S2]]], None, "Fog map"]]
TEXT_NOTE = ["n-text", ["n-text", "{ this is no map", [1, "1", [START]], None, "Fog map of mine"]]


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.store.active = NB
    shows(bench, [AUDIO, REPORT])
    bench.caller.script(notes.LIST, [None, [START]])
    return bench


def shows(bench: Bench, *looks: Any) -> None:
    """What each look at the artifacts shows; the last one repeats. Exceptions are raised."""
    bench.caller.script(studio.LIST, *(look if isinstance(look, Exception) else [look] for look in looks))


def noted(bench: Bench) -> None:
    bench.caller.script(notes.LIST, [[NOTED, TEXT_NOTE, ["n-gone", None, 2]], [START]])


# list_artifacts


async def test_the_studio_with_its_maps(bench: Bench) -> None:
    noted(bench)
    shows(bench, [AUDIO, row(A3, 4, 4, "Quiz", _10=app(2))])
    result = await bench.call("list_artifacts")
    assert (result["total"], result["has_more"], result["notebook_id"]) == (3, False, NB)
    audio, quiz, noted_map = result["artifacts"]
    assert audio == {
        "id": A1,
        "type": "audio",
        "title": "An artifact",
        "status": "ready",
        "created": "2023-11-14T22:13:20Z",
        "modified": "2023-11-14T22:14:50Z",
        "duration_s": 61.5,
        "downloadable": ["m4a"],
        "source_ids": [S1],
    }
    assert (quiz["type"], quiz["status"], quiz["downloadable"]) == ("quiz", "failed", [])
    assert "gives no reason" in quiz["reason"]
    assert (noted_map["id"], noted_map["type"], noted_map["note_backed"]) == (N1, "mind_map", True)
    assert (noted_map["source_ids"], noted_map["downloadable"]) == ([S1, S2], ["json"])


async def test_every_type_once_and_unknown_ones_by_number(bench: Bench) -> None:
    rows = [
        row("q", 4, _10=app(2)),
        row("f", 4, _10=app(1)),
        row("m", 4, _10=app(4)),
        row("p", 4, _10=app(9)),
        row("a", 4),
        *(row(f"t{number}", number) for number in (2, 3, 6, 7, 8, 9, 10, 11, 12)),
        row("s", 2, 5),
        row("w", 1, 9),
    ]
    shows(bench, rows)
    result = await bench.call("list_artifacts")
    found = {item["id"]: item["type"] for item in result["artifacts"]}
    assert found == {
        "q": "quiz",
        "f": "flashcards",
        "m": "mind_map",
        "p": "unknown(4.9)",
        "a": "unknown(4.None)",
        "t2": "report",
        "t3": "video",
        "t6": "fantasy_map",
        "t7": "infographic",
        "t8": "slide_deck",
        "t9": "data_table",
        "t10": "file",
        "t11": "interactive_report",
        "t12": "unknown(12)",
        "w": "audio",
    }
    by_status = {item["id"]: item["status"] for item in result["artifacts"]}
    assert (by_status["w"], by_status["q"], by_status["t3"], by_status["t12"]) == (
        "unknown(9)",
        "ready",
        "processing",
        "ready",
    )


async def test_a_type_a_status_and_a_window(bench: Bench) -> None:
    assert [item["id"] for item in (await bench.call("list_artifacts", type="report"))["artifacts"]] == [A2]
    assert (await bench.call("list_artifacts", status="failed"))["total"] == 0
    shown = await bench.call("list_artifacts", limit=1, offset=1)
    assert ([item["id"] for item in shown["artifacts"]], shown["total"]) == ([A2], 2)
    before = len(bench.caller.requests)
    error = await bench.fails("list_artifacts", type="podcast")
    assert (error.code, "audio" in error.hint, len(bench.caller.requests)) == ("INVALID_ARGUMENT", True, before)


async def test_an_empty_studio_is_empty_and_a_strange_one_is_drift(bench: Bench) -> None:
    bench.caller.script(studio.LIST, [])
    assert (await bench.call("list_artifacts"))["artifacts"] == []
    shows(bench, [["id", 5], ["id", 6]])
    error = await bench.fails("list_artifacts")
    assert (error.code, len(error.details["undecoded"])) == ("DRIFT", 2)
    shows(bench, [AUDIO, ["id", 5]])
    result = await bench.call("list_artifacts")
    assert (result["total"], result["undecoded"]) == (1, [".1[1].2: Input should be a valid string"])
    error = await bench.fails("get_artifact", artifact="An artifact")
    assert (error.code, error.details["undecoded"]) == ("DRIFT", result["undecoded"])


@pytest.mark.parametrize("reference", [A2, "Study Guide", "study", A2[:6]])
async def test_references(bench: Bench, reference: str) -> None:
    assert (await bench.call("get_artifact", artifact=reference))["artifact"]["id"] == A2


async def test_references_that_name_nothing_or_several(bench: Bench) -> None:
    noted(bench)
    for reference in ("n-text", "Nothing", "Fog map of"):
        assert (await bench.fails("get_artifact", artifact=reference)).code == "NOT_FOUND"
    shows(bench, [AUDIO, row(A3, 2, title="An article", _8=["x"])])
    error = await bench.fails("get_artifact", artifact="An")
    assert {item["id"] for item in error.details["candidates"]} == {A1, A3}


# Files and states


def test_files_best_first() -> None:
    audio = Artifact.decode(AUDIO)
    assert [(asset.url, asset.mime, asset.extension) for asset in kind_of(audio).files["m4a"](audio)] == [
        (URL + "-dv", MP4, "m4a"),
        (URL, MP4, "m4a"),
    ]
    old = Artifact.decode(row(A1, 1, _7=[None, None, URL, URL + "-dv", True]))
    assert [asset.url for asset in kind_of(old).files["m4a"](old)] == [URL + "-dv", URL]
    wrong = Artifact.decode(row(A1, 3, _9=[None, None, None, None, [[URL, 2], [URL, 4, "text/html"]]]))
    assert (kind_of(wrong).files["mp4"](wrong), state(wrong)) == ([], "processing")
    deck = Artifact.decode(row(A1, 8, _17=[["p"], "T", [[["https://i", 1, 2]]], "https://pdf", "https://pptx"]))
    assert [kind_of(deck).files[form](deck)[0].extension for form in downloadable(deck)] == ["pdf", "pptx"]
    poster = Artifact.decode(row(A1, 7, _15=[["p"], "T", [["T", ["https://i", 2752, 1536], "alt", "text"]]]))
    assert kind_of(poster).files["png"](poster)[0][1:] == ("image/png", "png", 2752, 1536)
    file = Artifact.decode(row(A1, 10, _25=["Table.xlsx", None, None, "https://f"]))
    assert kind_of(file).files["file"](file)[0].extension == "xlsx"
    assert [kind_of(Artifact.decode(row(A1, 7))).files["png"](Artifact.decode(row(A1, 7)))] == [[]]


def test_texts() -> None:
    def texts(cells: list[Any]) -> dict[str, str]:
        made = Artifact.decode(cells)
        return {form: write(made) for form, write in kind_of(made).texts.items()}

    assert texts(REPORT) == {"md": "# Fog\n\nHorns."}
    assert texts(row(A1, 2, _8=[None, None, document(text_element("Fog"))])) == {"md": "Fog"}
    assert texts(row(A1, 11, _35=[document(text_element("Fog")), ["p", "en"]])) == {"md": "Fog"}
    cells = table(("Name", "Value"), ('A "horn", loud', "90"))
    assert texts(row(A1, 9, _19=[document(cells, text_element("[1] Handbook")), [None, "en"]])) == {
        "csv": 'Name,Value\r\n"A ""horn"", loud",90\r\n'
    }
    quiz = texts(row(A1, 4, title="Quiz", _10=app(2, page(QUIZ))))
    assert json.loads(quiz["json"]) == QUIZ
    assert quiz["md"] == ("# Quiz\n\n## 1. When?\n\n- [x] At sunset\n- [ ] At noon\n\n> So it says.\n\n*Hint: Dark*\n")
    assert quiz["html"] == page(QUIZ)
    cards = texts(row(A1, 4, title="Cards", _10=app(1, page(CARDS))))
    assert cards["md"] == "# Cards\n\n**Q <1>**\n\nA & B\n\n---\n"
    tree = texts(row(A1, 4, _10=app(4, None, None, TREE)))
    assert json.loads(tree["json"]) == json.loads(TREE)
    copied = row(A1, 4, _10=app(2, None, [json.dumps(QUIZ), "notebooklm_quiz_web"]))
    assert json.loads(kind_of(Artifact.decode(copied)).texts["json"](Artifact.decode(copied))) == QUIZ


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.texts], ids=lambda kind: f"{kind.name}-{kind.type}")
def test_without_content_there_is_no_text(kind: Any) -> None:
    empty = Artifact.decode(row(A1, kind.type))
    for write in kind.texts.values():
        with pytest.raises(NlmError) as caught:
            write(empty)
        assert caught.value.code == "NOT_READY"


# get_artifact


async def test_the_text_of_a_report_by_windows(bench: Bench) -> None:
    result = await bench.call("get_artifact", artifact=A2, max_chars=5)
    assert (result["content"], result["total_chars"], result["has_more"]) == ("# Fog", 13, True)
    assert result["prompt"] == "Write."
    assert (result["artifact"]["type"], result["artifact"]["downloadable"]) == ("report", ["md"])
    assert result["_provenance"]["ai_generated"] is True
    rest = await bench.call("get_artifact", artifact=A2, offset=5)
    assert (rest["content"], rest["has_more"]) == ("\n\nHorns.", False)


@pytest.mark.parametrize(
    ("listed", "whole", "field", "expected"),
    [
        (
            row(A1, 4, _10=app(2)),
            row(A1, 4, _10=app(2, page(QUIZ))),
            "questions",
            [
                {
                    "question": "When?",
                    "options": [
                        {"text": "At sunset", "correct": True, "rationale": "So it says."},
                        {"text": "At noon", "correct": False},
                    ],
                    "hint": "Dark",
                }
            ],
        ),
        (
            row(A1, 4, _10=app(1)),
            row(A1, 4, _10=app(1, page(CARDS), prompt="Short")),
            "cards",
            [{"front": "Q <1>", "back": "A & B"}],
        ),
        (
            row(A1, 4, _10=app(4)),
            row(A1, 4, _10=app(4, "<html>", None, TREE)),
            "tree",
            {
                "name": "Fog",
                "children": [{"name": "Horn", "children": [{"name": "Every 90 s"}]}, {"name": "Bell"}],
            },
        ),
        (
            row(A1, 9, _19=[document(table(("Name", "Value"), ("Horn", "90")), text_element("[1] Handbook"))]),
            None,
            "rows",
            [["Name", "Value"], ["Horn", "90"]],
        ),
    ],
    ids=["quiz", "cards", "map", "table"],
)
async def test_content_as_data(bench: Bench, listed: Any, whole: Any, field: str, expected: Any) -> None:
    shows(bench, [listed])
    bench.caller.script(studio.GET, [whole])
    result = await bench.call("get_artifact", artifact=A1)
    assert result[field] == expected
    assert result["artifact"]["status"] == "ready"
    assert ("content" in result, result.get("footnotes")) == (False, ["[1] Handbook"] if field == "rows" else None)
    assert bench.caller.calls.count("v9rmvd") == (1 if whole else 0)


async def test_a_map_kept_as_a_note(bench: Bench) -> None:
    noted(bench)
    result = await bench.call("get_artifact", artifact="Fog map")
    assert result["tree"]["children"][1] == {"name": "Bell"}
    assert "v9rmvd" not in bench.caller.calls


@pytest.mark.parametrize(
    "content",
    [
        app(2, "<html>nothing in it</html>"),
        app(2, page({"quiz": [{"question": "When?"}]})),
        app(2, page({"cards": []})),
        app(2, 'x data-app-data="{"'),
        app(2, page({"quiz": "text"})),
        app(4, None, None, '{"children": []}'),
        app(4, None, None, '{"name": "x", "children": [' * 150 + '{"name": "y"}' + "]}" * 150),
    ],
)
async def test_content_of_another_shape_is_drift(bench: Bench, content: Any) -> None:
    shows(bench, [row(A1, 4, _10=app(content[1][0]))])
    bench.caller.script(studio.GET, [row(A1, 4, _10=content)])
    error = await bench.fails("get_artifact", artifact=A1)
    assert (error.code, "When?" in str(error)) == ("DRIFT", False)


async def test_what_is_not_ready_has_no_content(bench: Bench) -> None:
    for cells, status in (
        (PENDING, "pending"),
        (row(A1, 2, 2, _8=["half of it"]), "processing"),
        (row(A1, 1, 3, _7=[None, None]), "processing"),
    ):
        shows(bench, [cells])
        result = await bench.call("get_artifact", artifact=A1)
        assert (result["artifact"]["status"], "content" in result) == (status, False)
    shows(bench, [row(A1, 4, _10=app(2))])
    bench.caller.script(studio.GET, [row(A1, 4, _10=app(2, None))])
    assert (await bench.call("get_artifact", artifact=A1))["artifact"]["status"] == "processing"


# Waiting


async def test_a_gap_is_not_the_end_and_a_sibling_is_not_the_one(bench: Bench) -> None:
    sibling = row(A3, 1, 3, _7=media([URL, 4, MP4]))
    unfinished = row(A1, 1, 3, _7=[None, None])
    shows(bench, [PENDING], [sibling], None, Drift("odd"), [], [sibling, PENDING], [unfinished], [unfinished], [AUDIO])
    result = await bench.call("get_artifact", artifact=A1, wait=True)
    assert (result["artifact"]["id"], result["artifact"]["status"]) == (A1, "ready")
    assert "note" not in result
    assert bench.caller.calls.count("gArtLc") == 9
    assert bench.progress[0] == "audio pending (0 s)"
    assert bench.progress[-1].startswith("audio processing")


async def test_a_quiz_is_ready_when_its_page_is_there(bench: Bench) -> None:
    ready = row(A1, 4, _10=app(2))
    shows(bench, [row(A1, 4, 2, _10=app(2))], [ready])
    bench.caller.script(studio.GET, [row(A1, 4, _10=app(2, None))], Network("x"), [row(A1, 4, _10=app(2, page(QUIZ)))])
    result = await bench.call("get_artifact", artifact=A1, wait=True)
    assert len(result["questions"]) == 1
    assert bench.caller.calls.count("v9rmvd") == 3


async def test_a_wait_ends_with_a_failure_that_has_no_reason(bench: Bench) -> None:
    shows(bench, [PENDING], [row(A1, 1, 4)])
    result = await bench.call("get_artifact", artifact=A1, wait=True)
    assert result["artifact"]["status"] == "failed"
    assert "no reason" in result["artifact"]["reason"]


@pytest.mark.parametrize("looks", [[[PENDING]], [[PENDING], Timeout("late")], [[PENDING], []]])
async def test_a_wait_that_runs_out_is_no_error(bench: Bench, looks: list[Any]) -> None:
    shows(bench, *looks)
    result = await bench.call("get_artifact", artifact=A1, wait=True, timeout_s=30)
    assert result["artifact"]["status"] == "pending"
    assert result["note"].startswith("pending: poll get_artifact")
    assert ("TIMEOUT" in result["note"]) == (len(looks) > 1 and isinstance(looks[1], Timeout))


async def test_a_wait_ends_where_nothing_can_be_read_any_more(bench: Bench) -> None:
    shows(bench, [PENDING], SignedOut("gone"))
    result = await bench.call("get_artifact", artifact=A1, wait=True)
    assert "could not be read (SIGNED_OUT)" in result["note"]
    assert bench.caller.calls.count("gArtLc") == 2


# generate_artifact


def generates(bench: Bench, kind: str, *answers: Any) -> None:
    with_notebook(bench, source(S1), source(S2, status=1))
    bench.caller.script(CREATIONS[kind].rpc, *answers)


NEW = {kind: row(A3, CREATIONS[kind].rpc.request.model_fields["type"].default, 1) for kind in CREATIONS}
for kind, variant in (("flashcards", 1), ("quiz", 2), ("mind_map", 4)):
    NEW[kind] = row(A3, 4, 1, _10=app(variant))


@pytest.mark.parametrize("kind", CREATIONS)
async def test_every_type_is_ordered_once_from_what_is_ready(bench: Bench, kind: str) -> None:
    generates(bench, kind, [NEW[kind]])
    arguments = {"instructions": "Fog", "language": "de"}
    result = await bench.call("generate_artifact", type=kind, **arguments)
    assert (result["artifact"]["id"], result["artifact"]["type"]) == (A3, kind)
    assert (result["artifact"]["status"], result["note"]) == ("pending", "started: poll get_artifact")
    (request,) = bench.caller.sent(CREATIONS[kind].rpc)
    assert (request.sources, request.notebook_id, request.options.language) == ([S1], NB, "de")
    assert request.options.prompt.endswith("Fog")


async def test_chosen_sources_and_options(bench: Bench) -> None:
    generates(bench, "infographic", [NEW["infographic"]])
    options = {"style": "bento", "orientation": "square"}
    await bench.call("generate_artifact", type="infographic", source_ids=[S2], options=json.dumps(options))
    (request,) = bench.caller.sent(creation.INFOGRAPHIC)
    assert (request.sources, request.options.style, request.options.orientation) == ([S2], 4, 3)
    error = await bench.fails("generate_artifact", type="infographic", source_ids=[S2, "elsewhere"])
    assert (error.code, error.details["source_ids"]) == ("NOT_FOUND", ["elsewhere"])
    assert len(bench.caller.sent(creation.INFOGRAPHIC)) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"type": "podcast"}, "type"),
        ({"type": "audio", "options": {"stylee": "x"}}, "audio has no option 'stylee'"),
        ({"type": "video", "options": {"stylee": "anime"}}, "Did you mean style?"),
        ({"type": "video", "options": {"style": "animee"}}, "Did you mean anime?"),
        ({"type": "audio", "options": {"length": "2"}}, "length cannot be '2'"),
        ({"type": "audio", "options": {"length": 2}}, "options.length"),
        ({"type": "data_table", "options": {"format": "x"}}, "Possible: none"),
        (
            {"type": "video", "options": {"format": "cinematic", "style": "anime"}},
            "no effect where format is cinematic",
        ),
        ({"type": "video", "options": {"format": "short", "style": "auto"}}, "no effect where format is short"),
        ({"type": "video", "options": {"format": "short", "style_prompt": "x"}}, "no effect"),
        ({"type": "video", "options": {"style": "anime", "style_prompt": "x"}}, "no effect where style is anime"),
        ({"type": "video", "options": {"style": "custom"}}, "style custom needs style_prompt"),
        ({"type": "video", "options": {"style_prompt": " "}}, "style_prompt is empty"),
        ({"type": "report", "options": {"format": "custom"}}, "format custom needs instructions"),
        ({"type": "quiz", "instructions": ""}, "instructions"),
        ({"type": "quiz", "source_ids": []}, "source_ids"),
        ({"type": "quiz", "timeout_s": float("nan")}, "timeout_s"),
        ({"type": "quiz", "quantity": "more"}, "unknown argument quantity"),
    ],
)
async def test_what_is_wrong_is_refused_before_anything_is_sent(
    bench: Bench, arguments: dict[str, Any], said: str
) -> None:
    error = await bench.fails("generate_artifact", **arguments)
    assert error.code == "INVALID_ARGUMENT"
    assert said in f"{error.message} {error.hint}"
    assert bench.caller.requests == []


@pytest.mark.parametrize(("sources", "code"), [((), "NOT_READY"), ((source(S1, status=1),), "NOT_READY")])
async def test_without_a_ready_source_nothing_is_sent(bench: Bench, sources: Any, code: str) -> None:
    with_notebook(bench, *sources)
    assert (await bench.fails("generate_artifact", type="quiz")).code == code
    assert bench.caller.calls == ["rLM1Ne"]


@pytest.mark.parametrize(
    ("status", "code"),
    REFUSALS,
)
async def test_a_refusal_starts_nothing_and_is_not_repeated(bench: Bench, status: int, code: str) -> None:
    generates(bench, "audio", refused(status))
    error = await bench.fails("generate_artifact", type="audio", wait=True)
    assert (error.code, error.outcome) == (code, Outcome.REJECTED)
    assert bench.caller.calls.count("R7cb6c") == 1
    assert bench.caller.calls.count("gArtLc") == 1


DOUBTS: list[Callable[[], Any]] = [lost, lambda: Drift("odd", outcome=Outcome.UNKNOWN), list, lambda: None]


@pytest.mark.parametrize("doubt", DOUBTS)
async def test_after_a_doubtful_order_a_new_one_is_told_not_taken(bench: Bench, doubt: Callable[[], Any]) -> None:
    generates(bench, "audio", doubt())
    newer = row(A3, 1, 1, "Newer")
    shows(bench, [AUDIO], [AUDIO, row(A2, 2, 1)], Network("x"), [newer, AUDIO])
    error = await bench.fails("generate_artifact", type="audio")
    assert error.outcome is Outcome.UNKNOWN
    assert error.details["seen"] == [{"id": A3, "title": "Newer", "status": "pending"}]
    assert "A new audio has appeared" in error.message
    assert "do not generate again" in error.hint
    assert bench.caller.calls.count("R7cb6c") == 1


@pytest.mark.parametrize("doubt", DOUBTS)
async def test_after_a_doubtful_order_nothing_new_is_said_too(bench: Bench, doubt: Callable[[], Any]) -> None:
    generates(bench, "audio", doubt())
    error = await bench.fails("generate_artifact", type="audio")
    assert "no new audio is there" in error.message
    silent = isinstance(doubt(), list | None)
    assert error.outcome is (Outcome.REJECTED if silent else Outcome.UNKNOWN)
    assert (error.code == "SERVICE") == silent
    assert bench.caller.calls.count("gArtLc") == 4


async def test_a_doubt_that_cannot_be_settled_stays(bench: Bench) -> None:
    generates(bench, "quiz", lost())
    shows(bench, [AUDIO], Network("x"))
    error = await bench.fails("generate_artifact", type="quiz")
    assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", Outcome.UNKNOWN)
    assert "could not be read afterwards" in error.message


async def test_nothing_is_ordered_where_the_studio_cannot_be_read(bench: Bench) -> None:
    generates(bench, "quiz", [NEW["quiz"]])
    shows(bench, refused(13))
    assert (await bench.fails("generate_artifact", type="quiz")).code == "SERVICE"
    assert "R7cb6c" not in bench.caller.calls


async def test_waiting_for_what_was_ordered(bench: Bench) -> None:
    generates(bench, "audio", [row(A3, 1, 1)])
    done = row(A3, 1, 3, _7=media([URL, 4, MP4]))
    shows(bench, [AUDIO], [AUDIO], [AUDIO, row(A3, 1, 2)], [done])
    result = await bench.call("generate_artifact", type="audio", wait=True)
    assert (result["artifact"]["id"], result["artifact"]["downloadable"]) == (A3, ["m4a"])
    assert "note" not in result
    generates(bench, "audio", [row(A3, 1, 1)])
    shows(bench, [AUDIO])
    result = await bench.call("generate_artifact", type="audio", wait=True, timeout_s=20)
    assert result["note"] == "pending: poll get_artifact"


async def test_a_map_kept_as_a_note_is_there_at_once(bench: Bench) -> None:
    with_notebook(bench, source(S1))
    bench.caller.script(creation.DRAW_MIND_MAP, [[TREE, None, ["x", "y", 3]]])
    bench.caller.script(notes.SAVE_MIND_MAP, [[N1, "", [2, "1", [START]], None, "Fog"]])
    result = await bench.call("generate_artifact", type="mind_map", options={"kept_as": "note"}, instructions="Horns")
    assert result["artifact"] == {
        "id": N1,
        "type": "mind_map",
        "title": "Fog",
        "status": "ready",
        "modified": "2023-11-14T22:13:20Z",
        "downloadable": ["json"],
        "source_ids": [S1],
        "note_backed": True,
    }
    (drawn,) = bench.caller.sent(creation.DRAW_MIND_MAP)
    assert drawn.encode()[5] == ["interactive_mindmap", [["[CONTEXT]", "Horns"]], ""]
    (saved,) = bench.caller.sent(notes.SAVE_MIND_MAP)
    assert (saved.content, saved.title, saved.sources) == (TREE, "Fog", [S1])
    bench.caller.script(notes.SAVE_MIND_MAP, lost())
    error = await bench.fails("generate_artifact", type="mind_map", options={"kept_as": "note"})
    assert (error.outcome, "drawn, but keeping it" in error.message) == (Outcome.UNKNOWN, True)
    bench.caller.script(creation.DRAW_MIND_MAP, [['{"quiz": 1}']])
    assert (await bench.fails("generate_artifact", type="mind_map", options={"kept_as": "note"})).code == "DRIFT"
    assert len(bench.caller.sent(notes.SAVE_MIND_MAP)) == 2


# retry_artifact


async def test_only_what_failed_is_tried_again(bench: Bench) -> None:
    error = await bench.fails("retry_artifact", artifact=A1)
    assert (error.code, error.details["artifact"]) == ("INVALID_ARGUMENT", A1)
    shows(bench, [row(A1, 1, 4)])
    bench.caller.script(reworking.RETRY, [PENDING])
    result = await bench.call("retry_artifact", artifact=A1)
    assert (result["artifact"]["id"], result["artifact"]["status"]) == (A1, "pending")
    assert bench.caller.calls.count("Rytqqe") == 1


@pytest.mark.parametrize("doubt", DOUBTS)
async def test_a_doubtful_retry_is_looked_for(bench: Bench, doubt: Callable[[], Any]) -> None:
    bench.caller.script(reworking.RETRY, doubt())
    shows(bench, [row(A1, 1, 4)], [PENDING])
    result = await bench.call("retry_artifact", artifact=A1)
    assert (result["artifact"]["status"], "no longer failed" in result["note"]) == ("pending", True)
    for looks, said in (([row(A1, 1, 4)], "has not started again"), (Network("x"), "could not be read")):
        bench.caller.script(reworking.RETRY, doubt())
        shows(bench, [row(A1, 1, 4)], looks)
        assert said in (await bench.fails("retry_artifact", artifact=A1)).message
    assert bench.caller.calls.count("Rytqqe") == 3


# revise_slides

DECK = row(A1, 8, title="Deck", _17=[["p", "en", 1], "T", [[["https://i"]], [["https://j"]]], "https://pdf"])


async def test_a_revision_is_a_new_deck(bench: Bench) -> None:
    shows(bench, [DECK])
    bench.caller.script(reworking.REVISE, [row(A3, 8, 1, "Deck (2)", _21=A1)])
    changes = [{"slide": 2, "instruction": "Shorter."}, {"slide": 1, "instruction": "Longer."}]
    result = await bench.call("revise_slides", artifact="Deck", changes=changes)
    assert (result["artifact"]["id"], result["artifact"]["derived_from"]) == (A3, A1)
    (request,) = bench.caller.sent(reworking.REVISE)
    assert request.encode() == [[2], A1, [[[1, "Shorter."], [0, "Longer."]]]]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"artifact": "Nothing"}, "NOT_FOUND"),
        ({"artifact": "Study Guide"}, "INVALID_ARGUMENT"),
        ({"changes": [{"slide": 3, "instruction": "x"}]}, "INVALID_ARGUMENT"),
        ({"changes": [{"slide": 0, "instruction": "x"}]}, "INVALID_ARGUMENT"),
        ({"changes": [{"slide": 1, "instruction": ""}]}, "INVALID_ARGUMENT"),
        ({"changes": []}, "INVALID_ARGUMENT"),
    ],
)
async def test_a_revision_that_cannot_be_is_not_sent(bench: Bench, arguments: dict[str, Any], code: str) -> None:
    shows(bench, [DECK, REPORT])
    given = {"artifact": "Deck", "changes": [{"slide": 1, "instruction": "x"}]} | arguments
    assert (await bench.fails("revise_slides", **given)).code == code
    shows(bench, [row(A1, 8, 2, "Deck")])
    assert (await bench.fails("revise_slides", artifact="Deck", changes=given["changes"] or [{}])).code != "INTERNAL"
    assert "KmcKPe" not in bench.caller.calls


async def test_a_doubtful_revision(bench: Bench) -> None:
    shows(bench, [DECK], [DECK], [DECK, row(A3, 8, 1, "Deck (2)", _21=A1)])
    bench.caller.script(reworking.REVISE, None)
    changes = [{"slide": 1, "instruction": "x"}]
    error = await bench.fails("revise_slides", artifact="Deck", changes=changes)
    assert [seen["id"] for seen in error.details["seen"]] == [A3]
    bench.caller.script(reworking.REVISE, refused(5))
    assert (await bench.fails("revise_slides", artifact="Deck", changes=changes)).code == "NOT_FOUND"


# rename_artifact


async def test_a_new_title(bench: Bench) -> None:
    noted(bench)
    bench.caller.script(curating.RENAME, [*REPORT[:1], "New", *REPORT[2:]])
    result = await bench.call("rename_artifact", artifact=A2, title="New")
    assert (result["artifact"]["title"], result["artifact"]["id"]) == ("New", A2)
    bench.caller.script(notes.UPDATE, [[N1, TREE, [2, "1", [START + 9], 5], None, "New map"]])
    result = await bench.call("rename_artifact", artifact=N1, title="New map")
    assert (result["artifact"]["title"], result["artifact"]["source_ids"]) == ("New map", [S1, S2])
    (change,) = bench.caller.sent(notes.UPDATE)
    assert (change.change.content, change.change.title) == (TREE, "New map")
    assert bench.caller.calls.count("rc3d8d") == 1


@pytest.mark.parametrize(("status", "code"), [(5, "NOT_FOUND"), (7, "PERMISSION"), (13, "SERVICE")])
async def test_a_refused_rename_is_no_success(bench: Bench, status: int, code: str) -> None:
    bench.caller.script(curating.RENAME, refused(status))
    assert (await bench.fails("rename_artifact", artifact=A2, title="New")).code == code


# export_artifact


async def test_an_export_is_a_file_of_its_own(bench: Bench) -> None:
    bench.caller.script(curating.EXPORT, ["https://docs.google.com/document/d/x"])
    result = await bench.call("export_artifact", artifact=A2, to="docs")
    assert result == {"notebook_id": NB, "artifact_id": A2, "url": "https://docs.google.com/document/d/x"}
    (request,) = bench.caller.sent(curating.EXPORT)
    assert request.encode() == [None, A2, None, "Study Guide", 1]


async def test_what_cannot_be_exported(bench: Bench) -> None:
    assert (await bench.fails("export_artifact", artifact=A1, to="docs")).code == "INVALID_ARGUMENT"
    assert (await bench.fails("export_artifact", artifact=A2, to="slides")).code == "INVALID_ARGUMENT"
    shows(bench, [row(A2, 2, 2)])
    assert (await bench.fails("export_artifact", artifact=A2, to="docs")).code == "NOT_READY"
    assert "Krh3pd" not in bench.caller.calls
    shows(bench, [REPORT])
    bench.caller.script(curating.EXPORT, lost())
    error = await bench.fails("export_artifact", artifact=A2, to="sheets", title="Mine")
    assert (error.outcome, bench.caller.calls.count("Krh3pd")) == (Outcome.UNKNOWN, 1)


# suggest_reports


async def test_suggestions_and_the_standard_reports(bench: Bench) -> None:
    reports = [["Fog", "Why", None, None, "Write.", 1], ["Bells", None, None, None, None, 9], [7]]
    bench.caller.script(suggesting.SUGGEST, [reports])
    choices = [[[[1, "Deep dive", "d"]], [[1, "Explainer", "d"]], [[1, "Detailed", "d"]], [["Blog Post", "d", "Do."]]]]
    bench.caller.script(suggesting.CHOICES, choices)
    result = await bench.call("suggest_reports")
    assert result["reports"] == [
        {"title": "Fog", "description": "Why", "prompt": "Write.", "level": "beginner"},
        {"title": "Bells", "level": "unknown(9)"},
        {"title": "Blog Post", "description": "d", "prompt": "Do."},
    ]
    assert len(result["undecoded"]) == 1
    bench.caller.script(suggesting.SUGGEST, None)
    bench.caller.script(suggesting.CHOICES, refused(13))
    result = await bench.call("suggest_reports")
    assert (result["reports"], "SERVICE" in result["note"]) == ([], True)
    bench.caller.script(suggesting.SUGGEST, refused(7))
    assert (await bench.fails("suggest_reports")).code == "PERMISSION"


# delete_artifact


async def test_nothing_is_deleted_without_a_yes(bench: Bench) -> None:
    noted(bench)
    result = await bench.call("delete_artifact", artifacts=["Fog map", A1, "Nothing"])
    assert (result["status"], result["deleted"], result["not_found"]) == ("needs_confirmation", [], ["Nothing"])
    assert result["would"] == [f"delete mind_map 'Fog map' ({N1})", f"delete audio 'An artifact' ({A1})"]
    assert (await bench.call("delete_artifact", artifacts=["x"], confirm=True))["status"] == "not_found"
    assert not {"V5N4be", "AH0mwd"} & set(bench.caller.calls)


async def test_each_goes_the_way_it_is_kept(bench: Bench) -> None:
    noted(bench)
    bench.caller.script(curating.DELETE, [])
    bench.caller.script(notes.DELETE, [])
    result = await bench.call("delete_artifact", artifacts=[A1, "Fog map", "Study Guide", A1], confirm=True)
    assert (result["status"], sorted(result["deleted"])) == ("deleted", sorted([N1, A1, A2]))
    assert [request.artifact_id for request in bench.caller.sent(curating.DELETE)] == [A1, A2]
    assert [request.note_ids for request in bench.caller.sent(notes.DELETE)] == [[N1]]


@pytest.mark.parametrize("failure", [refused(7), refused(16), lost()])
async def test_a_deletion_that_stops_says_how_far_it_got(bench: Bench, failure: NlmError) -> None:
    bench.caller.script(curating.DELETE, [], failure)
    error = await bench.fails("delete_artifact", artifacts=[A1, A2], confirm=True)
    assert (error.details["deleted"], bench.caller.calls.count("V5N4be")) == ([A1], 2)
    assert "Deleted before that: 1" in error.message


async def test_one_ambiguous_reference_stops_the_whole_deletion(bench: Bench) -> None:
    shows(bench, [AUDIO, row(A3, 2, title="An artifact")])
    assert (await bench.fails("delete_artifact", artifacts=[A1, "An"], confirm=True)).code == "AMBIGUOUS"
    assert "V5N4be" not in bench.caller.calls


async def test_the_notebook_of_a_call_may_be_named(bench: Bench) -> None:
    bench.store.active = None
    with_notebook(bench)
    for name in ("list_artifacts", "suggest_reports", "generate_artifact"):
        arguments = {"type": "quiz"} if name == "generate_artifact" else {}
        assert (await bench.fails(name, **arguments)).code == "INVALID_ARGUMENT"
    assert (await bench.call("list_artifacts", notebook="My notebook"))["notebook_id"] == NB
    assert notebooks.LIST.id in bench.caller.calls
