"""The registry of secrets: found in every escape, silent about everything that is none, and quick about both."""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Callable
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlm_cdp.wire import secrets
from nlm_cdp.wire.secrets import COOKIES, RULES, cookies, hits, unescaped

# Made up, and put together here so that no scanner of this repository takes them for real ones.
OPAQUE = "Xy7" + "_qR-4mZ" * 5
EPOCH = "17672" + "25600000"
MAIL = "someone+tag@" + "host-1.test"

CANARIES: dict[str, tuple[str, ...]] = {
    "session-token": ("g.a000" + OPAQUE,),
    "sidts-token": ("sidts-" + OPAQUE,),
    "sidcc-token": ("sidcc-" + OPAQUE,),
    "access-token": ("ya29." + "a0" + OPAQUE,),
    "refresh-token": ("1//0" + OPAQUE,),
    "google-api-key": ("AIza" + "Sy" + OPAQUE,),
    "google-auth-key": ("AQ." + "Ab8" + OPAQUE,),
    "page-token": ("AF1_" + "QpN-" + OPAQUE,),
    "anti-forgery-token": (f"AOxx_-9:{EPOCH}", f"{OPAQUE}:{EPOCH}"),
    "anti-forgery-key": ("SNlM0e value is BOGUS", '"SNlM0e":"a=b=cafe"', "SNlM0e is `Bx9_a`", "'SNlM0e' : 'Abcde'"),
    "session-id": ("f.sid=-1234567890", '"FdrFJe":"-9223372036854775808"', "&f.sid=1234567"),
    "at-field": (f"at={OPAQUE}", f"rpcids=x&at={OPAQUE}&"),
    "upload-id": (
        f"upload_id={OPAQUE}",
        f"?upload_protocol=resumable&upload_id={OPAQUE}",
        f"X-GUploader-UploadID: {OPAQUE}",
    ),
    "cookie": tuple(
        form.format(name=name, value="511=a7Fq_Zk9")
        for name in COOKIES
        for form in (
            "{name}={value}",
            '{name}="{value}"',
            '"{name}":"{value}"',
            "'{name}': '{value}'",
            "{name}: {value}",
            "a=b; {name}={value}; c=d",
            '{{"name":"{name}","value":"{value}"}}',
            ".host.test\tTRUE\t/\tTRUE\t0\t{name}\t{value}",
            "値{name}={value}",
        )
    ),
    "prefixed-cookie": (
        "__Host-GAPS=1:abcdef",
        "__Secure-1PSIDTS=sidx",
        '"__Secure-3PSID":"abcd$&f"',
        "__Secure-U88+6E^t=v4lue",
        '__Host-U88+6E^t: "valu3-of-it"',
    ),
    "cookie-header": (
        "Cookie: U88+6E^t=v4$&",
        "cookie: a=bc",
        "Set-Cookie: x=yz; Path=/",
        '"set-cookie":"x=yz"',
        '["cookie","x=yz"]',
        '{"name":"Cookie","value":"x=yz"}',
    ),
    "authorization": (
        "Authorization: Basic dXNlcjpwYXNz",
        "authorization: Bearer abcdef123456",
        '"Authorization":"SAPISIDHASH 1767225600_0123456789abcdef"',
        '["authorization","abcdef123456"]',
    ),
    "bearer": ("Bearer abcdef123456", "bearer+abcdef123456"),
    "sapisid-hash": (
        "SAPISIDHASH 1767225600_0123456789abcdef",
        "SAPISID1PHASH 1767225600_01",
        "SAPISID3PHASH+1767225600_01",
    ),
    "jwt": ("eyJ" + "hbGciOiJub25lIn0" + ".eyJ" + "zdWIiOiJ4In0" + ".",),
    "private-key": (
        "-----BEGIN" + " PRIVATE KEY-----",
        "-----BEGIN RSA" + " PRIVATE KEY-----",
        "-----BEGIN+EC" + "+PRIVATE+KEY",
    ),
    "aws-key": ("AKIA" + "ABCDEFGHIJKLMNOP", "ASIA" + "ABCDEFGHIJKLMNOP"),
    "github-token": ("ghp_" + "a1" * 18, "gho_" + "a1" * 18),
    "github-pat": ("github_pat_" + "a1" * 18,),
    "model-key": ("sk-" + "a1" * 18, "sk-ant-" + "a1" * 18),
    "slack-token": ("xoxb-" + "1234567890-a", "xoxp-" + "1234567890-a"),
    "e-mail": (MAIL, f"<{MAIL}>", f"mailto:{MAIL}", "jörg@müller.test", "hervé@пример.испытание"),
    "avatar": (
        "https://lh3.googleusercontent.com/a/x=s512",
        "lh4.googleusercontent.com/ogw/x",
        "x.googleusercontent.com/a-/x",
    ),
    "media-url": (f"https://lh3.googleusercontent.com/notebook/{OPAQUE}=w1", f"lh3.googleusercontent.com/{OPAQUE}"),
    "signed-url": (
        f"X-Goog-Signature={'0a' * 20}",
        "https://host.test/f?Expires=1767225600&Signature=a7%2Fq9Zk1aaa",
        "https://host.test/v?sig=AJf1_234567890",
    ),
}
PLANTED = [(rule, canary) for rule, canaries in CANARIES.items() for canary in canaries]


