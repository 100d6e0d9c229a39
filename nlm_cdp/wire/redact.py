"""Rows without what they say: every string leaf becomes a placeholder of its own shape, unless a list allows it. Pure.

The strategy is to keep by name and replace the rest: a string stays only if `ALLOWED` or the caller knows it. What
replaces it is drawn from a stream keyed by the string, so equal strings stay equal within a key and nothing can be read
back; length in UTF-16 units, scripts and line breaks stay, because offsets and odd characters are what rows break on.
"""

from __future__ import annotations

import hashlib
import json
import re
import string
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

from nlm_cdp.wire import secrets
from nlm_cdp.wire.document import units
from nlm_cdp.wire.page import APP_HOSTS


@dataclass(frozen=True, slots=True)
class Kept:
    """One entry of the allow-list: what a whole string must match, and why it may stay."""

    pattern: re.Pattern[str]
    reason: str


def kept(reason: str, *patterns: str) -> Kept:
    return Kept(re.compile("|".join(patterns), re.ASCII), reason)


ALLOWED: tuple[Kept, ...] = (
    kept("empty cells are part of the shape", ""),
    kept("words of the envelope, the same for everyone", r"wrb\.fr|di|e|er|af\.httprm|generic"),
    kept("names of the service's own messages", r"type\.googleapis\.com/google\.[a-z0-9_.]{1,80}\.[A-Za-z]{1,60}"),
    kept(
        "media types as registries list them; a free subtype could be anything",
        "text/(?:plain|html|markdown|x-markdown|csv|xml|rtf|vtt|tab-separated-values)(?:; ?charset=(?:utf|UTF)-8)?",
        "audio/(?:aac|aiff|amr|basic|flac|midi|mp4|mpeg|ogg|opus|wav|webm|x-m4a|x-ms-wma|x-pn-realaudio|x-wav)",
        "video/(?:3gpp|3gpp2|mp4|mpeg|ogg|quicktime|webm|x-matroska|x-msvideo)",
        r"image/(?:avif|bmp|gif|heic|heif|jp2|jpeg|png|svg\+xml|tiff|webp|x-icon)",
        r"application/(?:pdf|json|zip|octet-stream|epub\+zip|xhtml\+xml)",
        r"application/vnd\.google-apps\.(?:audio|document|drawing|file|folder|form|photo|presentation|spreadsheet|video)",
        r"application/vnd\.openxmlformats-officedocument\.(?:presentationml\.presentation|spreadsheetml\.sheet)",
        r"application/vnd\.openxmlformats-officedocument\.wordprocessingml\.document",
    ),
    kept("the build that every visitor is served", r"boq_[a-z]{1,20}(?:-[a-z]{1,20}){0,4}_\d{8}\.\d{2}_p\d{1,2}"),
    kept("the app's own hosts", *map(re.escape, APP_HOSTS)),
    kept(
        "language tags: two letters (longer codes by name, three free letters could be a person) hold no content",
        "(?:[a-z]{2}|fil|ceb|kok|mai|doi|mni|sat|brx|yue|cmn)(?:[_-](?:Hans|Hant|Latn|Cyrl))?(?:[_-](?:[A-Z]{2}|419))?",
    ),
)

FIELD = re.compile("0|[1-9][0-9]{0,8}")
"""Field numbers as keys; they are less than 2**29, so a longer number is an id."""
KEY = re.compile(
    f"{FIELD.pattern}|name|children|quiz|question|answerOptions|text|isCorrect|rationale|hint|flashcards|[fb]"
)
"""Keys of the JSON documents in cells (mind maps, quizzes, cards): our readers go by them, all accounts share them."""

CACHED, CACHED_LENGTH = 4096, 512
SHAPED = 4
"""Draws that keep the shape; one that is still the original or looks like a secret by then gives its shape up."""

UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
HEX = re.compile(r"(?=[a-f-]*\d)(?=[\d-]*[a-f])[0-9a-f-]{8,}|(?=[A-F-]*\d)(?=[\d-]*[A-F])[0-9A-F-]{8,}", re.ASCII)
NUMBER = re.compile(r"([+-]?)(\d)(\d*(?:\.\d+)?)", re.ASCII)
ADDRESS, URL = re.compile(r"([^@\s]+)@[^@\s.]+\.[^@\s]+"), re.compile(r"((?i:https?|wss?|ftp)://)\S*")
OPAQUE, WORD, ROUTE = re.compile(r"[!-~]+"), re.compile(r"[^/?&=#]+"), re.compile(r"notebook|u|[0-9]")
FOREIGN = re.compile(r"[^ -~]{1,4096}(?:[ -~]{1,3}[^ -~]{1,4096}){0,256}")
"""Characters that are replaced one by one; blanks and short words between them come along, which halves the time."""


