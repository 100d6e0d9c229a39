"""Label tools over scripted rows: a service that says nothing where it does nothing, and replies that are lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio

from nlm_cdp.api.labels import labels
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.errors import Drift, Network, NlmError, Outcome
from tests.fakes import NB, S1, S2, S3, S4, Bench, lost, notebook, refused, source

L1, L2, L3 = (f"{digit * 8}-{digit * 4}-4{digit * 3}-9{digit * 3}-{digit * 12}" for digit in "ef9")
CTX = [2, None, None, [1, *[None] * 9, [1]]]


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.store.active = NB
    sources = (source(S1, "Fog"), source(S2, "Horns"), source(S3, "Log"))
    bench.caller.script(notebooks.GET, [notebook(NB, sources=sources)])
    return bench


def row(label_id: str, name: str = "Weather", *sources: str, emoji: str = "") -> list[Any]:
    return [name, [[source] for source in sources] or None, label_id, emoji]


def listings(bench: Bench, *looks: Any) -> None:
    """What each look at the labels shows; the last one repeats. Exceptions are raised."""
    bench.caller.script(labels.LIST, *[look if isinstance(look, Exception) else [look] for look in looks])


# list_labels


async def test_labels_with_their_sources(bench: Bench) -> None:
    listings(bench, [row(L1, "Weather", S1, S2, emoji="🌫️"), row(L2, "Empty")])
    assert await bench.call("list_labels") == {
        "notebook_id": NB,
        "labels": [
            {"id": L1, "name": "Weather", "emoji": "🌫️", "source_ids": [S1, S2]},
            {"id": L2, "name": "Empty", "source_ids": []},
        ],
    }
    assert bench.caller.sent(labels.LIST)[0].encode() == [CTX, NB]


async def test_no_labels_are_none_and_a_strange_listing_is_drift(bench: Bench) -> None:
    answer: list[Any]
    for answer in ([], [None], [[]]):
        bench.caller.script(labels.LIST, answer)
        assert (await bench.call("list_labels"))["labels"] == []
    for answer in (["x"], [[["Weather"]]], [[["Weather", S1, L1, ""]]], [[5]]):
        bench.caller.script(labels.LIST, answer)
        assert (await bench.fails("list_labels")).code == "DRIFT"


async def test_one_bad_row_hides_no_good_one_but_proves_no_name(bench: Bench) -> None:
    listings(bench, [row(L1), ["Weather", None, None, ""]])
    result = await bench.call("list_labels")
    assert [label["id"] for label in result["labels"]] == [L1]
    assert result["undecoded"] == [".1[1].3: the cell is empty"]
    for name, arguments in (
        ("edit_label", {"label": "Weather", "name": "New"}),
        ("delete_labels", {"labels": [L1, "Weather"], "confirm": True}),
    ):
        error = await bench.fails(name, **arguments)
        assert (error.code, error.hint) == ("DRIFT", "Use the label's id.")
    assert set(bench.caller.calls) == {"I3xc3c"}


# organize_sources


async def test_what_is_there_is_kept_unless_everything_is_asked_for(bench: Bench) -> None:
    listings(bench, [row(L1)])
    bench.caller.script(labels.ORGANIZE, [None, [row(L1), row(L2, "Log", S3)]])
    result = await bench.call("organize_sources")
    assert result["status"] == "organized"
    assert [label["id"] for label in result["labels"]] == [L1, L2]
    assert bench.caller.sent(labels.ORGANIZE)[0].encode() == [CTX, NB, None, None, [False]]
    await bench.call("organize_sources", mode="all", confirm=True)
    assert bench.caller.sent(labels.ORGANIZE)[1].encode() == [CTX, NB, None, None, [True]]


async def test_labels_are_not_replaced_without_a_yes(bench: Bench) -> None:
    listings(bench, [row(L1, "Weather", S1), row(L2, "Log", S2, S3)])
    for confirm in ({}, {"confirm": False}):
        result = await bench.call("organize_sources", mode="all", **confirm)
        assert result["status"] == "needs_confirmation"
        assert [label["id"] for label in result["labels"]] == [L1, L2]
        assert result["would"] == [
            "replace every label by new ones",
            f"delete label 'Weather' ({L1}) of 1 source",
            f"delete label 'Log' ({L2}) of 2 sources",
        ]
    assert bench.caller.sent(labels.ORGANIZE) == []


@pytest.mark.parametrize("loss", [lost, lambda: Drift("another shape", outcome=Outcome.UNKNOWN)])
async def test_organizing_whose_reply_is_lost_is_looked_up(bench: Bench, loss: Callable[[], NlmError]) -> None:
    bench.caller.script(labels.ORGANIZE, loss())
    listings(bench, [row(L1, "Weather", S1)], [row(L1, "Weather", S1), row(L2, "Log", S3)])
    result = await bench.call("organize_sources")
    assert [label["id"] for label in result["labels"]] == [L1, L2]
    for look, said in (([row(L1)], "have not changed"), (Network("offline"), "could not be read")):
        failure = loss()
        bench.caller.script(labels.ORGANIZE, failure)
        listings(bench, [row(L1)], look)
        error = await bench.fails("organize_sources")
        assert error is failure
        assert error.outcome is Outcome.UNKNOWN
        assert said in error.message
    assert len(bench.caller.sent(labels.ORGANIZE)) == 3


# edit_label: a new one


async def test_a_new_label(bench: Bench) -> None:
    listings(bench, [row(L1)])
    bench.caller.script(labels.CREATE, [None, [row(L1), row(L2, "Log", emoji="📗")]])
    result = await bench.call("edit_label", name="Log", emoji="📗")
    assert result["label"] == {"id": L2, "name": "Log", "emoji": "📗", "source_ids": []}
    assert bench.caller.sent(labels.CREATE)[0].encode() == [CTX, NB, None, None, None, [["Log", "📗"]]]
    assert bench.caller.calls == ["I3xc3c", "agX4Bc"]


async def test_a_new_label_with_sources_takes_a_call_for_each(bench: Bench) -> None:
    listings(bench, [], [row(L1, "Log", S1, S3)])
    bench.caller.script(labels.CREATE, [None, [row(L1, "Log")]])
    bench.caller.script(labels.ADD, [])
    result = await bench.call("edit_label", name="Log", add_sources=["Fog", S3, S1])
    assert result["label"]["source_ids"] == [S1, S3]
    assert bench.caller.sent(labels.CREATE)[0].encode()[5] == [["Log", ""]]
    sent = [request.encode() for request in bench.caller.sent(labels.ADD)]
    assert sent == [[CTX, NB, L1, [[None, [[S1]]]]], [CTX, NB, L1, [[None, [[S3]]]]]]
    assert bench.caller.calls == ["I3xc3c", "rLM1Ne", "agX4Bc", "le8sX", "le8sX", "I3xc3c"]


@pytest.mark.parametrize("reference", ["Fog report", "https://harbour.test", S4[:8]])
async def test_a_source_goes_by_the_name_it_is_shown_by_as_by_its_title(bench: Bench, reference: str) -> None:
    address = "https://harbour.test/Fog%20report.pdf"
    bench.caller.script(notebooks.GET, [notebook(NB, sources=(source(S4, address, kind=3, url=address),))])
    listings(bench, [row(L1)], [row(L1, "Weather", S4)])
    bench.caller.script(labels.ADD, [])
    result = await bench.call("edit_label", label=L1, add_sources=[reference])
    assert result["label"]["source_ids"] == [S4]


async def test_a_name_that_is_taken_makes_no_second_label(bench: Bench) -> None:
    listings(bench, [row(L1, "Log")])
    error = await bench.fails("edit_label", name="Log", add_sources=[S1])
    assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.NOT_SENT)
    assert "Name it as label" in error.hint
    assert bench.caller.calls == ["I3xc3c"]


async def test_which_label_is_the_new_one(bench: Bench) -> None:
    """Another may have come meanwhile, and the service may store another name."""
    listings(bench, [row(L1)])
    bench.caller.script(labels.CREATE, [None, [row(L1), row(L2, "Logbook")]])
    assert (await bench.call("edit_label", name="Log"))["label"]["id"] == L2
    bench.caller.script(labels.CREATE, [None, [row(L1), row(L2, "Other"), row(L3, "Log")]])
    assert (await bench.call("edit_label", name="Log"))["label"]["id"] == L3
    for answer in ([None, [row(L1)]], [None, None], [], [None, [row(L2, "Log"), row(L3, "Log")]]):
        bench.caller.script(labels.CREATE, answer)
        error = await bench.fails("edit_label", name="Log")
        assert (error.code, error.outcome) == ("DRIFT", Outcome.UNKNOWN)


async def test_a_creation_whose_reply_is_lost_is_looked_up_and_goes_on(bench: Bench) -> None:
    bench.caller.script(labels.CREATE, lost())
    bench.caller.script(labels.ADD, [])
    listings(bench, [row(L1)], [row(L1), row(L2, "Log")], [row(L1), row(L2, "Log", S1)])
    result = await bench.call("edit_label", name="Log", add_sources=[S1])
    assert result["label"] == {"id": L2, "name": "Log", "source_ids": [S1]}
    for look, said in (([row(L1)], "have not changed"), (Network("offline"), "could not be read")):
        bench.caller.script(labels.CREATE, lost())
        listings(bench, [row(L1)], look)
        error = await bench.fails("edit_label", name="Log", add_sources=[S1])
        assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", Outcome.UNKNOWN)
        assert said in error.message
    assert len(bench.caller.sent(labels.CREATE)) == 3
    assert len(bench.caller.sent(labels.ADD)) == 1


# edit_label: one that is there


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({"name": "Mist"}, ["Mist", "🌫️"]),
        ({"emoji": "👩‍🔬"}, [None, "👩‍🔬"]),
        ({"emoji": ""}, [None, ""]),
        ({"emoji": "🧪🔦"}, [None, "🧪🔦"]),
        ({"emoji": "text"}, [None, "text"]),
        ({"name": "Mist", "emoji": ""}, ["Mist", ""]),
        ({"name": 'A "name"\nof two lines'}, ['A "name"\nof two lines', "🌫️"]),
        ({"name": "x" * 200}, ["x" * 200, "🌫️"]),
    ],
)
async def test_odd_names_and_emoji_are_sent_as_they_are(bench: Bench, arguments: dict[str, str], part: Any) -> None:
    now = row(L1, part[0] or "Weather", S1, emoji=part[1])
    listings(bench, [row(L1, "Weather", S1, emoji="🌫️")], [now])
    bench.caller.script(labels.RENAME, [])
    result = await bench.call("edit_label", label="weather", **arguments)
    assert (result["label"]["name"], result["label"].get("emoji", "")) == (now[0], now[3])
    assert bench.caller.sent(labels.RENAME)[0].encode() == [CTX, NB, L1, [[part]]]


async def test_name_and_members_are_calls_of_their_own_that_carry_only_what_changes(bench: Bench) -> None:
    listings(bench, [row(L1, "Weather", S1, S2)], [row(L1, "Mist", S1, S3)])
    bench.caller.script(labels.RENAME, [])
    bench.caller.script(labels.ADD, [])
    bench.caller.script(labels.REMOVE, [])
    result = await bench.call(
        "edit_label", label="Weather", name="Mist", add_sources=["Fog", "Log"], remove_sources=["Horns"]
    )
    assert (result["label"]["name"], result["label"]["source_ids"]) == ("Mist", [S1, S3])
    assert [request.encode()[3] for rpc, request in bench.caller.requests if rpc.id == "le8sX"] == [
        [[["Mist", ""]]],
        [[None, [[S3]]]],
        [[None, None, [[S2]]]],
    ]
    assert bench.caller.calls == ["I3xc3c", "rLM1Ne", "le8sX", "le8sX", "le8sX", "I3xc3c"]


async def test_what_is_so_already_costs_no_call(bench: Bench) -> None:
    listings(bench, [row(L1, "Weather", S1, emoji="🌫️")])
    result = await bench.call("edit_label", label=L1, name="Weather", emoji="🌫️", add_sources=[S1], remove_sources=[S2])
    assert result["label"]["source_ids"] == [S1]
    assert bench.caller.calls == ["I3xc3c", "rLM1Ne"]


async def test_a_member_can_leave_although_its_source_is_gone(bench: Bench) -> None:
    listings(bench, [row(L1, "Weather", S4)], [row(L1, "Weather")])
    bench.caller.script(labels.REMOVE, [])
    result = await bench.call("edit_label", label=L1, remove_sources=[S4])
    assert result["label"]["source_ids"] == []
    assert bench.caller.sent(labels.REMOVE)[0].encode() == [CTX, NB, L1, [[None, None, [[S4]]]]]


async def test_what_is_not_there_is_an_error_before_anything_is_written(bench: Bench) -> None:
    """The service itself would say nothing."""
    listings(bench, [row(L1), row(L2, "Log"), row(L3, "Log")])
    for arguments, code in (
        ({"label": "mist", "name": "New"}, "NOT_FOUND"),
        ({"label": S1, "name": "New"}, "NOT_FOUND"),
        ({"label": "Log", "name": "New"}, "AMBIGUOUS"),
        ({"label": L1, "name": "New", "add_sources": [S1, S4]}, "NOT_FOUND"),
        ({"label": L1, "name": "New", "remove_sources": ["mist"]}, "NOT_FOUND"),
        ({"name": "New", "add_sources": ["mist"]}, "NOT_FOUND"),
        ({"label": L1, "add_sources": [S1], "remove_sources": ["Fog"]}, "INVALID_ARGUMENT"),
    ):
        assert (await bench.fails("edit_label", **arguments)).code == code
    assert set(bench.caller.calls) == {"I3xc3c", "rLM1Ne"}


async def test_a_change_that_the_label_does_not_show_is_no_success(bench: Bench) -> None:
    bench.caller.script(labels.RENAME, [])
    bench.caller.script(labels.ADD, [])
    for now, unseen in (
        ([row(L1, "Weather")], ["set name and emoji", f"add {S1}"]),
        ([row(L1, "Mist")], [f"add {S1}"]),
        ([row(L2, "Mist", S1)], ["set name and emoji", f"add {S1}"]),
    ):
        listings(bench, [row(L1, "Weather")], now)
        error = await bench.fails("edit_label", label=L1, name="Mist", add_sources=[S1])
        assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", Outcome.UNKNOWN)
        assert error.details == {"label": L1, "not_seen": unseen}
    listings(bench, [row(L1)], [row(L1, "Mist of the service", S1)])
    assert (await bench.call("edit_label", label=L1, name="Mist"))["label"]["name"] == "Mist of the service"


async def test_changed_although_the_label_cannot_be_read_afterwards(bench: Bench) -> None:
    bench.caller.script(labels.RENAME, [])
    listings(bench, [row(L1)], Network("offline"))
    result = await bench.call("edit_label", label=L1, name="Mist")
    assert result["label"]["id"] == L1
    assert "NETWORK" in result["note"]


@pytest.mark.parametrize("failure", [refused(3), refused(8), lost(), Network("offline")])
async def test_an_error_says_how_far_it_got(bench: Bench, failure: NlmError) -> None:
    listings(bench, [], [row(L1, "Log", S1)])
    bench.caller.script(labels.CREATE, [None, [row(L1, "Log")]])
    bench.caller.script(labels.ADD, [], failure)
    error = await bench.fails("edit_label", name="Log", add_sources=[S1, S2, S3])
    assert error is failure
    assert error.details["label"] == L1
    assert error.details["done"] == ["create the label", f"add {S1}"]
    assert error.details["not_done"] == [f"add {S2}", f"add {S3}"]
    assert "see details.done" in error.message
    assert len(bench.caller.sent(labels.ADD)) == 2


async def test_a_change_whose_reply_is_lost_is_looked_up_and_goes_on(bench: Bench) -> None:
    bench.caller.script(labels.ADD, lost(), [])
    bench.caller.script(labels.REMOVE, lost())
    listings(
        bench,
        [row(L1, "Weather", S3)],
        [row(L1, "Weather", S3, S1)],
        [row(L1, "Weather", S1, S2)],
        [row(L1, "Weather", S1, S2)],
    )
    result = await bench.call("edit_label", label=L1, add_sources=[S1, S2], remove_sources=[S3])
    assert result["label"]["source_ids"] == [S1, S2]
    assert len(bench.caller.sent(labels.ADD)) == 2
    for look, said in (([row(L1)], "not there"), ([], "not there"), (Network("offline"), "could not be read")):
        bench.caller.script(labels.ADD, lost())
        listings(bench, [row(L1)], look)
        error = await bench.fails("edit_label", label=L1, add_sources=[S1])
        assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", Outcome.UNKNOWN)
        assert said in error.message
        assert (error.details["done"], error.details["not_done"]) == ([], [f"add {S1}"])
    assert len(bench.caller.sent(labels.ADD)) == 5


async def test_edits_of_one_notebook_happen_one_after_the_other(bench: Bench) -> None:
    """Each tells its new label from those that were there before."""
    there: list[Any] = []

    async def create(request: Any) -> Any:
        await trio.sleep(5)
        there.append(row((L1, L2)[len(there)], request.name))
        return [None, there]

    bench.caller.script(labels.CREATE, create)
    bench.caller.script(labels.LIST, lambda request: [list(there)])
    results: dict[str, str] = {}

    async def run(name: str) -> None:
        results[name] = (await bench.call("edit_label", name=name))["label"]["name"]

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run, "Fog")
        nursery.start_soon(run, "Log")
    assert results == {"Fog": "Fog", "Log": "Log"}


# delete_labels


async def test_nothing_is_deleted_without_a_yes(bench: Bench) -> None:
    listings(bench, [row(L1, "Weather", S1), row(L2, "Log")])
    for confirm in ({}, {"confirm": False}, {"confirm": "false"}):
        assert await bench.call("delete_labels", labels=["weather", L2, "mist"], **confirm) == {
            "status": "needs_confirmation",
            "notebook_id": NB,
            "deleted": [],
            "not_found": ["mist"],
            "would": [
                f"delete label 'Weather' ({L1}) of 1 source; the sources stay",
                f"delete label 'Log' ({L2}) of 0 sources; the sources stay",
            ],
        }
    assert bench.caller.sent(labels.DELETE) == []


async def test_deleting_several_at_once(bench: Bench) -> None:
    listings(bench, [row(L1), row(L2, "Log")])
    bench.caller.script(labels.DELETE, [])
    result = await bench.call("delete_labels", labels=["Log", L1, L2, L3], confirm=True)
    assert result == {"status": "deleted", "notebook_id": NB, "deleted": [L2, L1], "not_found": [L3]}
    assert bench.caller.sent(labels.DELETE)[0].encode() == [CTX, NB, [L2, L1]]


async def test_what_is_not_there_is_not_deleted(bench: Bench) -> None:
    """The service would say that it did."""
    listings(bench, [row(L1), row(L2)])
    for confirm in (True, False):
        result = await bench.call("delete_labels", labels=["mist", L3], confirm=confirm)
        assert (result["status"], result["deleted"], result["not_found"]) == ("not_found", [], ["mist", L3])
    assert (await bench.fails("delete_labels", labels=["Weather"], confirm=True)).code == "AMBIGUOUS"
    assert bench.caller.sent(labels.DELETE) == []


async def test_a_deletion_whose_reply_is_lost_is_looked_up(bench: Bench) -> None:
    bench.caller.script(labels.DELETE, lost())
    listings(bench, [row(L1), row(L2, "Log")], [])
    assert (await bench.call("delete_labels", labels=[L1, L2], confirm=True))["deleted"] == [L1, L2]
    bench.caller.script(labels.DELETE, lost())
    listings(bench, [row(L1), row(L2, "Log")], [row(L2, "Log")])
    error = await bench.fails("delete_labels", labels=[L1, L2], confirm=True)
    assert (error.outcome, error.details["still_there"]) == (Outcome.UNKNOWN, [L2])
    for look in (Network("offline"), [row(L3), ["Log", None, None, ""]]):
        bench.caller.script(labels.DELETE, lost())
        listings(bench, [row(L1)], look)
        error = await bench.fails("delete_labels", labels=[L1], confirm=True)
        assert error.outcome is Outcome.UNKNOWN
        assert "could not be read" in error.message
    assert len(bench.caller.sent(labels.DELETE)) == 4


# Bad input and refusals


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("list_labels", {"limit": 5}),
        ("organize_sources", {"mode": "everything"}),
        ("organize_sources", {"replace": True}),
        ("edit_label", {}),
        ("edit_label", {"emoji": "📗"}),
        ("edit_label", {"add_sources": [S1]}),
        ("edit_label", {"name": ""}),
        ("edit_label", {"name": "Log", "remove_sources": [S1]}),
        ("edit_label", {"label": L1}),
        ("edit_label", {"label": L1, "add_sources": []}),
        ("edit_label", {"label": L1, "sources": [S1]}),
        ("delete_labels", {}),
        ("delete_labels", {"labels": [], "confirm": True}),
    ],
)
async def test_bad_arguments_are_refused_before_anything_is_sent(
    bench: Bench, name: str, arguments: dict[str, Any]
) -> None:
    error = await bench.fails(name, **arguments)
    assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.NOT_SENT)
    assert error.hint
    assert bench.caller.requests == []


CALLS: list[tuple[str, Any, dict[str, Any]]] = [
    ("list_labels", labels.LIST, {}),
    ("organize_sources", labels.ORGANIZE, {}),
    ("organize_sources", labels.ORGANIZE, {"mode": "all", "confirm": True}),
    ("edit_label", labels.CREATE, {"name": "New"}),
    ("edit_label", labels.RENAME, {"label": L1, "name": "New"}),
    ("edit_label", labels.ADD, {"label": L1, "add_sources": [S2]}),
    ("edit_label", labels.REMOVE, {"label": L1, "remove_sources": [S1]}),
    ("delete_labels", labels.DELETE, {"labels": [L1], "confirm": True}),
]


@pytest.mark.parametrize("status", [3, 5, 7, 8, 9, 13, 16])
@pytest.mark.parametrize(("name", "rpc", "arguments"), CALLS, ids=lambda value: getattr(value, "variant", None))
async def test_a_refusal_is_believed_and_nothing_is_sent_again(
    bench: Bench, name: str, rpc: Any, arguments: dict[str, Any], status: int
) -> None:
    listings(bench, [row(L1, "Weather", S1)])
    failure = refused(status)
    bench.caller.script(rpc, failure)
    error = await bench.fails(name, **arguments)
    assert error is failure
    assert error.outcome is Outcome.REJECTED
    assert error.code == refused(status).code
    assert len(bench.caller.sent(rpc)) == 1
    assert bench.caller.requests[-1][0] is rpc
