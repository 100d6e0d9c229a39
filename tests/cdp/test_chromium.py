"""The real browser: what we rely on is what Chromium does, and what it does to a call that is in flight."""

from __future__ import annotations

from contextlib import asynccontextmanager, suppress
from functools import partial

import pytest
import trio

from nlm_cdp.browser.channels import find_executable
from nlm_cdp.cdp.connection import open_connection
from nlm_cdp.cdp.generated import browser, page, runtime, target
from nlm_cdp.cdp.generated.runtime import CallArgument
from nlm_cdp.cdp.protocol import CommandRefused, SessionLost
from nlm_cdp.errors import ChromeLost
from nlm_cdp.sim.chrome import throwaway_chrome

pytestmark = [pytest.mark.browser, pytest.mark.realtime]

WORLD = "test-world"
FOREVER = "() => new Promise(() => {})"


async def web_site(stream: trio.SocketStream) -> None:
    """Answers every request with the same page."""
    async with stream:
        try:
            async for _ in stream:
                await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi")
        except trio.BrokenResourceError:
            pass  # the browser has left


@asynccontextmanager
async def chromium(*flags: str):
    """A Chromium for which every host is our own web site."""
    if find_executable() is None:
        pytest.skip("no Chrome or Chromium is installed")
    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, web_site, 0, host="127.0.0.1"))
        port = listener.socket.getsockname()[1]
        async with throwaway_chrome([f"--host-resolver-rules=MAP * 127.0.0.1:{port}", *flags]) as chrome:
            yield chrome
        nursery.cancel_scope.cancel()


async def open_page(connection, url: str = "http://app.test/robots.txt"):
    opened = await connection.execute(target.create_target(url, background=True, hidden=True))
    session = await connection.execute(target.attach_to_target(opened, flatten=True))
    with connection.events(page.FrameNavigated, session=session) as navigated:
        await connection.execute(page.enable(), session=session)
        while (tree := await connection.execute(page.get_frame_tree(), session=session)).frame.url != url:
            await anext(navigated)
    return opened, session, tree.frame.id_


async def open_world(connection, session, frame):
    return await connection.execute(page.create_isolated_world(frame, WORLD), session=session)


async def call(connection, session, world, function: str, *arguments: object):
    result, exception = await connection.execute(
        runtime.call_function_on(
            function,
            arguments=[CallArgument(value=argument) for argument in arguments],
            execution_context_id=world,
            await_promise=True,
            return_by_value=True,
        ),
        session=session,
    )
    assert exception is None
    return result.value


async def test_a_hidden_page_with_a_world_and_a_binding_of_its_own() -> None:
    async with chromium() as chrome, open_connection(chrome.endpoint) as connection:
        _, product, *_ = await connection.execute(browser.get_version())
        assert "Chrome/" in product

        opened, session, frame = await open_page(connection)
        (info,) = [one for one in await connection.execute(target.get_targets()) if one.target_id == opened]
        assert (info.url, info.attached) == ("http://app.test/robots.txt", True)

        # Without Runtime.enable a binding reaches the worlds that exist, not those to come.
        world = await open_world(connection, session, frame)
        await connection.execute(runtime.add_binding("tell", execution_context_name=WORLD), session=session)
        with connection.events(runtime.BindingCalled, session=session) as told:
            it = {"text": "\U0001f600 \u6f22 \u2028 \0 </script>", "lone": "\ud83d"}
            function = "async (it) => { tell(it.text); return [it, origin] }"
            assert await call(connection, session, world, function, it) == [it, "http://app.test"]
            assert await anext(told) == runtime.BindingCalled("tell", it["text"], world)

        result, _ = await connection.execute(
            runtime.evaluate("typeof tell + document.visibilityState"), session=session
        )
        assert result.value == "undefinedvisible"
        await connection.execute(target.close_target(opened))


async def test_an_exception_in_the_page_is_told() -> None:
    async with chromium() as chrome, open_connection(chrome.endpoint) as connection:
        _, session, _ = await open_page(connection)
        _, exception = await connection.execute(runtime.evaluate("throw new TypeError('no')"), session=session)
        assert exception is not None
        assert exception.text == "Uncaught"
        assert exception.exception is not None
        assert (exception.exception.class_name, exception.exception.subtype) == ("TypeError", "error")


async def test_refusals_and_what_is_big() -> None:
    async with chromium() as chrome, open_connection(chrome.endpoint) as connection:
        _, session, frame = await open_page(connection)
        world = await open_world(connection, session, frame)
        with pytest.raises(CommandRefused) as caught:
            await connection.execute(page.enable(), session=target.SessionID("none"))
        assert caught.value.number == -32001
        with pytest.raises(CommandRefused, match="Cannot navigate to invalid URL"):
            await connection.execute(page.navigate("http://"), session=session)
        assert len(await call(connection, session, world, "(n) => 'x'.repeat(n)", 20 * 2**20)) == 20 * 2**20
        assert await call(connection, session, world, "(it) => it.length", "\u6f22" * 2**20) == 2**20


async def test_navigation_ends_a_call_and_the_world() -> None:
    async with chromium() as chrome, open_connection(chrome.endpoint) as connection:
        _, session, frame = await open_page(connection)
        await connection.execute(runtime.enable(), session=session)
        world = await open_world(connection, session, frame)
        with (
            connection.events(page.FrameNavigated, session=session) as navigated,
            connection.events(runtime.ExecutionContextsCleared, session=session) as cleared,
        ):
            with pytest.raises(CommandRefused, match="Inspected target navigated or closed"):
                await call(
                    connection, session, world, "() => { location = '/elsewhere'; return new Promise(() => {}) }"
                )
            assert (await anext(navigated)).frame.url == "http://app.test/elsewhere"
            await anext(cleared)
        with pytest.raises(CommandRefused, match="Cannot find context with specified id"):
            await call(connection, session, world, "() => 1")


async def test_a_page_that_is_closed_or_crashes_ends_its_calls_alone() -> None:
    async with chromium() as chrome, open_connection(chrome.endpoint) as connection:
        pages = [await open_page(connection) for _ in range(3)]
        worlds = [await open_world(connection, session, frame) for _, session, frame in pages]
        ended = []

        async def wait(n: int) -> None:
            with pytest.raises(SessionLost):
                await call(connection, pages[n][1], worlds[n], FOREVER)
            ended.append(n)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait, 0)
            await connection.execute(target.close_target(pages[0][0]))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait, 1)
            with suppress(SessionLost):  # the reply may be quicker than the crash
                await connection.execute(page.navigate("chrome://crash"), session=pages[1][1])
        assert ended == [0, 1]
        assert await call(connection, pages[2][1], worlds[2], "() => 1 + 1") == 2


async def test_a_browser_that_dies_ends_every_call() -> None:
    async with chromium() as chrome, open_connection(chrome.endpoint) as connection:
        _, session, frame = await open_page(connection)
        world = await open_world(connection, session, frame)

        async def wait() -> None:
            with pytest.raises((ChromeLost, SessionLost, CommandRefused)):
                await call(connection, session, world, FOREVER)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            chrome.process.terminate()
        await connection.wait_closed()
        with pytest.raises(ChromeLost):
            await connection.execute(browser.get_version())
