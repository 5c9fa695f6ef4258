"""Late answers: their list, and how a manager accepts one or many."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.manage.reports import MAX_SHOWN, adoption_effect
from leaseq.webapp.store.accounts import Accounts
from tests.web.conftest import Browser

AnswerLate = Callable[[str], int]


@pytest.fixture
def answer_late(form_queue: leaseq.Queue) -> AnswerLate:
    """Let ann answer an item that was taken away from her; return her token."""

    def answer(id: str) -> int:
        form_queue.enqueue({"text": id}, id=id, priority=1)
        lease = form_queue.reserve("ann")
        assert lease
        assert lease.id == id
        form_queue.release(id)
        other_lease = form_queue.reserve("bob")
        assert other_lease
        with pytest.raises(leaseq.LeaseLost):
            form_queue.finish(lease, {"about": "refund", "urgent": True})
        form_queue.finish(other_lease, {"about": "delivery", "urgent": False})
        return lease.token

    return answer


def listed(page: str) -> list[str]:
    """Token and id of each row."""
    return sorted(re.findall(r'type="checkbox" name="id" value="([^"]+)"', page))


def question_ids(page: str) -> list[str]:
    """The ids that the confirmation's form would send."""
    return re.findall(r'type="hidden" name="id" value="([^"]+)"', page)


def test_late_answers_are_linked_and_listed(
    manager_browser: Browser, form_queue: leaseq.Queue, answer_late: AnswerLate
) -> None:
    base = f"/manage/{form_queue.name}"
    assert "There are none." in manager_browser.get(f"{base}/late").text
    keys = [f"{answer_late(id)} {id}" for id in ("a 1", "b<2")]
    assert f'href="{base}/late?last=hour"' in manager_browser.get(base).text
    for path in (f"{base}/late?last=hour", f"{base}/late"):
        page = manager_browser.get(path).text
        assert listed(page) == [keys[0], keys[1].replace("<", "&lt;")]
    assert "answered by bob" in page
    assert "refund" in page


def test_late_answer_is_accepted_after_confirmation_and_reversible(
    manager_browser: Browser, form_queue: leaseq.Queue, answer_late: AnswerLate
) -> None:
    base, token = f"/manage/{form_queue.name}", answer_late("x")
    question = manager_browser.post(f"{base}/late", {"only": f"{token} x", "last": "hour"})
    assert "Accept 1 late answer?" in question.text
    assert "replaces the answer from bob" in question.text
    assert [one.person for one in form_queue.get("x").answers] == ["bob"], "it only asks"
    response = manager_browser.post(
        f"{base}/late/adopt", {"id": question_ids(question.text)[0], "last": "hour"}
    )
    assert response.location == f"{base}/late?last=hour"
    page = manager_browser.get(response.location).text
    assert "1 late answer is accepted." in page
    assert listed(page) == [], "the replaced answer is not new"
    item = form_queue.get("x")
    assert [one.person for one in item.answers] == ["ann"]
    manager_browser.post(f"{base}/items/x/adopt", {"token": str(item.late_answers[0].token)})
    assert [one.person for one in form_queue.get("x").answers] == ["bob"]


def test_many_late_answers_are_accepted_and_refusals_have_reasons(
    manager_browser: Browser, form_queue: leaseq.Queue, answer_late: AnswerLate, accounts: Accounts
) -> None:
    base = f"/manage/{form_queue.name}"
    keys = [f"{answer_late(id)} {id}" for id in ("x", "y", "gone")]
    question = manager_browser.post(f"{base}/late", {"id": keys})
    assert "Accept 3 late answers?" in question.text
    assert question_ids(question.text) == keys
    form_queue.remove("gone")
    response = manager_browser.post(f"{base}/late/adopt", {"id": keys})
    assert response.status_code == 200
    assert "2 late answers are accepted." in response.text
    assert re.search(r">gone</a>: it no longer exists", response.text)
    assert [form_queue.get(id).answers[0].person for id in "xy"] == ["ann", "ann"]
    entry = next(one for one in accounts.log.latest(20) if one.about == form_queue.name)
    assert (entry.by, entry.what, entry.detail) == (manager_browser.name, "item.adopted", "x, y, count: 2")


def test_unknown_late_answer_does_not_block_others(
    manager_browser: Browser, form_queue: leaseq.Queue, answer_late: AnswerLate
) -> None:
    token = answer_late("x")
    response = manager_browser.post(
        f"/manage/{form_queue.name}/late/adopt", {"id": [f"{token + 99} x", f"{token} x"]}
    )
    assert response.status_code == 200
    assert re.search(r">x</a>: (?!it no longer exists)\w", response.text)
    assert "1 late answer is accepted." in response.text
    assert [one.person for one in form_queue.get("x").answers] == ["ann"]


def test_only_one_late_answer_per_item_can_be_selected(
    manager_browser: Browser, form_queue: leaseq.Queue
) -> None:
    for person in ("ann", "bob"):
        lease = form_queue.reserve(person)
        assert lease
        form_queue.release("one")
        form_queue.assign("one", "cyd")
        assert form_queue.reserve("cyd")
        with pytest.raises(leaseq.LeaseLost):
            form_queue.finish(lease, {"about": "refund", "urgent": True})
        form_queue.release("one")
        form_queue.assign("one", "bob")
    keys = [f"{answer.token} one" for answer in form_queue.get("one").late_answers]
    question = manager_browser.post(f"/manage/{form_queue.name}/late", {"id": keys}).text
    assert "You selected several for My parcel is not here: select one for each." in question
    assert "Yes, accept" not in question
    question = manager_browser.post(f"/manage/{form_queue.name}/late", {"id": [keys[0], "7 two"]}).text
    assert question_ids(question) == keys[:1], "the other is not a late answer"
    assert "You selected several" not in question
    assert "Yes, accept it</button>" in question


@pytest.mark.parametrize(
    ("fields", "message"),
    [({}, "Select some late answers first."), ({"id": "9 nothing"}, "They no longer exist.")],
)
def test_empty_or_unknown_selection_shows_message(
    manager_browser: Browser, form_queue: leaseq.Queue, fields: dict[str, str], message: str
) -> None:
    response = manager_browser.post(f"/manage/{form_queue.name}/late", fields)
    assert message in manager_browser.get(response.location).text


@pytest.mark.parametrize(("count", "status"), [(MAX_SHOWN, 303), (MAX_SHOWN + 1, 400)])
def test_selection_is_limited_to_one_page(
    manager_browser: Browser, form_queue: leaseq.Queue, count: int, status: int
) -> None:
    keys = [f"{token} nothing" for token in range(1, count + 1)]
    assert manager_browser.post(f"/manage/{form_queue.name}/late", {"id": keys}).status_code == status


def test_malformed_late_answer_key_is_refused(manager_browser: Browser, form_queue: leaseq.Queue) -> None:
    assert manager_browser.post(f"/manage/{form_queue.name}/late/adopt", {"id": "one"}).status_code == 400


def test_effect_of_accepting_depends_on_the_number_of_answers_of_the_item(
    app: Flask, form_queue: leaseq.Queue
) -> None:
    """Not on the policy's, which may have been changed since, or be overridden by the item's own."""
    form_queue.configure(answers=2)
    form_queue.enqueue({"text": "two"}, id="two")
    form_queue.enqueue({"text": "own"}, id="own")
    form_queue.change("own", answers=1)
    with app.test_request_context():
        two, own = (adoption_effect(form_queue.get(id)) for id in ("two", "own"))
        form_queue.configure(answers=1)
        form_queue.enqueue({"text": "one"}, id="one")
        assert adoption_effect(form_queue.get("one")) == own != two
