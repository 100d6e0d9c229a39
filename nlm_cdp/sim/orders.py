"""What a click on the page sends: path, query and `f.req` of one request, as JSON for the page's script.

The token, the build label and the session are the page's to add, as they are in the web app. This endpoint is the
simulator's alone; the live service has nothing like it.
"""

from __future__ import annotations

from typing import Any

from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.sim.actions import BATCHES, NAMED, Action
from nlm_cdp.sim.framing import payload
from nlm_cdp.sim.http import Response
from nlm_cdp.sim.pages import text
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account
from nlm_cdp.wire import batchexecute
from nlm_cdp.wire.batchexecute import GENERIC, Call

PATH = "/simulated/action"
UNTITLED = "Made by the simulated app"


def answer(account: Account, name: str, shown: str) -> Response:
    """The order for an action or a batch, on the notebook that the page shows."""
    actions = [NAMED[each] for each in BATCHES.get(name, (name,)) if each in NAMED]
    if not actions:
        return text(404, "Not found (simulated): no such action.")
    body = payload(order(account, place(account, shown), actions)).encode()
    return Response(200, [("content-type", "application/json; charset=utf-8"), ("cache-control", "no-store")], body)


def place(account: Account, shown: str) -> Notebook:
    """The notebook a page is about: the one it shows, or the one that was viewed last."""
    there = [account.notebooks[shown]] if shown in account.notebooks else account.recent()
    return there[0] if there else account.add_notebook(UNTITLED)


def order(account: Account, notebook: Notebook, actions: list[Action]) -> dict[str, Any]:
    """`expected`: by id, the status that a call is answered with although nothing is wrong."""
    requests = [action.request(account, notebook) for action in actions]
    if actions[0].rpc.stream:
        query, form = {"rt": "c"}, batchexecute.chat_f_req(requests[0][0])
        return {"path": batchexecute.CHAT_PATH, "query": query, "f_req": form, "expected": {}}
    ids = [account.service.ids.get(action.rpc.id, action.rpc.id) for action in actions]
    calls = [
        Call(wire_id, row, GENERIC if len(ids) == 1 else str(number))
        for number, (wire_id, (row, _)) in enumerate(zip(ids, requests, strict=True), start=1)
    ]
    path = requests[0][1] if len(ids) == 1 else notebooks.GET.source_path(notebook.id)
    return {
        "path": batchexecute.PATH,
        "query": {"rpcids": ",".join(ids), "source-path": path, "rt": "c"},
        "f_req": batchexecute.f_req(calls),
        "expected": {wire_id: action.status for wire_id, action in zip(ids, actions, strict=True) if action.status},
    }
