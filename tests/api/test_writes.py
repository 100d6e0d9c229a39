"""What every noun's writes share, by itself: deleting what references mean, and looking again after a lost reply."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from nlm_cdp.api.references import Listing
from nlm_cdp.api.writes import READ_BACK, Deleted, afterwards, delete, in_doubt, looked, settle_deletion
from nlm_cdp.errors import Ambiguous, Drift, InvalidArgument, Network, NlmError, NotFound, Outcome, UnconfirmedWrite


class Row(NamedTuple):
    id: str
    title: str


FOG, HORN, FOREST = Row("f-1", "Fog"), Row("h-2", "Horn"), Row("f-3", "Forest")


def listing(*rows: Row, undecoded: list[str] | None = None) -> Listing[Row]:
    return Listing("note", {row.id: row for row in rows}, lambda row: [row.title], undecoded or [])


def lost() -> UnconfirmedWrite:
    return UnconfirmedWrite("no answer", outcome=Outcome.UNKNOWN)


async def showing(shown: Any) -> Any:
    """A look that shows this, or fails with it."""
    if isinstance(shown, NlmError):
        raise shown
    return shown


# Deleting


class Service:
    """What was sent, and the error that sending ends in."""

    def __init__(self, error: NlmError | None = None) -> None:
        self.sent: list[list[str]] = []
        self.error = error

    async def send(self, ids: list[str]) -> None:
        self.sent.append(ids)
        if self.error is not None:
            raise self.error


async def deleted(service: Service, there: Listing[Row], *references: str, confirm: bool = True) -> Deleted:
    def would(row: Row) -> str:
        return f"delete {row.title}"

    return await delete("nb", references, there.meant, confirm=confirm, would=would, send=service.send)


async def test_what_references_mean_is_deleted_in_one_call() -> None:
    service = Service()
    result = await deleted(service, listing(FOG, HORN, FOREST), "Horn", "f-1")
    assert service.sent == [["h-2", "f-1"]]
    assert (result.status, result.notebook_id, result.deleted, result.not_found) == (
        "deleted",
        "nb",
        ["h-2", "f-1"],
        [],
    )
    assert result.would is None


async def test_what_is_named_twice_is_deleted_once() -> None:
    service = Service()
    result = await deleted(service, listing(FOG, HORN), "Fog", "f-1", "horn", "fog", "gone", "gone")
    assert service.sent == [["f-1", "h-2"]]
    assert result.deleted == ["f-1", "h-2"]
    assert result.not_found == ["gone", "gone"]


async def test_without_a_yes_nothing_is_sent_and_each_is_told_once() -> None:
    service = Service()
    result = await deleted(service, listing(FOG, HORN), "Fog", "fog", "Horn", "gone", confirm=False)
    assert service.sent == []
    assert result.status == "needs_confirmation"
    assert result.would == ["delete Fog", "delete Horn"]
    assert (result.deleted, result.not_found) == ([], ["gone"])


@pytest.mark.parametrize("confirm", [False, True])
async def test_where_nothing_is_meant_nothing_is_asked(confirm: bool) -> None:
    service = Service()
    result = await deleted(service, listing(FOG), "gone", confirm=confirm)
    assert (result.status, result.deleted, result.not_found, result.would) == ("not_found", [], ["gone"], None)
    assert service.sent == []


@pytest.mark.parametrize(
    ("there", "error"),
    [
        (listing(HORN, FOG, FOREST), Ambiguous),  # "Fo" means two
        (listing(HORN, FOG, undecoded=[".1[2]: no id"]), Drift),  # "Horn" could mean what was not read, too
    ],
)
async def test_nothing_is_sent_before_every_reference_is_resolved(there: Listing[Row], error: type[NlmError]) -> None:
    service = Service()
    with pytest.raises(error):
        await deleted(service, there, "h-2", "Fo")
    assert service.sent == []


async def test_an_error_of_the_sending_is_the_error() -> None:
    service = Service(InvalidArgument("no", outcome=Outcome.REJECTED))
    with pytest.raises(InvalidArgument):
        await deleted(service, listing(FOG), "Fog")
    assert service.sent == [["f-1"]]


# In doubt


@pytest.mark.parametrize("outcome", [Outcome.NOT_SENT, Outcome.REJECTED])
def test_what_is_certain_is_raised(outcome: Outcome) -> None:
    error = InvalidArgument("no", outcome=outcome)
    with pytest.raises(InvalidArgument) as caught:
        in_doubt(error)
    assert caught.value is error


def test_what_is_in_doubt_is_handed_on() -> None:
    error = lost()
    assert in_doubt(error) is error


async def test_a_look_afterwards_gives_what_it_shows() -> None:
    assert await afterwards(lost(), "notes", showing([1])) == [1]


async def test_a_look_that_fails_afterwards_leaves_the_loss() -> None:
    error = lost()
    with pytest.raises(UnconfirmedWrite) as caught:
        await afterwards(error, "notes", showing(Network("down")))
    assert caught.value is error
    assert error.message == "no answer. The notes could not be read afterwards."
    assert error.outcome is Outcome.UNKNOWN
    assert error.__suppress_context__


# A deletion whose reply was lost


async def settle(now: Listing[Row] | NlmError) -> None:
    await settle_deletion(lost(), "note", ["f-1", "h-2"], showing(now))


async def doubt(now: Listing[Row] | NlmError) -> UnconfirmedWrite:
    """The loss that settling raises."""
    with pytest.raises(UnconfirmedWrite) as caught:
        await settle(now)
    assert caught.value.outcome is Outcome.UNKNOWN
    return caught.value


async def test_a_lost_deletion_after_which_all_are_gone_has_worked() -> None:
    for now in (listing(FOREST), listing()):
        error = lost()
        await settle_deletion(error, "note", ["f-1", "h-2"], showing(now))
        assert (error.message, error.details) == ("no answer", {})


@pytest.mark.parametrize("undecoded", [[], [".1[0]: no id"]])
async def test_a_lost_deletion_tells_what_is_still_there(undecoded: list[str]) -> None:
    error = await doubt(listing(HORN, FOREST, undecoded=undecoded))
    assert error.message == "no answer. The notes were read afterwards: those in details.still_there are there."
    assert error.details == {"still_there": ["h-2"]}


async def test_a_lost_deletion_is_not_proven_by_a_listing_with_gaps() -> None:
    error = await doubt(listing(FOREST, undecoded=[".1[0]: no id"]))
    assert error.message == "no answer. The notes could not be read completely afterwards."
    assert error.details == {}


async def test_a_lost_deletion_stays_in_doubt_where_nothing_can_be_read() -> None:
    error = await doubt(NotFound("gone"))
    assert error.message == "no answer. The notes could not be read afterwards."


# Looking again


class Looks:
    """A look that shows one thing after the other; `ctx` writes down the pauses."""

    def __init__(self, *shown: Any) -> None:
        self.shown = list(shown)
        self.pauses: list[float] = []
        self.ctx: Any = SimpleNamespace(sleep=self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def look(self) -> Awaitable[int]:
        return showing(self.shown.pop(0))

    async def until(self, enough: Callable[[int], bool], **options: Any) -> int | None:
        return await looked(self.ctx, self.look, enough, **options)


async def test_looking_ends_with_the_first_look_that_shows_enough() -> None:
    looks = Looks(1, 2, 3)
    assert await looks.until(lambda seen: seen == 2) == 2
    assert looks.pauses == [*READ_BACK[:2]]


async def test_a_look_that_fails_is_passed_over() -> None:
    looks = Looks(Network("down"), 7, Network("down"))
    assert await looks.until(lambda seen: seen == 8) == 7
    assert looks.pauses == [*READ_BACK]


async def test_nothing_was_seen_where_every_look_failed() -> None:
    assert await Looks(*[Network("down")] * 3).until(math.isfinite) is None


async def test_the_pauses_may_be_others() -> None:
    looks = Looks(1)
    assert await looks.until(math.isnan, pauses=(5.0,)) == 1
    assert looks.pauses == [5.0]
