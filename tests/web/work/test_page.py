"""The work page, without JavaScript: nothing typed is lost, and what is true is said."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from tests.web.conftest import Browser
from tests.web.work_pages import path, send, take

ANSWER = {"answer.about": "refund", "answer.urgent": "true", "answer.note": "thanks <b>"}


def test_looking_takes_nothing(asking: leaseq.Queue, person: Browser) -> None:
    response = person.get(path(asking))
    assert "2 wait" in response.text
    assert asking.stats().reserved == 0


def test_take_and_finish_and_next(asking: leaseq.Queue, person: Browser) -> None:
    lease = take(asking, person)
    page = person.get(path(asking)).text
    assert "My parcel is not here" in page
    assert "Yours until" in page
    response = send(
        asking, person, lease, "finish", **{**ANSWER, "then": "next", "answer.tags": ["polite", "angry"]}
    )
    assert (response.status_code, response.location) == (303, path(asking))
    assert asking.get(lease.id).answers[0].result == {
        "about": "refund",
        "urgent": True,
        "tags": ["angry", "polite"],
        "note": "thanks <b>",
    }
    page = person.get(path(asking)).text
    assert "Saved." in page
    assert "I want my money back" in page
    (second_lease,) = asking.mine(person.name)
    assert send(asking, person, second_lease, "finish", **ANSWER).location == "/"
    assert asking.mine(person.name) == []


def test_a_refused_answer_keeps_all_that_was_typed(asking: leaseq.Queue, person: Browser) -> None:
    lease = take(asking, person)
    fields = {
        "answer.about": "refund",
        "answer.note": "x" * 21 + "<&>\"'",
        "answer.count": "many",
        "answer.tags": "angry",
    }
    response = send(asking, person, lease, "finish", **fields)
    assert response.status_code == 422
    page = response.text
    assert re.search(r'value="refund"[^>]* checked', page)
    assert re.search(r'value="angry"[^>]* checked', page)
    assert html.escape(fields["answer.note"]).replace("&#x27;", "&#39;").replace("&quot;", "&#34;") in page
    assert 'value="many"' in page
    assert "A whole number, such as 42." in page
    assert "Please answer this." in page
    response = send(
        asking, person, lease, "finish", **{**fields, "answer.count": "-1", "answer.urgent": "false"}
    )
    assert response.status_code == 422
    for name in ("count", "note"):
        field = re.search(rf'name="answer.{name}"[^>]*>', response.text)
        assert field
        assert 'aria-invalid="true"' in field[0]
    (held_lease,) = asking.mine(person.name)
    assert held_lease.token == lease.token


def test_an_answer_that_only_the_library_refuses_keeps_all_that_was_typed(
    asking: leaseq.Queue, person: Browser
) -> None:
    """A rule on several fields is none that the page itself checks."""
    ask = asking.policy.form["ask"]
    asking.configure(form={"ask": {**ask, "minProperties": 4}})
    lease = take(asking, person)
    response = send(asking, person, lease, "finish", **ANSWER)
    assert (response.status_code, "has less than 4 properties" in response.text) == (422, True)
    assert re.search(r'name="answer.about"[^>]* value="refund"[^>]* checked', response.text)
    assert re.search(r'name="answer.note"[^>]* value="thanks &lt;b&gt;"', response.text)
    assert [one.token for one in asking.mine(person.name)] == [lease.token]


def test_a_late_answer_counts_and_says_so(timed_asking: Any, person: Browser) -> None:
    queue, expire = timed_asking
    lease = take(queue, person)
    expire()
    assert send(queue, person, lease, "finish", **ANSWER).status_code == 303
    assert (
        "Your time had run out, but nobody else had the item: your answer counts."
        in person.get(path(queue)).text
    )
    assert queue.get(lease.id).answers[0].late


def test_a_refused_answer_after_the_time_ran_out_still_shows_the_item(
    timed_asking: Any, person: Browser
) -> None:
    queue, expire = timed_asking
    lease = take(queue, person)
    expire()
    response = send(queue, person, lease, "finish", **{"answer.note": "half an answer"})
    assert response.status_code == 422
    assert "My parcel is not here" in response.text
    assert "half an answer" in response.text
    assert "Your time ran out" in response.text


def test_an_answer_too_late_is_kept_for_the_manager(
    timed_asking: Any, person: Browser, visitor: Callable[[str], Browser]
) -> None:
    queue, expire = timed_asking
    lease = take(queue, person)
    expire()
    other = visitor("worker")
    take(queue, other)
    response = send(queue, person, lease, "finish", **ANSWER)
    assert response.status_code == 409
    assert "Your time ran out at <time" in response.text
    assert "Somebody else is on it now." in response.text
    assert "Your answer is kept for the manager." in response.text
    assert 'value="thanks &lt;b&gt;"' in response.text
    assert "My parcel is not here" in response.text
    assert "Take it back" not in response.text
    (late_answer,) = queue.get(lease.id).late_answers
    assert late_answer.person == person.name


def test_giving_back_keeps_the_draft_and_the_reason(asking: leaseq.Queue, person: Browser) -> None:
    lease = take(asking, person)
    response = send(
        asking, person, lease, "abandon", reason="lunch", **{"answer.note": "so far", "answer.count": "4x"}
    )
    assert response.location == path(asking)
    assert "You gave it back. You see it again when nothing else" in person.get(path(asking)).text
    assert asking.get(lease.id).history[-1].reason == "lunch"
    asking.remove("two")  # which would come first, now that they put the other off
    assert take(asking, person).id == lease.id
    page = person.get(path(asking)).text
    assert 'value="so far"' in page
    assert 'value="4x"' in page


def test_not_for_me_is_for_good(asking: leaseq.Queue, person: Browser) -> None:
    asking.remove("two")
    lease = take(asking, person)
    assert send(asking, person, lease, "abandon", again="no", reason="I know her").status_code == 303
    assert "You gave it back, and won't see it again." in html.unescape(person.get(path(asking)).text)
    person.post(path(asking, "reserve"))
    assert asking.mine(person.name) == []
    assert asking.get(lease.id).history[-1].reason == "I know her"


def test_more_time_keeps_what_was_typed(asking: leaseq.Queue, person: Browser) -> None:
    lease = take(asking, person)
    assert send(asking, person, lease, "renew", **{"answer.note": "so far"}).status_code == 303
    (renewed_lease,) = asking.mine(person.name)
    assert renewed_lease.expires_at > lease.expires_at
    assert 'value="so far"' in person.get(path(asking)).text
    asking.configure(renewals=1)
    page = person.get(path(asking)).text
    assert "More time" not in page
    response = send(asking, person, lease, "renew", **{"answer.note": "and more"})
    assert response.status_code == 422
    assert "The time for this item can&#39;t be extended again: at most 1" in response.text
    assert 'value="and more"' in response.text


def test_a_problem_is_reported_with_its_text(asking: leaseq.Queue, person: Browser) -> None:
    lease = take(asking, person)
    fail_response = send(asking, person, lease, "fail", error="  ", **{"answer.note": "so far"})
    assert fail_response.status_code == 422
    assert "Describe the problem." in fail_response.text
    finish_response = send(asking, person, lease, "finish", error="half a report", reason="half a reason")
    assert (
        finish_response.status_code,
        "half a report" in finish_response.text,
        "half a reason" in finish_response.text,
    ) == (422, True, True)
    assert 'value="so far"' in fail_response.text
    assert send(asking, person, lease, "fail", error="unreadable").status_code == 303
    assert asking.get(lease.id).last_error == "unreadable"


def test_what_belongs_to_others_is_not_shown(asking: leaseq.Queue, person: Browser, visitor: Any) -> None:
    """A made-up token must not let somebody read an item through the page of a refused answer."""
    lease = take(asking, visitor("worker"))
    for token in (lease.token, lease.token + 1):
        response = person.post(path(asking, "items", lease.id, "finish"), {"token": str(token)})
        assert response.status_code == 404
        assert "parcel" not in response.text


@pytest.mark.parametrize("token", ["", "x", "-1", "1" * 17, "¹"])
def test_a_form_that_was_tampered_with_is_refused(asking: leaseq.Queue, person: Browser, token: str) -> None:
    take(asking, person)
    response = person.post(path(asking, "items", "one", "finish"), {"token": token})
    assert response.status_code == 400
    assert "token" in response.text


def test_pages_of_what_is_not_there(person: Browser) -> None:
    assert person.get("/q/not-there").status_code == 404
    assert person.get("/q/UPPER").status_code == 400
    assert person.post("/q/not-there/reserve").status_code == 404