def table(pool: str) -> bytes:
    """Any byte of a stream as a character of the pool."""
    return (pool.encode() * 256)[:256]


class Swap:
    """ASCII with the members of each class (a key of `pools`) replaced, all at once: the classes merge as numbers."""

    def __init__(self, pools: dict[str, str]) -> None:
        masks = [bytes(255 * (chr(byte) in members) for byte in range(256)) for members in pools]
        self._classes = [(mask, table(pool)) for mask, pool in zip(masks, pools.values(), strict=True)]
        self._rest = bytes(byte * (chr(byte) not in "".join(pools)) for byte in range(256))

    def __call__(self, text: str, stream: bytes) -> str:
        given, drawn = text.encode(), stream[: len(text)]
        found = int.from_bytes(given.translate(self._rest))
        for mask, pool in self._classes:
            found |= int.from_bytes(given.translate(mask)) & int.from_bytes(drawn.translate(pool))
        return found.to_bytes(len(text)).decode()


LOWER, UPPER, DIGITS, HEXES = string.ascii_lowercase, string.ascii_uppercase, string.digits, "0123456789abcdef"
NAME, HEXED = Swap({LOWER: LOWER, UPPER: UPPER, DIGITS: DIGITS}), Swap({HEXES: HEXES})
HANDLE = Swap({LOWER: LOWER, UPPER: UPPER, DIGITS: DIGITS, "@": "-"})
PROSE, LETTERS, NONZERO = table(LOWER + " " * 5), table(LOWER), table(DIGITS[1:])

SCRIPTS = {"LATIN": "à", "GREEK": "α", "CYRILLIC": "а", "HEBREW": "א", "ARABIC": "ب", "DEVANAGARI": "क", "THAI": "ก"}
SCRIPTS |= {"CJK": "一", "HIRAGANA": "あ", "KATAKANA": "ア", "HANGUL": "가"}
"""By a word of a letter's name, the first of the sixteen letters that stand for the script."""

GENERIC, NUMERAL, ASTRAL = "ա", "①", "\N{GOTHIC LETTER AHSA}"
BLOCKS = [(0x1F1E6, 0x1F200, 0x1F1E6, 16), (0x1F3FB, 0x1F400, 0x1F3FB, 5), (0x1F000, 0x1FB00, 0x1F400, 16)]
BLOCKS += [(0xE0000, 0xE1000, 0xE0061, 16)]
"""Halves of flags, skin tones, emoji, and tags (which can spell a text): from, before, first and number of the pool."""


@lru_cache(maxsize=1 << 12)
def pool(char: str, shaped: bool) -> str:
    """What may stand in the place of a character, itself left out where there are others; 256 in a row."""
    kind, code = unicodedata.category(char), ord(char)
    if char == " ":
        return "etaoin          " * 16
    if "!" <= char <= "~":
        return (LOWER.replace(char, "") * 11)[:256]
    if block := next(((first, size) for start, end, first, size in BLOCKS if start <= code < end), None):
        first, size = block
    elif kind[0] in "MZ" or kind in {"Cc", "Cf", "Cs"} or (shaped and kind[0] in "PS" and code < 0x10000):
        return char * 256  # marks, blanks, joiners, halves of pairs and plain signs carry no content
    elif kind == "Nd":
        first, size = code - unicodedata.decimal(char), 10
    else:
        name = unicodedata.name(char, "")
        script = next((letter for script, letter in SCRIPTS.items() if script in name), GENERIC)
        first, size = ord(ASTRAL if code >= 0x10000 else NUMERAL if kind[0] == "N" else script), 16
    members = "".join(map(chr, range(first, first + size))).replace(char, "")
    return ((members.upper() if kind in {"Lu", "Lt"} else members) * 64)[:256]


