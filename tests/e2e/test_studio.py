"""The studio in a real Chromium: every type from its order to its content, and what is done with it then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nlm_cdp.api.studio.creation import CREATIONS
from nlm_cdp.sim.faults import Fault, Kind, displayable
from tests.e2e.world import World, in_chromium, world

pytestmark = in_chromium


async def ready(there: World, artifact: str) -> dict[str, Any]:
    """The artifact once it is finished: every look at the list brings it a step on."""
    for _ in range(3):
        await there.call("list_artifacts", notebook="About")
    return await there.call("get_artifact", notebook="About", artifact=artifact, wait=True, timeout_s=60)


async def test_every_type_comes_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        await there.call("select_notebook", notebook="About")
        started = {}
        for kind in CREATIONS:
            made = await there.call("generate_artifact", type=kind, instructions="For keepers 🧪")
            assert (made["artifact"]["type"], made["artifact"]["status"]) == (kind, "pending")
            started[made["artifact"]["id"]] = kind
        assert there.sent("R7cb6c") == len(CREATIONS)
        found = {kind: await ready(there, artifact) for artifact, kind in started.items()}
        assert {item["artifact"]["status"] for item in found.values()} == {"ready"}
        assert {kind: item["artifact"]["downloadable"] for kind, item in found.items()} == {
            "audio": ["m4a"],
            "video": ["mp4"],
            "report": ["md"],
            "quiz": ["json", "md", "html"],
            "flashcards": ["json", "md", "html"],
            "mind_map": ["json"],
            "infographic": ["png"],
            "slide_deck": ["pdf", "pptx"],
            "data_table": ["csv"],
        }
        assert "What this simulator is" in found["report"]["content"]
        assert found["report"]["prompt"].endswith("For keepers 🧪")
        assert found["audio"]["prompt"] == "For keepers 🧪"
        assert [option["correct"] for option in found["quiz"]["questions"][0]["options"]] == [True, False, False]
        assert len(found["flashcards"]["cards"]) == 5
        assert found["mind_map"]["tree"]["children"][0]["name"] == "What this simulator is"
        assert found["data_table"]["rows"][0][0] == "Title"
        assert found["data_table"]["footnotes"][0] == "[1] What this simulator is"
        assert all("simulated" in item["artifact"]["title"] for item in found.values())

        listed = (await there.call("list_artifacts"))["artifacts"]
        assert {item["id"]: item["type"] for item in listed} == started
        deck = found["slide_deck"]["artifact"]
        changes = [{"slide": 1, "instruction": "Shorter."}]
        revised = (await there.call("revise_slides", artifact=deck["title"], changes=changes))["artifact"]
        assert (revised["title"], revised["derived_from"]) == (f"{deck['title']} (2)", deck["id"])
        renamed = await there.call("rename_artifact", artifact=deck["id"], title="Ünïcode 🧪")
        assert renamed["artifact"]["title"] == "Ünïcode 🧪"
        report = found["report"]["artifact"]["id"]
        exported = await there.call("export_artifact", artifact=report, to="docs")
        assert exported["url"].startswith("https://docs.google.com/document/d/")
        asked = await there.call("delete_artifact", artifacts=["Ünïcode", report])
        assert (asked["status"], there.sent("V5N4be")) == ("needs_confirmation", 0)
        gone = await there.call("delete_artifact", artifacts=["Ünïcode", report], confirm=True)
        assert gone["deleted"] == [deck["id"], report]
        error = await there.fails("revise_slides", artifact=deck["id"], changes=changes)
        assert error.code == "NOT_FOUND"


async def test_a_failure_is_tried_again_and_a_media_list_may_lag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, monkeypatch) as there:
        await there.call("select_notebook", notebook="About")
        service = there.service.service
        service.generations_fail, service.media_lag = True, 2
        made = (await there.call("generate_artifact", type="audio"))["artifact"]
        failed = (await ready(there, made["id"]))["artifact"]
        assert (failed["status"], "no reason" in failed["reason"]) == ("failed", True)
        service.generations_fail = False
        again = (await there.call("retry_artifact", artifact=made["id"]))["artifact"]
        assert (again["id"], again["status"]) == (made["id"], "pending")
        statuses = [(await there.call("list_artifacts"))["artifacts"][0]["status"] for _ in range(4)]
        assert statuses == ["processing", "processing", "processing", "ready"]


async def test_a_map_as_a_note_and_what_to_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        await there.call("select_notebook", notebook="About")
        drawn = await there.call("generate_artifact", type="mind_map", options={"kept_as": "note"})
        assert (drawn["artifact"]["status"], drawn["artifact"]["note_backed"]) == ("ready", True)
        read = await there.call("get_artifact", artifact=drawn["artifact"]["id"])
        assert read["tree"]["name"] == drawn["artifact"]["title"]
        renamed = await there.call("rename_artifact", artifact=drawn["artifact"]["id"], title="My map")
        assert renamed["artifact"]["title"] == "My map"
        assert (await there.call("delete_artifact", artifacts=["My map"], confirm=True))["status"] == "deleted"
        assert (await there.call("list_artifacts"))["total"] == 0

        reports = (await there.call("suggest_reports"))["reports"]
        assert [report.get("level") for report in reports[:3]] == ["beginner", "intermediate", "advanced"]
        assert "Blog Post" in [report["title"] for report in reports]


async def test_quota_and_a_lost_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as there:
        await there.call("select_notebook", notebook="About")
        there.service.faults.add(Fault(Kind.STATUS, on="R7cb6c", code=8, details=displayable(1)))
        error = await there.fails("generate_artifact", type="video")
        assert (error.code, error.outcome, there.sent("R7cb6c")) == ("RATE_LIMITED", "rejected", 1)
        there.service.faults.add(Fault(Kind.CUT, on="R7cb6c", amount=30))
        error = await there.fails("generate_artifact", type="quiz")
        assert (error.code, error.outcome, there.sent("R7cb6c")) == ("UNCONFIRMED_WRITE", "unknown", 2)
        (seen,) = error.details["seen"]
        assert (await ready(there, seen["id"]))["artifact"]["type"] == "quiz"
