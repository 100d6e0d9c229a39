"""Account tools over scripted rows: limits, language and usage, and a language that is set for the whole account."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nlm_cdp.api.account import account
from nlm_cdp.errors import Drift, Network, NlmError, Outcome, RateLimited
from tests.fakes import REFUSALS, START, Bench, lost, refused


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.caller.state = replace(bench.caller.state, account="owner@a.test")
    bench.caller.script(account.SETTINGS, [row("fr")])
    bench.caller.script(account.ACCOUNT, [row("fr", metered=True)])
    bench.caller.script(account.USAGE, [2])
    return bench


def row(language: str | None = None, *, tier: int | None = 2, metered: bool | None = None) -> list[Any]:
    """An account, bare."""
    features = [True, 1, 3, 2] if metered is None else [True, 1, 3, 2, None, None, metered]
    limits = [6, 500, 300, 500_000] + ([tier] if tier else [])
    return [None, limits, [True, None, None, True, *([[language]] if language else [])], [[1]], features]


def window(code: int, used: float) -> list[Any]:
    return [None, None, None, None, code, [START + 3600], used, 100 - used]


# get_account


async def test_an_account_that_is_metered(bench: Bench) -> None:
    actions = [[1, False, 0, 4, 1, 25], [18, True, 0, 1, 1, 1], [99, False]]
    bench.caller.script(account.USAGE, [1, [window(2, 12), window(1, 40.5), window(7, 0)], [], actions])
    assert await bench.call("get_account") == {
        "email": "owner@a.test",
        "authuser": "0",
        "tier": "pro",
        "limits": {"notebooks": 500, "sources": 300, "words_per_source": 500_000},
        "output_language": "fr",
        "usage": {
            "status": "metered",
            "windows": [
                {"window": "week", "used_percent": 12, "remaining_percent": 88, "resets": "2023-11-14T23:13:20Z"},
                {
                    "window": "five_hours",
                    "used_percent": 40.5,
                    "remaining_percent": 59.5,
                    "resets": "2023-11-14T23:13:20Z",
                },
                {"window": "unknown(7)", "used_percent": 0, "remaining_percent": 100, "resets": "2023-11-14T23:13:20Z"},
            ],
            "out_of_quota": ["audio", "unknown(99)"],
        },
    }
    assert bench.caller.calls == ["ZwVcOc", "SatQRc", "EylDcb"]
    rows = [request.encode() for _, request in bench.caller.requests]
    assert rows == [[None, [1, *[None] * 9, [1]]], [], []]


@pytest.mark.parametrize("depth", [0, 1, 2])
async def test_an_account_that_is_not_metered(bench: Bench, depth: int) -> None:
    found: Any = row(metered=False)
    for _ in range(depth):
        found = [found]
    bench.caller.script(account.ACCOUNT, found)
    assert (await bench.call("get_account"))["usage"] == {"status": "not_metered", "windows": [], "out_of_quota": []}
    assert bench.caller.calls == ["ZwVcOc", "SatQRc"]


@pytest.mark.parametrize(("status", "name"), [(2, "not_metered"), (3, "failed"), (9, "unknown(9)")])
async def test_the_service_says_how_it_stands_with_metering(bench: Bench, status: int, name: str) -> None:
    bench.caller.script(account.ACCOUNT, [row()])
    bench.caller.script(account.USAGE, [status])
    assert (await bench.call("get_account"))["usage"]["status"] == name


@pytest.mark.parametrize(
    ("tier", "name"), [(1, "free"), (2, "pro"), (3, "ultra_20tb"), (4, "plus"), (6, "ultra_30tb"), (77, "unknown(77)")]
)
async def test_tiers(bench: Bench, tier: int, name: str) -> None:
    bench.caller.script(account.SETTINGS, [row(tier=tier)])
    result = await bench.call("get_account")
    assert result["tier"] == name
    assert "output_language" not in result


async def test_what_nobody_said_is_left_out(bench: Bench) -> None:
    bench.caller.script(account.SETTINGS, [row(tier=None)])
    bench.caller.state = replace(bench.caller.state, account="authuser 1")
    result = await bench.call("get_account")
    assert "email" not in result
    assert "tier" not in result
    bench.caller.script(account.SETTINGS, [[None, None, [True]]])
    assert "limits" not in await bench.call("get_account")


@pytest.mark.parametrize("found", [[], [[]], [[None, None, None, [[1]]]], ["x"], [[None, "x"]]])
async def test_an_account_of_another_shape_is_drift(bench: Bench, found: Any) -> None:
    bench.caller.script(account.SETTINGS, found)
    assert (await bench.fails("get_account")).code == "DRIFT"


@pytest.mark.parametrize(
    ("rpc", "failure", "code"),
    [
        (account.ACCOUNT, refused(5), "NOT_FOUND"),
        (account.USAGE, refused(13), "SERVICE"),
        (account.USAGE, Network("offline"), "NETWORK"),
        (account.USAGE, ["x"], "DRIFT"),
        (account.USAGE, [1, [["x"]]], "DRIFT"),
    ],
)
async def test_usage_that_cannot_be_read_is_told_and_hides_nothing(
    bench: Bench, rpc: Any, failure: Any, code: str
) -> None:
    bench.caller.script(rpc, failure)
    result = await bench.call("get_account")
    assert result["usage"] == {"status": "unknown", "windows": [], "out_of_quota": [], "unavailable": code}
    assert result["limits"]["notebooks"] == 500


async def test_a_window_that_cannot_be_read_is_told(bench: Bench) -> None:
    bench.caller.script(account.USAGE, [1, [window(1, 5), ["x"]]])
    usage = (await bench.call("get_account"))["usage"]
    assert [each["window"] for each in usage["windows"]] == ["five_hours"]
    assert usage["undecoded"][0].startswith(".2[1].5: ")


@pytest.mark.parametrize(
    ("code", "name"), [(3, "INVALID_ARGUMENT"), (7, "PERMISSION"), (13, "SERVICE"), (16, "SIGNED_OUT")]
)
async def test_an_account_that_is_refused(bench: Bench, code: int, name: str) -> None:
    bench.caller.script(account.SETTINGS, refused(code))
    assert (await bench.fails("get_account")).code == name
    assert bench.caller.calls == ["ZwVcOc"]


# set_output_language


async def test_no_language_is_set_without_a_yes(bench: Bench) -> None:
    assert await bench.call("set_output_language", language="zh_Hans") == {
        "status": "needs_confirmation",
        "language": "fr",
        "would": "change the output language of the whole account from fr to zh_Hans",
    }
    bench.caller.script(account.SETTINGS, [row()])
    assert "from the default to en" in (await bench.call("set_output_language", language="en"))["would"]
    assert bench.caller.sent(account.SET_LANGUAGE) == []


async def test_a_language_is_set_and_the_one_that_is_there_is_not(bench: Bench) -> None:
    bench.caller.script(account.SET_LANGUAGE, row("zh_Hans"))
    result = await bench.call("set_output_language", language="zh_Hans", confirm=True)
    assert result == {"status": "done", "language": "zh_Hans"}
    (request,) = bench.caller.sent(account.SET_LANGUAGE)
    assert request.encode() == [[[None, [[None, None, None, None, ["zh_Hans"]]]]]]
    assert (await bench.call("set_output_language", language="fr"))["status"] == "unchanged"
    assert len(bench.caller.sent(account.SET_LANGUAGE)) == 1


async def test_a_language_that_the_service_spells_otherwise(bench: Bench) -> None:
    bench.caller.script(account.SET_LANGUAGE, row("zh_Hans"))
    result = await bench.call("set_output_language", language="zh-hans", confirm=True)
    assert result == {"status": "done", "language": "zh_Hans"}


async def test_a_language_that_the_service_does_not_take(bench: Bench) -> None:
    bench.caller.script(account.SET_LANGUAGE, row("fr"))
    error = await bench.fails("set_output_language", language="xx", confirm=True)
    assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.REJECTED)
    assert "output language is fr" in error.message


async def test_an_answer_without_a_language_is_looked_up(bench: Bench) -> None:
    bench.caller.script(account.SET_LANGUAGE, [])
    bench.caller.script(account.SETTINGS, [row("fr")], [row("en")])
    assert (await bench.call("set_output_language", language="en", confirm=True))["language"] == "en"
    bench.caller.script(account.SETTINGS, [row("fr")], Network("offline"))
    error = await bench.fails("set_output_language", language="en", confirm=True)
    assert (error.code, error.outcome) == ("UNCONFIRMED_WRITE", Outcome.UNKNOWN)


@pytest.mark.parametrize("language", ["", "e", "english please", "en_", "../x", "en\n", "日本", "x" * 50])
async def test_a_text_that_is_no_language(bench: Bench, language: str) -> None:
    error = await bench.fails("set_output_language", language=language, confirm=True)
    assert (error.code, error.outcome) == ("INVALID_ARGUMENT", Outcome.NOT_SENT)
    assert bench.caller.requests == []


@pytest.mark.parametrize(
    ("code", "name"),
    REFUSALS,
)
async def test_a_language_that_is_refused(bench: Bench, code: int, name: str) -> None:
    bench.caller.script(account.SET_LANGUAGE, refused(code))
    error = await bench.fails("set_output_language", language="en", confirm=True)
    assert (error.code, error.outcome) == (name, Outcome.REJECTED)
    assert bench.caller.calls == ["ZwVcOc", "hT54vc"]


@pytest.mark.parametrize("failure", [lost(), Drift("unreadable.", outcome=Outcome.UNKNOWN)])
async def test_a_lost_answer_is_settled_by_looking(bench: Bench, failure: NlmError) -> None:
    bench.caller.script(account.SET_LANGUAGE, failure)
    bench.caller.script(account.SETTINGS, [row("fr")], [row("en")])
    assert (await bench.call("set_output_language", language="en", confirm=True))["status"] == "done"
    bench.caller.script(account.SETTINGS, [row("fr")])
    error = await bench.fails("set_output_language", language="en", confirm=True)
    assert (error.code, error.outcome) == (failure.code, Outcome.UNKNOWN)
    assert error.message.endswith("The account's output language is fr.")
    assert len(bench.caller.sent(account.SET_LANGUAGE)) == 2


async def test_a_change_that_was_never_sent_is_not_looked_for(bench: Bench) -> None:
    bench.caller.script(account.SET_LANGUAGE, RateLimited("slow down"))
    assert (await bench.fails("set_output_language", language="en", confirm=True)).outcome is Outcome.NOT_SENT
    assert bench.caller.calls == ["ZwVcOc", "hT54vc"]
