"""The local library: notebooks under names of the user's own. Everything here is local; a name works as a reference."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field

from nlm_cdp.api.common import NoArgs, Timestamp, refuse
from nlm_cdp.api.references import Candidate, resolve
from nlm_cdp.errors import NotFound
from nlm_cdp.rpc import Args, Effect, Result, Scope, ToolContext, tool
from nlm_cdp.wire import page

if TYPE_CHECKING:
    from nlm_cdp.local.library import LibraryEntry

TOP = 5
LONGEST = 200

# Results


class EntryInfo(Result):
    """`use_count`: the questions asked of it here."""

    id: str
    name: str
    url: str
    description: str
    topics: list[str]
    content_types: list[str]
    use_cases: list[str]
    tags: list[str]
    added: str | None
    use_count: int
    last_used: str | None = None
    active: bool | None = None


class EntryResult(Result):
    entry: EntryInfo


class EntryList(Result):
    total: int
    entries: list[EntryInfo]


class Removed(Result):
    """`needs_confirmation`: nothing was changed; `would` says what would happen."""

    status: Literal["removed", "needs_confirmation"]
    notebook_id: str
    name: str
    would: str | None = None


class TagCount(Result):
    tag: str
    notebooks: int


class Used(Result):
    id: str
    name: str
    use_count: int
    last_used: str | None = None


class LibraryStats(Result):
    notebooks: int
    questions: int
    tags: list[TagCount]
    top_used: list[Used]


def info(entry: LibraryEntry, active: str | None) -> EntryInfo:
    return EntryInfo(
        id=entry.notebook_id,
        name=entry.name,
        url=entry.url,
        description=entry.description,
        topics=entry.topics,
        content_types=entry.content_types,
        use_cases=entry.use_cases,
        tags=entry.tags,
        added=iso(entry.added),
        use_count=entry.use_count,
        last_used=iso(entry.last_used),
        active=True if entry.notebook_id == active else None,
    )


def iso(seconds: float | None) -> str | None:
    return None if seconds is None else Timestamp(seconds=int(seconds)).iso


async def entry_of(ctx: ToolContext, reference: str) -> LibraryEntry:
    """The entry that an id, a notebook's URL, a name or a unique prefix means."""
    entries = {entry.notebook_id: entry for entry in await ctx.store.library.entries()}
    candidates = [Candidate(entry.notebook_id, entry.name) for entry in entries.values()]
    try:
        return entries[resolve(page.notebook_id(reference) or reference, candidates, "notebook")]
    except NotFound:
        raise NotFound(
            "the library has no notebook of this id, name or prefix",
            hint="search_notebooks shows what is there.",
            details={"notebook": reference},
        ) from None


def located(url: str) -> dict[str, str]:
    """The notebook of a share link, and the link without what names an account."""
    notebook = page.notebook_id(url)
    if notebook is None:
        raise refuse("this URL is not a notebook of the app", "Use the notebook's share link.")
    return {"notebook_id": notebook, "url": page.notebook_url(page.origin(url), notebook)}


# Tools


def name(text: str) -> str:
    """The name without the spaces around it."""
    if not 0 < len(text.strip()) <= LONGEST:
        raise ValueError(f"a name has 1 to {LONGEST} characters")
    return text.strip()


Name = Annotated[str, AfterValidator(name)]


class AddArgs(Args):
    url: str = Field(description="share link")
    name: Name
    description: str
    topics: list[str]
    content_types: list[str] = []
    use_cases: list[str] = Field([], description="when to consult it")
    tags: list[str] = []


@tool(scope=Scope.WRITE, effect=Effect.CREATE)
async def add_notebook(ctx: ToolContext, args: AddArgs) -> EntryResult:
    """Put a notebook into the local library; its name then works as a reference."""
    entry = await ctx.store.library.add(**located(args.url), **args.model_dump(exclude={"url"}))
    return EntryResult(entry=info(entry, await ctx.store.active_notebook()))


class UpdateArgs(Args):
    notebook: str
    url: str | None = None
    name: Name | None = None
    description: str | None = None
    topics: list[str] | None = None
    content_types: list[str] | None = None
    use_cases: list[str] | None = None
    tags: list[str] | None = None


@tool(scope=Scope.WRITE, effect=Effect.SET)
async def update_notebook(ctx: ToolContext, args: UpdateArgs) -> EntryResult:
    """Change a library entry; lists are replaced."""
    said = args.model_dump(exclude={"notebook"}, exclude_none=True)
    if not said:
        raise refuse("nothing to change", "Give at least one field.")
    if args.url is not None:
        said |= located(args.url)
    entry = await entry_of(ctx, args.notebook)
    changed = await ctx.store.library.change(entry.notebook_id, said)
    return EntryResult(entry=info(changed, await ctx.store.active_notebook()))


class RemoveArgs(Args):
    notebook: str
    confirm: bool = False


@tool(scope=Scope.WRITE, effect=Effect.SET)
async def remove_notebook(ctx: ToolContext, args: RemoveArgs) -> Removed:
    """Take a notebook out of the local library; the notebook itself stays."""
    entry = await entry_of(ctx, args.notebook)
    if not args.confirm:
        would = f"remove {entry.name!r} ({entry.notebook_id}) from the local library; the notebook itself stays"
        return Removed(status="needs_confirmation", notebook_id=entry.notebook_id, name=entry.name, would=would)
    await ctx.store.library.remove(entry.notebook_id)
    return Removed(status="removed", notebook_id=entry.notebook_id, name=entry.name)


class SearchArgs(Args):
    query: str = Field(description='words; "" lists all')


@tool(scope=Scope.READ, effect=Effect.READ)
async def search_notebooks(ctx: ToolContext, args: SearchArgs) -> EntryList:
    """Search the local library, most used first."""
    words = args.query.casefold().split()
    active = await ctx.store.active_notebook()
    found = [entry for entry in await ctx.store.library.entries() if all(word in text_of(entry) for word in words)]
    return EntryList(total=len(found), entries=[info(entry, active) for entry in found])


def text_of(entry: LibraryEntry) -> str:
    """Everything in an entry that is searched."""
    lists = (entry.topics, entry.tags, entry.use_cases, entry.content_types)
    return "\n".join([entry.name, entry.description, *(text for texts in lists for text in texts)]).casefold()


@tool(scope=Scope.READ, effect=Effect.READ)
async def get_library_stats(ctx: ToolContext, args: NoArgs) -> LibraryStats:
    """What the local library holds, and which notebooks were asked most."""
    entries = await ctx.store.library.entries()
    tags = Counter(tag for entry in entries for tag in dict.fromkeys(entry.tags))
    return LibraryStats(
        notebooks=len(entries),
        questions=sum(entry.use_count for entry in entries),
        tags=[TagCount(tag=tag, notebooks=count) for tag, count in sorted(tags.items(), key=lambda item: -item[1])],
        top_used=[
            Used(id=entry.notebook_id, name=entry.name, use_count=entry.use_count, last_used=iso(entry.last_used))
            for entry in entries[:TOP]
            if entry.use_count
        ],
    )
