"""Every row that a client or the web app was seen to send for the account's calls is one variant."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api.account import account
from nlm_cdp.rpc import Rpc
from nlm_cdp.wire.pblite import canonical, unclaimed
from tests.api.rows import writes_itself_back

P1, P13 = [1, *[None] * 9, [1]], [1, *[None] * 9, [1, 3]]
FULL, WEB = [2, None, None, P1], [2, None, [1], P13]
BARE = [None, [6, 500, 300, 500_000], [True, None, None, True, ["fr"]], [[1]], [True, 1, 3, 2]]
METERED = [None, [6, 500, 300, 500_000, 2], [True, None, None, True], [[1]], [True, 1, 3, 2, None, None, True]]

ROWS = [
    (account.SETTINGS, [None, P1]),  # recorded; py
    (account.SETTINGS, [FULL]),  # the web app
    (account.SETTINGS, [WEB]),
    (account.ACCOUNT, []),  # py
    (account.SET_LANGUAGE, [[[None, [[None, None, None, None, ["en"]]]]]]),  # recorded
    (account.SET_LANGUAGE, [[[None, [[None, None, None, None, ["zh_Hans"]]]]]]),  # py
    (account.USAGE, [None]),  # py
    (account.USAGE, [WEB]),  # mcp
    (account.USAGE, [FULL]),
    (account.DEFERRED_QUOTA, []),
]


@pytest.mark.parametrize(("rpc", "row"), ROWS)
def test_a_row_is_one_variant_and_encodes_to_itself(rpc: Rpc[Any, Any], row: list[Any]) -> None:
    writes_itself_back(rpc.id, row, rpc)


@pytest.mark.parametrize("row", [BARE, METERED])
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_an_account_is_read_however_it_is_wrapped(row: list[Any], depth: int) -> None:
    wrapped: list[Any] = row
    for _ in range(depth):
        wrapped = [wrapped]
    message = account.Account.decode(wrapped)
    assert list(unclaimed(account.Account, wrapped)) == []
    assert canonical(message.encode()) == canonical(wrapped)
    assert message.bare.limits is not None
    assert message.bare.limits.words == 500_000
    assert message.language == ("fr" if row is BARE else None)
    assert message.bare.features is not None
    assert message.bare.features.metered is (None if row is BARE else True)


def test_usage_is_read_to_the_last_cell() -> None:
    window = [None, None, None, None, 2, [1_800_000_000, 5], 12.5, 87.5]
    row = [1, [window], [1, 18], [[1, False, 0, 4, 1, 25], [23, True]]]
    message = account.Usage.decode(row)
    assert list(unclaimed(account.Usage, row)) == []
    assert canonical(message.encode()) == canonical(row)
    assert (message.windows[0].code, message.windows[0].used, message.windows[0].left) == (2, 12.5, 87.5)
