"""Notebook tools over scripted rows: what they answer, what they refuse, and what they leave alone."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api.common import Timestamp
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.errors import Drift, Network, NlmError, Outcome, RateLimited, Timeout
from tests.fakes import NB, NB2, NB3, S1, S2, START, Bench, lost, notebook, refused, source, with_notebook

URL = "https://notebook.google.com/notebook/"


@pytest.fixture
def bench() -> Bench:
    return Bench()


def several(bench: Bench, *titles: str, **options: Any) -> list[Any]:
    rows = [notebook(each, title, **options) for each, title in zip((NB, NB2, NB3), titles, strict=False)]
    bench.caller.script(notebooks.LIST, [rows])
    return rows


# list_notebooks


async def test_a_listed_notebook(bench: Bench) -> None:
    row = notebook(NB, "日本 [red]x[/red]", sources=(source(S1), source(S2), source(S1)), role=2)
    bench.caller.script(notebooks.LIST, [[row, [*notebook(NB2, ""), None][:4]]])
    bench.store.active = NB2
    assert await bench.call("list_notebooks") == {
        "total": 2,
        "has_more": False,
        "active_notebook_id": NB2,
        "notebooks": [
            {
                "id": NB,
                "title": "日本 [red]x[/red]",
                "emoji": "📓",
                "source_count": 2,
                "role": "editor",
                "shared": False,
                "created": "2023-11-14T22:13:20Z",
                "modified": "2023-11-14T22:14:20Z",
                "url": URL + NB,
            },
            {
                "id": NB2,
                "title": "",
                "emoji": "📓",
                "source_count": 0,
                "shared": False,
                "url": URL + NB2,
                "active": True,
            },
        ],
    }


async def test_windows_and_queries_over_the_list(bench: Bench) -> None:
    several(bench, "Alpha one", "Beta", "alpha two")

    async def titles(**arguments: Any) -> tuple[list[str], int, bool]:
        result = await bench.call("list_notebooks", **arguments)
        return [row["title"] for row in result["notebooks"]], result["total"], result["has_more"]

    assert await titles() == (["Alpha one", "Beta", "alpha two"], 3, False)
    assert await titles(query="ALPHA") == (["Alpha one", "alpha two"], 2, False)
    assert await titles(query="gamma") == ([], 0, False)
    assert await titles(limit=2) == (["Alpha one", "Beta"], 3, True)
    assert await titles(limit="1", offset="1") == (["Beta"], 3, True)
    assert await titles(offset=2) == (["alpha two"], 3, False)
    assert await titles(offset=9) == ([], 3, False)


@pytest.mark.parametrize("row", [[], [None], [[]]])
async def test_no_notebooks(bench: Bench, row: list[Any]) -> None:
    bench.caller.script(notebooks.LIST, row)
    assert await bench.call("list_notebooks") == {"total": 0, "has_more": False, "notebooks": []}


async def test_a_row_that_cannot_be_read_hides_no_other(bench: Bench) -> None:
    bad = notebook(NB2)
    bad[2] = None
    bench.caller.script(notebooks.LIST, [[notebook(NB), bad]])
    result = await bench.call("list_notebooks")
    assert [row["id"] for row in result["notebooks"]] == [NB]
    assert len(result["undecoded"]) == 1
    assert result["undecoded"][0].startswith(".1[1].3: ")


@pytest.mark.parametrize("row", [["x"], [{"bad": 1}], [["x"]], [[["t", None, None]]]])
async def test_a_list_of_another_shape_is_no_empty_list(bench: Bench, row: list[Any]) -> None:
    bench.caller.script(notebooks.LIST, row)
    error = await bench.fails("list_notebooks")
    assert error.code == "DRIFT"
    assert error.outcome is Outcome.NOT_SENT


# get_notebook


async def test_a_notebook_in_brief(bench: Bench) -> None:
    rows = (source(S1), source(S2, "Notes", kind=4), source(S1, url="https://a.test/x"))
    with_notebook(bench, *rows, chat_settings=[[2, "be brief"], [4]], limit=100)
    result = await bench.call("get_notebook", notebook=NB)
    assert result["notebook"]["source_count"] == len(result["sources"]) == 2
    assert result["chat"] == {"goal": "custom", "prompt": "be brief", "length": "longer"}
    assert result["limits"] == {"notebooks": 100, "sources": 300, "words_per_source": 500_000}
    assert result["sources"][0] == {
        "id": S1,
        "title": "A page",
        "kind": "web_page",
        "type_code": 5,
        "status": "ready",
        "url": "https://a.test/x",
        "words": 229,
        "added": "2023-11-14T22:13:20Z",
    }
    assert "_provenance" not in result
    assert "summary" not in result
    assert bench.caller.calls == ["rLM1Ne"]
    assert bench.caller.sent(notebooks.GET)[0].encode() == [NB, None, [2, None, None, [1, *[None] * 9, [1]]], None, 0]


async def test_settings_nobody_touched_and_numbers_nobody_knows(bench: Bench) -> None:
    with_notebook(bench)
    assert (await bench.call("get_notebook", notebook=NB))["chat"] == {"goal": "default", "length": "default"}
    with_notebook(bench, source(S1, kind=99, status=77), role=9, chat_settings=[[8], [9]])
    result = await bench.call("get_notebook", notebook=NB)
    assert result["chat"] == {"goal": "goal 8", "length": "length 9"}
    assert result["notebook"]["role"] == "role 9"
    assert (result["sources"][0]["kind"], result["sources"][0]["status"]) == ("unknown(99)", "unknown(77)")


async def test_a_notebook_in_full(bench: Bench) -> None:
    with_notebook(bench)
    topics = [["What is fog?", "prompt"], ["Who?", "prompt"]]
    bench.caller.script(notebooks.GUIDE, [[["About fog\u200b and \u202ehorns"], [topics]]])
    result = await bench.call("get_notebook", notebook=NB, detail="full")
    assert result["summary"] == "About fog\u200b and \u202ehorns"
    assert result["suggested_questions"] == ["What is fog?", "Who?"]
    assert result["_provenance"]["ai_generated"] is True
    assert result["_provenance"]["flags"] == {"invisible": 1, "bidi": 1}
    bench.caller.script(notebooks.GUIDE, None)
    result = await bench.call("get_notebook", notebook=NB, detail="full")
    assert (result["summary"], result["suggested_questions"]) == ("", [])


@pytest.mark.parametrize("row", [[], ["x"], [["t", {"bad": 1}, NB]], [["t", "str", NB]], [["t", None]]])
async def test_a_notebook_of_another_shape_is_drift(bench: Bench, row: list[Any]) -> None:
    bench.caller.script(notebooks.GET, row)
    error = await bench.fails("get_notebook", notebook=NB)
    assert error.code == "DRIFT"
    assert "bad" not in error.message


async def test_a_notebook_that_is_not_there(bench: Bench) -> None:
    bench.caller.script(notebooks.GET, refused(5))
    error = await bench.fails("get_notebook", notebook=NB)
    assert (error.code, error.outcome) == ("NOT_FOUND", Outcome.REJECTED)
    assert error.hint


# References


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        (NB2, NB2),
        (URL + NB2, NB2),
        (f"https://notebooklm.google.com/notebook/{NB2}?authuser=1#x", NB2),
        ("Project", NB),
        ("project x", NB2),
        ("Project X", NB2),
        ("other", NB3),
        ("222", NB2),
        (NB[:20], NB),
    ],
)
async def test_a_reference_finds_its_notebook(bench: Bench, reference: str, found: str) -> None:
    several(bench, "Project", "Project X", "Other things")
    bench.caller.script(notebooks.GET, lambda request: [notebook(request.notebook_id)])
    result = await bench.call("get_notebook", notebook=reference)
    assert result["notebook"]["id"] == found
    listed = 0 if reference == NB2 or reference.startswith("https") else 1
    assert len(bench.caller.sent(notebooks.LIST)) == listed


async def test_an_ambiguous_reference_lists_the_candidates(bench: Bench) -> None:
    several(bench, "Twice", "Twice", "Twice over")
    for reference, count in (("Twice", 2), ("twi", 3)):
        error = await bench.fails("get_notebook", notebook=reference)
        assert error.code == "AMBIGUOUS"
        assert len(error.details["candidates"]) == count
        assert error.details["candidates"][0] == {"id": NB, "title": "Twice"}


@pytest.mark.parametrize("reference", ["nothing like it", "", " ", "x" * 10_000])
async def test_a_reference_to_nothing(bench: Bench, reference: str) -> None:
    several(bench, "Project")
    error = await bench.fails("get_notebook", notebook=reference)
    assert error.code == "NOT_FOUND"
    assert len(error.message) < 200


@pytest.mark.parametrize(
    "url",
    [
        f"https://evil.test/notebook/{NB}",
        f"https://notebook.google.com.evil.test/notebook/{NB}",
        f"http://notebook.google.com/notebook/{NB}",
        "https://notebook.google.com/",
        "https://[broken/notebook/x",
        "https://",
    ],
)
async def test_another_sites_address_is_no_reference(bench: Bench, url: str) -> None:
    error = await bench.fails("get_notebook", notebook=url)
    assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.NOT_SENT)
    assert bench.caller.requests == []


async def test_a_list_that_was_not_read_whole_proves_no_title(bench: Bench) -> None:
    several(bench, "Twice", "Other")[1][2] = None
    for name, more in (("get_notebook", {}), ("delete_notebook", {"confirm": True})):
        for reference in ("Twice", "1111"):
            error = await bench.fails(name, notebook=reference, **more)
            assert error.code == "DRIFT"
            assert error.hint == "Use the notebook's id."
            assert error.details["undecoded"][0].startswith(".1[1].3: ")
    bench.caller.script(notebooks.GET, [notebook(NB)])
    await bench.call("get_notebook", notebook=NB)


async def test_without_a_reference_the_selected_notebook_is_meant(bench: Bench) -> None:
    error = await bench.fails("get_notebook")
    assert error.code == "INVALID_ARGUMENT"
    assert "select_notebook" in error.hint
    with_notebook(bench, source(S1))
    assert (await bench.call("select_notebook", notebook="My"))["notebook"]["active"] is True
    assert bench.store.active == NB
    assert (await bench.call("get_notebook"))["notebook"]["active"] is True
    assert (await bench.call("list_sources"))["notebook_id"] == NB


async def test_selecting_what_is_not_there_selects_nothing(bench: Bench) -> None:
    bench.store.active = NB
    bench.caller.script(notebooks.GET, refused(5))
    assert (await bench.fails("select_notebook", notebook=NB2)).code == "NOT_FOUND"
    assert bench.store.active == NB


# create_notebook


def created(title: str) -> list[Any]:
    """As recorded: no sources, a short meta, and the first conversation."""
    meta = [1, False, True, None, None, None, 1, None, None, None, None, None, False]
    return [title, None, NB, None, None, meta, None, None, None, None, None, [["6b8bc782-7624-47cd-a5ef-8679165c076f"]]]


async def test_a_new_notebook(bench: Bench) -> None:
    bench.caller.script(notebooks.CREATE, lambda request: created(request.title))
    result = await bench.call("create_notebook", title='{"k":1}')
    assert result["notebook"] == {
        "id": NB,
        "title": '{"k":1}',
        "source_count": 0,
        "role": "owner",
        "shared": False,
        "url": URL + NB,
    }
    assert bench.caller.calls == ["CCqFvf"]


async def test_a_new_notebook_with_an_emoji(bench: Bench) -> None:
    bench.caller.script(notebooks.CREATE, created("New"))
    bench.caller.script(notebooks.RENAME, notebook(NB, "New", emoji="🦊"))
    assert (await bench.call("create_notebook", title="New", emoji="🦊"))["notebook"]["emoji"] == "🦊"
    (request,) = bench.caller.sent(notebooks.RENAME)
    assert request.encode() == [NB, [[None, None, None, [None, None, "🦊"]]]]

    bench.caller.script(notebooks.RENAME, refused(3))
    error = await bench.fails("create_notebook", title="New", emoji="x")
    assert error.details["created"] == NB
    assert "was created" in error.message


@pytest.mark.parametrize("status", [3, 7, 8])
async def test_the_limit_of_notebooks_is_a_quota(bench: Bench, status: int) -> None:
    bench.caller.script(notebooks.CREATE, refused(status))
    rows = [notebook(NB, limit=2), notebook(NB2, limit=2), notebook(NB3, role=3)]
    bench.caller.script(notebooks.LIST, [rows])
    error = await bench.fails("create_notebook", title="one too many")
    assert (error.code, error.outcome, error.retriable) == ("QUOTA", Outcome.REJECTED, False)
    assert "owns 2 notebooks, its limit is 2" in error.message
    assert error.details["status_code"] == status
    assert len(bench.caller.sent(notebooks.CREATE)) == 1


async def test_the_limit_is_looked_up_where_the_list_does_not_tell(bench: Bench) -> None:
    bench.caller.script(notebooks.CREATE, refused(7))
    bench.caller.script(notebooks.LIST, [[notebook(NB3, role=3), notebook(NB)]])
    bench.caller.script(notebooks.GET, [notebook(NB, limit=1)])
    assert (await bench.fails("create_notebook", title="x")).code == "QUOTA"
    assert [request.notebook_id for request in bench.caller.sent(notebooks.GET)] == [NB]


@pytest.mark.parametrize(("status", "code"), [(3, "INVALID_ARGUMENT"), (7, "PERMISSION"), (8, "RATE_LIMITED")])
@pytest.mark.parametrize("limit", [None, 100])
async def test_a_refusal_below_the_limit_stays_what_it_is(
    bench: Bench, status: int, code: str, limit: int | None
) -> None:
    bench.caller.script(notebooks.CREATE, refused(status))
    bench.caller.script(notebooks.LIST, [[notebook(NB, limit=limit)]])
    bench.caller.script(notebooks.GET, [notebook(NB, limit=limit)])
    error = await bench.fails("create_notebook", title="x")
    assert (error.code, error.outcome) == (code, Outcome.REJECTED)
    assert error.details["status_code"] == status
    assert "owns 1 notebooks: its limit may be reached" in error.hint
    assert ("nlm-capture" in error.hint) == (status != 8)


async def test_a_refusal_that_cannot_be_explained(bench: Bench) -> None:
    bench.caller.script(notebooks.CREATE, refused(3))
    bench.caller.script(notebooks.LIST, Network("offline"))
    assert (await bench.fails("create_notebook", title="x")).code == "INVALID_ARGUMENT"


@pytest.mark.parametrize(
    "failure", [lost(), Drift("unreadable. The change may have been made.", outcome=Outcome.UNKNOWN)]
)
async def test_a_lost_answer_to_creating_is_never_sent_again(bench: Bench, failure: NlmError) -> None:
    bench.caller.script(notebooks.CREATE, failure)
    several(bench, "Old", "Mine", "Mine")
    error = await bench.fails("create_notebook", title="Mine")
    assert (error.code, error.outcome) == (failure.code, Outcome.UNKNOWN)
    assert error.details["same_title"] == [NB2, NB3]
    assert "same_title" in error.hint
    error = await bench.fails("create_notebook", title="New")
    assert error.details["same_title"] == []
    assert "look again" in error.hint
    bench.caller.script(notebooks.LIST, Network("offline"))
    assert (await bench.fails("create_notebook", title="x")).outcome is Outcome.UNKNOWN
    assert len(bench.caller.sent(notebooks.CREATE)) == 3


async def test_creating_that_was_never_sent_looks_for_nothing(bench: Bench) -> None:
    bench.caller.script(notebooks.CREATE, Timeout("no answer within 30 s"))
    assert (await bench.fails("create_notebook", title="x")).outcome is Outcome.NOT_SENT
    assert bench.caller.calls == ["CCqFvf"]
    assert (await bench.fails("create_notebook", title="")).code == "INVALID_ARGUMENT"


# rename_notebook


async def test_a_new_title_and_emoji(bench: Bench) -> None:
    with_notebook(bench, source(S1))
    bench.caller.script(notebooks.RENAME, notebook(NB, "New", emoji="🦊"))
    result = await bench.call("rename_notebook", notebook="My notebook", title="New", emoji="🦊")
    assert (result["notebook"]["title"], result["notebook"]["emoji"]) == ("New", "🦊")
    assert result["notebook"]["source_count"] == 1
    assert bench.caller.sent(notebooks.RENAME)[0].encode() == [NB, [[None, None, None, [None, "New", "🦊"]]]]
    assert bench.caller.calls == ["wXbhsf", "rLM1Ne", "s0tc2d"]


async def test_an_emoji_is_cleared_by_an_empty_text(bench: Bench) -> None:
    with_notebook(bench)
    bench.caller.script(notebooks.RENAME, notebook(NB, emoji=""))
    assert "emoji" not in (await bench.call("rename_notebook", notebook=NB, emoji=""))["notebook"]
    assert bench.caller.sent(notebooks.RENAME)[0].encode() == [NB, [[None, None, None, [None, None, ""]]]]


async def test_a_rename_that_changes_nothing_or_is_refused(bench: Bench) -> None:
    assert (await bench.fails("rename_notebook", notebook=NB)).code == "INVALID_ARGUMENT"
    assert bench.caller.requests == []
    with_notebook(bench)
    for status, code in (
        (3, "INVALID_ARGUMENT"),
        (5, "NOT_FOUND"),
        (7, "PERMISSION"),
        (9, "NOT_READY"),
        (13, "SERVICE"),
    ):
        bench.caller.script(notebooks.RENAME, refused(status))
        error = await bench.fails("rename_notebook", notebook=NB, title="New")
        assert (error.code, error.outcome) == (code, Outcome.REJECTED)


# delete_notebook


async def test_nothing_is_deleted_without_a_yes(bench: Bench) -> None:
    with_notebook(bench, source(S1), source(S2), source(S2))
    bench.store.active = NB
    for confirm in ({}, {"confirm": False}, {"confirm": "false"}):
        assert await bench.call("delete_notebook", notebook=NB, **confirm) == {
            "status": "needs_confirmation",
            "notebook_id": NB,
            "title": "My notebook",
            "would": f"delete notebook 'My notebook' ({NB}) with 2 sources; call with confirm",
        }
    assert bench.caller.calls == ["rLM1Ne"] * 3
    assert bench.store.active == NB


async def test_a_deleted_notebook_is_forgotten(bench: Bench) -> None:
    with_notebook(bench)
    bench.caller.script(notebooks.DELETE, [])
    await bench.store.set_active_notebook(NB)
    session = await bench.store.create_session(NB)
    other = await bench.store.create_session(NB2)
    result = await bench.call("delete_notebook", notebook=NB, expected_title="My notebook", confirm=True)
    assert result == {"status": "deleted", "notebook_id": NB, "title": "My notebook"}
    assert bench.caller.sent(notebooks.DELETE)[0].encode() == [[NB], [2]]
    assert bench.store.active is None
    assert set(bench.store.rows) == {other.id} != {session.id}


@pytest.mark.parametrize("title", ["my notebook", "My notebook ", "My", ""])
async def test_another_title_than_expected_stops_everything(bench: Bench, title: str) -> None:
    with_notebook(bench)
    error = await bench.fails("delete_notebook", notebook=NB, expected_title=title, confirm=True)
    assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.NOT_SENT)
    assert error.details == {"notebook": NB, "title": "My notebook"}
    assert bench.caller.calls == ["rLM1Ne"]


async def test_a_refused_deletion_forgets_nothing(bench: Bench) -> None:
    with_notebook(bench)
    bench.store.active = NB
    for failure in (refused(7), lost(), RateLimited("slow down")):
        bench.caller.script(notebooks.DELETE, failure)
        assert await bench.fails("delete_notebook", notebook=NB, confirm=True) is failure
    assert bench.store.active == NB
    assert len(bench.caller.sent(notebooks.DELETE)) == 3


async def test_an_exact_id_wins_over_a_prefix_and_a_title(bench: Bench) -> None:
    """Ids of another shape than today's, one the beginning of the other."""
    rows = [notebook("abc", "First"), notebook("abcdef", "abc"), notebook("xyz", "abcdefg")]
    bench.caller.script(notebooks.LIST, [rows])
    bench.caller.script(notebooks.GET, lambda request: [notebook(request.notebook_id)])
    bench.caller.script(notebooks.DELETE, [])
    assert (await bench.call("delete_notebook", notebook="abc", confirm=True))["notebook_id"] == "abc"
    assert (await bench.fails("delete_notebook", notebook="ab", confirm=True)).code == "AMBIGUOUS"
    assert [request.notebook_ids for request in bench.caller.sent(notebooks.DELETE)] == [["abc"]]


def test_a_time_that_is_no_date_is_left_out() -> None:
    stamp = Timestamp
    assert stamp(seconds=START).iso == "2023-11-14T22:13:20Z"
    assert stamp(seconds=10**18).iso is None
