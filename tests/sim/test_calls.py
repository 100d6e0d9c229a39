"""Every declared call: its happy path, and the service's odd ways."""

from __future__ import annotations

from typing import Any

import pytest

from nlm_cdp.api import RPCS
from nlm_cdp.api.common import SHORT, Provenance, RequestContext
from nlm_cdp.api.notebooks import notebooks, project
from nlm_cdp.api.sources import additions, sources
from nlm_cdp.sim.calls import HANDLERS
from nlm_cdp.sim.records import VIEWER
from nlm_cdp.wire.batchexecute import Call, Replies, read_replies
from nlm_cdp.wire.document import Document, markdown, plain_text, units, wire_text
from nlm_cdp.wire.frames import FrameReader
from nlm_cdp.wire.pblite import unclaimed

pytestmark = pytest.mark.realtime


@pytest.mark.parametrize("rpc", RPCS, ids=lambda rpc: rpc.name)
async def test_every_declared_call_has_a_handler(rpc) -> None:
    assert HANDLERS[rpc.name].rpc is rpc


async def test_nothing_is_handled_that_is_not_declared() -> None:
    assert set(HANDLERS) == {rpc.name for rpc in RPCS}


# Requests


async def test_params_that_no_call_claims_are_invalid_and_an_unknown_id_is_no_reply(running) -> None:
    async with running() as (_, client):
        got = await client.post(Call("wXbhsf", [1, 2, 3]))
        status = read_replies(got.body).of("wXbhsf").status
        assert status is not None
        assert status.code == 3
        unknown = await client.post(Call("ZZZZZZ", []))
        assert unknown.status == 400
        assert all(reply.rpc != "ZZZZZZ" for reply in read_replies(unknown.body).replies)


async def test_a_batch_is_answered_call_by_call_with_its_discriminators(running) -> None:
    async with running() as (sim, client):
        notebook = next(iter(sim.service.owner.notebooks))
        got = await client.post(
            Call("rLM1Ne", notebooks.GetNotebook(notebook_id=notebook).encode(), "1"),
            Call("wXbhsf", notebooks.ListNotebooks().encode(), "2"),
            Call("rLM1Ne", notebooks.GetNotebook(notebook_id="nowhere").encode(), "3"),
        )
        replies = read_replies(got.body)
        assert [reply.discriminator for reply in replies.replies] == ["1", "2", "3"]
        assert replies.of("rLM1Ne", "1").row
        refused = replies.of("rLM1Ne", "3").status
        assert refused is not None
        assert refused.code == 5


async def test_bodies_are_framed_and_labelled_as_recorded(running) -> None:
    async with running() as (sim, client):
        small = await client.post(Call("CCqFvf", notebooks.CreateNotebook(title="é🧪").encode()))
        for number in range(10):
            sim.service.owner.add_notebook(f"Notebook {number}")
        large = await client.post(Call("wXbhsf", notebooks.ListNotebooks().encode()))
        for got, chunks in ((small, 2), (large, 3)):
            assert got.header("content-type") == "application/json; charset=utf-8"
            assert got.header("content-disposition") == (
                "attachment; filename=\"response.bin\"; filename*=UTF-8''response.bin"
            )
            assert got.header("content-length") == str(len(got.body))
            assert read_replies(got.body).faults == []
            assert sum(line.isdigit() for line in got.text.split("\n")) == chunks
        assert [frame[0] for frame in FrameReader().feed(small.body)] == ["wrb.fr", "di", "af.httprm", "e"]
        lengths = small.text.split("\n")
        assert int(lengths[2]) == units(lengths[3]) + 2


async def test_half_a_surrogate_pair_stays_valid_utf_8(running) -> None:
    async with running() as (sim, client):
        sim.service.owner.add_notebook("bad \ud83d end")
        got = await client.post(Call("wXbhsf", notebooks.ListNotebooks().encode()))
        assert "\\\\ud83d end" in got.text
        assert notebooks.Notebooks.decode(read_replies(got.body).of("wXbhsf").row)


# Notebooks


