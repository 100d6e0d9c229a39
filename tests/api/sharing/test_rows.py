"""Every row that a client or the web app was seen to send for the sharing calls is one variant, and comes out the same."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api import classify
from nlm_cdp.api.sharing import sharing
from nlm_cdp.errors import DecodeError
from nlm_cdp.rpc import Rpc
from nlm_cdp.wire.pblite import canonical, unclaimed
from tests.api.rows import writes_itself_back

NB = "c3f6285f-1709-44c4-9cd6-e95cf0ea4f5e"
ANN, BOB = "ann@a.test", "bob@b.test"
P1, P13 = [1, *[None] * 9, [1]], [1, *[None] * 9, [1, 3]]
SHORT, FULL, WEB = [2], [2, None, None, P1], [2, None, [1], P13]


def public(flag: int, greeting: int, context: Any = SHORT) -> list[Any]:
    return [[[NB, None, [flag], [greeting, ""]]], 1, None, context]


def people(*grants: tuple[str, int], greeting: list[Any], mail: int = 1) -> list[Any]:
    return [[[NB, [[email, None, role] for email, role in grants], None, greeting]], mail, None, SHORT]


ROWS = [
    (sharing.STATUS, [NB, SHORT]),  # both clients; recorded
    (sharing.STATUS, [NB, FULL]),
    (sharing.STATUS, [NB, WEB]),  # the web app
    (sharing.SET_PUBLIC, public(1, 1)),  # recorded
    (sharing.SET_PUBLIC, public(0, 0)),  # recorded
    (sharing.SET_PUBLIC, public(1, 0)),  # mcp
    (sharing.SET_PUBLIC, public(1, 1, FULL)),
    (sharing.SET_PUBLIC, [[[NB, None, [True], [1, ""]]], True, None, SHORT]),
    (sharing.GRANT, people((ANN, 3), greeting=[1, ""], mail=0)),  # py, without a mail
    (sharing.GRANT, people((ANN, 3), greeting=[1, ""])),  # py, with one
    (sharing.GRANT, people((ANN, 2), greeting=[0, "Welcome!"])),  # both, with a message
    (sharing.GRANT, people((ANN, 3), greeting=[0, ""])),  # mcp, notifying
    (sharing.GRANT, people((ANN, 3), greeting=[1, "Welcome!"])),  # mcp, not notifying
    (sharing.GRANT, people((ANN, 3), (BOB, 2), greeting=[1, ""])),
    (sharing.GRANT, people((ANN, 3), (BOB, 4), greeting=[1, ""])),  # a grant and a removal
    (sharing.REMOVE, people((ANN, 4), greeting=[0, ""], mail=0)),  # py
    (sharing.REMOVE, people((ANN, 4), (BOB, 4), greeting=[0, ""], mail=0)),
]


@pytest.mark.parametrize(("rpc", "row"), ROWS)
def test_a_row_is_one_variant_and_encodes_to_itself(rpc: Rpc[Any, Any], row: list[Any]) -> None:
    writes_itself_back(rpc.id, row, rpc)


@pytest.mark.parametrize(
    "row",
    [
        [[[NB, [], None, [1, ""]]], 1, None, SHORT],
        [[[NB, None, None, [1, ""]]], 1, None, SHORT],
        [[[NB, [[ANN, None, 3]], [1], [1, ""]]], 1, None, SHORT],
        [[[None, None, [1], [1, ""]]], 1, None, SHORT],
        [],
    ],
)
def test_a_row_that_says_nothing_or_two_things_is_no_variant(row: list[Any]) -> None:
    assert classify("QDyure", row) is None


ANSWERS = [
    [[[ANN, 1, [], ["Ann", "https://lh3.googleusercontent.com/a/x=s512"]]], None, 1000],
    [[[ANN, 1, [], ["Ann", ""]], [BOB, 3, [], ["", ""]]], [True], 1000],
    [[[ANN, 1, [], ["Ann", ""]]], [True, False], 1000, True, None, None, [3, True, True], False],
    [[[None, 1, [], ["Ann", ""]]], [True], 1000],
]


@pytest.mark.parametrize("row", ANSWERS)
def test_a_share_status_is_read_to_the_last_cell(row: list[Any]) -> None:
    message = sharing.ShareStatus.decode(row)
    assert list(unclaimed(sharing.ShareStatus, row)) == []
    assert message.undecoded == ()
    assert canonical(message.encode()) == canonical(row)


def test_what_our_tools_build_is_what_they_were_seen_to_send() -> None:
    silent = sharing.Greeting(absent=1, text="")
    on = sharing.SetPublic(notebook_id=NB, public=1, greeting=silent, notify=1)
    assert on.encode() == public(1, 1)
    grant = sharing.GrantAccess(
        notebook_id=NB, grants=[sharing.Grant(email=ANN, role=sharing.VIEWER)], greeting=silent, notify=0
    )
    assert grant.encode() == people((ANN, 3), greeting=[1, ""], mail=0)
    assert sharing.GetShareStatus(notebook_id=NB).encode() == [NB, [2]]
    with pytest.raises(DecodeError):
        sharing.RemoveAccess.decode(people((ANN, 3), greeting=[0, ""]))
