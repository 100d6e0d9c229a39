"""Where the bytes of an upload may go: the address that the service gives is not taken on trust."""

from __future__ import annotations

import pytest

from nlm_cdp.browser.sending import checked_address
from nlm_cdp.errors import Drift


@pytest.mark.parametrize(
    "address",
    [
        "https://notebook.google.com/upload/_/?authuser=0&upload_id=x&upload_protocol=resumable",
        "https://notebooklm.google.com/upload/_/?upload_id=x&upload_protocol=resumable",
    ],
)
def test_an_upload_on_a_host_of_the_app_is_the_address(address: str) -> None:
    assert checked_address(address) == address


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/upload/_/?upload_id=x",
        "http://notebook.google.com/upload/_/?upload_id=x",
        "https://notebook.google.com.evil.example/upload/_/?upload_id=x",
        "https://notebook.google.com@evil.example/upload/_/?upload_id=x",
        "https://user@notebook.google.com/upload/_/?upload_id=x",
        "https://notebook.google.com:8443/upload/_/?upload_id=x",
        "https://notebook.google.com/elsewhere?upload_id=x",
        "https://notebook.google.com/upload/_/?upload_id=x&upload_id=y",
        "https://notebook.google.com/upload/_/?upload_id=",
        "https://notebook.google.com/upload/_/",
        "/upload/_/?upload_id=x",
        "https://[::1",
        "",
        None,
    ],
)
def test_bytes_go_nowhere_else(address: str | None) -> None:
    with pytest.raises(Drift) as caught:
        checked_address(address)
    assert "evil" not in str(caught.value)
