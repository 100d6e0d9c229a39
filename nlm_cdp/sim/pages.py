"""The pages a browser sees: the app with its bootstrap values, the landing page, the sign-in page, the gate."""

from __future__ import annotations

import json
from functools import cache
from html import escape
from importlib.resources import files
from string import Template

from nlm_cdp.sim import panels
from nlm_cdp.sim.http import Response
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account, Service
from nlm_cdp.wire.page import AUTHUSER, BUILD, BUILD_FALLBACK, EMAIL, SESSION_ID, TOKEN, USER_ID

HTML = [
    ("content-type", "text/html; charset=utf-8"),
    ("cache-control", "no-cache, no-store, max-age=0, must-revalidate"),
    ("x-frame-options", "SAMEORIGIN"),
    ("content-security-policy", "script-src 'nonce-simulated'; object-src 'none'; require-trusted-types-for 'script'"),
]
EMOJI = "\N{NOTEBOOK}"
RPC_BASE, APP_ID = "Im6cmf", "qwAQke"


@cache
def template() -> Template:
    return Template(files("nlm_cdp.sim").joinpath("index.html").read_text(encoding="utf-8"))


def document(title: str, body: str, bootstrap: dict[str, str] | None = None, code: str = "") -> Response:
    script = f"window.WIZ_global_data = {literal(bootstrap)};" if bootstrap is not None else ""
    html = template().substitute(title=escape(title), bootstrap=script, body=body, script=code)
    return Response(200, list(HTML), html.encode("utf-8", "replace"))


def literal(values: dict[str, str]) -> str:
    """An object literal as the web app's pages hold it: characters that could end the script are escaped."""
    text = json.dumps(values, separators=(",", ":"))
    for character in "<>&=":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def app(account: Account, shown: str) -> Response:
    """The signed-in page: every notebook, or the one shown, and everything that can be clicked."""
    bootstrap = {
        RPC_BASE: "/_/LabsTailwindUi",
        APP_ID: "LabsTailwindUi",
        AUTHUSER: account.authuser,
        USER_ID: account.user_id,
        SESSION_ID: account.session_id,
        TOKEN: account.token,
        BUILD: account.service.build,
        BUILD_FALLBACK: account.service.build,
        EMAIL: account.email,
    }
    notebook = account.notebooks.get(shown)
    body = one(notebook) if notebook else listing(account)
    head = f'<p class="account">Signed in as {escape(account.email)}</p>'
    title = notebook.title if notebook else "Gemini Notebook"
    clickable = panels.panels(notebook.id if notebook else "")
    return document(title, head + body + clickable, bootstrap, panels.script())


def listing(account: Account) -> str:
    query = f"?authuser={account.authuser}" if account.authuser != "0" else ""
    cards = [
        f'<a class="card" href="/notebook/{escape(item.id)}{query}">'
        f'<span class="emoji">{escape(item.emoji or EMOJI)}</span><strong>{name(item)}</strong>'
        f"<small>{plural(len(item.sources), 'source')}</small></a>"
        for item in account.recent()
    ]
    return f'<h1>Notebooks</h1><div class="cards">{"".join(cards) or "<p>No notebooks yet.</p>"}</div>'


def one(notebook: Notebook) -> str:
    rows = [f"<li>{escape(source.title)}</li>" for source in notebook.sources.values()]
    return (
        f"<h1>{escape(notebook.emoji or EMOJI)} {name(notebook)}</h1>"
        f"<p>{plural(len(notebook.sources), 'source')}</p><ul>{''.join(rows)}</ul><p><a href='/'>All notebooks</a></p>"
    )


def name(notebook: Notebook) -> str:
    return escape(notebook.title) or "Untitled notebook"


def plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def landing(service: Service) -> Response:
    """What a signed-out browser is shown since October 2026: the app's page without a token."""
    body = '<div class="landing-header-signin"><a href="/login">Sign in</a></div><h1>Understand anything</h1>'
    return document("Gemini Notebook", body, {RPC_BASE: "/_/LabsTailwindUi", USER_ID: "", BUILD: service.build})


def sign_in(service: Service) -> Response:
    """Another application's page: it holds values under the same keys, which are worth nothing to ours."""
    decoys = {TOKEN: f"decoy-{service.build[-8:]}:1", SESSION_ID: "-1", RPC_BASE: "/v3/signin/_/AccountsSignInUi"}
    return document("Sign in - Google Accounts", "<h1>Sign in</h1><p>Nobody can sign in here.</p>", decoys)


def gate() -> Response:
    return document("Gemini Notebook", "<h1>Not available</h1><p>Gemini Notebook is not available in your region.</p>")


def redirect(url: str) -> Response:
    return Response(302, [("location", url), ("content-type", "text/html; charset=utf-8")])


def text(status: int, body: str) -> Response:
    return Response(status, [("content-type", "text/plain; charset=utf-8")], body.encode())
