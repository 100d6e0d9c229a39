"""What is really sent to Chrome while every tool is used once: nothing but what the allow-list names, to pages of ours.

The proxy records each command as it passes, so that this holds for the bytes on the socket and not for what the code
says of itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from nlm_cdp.api import TOOLS
from nlm_cdp.browser.bridge import INVOKE
from nlm_cdp.cdp.generated import COMMANDS
from nlm_cdp.cdp.generated.network import Request
from nlm_cdp.errors import NlmError
from nlm_cdp.wire.page import is_app
from tests.e2e.world import in_chromium
from tests.proxy.messages import Way
from tests.proxy.stage import Stage, There, stage

pytestmark = in_chromium

FORBIDDEN = ("Cookie", "Storage", "Cache", "IndexedDB", "Input.", "Browser.close", "Security.", "Tracing.", "activate")
CAPTURE = ("Network.",)
"""Domains that only nlm-capture uses, in a session of its own."""
OF_THE_BROWSER = {f"Target.{name}" for name in ("getTargets", "createTarget", "attachToTarget", "closeTarget")} | {
    "Browser.getVersion"
}
SITE = "https://www.elsewhere.example/private"
NOTES = "# Notes\n\nThe lamp is lit at sunset."
GRANTS = [{"email": "someone@simulated.example", "role": "viewer"}]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Stage]:
    with stage() as held:
        yield held


async def every_tool(there: There, files: Path) -> set[str]:
    """Use each tool once at least, in an order in which each finds what it needs; which were used."""
    used: set[str] = set()

    async def call(tool: str, **arguments: Any) -> dict[str, Any]:
        used.add(tool)
        try:
            return await there.call(tool, **arguments)
        except NlmError as error:
            raise AssertionError(f"{tool}: {error.code} {error.message} {error.details}") from error

    files.mkdir(parents=True, exist_ok=True)
    (files / "notes.md").write_text(NOTES)
    made = (await call("create_notebook", title="Promises"))["notebook"]["id"]
    on = {"notebook": made}
    await call("get_health")
    await call("get_account")
    await call("set_output_language", language="en", confirm=True)
    await call("list_notebooks")
    await call("get_notebook", **on)
    await call("rename_notebook", title="Promises kept", **on)
    await call("select_notebook", **on)

    await call("add_source", content=NOTES, type="text", title="Lamps", wait=True, **on)
    await call("add_source", content="notes.md", type="file", title="File", wait=True, **on)
    page = await call("add_source", content="https://page.example/one", wait=True, **on)
    await call("list_sources", **on)
    await call("get_source_content", source="Lamps", **on)
    await call("get_source_guide", source="Lamps", **on)
    await call("search_sources", query="sunset", **on)
    await call("rename_source", source="Lamps", title="Lights", **on)
    await call("refresh_source", source=page["sources"][0]["id"], **on)
    await call("append_to_source", source="What this", text="More.", notebook="About")

    await call("edit_label", name="Kept", add_sources=["Lights"], **on)
    await call("list_labels", **on)
    await call("organize_sources", **on)
    await call("delete_labels", labels=["Kept"], confirm=True, **on)

    await call("configure_chat", goal="learning_guide", **on)
    await call("suggest_questions", **on)
    answer = await call("ask_question", question="When is the lamp lit?", **on)
    session = answer["session_id"]
    await call("get_conversation", **on)
    await call("save_answer", session_id=session, title="Saved")
    started = await call("ask_question", question="And put out?", background=True, **on)
    await call("get_answer", answer_id=started["answer_id"], wait=True)
    there.service.service.pace = 3600
    started = await call("ask_question", question="And then?", background=True, **on)
    await there.service.requests.wait_for(lambda logged: "And then?" in str(logged.params))
    await call("cancel_answer", answer_id=started["answer_id"])
    there.service.service.pace = 0.0
    await call("list_sessions")
    await call("reset_session", session_id=session)
    await call("close_session", session_id=session)
    await call("delete_conversation", confirm=True, **on)

    await call("create_note", title="Note", content="Text", **on)
    await call("list_notes", **on)
    await call("get_note", note="Note", **on)
    await call("update_note", note="Note", title="Other", **on)
    await call("delete_note", notes=["Other"], confirm=True, **on)

    await call("suggest_reports", **on)
    audio = await call("generate_artifact", type="audio", wait=True, **on)
    slides = await call("generate_artifact", type="slide_deck", wait=True, **on)
    report = await call("generate_artifact", type="report", wait=True, **on)
    there.service.service.generations_fail = True
    failed = await call("generate_artifact", type="quiz", wait=True, **on)
    there.service.service.generations_fail = False
    await call("list_artifacts", **on)
    await call("get_artifact", artifact=report["artifact"]["id"], **on)
    await call("download_artifact", artifact=audio["artifact"]["id"], **on)
    await call("revise_slides", artifact=slides["artifact"]["id"], changes=[{"slide": 1, "instruction": "less"}], **on)
    await call("rename_artifact", artifact=report["artifact"]["id"], title="Report", **on)
    await call("export_artifact", artifact=report["artifact"]["id"], to="docs", **on)
    await call("retry_artifact", artifact=failed["artifact"]["id"], **on)
    await call("delete_artifact", artifacts=[report["artifact"]["id"]], confirm=True, **on)

    there.service.service.late_research = 0
    research = (await call("start_research", query="lamps", **on))["research_id"]
    await call("get_research", research_id=research, wait=True, **on)
    await call("import_research", research_id=research, sources=[1], **on)
    deep = (await call("start_research", query="fog", mode="deep", **on))["research_id"]
    await call("cancel_research", research_id=deep, **on)

    await call("get_share_status", **on)
    await call("set_sharing", public=True, confirm=True, **on)
    await call("share_notebook", grants=GRANTS, confirm=True, **on)
    await call("unshare_notebook", emails=[GRANTS[0]["email"]], confirm=True, **on)

    url = f"https://notebook.google.com/notebook/{made}"
    await call("add_notebook", url=url, name="Manual", description="", topics=[])
    await call("search_notebooks", query="man")
    await call("update_notebook", notebook="Manual", name="Book")
    await call("get_library_stats")
    await call("remove_notebook", notebook="Book", confirm=True)

    await call("delete_source", sources=["Lights"], confirm=True, **on)
    copied = await call("copy_notebook", title="Copy", **on)
    await call("forget_notebook", notebook=copied["notebook"]["id"])
    await call("delete_notebook", confirm=True, **on)
    await call("setup_auth")
    await call("re_auth", confirm=True)
    await call("cleanup_data", confirm=True)
    return used


def test_every_tool_sends_only_what_is_allowed_and_only_to_pages_of_ours(
    chromium: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path / "data"))
    root = tmp_path / "files"

    async def scenario(there: There) -> None:
        proxy, control = there.proxy, there.proxy.control
        theirs = {}
        for address in (SITE, "https://notebook.google.com/"):
            theirs[(await control.ask("Target.createTarget", {"url": address}))["targetId"]] = address
        await there.service.requests.wait_for(lambda logged: logged.path == "/")
        there.pages |= set(theirs)

        used = await every_tool(there, root)
        assert used == set(TOOLS)
        await there.session.close()

        sent = {said.method for said in proxy.commands}
        assert sent <= set(COMMANDS)
        assert [method for method in sent if any(word in method for word in (*FORBIDDEN, *CAPTURE))] == []
        assert len(proxy.sockets) == 1

        ours = {said.message["result"]["targetId"] for said in proxy.said if created(said)}
        hidden = {
            said.message["result"]["targetId"] for said in proxy.said if created(said) and said.params.get("hidden")
        }
        attached = [said.target for said in proxy.sent("Target.attachToTarget")]
        closed = [said.target for said in proxy.sent("Target.closeTarget")]
        assert set(attached) <= hidden
        assert set(closed) <= hidden
        assert sorted(map(str, set(closed))) == sorted(hidden)
        assert not set(theirs) & {*map(str, attached), *map(str, closed)}
        for said in proxy.commands:
            assert said.session is None or said.target in hidden, said.method
            assert said.session is not None or said.method in OF_THE_BROWSER
        # the tabs that were opened for the user are left to them
        tabs = ours - hidden
        there.pages |= tabs
        assert {said.params["url"] for said in proxy.sent("Target.createTarget") if not said.params.get("hidden")} <= {
            address for address in proxy.urls.values() if is_app(address)
        }
        await control.settle(there.pages)
        assert dict(await control.targets()).keys() >= set(theirs)

        nothing_secret_comes_back(there)

    def created(said: Any) -> bool:
        return said.way is Way.REPLY and said.method == "Target.createTarget"

    def nothing_secret_comes_back(there: There) -> None:
        """No token and no cookie crosses the socket, and the user's other page is named in the list of targets only.

        One event is beyond our say: Chrome shows a download's own headers at each hop. They are never read.
        """
        service = there.service.service
        secrets = {service.cookie, *(account.token for account in service.accounts.values())}
        secrets |= {quote(secret) for secret in secrets}
        for said in there.proxy.said:
            text = str(said.message)
            if said.method != "Fetch.requestPaused":
                assert not any(secret in text for secret in secrets), said.method
            if said.method != "Target.getTargets":
                assert "elsewhere.example" not in text, said.method
        assert "headers" not in {field.name for field in fields(Request)}

    chromium.play(scenario, files_root=root, within=100)


def test_what_runs_in_the_page_is_given_as_data(
    chromium: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path / "data"))

    async def scenario(there: There) -> None:
        await there.call("create_notebook", title="'); alert(1); ('")
        await there.call("ask_question", question="`${1}`", notebook="About")
        functions = {said.params["functionDeclaration"] for said in there.proxy.sent("Runtime.callFunctionOn")}
        assert there.proxy.sent("Runtime.evaluate") == []
        assert INVOKE in functions
        assert len(functions) == 2
        assert not any("alert(1)" in source or "${1}" in source for source in functions)

    chromium.play(scenario)