async def test_listing_comes_most_recently_viewed_first(running) -> None:
    async with running(seed=False) as (sim, client):
        assert (await client.reply(notebooks.LIST, notebooks.ListNotebooks())).row == []
        first, second = (sim.service.owner.add_notebook(title) for title in ("First", "Second"))
        listed = await client.call(notebooks.LIST, notebooks.ListNotebooks())
        assert [row.id for row in listed.notebooks] == [second.id, first.id]
        await client.call(notebooks.GET, notebooks.GetNotebook(notebook_id=first.id))
        listed = await client.call(notebooks.LIST, notebooks.ListNotebooks())
        assert [row.id for row in listed.notebooks] == [first.id, second.id]


async def test_rows_have_their_constants_in_place(running) -> None:
    async with running(seed=False) as (sim, client):
        notebook = sim.service.owner.add_notebook("Rows")
        row = (await client.reply(notebooks.GET, notebooks.GetNotebook(notebook_id=notebook.id))).row[0]
        viewed, created = row[5][5], row[5][8]
        assert row[:5] == ["Rows", None, notebook.id, "", None]
        assert row[5] == [
            *[1, False, True, None, None, viewed, 1, False, created, None, None, None, False, True, 1, False],
            *[None, True, 1, None, None, None, False, None, None, 1],
        ]
        assert row[6:] == [None, None, None, [True, True, True], [6, 500, 300, 500000, 2]]
        assert viewed > created
        notebook.role, notebook.chat_only = VIEWER, True
        row = (await client.reply(notebooks.GET, notebooks.GetNotebook(notebook_id=notebook.id))).row[0]
        assert row[5][0] == 3
        assert row[8:10] == [[True], [True, True, False]]


async def test_create_answers_a_short_row_with_the_chat_that_was_made(running) -> None:
    async with running(seed=False) as (sim, client):
        row = (await client.reply(notebooks.CREATE, notebooks.CreateNotebook(title="New"))).row
        made = sim.service.owner.notebooks[row[2]]
        meta = [1, False, True, None, None, None, 1, None, None, None, None, None, False]
        assert row == ["New", None, made.id, None, None, meta, None, None, None, None, None, [[made.chats[0].id]]]


async def test_create_is_refused_at_the_limit_and_for_an_outdated_context(running) -> None:
    async with running(seed=False) as (sim, client):
        owner = sim.service.owner
        owner.limits = owner.limits.model_copy(update={"notebooks": 1})
        owner.add_notebook("Read only", role=VIEWER)
        await client.call(notebooks.CREATE, notebooks.CreateNotebook(title="One"))
        assert await client.refusal(notebooks.CREATE, notebooks.CreateNotebook(title="Two")) == 3
        assert len(owner.notebooks) == 2
        owner.limits = owner.limits.model_copy(update={"notebooks": 10})
        sim.service.migrated = True
        january = notebooks.CreateNotebook(title="Old", context=SHORT, old_provenance=Provenance(flags=None))
        assert await client.refusal(notebooks.CREATE, january) == 3
        other = notebooks.CreateNotebook(title="Still sent", context=SHORT, old_provenance=Provenance())
        assert (await client.call(notebooks.CREATE, other)).title == "Still sent"
        assert (await client.call(notebooks.CREATE, notebooks.CreateNotebook(title="Now"))).title == "Now"


async def test_rename_echoes_six_cells_without_sources(running) -> None:
    async with running() as (sim, client):
        (notebook,) = sim.service.owner.notebooks.values()
        change = notebooks.Rename(title="Renamed", emoji="📗")
        row = (
            await client.reply(notebooks.RENAME, notebooks.RenameNotebook(notebook_id=notebook.id, change=change))
        ).row
        assert [*row[:5], len(row)] == ["Renamed", None, notebook.id, "📗", None, 6]
        assert len(row[5]) == 16
        assert row[5][5] is None
        assert (notebook.title, notebook.emoji) == ("Renamed", "📗")
        only = notebooks.RenameNotebook(notebook_id=notebook.id, change=notebooks.Rename(emoji=""))
        assert (await client.call(notebooks.RENAME, only)).title == "Renamed"
        assert notebook.emoji == ""


