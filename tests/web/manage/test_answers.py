"""A manager puts an answer right: by reopening the item, or by an answer of their own."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from tests.support.taking import take as reserve
from tests.web.conftest import Browser
from tests.web.work_pages import path, take

ANSWER = {"about": "refund", "urgent": True}


def item_path(queue: leaseq.Queue, *verb: str) -> str:
    return "/".join(("/manage", queue.name, "items", "one", *verb))


@pytest.fixture
def token(asking: leaseq.Queue) -> int:
    """Of ann's answer to "one"."""
    lease = reserve(asking, "ann")
    asking.finish(lease, ANSWER)
    return lease.token


def test_an_item_is_reopened_for_somebody_who_reads_why(
    asking: leaseq.Queue, boss: Browser, person: Browser, token: int
) -> None:
    fields = {"token": str(token), "to": person.name, "reason": "it is a <delivery>"}
    assert boss.post(item_path(asking, "reopen"), fields).location == item_path(asking)
    page = html.unescape(boss.get(item_path(asking)).text)
    for text in (
        "earlier answer",
        "The answer from ann was set aside",
        "it is a <delivery>",
        "ann finished it",
    ):
        assert text in page
    assert f"{boss.name} reopened it" in page
    assert "late answer" not in page
    assert take(asking, person).id == "one"
    work = person.get(path(asking)).text
    assert "Why it was reopened" in work
    assert "it is a &lt;delivery&gt;" in work


def test_who_gave_the_answer_reads_why_and_finds_it_filled_in(
    asking: leaseq.Queue, boss: Browser, person: Browser
) -> None:
    lease = take(asking, person)
    asking.finish(lease, ANSWER)
    boss.post(item_path(asking, "reopen"), {"token": str(lease.token), "reason": "look at the date"})
    assert take(asking, person).draft == ANSWER
    assert "look at the date" in person.get(path(asking)).text


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"to": "nobody here"}, "nobody here"),
        ({"to": "ann"}, "ann"),
    ],
)
def test_what_is_refused_keeps_what_was_typed(
    asking: leaseq.Queue, boss: Browser, token: int, fields: dict[str, str], message: str
) -> None:
    data = {"token": str(token), "reason": "typed with care", **fields}
    response = boss.post(item_path(asking, "reopen"), data)
    assert (response.status_code, message in html.unescape(response.text)) == (400, True)
    assert "typed with care" in response.text
    assert asking.get("one").state == "finished"


def test_an_answer_is_corrected_in_its_form(asking: leaseq.Queue, boss: Browser, token: int) -> None:
    form = boss.get(item_path(asking, "correct"), query_string={"token": token}).text
    assert 'value="refund" checked' in " ".join(form.split()) or "checked" in form
    fields = {"token": str(token), "answer.about": "delivery", "answer.urgent": "false"}
    assert boss.post(item_path(asking, "correct"), fields).location == item_path(asking)
    (answer,) = asking.get("one").answers
    assert (answer.person, answer.result) == (boss.name, {"about": "delivery", "urgent": False})
    page = boss.get(item_path(asking)).text
    assert f"{boss.name} corrected the answer" in page
    assert "The answer from ann was corrected" in page
    assert "earlier answer" in page


def test_a_correction_that_does_not_fit_stands_in_the_form(
    asking: leaseq.Queue, boss: Browser, token: int
) -> None:
    response = boss.post(item_path(asking, "correct"), {"token": str(token), "answer.about": "delivery"})
    assert response.status_code == 422
    assert "It is not saved yet:" in response.text
    assert asking.get("one").answers[0].result == ANSWER


def test_an_answer_that_was_replaced_meanwhile_is_not_corrected(
    asking: leaseq.Queue, boss: Browser, token: int
) -> None:
    asking.reopen("one", token)
    response = boss.get(item_path(asking, "correct"), query_string={"token": token})
    assert (response.status_code, "was replaced meanwhile" in response.text) == (409, True)
    fields = {"token": str(token), "answer.about": "delivery", "answer.urgent": "false"}
    response = boss.post(item_path(asking, "correct"), fields)
    assert (response.status_code, "was replaced meanwhile" in response.text) == (422, True)


def test_both_are_in_the_log(
    asking: leaseq.Queue, boss: Browser, token: int, visitor: Callable[[str], Browser]
) -> None:
    fields: dict[str, Any] = {"token": str(token), "answer.about": "delivery", "answer.urgent": "false"}
    boss.post(item_path(asking, "correct"), fields)
    (answer,) = asking.get("one").answers
    boss.post(item_path(asking, "reopen"), {"token": str(answer.token), "reason": "once more"})
    log = visitor("admin").get("/people/log", query_string={"person": boss.name}).text
    for text in ("corrected an answer", "reopened an item", "once more"):
        assert text in log


def test_what_was_reopened_or_corrected_is_no_late_answer_in_the_list(
    asking: leaseq.Queue, boss: Browser, token: int
) -> None:
    asking.correct("one", token, ANSWER, by="meg")
    assert f'value="{token} one"' not in boss.get(f"/manage/{asking.name}/late").text
