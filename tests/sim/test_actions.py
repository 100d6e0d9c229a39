"""The actions of the simulated app: each works by itself, again and again, and the whole session is the same each time."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
import trio

from nlm_cdp.api import RPCS, classify
from nlm_cdp.rpc import Effect
from nlm_cdp.sim import orders
from nlm_cdp.sim.actions import ACTIONS, AREAS, BATCHES, NAMED, Action
from nlm_cdp.sim.endpoints import Endpoints
from nlm_cdp.sim.faults import Faults
from nlm_cdp.sim.http import Request, Response, pieces_of
from nlm_cdp.sim.log import Logged
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.seed import seed
from nlm_cdp.sim.state import Service
from nlm_cdp.wire import page
from nlm_cdp.wire.batchexecute import form, parse_form, read_replies
from nlm_cdp.wire.chat import ChatReader

SECONDS = 1_795_996_800
every_action = pytest.mark.parametrize("action", ACTIONS, ids=list(NAMED))


class Desk:
    """The endpoints without a server, and the page's part of a click."""

    def __init__(self) -> None:
        self.service = Service(now=lambda: SECONDS)
        self.service.pace = 0.0
        self.notebook: Notebook = seed(self.service.owner)

    def click(self, *actions: Action) -> tuple[str, bytes]:
        """The form that is sent for these actions, and the body that comes back."""
        order = orders.order(self.service.owner, self.notebook, list(actions))
        sent = form(order["f_req"], self.service.owner.token)
        headers = {"cookie": f"SID={self.service.cookie}", "origin": f"https://{page.APP_HOSTS[0]}"}
        request = Request("POST", page.APP_HOSTS[0], order["path"], order["query"], headers, sent.encode())
        response = Endpoints(self.service, Faults()).respond(request, Logged.of(request))
        assert response.status == 200
        return urlencode(order["query"]) + sent, trio.run(read, response)


async def read(response: Response) -> bytes:
    body = b"".join([piece async for piece in pieces_of(response)])
    for over in response.over:
        over(False)
    return body


def answered(action: Action, body: bytes) -> None:
    if action.rpc.stream:
        reader = ChatReader()
        for _ in reader.feed(body.decode()):
            pass
        assert reader.close().text
        return
    status = read_replies(body).of(action.rpc.id).status
    assert (status.code if status else 0) == action.status


def test_every_call_has_an_action() -> None:
    assert {action.rpc.name for action in ACTIONS} == {rpc.name for rpc in RPCS}
    assert len(NAMED) == len(ACTIONS)
    assert {action for actions in AREAS.values() for action in actions} == set(ACTIONS)
    assert {name for names in BATCHES.values() for name in names} <= set(NAMED)
    assert not set(BATCHES) & set(NAMED)


def test_what_destroys_comes_last() -> None:
    deletes = [action.rpc.effect is Effect.DELETE or action.name == "forget-notebook" for action in ACTIONS]
    assert deletes == sorted(deletes)


def test_a_refusal_is_expected_of_few() -> None:
    refused = {action.name: action.status for action in ACTIONS if action.status}
    assert refused == {"add-entries": 3, "suggest-formats": 13, "share-artifact": 3, "forget-notebook": 13}


@every_action
def test_an_action_works_alone_and_again(action: Action) -> None:
    desk = Desk()
    for _ in range(2):
        sent, body = desk.click(action)
        params = parse_form(sent[sent.index("f.req=") :])[0].params
        assert classify(action.rpc.id, params) is action.rpc
        answered(action, body)


def test_an_action_works_in_a_notebook_that_is_empty_and_after_the_others() -> None:
    desk = Desk()
    desk.notebook = desk.service.owner.add_notebook("Empty")
    for action in (*reversed(ACTIONS), *ACTIONS):
        answered(action, desk.click(action)[1])


def play() -> list[tuple[str, bytes]]:
    desk = Desk()
    return [desk.click(action) for action in ACTIONS for _ in range(action.times)]


def test_a_session_is_the_same_each_time() -> None:
    assert play() == play()


def test_a_session_sees_research_begin_and_end() -> None:
    desk, seen = Desk(), []
    for action in ACTIONS:
        for _ in range(action.times):
            body = desk.click(action)[1]
            if action.name == "poll-research":
                row = read_replies(body).of(action.rpc.id).row
                seen.append([task[1][4] for task in row[0]] if row else [])
    assert seen[0] == [2]  # only what was discovered at once
    assert seen[1] == [1, 1, 1, 2]
    assert seen[-1] == [2, 2, 3, 2]


def test_a_batch_is_one_request_with_a_reply_for_each() -> None:
    desk = Desk()
    actions = [NAMED[name] for name in BATCHES["open-notebook"]]
    sent, body = desk.click(*actions)
    calls = parse_form(sent[sent.index("f.req=") :])
    assert [call.rpc for call in calls] == [action.rpc.id for action in actions]
    assert [call.discriminator for call in calls] == [str(number) for number in range(1, len(calls) + 1)]
    replies = read_replies(body)
    assert [(reply.rpc, reply.discriminator) for reply in replies.replies] == [
        (call.rpc, call.discriminator) for call in calls
    ]
    assert not replies.faults


FULLER: list[tuple[str, Any]] = [
    ("list-notebooks", lambda row: row[5] == [[None, None, []], [[]], [None, []]]),
    ("get-notebook", lambda row: row[5] == [[None, None, []]] and row[4] == 0),
    ("refresh-notebook", lambda row: row[4] == 1),
    ("list-labels", lambda row: row[0][2] == [1] and row[0][3][10] == [1, 3]),
    ("share-status", lambda row: row[1][3][10] == [1, 3]),
    ("get-settings", lambda row: row[0][0] == 2 and len(row) == 1),
    ("list-notes", lambda row: row[3][0] == 2),
    ("list-chats", lambda row: row[0][0] == 2 and row[3] == 20),
    ("list-turns", lambda row: row[0][2] == [1] and row[4] == 20),
    ("suggest-prompts", lambda row: row[4:] == [None, None]),
    ("list-choices", lambda row: row[0][4] == [[1, 4, 8, 10, 14, 2, 3, 6]] and row[2] == 1),
    ("get-artifact", lambda row: row[1][4] == [[1, 4, 8, 10, 14, 2, 3, 6, 7]]),
    ("create-mind-map", lambda row: row[2][9][1][3] == "en"),
    ("ask", lambda row: len(row) == 9 and row[8] == 1),
    ("ask-on", lambda row: [entry[2] for entry in row[2]] == [2, 1]),
    ("element-quiz", lambda row: len(row[1][0]) == 5),
]


@pytest.mark.parametrize(("name", "holds"), FULLER, ids=[name for name, _ in FULLER])
def test_the_web_app_says_more_than_we_do(name: str, holds: Any) -> None:
    desk = Desk()
    assert holds(NAMED[name].request(desk.service.owner, desk.notebook)[0])
