"""Redaction: the shape of a row stays, what it says goes, whatever way a secret was put into it."""

from __future__ import annotations

import base64
import html
import json
import re
import time
import unicodedata
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlm_cdp.wire.document import units
from nlm_cdp.wire.redact import ALLOWED, CACHED, Redactor
from nlm_cdp.wire.secrets import hits

KEY = b"a key of the tests"
OPAQUE = "Xy7" + "_qR-4mZ" * 5
EPOCH = "17672" + "25600000"
MAIL = "someone+tag@" + "host-1.test"
VALUE = "a7Fq_Zk9$&1"
NB = "f66923f0-1df4-4ffe-9822-3ed63c558b1c"

CANARIES = [
    "g.a000" + OPAQUE,
    "sidts-" + OPAQUE,
    "sidcc-" + OPAQUE,
    "ya29." + "a0" + OPAQUE,
    "1//0" + OPAQUE,
    "AIza" + "Sy" + OPAQUE,
    "AQ." + "Ab8" + OPAQUE,
    "AF1_" + "QpN-" + OPAQUE,
    f"{OPAQUE}:{EPOCH}",
    f"SNlM0e value is {OPAQUE}",
    f'"SNlM0e":"{OPAQUE}"',
    f"f.sid=-{EPOCH}",
    f"at={OPAQUE}",
    f"upload_id={OPAQUE}",
    *(
        f"{name}={VALUE}"
        for name in ("SID", "HSID", "SSID", "APISID", "SAPISID", "NID", "LSID", "OSID", "LSOLH", "SIDCC")
    ),
    f'SID="{VALUE}"',
    f'"SID":"{VALUE}"',
    f"SID: {VALUE}",
    f"__Host-GAPS={VALUE}",
    f"__Secure-1PSIDTS={VALUE}",
    f"__Secure-U88+6E^t={VALUE}",
    f"Cookie: U88+6E^t={VALUE}",
    f"Set-Cookie: x={VALUE}",
    f"Authorization: Bearer {OPAQUE}",
    f"SAPISIDHASH 1767225600_{OPAQUE}",
    "eyJ" + "hbGciOiJub25lIn0" + ".eyJ" + "zdWIiOiJ4In0" + "." + OPAQUE,
    "-----BEGIN" + f" PRIVATE KEY-----\n{OPAQUE}\n-----END" + " PRIVATE KEY-----",
    "AKIA" + "ABCDEFGHIJKLMNOP",
    "ghp_" + "a1" * 18,
    "github_pat_" + "a1" * 18,
    "sk-" + "a1" * 18,
    "xoxb-" + "1234567890-a",
    MAIL,
    f"mailto:{MAIL}?subject=x",
    f"https://lh3.googleusercontent.com/a/{OPAQUE}=s512",
    f"https://lh3.googleusercontent.com/{OPAQUE}=w1",
    f"https://host.test/f?Expires=1767225600&Signature={OPAQUE}0",
    f"https://host.test/f?X-Goog-Signature={'0a' * 20}",
]


@pytest.fixture
def redactor() -> Redactor:
    return Redactor(KEY)


def leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from leaves(item)


