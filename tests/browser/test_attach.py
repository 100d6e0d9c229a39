"""Which pages are the user's notebook tabs; attaching itself is in the end-to-end tests."""

from __future__ import annotations

import pytest

from nlm_cdp.browser.attach import is_light
from nlm_cdp.wire.page import APP_HOSTS, LIGHT_PATHS


@pytest.mark.parametrize("host", APP_HOSTS)
def test_a_page_of_a_servers_own_is_no_notebook_tab(host: str) -> None:
    assert all(is_light(f"https://{host}{path}") for path in LIGHT_PATHS)
    assert not any(is_light(f"https://{host}{path}") for path in ("", "/", "/?authuser=1", "/notebook/robots.txt"))
