"""Sharing tools over scripted rows: what widens asks first, and what is read back is what is told."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.api.sharing import sharing
from nlm_cdp.errors import Drift, Network, NlmError, Outcome, RateLimited
from nlm_cdp.rpc import Rpc
from tests.fakes import NB, NB2, REFUSALS, Bench, lost, notebook, refused

OWNER, ANN, BOB, CY = "owner@a.test", "ann@a.test", "bob@b.test", "cy@c.test"
URL = f"https://notebook.google.com/notebook/{NB}"
WHERE = f"notebook 'My notebook' ({NB})"


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.store.active = NB
    bench.caller.script(sharing.SET_PUBLIC, [])
    bench.caller.script(sharing.GRANT, [])
    bench.caller.script(sharing.REMOVE, [])
    return bench


def person(email: str | None, role: int = 3, name: str = "") -> list[Any]:
    return [email, role, [], [name, "https://pictures.test/x"]]


def status(*people: Any, public: bool = False) -> list[Any]:
    return [[person(OWNER, 1, "The Owner"), *people], [True] if public else None, 1000]


def project(*, chat_only: bool | None = None) -> list[Any]:
    row = notebook(NB)
    return [[*row[:8], None if chat_only is None else [chat_only, ""], *row[9:]]]


def looks(bench: Bench, *rows: Any, chat_only: tuple[bool | None, ...] = (None,)) -> None:
    """What each look at the share status shows, and at the notebook's own row; the last one repeats."""
    bench.caller.script(sharing.STATUS, *rows)
    bench.caller.script(notebooks.GET, *(project(chat_only=each) for each in chat_only))


def changes(bench: Bench) -> list[Any]:
    """The rows of every request that changes something, in order."""
    harmless = (sharing.STATUS, notebooks.GET, notebooks.LIST)
    return [request.encode() for rpc, request in bench.caller.requests if rpc not in harmless]


# get_share_status


async def test_who_may_see_a_notebook(bench: Bench) -> None:
    looks(bench, status(person(ANN, 2, "Ann"), person(BOB), person(CY, 9), public=True), chat_only=(True,))
    assert await bench.call("get_share_status") == {
        "notebook_id": NB,
        "title": "My notebook",
        "url": URL,
        "is_public": True,
        "view_level": "chat",
        "people": [
            {"email": OWNER, "role": "owner", "name": "The Owner"},
            {"email": ANN, "role": "editor", "name": "Ann"},
            {"email": BOB, "role": "viewer"},
            {"email": CY, "role": "unknown(9)"},
        ],
        "cap": 1000,
    }
    assert bench.caller.calls == ["JFMDGd", "rLM1Ne"]
    assert bench.caller.sent(sharing.STATUS)[0].encode() == [NB, [2]]


@pytest.mark.parametrize(
    ("row", "public", "cap"),
    [
        ([[["o@x.test", 1, [], ["O", ""]]], [True], 1000], True, 1000),
        ([[["o@x.test", 1, [], ["O", ""]]], None, 1000], False, 1000),
        ([[["o@x.test", 1, [], ["O", ""]]], [False, False], 1000], False, 1000),
        ([[["o@x.test", 1]]], False, None),
        ([[["o@x.test", 1]], [True, True], 1000, True, None, None, [3, True, True], False], True, 1000),
    ],
)
async def test_rows_of_every_length(bench: Bench, row: Any, public: bool, cap: int | None) -> None:
    looks(bench, row)
    result = await bench.call("get_share_status", notebook=NB)
    assert (result["is_public"], result.get("cap")) == (public, cap)
    assert result["people"][0]["email"] == "o@x.test"
    assert result.get("can_be_public") == (True if len(row) > 3 else None)


async def test_somebody_without_an_address_is_still_somebody(bench: Bench) -> None:
    looks(bench, [[[None, 1, [], ["O", ""]]], [True], 1000])
    result = await bench.call("get_share_status")
    assert result["people"] == [{"role": "owner", "name": "O"}]
    assert (result["is_public"], result["cap"]) == (True, 1000)


async def test_a_person_that_cannot_be_read_hides_nobody(bench: Bench) -> None:
    looks(bench, status(["x@y.test", "editor"], person(BOB)))
    result = await bench.call("get_share_status")
    assert [each["email"] for each in result["people"]] == [OWNER, BOB]
    assert len(result["undecoded"]) == 1
    assert result["undecoded"][0].startswith(".1[1].2: ")


