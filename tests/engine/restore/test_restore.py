"""restore: an item that the server lost is created again with its answers. raise_tokens: later tokens are
higher than all that were granted before the loss."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

import leaseq
from leaseq import GivenAnswer, GivenAnswerRow, NewItem
from leaseq.engine import codec
from leaseq.engine.keys import Keys
from tests.conftest import Clock
from tests.support.leases import not_none
from tests.support.refused import refused

AT = datetime(2026, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC)


def given_answer(person: str, token: int, *, late: bool = False, stands: bool = True) -> GivenAnswer:
    return GivenAnswer(token, person, {"by": person}, AT, late, stands)


def test_restored_item_is_inbound_with_all_its_fields(timed_queue: leaseq.Queue) -> None:
    due = datetime(2030, 1, 1, tzinfo=UTC)
    assert timed_queue.restore(
        NewItem({"n": 1}, "one", 7, requires=("fr",), due=due, max_attempts=9), by="bob"
    )
    restored_item = timed_queue.get("one")
    assert (restored_item.state, restored_item.payload, restored_item.priority, restored_item.requires) == (
        "inbound",
        {"n": 1},
        7,
        ("fr",),
    )
    assert (restored_item.due, restored_item.max_attempts) == (due, 9)
    assert [item.id for item in timed_queue.by_due().items] == ["one"]
    assert timed_queue.reserve("ann") is None
    assert not_none(timed_queue.reserve("ann", skills=["fr"])).id == "one"
    event = next(event for event in timed_queue.journal() if event.what == "restored")
    assert (event.id, event.person) == ("one", "bob")


def test_restore_does_not_change_existing_item(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue("there", id="one")
    assert not timed_queue.restore(NewItem("other", "one"), [given_answer("ann", 5)])
    assert timed_queue.get("one").payload == "there"
    assert timed_queue.get("one").answers == ()


def test_restored_answers_count_and_their_people_do_not_get_item_again(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=3)
    timed_queue.restore(
        NewItem(1, "one"),
        [given_answer("ann", 5), given_answer("bob", 6, late=True), given_answer("cyd", 4, stands=False)],
    )
    item = timed_queue.get("one")
    assert [(a.person, a.token, a.result, a.late, a.finished_at) for a in item.answers] == [
        ("ann", 5, {"by": "ann"}, False, AT),
        ("bob", 6, {"by": "bob"}, True, AT),
    ]
    assert [(grant.reserved_at, grant.ended_at) for grant in item.history] == [(AT, AT)] * 2
    assert [(a.person, a.token) for a in item.late_answers] == [("cyd", 4)]
    assert timed_queue.reserve("ann") is None
    assert timed_queue.reserve("bob") is None
    timed_queue.finish(not_none(timed_queue.reserve("dan")), "third")
    assert timed_queue.get("one").state == "finished"
    assert timed_queue.adopt("one", 4).answers != item.answers


def test_tokens_continue_above_number_given_to_raise_tokens(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue_many([1, 2, 3])
    first = not_none(timed_queue.reserve("ann"))
    timed_queue.raise_tokens(1_900_000_000_000_000)
    timed_queue.raise_tokens(5)
    second = not_none(timed_queue.reserve("bob"))
    assert (first.token, second.token) == (1, 1_900_000_000_000_001)
    timed_queue.finish(first, "still good")
    assert timed_queue.finish(second, "x", then_reserve=True).next == timed_queue.mine("bob")[0]
    assert timed_queue.stats().counters["reserved"] == 3


@pytest.mark.parametrize("token", [-1, 2**53, 1.5, "7", None])
def test_raise_tokens_refuses_invalid_token(timed_queue: leaseq.Queue, token: object) -> None:
    with refused("range", "above"):
        timed_queue.raise_tokens(token)  # type: ignore[arg-type]


@pytest.mark.parametrize("result", [{"v": [1.0, "é", None]}, "text", True])
def test_answers_of_outcomes_can_be_restored(timed_queue: leaseq.Queue, result: leaseq.Json) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="one")
    timed_queue.finish(not_none(timed_queue.reserve("ann")), result)
    outcome, row = not_none(timed_queue.outcomes(["one"])[0]), not_none(timed_queue.outcome_rows(["one"])[0])
    for answers in (outcome.answers, row.answers):
        timed_queue.remove("one")
        assert timed_queue.restore(NewItem({}, "one"), answers)
        assert not_none(timed_queue.outcomes(["one"])[0]).answers == outcome.answers


def test_exact_text_of_result_is_restored(timed_queue: leaseq.Queue) -> None:
    text = '{"b": 1.50,  "a": 1e2}'
    timed_queue.configure(answers=2)
    timed_queue.restore(NewItem({}, "one"), [GivenAnswerRow(5, "ann", text, AT, late=False, stands=True)])
    assert [one.result for one in not_none(timed_queue.outcome_rows(["one"])[0]).answers] == [text]


@pytest.mark.parametrize(
    ("item", "answer", "field"),
    [
        (NewItem(1), given_answer("ann", 1), "id"),
        (NewItem(1, "one", priority=-1), given_answer("ann", 1), "priority"),
        (NewItem(1, "one"), given_answer("", 1), "person"),
        (NewItem(1, "one"), given_answer("ann", 0), "token"),
        (NewItem(1, "one"), GivenAnswer(1, "ann", object(), AT, late=False, stands=True), "result"),
        (NewItem(1, "one"), GivenAnswerRow(1, "ann", "no JSON", AT, late=False, stands=True), "result"),
    ],
)
def test_invalid_restore_is_refused_and_creates_nothing(
    timed_queue: leaseq.Queue, item: NewItem, answer: GivenAnswer | GivenAnswerRow, field: str
) -> None:
    with pytest.raises(leaseq.Invalid) as error:
        timed_queue.restore(item, [answer])
    assert error.value.field == field
    assert not timed_queue.exists()


def test_restored_item_keeps_its_own_number_of_answers(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=3)
    timed_queue.restore(NewItem(1, "one"), [given_answer("ann", 5)], answers_needed=2)
    assert timed_queue.get("one").answers_needed == 2
    timed_queue.finish(not_none(timed_queue.reserve("bob")), "second")
    assert timed_queue.get("one").state == "finished"
    assert timed_queue.reserve("cyd") is None


def test_restored_item_is_assigned_as_before(timed_queue: leaseq.Queue) -> None:
    timed_queue.restore(NewItem(1, "one"), assigned_to=["bob dylan"])
    assert timed_queue.reserve("ann") is None
    assert not_none(timed_queue.reserve("bob dylan")).id == "one"


def test_restored_assignments_of_one_item_go_to_their_people(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=4)
    timed_queue.restore(NewItem(1, "one"), [given_answer("ann", 5)], assigned_to=["bob", "cyd"])
    assert timed_queue.get("one").assigned_to == ("bob", "cyd")
    assert timed_queue.reserve("eve") is None
    for person in ("cyd", "bob", "eve"):
        timed_queue.finish(not_none(timed_queue.reserve(person)), person)
    item = timed_queue.get("one")
    assert (item.state, {one.person for one in item.answers}) == ("finished", {"ann", "bob", "cyd", "eve"})
    assert timed_queue.stats().counters["reserved"] == 3


def test_restored_failures_count(timed_queue: leaseq.Queue) -> None:
    timed_queue.restore(NewItem(1, "one", max_attempts=3), failures=2)
    assert timed_queue.get("one").failures == 2
    timed_queue.fail(not_none(timed_queue.reserve("ann")), "torn")
    assert timed_queue.get("one").state == "dead"


def test_restored_item_is_scheduled_until_its_time(timed_queue: leaseq.Queue, clock: Clock) -> None:
    at = codec.to_datetime(clock.now + 60_000_000)
    timed_queue.restore(NewItem(1, "one", at=at), assigned_to=["bob"])
    timed_queue.restore(NewItem(1, "two", at=codec.to_datetime(1)))
    assert [(one.id, one.state_since) for one in timed_queue.items("scheduled")] == [("one", at)]
    assert not_none(timed_queue.reserve("ann")).id == "two"
    clock.tick(61)
    timed_queue.clear()
    assert timed_queue.reserve("cyd") is None
    assert not_none(timed_queue.reserve("bob")).id == "one"


def test_dead_item_is_restored_with_all_it_had(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=2)
    timed_queue.restore(NewItem(1, "one"), dead=True, answers_needed=1, failures=3, assigned_to=["bob"])
    assert (timed_queue.get("one").state, timed_queue.get("one").failures) == ("dead", 3)
    timed_queue.revive("one")
    assert timed_queue.reserve("ann") is None
    timed_queue.finish(not_none(timed_queue.reserve("bob")), "yes")
    assert timed_queue.get("one").state == "finished"


def test_outcomes_have_all_that_restore_takes(timed_queue: leaseq.Queue, clock: Clock) -> None:
    """An item is removed and restored from its outcome, which is the same then."""
    at = codec.to_datetime(clock.now + 60_000_000)
    timed_queue.configure(answers=3, retry_seconds=0)
    timed_queue.enqueue({}, id="plain")
    timed_queue.enqueue({}, id="later", at=at, max_attempts=7)
    timed_queue.enqueue({}, id="hard", priority=1)
    timed_queue.assign("plain", "ann smith")
    timed_queue.fail(not_none(timed_queue.reserve("bob")), "torn")
    timed_queue.change("hard", answers=2)
    outcomes = [not_none(one) for one in timed_queue.outcomes(["plain", "later", "hard"])]
    assert [(one.assigned_to, one.at, one.max_attempts) for one in outcomes] == [
        (("ann smith",), None, None),
        ((), at, 7),
        ((), None, None),
    ]
    assert [(one.failures, one.answers_needed) for one in outcomes] == [(0, None), (0, None), (1, 2)]
    for one in outcomes:
        timed_queue.remove(one.id)
        assert timed_queue.restore(
            NewItem(one.payload, one.id, one.priority, max_attempts=one.max_attempts, at=one.at),
            one.answers,
            answers_needed=one.answers_needed,
            failures=one.failures,
            assigned_to=one.assigned_to,
        )
    assert timed_queue.outcomes(["plain", "later", "hard"]) == outcomes


FORM = {"ask": {"type": "object", "title": "How much?"}}
LATER = datetime(2030, 1, 1, 2, 3, 4, 567_891, tzinfo=UTC)


def restore_outcome(queue: leaseq.Queue, outcome: leaseq.Outcome) -> None:
    names = ("failures", "answers_needed", "assigned_to", "died_of", "reason", "asked_by")
    queue.restore(
        NewItem(outcome.payload, outcome.id, at=outcome.at, form=outcome.form, expires=outcome.expires),
        outcome.answers,
        dead=outcome.state == "dead",
        **{name: getattr(outcome, name) for name in names},
    )


def lose_all(queue: leaseq.Queue) -> None:
    for id in {item.id for state in leaseq.STATES for item in queue.items(state)}:
        queue.remove(id)
    assert queue._client.redis.exists(Keys(queue.name).forms, Keys(queue.name).expiring) == 0


def test_outcomes_are_enough_to_restore_own_forms_deadlines_and_why_items_ended(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.configure(answers=2)
    for id in ("answered", "waits", "told", "untold"):
        timed_queue.enqueue(id, id=id, form=FORM, expires=LATER)
    timed_queue.enqueue("over", id="over", expires=5)
    timed_queue.enqueue("ann's", id="to", to="ann b")
    timed_queue.enqueue("later", id="later", delay=60, expires=90, form=FORM)
    timed_queue.enqueue("plain", id="plain")
    timed_queue.cancel("told", "sold: nobody\nneeds it")
    timed_queue.cancel("untold")
    timed_queue.finish(not_none(timed_queue.reserve("cyd")), {})
    clock.tick(6)
    timed_queue.clear()
    ids = sorted({item.id for state in leaseq.STATES for item in timed_queue.items(state)})
    before = timed_queue.outcomes(ids)
    by_id = {outcome.id: outcome for outcome in before if outcome}
    assert (by_id["told"].died_of, by_id["told"].reason) == ("cancelled", "sold: nobody\nneeds it")
    assert (by_id["untold"].died_of, by_id["untold"].reason) == ("cancelled", None)
    assert (by_id["over"].died_of, by_id["waits"].died_of) == ("expired", None)
    assert (by_id["waits"].form, by_id["waits"].expires) == (FORM, LATER)
    errors = {id: timed_queue.get(id).last_error for id in by_id}
    lose_all(timed_queue)
    for outcome in by_id.values():
        restore_outcome(timed_queue, outcome)
    assert timed_queue.outcomes(sorted(by_id)) == before
    assert {id: timed_queue.get(id).last_error for id in by_id} == errors
    assert not_none(timed_queue.reserve("ann b")).id == "to"
    leases = [not_none(timed_queue.reserve(person)) for person in ("dan", "eve", "fay")]
    assert {lease.id: lease.form for lease in leases} == {"plain": None, "waits": FORM, "answered": FORM}
    clock.tick(100)
    timed_queue.clear()
    assert timed_queue.get("later").died_of == "expired"
    lose_all(timed_queue)


def test_restored_question_is_still_that_of_its_asker(queue: leaseq.Queue) -> None:
    for asker in ("ann b", ""):
        queue.restore(NewItem(1, "one", form=FORM), [given_answer("bob", 5)], asked_by=asker)
        assert queue.get("one").asked_by == not_none(queue.outcomes(["one"])[0]).asked_by == asker
        queue.remove("one")


def test_restored_item_whose_deadline_is_over_dies_as_expired(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.restore(NewItem(1, "one", expires=codec.to_datetime(clock() - 1)))
    assert timed_queue.reserve("ann") is None
    timed_queue.clear()
    assert timed_queue.get("one").died_of == "expired"


def test_revived_item_that_was_restored_dead_expires_at_its_time(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.restore(NewItem(1, "one", expires=60), dead=True, died_of="cancelled")
    timed_queue.revive("one")
    assert timed_queue.get("one").last_error is None
    clock.tick(61)
    timed_queue.clear()
    assert timed_queue.get("one").died_of == "expired"


@pytest.mark.parametrize(
    ("field", "item", "options"),
    [
        ("assigned_to", NewItem(1, "one", to="ann"), {"assigned_to": ["bob"]}),
        ("assigned_to", NewItem(1, "one", to="ann"), {"assigned_to": iter(["bob"])}),
        ("to", NewItem(1, "one", to="\0"), {}),
        ("died_of", NewItem(1, "one"), {"dead": True, "died_of": "age"}),
        ("reason", NewItem(1, "one"), {"dead": True, "died_of": "cancelled", "reason": 5}),
        ("asked_by", NewItem(1, "one"), {"asked_by": "a\tb"}),
        ("form", NewItem(1, "one", form={"ask": 5}), {}),
        ("expires", NewItem(1, "one", expires=datetime(1969, 1, 1, tzinfo=UTC)), {}),
    ],
)
def test_bad_values_are_refused(queue: leaseq.Queue, field: str, item: NewItem, options: Any) -> None:
    with pytest.raises(leaseq.Invalid) as refusal:
        queue.restore(item, **options)
    assert refusal.value.field == field
    assert not queue.exists() or queue.stats().inbound == 0