async def test_chat_settings_keep_the_prompt_when_the_goal_goes_back(running) -> None:
    async with running(seed=False) as (sim, client):
        notebook = sim.service.owner.add_notebook("Chat")

        async def configured(goal: project.Goal) -> list[Any]:
            settings = project.ChatSettings(goal=goal, length=1)
            request = notebooks.ConfigureChat(notebook_id=notebook.id, settings=settings)
            cells: list[Any] = (await client.reply(notebooks.CONFIGURE_CHAT, request)).row[6:]
            return cells

        assert await configured(project.Goal(code=2, prompt="Be brief.")) == [
            None,
            [[2, "Be brief."], [1]],
            [False, ""],
        ]
        assert await configured(project.Goal(code=1)) == [None, [[1, "Be brief."], [1]], [False, ""]]
        row = (await client.reply(notebooks.GET, notebooks.GetNotebook(notebook_id=notebook.id))).row[0]
        assert row[7] == [[1, "Be brief."], [1]]


async def test_view_level_echo_depends_on_sharing(running) -> None:
    async with running(seed=False) as (sim, client):
        notebook = sim.service.owner.add_notebook("Shared")
        on = notebooks.SetViewLevel(notebook_id=notebook.id, chat_only=1)
        off = notebooks.SetViewLevel(notebook_id=notebook.id, chat_only=0)
        assert (await client.reply(notebooks.SET_VIEW_LEVEL, on)).row[8] == [True]
        assert (await client.reply(notebooks.SET_VIEW_LEVEL, off)).row[8] == [False]
        notebook.shared = True
        assert (await client.reply(notebooks.SET_VIEW_LEVEL, on)).row[8] == [True, ""]


async def test_delete_takes_one_notebook(running) -> None:
    async with running(seed=False) as (sim, client):
        first, second = (sim.service.owner.add_notebook(title) for title in ("One", "Two"))
        both = notebooks.DeleteNotebooks(notebook_ids=[first.id, second.id])
        assert await client.refusal(notebooks.DELETE, both) == 3
        assert (await client.reply(notebooks.DELETE, notebooks.DeleteNotebooks(notebook_ids=[first.id]))).row == []
        assert list(sim.service.owner.notebooks) == [second.id]


async def test_unknown_ids_and_missing_rights(running) -> None:
    async with running() as (sim, client):
        notebook = next(iter(sim.service.owner.notebooks.values()))
        source = next(iter(notebook.sources))
        change = notebooks.Rename(title="x")
        writes = {
            notebooks.RENAME: lambda of: notebooks.RenameNotebook(notebook_id=of, change=change),
            notebooks.CONFIGURE_CHAT: lambda of: notebooks.ConfigureChat(
                notebook_id=of, settings=project.ChatSettings(length=1)
            ),
            notebooks.SET_VIEW_LEVEL: lambda of: notebooks.SetViewLevel(notebook_id=of, chat_only=1),
            notebooks.DELETE: lambda of: notebooks.DeleteNotebooks(notebook_ids=[of]),
            additions.ADD: lambda of: additions.AddSources(
                contents=[additions.Content(web="https://x.example")], notebook_id=of
            ),
        }
        about_sources = {
            sources.DELETE: lambda of: sources.DeleteSources(source_ids=[of]),
            sources.RENAME: lambda of: sources.RenameSource(source_id=of, title="x"),
        }
        notebook.role = VIEWER
        for rpc, made in writes.items():
            assert await client.refusal(rpc, made("nowhere")) == 5
            assert await client.refusal(rpc, made(notebook.id)) == 7
        for rpc, made in about_sources.items():
            assert await client.refusal(rpc, made("nowhere")) == 5
            assert await client.refusal(rpc, made(source)) == 7
        for rpc, request in (
            (notebooks.GET, notebooks.GetNotebook(notebook_id="nowhere")),
            (notebooks.GUIDE, notebooks.GuideNotebook(notebook_id="nowhere")),
            (sources.LOAD, sources.LoadSource(source_id="nowhere")),
            (sources.GUIDE, sources.GuideSources(source_ids=["nowhere"])),
        ):
            assert await client.refusal(rpc, request) == 5