@pytest.mark.parametrize("row", [[[["only", "junk"]]], ["x"], [[3]]])
async def test_a_status_of_another_shape_is_drift(bench: Bench, row: Any) -> None:
    looks(bench, row)
    assert (await bench.fails("get_share_status")).code == "DRIFT"


async def test_a_notebook_that_is_not_ours_to_see(bench: Bench) -> None:
    bench.caller.script(sharing.STATUS, refused(5))
    assert (await bench.fails("get_share_status", notebook=NB2)).code == "NOT_FOUND"
    bench.caller.script(sharing.STATUS, refused(7))
    assert (await bench.fails("get_share_status")).code == "PERMISSION"


# set_sharing


async def test_nothing_opens_without_a_yes(bench: Bench) -> None:
    looks(bench, status(), chat_only=(True,))
    for asked, would in (
        ({"public": True}, [f"let anyone who has the link open {WHERE}"]),
        ({"view_level": "full"}, [f"let viewers of {WHERE} see its sources, not only the chat"]),
        ({"public": True, "view_level": "full"}, 2),
        ({"public": "true", "confirm": "false"}, 1),
    ):
        result = await bench.call("set_sharing", **asked)
        assert result["status"] == "needs_confirmation"
        assert result["would"] == would or len(result["would"]) == would
        assert (result["is_public"], result["view_level"]) == (False, "chat")
    assert changes(bench) == []


async def test_a_link_is_opened_and_closed(bench: Bench) -> None:
    looks(bench, status(), status(public=True))
    result = await bench.call("set_sharing", public=True, confirm=True)
    assert (result["status"], result["is_public"], result["url"]) == ("done", True, URL)
    result = await bench.call("set_sharing", public=True)
    assert result["status"] == "unchanged"
    looks(bench, status(public=True), status())
    result = await bench.call("set_sharing", public=False)
    assert (result["status"], result["is_public"]) == ("done", False)
    assert changes(bench) == [
        [[[NB, None, [1], [1, ""]]], 1, None, [2]],
        [[[NB, None, [0], [0, ""]]], 1, None, [2]],
    ]


async def test_what_viewers_see(bench: Bench) -> None:
    bench.caller.script(notebooks.SET_VIEW_LEVEL, notebook(NB))
    looks(bench, status(), chat_only=(None, True))
    result = await bench.call("set_sharing", view_level="chat")
    assert (result["status"], result["view_level"]) == ("done", "chat")
    looks(bench, status(), chat_only=(True, False))
    result = await bench.call("set_sharing", view_level="full", confirm=True)
    assert (result["status"], result["view_level"]) == ("done", "full")
    levels = [request.chat_only for request in bench.caller.sent(notebooks.SET_VIEW_LEVEL)]
    assert levels == [1, 0]
    assert changes(bench)[0] == [NB, [[*[None] * 8, [[1]]]]]


@pytest.mark.parametrize(
    ("public", "level", "order"),
    [(True, "chat", ["s0tc2d", "QDyure"]), (False, "full", ["QDyure", "s0tc2d"]), (True, "full", ["QDyure", "s0tc2d"])],
)
async def test_what_narrows_goes_first(bench: Bench, public: bool, level: str, order: list[str]) -> None:
    now = {"public": not public, "chat": level == "full"}

    def set_public(request: Any) -> list[Any]:
        now["public"] = bool(request.public)
        return []

    def set_level(request: Any) -> list[Any]:
        now["chat"] = bool(request.chat_only)
        return notebook(NB)

    bench.caller.script(sharing.SET_PUBLIC, set_public)
    bench.caller.script(notebooks.SET_VIEW_LEVEL, set_level)
    bench.caller.script(sharing.STATUS, lambda request: status(public=now["public"]))
    bench.caller.script(notebooks.GET, lambda request: project(chat_only=now["chat"]))
    result = await bench.call("set_sharing", public=public, view_level=level, confirm=True)
    assert (result["is_public"], result["view_level"]) == (public, level)
    assert [call for call in bench.caller.calls if call not in ("JFMDGd", "rLM1Ne")] == order