class Redactor:
    """Placeholders of one key. `keep`: exact strings that the declarations know, such as literals and masks."""

    def __init__(self, key: bytes, keep: Iterable[str] = ()) -> None:
        self._seed = len(key).to_bytes(8, "big") + key
        self._keep = frozenset(keep)
        self._cache: dict[str, str] = {}

    def row(self, value: Any) -> Any:
        """A copy of any JSON value with its strings replaced; numbers, booleans, nulls and the nesting stay."""
        return self._copy(value, FIELD)

    def text(self, value: str) -> str:
        """One string leaf."""
        if (known := self._cache.get(value)) is not None:
            return known
        placeholder = value if self._stays(value) else self._json(value) or self._drawn(value)
        if len(value) <= CACHED_LENGTH:
            if len(self._cache) >= CACHED:
                self._cache.clear()
            self._cache[value] = placeholder
        return placeholder

    def path(self, source_path: str) -> str:
        """A path of the app: its route stays, ids and whatever else it holds go."""
        found = WORD.sub(lambda word: word[0] if ROUTE.fullmatch(word[0]) else self.text(word[0]), source_path)
        return self._drawn(source_path) if secrets.hits(found) else found

    def _stays(self, value: str) -> bool:
        listed = value.isspace() or value in self._keep or any(each.pattern.fullmatch(value) for each in ALLOWED)
        return listed and not secrets.hits(value)

    def _copy(self, value: Any, keys: re.Pattern[str]) -> Any:
        root = [value]
        todo: list[Any] = [root]  # copies whose cells are still the original's; no recursion, for rows nest at will
        while todo:
            holder = todo.pop()
            for at, item in list(holder.items()) if type(holder) is dict else enumerate(holder):
                if isinstance(item, str):
                    holder[at] = self.text(item)
                elif isinstance(item, list | tuple | dict):
                    holder[at] = self._renamed(item, keys) if isinstance(item, dict) else list(item)
                    todo.append(holder[at])
        return root[0]

    def _renamed(self, item: dict[str, Any], keys: re.Pattern[str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in item.items():
            name = fresh = key
            while not keys.fullmatch(key) and ((name := self.text(fresh)) in found or keys.fullmatch(name)):
                fresh += "x"  # two keys must not become one
            found[name] = value
        return found

    def _json(self, value: str) -> str:
        """A string that is JSON of an array or object, redacted inside; "" for any other."""
        if value.lstrip()[:1] not in {"[", "{"}:
            return ""
        try:
            inside = self._copy(json.loads(value), KEY)
            found = json.dumps(inside, ensure_ascii=value.isascii(), separators=(",", ":"))
        except (ValueError, RecursionError):
            return ""
        return "" if secrets.hits(found) else found

    def _drawn(self, value: str) -> str:
        """The first draw that is neither the original nor what a secret looks like."""
        for attempt in range(2 * SHAPED):
            found = self._draw(value, attempt)
            if found != value and not secrets.hits(found):
                break
        return found  # the last draws are letters and signs only: harmless, and new where anything can be replaced

    def _draw(self, value: str, attempt: int) -> str:
        size = units(value)
        stream = hashlib.shake_256(self._seed + bytes([attempt]) + value.encode("utf-8", "surrogatepass")).digest(size)
        if attempt >= SHAPED:
            return prose(value, stream, LETTERS, shaped=False)
        if (number := NUMBER.fullmatch(value)) is not None:
            first = "0" if number[2] == "0" and number[3] else chr(NONZERO[stream[0]])
            return number[1] + first + NAME(number[3], stream[1:])
        if UUID.fullmatch(value) or HEX.fullmatch(value):
            found = HEXED(value.lower(), stream)
            return found.upper() if value.isupper() else found
        letters = stream.translate(LETTERS).decode()
        if (address := ADDRESS.fullmatch(value)) is not None and size >= len("a@b.example"):
            local = min(units(address[1]), size - len("@b.example"))
            return f"{letters[:local]}@{letters[local : size - len('@.example')]}.example"
        if (url := URL.fullmatch(value)) is not None:
            lead = url[1] + "redacted.example/" * (size > len(url[1]) + len("redacted.example/"))
            return lead + letters[len(lead) :]
        if OPAQUE.fullmatch(value):
            return (NAME if attempt < SHAPED // 2 else HANDLE)(value, stream)  # an address inside an id gives its @ up
        return prose(value, stream, PROSE, shaped=True)


def prose(text: str, stream: bytes, letters: bytes, *, shaped: bool) -> str:
    """Pseudo-words for printable ASCII, other characters in place out of their pools; blanks at the ends stay."""
    words, body = stream.translate(letters).decode().replace("  ", " e"), text.strip()
    start, pools = text.index(body), {char: pool(char, shaped) for char in set(body)}
    end, parts, at = start + len(body), [text[:start]], start
    for match in chain(FOREIGN.finditer(text, start, end), [None]):
        piece = words[at : match.start() if match else end]
        if piece[:1] == " ":  # no line may become blank
            piece = "a" + piece[1:]
        parts.append(piece[:-1] + "e" if piece[-1:] == " " else piece)
        if match:
            at = match.end()
            run = zip(match[0], stream[match.start() : at], strict=True)
            parts.append("".join([pools[char][byte] for char, byte in run]).replace("  ", " e"))
    return "".join([*parts, text[end:]])
