"""Facts about the app's page: hosts, bootstrap keys, and what a landing means.

The page itself reads its tokens (`SNlM0e`, `FdrFJe`); they never reach this process. The patterns here are handed to
the bridge, so that one text serves both sides: they must be valid in Python and in JavaScript.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import parse_qs, quote, urlsplit

APP_HOSTS = (
    "notebook.google.com",
    "notebooklm.google.com",
    "notebook.cloud.google.com",
    "notebooklm.cloud.google.com",
)
"""The app, current name first (renamed 2026-07-16); the older names were still served in August 2026."""

SIGN_IN_HOST = "accounts.google.com"
GATE_HOSTS = ("notebooklm.google", "notebook.google")
LIGHT_PATHS = ("/robots.txt", "/favicon.ico", "/manifest.json")
"""Documents of the origin without the app in them; the origin is what counts, a 404 will do."""

TOKEN, SESSION_ID, BUILD, BUILD_FALLBACK, AUTHUSER, EMAIL = "SNlM0e", "FdrFJe", "cfb2h", "KjTSIf", "QrtxK", "oPEP7c"
USER_ID = "S06Grb"
"""Keys of the page's WIZ_global_data. Source: the excerpt of January 2026 (C); the e-mail key: P."""

DEFAULT_BUILD = "boq_labs-tailwind-frontend_20260802.02_p0"
"""Sent as `bl` when the page names none; the server does not validate it (August 2026, P)."""

ESCAPE = r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))"
QUOTE = r"(?:\"|'|&quot;|&#34;|&#39;|\\x22|\\u0022)"


def value_pattern(key: str) -> str:
    """A pattern whose first group is the text of `"key":"value"` in any of the quotings the page was seen to use.

    An empty value is passed over: prose may quote the key.
    """
    return rf"{QUOTE}{key}{QUOTE}\s*:\s*{QUOTE}((?:(?!{QUOTE})[^<])+){QUOTE}"


def value(page: str, key: str) -> str | None:
    """The value of a bootstrap key, None where the page has none or only empty ones."""
    match = re.search(value_pattern(key), page)
    if match is None:
        return None
    return re.sub(ESCAPE, lambda code: chr(int(code[1] or code[2], 16)), html.unescape(match[1]))


@dataclass(frozen=True, slots=True)
class Health:
    """How far the way to a signed-in page got, without a call; only a real call proves more."""

    state: str
    browser: str | None = None
    mode: str | None = None
    endpoint: str | None = None
    origin: str | None = None
    page: str | None = None
    account: str | None = None


class Landing(StrEnum):
    """Where a navigation of the app ended."""

    APP = "app"
    SIGNED_OUT = "signed_out"
    GATED = "gated"
    ELSEWHERE = "elsewhere"


def landing(url: str) -> Landing:
    """Judged by host and path only; a page's text never decides."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return Landing.ELSEWHERE
    host = parts.hostname or ""
    if parts.path.endswith(("/CookieMismatch", "/sorry/index")) or host in GATE_HOSTS:
        return Landing.GATED
    if host == SIGN_IN_HOST or host.endswith("." + SIGN_IN_HOST) or "/ServiceLogin" in parts.path:
        return Landing.SIGNED_OUT
    return Landing.APP if is_app(url) else Landing.ELSEWHERE


def is_app(url: str) -> bool:
    """Whether a URL is the app's: https and exactly one of its hosts."""
    try:
        parts = urlsplit(url)
        exact = parts.scheme == "https" and parts.hostname in APP_HOSTS and parts.port in (None, 443)
    except ValueError:
        return False
    return exact and "\\" not in url  # a browser ends the host there, urlsplit does not


def origin(url: str) -> str:
    return f"https://{urlsplit(url).hostname}"


def authuser(url: str) -> str | None:
    """The account a tab's URL names: `?authuser=` or a `/u/N/` path."""
    parts = urlsplit(url)
    if named := parse_qs(parts.query).get("authuser"):
        return named[0]
    match = re.match(r"/u/(\d+)(?:/|$)", parts.path)
    return match[1] if match else None


def answers_to(account: str, authuser: str | None, email: str | None) -> bool:
    """Whether a page's authuser and e-mail are those of an account, named by either; one it does not tell is."""
    said = email if "@" in account else authuser
    return said is None or said.casefold() == account.casefold()


def notebook_id(url: str) -> str | None:
    """The notebook a web app URL shows, on any of the app's hosts."""
    if not is_app(url):
        return None
    match = re.search(r"/notebook/([0-9A-Za-z_-]+)", urlsplit(url).path)
    return match[1] if match else None


def notebook_url(app_origin: str, notebook: str, account: str | None = None) -> str:
    query = f"?authuser={quote(account, safe='@')}" if account and account != "0" else ""
    return f"{app_origin}/notebook/{notebook}{query}"
