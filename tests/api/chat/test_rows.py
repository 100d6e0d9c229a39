"""Every row of a chat call that somebody is known to send: one declared call, and the same row back."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api import classify
from nlm_cdp.api.chat import chat, questions
from nlm_cdp.rpc import Rpc
from nlm_cdp.wire.pblite import canonical, unclaimed
from tests.api.rows import writes_itself_back
from tests.fakes import CHAT1, NB, S1, S2

CTX = [2, None, None, [1, *[None] * 9, [1]]]
CTX3C = [2, None, [1], [1, *[None] * 9, [1, 3]]]
SOURCES = [[[S1]], [[S2]]]
HISTORY = [["An answer.", None, 2], ["A question?", None, 1]]
RESOURCE = "projects/P/locations/global/notebooks/NB"

ROWS = [
    pytest.param("chat", [SOURCES, "?", None, [2, None, [1], [1]], None, None, None, NB, 1], chat.ASK, id="first"),
    pytest.param("chat", [SOURCES, "?", None, [2, None, [1], [1]], CHAT1, None, None, NB, 1], chat.ASK, id="next"),
    pytest.param("chat", [SOURCES, "?", HISTORY, [2, None, [1], [1]], CHAT1, None, None, NB, 1], chat.ASK, id="more"),
    pytest.param("chat", [[], "?", None, [2, None, [1], [1]], None, None, None, NB, 1], chat.ASK, id="no source"),
    pytest.param("chat", [SOURCES, "?", None, [2, None, [1]], CHAT1], chat.ASK, id="five cells, January and M"),
    pytest.param("chat", [SOURCES, "?", HISTORY, [2, None, [1]], CHAT1], chat.ASK, id="five cells with a history"),
    pytest.param("chat", [SOURCES, "?", {"70000": RESOURCE}], chat.ASK, id="enterprise, M"),
    pytest.param(
        "chat",
        [SOURCES, "?", None, [2, None, [1], [1]], CHAT1, "message", None, NB, 1, *[None] * 5, "{}"],
        chat.ASK,
        id="with the numbers of the field map",
    ),
    pytest.param("hPTbtc", [[], None, NB, 1], chat.LIST_CHATS, id="conversations"),
    pytest.param("hPTbtc", [[], None, NB, 20], chat.LIST_CHATS, id="conversations, January and M"),
    pytest.param("hPTbtc", [CTX, None, NB, 20], chat.LIST_CHATS, id="conversations, web app"),
    pytest.param("khqZz", [[], None, None, CHAT1, 100], chat.LIST_TURNS, id="turns"),
    pytest.param("khqZz", [CTX, None, None, CHAT1, 20], chat.LIST_TURNS, id="turns, web app"),
    pytest.param("khqZz", [CTX3C, None, None, CHAT1, 20], chat.LIST_TURNS, id="turns, M"),
    pytest.param("khqZz", [CTX, None, None, CHAT1, 20, "cursor"], chat.LIST_TURNS, id="older turns, web app"),
    pytest.param("oXwmh", [None, CHAT1], chat.STATUS, id="status"),
    pytest.param("oXwmh", [CTX, CHAT1], chat.STATUS, id="status with a context"),
    pytest.param("XgrPMd", [None, CHAT1], chat.CANCEL, id="cancel"),
    pytest.param("XgrPMd", [CTX, CHAT1, "agency"], chat.CANCEL, id="cancel with every field"),
    pytest.param("J7Gthc", [[], CHAT1, None, 1], chat.DELETE_TURNS, id="delete"),
    pytest.param("J7Gthc", [CTX, CHAT1, None, 1], chat.DELETE_TURNS, id="delete, web app"),
    pytest.param("J7Gthc", [NB, CHAT1], chat.DELETE_NOTEBOOK_TURNS, id="delete, M"),
    pytest.param("otmP3b", [CTX, NB, [[S1], [S2]], 4, None, None], questions.SUGGEST_PROMPTS, id="prompts"),
    pytest.param("otmP3b", [CTX, NB, [[S1]], 8, None, "fog"], questions.SUGGEST_PROMPTS, id="prompts about"),
    pytest.param("otmP3b", [CTX, NB, [], 10, None, None], questions.SUGGEST_PROMPTS, id="prompts, no source"),
    pytest.param("OcvKNc", [None, NB], questions.SUGGEST_STEPS, id="next steps"),
    pytest.param("OcvKNc", [None, NB, [[[S1]], [[S2]]]], questions.SUGGEST_STEPS, id="next steps of sources"),
    pytest.param("OcvKNc", [CTX, NB], questions.SUGGEST_STEPS, id="next steps with a context"),
]


@pytest.mark.parametrize(("rpc", "row", "expected"), ROWS)
def test_a_request_is_one_call_and_writes_itself_back(rpc: str, row: list[Any], expected: Rpc[Any, Any]) -> None:
    writes_itself_back(rpc, row, expected)


@pytest.mark.parametrize(
    ("rpc", "row"),
    [
        ("chat", ["?", SOURCES]),
        ("chat", [SOURCES, "?", {"70000": 7}]),
        ("khqZz", [[], None, None, None, 20]),
        ("J7Gthc", [CHAT1]),
        ("J7Gthc", [NB, CHAT1, None, 1]),
        ("oXwmh", [None]),
        ("OcvKNc", [None, NB, [[S1]]]),
        ("otmP3b", [CTX, NB, [[[S1]]], 4]),
    ],
)
def test_anything_else_is_none_of_them(rpc: str, row: list[Any]) -> None:
    assert classify(rpc, row) is None


@pytest.mark.parametrize(
    ("message", "row"),
    [
        (chat.Chats, [[[CHAT1]]]),
        (chat.Chats, [[[CHAT1, [1760000000, 5], [1760000100, 7]]]]),
        (chat.Turns, [[["t", [1760000000], 1, "?"]], "cursor"]),
        (chat.ChatStatus, [None, 1]),
        (chat.ChatStatus, ["token", 2]),
        (questions.Prompts, [[["Fog", "Explain fog."]]]),
        (questions.Prompts, []),
        (questions.Steps, [[["What is fog?", 9], ["What are horns?", 9]]]),
        (questions.Steps, [None]),
    ],
)
def test_an_answer_writes_itself_back(message: Any, row: list[Any]) -> None:
    assert list(unclaimed(message, row)) == []
    assert canonical(message.decode(row).encode()) == canonical(row)