def dumped(text: str) -> str:
    return json.dumps(text)


def in_js(text: str) -> str:
    """As a page's script escapes what could end it."""
    return re.sub(r"[^\w.-]", lambda char: f"\\u{ord(char[0]):04x}" if ord(char[0]) < 0x10000 else char[0], text)


def in_hex(text: str) -> str:
    return re.sub(r"[^\w.-]", lambda char: f"\\x{ord(char[0]):02x}" if ord(char[0]) < 256 else char[0], text)


def slashed(text: str) -> str:
    return dumped(text).replace("/", r"\/")


def numbered(text: str) -> str:
    return "".join(f"&#{ord(char)};" for char in text)


ESCAPES: list[Callable[[str], str]] = [
    dumped,
    in_js,
    in_hex,
    slashed,
    html.escape,
    numbered,
    quote,
    lambda t: quote(t, safe=""),
]


@pytest.mark.parametrize(("rule", "canary"), PLANTED)
def test_a_secret_is_found_alone_and_within_a_text(rule: str, canary: str) -> None:
    assert rule in hits(canary)
    assert rule in hits(f"before\n{canary}\nafter")
    assert rule in hits(f"twice in one line: {canary} and {canary}")


@pytest.mark.parametrize("levels", [1, 2, 3])
@pytest.mark.parametrize(("rule", "canary"), PLANTED)
def test_a_secret_is_found_under_one_two_and_three_layers_of_each_escape(rule: str, canary: str, levels: int) -> None:
    for escape in ESCAPES:
        text = canary
        for _ in range(levels):
            text = escape(text)
        assert rule in hits(text), escape
        assert rule in hits(f"x {text} y"), escape


@pytest.mark.parametrize(("rule", "canary"), PLANTED)
def test_a_secret_is_found_in_a_form_whose_request_is_json_within_json(rule: str, canary: str) -> None:
    request = json.dumps([[["wXbhsf", json.dumps([None, [canary, 1]]), None, "generic"]]])
    body = urlencode({"f.req": request}, quote_via=quote_plus)
    assert rule in hits(body)
    assert rule in hits(json.dumps({"postData": {"text": body}}))
    assert rule in hits(f'<div data-x="{html.escape(request)}">')


@given(st.sampled_from(PLANTED), st.lists(st.sampled_from(ESCAPES), max_size=4))
@settings(deadline=None, max_examples=300)
def test_a_secret_is_found_under_any_mixture_of_escapes(
    planted: tuple[str, str], mixture: list[Callable[[str], str]]
) -> None:
    rule, text = planted
    for escape in mixture:
        text = escape(text)
    assert rule in hits(text)