async def test_the_second_change_fails_and_the_first_is_told(bench: Bench) -> None:
    bench.caller.script(notebooks.SET_VIEW_LEVEL, notebook(NB))
    bench.caller.script(sharing.SET_PUBLIC, refused(7))
    looks(bench, status(), chat_only=(None, True))
    error = await bench.fails("set_sharing", public=True, view_level="chat", confirm=True)
    assert (error.code, error.outcome) == ("PERMISSION", Outcome.REJECTED)
    assert error.message.endswith("The other change was made before.")


@pytest.mark.parametrize("arguments", [{}, {"confirm": True}, {"view_level": "none"}, {"public": "perhaps"}])
async def test_settings_that_are_none(bench: Bench, arguments: dict[str, Any]) -> None:
    error = await bench.fails("set_sharing", **arguments)
    assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.NOT_SENT)
    assert bench.caller.requests == []


# share_notebook


async def test_nobody_is_invited_without_a_yes(bench: Bench) -> None:
    looks(bench, status(person(ANN, 3), person(BOB, 2)))
    grants = [{"email": CY, "role": "editor"}, {"email": ANN, "role": "editor"}, {"email": BOB, "role": "viewer"}]
    result = await bench.call("share_notebook", grants=grants, message="Hello")
    assert result["status"] == "needs_confirmation"
    assert result["would"] == [
        f"invite {CY} as editor to {WHERE} and mail them the message",
        f"make {ANN} editor instead of viewer of {WHERE} and mail them the message",
        f"make {BOB} viewer instead of editor of {WHERE} and mail them the message",
    ]
    result = await bench.call("share_notebook", grants=grants[:1], notify=False, confirm=False)
    assert result["would"] == [f"invite {CY} as editor to {WHERE}"]
    assert changes(bench) == []


@pytest.mark.parametrize(
    ("arguments", "greeting", "mail"),
    [({}, [1, ""], 1), ({"notify": False}, [1, ""], 0), ({"message": "Hi {}"}, [0, "Hi {}"], 1)],
)
async def test_an_invitation(bench: Bench, arguments: dict[str, Any], greeting: list[Any], mail: int) -> None:
    looks(bench, status(), status(person(ANN), person(BOB, 2)))
    grants = [{"email": ANN, "role": "viewer"}, {"email": "Bob@B.test", "role": "editor"}]
    result = await bench.call("share_notebook", grants=grants, confirm=True, **arguments)
    assert result["status"] == "done"
    assert [each["role"] for each in result["people"]] == ["owner", "viewer", "editor"]
    assert changes(bench) == [[[[NB, [[ANN, None, 3], ["Bob@B.test", None, 2]], None, greeting]], mail, None, [2]]]


async def test_a_role_is_lowered_at_once_and_one_that_is_there_is_left_alone(bench: Bench) -> None:
    looks(bench, status(person(ANN, 2), person(BOB, 3)), status(person(ANN, 3), person(BOB, 3)))
    grants = [{"email": ANN, "role": "viewer"}, {"email": BOB, "role": "viewer"}]
    assert (await bench.call("share_notebook", grants=grants, notify=False))["status"] == "done"
    assert changes(bench) == [[[[NB, [[ANN, None, 3]], None, [1, ""]]], 0, None, [2]]]
    assert (await bench.call("share_notebook", grants=grants, confirm=True))["status"] == "unchanged"
    assert len(changes(bench)) == 1


async def test_a_role_that_nobody_knows_counts_as_less(bench: Bench) -> None:
    looks(bench, status(person(ANN, 9), person(BOB, 4)))
    grants = [{"email": ANN, "role": "viewer"}, {"email": BOB, "role": "viewer"}]
    result = await bench.call("share_notebook", grants=grants, notify=False)
    assert result["would"] == [
        f"make {ANN} viewer instead of unknown(9) of {WHERE}",
        f"invite {BOB} as viewer to {WHERE}",
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        {"grants": []},
        {"grants": [{"email": ANN, "role": "owner"}]},
        {"grants": [{"email": ANN}]},
        {"grants": [{"email": "no address", "role": "viewer"}]},
        {"grants": [{"email": "@", "role": "viewer"}]},
        {"grants": [{"email": f"{ANN}\n", "role": "viewer"}]},
        {"grants": [ANN]},
        {"grants": [{"email": ANN, "role": "viewer", "notify": True}]},
        {"grants": [{"email": ANN, "role": "viewer"}, {"email": ANN.upper(), "role": "editor"}]},
        {"grants": [{"email": ANN, "role": "viewer"}], "message": "Hi", "notify": False},
        {"grants": [{"email": ANN, "role": "viewer"}], "message": ""},
    ],
)
async def test_grants_that_are_none(bench: Bench, arguments: dict[str, Any]) -> None:
    error = await bench.fails("share_notebook", confirm=True, **arguments)
    assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.NOT_SENT)
    assert "a.test" not in error.message.lower()
    assert bench.caller.requests == []


