"""What looks like a credential or a person: the one registry that the log, the recordings and their checks share. Pure.

A text is taken out of its escapes round by round (JSON, percent and HTML at once, so that mixtures come apart too) and
every stage is searched. Each rule begins with a literal or a capital that the search can jump to, looks back for its
word boundary from there, and repeats only within bounds: a text of megabytes costs linear time.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

ROUNDS = 12
"""Layers of escapes taken off at most; three were seen, and a run of backslashes halves with each round."""

ESCAPE = re.compile(
    r"""\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|["'/\\bfnrt])|(?:%[0-9a-fA-F]{2}){1,64}|&\#?\w{1,31};""", re.ASCII
)
CONTROLS = dict(zip("bfnrt", "\b\f\n\r\t", strict=True))
TELLTALE = re.compile(r"[!-`{-~]")
"""Every rule asks for a capital, a digit or a sign, so plain words without any are passed over at once."""

OPEN, GAP, VALUE = r"""["']?""", r"[\s+]{0,4}", r"\w[\w./+=%~:-]{3}"
"""A form writes a blank as a plus."""
SAYS = rf"{OPEN}{GAP}[:=]{GAP}{OPEN}"
LISTED = rf"""["']{GAP},{GAP}["'](?:value["']{GAP}:{GAP}["'])?"""
"""After a name in quotes: a pair of an array, or `"name":…,"value":…` as the protocol lists cookies and headers."""

ASSIGNED = (
    rf"""(?:={OPEN}{VALUE}|["']{GAP}[:=]{GAP}["']{VALUE}|{LISTED}{VALUE}"""
    rf"|(?::{GAP}|\t)(?=\S{{0,40}}\d)\S{{8}})"
)
"""A cookie's value; after a bare colon it must be longer and hold a digit, for prose puts colons after names too."""

COOKIES = ("SID", "HSID", "SSID", "APISID", "SAPISID", "NID", "LSID", "OSID", "LSOLH", "SIDCC")


class Rule(NamedTuple):
    name: str
    pattern: re.Pattern[str]
    reason: str


def whole(literal: str) -> str:
    """A literal that is no part of a longer word; the look back comes second so that the search can jump."""
    escaped = re.escape(literal)
    return rf"{escaped}(?<![\w-]{escaped})"


def cookies(names: Iterable[str]) -> str:
    """A pattern of cookies by their names, which may hold characters that mean something to a pattern."""
    return f"(?:{'|'.join(map(whole, names))}){ASSIGNED}"


def rule(name: str, pattern: str, reason: str) -> Rule:
    return Rule(name, re.compile(pattern, re.ASCII), reason)