async def test_accounts_do_not_see_each_other(running) -> None:
    async with running() as (sim, client):
        notebook = next(iter(sim.service.owner.notebooks))
        client.authuser = "1"
        await client.sign_in()
        assert await client.refusal(notebooks.GET, notebooks.GetNotebook(notebook_id=notebook)) == 5
        assert [logged.authuser for logged in sim.requests.to("rLM1Ne")] == ["1"]


async def test_the_notebook_guide_is_made_of_the_sources(running) -> None:
    async with running() as (sim, client):
        notebook = next(iter(sim.service.owner.notebooks.values()))
        guide = await client.call(notebooks.GUIDE, notebooks.GuideNotebook(notebook_id=notebook.id))
        assert guide.summary.startswith("(Simulated guide")
        assert "This service is a simulator." in guide.summary
        assert len(guide.topics) == len(guide.chips) == 3
        assert all(topic.question in topic.prompt for topic in guide.topics)
        assert {chip.kind for chip in guide.chips} == {9}
        empty = sim.service.owner.add_notebook("Empty")
        reply = await client.reply(notebooks.GUIDE, notebooks.GuideNotebook(notebook_id=empty.id))
        assert (reply.row, reply.status) == (None, None)


# Sources


def add_request(notebook_id: str, *contents: additions.Content) -> additions.AddSources:
    return additions.AddSources(contents=list(contents), notebook_id=notebook_id)


def web(url: str) -> additions.Content:
    return additions.Content(web=url)


def text(title: str, content: str) -> additions.Content:
    return additions.Content(text=additions.Text(title=title, content=content), text_type=additions.TEXT_CONTENT)


async def test_adding_a_text_a_page_a_video_and_a_drive_file(running) -> None:
    async with running(seed=False) as (sim, client):
        notebook = sim.service.owner.add_notebook("Adding")
        drive = additions.DriveFile(
            file_id="drive-id-1", mime="application/vnd.google-apps.document", title="Sent title"
        )
        request = add_request(
            notebook.id,
            text("Pasted", "One line.\nAnother line."),
            web("https://en.wikipedia.org/wiki/Artificial_intelligence"),
            additions.Content(video="https://youtu.be/JMUxmLyrhSk"),
            additions.Content(drive=drive),
        )
        added = (await client.call(additions.ADD, request)).sources
        assert [row.type for row in added] == [4, 5, 9, 1]
        assert [row.status for row in added] == [2, 2, 2, 2]
        assert added[0].title == "Pasted"
        assert "intelligence" in added[1].title
        assert "simulated" in added[1].title
        assert added[1].meta.url == "https://en.wikipedia.org/wiki/Artificial_intelligence"
        assert added[2].meta.youtube.video_id == "JMUxmLyrhSk"
        assert added[3].title != "Sent title"
        assert added[3].meta.docs.document_id == "drive-id-1"
        assert added[0].meta.words == 4
        got = await client.call(notebooks.GET, notebooks.GetNotebook(notebook_id=notebook.id))
        assert got.notebook.sources == added


async def test_pages_that_cannot_be_read_are_left_out_unless_none_can(running) -> None:
    async with running(seed=False) as (sim, client):
        notebook = sim.service.owner.add_notebook("Failing")
        bad = [
            web("https://fail.example/x"),
            web("https://nowhere.invalid/y"),
            additions.Content(video="https://a.example"),
        ]
        assert await client.refusal(additions.ADD, add_request(notebook.id, *bad)) == 3
        assert notebook.sources == {}
        some = add_request(notebook.id, bad[0], web("https://good.example/a"), bad[1], web("https://good.example/a"))
        added = (await client.call(additions.ADD, some)).sources
        assert [row.url for row in added] == ["https://good.example/a"] * 2
        assert added[0].id != added[1].id


