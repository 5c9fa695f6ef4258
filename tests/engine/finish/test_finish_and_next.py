from __future__ import annotations

from collections.abc import Callable

import pytest

import leaseq
from leaseq import NewItem
from tests.conftest import Clock
from tests.engine.conftest import Sets
from tests.support.leases import not_none
from tests.support.refused import refused

Take = Callable[[str], leaseq.Lease]
FORM = {"ask": {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}}


@pytest.fixture(autouse=True)
def items(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue_many(NewItem({"n": n}, id=id) for n, id in enumerate("abc"))


def test_finish_with_then_reserve_returns_lease_of_next_item(
    timed_queue: leaseq.Queue, take: Take, sets: Sets
) -> None:
    outcome = timed_queue.finish(take("ann"), {}, then_reserve=True)
    assert outcome.next is not None
    assert (outcome.next.id, outcome.next.person, outcome.next.token) == ("b", "ann", 2)
    assert timed_queue.mine("ann") == [outcome.next]
    assert sets() == {"inbound": ["c"], "reserved": ["b"], "scheduled": [], "finished": ["a"], "dead": []}
    assert [e.what for e in timed_queue.journal()][-2:] == ["finished", "reserved"]


@pytest.mark.parametrize("seconds", [0, 1])  # the ordinary case of the script runs only at a later time
def test_the_next_item_is_the_oldest(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, seconds: float
) -> None:
    lease, ids = take("ann"), []
    for _ in range(2):
        clock.tick(seconds)
        lease = not_none(timed_queue.finish(lease, {}, then_reserve=True).next)
        ids.append(lease.id)
    assert ids == ["b", "c"]


def test_finish_returns_no_next_lease_if_no_item_waits(timed_queue: leaseq.Queue, take: Take) -> None:
    for _ in range(2):
        timed_queue.finish(take("ann"), {})
    assert timed_queue.finish(take("ann"), {}, then_reserve=True).next is None
    assert timed_queue.stats().finished == 3


def test_finish_in_paused_queue_counts_and_returns_no_next_lease(
    timed_queue: leaseq.Queue, take: Take
) -> None:
    lease = take("ann")
    timed_queue.pause()
    assert timed_queue.finish(lease, {}, then_reserve=True).next is None
    assert timed_queue.stats().finished == 1


@pytest.mark.parametrize("holds", [1, 2, 3])
def test_repeated_finish_returns_same_next_lease(
    timed_queue: leaseq.Queue, take: Take, sets: Sets, holds: int
) -> None:
    timed_queue.configure(holds=holds)
    lease = take("ann")
    if holds == 3:
        take("ann")
    first = timed_queue.finish(lease, {}, then_reserve=True, request_id="r")
    before = sets()
    second = timed_queue.finish(lease, {}, then_reserve=True, request_id="r")
    assert second.replayed
    assert second.next == first.next
    assert sets() == before
    assert timed_queue.stats().counters["reserved"] == (3 if holds == 3 else 2)


def test_next_lease_is_new_below_holds_limit(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(holds=2)
    a, b = take("ann"), take("ann")
    outcome = timed_queue.finish(a, {}, then_reserve=True)
    assert outcome.next is not None
    assert outcome.next.id == "c"
    assert timed_queue.mine("ann") == [b, outcome.next]


def test_next_lease_is_held_one_at_holds_limit(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(holds=2)
    a, b = take("ann"), take("ann")
    timed_queue.configure(holds=1)
    assert timed_queue.finish(a, {}, then_reserve=True).next == b


def test_late_finish_reserves_expired_item_of_another_person_next(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    stale = take("ann")
    take("bob")
    clock.tick(301)
    outcome = timed_queue.finish(stale, {}, then_reserve=True)
    assert outcome.late
    assert outcome.next is not None
    assert (outcome.next.id, outcome.next.attempt) == ("b", 2), (
        "bob's item was returned to the front of the queue"
    )
    assert timed_queue.stats().finished == 1


def test_refused_finish_reserves_no_next_item(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, sets: Sets
) -> None:
    stale = take("ann")
    clock.tick(301)
    take("bob")
    before = sets()
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.finish(stale, {}, then_reserve=True)
    assert sets() == before


def test_answer_not_matching_form_is_refused_and_lease_stays(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(form=FORM)
    lease = take("ann")
    with pytest.raises(leaseq.Invalid) as error:
        timed_queue.finish(lease, {"ok": "perhaps"})
    assert error.value.field == "result"
    assert set(error.value.errors) == {"ok"}
    with pytest.raises(leaseq.Invalid) as error:
        timed_queue.finish(lease, {})
    assert set(error.value.errors) == {"ok"}
    assert timed_queue.mine("ann") == [lease]
    assert timed_queue.finish(lease, {"ok": True}).id == "a"


def test_form_changed_by_another_program_applies_at_once(
    timed_queue: leaseq.Queue, same_queue: leaseq.Queue
) -> None:
    lease = not_none(timed_queue.reserve("ann"))
    same_queue.configure(form=FORM)
    with refused("form"):
        timed_queue.finish(lease, {"text": "free"})
    same_queue.configure(form=None)
    assert timed_queue.finish(lease, {"text": "free"}).id == "a"


def test_successive_form_changes_apply_at_once(timed_queue: leaseq.Queue, same_queue: leaseq.Queue) -> None:
    lease = not_none(timed_queue.reserve("ann"))
    for required_field, answer_field in (("one", "other"), ("other", "one")):
        same_queue.configure(form={"ask": {"type": "object", "required": [required_field]}})
        with refused("form"):
            timed_queue.finish(lease, {answer_field: 1})
    assert timed_queue.finish(lease, {"other": 1}).id == "a"


def test_repeated_finish_succeeds_after_form_was_changed(timed_queue: leaseq.Queue, take: Take) -> None:
    lease = take("ann")
    timed_queue.finish(lease, {"text": "free"})
    timed_queue.configure(form=FORM)
    assert timed_queue.finish(lease, {"text": "free"}).replayed


@pytest.mark.parametrize("has_read", [True, False], ids=["read before", "not read"])
def test_answer_to_another_form_than_the_queue_has_is_not_taken(
    timed_queue: leaseq.Queue, same_queue: leaseq.Queue, take: Take, has_read: bool
) -> None:
    lease = take("ann")
    answered_form = {"ask": {"type": "object", "properties": {"note": {"type": "string"}}}}
    timed_queue.configure(form=answered_form)
    if has_read:
        assert same_queue.policy.form == answered_form
    timed_queue.configure(form=(new_form := {"ask": {"type": "object"}}))
    for result in ({"note": "fits both"}, {"note": 1}):
        with pytest.raises(leaseq.PolicyChanged) as error:
            same_queue.finish(lease, result, expected_form=answered_form)
        assert (error.value.queue, error.value.policy.form) == (timed_queue.name, new_form)
    assert (timed_queue.mine("ann"), timed_queue.get("a").answers) == ([lease], ())
    assert timed_queue.get("a").late_answers == ()
    assert same_queue.finish(lease, {"note": "x"}, expected_form=error.value.policy.form).id == "a"
    assert same_queue.finish(lease, {"note": "x"}, expected_form=answered_form).replayed, "accepted before"


def test_expected_form_is_compared_as_json(timed_queue: leaseq.Queue, take: Take) -> None:
    def form_of(value: object) -> dict[str, object]:
        return {"ask": {"properties": {"ok": {"enum": [value]}}, "type": "object"}}

    timed_queue.configure(form=form_of(1))
    lease = take("ann")
    for other_form in (form_of(True), None):
        with pytest.raises(leaseq.PolicyChanged):
            timed_queue.finish(lease, {}, expected_form=other_form)
    with pytest.raises(leaseq.Invalid) as error:
        timed_queue.finish(lease, {}, expected_form={1, 2})
    assert error.value.field == "expected_form"
    with pytest.raises(leaseq.Invalid) as error:
        timed_queue.finish(lease, {"ok": 2}, expected_form=form_of(1))
    assert list(error.value.errors) == ["ok"]
    timed_queue.configure(form=None)
    with pytest.raises(leaseq.PolicyChanged):
        timed_queue.finish(lease, {}, expected_form=form_of(1))
    assert timed_queue.finish(lease, {}, expected_form=None).id == "a"


def test_answer_to_an_earlier_form_is_kept_if_the_lease_is_lost(
    timed_queue: leaseq.Queue, take: Take
) -> None:
    lease = take("ann")
    timed_queue.release("a")
    take("bob")
    timed_queue.configure(form=FORM)
    with pytest.raises(leaseq.LeaseLost) as error:
        timed_queue.finish(lease, {"note": "words"}, expected_form=None)
    assert error.value.answer_kept
    assert [late.result for late in timed_queue.get("a").late_answers] == [{"note": "words"}]
