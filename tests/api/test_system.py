"""The sidecar's own tools: a real call judges its health, signing in is the user's, cleaning up deletes what it listed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nlm_cdp import __version__, errors
from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.errors import NlmError
from nlm_cdp.granted import SCOPES
from nlm_cdp.local.store import open_store
from tests.fakes import NB, Bench, notebook, refused


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def test_everything_works(bench: Bench) -> None:
    bench.caller.script(notebooks.LIST, [[notebook(NB)]])
    bench.caller.state = replace(bench.caller.state, page="https://notebook.google.com/robots.txt", account="a@b.test")
    await bench.store.create_session(NB)
    assert await bench.call("get_health") == {
        "status": "ok",
        "state": "ok",
        "authenticated": True,
        "account": "a@b.test",
        "chrome": {"version": "Chrome/156.0", "mode": "port", "endpoint": "http://127.0.0.1:9222"},
        "page": "https://notebook.google.com/robots.txt",
        "active_sessions": 1,
        "version": __version__,
        "config": {"endpoint": "auto", "scopes": list(SCOPES), "toolsets": ["all"]},
        "simulated": False,
    }
    assert bench.caller.calls == ["wXbhsf"]


@pytest.mark.parametrize(
    ("failure", "state"),
    [
        (errors.ChromeNotFound("no browser was found."), "no_browser"),
        (errors.ChromeDebuggingOff("debugging is off"), "debugging_off"),
        (errors.ChromeApprovalPending("waiting for consent"), "approval_pending"),
        (errors.ChromeApprovalDenied("the user said no"), "denied"),
        (errors.ChromePolicyBlocked("a policy forbids it"), "policy_blocked"),
        (errors.SignedOut("signed out"), "signed_out"),
        (errors.AccessGated("a landing page"), "gated"),
        (errors.AccountAmbiguous("two accounts"), "account_ambiguous"),
        (errors.ChromeLost("the connection is gone"), "could_not_check"),
        (errors.Network("offline"), "could_not_check"),
        (refused(13), "could_not_check"),
    ],
    ids=lambda value: value.code if isinstance(value, NlmError) else value,
)
async def test_what_does_not_work_is_a_finding_and_no_error(bench: Bench, failure: NlmError, state: str) -> None:
    bench.caller.script(notebooks.LIST, failure)
    result = await bench.call("get_health")
    assert (result["status"], result["state"], result["code"]) == ("error", state, failure.code)
    assert result["authenticated"] is False
    assert result["troubleshooting_tip"] == f"{failure.message.rstrip('.')}. {failure.hint}".strip()


async def test_an_unread_list_is_no_proof(bench: Bench) -> None:
    bench.caller.script(notebooks.LIST, ["x"])
    result = await bench.call("get_health")
    assert (result["state"], result["code"]) == ("could_not_check", "DRIFT")


async def test_a_simulation_says_so(bench: Bench) -> None:
    bench.caller.simulated = True
    bench.caller.script(notebooks.LIST, [])
    assert (await bench.call("get_health"))["simulated"] is True


async def test_it_takes_no_arguments(bench: Bench) -> None:
    arguments: dict[str, Any] = {"verbose": True}
    assert (await bench.fails("get_health", **arguments)).code == "INVALID_ARGUMENT"


# setup_auth and re_auth

NEXT = "Let the user sign in in the tab that was opened in their Chrome, then call get_health."


async def test_who_is_signed_in_needs_no_tab(bench: Bench) -> None:
    bench.caller.script(notebooks.LIST, [])
    bench.caller.state = replace(bench.caller.state, account="a@b.test")
    assert await bench.call("setup_auth") == {"status": "signed_in", "account": "a@b.test"}
    assert bench.caller.browser == []


@pytest.mark.parametrize("failure", [errors.SignedOut("signed out"), errors.AccessGated("a landing page"), refused(16)])
async def test_who_is_not_gets_a_tab(bench: Bench, failure: NlmError) -> None:
    bench.caller.script(notebooks.LIST, failure)
    url = "https://notebook.google.com/login"
    assert await bench.call("setup_auth") == {"status": "opened", "url": url, "next": NEXT}
    assert bench.caller.browser == ["open /login"]


@pytest.mark.parametrize(
    "failure",
    [errors.ChromeNotFound("no browser"), errors.Network("offline"), errors.AccountAmbiguous("two"), refused(13)],
)
async def test_what_is_not_about_signing_in_opens_nothing(bench: Bench, failure: NlmError) -> None:
    bench.caller.script(notebooks.LIST, failure)
    assert await bench.fails("setup_auth") is failure
    assert bench.caller.browser == []


async def test_starting_over_asks_first(bench: Bench) -> None:
    await bench.store.set_active_notebook(NB)
    await bench.store.create_session(NB)
    result = await bench.call("re_auth")
    assert result["status"] == "needs_confirmation"
    assert "forget 1 local chat sessions" in result["would"]
    assert (bench.caller.browser, bench.caller.requests) == ([], [])
    assert (bench.store.active, len(bench.store.rows)) == (NB, 1)

    bench.caller.script(notebooks.LIST, errors.SignedOut("signed out"))
    result = await bench.call("re_auth", confirm=True)
    assert result == {"status": "opened", "url": "https://notebook.google.com/login", "next": NEXT}
    assert bench.caller.browser == ["open /login", "drop page"]
    assert (bench.store.active, bench.store.rows) == (None, {})


@pytest.mark.parametrize(
    ("answer", "path"), [([], "/"), (errors.Network("offline"), "/login"), (["x"], "/login"), (refused(13), "/login")]
)
async def test_who_is_signed_in_starts_over_in_the_app(bench: Bench, answer: Any, path: str) -> None:
    bench.caller.script(notebooks.LIST, answer)
    assert (await bench.call("re_auth", confirm=True))["url"] == f"https://notebook.google.com{path}"
    assert bench.caller.browser == [f"open {path}", "drop page"]


async def test_without_a_browser_nothing_is_forgotten(bench: Bench) -> None:
    bench.caller.no_tab = errors.ChromeDebuggingOff("debugging is off")
    bench.caller.script(notebooks.LIST, bench.caller.no_tab)
    await bench.store.create_session(NB)
    assert await bench.fails("re_auth", confirm=True) is bench.caller.no_tab
    assert len(bench.store.rows) == 1


# cleanup_data


ENTRY: dict[str, Any] = {
    "notebook_id": NB,
    "url": "u",
    "name": "Lamps",
    "description": "",
    "topics": [],
    "content_types": [],
    "use_cases": [],
    "tags": [],
}


@asynccontextmanager
async def stored(folder: Path) -> AsyncIterator[Bench]:
    """Tools over a real store, with a session and an entry in it."""
    async with open_store(folder / "store.sqlite3") as store:
        await store.create_session(NB)
        await store.set_active_notebook(NB)
        await store.library.add(**ENTRY)
        yield Bench(store)


def paths(category: dict[str, Any]) -> set[str]:
    return {file["path"] for file in category["files"]}


@pytest.mark.realtime
async def test_cleaning_up_lists_first(tmp_path: Path) -> None:
    (tmp_path / "another file").write_text("not ours")
    async with stored(tmp_path) as bench:
        before = {str(file) for file in tmp_path.iterdir()}
        result = await bench.call("cleanup_data")
        assert result["status"] == "needs_confirmation"
        counts = [(category["name"], category["items"]) for category in result["categories"]]
        assert counts == [("sessions", 1), ("library", 1), ("files", len(before) - 1)]
        for category in result["categories"]:
            assert paths(category) == before - {str(tmp_path / "another file")}
            assert all(file["size_bytes"] == Path(file["path"]).stat().st_size for file in category["files"])
        assert {str(file) for file in tmp_path.iterdir()} == before
        assert len(await bench.store.sessions()) == 1


@pytest.mark.realtime
async def test_cleaning_up_deletes_what_it_listed(tmp_path: Path) -> None:
    (tmp_path / "another file").write_text("not ours")
    async with stored(tmp_path) as bench:
        result = await bench.call("cleanup_data", confirm=True)
        assert (result["status"], "note" in result) == ("deleted", False)
        assert [file.name for file in tmp_path.iterdir()] == ["another file"]
        assert (await bench.call("cleanup_data", confirm=True)) == {"status": "nothing_to_delete", "categories": []}
        assert [file.name for file in tmp_path.iterdir()] == ["another file"]
        assert (await bench.call("list_sessions"))["sessions"] == []
        assert (await bench.call("search_notebooks", query=""))["total"] == 0


@pytest.mark.realtime
async def test_the_library_can_be_preserved(tmp_path: Path) -> None:
    async with stored(tmp_path) as bench:
        preview = await bench.call("cleanup_data", preserve_library=True)
        assert [(each["name"], each["items"]) for each in preview["categories"]] == [("sessions", 1)]
        result = await bench.call("cleanup_data", preserve_library=True, confirm=True)
        assert (result["status"], result["categories"]) == ("deleted", preview["categories"])
        assert await bench.store.sessions() == []
        assert await bench.store.active_notebook() is None
        assert len(await bench.store.library.entries()) == 1


@pytest.mark.realtime
async def test_files_that_another_process_uses_are_emptied(tmp_path: Path) -> None:
    async with stored(tmp_path) as bench, open_store(tmp_path / "store.sqlite3") as other:
        assert len(await other.sessions()) == 1
        result = await bench.call("cleanup_data", confirm=True)
        assert [category["name"] for category in result["categories"]] == ["sessions", "library"]
        assert "Another process" in result["note"]
        assert await other.sessions() == []
        assert await other.active_notebook() is None
        assert await other.library.entries() == []
        assert (tmp_path / "store.sqlite3").exists()


@pytest.mark.realtime
async def test_a_damaged_store_is_removed_whole_or_left(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    path.write_bytes(b"no database at all" * 100)
    async with open_store(path) as store:
        bench = Bench(store)
        error = await bench.fails("cleanup_data", preserve_library=True, confirm=True)
        assert (error.code, error.state) == ("FILE_REFUSED", "corrupt")
        assert path.exists()
        listed = await bench.call("cleanup_data")
        assert ["items" in category for category in listed["categories"]] == [False, False, True]
        assert (await bench.call("cleanup_data", confirm=True))["status"] == "deleted"
        assert list(tmp_path.iterdir()) == []


@pytest.mark.realtime
async def test_a_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("the user's")
    (tmp_path / "store.sqlite3").symlink_to(target)
    async with open_store(tmp_path / "store.sqlite3") as store:
        error = await Bench(store).fails("cleanup_data", confirm=True)
        assert (error.code, error.state) == ("FILE_REFUSED", "symlink")
    assert target.read_text() == "the user's"
