"""The addresses in a text, whatever marks stand around them: one pass, in time that grows with the text alone. Pure."""

from __future__ import annotations

from collections.abc import Iterator

SCHEMES = ("http://", "https://")
ENDS = frozenset('"<>`|\u3001\u3002\uff0c\uff09\u3011\u300d\u300b')
"""What no address holds, among them the marks that close one in Chinese and Japanese."""
BRACKETS = {")": "(", "]": "["}
TAIL = ".,;:!?'*_~"
"""Marks behind an address that mostly belong to the sentence."""


def links(text: str) -> Iterator[str]:
    """Every address, once as it stands and once without the marks at its end, where these differ."""
    at = text.find("http")
    while at >= 0:
        end = at + 1
        if text.startswith(SCHEMES, at):
            end = end_of_link(text, at)
            link = text[at:end].replace("\\", "")  # markdown escapes; no address holds any
            yield link
            if (bare := link.rstrip(TAIL)) != link:
                yield bare
        at = text.find("http", end)


def end_of_link(text: str, at: int) -> int:
    """Where an address ends: at a blank, at a mark that ends it, or at a bracket that was opened before it."""
    opened = {"(": 0, "[": 0}
    for index in range(at, len(text)):
        character = text[index]
        if character in ENDS or character <= " " or character.isspace():
            return index
        if character in opened:
            opened[character] += 1
        elif (opening := BRACKETS.get(character)) is not None:
            if not opened[opening]:
                return index
            opened[opening] -= 1
    return len(text)