async def test_the_owner_is_left_alone(bench: Bench) -> None:
    looks(bench, status())
    for tool, arguments in (
        ("share_notebook", {"grants": [{"email": OWNER.upper(), "role": "viewer"}]}),
        ("unshare_notebook", {"emails": [OWNER]}),
    ):
        error = await bench.fails(tool, confirm=True, **arguments)
        assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.NOT_SENT)
    assert changes(bench) == []


async def test_grants_that_came_as_text(bench: Bench) -> None:
    looks(bench, status(), status(person(ANN)))
    result = await bench.call("share_notebook", grants=f'[{{"email": "{ANN}", "role": "viewer"}}]', confirm="true")
    assert result["status"] == "done"


# unshare_notebook


async def test_nobody_is_removed_without_a_yes(bench: Bench) -> None:
    looks(bench, status(person(ANN, 2)))
    assert await bench.call("unshare_notebook", emails=[ANN, BOB]) == {
        "status": "needs_confirmation",
        "notebook_id": NB,
        "removed": [],
        "not_found": [BOB],
        "would": [f"remove {ANN} (editor) from {WHERE}"],
    }
    assert changes(bench) == []


async def test_only_who_is_there_is_removed(bench: Bench) -> None:
    """The service would remove nobody if one were not there, and say nothing."""
    looks(bench, status(person(ANN, 2), person(CY)), status(person(CY)))
    result = await bench.call("unshare_notebook", emails=[BOB, "ANN@a.test"], confirm=True)
    assert result == {"status": "removed", "notebook_id": NB, "removed": ["ANN@a.test"], "not_found": [BOB]}
    assert changes(bench) == [[[[NB, [["ANN@a.test", None, 4]], None, [0, ""]]], 0, None, [2]]]
    assert (await bench.call("unshare_notebook", emails=[BOB], confirm=True))["status"] == "not_found"
    assert len(changes(bench)) == 1


async def test_a_public_notebook_stays_open_to_who_was_removed(bench: Bench) -> None:
    looks(bench, status(person(ANN), public=True), status(public=True))
    assert "public" in (await bench.call("unshare_notebook", emails=[ANN], confirm=True))["note"]


async def test_a_list_that_was_not_read_whole_does_not_say_who_is_missing(bench: Bench) -> None:
    looks(bench, status(["x@y.test", "editor"], person(ANN)), status(["x@y.test", "editor"]))
    error = await bench.fails("unshare_notebook", emails=[BOB], confirm=True)
    assert (error.code, error.outcome) == ("DRIFT", Outcome.NOT_SENT)
    assert changes(bench) == []
    looks(bench, status(["x@y.test", "editor"], person(ANN)), status(["x@y.test", "editor"]))
    assert (await bench.call("unshare_notebook", emails=[ANN], confirm=True))["removed"] == [ANN]


@pytest.mark.parametrize("emails", [[], [ANN, ANN], [ANN, "Ann@A.TEST"], ["nobody"], "a b"])
async def test_removals_that_are_none(bench: Bench, emails: Any) -> None:
    error = await bench.fails("unshare_notebook", emails=emails, confirm=True)
    assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.NOT_SENT)
    assert bench.caller.requests == []


# What the service says, and what it shows

CASES: list[tuple[str, dict[str, Any], Rpc[Any, Any], Any, Any]] = [
    ("set_sharing", {"public": True}, sharing.SET_PUBLIC, status(), status(public=True)),
    ("set_sharing", {"view_level": "chat"}, notebooks.SET_VIEW_LEVEL, None, None),
    ("share_notebook", {"grants": [{"email": ANN, "role": "viewer"}]}, sharing.GRANT, status(), status(person(ANN))),
    ("unshare_notebook", {"emails": [ANN]}, sharing.REMOVE, status(person(ANN)), status()),
]
cases = pytest.mark.parametrize(("tool", "arguments", "rpc", "before", "after"), CASES, ids=[c[2].name for c in CASES])


