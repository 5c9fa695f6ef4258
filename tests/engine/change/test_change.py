"""change: another priority, due date, set of skills, payload or time for what nobody holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import leaseq
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.engine import looking
from tests.engine.conftest import Sets
from tests.engine.waiters import Start
from tests.support.taking import take

DUE = datetime(2027, 5, 1, 12, tzinfo=UTC)


def changes(queue: leaseq.Queue) -> list[Any]:
    """What the journal has of each change: the item, by whom, and what was changed."""
    events = [event for event in queue.journal(limit=1000) if event.what == "changed"]
    return [(event.id, event.person, json.loads(event.detail or "")) for event in events]


def test_only_what_is_named_changes(timed: leaseq.Queue, sets: Sets) -> None:
    timed.enqueue({"n": 1}, id="a", priority=100, requires=["fr"], due=DUE)
    before = timed.get("a")
    assert timed.change("a", priority=10, by="meg").priority == 10
    assert timed.change("a", requires=["legal", "de"]).requires == ("de", "legal")
    assert timed.change("a", due=DUE + timedelta(days=1)).due == DUE + timedelta(days=1)
    assert timed.change("a", payload={"n": 2}).payload == {"n": 2}
    after = timed.change("a", priority=100, requires=(), due=None)
    assert (after.priority, after.requires, after.due, after.payload) == (100, (), None, {"n": 2})
    assert (after.enqueued_at, after.state_since) == (before.enqueued_at, before.state_since)
    assert sets()["inbound"] == ["a"]
    assert changes(timed) == [
        ("a", "meg", {"priority": 10}),
        ("a", None, {"requires": ["de", "legal"]}),
        ("a", None, {"due": "2027-05-02T12:00:00Z"}),
        ("a", None, {"payload": True}),
        ("a", None, {"priority": 100, "due": None, "requires": []}),
    ]


def test_what_is_so_already_is_no_change(timed: leaseq.Queue, server: Server) -> None:
    timed.enqueue({"n": 1}, id="a", priority=7, requires=["fr"], due=DUE)
    timed.enqueue({}, id="plain")
    before = looking.everything(server.redis, timed.name)
    timed.change("a", priority=7, requires=["fr"], due=DUE, payload={"n": 1}, delay=0)
    timed.change("a")
    timed.change("plain", priority=100, requires=(), due=None)
    assert looking.everything(server.redis, timed.name) == before


def test_it_goes_among_those_of_its_new_priority_by_its_age(timed: leaseq.Queue, sets: Sets) -> None:
    for n, priority in enumerate([10, 100, 10, 100, 10, 100]):
        timed.enqueue({}, id=f"{n}", priority=priority)
    for id in "351":  # in any order
        timed.change(id, priority=20)
    assert sets()["inbound"] == list("012345")
    timed.enqueue({}, id="6", priority=10)
    timed.change("2", priority=200)
    assert [take(timed, f"person {n}").id for n in range(7)] == list("0134562")


def test_what_was_out_before_stays_ahead_of_what_was_not(timed: leaseq.Queue, sets: Sets) -> None:
    for id in "abcd":
        timed.enqueue({}, id=id, priority=10 if id in "cd" else 100)
    first, second = take(timed, "ann"), take(timed, "bob")
    third = take(timed, "cyd")
    assert (first.id, second.id, third.id) == ("c", "d", "a")
    for lease in (third, first):
        timed.abandon(lease)
    timed.change("a", priority=10)
    assert sets()["inbound"] == ["a", "c", "b"], "by when they came back"


def test_the_due_date_is_that_of_the_list_and_of_the_item(timed: leaseq.Queue, clock: Clock) -> None:
    now = datetime.fromtimestamp(clock.now / 1e6, UTC)
    timed.enqueue({}, id="a")
    timed.change("a", due=now - timedelta(hours=1))
    assert timed.stats().overdue == 1
    assert [item.id for item in timed.by_due().items] == ["a"]
    timed.finish(take(timed, "ann"), {})
    assert timed.stats().overdue == 0
    timed.enqueue({}, id="b", due=now - timedelta(hours=1))
    timed.change("b", due=None)
    assert timed.stats().overdue == 0


def test_other_skills_are_of_the_people_who_may_have_it(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="a")
    timed.enqueue({}, id="b", requires=["fr"])
    timed.change("a", requires=["fr"])
    assert timed.reserve("ann") is None
    assert timed.why_nothing("ann").reason == "not-eligible"
    assert take(timed, "bob", "fr").id == "a", "the older one"
    timed.change("b", requires=[])
    assert take(timed, "ann").id == "b"


def test_one_that_waits_is_woken(timed: leaseq.Queue, start: Start) -> None:
    timed.enqueue({}, id="a", requires=["fr"])
    future = start("ann", timed)
    timed.change("a", requires=[])
    lease = future.result(20)
    assert lease is not None
    assert lease.id == "a"


def test_a_delay_schedules_it_and_none_lets_it_in(timed: leaseq.Queue, sets: Sets, clock: Clock) -> None:
    for id in "ab":
        timed.enqueue({}, id=id)
    item = timed.change("a", delay=60)
    assert (item.state, sets()["scheduled"], sets()["inbound"]) == ("scheduled", ["a"], ["b"])
    assert round(item.state_since.timestamp()) == clock.now // 1_000_000 + 60
    timed.change("a", delay=30)
    clock.tick(31)
    assert timed.clear().released == 1
    timed.change("b", delay=60)
    assert timed.change("b", delay=0).state == "inbound"
    assert (sets()["inbound"], sets()["scheduled"]) == (["a", "b"], [])
    assert [one[2] for one in changes(timed)] == [{"delay": seconds} for seconds in (60, 30, 60, 0)]


def test_the_shortest_delay_is_one(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="a")
    assert timed.change("a", delay=0.000_001).state == "scheduled"


def test_one_that_failed_may_be_tried_at_once(timed: leaseq.Queue, sets: Sets) -> None:
    timed.configure(retry_seconds=1000)
    for id in "ab":
        timed.enqueue({}, id=id)
    timed.fail(take(timed, "ann"), "no")
    timed.change("a", delay=0)
    assert sets()["inbound"] == ["a", "b"]


def test_what_is_scheduled_comes_in_with_its_new_priority(
    timed: leaseq.Queue, sets: Sets, clock: Clock
) -> None:
    timed.enqueue({}, id="waits")
    timed.enqueue({}, id="due", delay=60)
    assert timed.change("due", priority=10).state == "scheduled"
    clock.tick(61)
    timed.clear()
    assert sets()["inbound"] == ["due", "waits"]


def test_one_that_is_assigned_stays_theirs(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="a")
    timed.assign("a", "bob")
    item = timed.change("a", priority=10, requires=["fr"])
    assert (item.assigned_to, item.priority, item.requires) == (("bob",), 10, ("fr",))
    assert timed.reserve("ann", skills=["fr"]) is None
    assert take(timed, "bob").id == "a"


def test_one_that_is_assigned_and_let_in_is_ahead_of_what_never_left(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="later", delay=60)
    timed.assign("later", "bob")
    timed.enqueue({}, id="waits")
    timed.change("later", delay=0)
    assert take(timed, "bob").id == "later"


STATES: dict[str, Callable[[leaseq.Queue], object]] = {
    "reserved: release it first": lambda queue: take(queue, "ann"),
    "finished: enqueue it anew": lambda queue: queue.finish(take(queue, "ann"), {}),
}


@pytest.mark.parametrize("message", STATES)
def test_what_does_not_wait_is_refused(timed: leaseq.Queue, server: Server, message: str) -> None:
    timed.enqueue({}, id="a")
    STATES[message](timed)
    before = looking.everything(server.redis, timed.name)
    with pytest.raises(leaseq.Invalid, match=f"'a' is {message}") as error:
        timed.change("a", priority=10)
    assert error.value.field == "id"
    assert looking.everything(server.redis, timed.name) == before
    with pytest.raises(leaseq.ItemNotFound):
        timed.change("b", priority=10)


def test_a_dead_item_is_put_right_before_it_is_revived(
    timed: leaseq.Queue, server: Server, sets: Sets
) -> None:
    timed.configure(max_attempts=1)
    timed.enqueue({"n": 1}, id="a", due=DUE)
    timed.fail(take(timed, "ann"), "the scan is missing")
    item = timed.change("a", payload={"n": 2}, due=DUE + timedelta(days=1), priority=10, requires=["fr"])
    assert (item.state, item.last_error, sets()["inbound"]) == ("dead", "the scan is missing", [])
    assert timed.by_due().items == (), "a dead item is not late"
    before = looking.everything(server.redis, timed.name)
    with pytest.raises(leaseq.Invalid, match="'a' is dead: revive it first") as error:
        timed.change("a", priority=7, delay=0)
    assert error.value.field == "delay"
    assert looking.everything(server.redis, timed.name) == before
    timed.revive("a")
    (item,) = timed.by_due().items
    assert (item.payload, item.priority, item.requires) == ({"n": 2}, 10, ("fr",))
    assert timed.reserve("bob") is None
    assert take(timed, "cyd", "fr").payload == {"n": 2}


BAD: list[tuple[str, object]] = [
    ("priority", -1),
    ("priority", 1_000_001),
    ("priority", 1.5),
    ("priority", True),
    ("priority", None),
    ("due", datetime(2027, 1, 1)),  # noqa: DTZ001 - without a zone, on purpose
    ("due", "2027-01-01T00:00:00Z"),
    ("requires", "fr"),
    ("requires", None),
    ("requires", ["a b"]),
    ("requires", [f"s{n}" for n in range(17)]),
    ("delay", -1),
    ("delay", None),
    ("delay", float("nan")),
    ("delay", 315_360_001),
    ("payload", {1, 2}),
    ("payload", ["x" * 262_144]),
    ("by", ""),
]


@pytest.mark.parametrize(("field", "value"), BAD)
def test_bad_input_is_refused_by_name(timed: leaseq.Queue, server: Server, field: str, value: object) -> None:
    timed.enqueue({}, id="a")
    before = looking.everything(server.redis, timed.name)
    call: Any = timed.change
    with pytest.raises(leaseq.Invalid) as error:
        call("a", **{"priority": 10, field: value})
    assert error.value.field == field
    assert looking.everything(server.redis, timed.name) == before


def test_an_unknown_field_and_a_bad_id_are_refused(timed: leaseq.Queue) -> None:
    call: Any = timed.change
    with pytest.raises(TypeError, match="max_attempts"):
        call("a", max_attempts=3)
    with pytest.raises(leaseq.Invalid, match=r"^id: "):
        call("", priority=10)


def test_there_are_rows_for_so_many_sets_of_skills(timed: leaseq.Queue) -> None:
    timed.enqueue_many(leaseq.NewItem({}, id=f"{n}", requires=(f"s{n}",)) for n in range(500))
    timed.enqueue({}, id="a")
    with pytest.raises(leaseq.Invalid, match="at most 500 different sets") as error:
        timed.change("a", requires=["other"])
    assert error.value.field == "requires"
    assert timed.change("a", requires=["s7"]).requires == ("s7",)


def test_a_request_that_comes_again_is_not_carried_out_twice(timed: leaseq.Queue, clock: Clock) -> None:
    timed.enqueue({}, id="a")
    timed._commands.change("a", "", "one", ["priority", "10", "10", "delay", "60000000", "60"])
    state_since = timed.change("a", priority=200).state_since
    clock.tick(1)
    reply = timed._commands.change("a", "", "one", ["priority", "10", "10", "delay", "60000000", "60"])
    item = timed.get("a")
    assert timed._item(reply, "a") == item
    assert (item.priority, item.state_since) == (200, state_since)
    assert len(changes(timed)) == 2
    clock.tick(60)
    take(timed, "ann")
    timed._commands.change("a", "", "one", ["priority", "10", "10"])
    for n in range(20):
        timed.enqueue({}, id=f"{n}")
        timed.change(f"{n}", priority=10)
    requests = server_field(timed, "changes")
    assert len(requests.split()) == 16, "and no more"


def server_field(queue: leaseq.Queue, field: str) -> str:
    value: Any = queue._client.redis.hget(Keys(queue.name).ledger, field)
    return str(value.decode())


def test_a_repeated_enqueue_of_the_first_payload_is_a_duplicate_still(timed: leaseq.Queue) -> None:
    timed.configure(dedupe_seconds=60)
    timed.enqueue({"n": 1}, id="a")
    timed.change("a", payload={"n": 2})
    assert timed.enqueue({"n": 1}, id="b") == leaseq.Enqueued("a", False)
    assert timed.enqueue({"n": 2}, id="c").added, "dedupe_seconds goes by what was enqueued"
