"""Samples of the account's calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nlm_cdp.api import account as api
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account

if TYPE_CHECKING:
    from tools.samples import Sample


def samples(account: Account, notebook: Notebook) -> Iterator[Sample]:
    account.metered = True
    yield api.SETTINGS, api.GetSettings(), None
    yield api.SET_LANGUAGE, api.SetLanguage(language="fr"), None
    yield api.ACCOUNT, api.GetAccount(), None
    yield api.USAGE, api.ListUsage(), None
    yield api.DEFERRED_QUOTA, api.GetDeferredQuota(), None
