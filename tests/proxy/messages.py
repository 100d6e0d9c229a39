"""What passes through the proxy, as a test chooses it and does something to it.

A rule is a predicate and an act; the first rule that wants a message takes it. An act gives the messages that go on in
its place, and may do anything else meanwhile: answer, break the socket, crash a page, wait.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

import trio

if TYPE_CHECKING:
    from tests.proxy.proxy import Socket

Json: TypeAlias = dict[str, Any]


class Way(StrEnum):
    COMMAND = "command"
    REPLY = "reply"
    EVENT = "event"


class Ending(StrEnum):
    """How a socket ends."""

    GOODBYE = "a close frame, then the end"
    WORDLESS = "the end without a close frame"
    RESET = "a reset"
    LINGERING = "a close frame, and then nothing"


@dataclass(frozen=True, slots=True)
class Said:
    """One message; `target` and `url` are its session's, `params` those of the command, of its reply's too."""

    way: Way
    method: str
    message: Json
    params: Json
    session: str | None
    target: str | None
    url: str | None
    socket: int

    @property
    def bridge(self) -> str | None:
        """Which function of our bridge a command calls, or its reply answers; "install" for the bridge itself."""
        if self.method != "Runtime.callFunctionOn":
            return None
        values = [argument.get("value") for argument in self.params.get("arguments", [])]
        return values[1] if len(values) > 1 and isinstance(values[1], str) else "install"

    @property
    def rpc(self) -> str | None:
        """The rpc id that a bridge's call carries; the chat's has none."""
        if self.bridge != "call":
            return None
        request = self.params["arguments"][3]["value"]
        return str(request["query"].get("rpcids", "chat"))


When: TypeAlias = Callable[[Said], bool]
Act: TypeAlias = "Callable[[Socket, Said], Awaitable[list[Json]]]"


@dataclass(slots=True, eq=False)
class Rule:
    """`after`: that many are let by first; `done`: it took a message."""

    when: When
    act: Act
    times: float = math.inf
    after: int = 0
    done: trio.Event = field(default_factory=trio.Event)


# Choosing


def command(method: str) -> When:
    return lambda said: said.way is Way.COMMAND and said.method == method


def reply(method: str) -> When:
    return lambda said: said.way is Way.REPLY and said.method == method


def event(method: str) -> When:
    return lambda said: said.way is Way.EVENT and said.method == method


def bridge(way: Way, name: str, rpc: str | None = None) -> When:
    return lambda said: said.way is way and said.bridge == name and rpc in (None, said.rpc)


# Doing


async def passed(socket: Socket, said: Said) -> list[Json]:
    return [said.message]


async def dropped(socket: Socket, said: Said) -> list[Json]:
    return []


async def doubled(socket: Socket, said: Said) -> list[Json]:
    return [said.message, said.message]


def delayed(until: trio.Event) -> Act:
    """The message waits; those behind it go past."""

    async def act(socket: Socket, said: Said) -> list[Json]:
        async def wait() -> None:
            await until.wait()
            await socket.forward(said.way, said.message)

        socket.start_soon(wait)
        return []

    return act


async def overtaken(socket: Socket, said: Said) -> list[Json]:
    """The next message of the same direction goes first."""
    socket.overtaken[said.way is Way.COMMAND].append(said.message)
    return []


def edited(change: Callable[[Json], object]) -> Act:
    async def act(socket: Socket, said: Said) -> list[Json]:
        message = copy.deepcopy(said.message)
        change(message)
        return [message]

    return act


def without(*path: str) -> Act:
    """The field at this path is missing."""

    def change(message: Json) -> None:
        for name in path[:-1]:
            message = message[name]
        message.pop(path[-1], None)

    return edited(change)


def replaced(value: Any, *path: str) -> Act:
    def change(message: Json) -> None:
        for name in path[:-1]:
            message = message[name]
        message[path[-1]] = value

    return edited(change)


def rubbish(*texts: str | bytes) -> Act:
    """These texts instead of the message: to the product, whatever the direction."""

    async def act(socket: Socket, said: Said) -> list[Json]:
        for text in texts:
            await socket.say(text)
        return []

    return act


def surrounded(*messages: Json, after: bool = False) -> Act:
    """Other messages to the product first, or afterwards; a sessionId of None becomes the message's own."""

    async def act(socket: Socket, said: Said) -> list[Json]:
        others = [
            other | ({"sessionId": said.session} if other.get("sessionId", "") is None else {}) for other in messages
        ]
        if said.way is Way.COMMAND:
            for other in others:
                await socket.forward(Way.EVENT, other)
            return [said.message]
        return [said.message, *others] if after else [*others, said.message]

    return act


def refused(number: int | None = -32000, text: str = "Refused by the proxy", **more: Any) -> Act:
    """A command that Chrome never sees."""

    async def act(socket: Socket, said: Said) -> list[Json]:
        assert said.way is Way.COMMAND
        error: Json = {"message": text, **more} | ({} if number is None else {"code": number})
        await socket.forward(Way.REPLY, {"id": said.message["id"], "error": error})
        return []

    return act


def refused_parameter(name: str) -> Act:
    """An older Chrome, which does not know a parameter."""

    async def act(socket: Socket, said: Said) -> list[Json]:
        if name not in said.params:
            return [said.message]
        return await refused(-32602, f"Invalid parameters: {name}")(socket, said)

    return act


def ends(how: Ending, *, first: bool = False) -> Act:
    """The socket to the product ends, after the message has gone on, or instead."""

    async def act(socket: Socket, said: Said) -> list[Json]:
        if first:
            await socket.forward(said.way, said.message)
        await socket.end(how)
        return []

    return act


def cut(part: float, how: Ending = Ending.WORDLESS) -> Act:
    """The socket ends inside the frame of this reply or event; below 1, `part` is a share of its bytes."""

    async def act(socket: Socket, said: Said) -> list[Json]:
        assert said.way is not Way.COMMAND
        await socket.say(said.message, part=part)
        await socket.end(how)
        return []

    return act


def does(*steps: Callable[[Socket, Said], Awaitable[object]], then: Act = passed) -> Act:
    """These steps first, and then what `then` does."""

    async def act(socket: Socket, said: Said) -> list[Json]:
        for step in steps:
            await step(socket, said)
        return await then(socket, said)

    return act


# Steps


async def crash(socket: Socket, said: Said) -> None:
    """The page of this session crashes; Chrome never answers that command."""
    target = said.target
    assert target is not None
    await socket.proxy.control.crash(target)


async def close_target(socket: Socket, said: Said) -> None:
    """The target of this session is closed behind the product's back."""
    target = said.target
    assert target is not None
    await socket.proxy.control.close(target)
