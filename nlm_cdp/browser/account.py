"""Which host, profile and account to act as: what the user's own notebook tabs say. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nlm_cdp.errors import AccountAmbiguous
from nlm_cdp.wire import page


@dataclass(frozen=True, slots=True)
class Tab:
    """A notebook tab of the user's: its address and its profile (`browserContextId`)."""

    url: str
    profile: str | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where our page opens."""

    origin: str
    profile: str | None
    authuser: str | None


def choose(tabs: Iterable[Tab], account: str | None = None) -> Place:
    """The place that every notebook tab agrees on; without tabs, the app's current host in the default profile.

    `account` (an index or an e-mail, as the app's own `authuser`) picks among several. Raises AccountAmbiguous listing
    the choices when tabs disagree and nothing picks.
    """
    places = {Place(page.origin(tab.url), tab.profile, page.authuser(tab.url)) for tab in tabs if page.is_app(tab.url)}
    if account is not None:
        places = {place for place in places if (place.authuser or "0") == account} or {
            Place(place.origin, place.profile, account) for place in places
        }
    people = {(place.profile, place.authuser or "0") for place in places}
    if len(people) > 1:
        choices = [{"authuser": authuser, "profile": profile} for profile, authuser in sorted(people, key=str)]
        raise AccountAmbiguous(
            f"notebook tabs of {len(people)} accounts or profiles are open", details={"choices": choices}
        )
    if not places:
        return Place(f"https://{page.APP_HOSTS[0]}", None, account)
    return min(places, key=lambda place: page.APP_HOSTS.index(place.origin.removeprefix("https://")))
