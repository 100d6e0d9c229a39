"""Async tests run on trio: with an autojumping clock, unless they talk to real processes (`realtime`)."""

from __future__ import annotations

import inspect
import signal
from typing import Any

import pytest
import trio
import trio.testing


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write the snapshots anew instead of comparing them")
    parser.addoption("--long", action="store_true", help="run the long tests as well")


def pytest_configure(config: pytest.Config) -> None:
    if (
        signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    ):  # as in a shell's background: what tests start would inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "realtime: an async test that talks to real processes, on the real clock")
    config.addinivalue_line("markers", "long: runs only with --long")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--long"):
        for item in items:
            if item.get_closest_marker("long") is not None:
                item.add_marker(pytest.mark.skip(reason="runs only with --long"))


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether snapshots are to be written."""
    return bool(request.config.getoption("--update"))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    real = pyfuncitem.get_closest_marker("realtime") is not None
    short = real and pyfuncitem.get_closest_marker("long") is None

    async def bounded() -> Any:
        with trio.fail_after(120 if short else 3600):
            return await pyfuncitem.obj(**arguments)

    clock = None if real else trio.testing.MockClock(autojump_threshold=0)
    trio.run(bounded, clock=clock, strict_exception_groups=True)
    return True
