"""Actions of the account: settings, language, what it may use."""

from __future__ import annotations

from nlm_cdp.api.account import account as api
from nlm_cdp.api.common import RequestContext
from nlm_cdp.sim.actions.action import WEB, Action, Made
from nlm_cdp.sim.records import Notebook
from nlm_cdp.sim.state import Account


def usage(account: Account, notebook: Notebook) -> Made:
    account.metered = True
    return api.ListUsage(context=WEB), None


ACTIONS = (
    Action(
        "get-settings",
        "Read settings",
        api.SETTINGS,
        lambda _, __: (api.GetSettings(context=RequestContext(), provenance=None), None),
    ),
    Action(
        "set-language", "Set output language", api.SET_LANGUAGE, lambda _, __: (api.SetLanguage(language="fr"), None)
    ),
    Action("list-usage", "Show usage", api.USAGE, usage),
    Action("get-account", "Read account", api.ACCOUNT, lambda _, __: (api.GetAccount(), None)),
    Action(
        "deferred-quota", "Ask for deferred quota", api.DEFERRED_QUOTA, lambda _, __: (api.GetDeferredQuota(), None)
    ),
)