def shape(value: Any) -> Any:
    """What redaction must not change: nesting, and everything that is no string."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, list):
        return [shape(item) for item in value]
    if isinstance(value, dict):
        return [(key if re.fullmatch("0|[1-9][0-9]{0,8}", key) else "key", shape(item)) for key, item in value.items()]
    return type(value), repr(value)


def serialised(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def carries(text: str) -> bool:
    """Whether a string has anything to redact: not blanks, marks, joiners, controls and halves of pairs alone."""
    return any(
        unicodedata.category(char)[0] not in "MZ" and unicodedata.category(char) not in {"Cc", "Cf", "Cs"}
        for char in text
    )


def is_document(text: str) -> bool:
    try:
        return isinstance(json.loads(text), list | dict)
    except ValueError:
        return False


def is_allowed(text: str) -> bool:
    return any(each.pattern.fullmatch(text) for each in ALLOWED)


TEXTS = st.one_of(
    st.text(max_size=30),
    st.text(alphabet=st.characters(max_codepoint=0x17F), max_size=30),
    st.text(alphabet="abc XYZ019-_@.:/\n", max_size=40),
    st.from_regex(r"https?://[a-z]{1,12}\.test/[A-Za-z0-9?=&]{0,20}", fullmatch=True),
    st.from_regex(r"[a-z.+]{1,12}@[a-z]{1,12}\.[a-z]{2,6}", fullmatch=True),
    st.uuids().map(str),
    st.integers().map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(str),
    st.sampled_from(CANARIES),
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS)
KEYS = st.one_of(st.integers(1, 2**29 - 1).map(str), TEXTS)
ROWS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=25
)


# Structure


@given(ROWS)
@settings(deadline=None, derandomize=True, max_examples=400)
def test_the_structure_of_a_row_is_the_same_afterwards_and_after_another_time(row: Any) -> None:
    once = Redactor(KEY).row(row)
    assert shape(once) == shape(row)
    assert shape(Redactor(KEY).row(once)) == shape(row)


@given(ROWS)
@settings(deadline=None, derandomize=True, max_examples=400)
def test_no_string_of_a_row_survives_anywhere_in_what_comes_out(row: Any) -> None:
    found = serialised(list(leaves(Redactor(KEY).row(row))))
    for leaf in leaves(row):
        long = len(leaf) >= 8 or (len(leaf) >= 4 and not leaf.isascii())  # shorter ASCII may come up by chance
        if long and carries(leaf) and not is_document(leaf) and not is_allowed(leaf) and not leaf.isdigit():
            assert json.dumps(leaf, ensure_ascii=False)[1:-1] not in found


@given(ROWS)
@settings(deadline=None)
def test_nothing_that_comes_out_looks_like_a_secret(row: Any) -> None:
    for leaf in leaves(Redactor(KEY).row(row)):
        assert hits(leaf) == []


@given(ROWS)
@settings(deadline=None)
def test_one_key_gives_the_same_bytes_each_time(row: Any) -> None:
    assert serialised(Redactor(KEY).row(row)) == serialised(Redactor(KEY).row(row))


def test_another_key_gives_other_placeholders() -> None:
    row = [NB, "A note of some length", "https://www.youtube.com/watch?v=abcdefghijk", MAIL, "1234567890", "Пример"]
    one, other = Redactor(b"1").row(row), Redactor(b"2").row(row)
    assert all(a != b for a, b in zip(one, other, strict=True))


def test_a_key_is_never_confused_with_the_text_that_follows_it() -> None:
    assert Redactor(b"ab").text("cdefghijkl")[2:] != Redactor(b"a").text("bcdefghijkl")[3:]


def test_the_original_row_is_left_alone_and_one_string_has_one_placeholder(redactor: Redactor) -> None:
    row = [["one title"], {"7": ["one title", NB]}, json.dumps([NB])]
    before = json.dumps(row)
    found = redactor.row(row)
    assert json.dumps(row) == before
    assert found[0][0] == found[1]["7"][0] == redactor.text("one title")
    assert json.loads(found[2]) == [found[1]["7"][1]]


def test_a_row_may_nest_deeper_than_python_recurses(redactor: Redactor) -> None:
    row: Any = "a secret title"
    for _ in range(5000):
        row = [row]
    found = redactor.row(row)
    for _ in range(5000):
        (found,) = found
    assert found == redactor.text("a secret title")


# Single strings


@given(TEXTS)
@settings(deadline=None, max_examples=500)
def test_the_length_in_utf16_units_and_the_line_breaks_stay(text: str) -> None:
    if is_document(text):
        return
    found = Redactor(KEY).text(text)
    assert units(found) == units(text)
    if len(found) == len(text):
        assert [at for at, char in enumerate(found) if char in "\n\t"] == [
            at for at, char in enumerate(text) if char in "\n\t"
        ]


@given(TEXTS)
@settings(deadline=None, max_examples=500, derandomize=True)
def test_no_string_is_its_own_placeholder(text: str) -> None:
    if carries(text) and not is_document(text) and not is_allowed(text):
        assert Redactor(KEY).text(text) != text


@given(st.text(max_size=40))
@settings(deadline=None)
def test_a_blank_string_stays_blank_and_no_other_becomes_so(text: str) -> None:
    found = Redactor(KEY).text(text)
    assert (not found or found.isspace()) == (not text or text.isspace())


@pytest.mark.parametrize(
    "text", ["I", "7", "-", "é", "Я", "山", "あ", "ア", "가", "α", "א", "ب", "क", "ก", "🙂", "𝕊", "٣", "½", "ﬀ", "Ա"]
)
def test_even_one_character_is_replaced(text: str, redactor: Redactor) -> None:
    found = redactor.text(text)
    assert found != text
    assert units(found) == units(text)


@pytest.mark.parametrize("text", [" ", "\n\t ", "\u0301", "\u200d", "\ufe0f", "\ud83d", "\xa0", "\u2028"])
def test_what_carries_nothing_stays(text: str, redactor: Redactor) -> None:
    assert redactor.text(text) == text


@given(st.uuids(), st.booleans())
@settings(deadline=None)
def test_an_id_stays_an_id(value: uuid.UUID, upper: bool) -> None:
    text = str(value).upper() if upper else str(value)
    found = Redactor(KEY).text(text)
    assert uuid.UUID(found) != value
    assert found == (found.upper() if upper else found.lower())
    assert [at for at, char in enumerate(found) if char == "-"] == [8, 13, 18, 23]


@given(st.from_regex(r"[+-]?[0-9]{1,20}(\.[0-9]{1,5})?", fullmatch=True))
@settings(deadline=None)
def test_a_number_stays_a_number_and_gets_no_leading_zero(text: str) -> None:
    found = Redactor(KEY).text(text)
    if len(text) > 7:  # a digit or two may be drawn again and again, and give their shape up
        assert re.sub("[0-9]", "0", found) == re.sub("[0-9]", "0", text)
    assert not re.match(r"[+-]?0", found) or re.match(r"[+-]?0", text)


@given(st.from_regex(r"[0-9a-f]{8,40}", fullmatch=True))
@settings(deadline=None)
def test_hex_stays_hex(text: str) -> None:
    found = Redactor(KEY).text(text)
    if re.search("[a-f]", text) and re.search("[0-9]", text):
        assert re.fullmatch("[0-9a-f]+", found)


@given(
    st.text(
        alphabet=st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters="@[{"),
        min_size=6,
        max_size=60,
    )
)
@settings(deadline=None, derandomize=True)
def test_an_opaque_id_keeps_the_class_of_each_character(text: str) -> None:
    found = Redactor(KEY).text(text)
    if "://" in text or is_allowed(text) or not re.search("[A-Z]{3}", text) or hits(text):
        return

    def classes(of: str) -> str:
        return re.sub("[0-9]", "0", re.sub("[a-z]", "a", re.sub("[A-Z]", "A", of)))

    assert classes(found) == classes(text)


@pytest.mark.parametrize("text", [MAIL, "a@b.company", "x" * 60 + "@y.test", "üñé@例え.test", "🙂@example.com"])
def test_an_address_stays_one_at_a_host_that_nobody_has(text: str, redactor: Redactor) -> None:
    found = redactor.text(text)
    assert re.fullmatch(r"[a-z]+@[a-z]+\.example", found)
    assert units(found) == units(text)


def test_an_address_that_is_too_short_is_an_id(redactor: Redactor) -> None:
    assert re.fullmatch("[a-z-]{6}|[a-z.-]{6}", redactor.text("a@b.co"))


@pytest.mark.parametrize(
    "text",
    [
        "https://www.youtube.com/watch?v=abcdefghijk",
        "https://drive.google.com/file/d/abc/view",
        "http://a-host-of-mine.test/path",
        "https://пример.test/%D0%BF/путь",
        "HTTPS://HOST.TEST/AND-MORE-OF-IT",
    ],
)
def test_a_url_stays_one_at_a_host_that_nobody_has(text: str, redactor: Redactor) -> None:
    found = redactor.text(text)
    scheme = text.partition(":")[0]
    assert re.fullmatch(rf"{scheme}://redacted\.example/[a-z]+", found)
    assert units(found) == units(text)


def test_a_short_url_keeps_its_scheme_and_its_length(redactor: Redactor) -> None:
    assert re.fullmatch("https://[a-z]{7}", redactor.text("https://ab.test"))


def test_prose_becomes_words_of_letters_with_single_blanks(redactor: Redactor) -> None:
    found = redactor.text("A sentence, with (signs) & numbers 12.5, to someone@host.test.\n\n  And another one!  " * 20)
    assert re.fullmatch(r"[a-z \n]+", found)
    assert "  " not in found.rstrip(" ")
    assert " " in found
    assert all(line.strip() for line in found.split("\n") if line)


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("größer èê", "LATIN SMALL"), ("ÄÖÜ ÉÈ", "LATIN CAPITAL"), ("κόσμος", "GREEK"), ("привет", "CYRILLIC SMALL"),
        ("ПРИВЕТ", "CYRILLIC CAPITAL"), ("שלום", "HEBREW"), ("مرحبا", "ARABIC"), ("नमस्ते", "DEVANAGARI"), ("สวัสดี", "THAI"),
        ("漢字文書", "CJK"), ("ひらがな", "HIRAGANA"), ("カタカナ", "KATAKANA"), ("안녕하세요", "HANGUL"), ("٣٤٥", "ARABIC-INDIC DIGIT"),
    ],
)  # fmt: skip
def test_a_letter_stays_in_its_script_and_its_case(text: str, script: str, redactor: Redactor) -> None:
    found = redactor.text(text)
    for old, new in zip(text, found, strict=True):
        if not old.isascii():
            assert unicodedata.name(new).startswith(script), (old, new)
            assert (new != old) == (unicodedata.category(old)[0] != "M")


def test_joined_emoji_keep_their_joints(redactor: Redactor) -> None:
    text = "Family 👨‍👩‍👧 ❤️ 👍🏽 🇩🇪 𝕊ets \ud83d!"
    found = redactor.text(text)
    assert [len(char.encode("utf-16-le", "surrogatepass")) for char in found] == [
        len(char.encode("utf-16-le", "surrogatepass")) for char in text
    ]
    assert [at for at, char in enumerate(found) if char in "\u200d\ufe0f\ud83d"] == [
        at for at, char in enumerate(text) if char in "\u200d\ufe0f\ud83d"
    ]
    assert not set("👨👩👧🏽🇩🇪𝕊") & set(found)


def test_a_text_hidden_in_tags_is_not_kept(redactor: Redactor) -> None:
    hidden = "".join(chr(0xE0000 + ord(char)) for char in "someone at home")
    assert hidden not in redactor.text(f"a flag {hidden} of it")


# JSON inside a string


def test_json_inside_a_string_is_redacted_inside(redactor: Redactor) -> None:
    quiz = {"quiz": [{"question": "Who?", "answerOptions": [{"text": "Someone", "isCorrect": True}], "hint": "n"}]}
    found = json.loads(redactor.text(json.dumps(quiz, indent=2)))
    assert list(found["quiz"][0]) == ["question", "answerOptions", "hint"]
    assert found["quiz"][0]["answerOptions"][0]["isCorrect"] is True
    assert "Someone" not in serialised(found)
    tree = json.loads(redactor.text('{"name":"Root of it","children":[{"name":"Leaf of it"}]}'))
    assert tree["children"][0].keys() == {"name"}
    assert redactor.text("[1, 2.5, null,\n true]") == "[1,2.5,null,true]"


def test_json_within_json_is_redacted_at_every_depth(redactor: Redactor) -> None:
    text = "the innermost title"
    for _ in range(6):
        text = json.dumps([text, 7, None])
    found: Any = redactor.text(text)
    for _ in range(6):
        found, seven, nothing = json.loads(found)
        assert (seven, nothing) == (7, None)
    assert found == redactor.text("the innermost title")


def test_a_document_in_ascii_stays_in_ascii(redactor: Redactor) -> None:
    assert redactor.text(json.dumps(["größer \ud83d"])).isascii()
    assert not redactor.text(json.dumps(["größer"], ensure_ascii=False)).isascii()


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "[" * 3000 + '"a title"' + "]" * 3000, '["cut', "[a note in brackets]", '{"a":1}}']
)
def test_what_only_looks_like_json_or_nests_too_deeply_is_redacted_as_text(text: str, redactor: Redactor) -> None:
    found = redactor.text(text)
    assert found != text
    assert units(found) == units(text)
    assert "title" not in found


# Keys


def test_only_field_numbers_stay_as_keys_of_a_row(redactor: Redactor) -> None:
    found = redactor.row([{"101": 1, "someone": 2, "name": 3, "123456789012": 4, "007": 5, "children": 6}])[0]
    assert list(found.values()) == [1, 2, 3, 4, 5, 6]
    assert next(iter(found)) == "101"
    assert not {"someone", "name", "123456789012", "007", "children"} & set(found)


def test_keys_that_would_become_one_stay_two(redactor: Redactor) -> None:
    row = {char: at for at, char in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")}
    assert list(redactor.row(row).values()) == list(row.values())
    assert list(json.loads(redactor.text(json.dumps(row))).values()) == list(row.values())


# The allow-list


@pytest.mark.parametrize(
    "text",
    [
        "", "wrb.fr", "di", "e", "er", "af.httprm", "generic", "text/plain", "text/html; charset=utf-8", "audio/mp4", "video/mp4",
        "image/png", "application/pdf", "application/json", "application/epub+zip", "application/vnd.google-apps.document",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation", "notebook.google.com",
        "type.googleapis.com/google.internal.labs.tailwind.orchestration.v1.UserDisplayableError",
        "boq_labs-tailwind-frontend_20261112.04_p0", "en", "fil", "pt_BR", "zh_Hans", "zh-Hant-TW", "es-419",
    ],
)  # fmt: skip
def test_words_that_everybody_shares_stay(text: str, redactor: Redactor) -> None:
    assert redactor.text(text) == text


@pytest.mark.parametrize(
    "text",
    ["text/of-someone", "ann", "bob", "application/vnd.google-apps.someone", "type.googleapis.com/evil.Name", "generic\n",
     "xnotebook.google.com", "boq_someone_2026", "en_Name", "GENERIC", "di "],
)  # fmt: skip
def test_what_only_resembles_such_a_word_goes(text: str, redactor: Redactor) -> None:
    assert redactor.text(text) != text


def test_strings_that_the_caller_declares_stay_unless_they_look_like_secrets() -> None:
    redactor = Redactor(KEY, keep=["notes.title", "SOURCE_TYPE", MAIL])
    assert redactor.row(["notes.title", "SOURCE_TYPE"]) == ["notes.title", "SOURCE_TYPE"]
    assert redactor.text(MAIL) != MAIL


def test_every_allowed_word_has_a_reason() -> None:
    assert all(each.reason for each in ALLOWED)


# Paths


def test_the_route_of_a_path_stays_and_its_ids_go(redactor: Redactor) -> None:
    assert redactor.path("/") == "/"
    assert redactor.path("/notebook/") == "/notebook/"
    assert redactor.path(f"/notebook/{NB}") == f"/notebook/{redactor.text(NB)}"
    assert redactor.path(f"/u/0/notebook/{NB}").startswith("/u/0/notebook/")
    found = redactor.path(f"/someone/notebook/{NB}?authuser={MAIL}&at={OPAQUE}#{OPAQUE}")
    assert not any(word in found for word in ("someone", NB, MAIL, OPAQUE))
    assert hits(found) == []


# Canaries


def positions(canary: str) -> dict[str, Any]:
    """Every place of a row, and of what a row may hold, with the canary in it."""
    request = json.dumps([[["wXbhsf", json.dumps([None, [canary, 1]]), None, "generic"]]])
    once = json.dumps(canary)
    return {
        "title": [canary],
        "text": [f"Before it\n{canary}\nand after it"],
        "twice in one line": [f"{canary} and {canary}"],
        "glued": [f"x={canary};y={canary}"],
        "url": [f"https://host.test/p?q={quote(canary, safe='')}", f"https://host.test/{canary}"],
        "key": [{canary: 1}, {"5": {canary: [canary]}}],
        "json in a string": [json.dumps({"name": canary, canary: [{"children": canary}]})],
        "doubly encoded": [request, json.dumps(request)],
        "form": [urlencode({"f.req": request, "at": canary})],
        "escaped": [once, json.dumps(once), json.dumps(json.dumps(once))],
        "html": [html.escape(canary), html.escape(html.escape(canary)), f'<a data-x="{html.escape(request)}">x</a>'],
        "percent": [quote(canary, safe=""), quote(quote(canary, safe=""), safe="")],
        "beside a replacement": [f"$&{canary}$&", rf"\1{canary}\g<0>"],
        "cookie": [f"U88+6E^t={canary}", f"Cookie: U88+6E^t={canary}; b={canary}"],
    }


@pytest.mark.parametrize("canary", CANARIES)
def test_a_canary_is_gone_from_every_position(canary: str, redactor: Redactor) -> None:
    core = max(re.findall(r"[\w$&+-]{8,}", canary), key=len)
    for position, row in positions(canary).items():
        assert any(hits(leaf) for leaf in leaves(row)), position
        found = redactor.row(row)
        text = serialised(found)
        assert canary not in text, position
        assert core not in text, position
        assert core not in html.unescape(text), position
        assert hits(text) == [], position
        assert [type(cell) for cell in found] == [type(cell) for cell in row]


def test_a_canary_at_the_edges_of_other_strings_is_gone(redactor: Redactor) -> None:
    row = [["note", [canary, f"{canary}.", f" {canary}", f"«{canary}»", f"{canary}🙂"]] for canary in CANARIES]
    text = serialised(redactor.row(row))
    assert hits(text) == []
    assert not any(canary in text for canary in CANARIES)


# Cost


def rate(text: str) -> float:
    redactor = Redactor(KEY)
    began = time.process_time()
    redactor.text(text)
    return len(text.encode()) / 1e6 / (time.process_time() - began)


@pytest.mark.parametrize(
    "text",
    ["Some words of a note, and a line\n" * 30_000, "Слова заметки и строка\n" * 20_000, "一二三四五六七八九十" * 30_000,
     base64.b64encode(bytes(range(256)) * 3000).decode(), "a@" + "." * 500_000 + "@", "https://" + "a" * 500_000, "7" * 500_000],
    ids=["prose", "cyrillic", "han", "base64", "dots", "url", "digits"],
)  # fmt: skip
def test_a_large_text_costs_little(text: str) -> None:
    assert rate(text) > 1, "MB/s; ten and more are usual, one leaves room for a busy machine"


def test_the_memory_of_placeholders_is_bounded(redactor: Redactor) -> None:
    for number in range(2 * CACHED + 10):
        redactor.text(f"title number {number}")
        redactor.text("x" * 600 + str(number)) if number < 3 else None
    assert len(redactor._cache) <= CACHED
    assert max(map(len, redactor._cache)) < 600
    assert redactor.text("title number 0") == Redactor(KEY).text("title number 0")