RULES: tuple[Rule, ...] = (
    rule("session-token", whole("g.a000") + r"[\w-]{6}", "the value of SID and its kin"),
    rule("sidts-token", whole("sidts-") + r"[\w-]{6}", "the value of __Secure-1PSIDTS"),
    rule("sidcc-token", whole("sidcc-") + r"[\w-]{6}", "the value of SIDCC, as some clients write it"),
    rule("access-token", whole("ya29.") + r"[\w.-]{6}", "OAuth access token"),
    rule("refresh-token", whole("1//0") + r"[\w-]{8}", "OAuth refresh token"),
    rule("google-api-key", whole("AIza") + r"[\w-]{10}", "API key of a Google project"),
    rule("google-auth-key", whole("AQ.") + r"[\w-]{16}", "newer key of a Google project"),
    rule("page-token", whole("AF1_QpN-") + r"[\w-]{4}", "opaque token of the service, told by its prefix"),
    rule("anti-forgery-token", r":(?<=[\w-]{6}:)(?<![a-z]{6}:)1\d{12}(?!\d)", "the page's token: opaque, epoch in ms"),
    rule(
        "anti-forgery-key",
        rf"SNlM0e(?:{SAYS}[\w:+/=.-]{{5}}|{OPEN}{GAP}(?:value{GAP})?is{GAP}[\"'`]?(?=[a-z]{{0,40}}[A-Z0-9_:-])[\w:+/=.-]{{5}})",
        "the page's token by its key, in data and in prose",
    ),
    rule("session-id", rf"(?:FdrFJe|{whole('f.sid')}){SAYS}-?\d{{6}}", "number of the page's session"),
    rule("at-field", whole("at=") + r"(?=[\w.-]{0,60}\d)[\w.-]{20}", "the page's token in a form"),
    rule("upload-id", rf"(?:upload_id|[Xx]-(?i:guploader-uploadid)){SAYS}[\w-]{{10}}", "an upload goes on by it alone"),
    rule("cookie", cookies(COOKIES), "cookie of a Google account by its name"),
    rule("prefixed-cookie", rf"__(?:Host|Secure)-[\w!#$%&*+.^`|~-]{{1,64}}+{ASSIGNED}", "cookie bound to its host"),
    rule(
        "cookie-header",
        rf"""[Cc](?i:ookie)(?:{SAYS}|{LISTED})[\w!#$%&'*+.^`|~-]{{1,80}}+=[^\s;"',]{{2}}""",
        "Cookie or Set-Cookie with a pair, whatever its name",
    ),
    rule(
        "authorization",
        rf"[Aa](?i:uthorization)(?:{SAYS}|{LISTED})(?:(?i:basic)[\s+]\S{{8}}|(?:\w{{3,20}}[\s+])?(?=\S{{0,100}}\d)\S{{10}})",
        "Authorization with a value",
    ),
    rule("bearer", r"[Bb](?i:earer)[\s+]{1,4}(?=[\w.~+/-]{0,100}\d)[\w.~+/-]{10}", "bearer token without its header"),
    rule("sapisid-hash", r"SAPISID(?:[13]P)?HASH[\s+]{1,4}\d{6}", "a hash of a cookie that signs calls"),
    rule("jwt", whole("eyJ") + r"[\w-]{8,}+\.eyJ[\w-]{8}", "signed claims, mostly about a person"),
    rule("private-key", r"-----BEGIN[A-Z +]{0,30}[ +]PRIVATE[ +]KEY", "PEM"),
    rule("aws-key", rf"(?:{whole('AKIA')}|{whole('ASIA')})[0-9A-Z]{{16}}", "key of AWS"),
    rule(
        "github-token", rf"(?:{'|'.join(whole(f'gh{kind}_') for kind in 'pousr')})[A-Za-z0-9]{{20}}", "token of GitHub"
    ),
    rule("github-pat", whole("github_pat_") + r"\w{20}", "fine-grained token of GitHub"),
    rule("model-key", whole("sk-") + r"(?=[A-Za-z_-]{0,60}\d)[\w-]{20}", "key of a model's service"),
    rule("slack-token", rf"(?:{'|'.join(whole(f'xox{kind}-') for kind in 'abprs')})[\w-]{{10}}", "token of Slack"),
    Rule(
        "e-mail",
        re.compile(
            r"""@(?<=[^\s@<>,;:"'()\[\]{}\\/=?&]@)(?>(?:[^\W_](?:[\w-]{0,62})\.){1,20}[^\W\d_]{2,63})(?<!\.example)"""
        ),
        "an address of a person; `.example` is reserved for documentation (RFC 2606)",
    ),
    rule("avatar", r"googleusercontent\.com/(?:a|a-|ogw)/[\w-]", "picture of a person"),
    rule(
        "media-url",
        r"googleusercontent\.com/[\w=/?.-]{0,40}?[\w-]{20}",
        "whoever knows the path of a private picture can fetch it",
    ),
    rule(
        "signed-url",
        rf"(?:{'|'.join(map(whole, ('X-Goog-Signature', 'X-Amz-Signature', 'Signature', 'signature', 'lsig', 'sig')))})"
        r"=(?=[\w%+/.~-]{0,60}\d)[\w%+/.~-]{10}",
        "whoever has the URL has the file",
    ),
)


def hits(text: str) -> list[str]:
    """The names of the rules that match, in their order; never what they matched."""
    if TELLTALE.search(text) is None:
        return []
    found: set[str] = set()
    for _ in range(ROUNDS + 1):
        found.update(each.name for each in RULES if each.name not in found and each.pattern.search(text))
        plain = ESCAPE.sub(lambda match: unescaped(match[0]), text)
        if plain == text:
            break
        text = plain
    return [each.name for each in RULES if each.name in found]


@lru_cache(maxsize=1024)
def unescaped(escape: str) -> str:
    """One escape as its character; a run of percent escapes as the bytes of a text."""
    if escape[0] == "&":
        return html.unescape(escape)
    if escape[0] == "%":
        return bytes.fromhex(escape.replace("%", "")).decode(errors="replace")
    return CONTROLS.get(escape[1], escape[1]) if len(escape) == 2 else chr(int(escape.lstrip(r"\ux"), 16))