async def test_a_slow_page_is_processing_for_two_looks(running) -> None:
    async with running(seed=False) as (sim, client):
        notebook = sim.service.owner.add_notebook("Slow")
        url = "https://slow.example/long-report"
        (row,) = (await client.call(additions.ADD, add_request(notebook.id, web(url)))).sources
        assert (row.status, row.title, row.meta.words) == (1, url, None)
        loaded = await client.call(sources.LOAD, sources.LoadSource(source_id=row.id))
        assert loaded.document is None
        guides = await client.call(sources.GUIDE, sources.GuideSources(source_ids=[row.id]))
        assert guides.guides == []
        seen = []
        for _ in range(4):
            got = await client.call(notebooks.GET, notebooks.GetNotebook(notebook_id=notebook.id))
            seen.append((got.notebook.sources[0].status, got.notebook.sources[0].title == url))
        assert seen == [(1, True), (1, True), (2, False), (2, False)]
        assert (await client.call(sources.LOAD, sources.LoadSource(source_id=row.id))).document is not None


async def test_a_name_given_to_a_slow_page_stays(running) -> None:
    async with running(seed=False) as (sim, client):
        notebook = sim.service.owner.add_notebook("Slow")
        (row,) = (await client.call(additions.ADD, add_request(notebook.id, web("https://slow.example/x")))).sources
        await client.call(sources.RENAME, sources.RenameSource(source_id=row.id, title="Mine"))
        for _ in range(3):
            got = await client.call(notebooks.GET, notebooks.GetNotebook(notebook_id=notebook.id))
        assert (got.notebook.sources[0].status, got.notebook.sources[0].title) == (2, "Mine")


async def test_adding_over_the_limit_or_with_an_outdated_context_adds_nothing(running) -> None:
    async with running(seed=False) as (sim, client):
        owner = sim.service.owner
        notebook = owner.add_notebook("Full")
        owner.limits = owner.limits.model_copy(update={"sources": 2})
        three = add_request(notebook.id, *[web(f"https://a.example/{number}") for number in range(3)])
        assert await client.refusal(additions.ADD, three) == 3
        sim.service.migrated = True
        one = web("https://a.example/1")
        old = additions.AddSources(contents=[one], notebook_id=notebook.id, context=SHORT)
        assert await client.refusal(additions.ADD, old) == 3
        assert notebook.sources == {}
        now = additions.AddSources(contents=[one], notebook_id=notebook.id, context=RequestContext())
        assert len((await client.call(additions.ADD, now)).sources) == 1


async def test_a_drive_file_of_another_kind_is_answered_with_nothing(running) -> None:
    async with running(seed=False) as (sim, client):
        notebook = sim.service.owner.add_notebook("Drive")
        odd = additions.Content(drive=additions.DriveFile(file_id="x", mime="video/mp4", title="x"))
        reply = await client.reply(additions.ADD, add_request(notebook.id, odd))
        assert (reply.row, reply.status) == (None, None)
        assert notebook.sources == {}


MARKED = """# Title 🧪
A line with **bold**, `code` and [a link](https://x.example/).

## Part
- one
  - nested
- two
3. three
> said
| A | B |
| --- | --- |
| 1 | 🧪 |
"""


async def test_a_document_has_structure_and_contiguous_offsets(running) -> None:
    async with running(seed=False) as (sim, client):
        owner = sim.service.owner
        source = owner.add_source(owner.add_notebook("Doc"), "Marked", MARKED, kind=8)
        reply = await client.reply(sources.LOAD, sources.LoadSource(source_id=source.id))
        assert list(unclaimed(sources.Loaded, reply.row)) == []
        row = reply.row[3]
        document = Document.decode(row)
        at = 0
        for element in document.body.elements:
            assert element.start == at
            at = element.end
            for run in element.paragraph.texts if element.paragraph else ():
                assert run.end - run.start == units(run.text or "")
        assert at == units(wire_text(row))
        styles = [element.paragraph.style for element in document.body.elements if element.paragraph]
        assert styles == [4, 1, 5, 1, 1, 1, 1, 1]
        assert markdown(document).startswith(
            "# Title 🧪\n\nA line with **bold**, `code` and [a link](https://x.example/).\n\n## Part\n\n"
            "- one\n    - nested\n- two\n3. three\n\n> said\n\n| A | B |\n| --- | --- |\n| 1 | 🧪 |"
        )


