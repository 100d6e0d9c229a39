"""The simulator as a whole: a server on loopback that a browser takes for the real hosts.

`simulator()` owns everything it makes: the port, the connections and the temporary folder with the CA end with it.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import trio

from nlm_cdp.sim.endpoints import HOSTS, Endpoints
from nlm_cdp.sim.faults import Faults
from nlm_cdp.sim.http import Connection, Digest, Request, Response
from nlm_cdp.sim.log import Log, Logged
from nlm_cdp.sim.seed import seed as seed_account
from nlm_cdp.sim.state import Service
from nlm_cdp.sim.tls import make_tls

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Simulator:
    """A running simulator: where it is, how to trust it, what it knows, what it saw."""

    port: int
    ca: Path
    spki: str
    hosts: tuple[str, ...] = HOSTS
    service: Service = field(default_factory=Service)
    faults: Faults = field(default_factory=Faults)
    requests: Log = field(default_factory=Log)
    connections: set[Connection] = field(default_factory=set)  # open now; a browser opens and keeps them as it likes

    @property
    def chrome_flags(self) -> list[str]:
        """Flags that lead a Chromium here for every host there is, so that nothing of it reaches a network."""
        return [
            f"--host-resolver-rules=MAP * {LOOPBACK}:{self.port}",
            f"--ignore-certificate-errors-spki-list={self.spki}",
        ]

    def receive(self, request: Request) -> Digest | None:
        return Endpoints(self.service, self.faults).receive(request)

    def handle(self, request: Request) -> Response:
        logged = Logged.of(request)
        self.requests.append(logged)
        response = Endpoints(self.service, self.faults).respond(request, logged)
        self.requests.changed()

        def over(gone: bool) -> None:
            logged.aborted = gone
            self.requests.changed()

        response.over.append(over)
        return response


@asynccontextmanager
async def simulator(*, port: int = 0, seed: bool = True) -> AsyncIterator[Simulator]:
    """Run a simulator until the context is left; port 0 takes a free one."""
    with tempfile.TemporaryDirectory(prefix="nlm-cdp-sim-") as folder:
        tls = make_tls((*HOSTS, LOOPBACK), Path(folder))
        listeners = await trio.open_tcp_listeners(port, host=LOOPBACK)
        taken = listeners[0].socket.getsockname()[1]
        running = Simulator(port=taken, ca=tls.ca, spki=tls.spki)
        if seed:
            seed_account(running.service.owner)

        async def serve(stream: trio.SSLStream[trio.SocketStream]) -> None:
            connection = Connection(stream, running.handle, running.receive)
            running.connections.add(connection)
            try:
                await connection.serve()
            finally:
                running.connections.discard(connection)

        secured = [trio.SSLListener(listener, tls.context, https_compatible=True) for listener in listeners]
        raised: Exception | None = None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.serve_listeners, serve, secured)
            try:
                yield running
            except Exception as error:  # noqa: BLE001  (raised again below, where no nursery wraps it into a group)
                raised = error
            nursery.cancel_scope.cancel()
        if raised is not None:
            raise raised
