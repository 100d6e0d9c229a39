"""Our declarations and the simulator against every recorded exchange, wire path by wire path.

The recordings stand beside the checkout and are not handed out with it; without them these tests are skipped.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from contextlib import aclosing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nlm_cdp.api import RPCS, classify
from nlm_cdp.api.account import account as accounts
from nlm_cdp.api.chat import chat
from nlm_cdp.api.labels import collections
from nlm_cdp.api.notebooks import notebooks, project, writing
from nlm_cdp.api.notes import notes
from nlm_cdp.api.research import research
from nlm_cdp.api.sharing import sharing
from nlm_cdp.api.sources import additions, freshness, sources, uploading
from nlm_cdp.api.sources.rows import Source, SourceMeta
from nlm_cdp.api.studio import blocks, creation, curating, elements, studio
from nlm_cdp.rpc import Rpc
from nlm_cdp.sim import generation
from nlm_cdp.sim.endpoints import Endpoints
from nlm_cdp.sim.faults import Faults
from nlm_cdp.sim.http import Request, Response, Sized
from nlm_cdp.sim.log import Logged
from nlm_cdp.sim.records import OWNER, Conversation, Notebook, Research, Turn
from nlm_cdp.sim.state import Account, Service
from nlm_cdp.wire.batchexecute import CHAT_PATH, GENERIC, PATH, Call, chat_f_req, f_req, form, read_replies, reply_of
from nlm_cdp.wire.chat import Snapshot
from nlm_cdp.wire.document import markdown, quoted
from nlm_cdp.wire.frames import FrameReader
from nlm_cdp.wire.page import APP_HOSTS
from nlm_cdp.wire.pblite import Message, canonical, kind, slots, unclaimed
from nlm_cdp.wire.rows import cells
from nlm_cdp.wire.slots import Slot

RECORDINGS = Path(__file__).parents[2] / "shared" / "wire"
pytestmark = pytest.mark.skipif(not RECORDINGS.is_dir(), reason="no recordings in ../shared/wire beside this checkout")

IDS = {rpc.id for rpc in RPCS}
HOST = APP_HOSTS[0]


class Recorded(NamedTuple):
    name: str
    rpc: str
    params: list[Any]
    source_path: str | None
    body: str

    @property
    def declared(self) -> Rpc[Any, Any]:
        found = classify(self.rpc, self.params)
        assert found is not None
        return found

    @property
    def rows(self) -> list[Any]:
        """The rows of the answer; a stream has many."""
        if self.rpc == chat.ASK.id:
            replies = [reply_of(frame) for frame in FrameReader().feed(self.body)]
            return [reply.row for reply in replies if reply is not None and reply.row]
        reply = read_replies(self.body).of(self.rpc)
        assert reply.status is None or reply.status.code in self.declared.harmless
        return [reply.row if reply.row is not None else []]

    @property
    def refusal(self) -> int | None:
        """The status of an answer that is none."""
        if self.rpc == chat.ASK.id or (status := read_replies(self.body).of(self.rpc).status) is None:
            return None
        return status.code


def recordings() -> list[Recorded]:
    found = []
    for path in sorted(RECORDINGS.glob("*.json")):
        recording = json.loads(path.read_text(encoding="utf-8"))
        for number, exchange in enumerate(recording.get("exchanges") or recording["rpc"]):
            body = exchange.get("response_body") or exchange.get("response_body_reframed")
            calls = exchange.get("calls") or [
                {"rpc_id": rpc, "params": exchange["params"]} for rpc in exchange.get("rpc_ids", [])
            ]
            found += [
                Recorded(f"{path.stem}-{number}", call["rpc_id"], call["params"], exchange.get("source_path"), body)
                for call in calls
                if call["rpc_id"] in IDS
            ]
    return found


def each(found: list[Recorded]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("recorded", found, ids=lambda item: f"{item.rpc}-{item.name}")


every_recording = each(recordings())
every_answer = each([recorded for recorded in recordings() if recorded.refusal is None])
every_refusal = each([recorded for recorded in recordings() if recorded.refusal is not None])


# The declarations


@every_recording
def test_a_request_is_one_declared_call_and_encodes_to_the_same_row(recorded: Recorded) -> None:
    claiming = [rpc for rpc in RPCS if rpc.id == recorded.rpc and claims(rpc, recorded.params)]
    assert len(claiming) == 1
    message = recorded.declared.request.decode(recorded.params)
    assert canonical(message.encode()) == canonical(recorded.params)


def claims(rpc: Rpc[Any, Any], params: list[Any]) -> bool:
    return classify(rpc.id, params) is rpc


@every_answer
def test_an_answer_is_decoded_to_the_last_cell_and_encodes_to_the_same_row(recorded: Recorded) -> None:
    response = recorded.declared.response
    for row in recorded.rows:
        message = response.decode(row)
        assert list(unclaimed(response, row)) == []
        assert message.undecoded == ()
        assert canonical(message.encode()) == canonical(row)


# The simulator


NEWER = {
    ".6.18": "rows of May 2026 and later",
    ".6.19": "rows of May 2026 and later",
    ".6.23": "rows of August 2026",
    ".6.26": "rows of August 2026",
    ".11.5": "the account's tier, since May 2026",
    ".2[].3.9": "the count stands in listings since June 2026",
}
ARTIFACTS = {
    ".4[].3": "the source's type, in rows of 2026",
    ".18": "whether it was read, in rows of 2026",
    ".18.5": "whether it was read, in rows of 2026",
    ".22": "rows of May 2026 and later",
}
JUSTIFIED: dict[str, dict[str, str]] = {
    studio.LIST.name: {f".1[]{path}": why for path, why in ARTIFACTS.items()}
    | {".1[].17.5": "a presentation file, since 2026"},
    studio.GET.name: {f".1{path}": why for path, why in ARTIFACTS.items()},
    curating.RENAME.name: ARTIFACTS,
    creation.QUIZ.name: {".1.4[].3": ARTIFACTS[".4[].3"]},
    creation.FLASHCARDS.name: {".1.4[].3": ARTIFACTS[".4[].3"]},
    creation.REPORT.name: {".1.4[].3": ARTIFACTS[".4[].3"]},
    sharing.STATUS.name: {f".{number}": "rows of May 2026 and later" for number in (4, 7, 8)},
    accounts.SETTINGS.name: {".1.2.5": NEWER[".11.5"]},
    accounts.SET_LANGUAGE.name: {".2.5": NEWER[".11.5"]},
    notes.LIST.name: {f".1[].2.3.{number}": "listings of September 2026" for number in (6, 7)},
    notebooks.GET.name: {f".1{path}": why for path, why in NEWER.items()},
    notebooks.LIST.name: {f".1[]{path}": why for path, why in NEWER.items()},
    research.POLL.name: {".1[].2.1": "the notebook's id, until January 2026", ".1[].5": "the account, in newer rows"},
}
"""Where the simulator knowingly differs from a recording: wire path -> why."""


@every_refusal
async def test_the_simulator_refuses_what_was_refused(recorded: Recorded) -> None:
    got = await simulated(Service(), recorded)
    assert got.refusal == recorded.refusal


@every_answer
async def test_the_simulator_answers_with_the_same_kinds(recorded: Recorded) -> None:
    known = JUSTIFIED.get(recorded.declared.name, {})
    found = await compared(recorded)
    assert [f"{path}: {difference}" for path, difference in found.items() if path not in known] == []


async def test_every_justified_difference_is_still_there() -> None:
    seen: dict[str, set[str]] = defaultdict(set)
    for recorded in recordings():
        if recorded.declared.name in JUSTIFIED and recorded.refusal is None:
            seen[recorded.declared.name] |= set(await compared(recorded))
    assert seen == {name: set(paths) for name, paths in JUSTIFIED.items()}


async def compared(recorded: Recorded) -> dict[str, str]:
    """Wire path -> difference; a stream's first and last rows are also compared by themselves."""
    service = Service()
    mirror(service.owner, recorded)
    answers = (await simulated(service, recorded)).rows
    pairs = [(recorded.rows, answers)]
    if recorded.declared.stream:
        pairs += [(recorded.rows[:1], answers[:1]), (recorded.rows[-1:], answers[-1:])]
    found: dict[str, str] = {}
    for expected, got in pairs:
        found |= differences(recorded.declared.response, expected, got)
    return found


