"""Which declared call an unknown id stands for."""

from __future__ import annotations

from typing import Any

from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.capture.calls import Recorded
from nlm_cdp.capture.matching import Candidate, Match, match
from nlm_cdp.capture.reading import read
from tests.capture.scripts import reply
from tests.capture.test_drift import GET, project
from tests.capture.test_fixture import LISTING, recorded
from tests.capture.test_reading import call


def found(*calls: Recorded, alive: set[str] | None = None) -> Any:
    candidate = Candidate(calls[0].rpc)
    for each in calls:
        candidate.add(each, read(each, None))
    return match(candidate, alive or set())


def test_the_one_call_with_the_same_request_and_response_is_it() -> None:
    said = found(recorded(LISTING, None, "Qx91Zz"))
    assert said == Match("wXbhsf", (notebooks.LIST,))
    assert found(recorded(project(), GET, "Qx91Zz")).id == "rLM1Ne"


def test_every_call_has_to_match_not_just_one() -> None:
    said = found(recorded(project(), GET, "Qx91Zz"), recorded([7], [8], "Qx91Zz"))
    assert said == "nothing that is declared and not seen otherwise has its shape"


def test_an_id_that_still_answers_is_not_replaced() -> None:
    said = found(recorded(project(), GET, "Qx91Zz"), alive={"rLM1Ne"})
    assert said == "nothing that is declared and not seen otherwise has its shape"


def test_rows_too_small_to_tell_calls_apart_match_none() -> None:
    said = found(recorded([], [[2], ["0f4f5a3c-0000-4000-8000-000000000001"]], "Qx91Zz"))
    assert isinstance(said, str)


def test_without_an_answer_there_is_nothing_to_go_by() -> None:
    assert found(call("Qx91Zz", GET)) == "its answer was not recorded"
    assert found(call("Qx91Zz", GET, reply("Qx91Zz", None, [5]))) == "its answer was not recorded"
