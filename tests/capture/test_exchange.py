"""The fold over scripts of events, in every order that Chrome produces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlm_cdp.capture.exchange import Body, Kind, Part, Question
from nlm_cdp.cdp.generated.network import RequestId
from tests.capture.scripts import CHAT, FORM, HOST, RPCS, UPLOAD, Script, failed, finished, received, sent


def test_a_call_begins_with_its_request_and_ends_with_its_response() -> None:
    script = Script().feed(sent("1"))
    assert [exchange.request.content for exchange in script.begun] == [FORM]
    assert script.ended == []
    script.feed(received("1"), finished("1"))
    (exchange,) = script.ended
    assert (exchange.kind, exchange.status, exchange.took) == (Kind.RPC, 200, 1.5)
    assert exchange.response.content == "the response"
    assert exchange.query["rpcids"] == "wXbhsf"
    assert script.fold.open == {}


@pytest.mark.parametrize(
    ("url", "method", "kind"),
    [
        (RPCS, "POST", Kind.RPC),
        (CHAT, "POST", Kind.CHAT),
        (UPLOAD, "POST", Kind.UPLOAD),
        (f"{UPLOAD}&upload_id=x&upload_protocol=resumable", "POST", None),
        (RPCS, "GET", None),
        (f"{HOST}/", "POST", None),
        (RPCS.replace("notebook.google.com", "notebook.google.com.evil.example"), "POST", None),
        (RPCS.replace("https:", "http:"), "POST", None),
        ("https://play.google.com/log", "POST", None),
        ("data:text/plain,x", "GET", None),
    ],
)
def test_what_is_recorded(url: str, method: str, kind: Kind | None) -> None:
    assert Kind.of(url, method) is kind
    script = Script().feed(sent("1", url, method=method), received("1"), finished("1"))
    assert [exchange.kind for exchange in script.ended] == ([kind] if kind else [])


def test_a_body_that_the_event_leaves_out_is_asked_for() -> None:
    script = Script().feed(sent("1", post=None, more=True), received("1"), finished("1"))
    assert [question.part for question in script.questions] == [Part.REQUEST, Part.RESPONSE]
    assert script.ended[0].request.content == "the request"


def test_text_beyond_ascii_in_the_event_proves_nothing_of_the_bytes_and_is_asked_for() -> None:
    script = Script(answers=False).feed(sent("1", post="��\x00\x05"))
    script.answer(script.questions[0], Body(b"\xac\xed\x00\x05"))
    script.feed(received("1"), finished("1"))
    script.answer(script.questions[1], Body(""))
    assert script.ended[0].request.content == b"\xac\xed\x00\x05"


def test_a_request_without_any_body_says_so_and_is_never_an_empty_form() -> None:
    script = Script().feed(sent("1", post=None), received("1", 204), finished("1"))
    assert script.ended[0].request == Body(lost="Chrome told of no request body")
    assert script.ended[0].status == 204


def test_an_answer_that_overtakes_the_question_about_the_request_waits_for_it() -> None:
    script = Script(answers=False).feed(sent("1", post=None, more=True), received("1"), finished("1"))
    request, response = script.questions
    script.answer(response, Body("answer"))
    assert (script.begun, script.ended) == ([], [])
    script.answer(request, Body("question"))
    assert len(script.begun) == len(script.ended) == 1
    script.answer(request, Body("again")).answer(response, Body("again"))
    assert len(script.ended) == 1
    assert script.ended[0].request.content == "question"


def test_a_redirect_ends_one_exchange_and_begins_another_if_it_leads_to_one() -> None:
    script = Script().feed(sent("1"), sent("1", f"{HOST}/login", post=None, method="GET", redirected=302))
    assert script.ended[0].status == 302
    assert "redirected" in (script.ended[0].response.lost or "")
    assert script.fold.open == {}
    script = Script().feed(sent("1"), sent("1", redirected=307), received("1"), finished("1"))
    assert [(exchange.number, exchange.status) for exchange in script.ended] == [(1, 307), (2, 200)]


def test_a_late_body_of_a_redirected_request_is_not_taken_for_the_next_ones() -> None:
    script = Script(answers=False).feed(sent("1", post=None, more=True), sent("1", redirected=307))
    script.answer(script.questions[0], Body("of the first"))
    script.feed(received("1"), finished("1")).answer(script.questions[-1], Body("answer"))
    assert [exchange.request.lost is None for exchange in script.ended] == [False, True]
    assert script.ended[1].request.content == FORM


def test_an_abort_before_any_answer_is_lost_with_its_reason() -> None:
    script = Script().feed(sent("1"), failed("1"))
    assert script.ended[0].response == Body(lost="the page gave it up")
    script = Script().feed(sent("2"), failed("2", "net::ERR_CONNECTION_RESET", canceled=False))
    assert script.ended[0].response == Body(lost="it failed: net::ERR_CONNECTION_RESET")


def test_an_abort_after_the_answer_began_still_asks_for_what_came() -> None:
    script = Script(answers=False).feed(sent("1"), received("1"), failed("1"))
    assert script.ended == []
    script.answer(script.questions[0], Body(lost="evicted"))
    assert script.ended[0].failed == "the page gave it up"


def test_what_is_told_twice_is_recorded_once() -> None:
    script = Script().feed(
        sent("1"), sent("1"), received("1"), received("1"), finished("1"), finished("1"), failed("1")
    )
    assert len(script.begun) == len(script.ended) == script.fold.seen == 1


def test_events_of_a_request_that_began_before_us_are_ignored() -> None:
    script = Script().feed(received("0"), finished("0"), failed("0"), object())
    assert (script.questions, script.ended) == ([], [])


def test_the_end_of_the_tab_ends_what_is_open_and_a_word_after_that_changes_nothing() -> None:
    script = Script(answers=False).feed(sent("1"), sent("2", post=None, more=True), received("2"), finished("2"))
    script.take(list(script.fold.end("the tab was closed")))
    assert [exchange.response.lost for exchange in script.ended] == ["the tab was closed"] * 2
    assert script.ended[1].request.lost == "the tab was closed"
    script.answer(script.questions[0], Body("late"))
    assert len(script.ended) == 2
    assert script.fold.open == {}


def test_a_service_worker_in_between_changes_nothing() -> None:
    response = received("1")
    response.response.from_service_worker = True
    assert len(Script().feed(sent("1"), response, finished("1")).ended) == 1


def test_thousands_of_exchanges_leave_nothing_behind() -> None:
    script = Script()
    for number in range(5_000):
        script.feed(sent(str(number)), received(str(number)), finished(str(number)))
    assert len(script.ended) == script.fold.seen == 5_000
    assert [exchange.number for exchange in script.ended] == list(range(1, 5_001))
    assert script.fold.open == {}


STEPS = st.sampled_from(
    ["sent", "unknown", "redirect", "received", "finished", "failed", "request", "response", "gone"]
)


@given(st.lists(st.tuples(STEPS, st.integers(1, 3))))
def test_whatever_the_order_each_exchange_begins_and_ends_at_most_once(steps: list[tuple[str, int]]) -> None:
    script = Script(answers=False)
    for step, number in steps:
        id = str(number)
        match step:
            case "sent":
                script.feed(sent(id))
            case "unknown":
                script.feed(sent(id, post=None, more=True))
            case "redirect":
                script.feed(sent(id, redirected=302))
            case "received":
                script.feed(received(id))
            case "finished":
                script.feed(finished(id))
            case "failed":
                script.feed(failed(id))
            case "request" | "response":
                script.answer(Question(number, RequestId(id), Part(step)), Body("some"))
            case "gone":
                script.take(list(script.fold.end("gone")))
    script.take(list(script.fold.end("over")))
    numbers = [exchange.number for exchange in script.ended]
    assert sorted(numbers) == list(range(1, script.fold.seen + 1))
    assert sorted(exchange.number for exchange in script.begun) == sorted(numbers)
    assert script.fold.open == {}