async def simulated(service: Service, recorded: Recorded) -> Recorded:
    """The recorded request with the simulator's answer, without a socket."""
    stream = recorded.declared.stream
    text = chat_f_req(recorded.params) if stream else f_req([Call(recorded.rpc, recorded.params, GENERIC)])
    service.pace = 0
    request = Request(
        "POST",
        HOST,
        CHAT_PATH if stream else PATH,
        {"rt": "c"} if stream else {"rt": "c", "rpcids": recorded.rpc},
        {"origin": f"https://{HOST}", "cookie": f"SID={service.cookie}"},
        form(text, service.owner.token).encode(),
    )
    response = Endpoints(service, Faults()).respond(request, Logged.of(request))
    assert response.status == 200
    return recorded._replace(body=(await whole(response)).decode())


async def whole(response: Response) -> bytes:
    if isinstance(response.body, bytes):
        return response.body
    assert not isinstance(response.body, Sized)
    async with aclosing(response.body) as pieces:
        return b"".join([piece async for piece in pieces])


# The state that a recording was made in


def mirror(account: Account, recorded: Recorded) -> None:
    """Give the simulator what the recorded service held, as far as the exchange tells it."""
    request = recorded.declared.request.decode(recorded.params)
    answer = recorded.declared.response.decode(recorded.rows[-1])
    match request, answer:
        case notebooks.ListNotebooks(), notebooks.Notebooks():
            for row in reversed(answer.notebooks or []):
                restore(account, row)
        case _, notebooks.GotNotebook():
            restore(account, answer.notebook)
        case writing.CopyNotebook(), _:
            account.add_notebook("Original", emoji="📤", notebook_id=request.notebook_id)
        case notebooks.CreateNotebook(), _:
            pass
        case _, project.Notebook():
            restore(account, answer).title = "Before"
        case notebooks.DeleteNotebooks(), _:
            account.add_notebook("Doomed", notebook_id=request.notebook_ids[0])
        case notebooks.GuideNotebook(), notebooks.Guide():
            account.add_source(account.add_notebook("Guided", notebook_id=request.notebook_id), "One", answer.summary)
        case additions.AddSources(), _:
            account.add_notebook("Growing", notebook_id=request.notebook_id)
        case sources.GuideSources(), sources.SourceGuides():
            notebook = account.add_notebook("Guided")
            for source_id, guide in zip(request.source_ids, answer.guides, strict=True):
                account.add_source(notebook, "One", guide.summary, source_id=source_id)
        case writing.ForgetNotebook(), _:
            account.add_notebook("Seen", notebook_id=request.notebook_id)
        case freshness.CheckFreshness(), _:
            restore_sources(account, account.add_notebook("Home"), [Source(plain_id=request.source_id)])
        case research.StartFast() | research.StartDeep() | research.Discover(), _:
            account.add_notebook("Researched", notebook_id=request.notebook_id)
        case research.PollResearch(), research.Tasks():
            notebook = account.add_notebook("Researched", notebook_id=request.notebook_id)
            for task in answer.tasks or []:
                restore_research(account, notebook, task)
        case sources.DeleteSources(), _:
            restore_sources(account, account.add_notebook("Shrinking"), [Source(plain_id=request.source_ids[0])])
        case _, sources.GotSource():
            assert answer.source is not None
            restore_sources(account, account.add_notebook("Home"), [answer.source])
        case _, sources.Loaded():
            assert answer.document is not None
            notebook = account.add_notebook("Home")
            restore_sources(account, notebook, [answer.source], markdown(answer.document.decode()))
        case notes.ListNotes(), notes.Notes():
            restore_notes(account, account.add_notebook("Noted", notebook_id=request.notebook_id), answer.rows or [])
        case notes.CreateNote(), _:
            account.add_notebook("Noted", notebook_id=request.notebook_id)
        case notes.UpdateNote(), notes.GotNote():
            notebook = account.add_notebook("Noted", notebook_id=request.notebook_id)
            restore_notes(account, notebook, [notes.NoteRow(id=answer.note.id, note=answer.note)])
        case notes.DeleteNotes(), _:
            notebook = account.add_notebook("Noted", notebook_id=request.notebook_id)
            account.add_note(notebook, "Doomed", note_id=request.note_ids[0])
        case collections.ListCollections(), collections.Collections():
            for listed in answer.collections or []:
                collection = account.add_label(account.collections, listed.name, listed.emoji, label_id=listed.id)
                collection.members = [
                    account.add_notebook("In it", notebook_id=each).id for each in listed.notebooks or []
                ]
        case creation.Create(), creation.Created():
            restore_artifacts(account, request.notebook_id, [], request.sources)
        case studio.ListArtifacts(), studio.Artifacts():
            restore_artifacts(account, request.notebook_id, answer.artifacts or [])
        case studio.GetArtifact(), studio.GotArtifact():
            restore_artifacts(account, "any", [answer.artifact])
        case curating.RenameArtifact(), blocks.Artifact():
            restore_artifacts(account, "any", [answer])
        case curating.DeleteArtifact() | curating.ExportArtifact(), _:
            doomed = blocks.Artifact(id=request.artifact_id, type=blocks.REPORT, report=blocks.Report(options=REPORT))
            restore_artifacts(account, "any", [doomed])
        case elements.CopyArtifacts(), elements.Copies():
            rows = [copy.artifact.model_copy(update={"id": copy.original_id}) for copy in answer.copies]
            restore_artifacts(account, "any", rows)
            account.add_notebook("Target", notebook_id=request.target_id)
        case creation.DrawMindMap(), _:
            restore_artifacts(account, "any", [], request.sources)
        case chat.ListChats(), chat.Chats():
            notebook = account.add_notebook("Talkative", notebook_id=request.notebook_id)
            notebook.chats = [Conversation(row.id, [turn(account)]) for row in answer.chats]
        case chat.Ask(), Snapshot():
            restore_cited(account, request, answer)
        case sharing.GetShareStatus(), sharing.ShareStatus():
            account.add_notebook("Shared", notebook_id=request.notebook_id).public = answer.link is not None
        case uploading.RegisterFile(), _:
            account.add_notebook("Receiving", notebook_id=request.notebook_id)
        case sharing.SetPublic(), _:
            account.add_notebook("Shared", notebook_id=request.notebook_id)
        case _, accounts.Account():
            account.language = "de"
        case _:
            raise AssertionError(type(request).__name__)


