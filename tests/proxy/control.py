"""A connection to Chrome that may send anything: to do there what the product never would, and to see what it left."""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import trio
from websockets.exceptions import ConnectionClosed
from websockets.trio.client import ClientConnection, connect

Json: TypeAlias = dict[str, Any]

QUIET = logging.getLogger("tests.proxy")
QUIET.setLevel(logging.CRITICAL)


class Refused(Exception):
    """Chrome refused what the test asked of it."""


class Gone(Exception):
    """The connection to Chrome ended."""


def to_chrome(url: str) -> connect:
    """A plain websocket to Chrome, without limits."""
    return connect(
        url,
        compression=None,
        origin=None,
        proxy=None,
        user_agent_header=None,
        max_size=None,
        max_queue=None,
        open_timeout=None,
        ping_interval=None,
        close_timeout=1,
        logger=QUIET,
    )


class Control:
    def __init__(self, websocket: ClientConnection) -> None:
        self.websocket = websocket
        self.ids = itertools.count(1)
        self.replies: dict[int, Json] = {}
        self.events: list[Json] = []
        self.news = trio.lowlevel.ParkingLot()
        self.gone = False

    async def read(self) -> None:
        try:
            while True:
                message = json.loads(await self.websocket.recv())
                if "id" in message:
                    self.replies[message["id"]] = message
                else:
                    self.events.append(message)
                self.news.unpark_all()
        except ConnectionClosed:
            self.gone = True
            self.news.unpark_all()

    async def tell(self, method: str, params: Json | None = None, session: str | None = None) -> int:
        """Send a command whose answer may never come."""
        id_ = next(self.ids)
        message: Json = {"id": id_, "method": method, "params": params or {}}
        await self.websocket.send(json.dumps(message | ({"sessionId": session} if session else {})))
        return id_

    async def ask(self, method: str, params: Json | None = None, session: str | None = None) -> Json:
        id_ = await self.tell(method, params, session)
        while id_ not in self.replies:
            if self.gone:
                raise Gone
            await self.news.park()
        reply = self.replies.pop(id_)
        if "error" in reply:
            raise Refused(reply["error"].get("message"))
        result: Json = reply["result"]
        return result

    async def targets(self) -> dict[str, str]:
        """The address of every page there is, hidden ones too, by target id."""
        infos = (await self.ask("Target.getTargets", {"filter": [{}]}))["targetInfos"]
        return {info["targetId"]: info["url"] for info in infos if info["type"] in ("page", "other")}

    async def settle(self, wanted: set[str]) -> None:
        """Wait until exactly these targets are there: Chrome answers a close before it has closed."""
        with trio.move_on_after(5):
            while set(await self.targets()) != wanted:
                pass
            return
        found = await self.targets()
        assert set(found) == wanted, {target: url for target, url in found.items() if target not in wanted}

    async def crash(self, target: str) -> None:
        """Crash a page, and wait until Chrome says so."""
        attached = (await self.ask("Target.attachToTarget", {"targetId": target, "flatten": True}))["sessionId"]
        await self.ask("Inspector.enable", session=attached)
        await self.tell("Page.crash", session=attached)
        await self.wait_for("Inspector.targetCrashed", attached)

    async def close(self, target: str) -> None:
        """Close a target, and wait until it is gone; one that is closed in a navigation may stay."""
        await self.ask("Target.closeTarget", {"targetId": target})
        with trio.move_on_after(2):
            while target in await self.targets():
                pass

    async def wait_for(self, method: str, session: str | None = None) -> Json:
        """The first such event, past or future."""
        while True:
            for event in self.events:
                if event["method"] == method and session in (None, event.get("sessionId")):
                    return event
            if self.gone:
                raise Gone
            await self.news.park()


@asynccontextmanager
async def control_of(url: str) -> AsyncIterator[Control]:
    async with to_chrome(url) as websocket, trio.open_nursery() as nursery:
        control = Control(websocket)
        nursery.start_soon(control.read)
        try:
            yield control
        finally:
            nursery.cancel_scope.cancel()