def test_every_rule_has_a_canary_and_a_reason_and_a_name_of_its_own() -> None:
    assert [rule.name for rule in RULES] == list(CANARIES)
    assert all(rule.reason for rule in RULES)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain words only",
        "The SID is a cookie, and so are the HSID and the SSID; NID: see below.",
        "SID = ; SID=<value> SID=… SID: yes",
        "PSIDTS=abcdefgh and xSID=abcdefgh and SIDE=abcdefgh and my-SID=abcdefgh",
        "RESIDUE: 12345678 and INSIDE=1234",
        '"di"',
        '[["di",12],["af.httprm",12,"-6810687592747210179",10]]',
        '[["e",4,null,null,131]]',
        '[["wrb.fr","AH0mwd","[]",null,null,null,"generic"]]',
        "boq_labs-tailwind-frontend_20261112.04_p0",
        "b889ea3d-12d9-4f77-b190-aaae960aed5f",
        "/notebook/b889ea3d-12d9-4f77-b190-aaae960aed5f?pli=1",
        "12345678901234567890 -3.5e10 2026-08-02T10:00:00.000Z 1767225600000",
        '{"created":1767225600000,"at":1767225600000}',
        "created:1767225600000",
        "look at=once; format=abcdefghijklmnopqrstuvwxyz0123; at=BOGUS; at=",
        "cat=abcdefghijklmnop1234",
        "Authorization: required. The Authorization header is needed; authorization=none",
        "Bearer authentication is what the bearer of this letter asks for",
        "a cookie: sweet, with sugar = plenty; Cookies: none; Set-Cookie",
        "SNlM0e value is read by the page; the SNlM0e is secret; 'SNlM0e':'' and \"SNlM0e\", \"FdrFJe\"",
        "upload_id= and f.sid= and f.sid=-1",
        "someone@docs.example, a.b@x.y.example; @decorator.name",
        "import x from '@scope/pkg'; pkg@1.2.3; user@localhost; https://site.test/@someone.name",
        "type.googleapis.com/google.internal.labs.tailwind.orchestration.v1.UserDisplayableError",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "googleusercontent.com is a host; https://lh3.googleusercontent.com/short",
        "task-sk-ip risk-averse-and-longer-than-twenty-1 sk-like-a-class-name-of-a-page",
        "def sig=inspect.signature(f)",
        "AKIA and AIza and ghp_ and eyJ and AQ. and 1//0 and ya29.",
        "-----BEGIN PUBLIC KEY-----",
        r"C:\new\table\user 100%25 &amp; &lt;b&gt; \\\\ %zz \u00",
        "the maya29.somethinglonger and sig.a000abcdefgh",
    ],
)
def test_what_is_no_secret_is_passed_over(text: str) -> None:
    assert hits(text) == []
    assert hits(json.dumps(json.dumps(text))) == []
    assert hits(html.escape(quote(text))) == []


def test_only_names_of_rules_are_told_each_once_and_in_their_order() -> None:
    text = "\n".join(canary for _, canary in reversed(PLANTED)) * 2
    assert hits(text) == [rule.name for rule in RULES]


def test_a_cookie_is_matched_by_its_name_however_the_name_looks() -> None:
    pattern = re.compile(cookies(["U88+6E^t", "a.b", "$&"]))
    assert pattern.search("x; U88+6E^t=abcd")
    assert pattern.search("$&=abcd")
    assert not pattern.search("U888886E=abcd")
    assert not pattern.search("axb=abcd")


def test_words_alone_are_passed_over_because_no_rule_is_about_words_alone() -> None:
    for _, canary in PLANTED:
        assert re.search(r"[!-`{-~]", canary)
        assert hits(re.sub(r"[!-`{-~]", " ", canary)) == []


@given(st.text(alphabet=st.characters(max_codepoint=0x2FF), max_size=200))
@settings(deadline=None)
def test_any_text_is_searched_without_a_surprise_and_so_is_its_escaped_form(text: str) -> None:
    assert set(hits(text)) <= set(hits(json.dumps(text)))


@given(st.text(alphabet=r"\u0022x26;%&#amp;quot;", max_size=60))
@settings(deadline=None)
def test_escapes_upon_escapes_come_to_an_end(text: str) -> None:
    """And spell no secret: none can be written with these characters, however they are read."""
    assert hits(text) == []


def test_an_escape_is_read_as_its_character() -> None:
    escapes = {
        r"\"": '"',
        r"\/": "/",
        r"\n": "\n",
        r"\u003d": "=",
        r"\x3D": "=",
        "%40": "@",
        "&#34;": '"',
        "&amp;": "&",
    }
    assert {escape: unescaped(escape) for escape in escapes} == escapes


@pytest.mark.parametrize(
    "piece",
    ["a", "S", "A", "eyJ", "@a.", "a@a.a", "\\", "&amp;", "__Host-", "cookie:", "authorization: ", "SID:", "sig=", "-----BEGIN ",
     "googleusercontent.com/", "at=", "bearer ", "\n", ":1", '"SID","value":', "%25", "f.sid=", "eyJaaaaaaaa."],
)  # fmt: skip
def test_a_text_built_to_be_slow_costs_no_more_than_its_length(piece: str) -> None:
    def cost(size: int) -> float:
        text = piece * (size // len(piece))
        began = time.process_time()
        hits(text)
        return time.process_time() - began

    cost(1_000)
    assert cost(1_000_000) < 5, "a second would do, a quadratic pattern takes hours"


def test_the_rounds_of_unescaping_are_bounded() -> None:
    assert hits("%" + "25" * (secrets.ROUNDS - 1) + "40") == []
    assert hits("a%" + "25" * (secrets.ROUNDS - 1) + "40b.test") == ["e-mail"]
    assert hits("a%" + "25" * (secrets.ROUNDS + 1) + "40b.test") == []