def restore(account: Account, row: project.Notebook) -> Notebook:
    meta = row.meta or project.NotebookMeta()
    notebook = account.add_notebook(row.title, emoji=row.emoji, role=meta.role or OWNER, notebook_id=row.id)
    notebook.shared, notebook.public, notebook.settings = meta.shared, meta.public, row.chat
    notebook.chat_only = row.access.chat_only if row.access else None
    restore_sources(account, notebook, row.sources)
    return notebook


def restore_sources(
    account: Account, notebook: Notebook, rows: list[Source], text: str = "Some text. More text."
) -> None:
    for row in rows:
        meta = row.meta or SourceMeta()
        source = account.add_source(notebook, row.title or "", text, kind=row.type, source_id=row.id)
        source.url, source.youtube, source.docs = (meta.url if not meta.youtube else None), meta.youtube, meta.docs
        source.origin = meta.origin or 1


def restore_notes(account: Account, notebook: Notebook, rows: list[notes.NoteRow]) -> None:
    for row in rows:
        found = row.note or notes.Note(id=row.id)
        meta = found.meta or notes.NoteMeta()
        note = account.add_note(notebook, found.title, found.content or "", note_id=row.id, type=meta.type)
        note.prompt_type, note.sources, note.deleted = meta.prompt_type, meta.sources, row.note is None


