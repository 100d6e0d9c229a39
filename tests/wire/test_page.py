"""Facts about the app's page: values in every quoting, and URLs judged by exact hosts."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlm_cdp.wire.page import (
    APP_HOSTS,
    AUTHUSER,
    BUILD,
    EMAIL,
    SESSION_ID,
    TOKEN,
    Landing,
    authuser,
    is_app,
    landing,
    notebook_id,
    notebook_url,
    origin,
    value,
    value_pattern,
)

WIRE = Path(__file__).resolve().parents[3] / "shared" / "wire"
AT = "AOxx_-9:1767225600000"
NB = "f66923f0-1df4-4ffe-9822-3ed63c558b1c"
QUOTINGS = ['"', "'", "&quot;", "&#34;", "&#39;", r"\x22", r"\u0022"]
PROSE = r"""<p>at=BOGUS and "SNlM0e":"" and 'SNlM0e':'' and \x22SNlM0e\x22:\x22\x22 and SNlM0e value is BOGUS</p>"""

PAGES: list[tuple[str, str, str | None]] = [
    *((f"{q}{TOKEN}{q}:{q}{AT}{q}", TOKEN, AT) for q in QUOTINGS),
    *((f"{{{q}FdrFJe{q} : {q}-123{q},{q}{TOKEN}{q} : {q}{AT}{q}}}", TOKEN, AT) for q in QUOTINGS),
    (f'"{TOKEN}":""', TOKEN, None),
    (f'"{TOKEN}":null', TOKEN, None),
    (f'"{TOKEN}":5', TOKEN, None),
    (f'"{TOKEN}":"<b>"', TOKEN, None),
    (f'"x{TOKEN}":"{AT}"', TOKEN, None),
    (f'"{TOKEN}x":"{AT}"', TOKEN, None),
    (f"at={AT}&", TOKEN, None),
    ("", TOKEN, None),
    ("<html>a landing page</html>", TOKEN, None),
    (f'{PROSE}<script>WIZ_global_data = {{"{TOKEN}":"{AT}"}}</script>', TOKEN, AT),
    (f'<script>WIZ_global_data = {{"{TOKEN}":"{AT}"}}</script>{PROSE}', TOKEN, AT),
    (PROSE, TOKEN, None),
    (r'"SNlM0e":"a\u003db\x3dcafe\u003dBAD"', TOKEN, "a=b=cafe=BAD"),
    (r"\x22SNlM0e\x22:\x22a\u003db\x22", TOKEN, "a=b"),
    ("&quot;SNlM0e&quot;:&quot;a&amp;b&quot;", TOKEN, "a&b"),
    ('"FdrFJe":"-9223372036854775808","SNlM0e":"x"', SESSION_ID, "-9223372036854775808"),
    ('"cfb2h":"boq_labs-tailwind-frontend_20260802.02_p0"', BUILD, "boq_labs-tailwind-frontend_20260802.02_p0"),
    ('"QrtxK":"0"', AUTHUSER, "0"),
    ('"oPEP7c":"someone+tag@example.org"', EMAIL, "someone+tag@example.org"),
]


@pytest.mark.parametrize(("page", "key", "expected"), PAGES)
def test_a_value_is_read_in_any_quoting(page: str, key: str, expected: str | None) -> None:
    assert value(page, key) == expected


@settings(deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
def test_a_page_of_anything_has_no_surprise(before: str, after: str) -> None:
    assert value(before.replace(TOKEN, ""), TOKEN) is None
    found = value(f'{before}"{TOKEN}":"{AT}"{after}', TOKEN)
    assert found is not None


def test_a_large_page_is_searched_once() -> None:
    page = ('"SNlM0e":"' + "x" * 50 + "<") * 20_000
    assert value(page, TOKEN) is None


SCRIPT = """
const [pattern, pages] = JSON.parse(require("fs").readFileSync(0, "utf8"));
const found = pages.map(([page, key]) => { const match = new RegExp(pattern[key]).exec(page); return match && match[1]; });
process.stdout.write(JSON.stringify(found));
"""


def test_the_patterns_mean_the_same_in_javascript() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on PATH")
    patterns = {key: value_pattern(key) for _, key, _ in PAGES}
    asked = json.dumps([patterns, [[page, key] for page, key, _ in PAGES]])
    done = subprocess.run(
        [node, "-e", SCRIPT], input=asked, capture_output=True, text=True, encoding="utf-8", check=True
    )
    matches = [re.search(value_pattern(key), page) for page, key, _ in PAGES]
    assert json.loads(done.stdout) == [match and match[1] for match in matches]


def test_the_recorded_page_has_its_values() -> None:
    file = WIRE / "artifacts_delete.json"
    if not file.is_file():
        pytest.skip("no recordings beside the checkout")
    exchanges = json.loads(file.read_text(encoding="utf-8"))["exchanges"]
    (excerpt,) = (item["wiz_global_data_excerpt"] for item in exchanges if "wiz_global_data_excerpt" in item)
    page = ",".join(f'"{key}":{literal}' for key, literal in excerpt.items())
    assert value(page, TOKEN)
    assert value(page, SESSION_ID)
    assert (value(page, BUILD) or "").startswith("boq_labs-tailwind-frontend_")


# URLs


@pytest.mark.parametrize("host", APP_HOSTS)
def test_the_apps_hosts_are_the_app(host: str) -> None:
    for url in (f"https://{host}", f"https://{host}/?pli=1", f"https://{host.upper()}:443/notebook/{NB}#x"):
        assert is_app(url)
        assert landing(url) is Landing.APP
        assert origin(url) == f"https://{host}"


NOT_THE_APP = [
    "https://notebook.google.com.evil.test/",
    "https://evil.test/notebook.google.com",
    "https://evilnotebook.google.com/",
    "https://notebook.google.com@evil.test/",
    "https://evil.test\\@notebook.google.com/",
    "https://notebook.google.com\\.evil.test/",
    "https://notebook.google.com:8443/",
    "https://notebook.google.com:99999/",
    "https://notebook.google.com:x/",
    "https://notebook.google.com./",
    "http://notebook.google.com/",
    "file:///notebook.google.com",
    "chrome://notebook.google.com",
    "about:blank",
    "notebook.google.com",
    "https://",
    "https://[",
    "https://[notebook.google.com]/",
    "",
]


@pytest.mark.parametrize("url", NOT_THE_APP)
def test_anything_else_is_not(url: str) -> None:
    assert not is_app(url)
    assert landing(url) is Landing.ELSEWHERE
    assert notebook_id(url) is None
    assert notebook_id(f"{url}/notebook/{NB}") is None


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("https://accounts.google.com/v3/signin", Landing.SIGNED_OUT),
        ("https://sub.accounts.google.com/", Landing.SIGNED_OUT),
        ("https://accounts.google.com.evil.test/", Landing.ELSEWHERE),
        ("https://evilaccounts.google.com/", Landing.ELSEWHERE),
        ("https://notebook.google.com/ServiceLogin?x=1", Landing.SIGNED_OUT),
        ("https://notebooklm.google/", Landing.GATED),
        ("https://notebook.google/?location=unsupported", Landing.GATED),
        ("https://accounts.google.com/CookieMismatch", Landing.GATED),
        ("https://www.google.com/sorry/index?continue=x", Landing.GATED),
        ("https://notebooklm.google.evil.test/", Landing.ELSEWHERE),
        ("https://notebook.google.com/?continue=https://accounts.google.com/", Landing.APP),
        ("https://example.org/", Landing.ELSEWHERE),
    ],
)
def test_a_landing_is_judged_by_host_and_path(url: str, where: Landing) -> None:
    assert landing(url) is where


@pytest.mark.parametrize(
    ("url", "account"),
    [
        ("https://notebook.google.com/?authuser=1", "1"),
        ("https://notebook.google.com/?pli=1&authuser=a%2Bb%40example.org", "a+b@example.org"),
        ("https://notebook.google.com/u/2/notebook/x", "2"),
        ("https://notebook.google.com/u/3", "3"),
        ("https://notebook.google.com/u/x/", None),
        ("https://notebook.google.com/notebook/u/2", None),
        ("https://notebook.google.com/?authuser=", None),
        ("https://notebook.google.com/", None),
    ],
)
def test_the_account_is_what_the_url_names(url: str, account: str | None) -> None:
    assert authuser(url) == account


@pytest.mark.parametrize(
    ("path", "notebook"),
    [
        (f"/notebook/{NB}", NB),
        (f"/notebook/{NB}?authuser=1#x", NB),
        (f"/u/1/notebook/{NB}/", NB),
        ("/notebook/", None),
        ("/", None),
        (f"/?next=/notebook/{NB}", None),
    ],
)
def test_a_notebook_is_named_by_the_path(path: str, notebook: str | None) -> None:
    for host in APP_HOSTS:
        assert notebook_id(f"https://{host}{path}") == notebook


@pytest.mark.parametrize("account", [None, "0", "1", "someone+tag@example.org", "a&b=c#d"])
def test_a_notebooks_url_reads_back(account: str | None) -> None:
    url = notebook_url("https://notebook.google.com", NB, account)
    assert notebook_id(url) == NB
    assert authuser(url) == (None if account == "0" else account)