def shown(bench: Bench, before: Any, *after: Any) -> None:
    """The looks before and after a change; the view level's are at the notebook's own row."""
    if before is None:
        bench.caller.script(sharing.STATUS, status())
        bench.caller.script(notebooks.GET, project(), *(each or project(chat_only=True) for each in after))
        bench.caller.script(notebooks.SET_VIEW_LEVEL, notebook(NB))
    else:
        looks(bench, before, *after)


@cases
@pytest.mark.parametrize(
    ("code", "name"),
    REFUSALS,
)
async def test_a_refusal_is_told_and_looked_at_no_further(
    bench: Bench, tool: str, arguments: Any, rpc: Any, before: Any, after: Any, code: int, name: str
) -> None:
    shown(bench, before, after)
    bench.caller.script(rpc, refused(code))
    error = await bench.fails(tool, confirm=True, **arguments)
    assert (error.code, error.outcome) == (name, Outcome.REJECTED)
    assert bench.caller.calls == ["JFMDGd", "rLM1Ne", rpc.id]
    assert "@" not in error.message + error.hint


async def test_a_missing_permission_is_not_explained_away(bench: Bench) -> None:
    looks(bench, status())
    bench.caller.script(sharing.GRANT, refused(7))
    error = await bench.fails("share_notebook", grants=[{"email": ANN, "role": "viewer"}], confirm=True)
    assert error.code == "PERMISSION"
    assert error.hint.startswith("The service gives no reason.")
    assert error.hint.count("Perhaps") == 1
    assert "a.test" not in error.hint
    bench.caller.script(sharing.GRANT, refused(3))
    error = await bench.fails("share_notebook", grants=[{"email": ANN, "role": "viewer"}], confirm=True)
    assert error.hint.startswith("Perhaps the service does not accept an address.")


@cases
async def test_a_lost_answer_is_settled_by_looking(
    bench: Bench, tool: str, arguments: Any, rpc: Any, before: Any, after: Any
) -> None:
    shown(bench, before, before or project(), after)
    bench.caller.script(rpc, lost())
    result = await bench.call(tool, confirm=True, **arguments)
    assert result["status"] in ("done", "removed")
    assert len(bench.caller.sent(rpc)) == 1
    assert len(bench.caller.sent(sharing.STATUS)) == 3


@cases
@pytest.mark.parametrize(
    "failure", [lost(), Drift("unreadable. The change may have been made.", outcome=Outcome.UNKNOWN), None]
)
async def test_a_change_that_does_not_show_is_in_doubt(
    bench: Bench, tool: str, arguments: Any, rpc: Any, before: Any, after: Any, failure: NlmError | None
) -> None:
    shown(bench, before) if before is not None else shown(bench, before, project())
    if failure is not None:
        bench.caller.script(rpc, failure)
    error = await bench.fails(tool, confirm=True, **arguments)
    assert error.code == (failure.code if failure else "UNCONFIRMED_WRITE")
    assert error.outcome is Outcome.UNKNOWN
    assert error.message.endswith("does not show it.")
    assert "@" not in error.message + error.hint
    assert len(bench.caller.sent(rpc)) == 1
    assert len(bench.caller.sent(sharing.STATUS)) == 4


@cases
@pytest.mark.parametrize("failure", [lost(), None])
async def test_a_change_that_cannot_be_looked_at_is_in_doubt(
    bench: Bench, tool: str, arguments: Any, rpc: Any, before: Any, after: Any, failure: NlmError | None
) -> None:
    shown(bench, before, after)
    bench.caller.script(sharing.STATUS, before or status(), Network("offline"))
    if failure is not None:
        bench.caller.script(rpc, failure)
    error = await bench.fails(tool, confirm=True, **arguments)
    assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", Outcome.UNKNOWN)
    assert "could not be read afterwards (NETWORK)" in error.message


@cases
async def test_a_change_that_was_never_sent_is_not_looked_for(
    bench: Bench, tool: str, arguments: Any, rpc: Any, before: Any, after: Any
) -> None:
    shown(bench, before, after)
    bench.caller.script(rpc, RateLimited("slow down"))
    assert (await bench.fails(tool, confirm=True, **arguments)).outcome is Outcome.NOT_SENT
    assert len(bench.caller.sent(sharing.STATUS)) == 1