REPORT = blocks.ReportOptions(kind="Study Guide", f8=True)


def restore_artifacts(
    account: Account, notebook_id: str, rows: list[blocks.Artifact], sources: list[str] | None = None
) -> None:
    """A notebook with artifacts of the same options from the same sources, finished where the recorded ones are."""
    notebook = account.add_notebook("Studio", notebook_id=notebook_id)
    for source_id in dict.fromkeys(sources or [source.id for row in rows for source in row.sources]):
        account.add_source(notebook, "One", "Some text. More text.", source_id=source_id)
    for row in reversed(rows):
        field = generation.maker_of(row).field
        options = asked(getattr(row, field).options)
        found = [notebook.sources[source.id] for source in row.sources]
        made = generation.make(account, notebook, row.type, options, found, artifact_id=row.id)
        if row.status != 1 or row.created is None:
            generation.finish(account, made)


def asked(options: Any) -> Any:
    """The options of a request for what a row tells."""
    if not isinstance(options, blocks.AppOptions):
        return options
    given: dict[str, Any] = {"prompt": options.prompt, "language": options.language}
    match options.variant:
        case blocks.QUIZ:
            return blocks.QuizOptions(amount=options.quiz, **given)
        case blocks.FLASHCARDS:
            return blocks.FlashcardOptions(amount=options.flashcards, **given)
    return blocks.MindMapOptions(**given)


