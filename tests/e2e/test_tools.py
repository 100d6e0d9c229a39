"""Every tool once and more, in a real Chromium against the simulator under the real host names."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import trio

from nlm_cdp.api.sources.sources import LOAD, LoadSource
from nlm_cdp.cdp.connection import open_connection
from nlm_cdp.cdp.generated import target
from nlm_cdp.sim.log import Logged
from nlm_cdp.wire.document import wire_text
from tests.e2e.world import in_chromium, targets, world
from tests.fakes import present

pytestmark = in_chromium

TEXT = """The lamp must be lit thirty minutes before sunset.

In fog the horn sounds one long blast every ninety seconds 🧪. When the horn fails, the bell is rung by hand.

The log records the weather at six, noon, six and midnight."""


async def test_a_notebooks_whole_life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        call = there.call
        health = await call("get_health")
        assert (health["status"], health["simulated"], health["account"]) == ("ok", True, "owner@simulated.example")

        created = (await call("create_notebook", title="Ünïcode 🧪", emoji="🔦"))["notebook"]
        assert (created["title"], created["emoji"], created["source_count"]) == ("Ünïcode 🧪", "🔦", 0)
        listed = await call("list_notebooks")
        assert created["id"] in [notebook["id"] for notebook in listed["notebooks"]]
        await call("select_notebook", notebook="Ünïcode")
        assert (await call("list_notebooks"))["active_notebook_id"] == created["id"]
        renamed = await call("rename_notebook", notebook=created["id"], title="Lighthouse")
        assert renamed["notebook"]["title"] == "Lighthouse"
        assert renamed["notebook"]["url"] == f"https://notebook.google.com/notebook/{created['id']}"

        added = await call("add_source", content=TEXT, title="Handbook", wait=True)
        assert (added["source_count_before"], added["source_count_after"], added["failed"]) == (0, 1, [])
        source = added["sources"][0]
        assert (source["title"], source["status"], source["kind"]) == ("Handbook", "ready", "text")
        pages = await call("add_source", content=["https://a.example/fog-horns", "https://fail.example/x"])
        assert len(pages["sources"]) == 1
        assert [failed["input"] for failed in pages["failed"]] == ["https://fail.example/x"]
        video = await call("add_source", content="https://youtu.be/dQw4w9WgXcQ", title="Horns")
        assert (video["sources"][0]["kind"], video["title_override_applied"]) == ("youtube", True)
        sources = (await call("list_sources"))["sources"]
        assert {"Handbook", "Horns"} <= {item["title"] for item in sources}
        assert len(sources) == 3

        content = await call("get_source_content", source="Handbook")
        assert "every ninety seconds 🧪" in content["content"]
        assert content["total_chars"] == len(content["content"])
        windows = [
            (await call("get_source_content", source="Handbook", offset=at, max_chars=50))["content"]
            for at in range(0, content["total_chars"], 50)
        ]
        assert "".join(windows) == content["content"]
        assert (await call("get_source_content", source="Handbook", format="markdown"))["content"]
        guide = await call("get_source_guide", source="Handbook")
        assert guide["summary"]
        assert guide["keywords"]
        assert (await call("rename_source", source="Handbook", title="Rules"))["source"]["title"] == "Rules"
        full = await call("get_notebook", detail="full")
        assert full["notebook"]["source_count"] == 3
        assert full["summary"]
        assert full["suggested_questions"]

        answer = await call(
            "ask_question",
            question="How often does the horn sound in fog?",
            source_format="json",
            source_ids=[source["id"]],
        )
        assert "ninety seconds" in answer["answer"]
        assert answer["sources"][0]["source_id"] == source["id"]
        assert answer["sources"][0]["title"] == "Rules"
        assert answer["_provenance"] == {
            "provider": "gemini-notebook",
            "via": "chrome-devtools",
            "grounding": "user-documents",
            "ai_generated": True,
            "simulated": True,
        }
        assert answer["session_info"]["message_count"] == 1
        again = await call("ask_question", question="When is the lamp lit?", session_id=answer["session_id"])
        assert (again["session_id"], again["conversation_id"]) == (answer["session_id"], answer["conversation_id"])
        assert again["session_info"]["message_count"] == 2
        assert "sources" not in again
        turns = (await call("get_conversation", session_id=answer["session_id"]))["turns"]
        assert [turn["role"] for turn in turns] == ["user", "assistant"] * 2
        assert turns[0]["text"] == "How often does the horn sound in fog?"
        transcript = await call("get_conversation", format="markdown")
        assert "**You:** When is the lamp lit?" in transcript["markdown"]
        assert [row["id"] for row in (await call("list_sessions"))["sessions"]] == [answer["session_id"]]
        assert (await call("reset_session", session_id=answer["session_id"]))["session"]["message_count"] == 0
        assert (await call("close_session", session_id=answer["session_id"]))["status"] == "closed"

        asked = await call("delete_source", sources=["Rules", "nothing like it"])
        assert (asked["status"], asked["deleted"], asked["not_found"]) == (
            "needs_confirmation",
            [],
            ["nothing like it"],
        )
        assert there.sent("tGMBJ") == 0
        gone = await call("delete_source", sources=["Rules"], confirm=True)
        assert gone["deleted"] == [source["id"]]
        assert (await call("delete_notebook", notebook="Lighthouse"))["status"] == "needs_confirmation"
        assert there.sent("WWINqb") == 0
        done = await call("delete_notebook", notebook="Lighthouse", expected_title="Lighthouse", confirm=True)
        assert done["status"] == "deleted"
        assert "Lighthouse" not in [row["title"] for row in (await call("list_notebooks"))["notebooks"]]


async def test_citations_point_at_what_they_quote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        notebook = there.service.service.owner.recent()[0]
        question = "What do tests ask the simulator for, and what do offsets count?"
        answer = await there.call("ask_question", question=question, notebook=notebook.id, source_format="json")
        session, _ = await there.runtime.open()
        assert answer["sources"]
        for cited in answer["sources"]:
            loaded = await session(LOAD, LoadSource(source_id=cited["source_id"]), notebook=notebook.id)
            text = wire_text(present(loaded.document).row).encode("utf-16-le")
            quoted = text[2 * cited["start"] : 2 * cited["end"]].decode("utf-16-le")
            assert quoted == cited["excerpt"].replace("\n", "")
            assert f"[{cited['index']}]" in answer["answer"]


async def test_our_page_is_ours_alone_and_goes_with_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        await there.call("list_notebooks")
        session, _ = await there.runtime.open()
        connection = present(session.page).connection
        assert "https://notebook.google.com/robots.txt" in await targets(connection)
        await session.close()
        with trio.fail_after(5):  # Chrome answers the close before it has closed
            while "https://notebook.google.com/robots.txt" in await targets(connection):
                pass
        assert "about:blank" in await targets(connection)


async def test_what_the_page_sends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        await there.call("list_notebooks")
        (listed,) = there.service.requests.to("wXbhsf")
        assert listed.host == "notebook.google.com"
        assert listed.headers["origin"] == "https://notebook.google.com"
        assert listed.headers["sec-fetch-site"] == "same-origin"
        assert listed.query["f.sid"].startswith("-")
        assert listed.query["bl"].startswith("boq_labs-tailwind-frontend_")
        assert listed.query["rt"] == "c"
        assert "authuser" not in listed.query
        assert {logged.path for logged in there.service.requests if logged.method == "GET"} == {"/robots.txt", "/"}


async def test_progress_tells_what_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        there.service.service.pace = 0.2
        await there.call("ask_question", question="What is the simulator?", notebook="About")
        assert any(note.startswith("thinking") for note in there.notes)
        assert any(note.startswith("answering") for note in there.notes)


async def test_the_account_of_the_users_tab_is_the_one_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there, open_connection(there.chrome.endpoint) as mine:
        await mine.execute(target.create_target("https://notebook.google.com/?authuser=1"))
        await there.service.requests.wait_for(lambda logged: logged.path == "/" and logged.authuser == "1")
        there.service.service.accounts["1"].add_notebook("Of the second")
        titles = [row["title"] for row in (await there.call("list_notebooks"))["notebooks"]]
        assert titles == ["Of the second"]
        (listed,) = there.service.requests.to("wXbhsf")
        assert listed.query["authuser"] == "1"
        assert (await there.call("list_notebooks"))["notebooks"][0]["url"].endswith("?authuser=1")


def asked_as(account: str, logged: Logged) -> bool:
    return logged.query.get("authuser") == account


async def test_tabs_of_two_accounts_are_ambiguous(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there, open_connection(there.chrome.endpoint) as mine:
        for account in "01":
            await mine.execute(target.create_target(f"https://notebook.google.com/?authuser={account}"))
            await there.service.requests.wait_for(partial(asked_as, account))
        error = await there.fails("list_notebooks")
        assert error.code == "ACCOUNT_AMBIGUOUS"
        assert sorted(choice["authuser"] for choice in error.details["choices"]) == ["0", "1"]
        assert there.sent("wXbhsf") == 0
