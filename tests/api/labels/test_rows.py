"""Every row of a label or collection call that somebody is known to send: one declared call, and the same row back."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api import classify
from nlm_cdp.api.labels import collections, labels
from nlm_cdp.rpc import Rpc
from nlm_cdp.wire.pblite import Message, canonical, unclaimed
from tests.api.rows import writes_itself_back
from tests.fakes import NB, NB2, S1, S2

CTX = [2, None, None, [1, *[None] * 9, [1]]]
CTX3 = [2, None, None, [1, *[None] * 9, [1, 3]]]
CTX3C = [2, None, [1], [1, *[None] * 9, [1, 3]]]
L1, L2 = "label-1", "label-2"

LABELS = [
    pytest.param("I3xc3c", [CTX, NB], labels.LIST, id="list"),
    pytest.param("I3xc3c", [[2], NB], labels.LIST, id="list, M"),
    pytest.param("I3xc3c", [CTX3C, NB], labels.LIST, id="list, web app"),
    *(
        pytest.param("agX4Bc", [context, NB, None, None, flag], labels.ORGANIZE, id=f"organize {flag} {len(context)}")
        for context in (CTX, [2])
        for flag in ([True], [False], [1], [0], [])
    ),
    pytest.param("agX4Bc", [CTX, NB, None, None, None, [["Fog", "📗"]]], labels.CREATE, id="create"),
    pytest.param("agX4Bc", [[2], NB, None, None, None, [["Fog", ""]]], labels.CREATE, id="create, M"),
    pytest.param("agX4Bc", [CTX, NB, None, None, None, [["Fog"]]], labels.CREATE, id="create without an emoji"),
    pytest.param("le8sX", [CTX, NB, L1, [[["Fog"]]]], labels.RENAME, id="name"),
    pytest.param("le8sX", [[2], NB, L1, [[["Fog"]]]], labels.RENAME, id="name, M"),
    pytest.param("le8sX", [CTX, NB, L1, [[["Fog", "📗"]]]], labels.RENAME, id="name and emoji"),
    pytest.param("le8sX", [CTX, NB, L1, [[["Fog", ""]]]], labels.RENAME, id="name, no emoji"),
    pytest.param("le8sX", [CTX, NB, L1, [[[None, "🚀"]]]], labels.RENAME, id="emoji"),
    pytest.param("le8sX", [CTX, NB, L1, [[[None, ""]]]], labels.RENAME, id="emoji cleared"),
    pytest.param("le8sX", [CTX, NB, L1, [[None, [[S1]]]]], labels.ADD, id="add"),
    pytest.param("le8sX", [CTX, NB, L1, [[None, [[S1], [S2]]]]], labels.ADD, id="add several"),
    pytest.param("le8sX", [CTX, NB, L1, [[None, [[S1]], [[S2]]]]], labels.ADD, id="add and remove"),
    pytest.param("le8sX", [CTX, NB, L1, [[None, None, [[S1]]]]], labels.REMOVE, id="remove"),
    pytest.param("GyzE7e", [CTX, NB, [L1]], labels.DELETE, id="delete"),
    pytest.param("GyzE7e", [[2], NB, [L1, L2]], labels.DELETE, id="delete several, M"),
]
COLLECTIONS = [
    pytest.param("I3xc3c", [CTX3, None, 3], collections.LIST, id="list collections"),
    pytest.param("I3xc3c", [CTX3C, None, 3], collections.LIST, id="list collections, full context"),
    pytest.param("agX4Bc", [CTX3C, *[None] * 4, [["Made"]], 3], collections.CREATE, id="create collection, P"),
    pytest.param("agX4Bc", [CTX3, *[None] * 4, [["Made"]], 3], collections.CREATE, id="which creates nothing"),
    pytest.param("agX4Bc", [CTX3C, *[None] * 4, [["M"], None, [NB, NB2]], 3], collections.CREATE, id="with members, M"),
    pytest.param("agX4Bc", [CTX3C, *[None] * 4, [["M"], None, []], 3], collections.CREATE, id="without members, M"),
    pytest.param("le8sX", [CTX3, None, L1, [[["New"]]], 3], collections.RENAME, id="collection name"),
    pytest.param("le8sX", [CTX3, None, L1, [[["New", "📗"]]], 3], collections.RENAME, id="collection name, emoji"),
    pytest.param("le8sX", [CTX3C, None, L1, [[[None, "🚀"]]], 3], collections.RENAME, id="collection emoji, M"),
    pytest.param("le8sX", [CTX3, None, L1, [[None, None, None, [[NB]]], []], 3], collections.ADD, id="add notebook"),
    pytest.param(
        "le8sX", [CTX3C, None, L1, [[None, None, None, [[NB, NB2]]], []], 3], collections.ADD, id="add notebooks, M"
    ),
    pytest.param(
        "le8sX", [CTX3, None, L1, [[None, None, None, None, [[NB]]], []], 3], collections.REMOVE, id="remove notebook"
    ),
    pytest.param(
        "le8sX",
        [CTX3C, None, L1, [[None, None, None, None, [[NB, NB2]]], []], 3],
        collections.REMOVE,
        id="remove notebooks, M",
    ),
    pytest.param("GyzE7e", [CTX3, None, [L1], 3], collections.DELETE, id="delete collection"),
    pytest.param("GyzE7e", [CTX3C, None, [L1, L2], 3], collections.DELETE, id="delete collections, M"),
]


@pytest.mark.parametrize(("rpc", "row", "expected"), [*LABELS, *COLLECTIONS])
def test_a_request_is_one_call_and_writes_itself_back(rpc: str, row: list[Any], expected: Rpc[Any, Any]) -> None:
    writes_itself_back(rpc, row, expected)


@pytest.mark.parametrize(
    ("rpc", "row"),
    [
        ("I3xc3c", [CTX]),
        ("I3xc3c", [CTX, NB, 3]),
        ("I3xc3c", [CTX3, None, 2]),
        ("agX4Bc", [CTX, NB]),
        ("agX4Bc", [CTX, NB, None, None, [True], [["Fog", ""]]]),
        ("agX4Bc", [CTX, NB, None, None, [2]]),
        ("agX4Bc", [CTX3C, None, None, None, None, [["Made"]]]),
        ("le8sX", [CTX, NB, L1, [[["Fog"], [[S1]]]]]),
        ("le8sX", [CTX, NB, L1, [[["Fog"], None, [[S1]]]]]),
        ("le8sX", [CTX, NB, L1, [[None]]]),
        ("le8sX", [CTX3, None, L1, [[["New"], None, None, [[NB]]], []], 3]),
        ("GyzE7e", [CTX3, None, [L1]]),
    ],
)
def test_a_request_of_another_form_is_none_of_them(rpc: str, row: list[Any]) -> None:
    """A name beside members among them, which the service refuses."""
    assert classify(rpc, row) is None


@pytest.mark.parametrize(
    ("message", "row"),
    [
        (labels.ListLabels(notebook_id=NB), [CTX, NB]),
        (
            labels.OrganizeSources(notebook_id=NB, grouping=labels.Grouping(everything=False)),
            [CTX, NB, None, None, [False]],
        ),
        (labels.CreateLabel(notebook_id=NB, name="Fog"), [CTX, NB, None, None, None, [["Fog", ""]]]),
        (labels.RenameLabel(notebook_id=NB, label_id=L1, emoji=""), [CTX, NB, L1, [[[None, ""]]]]),
        (labels.AddToLabel(notebook_id=NB, label_id=L1, source_ids=[S1]), [CTX, NB, L1, [[None, [[S1]]]]]),
        (labels.RemoveFromLabel(notebook_id=NB, label_id=L1, source_ids=[S1]), [CTX, NB, L1, [[None, None, [[S1]]]]]),
        (labels.DeleteLabels(notebook_id=NB, label_ids=[L1, L2]), [CTX, NB, [L1, L2]]),
        (collections.ListCollections(), [CTX3, None, 3]),
        (collections.CreateCollection(name="Made"), [CTX3C, *[None] * 4, [["Made"]], 3]),
        (
            collections.AddToCollection(collection_id=L1, notebooks=[NB]),
            [CTX3, None, L1, [[None, None, None, [[NB]]], []], 3],
        ),
        (collections.DeleteCollections(collection_ids=[L1]), [CTX3, None, [L1], 3]),
    ],
)
def test_what_we_send(message: Message, row: list[Any]) -> None:
    assert message.encode() == row


@pytest.mark.parametrize(
    ("message", "row"),
    [
        (labels.Labels, []),
        (labels.Labels, [[["Fog", [[S1], [S2]], L1, "📗"], ["Empty", None, L2, ""]]]),
        (labels.LabelSet, [None, [["Fog", None, L1, ""]]]),
        (collections.Collections, [None, [["Made", [NB, NB2], L1, ""], ["Empty", None, L2, "🚀"]]]),
        (collections.CollectionSet, [None, None, [["Made", None, L1, ""]]]),
    ],
)
def test_an_answer_is_read_to_the_last_cell(message: type[Message], row: list[Any]) -> None:
    found = message.decode(row)
    assert list(unclaimed(message, row)) == []
    assert found.undecoded == ()
    assert canonical(found.encode()) == canonical(row)
