"""What the simulator has seen: one entry for each request, in order, and a way to wait for one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import trio

from nlm_cdp.sim.faults import Fault
from nlm_cdp.sim.http import Request
from nlm_cdp.wire.batchexecute import Call


@dataclass(slots=True)
class Logged:
    """`aborted`: the client left before the answer's end; None while that is open. Cookies are not kept."""

    host: str
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    authuser: str
    rpc_ids: list[str] = field(default_factory=list)
    params: list[Any] = field(default_factory=list)
    status: int | None = None
    fault: Fault | None = None
    aborted: bool | None = None

    @classmethod
    def of(cls, request: Request) -> Logged:
        headers = {name: value for name, value in request.headers.items() if name != "cookie"}
        authuser = request.query.get("authuser", "0")
        return cls(request.host, request.method, request.path, request.query, headers, authuser)

    def calls(self, calls: list[Call]) -> None:
        """Note the decoded calls; the chat's has no id on the wire."""
        self.rpc_ids = [call.rpc or "chat" for call in calls]
        self.params = [call.params for call in calls]


class Log(list[Logged]):
    """The requests so far."""

    def __init__(self) -> None:
        super().__init__()
        self.news = trio.lowlevel.ParkingLot()

    def to(self, name: str) -> list[Logged]:
        """The requests that carried this rpc id, or went to this path."""
        return [logged for logged in self if name in logged.rpc_ids or name == logged.path]

    async def wait_for(self, wanted: Callable[[Logged], bool]) -> Logged:
        """The first request, past or future, for which this holds."""
        while True:
            for logged in self:
                if wanted(logged):
                    return logged
            await self.news.park()

    def changed(self) -> None:
        self.news.unpark_all()
