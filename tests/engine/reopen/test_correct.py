"""correct: a manager's answer replaces an answer; both are kept."""

from __future__ import annotations

import pytest

import leaseq
from tests.conftest import Clock
from tests.engine.conftest import Sets
from tests.engine.reopen.test_reopen import finished_lease  # noqa: F401 - a fixture
from tests.support.leases import take
from tests.support.refused import refused

FORM = {"ask": {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}}


def answers(item: leaseq.Item) -> list[tuple[str, object]]:
    return [(answer.person, answer.result) for answer in item.answers]


def test_correct_replaces_answer_and_keeps_both(
    timed_queue: leaseq.Queue,
    finished_lease: leaseq.Lease,  # noqa: F811
    clock: Clock,
    sets: Sets,
) -> None:
    clock.tick(3_600)
    item = timed_queue.correct("one", finished_lease.token, {"by": "meg"}, by="meg")
    assert answers(item) == [("meg", {"by": "meg"})]
    (answer,) = item.answers
    assert (answer.late, answer.attempt) == (False, 1)
    assert answer.token > finished_lease.token
    assert [(late.person, late.token) for late in item.late_answers] == [("ann", finished_lease.token)]
    assert [(grant.person, grant.how) for grant in item.history] == [
        ("ann", "corrected"),
        ("meg", "finished"),
    ]
    assert sets()["finished"] == ["one"]
    event = timed_queue.journal()[-1]
    assert (event.what, event.id, event.token, event.person) == ("corrected", "one", answer.token, "meg")
    counters = timed_queue.stats().counters
    assert (counters["corrected"], counters["finished"], counters["reserved"]) == (1, 1, 1)
    assert take(timed_queue, "bob").token > answer.token


def test_repeated_correct_corrects_once(timed_queue: leaseq.Queue, finished_lease: leaseq.Lease) -> None:  # noqa: F811
    first = timed_queue.correct("one", finished_lease.token, {"by": "meg"}, by="meg")
    assert timed_queue.correct("one", finished_lease.token, {"by": "meg"}, by="meg") == first
    assert timed_queue.stats().counters["corrected"] == 1
    for result, by in (({"by": "eva"}, "eva"), ({"by": "eva"}, "meg"), ({"by": "meg"}, "eva")):
        with refused("token", what="answer"):
            timed_queue.correct("one", finished_lease.token, result, by=by)


def test_corrected_answer_can_be_adopted_again(
    timed_queue: leaseq.Queue,
    finished_lease: leaseq.Lease,  # noqa: F811
) -> None:
    timed_queue.correct("one", finished_lease.token, {"by": "meg"}, by="meg")
    item = timed_queue.adopt("one", finished_lease.token)
    assert answers(item) == [("ann", {"by": "ann"})]
    assert [late.person for late in item.late_answers] == ["meg"]


def test_correction_can_be_corrected_and_reopened_but_not_undone(
    timed_queue: leaseq.Queue,
    finished_lease: leaseq.Lease,  # noqa: F811
) -> None:
    first = timed_queue.correct("one", finished_lease.token, 1, by="meg").answers[0]
    second = timed_queue.correct("one", first.token, 2, by="meg").answers[0]
    for token in (finished_lease.token, first.token):
        with refused("token", what="answer"):
            timed_queue.correct("one", token, 3, by="meg")
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.undo_finish(id="one", token=second.token, person="meg")
    item = timed_queue.reopen("one", second.token, to="ann")
    assert (item.answers, len(item.late_answers)) == ((), 3)
    assert take(timed_queue, "ann").id == "one"


def test_correction_must_match_form(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(form=FORM)
    timed_queue.enqueue({}, id="one")
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {"ok": True})
    with pytest.raises(leaseq.Invalid) as error:
        timed_queue.correct("one", lease.token, {"ok": "no"}, by="meg")
    assert (error.value.field, list(error.value.errors)) == ("result", ["ok"])
    assert answers(timed_queue.get("one")) == [("ann", {"ok": True})]
    timed_queue.correct("one", lease.token, {"ok": False}, by="meg")


def test_correction_must_match_form_changed_by_another_program(
    timed_queue: leaseq.Queue, same_queue: leaseq.Queue
) -> None:
    timed_queue.enqueue({}, id="one")
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {"ok": True})
    assert same_queue.policy.form is None
    timed_queue.configure(form=FORM)
    with refused("form", "result"):
        same_queue.correct("one", lease.token, {"ok": "no"}, by="meg")


def test_correction_of_another_form_than_the_queue_has_is_not_taken(
    timed_queue: leaseq.Queue,
    same_queue: leaseq.Queue,
    finished_lease: leaseq.Lease,  # noqa: F811
) -> None:
    before = timed_queue.get("one")
    assert same_queue.policy.form is None
    timed_queue.configure(form=FORM)
    with pytest.raises(leaseq.PolicyChanged) as error:
        same_queue.correct("one", finished_lease.token, {"ok": True}, by="meg", expected_form=None)
    assert error.value.policy.form == FORM
    assert timed_queue.get("one") == before
    same_queue.correct("one", finished_lease.token, {"ok": True}, by="meg", expected_form=FORM)
    assert answers(timed_queue.get("one")) == [("meg", {"ok": True})]


def test_correction_by_person_with_other_assignment_is_refused(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=3)
    timed_queue.enqueue({}, id="a")
    timed_queue.finish(take(timed_queue, "ann"), 1)
    timed_queue.finish(take(timed_queue, "bob"), 2)
    take(timed_queue, "cyd")
    anns = timed_queue.get("a").answers[0].token
    for person in ("bob", "cyd"):
        with refused("holds_or_answered", what="part") as error:
            timed_queue.correct("a", anns, 3, by=person)
        assert error.value.field == "by"
    timed_queue.correct("a", anns, 3, by="meg")
    assert sorted(answers(timed_queue.get("a"))) == [("bob", 2), ("meg", 3)]
    assert timed_queue.reserve("meg") is None, "they answered it"


def test_large_answers_are_kept_after_correct_and_reopen(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="one")
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, "x" * 200_000)
    item = timed_queue.correct("one", lease.token, "y" * 200_000, by="meg")
    assert [len(str(one.result)) for one in (*item.answers, *item.late_answers)] == [200_000] * 2
    timed_queue.reopen("one", item.answers[0].token)
    assert [grant.how for grant in timed_queue.get("one").history] == ["corrected", "reopened"]