async def test_a_pasted_text_keeps_its_characters(running) -> None:
    async with running(seed=False) as (sim, client):
        notebook = sim.service.owner.add_notebook("Pasted")
        content = '{"k": 1, "b": "**not bold**"}\n\n| not | a table |\r\nlast `line`'
        (row,) = (await client.call(additions.ADD, add_request(notebook.id, text("Raw", content)))).sources
        loaded = await client.call(sources.LOAD, sources.LoadSource(source_id=row.id))
        assert plain_text(loaded.document.row) == '{"k": 1, "b": "**not bold**"}\n| not | a table |\nlast `line`'


async def test_html_is_loaded_in_form_3(running) -> None:
    async with running() as (sim, client):
        source = next(iter(next(iter(sim.service.owner.notebooks.values())).sources.values()))
        loaded = await client.call(sources.LOAD, sources.LoadSource(source_id=source.id, form=[3], form2=[3]))
        assert loaded.html.startswith("<p>This service is a simulator.")
        assert loaded.document is None


async def test_source_guide_rename_and_delete(running) -> None:
    async with running() as (sim, client):
        notebook = next(iter(sim.service.owner.notebooks.values()))
        first, second, _ = notebook.sources.values()
        (guide,) = (await client.call(sources.GUIDE, sources.GuideSources(source_ids=[first.id]))).guides
        assert guide.summary.startswith("(Simulated guide")
        assert "This service is a simulator." in guide.summary
        assert len(guide.keywords) == 5
        renamed = await client.call(sources.RENAME, sources.RenameSource(source_id=first.id, title="Other"))
        assert (renamed.source.id, renamed.source.title) == (first.id, "Other")
        gone = sources.DeleteSources(source_ids=[first.id, "nowhere"])
        assert await client.refusal(sources.DELETE, gone) == 5
        assert len(notebook.sources) == 3
        both = sources.DeleteSources(source_ids=[first.id, second.id, first.id])
        assert (await client.reply(sources.DELETE, both)).row == []
        assert len(notebook.sources) == 1


async def test_a_notebook_of_three_hundred_sources(running) -> None:
    async with running(seed=False) as (sim, client):
        owner = sim.service.owner
        notebook = owner.add_notebook("Many")
        for number in range(300):
            owner.add_source(notebook, f"Source {number}", "Text.")
        got = await client.call(notebooks.GET, notebooks.GetNotebook(notebook_id=notebook.id))
        assert [row.title for row in got.notebook.sources] == [f"Source {number}" for number in range(300)]


async def test_a_text_of_many_megabytes_is_streamed_with_true_counts(running) -> None:
    async with running(seed=False) as (sim, client):
        owner = sim.service.owner
        source = owner.add_source(owner.add_notebook("Large"), "Large", filler=3_000_001)
        got = await client.post(Call("hizoJc", sources.LoadSource(source_id=source.id).encode()))
        assert got.header("content-length") == str(len(got.body))
        found: Replies = read_replies(got.body)
        assert found.faults == []
        document = sources.Loaded.decode(found.of("hizoJc").row).document
        assert document is not None
        assert len(wire_text(document.row)) == 3_000_001
        assert document.decode().body.elements[-1].end == 3_000_001
        assert wire_text(document.row).startswith(source.wire_text)


async def test_time_and_ids_can_be_fixed(running) -> None:
    seen = []
    for _ in range(2):
        async with running() as (sim, client):
            sim.service.now = lambda: 2_000_000_000.0
            notebook = await client.call(notebooks.CREATE, notebooks.CreateNotebook(title="Same"))
            got = await client.call(notebooks.GET, notebooks.GetNotebook(notebook_id=notebook.id))
            assert got.notebook.meta.created.seconds == 2_000_000_000
            assert got.notebook.meta.viewed.nanos > got.notebook.meta.created.nanos
            seen.append((notebook.id, notebook.chats))
    assert seen[0] == seen[1]