def restore_research(account: Account, notebook: Notebook, row: research.Task) -> None:
    assert row.job.query is not None
    now = account.service.stamp()
    task = Research(row.id, row.job.query, row.job.mode or research.FAST, now, now, lasts=9)
    task.status, task.looks = row.job.status, account.service.late_research
    notebook.research[task.id] = task


def restore_cited(account: Account, request: chat.Ask, answer: Snapshot) -> None:
    """Each source of a question holds the passages that were quoted from it, and the question's words."""
    passages: dict[str, list[str]] = defaultdict(list)
    for citation in answer.citations:
        passages[citation.decode().passages[0].source_id].append(quoted(citation.row))
    notebook = account.add_notebook("Asked")
    for source_id in request.sources:
        text = "\n".join(["# " + request.question, *passages[source_id]])
        account.add_source(notebook, "Cited", text, kind=8, source_id=source_id)


def turn(account: Account) -> Turn:
    return Turn(account.service.new_id(), account.service.stamp(), question="Why?")


# Kinds by wire path


def differences(message: type[Message], recorded: list[Any], simulated: list[Any]) -> dict[str, str]:
    """Wire paths where the simulator has a kind of value that the recording never has."""
    before, now = kinds(message, recorded), kinds(message, simulated)
    return {
        path: f"simulated {sorted(now.get(path, {'null'}))}, recorded {sorted(before.get(path, {'null'}))}"
        for path in sorted({*before, *now})
        if parent(path) in before and parent(path) in now
        if not now.get(path, {"null"}) <= before.get(path, {"null"})
    }


def parent(path: str) -> str:
    return path[: max(path.rfind("."), path.rfind("["))]


def kinds(message: type[Message], rows: list[Any]) -> dict[str, set[str]]:
    """The kinds of value at each wire path of some rows; items of a list share one path."""
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        seen[""][kind(row)] += 1
        walk(tree(message), row, "", seen)
    found = {path: set(counter) for path, counter in seen.items()}
    for path, counter in seen.items():
        if not path.endswith("[]") and path and counter.total() < seen[parent(path)]["array"]:
            found[path].add("null")
    return found


def tree(message: type[Message]) -> dict[int, Any]:
    """Field number -> the slot there, or the tree below it where a slot's path goes on."""
    root: dict[int, Any] = {}
    for slot in slots(message):
        node = root
        for number in slot.path[:-1]:
            node = node.setdefault(number, {})
        node[slot.path[-1]] = slot
    return root


def walk(claimed: dict[int, Any], row: Any, at: str, seen: dict[str, Counter[str]]) -> None:
    for number, value in cells(row):
        path, found = f"{at}.{number}", claimed.get(number)
        seen[path][kind(value)] += 1
        if type(value) is not list:
            continue
        if isinstance(found, dict):
            walk(found, value, path, seen)
        elif isinstance(found, Slot):
            inside(found, value, found.depth, path, seen)


def inside(slot: Slot, value: list[Any], depth: int, path: str, seen: dict[str, Counter[str]]) -> None:
    if not depth:
        if slot.message is not None:
            walk(tree(slot.message), value, path, seen)
        return
    for item in value:
        here, cell = f"{path}[]", item
        seen[here][kind(cell)] += 1
        for number in slot.each if depth == 1 else ():
            here, cell = f"{here}.{number}", cell[number - 1]
            seen[here][kind(cell)] += 1
        if type(cell) is list:
            inside(slot, cell, depth - 1, here, seen)
