"""change: priority, due date, skills, payload or time of items that nobody holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import leaseq
from leaseq.engine import codec
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.engine import server_contents
from tests.engine.conftest import Sets
from tests.engine.waiters import Start
from tests.support.leases import take
from tests.support.refused import refused

DUE = datetime(2027, 5, 1, 12, tzinfo=UTC)


def changes(queue: leaseq.Queue) -> list[Any]:
    """Return the item, the person and the changes of each change in the journal."""
    events = [event for event in queue.journal(limit=1000) if event.what == "changed"]
    return [(event.id, event.person, json.loads(event.detail or "")) for event in events]


def test_change_affects_only_given_fields(timed_queue: leaseq.Queue, sets: Sets) -> None:
    timed_queue.enqueue({"n": 1}, id="a", priority=100, requires=["fr"], due=DUE)
    before = timed_queue.get("a")
    assert timed_queue.change("a", priority=10, by="meg").priority == 10
    assert timed_queue.change("a", requires=["legal", "de"]).requires == ("de", "legal")
    assert timed_queue.change("a", due=DUE + timedelta(days=1)).due == DUE + timedelta(days=1)
    assert timed_queue.change("a", payload={"n": 2}).payload == {"n": 2}
    after = timed_queue.change("a", priority=100, requires=(), due=None)
    assert (after.priority, after.requires, after.due, after.payload) == (100, (), None, {"n": 2})
    assert (after.enqueued_at, after.state_since) == (before.enqueued_at, before.state_since)
    assert sets()["inbound"] == ["a"]
    assert changes(timed_queue) == [
        ("a", "meg", {"priority": 10}),
        ("a", None, {"requires": ["de", "legal"]}),
        ("a", None, {"due": "2027-05-02T12:00:00Z"}),
        ("a", None, {"payload": True}),
        ("a", None, {"priority": 100, "due": None, "requires": []}),
    ]


def test_change_to_same_values_writes_nothing(timed_queue: leaseq.Queue, server: Server) -> None:
    timed_queue.enqueue({"n": 1}, id="a", priority=7, requires=["fr"], due=DUE)
    timed_queue.enqueue({}, id="plain")
    before = server_contents.everything(server.redis, timed_queue.name)
    timed_queue.change("a", priority=7, requires=["fr"], due=DUE, payload={"n": 1}, delay=0)
    timed_queue.change("a")
    timed_queue.change("plain", priority=100, requires=(), due=None)
    assert server_contents.everything(server.redis, timed_queue.name) == before


def test_change_of_an_item_that_is_not_as_expected_writes_nothing(
    timed_queue: leaseq.Queue, server: Server, clock: Clock
) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a", priority=7, requires=["fr"], due=DUE)
    timed_queue.enqueue({}, id="later", priority=7, requires=["fr"], due=DUE, delay=60)
    values: dict[str, Any] = {"priority": 100, "due": None, "requires": ["de"], "delay": 30}
    for name, value in values.items():
        for id in ("a", "later"):
            read = timed_queue.get(id)
            changed = timed_queue.change(id, expected=read, **{name: value})
            before = server_contents.everything(server.redis, timed_queue.name)
            for changes in ({name: value}, values):
                with refused("item_changed", "expected"):
                    timed_queue.change(id, expected=read, **changes)
            assert server_contents.everything(server.redis, timed_queue.name) == before
            assert timed_queue.change(id, expected=changed, **{name: value}).requires == changed.requires
            clock.tick(1)
    clock.tick(60)
    held = timed_queue.get(take(timed_queue, "ann", "de").id)
    assert timed_queue.change(held.id, expected=held, delay=9).state == "reserved"  # its other assignment
    assert timed_queue.change("a", expected=timed_queue.get("later"), answers=1).answers_needed == 1


def test_changed_priority_places_item_by_age(timed_queue: leaseq.Queue, sets: Sets) -> None:
    for n, priority in enumerate([10, 100, 10, 100, 10, 100]):
        timed_queue.enqueue({}, id=f"{n}", priority=priority)
    for id in "351":  # in any order
        timed_queue.change(id, priority=20)
    assert sets()["inbound"] == list("012345")
    timed_queue.enqueue({}, id="6", priority=10)
    timed_queue.change("2", priority=200)
    assert [take(timed_queue, f"person {n}").id for n in range(7)] == list("0134562")


def test_changed_priority_keeps_order_of_returned_items(timed_queue: leaseq.Queue, sets: Sets) -> None:
    for id in "abcd":
        timed_queue.enqueue({}, id=id, priority=10 if id in "cd" else 100)
    first, second = take(timed_queue, "ann"), take(timed_queue, "bob")
    third = take(timed_queue, "cyd")
    assert (first.id, second.id, third.id) == ("c", "d", "a")
    for lease in (third, first):
        timed_queue.abandon(lease)
    timed_queue.change("a", priority=10)
    assert sets()["inbound"] == ["a", "c", "b"], "in the order in which they came back"


def test_changed_due_date_updates_by_due_and_overdue_count(timed_queue: leaseq.Queue, clock: Clock) -> None:
    now = datetime.fromtimestamp(clock.now / 1e6, UTC)
    timed_queue.enqueue({}, id="a")
    timed_queue.change("a", due=now - timedelta(hours=1))
    assert timed_queue.stats().overdue == 1
    assert [item.id for item in timed_queue.by_due().items] == ["a"]
    timed_queue.finish(take(timed_queue, "ann"), {})
    assert timed_queue.stats().overdue == 0
    timed_queue.enqueue({}, id="b", due=now - timedelta(hours=1))
    timed_queue.change("b", due=None)
    assert timed_queue.stats().overdue == 0


def test_changed_skills_decide_eligibility(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue.enqueue({}, id="b", requires=["fr"])
    timed_queue.change("a", requires=["fr"])
    assert timed_queue.reserve("ann") is None
    assert timed_queue.why_nothing("ann").reason == "not-eligible"
    assert take(timed_queue, "bob", "fr").id == "a", "a is the older one"
    timed_queue.change("b", requires=[])
    assert take(timed_queue, "ann").id == "b"


def test_changed_skills_wake_waiting_reserve(timed_queue: leaseq.Queue, start: Start) -> None:
    timed_queue.enqueue({}, id="a", requires=["fr"])
    future = start("ann", timed_queue)
    timed_queue.change("a", requires=[])
    lease = future.result(20)
    assert lease is not None
    assert lease.id == "a"


def test_delay_schedules_item_and_zero_delay_unschedules_item(
    timed_queue: leaseq.Queue, sets: Sets, clock: Clock
) -> None:
    for id in "ab":
        timed_queue.enqueue({}, id=id)
    item = timed_queue.change("a", delay=60)
    assert (item.state, sets()["scheduled"], sets()["inbound"]) == ("scheduled", ["a"], ["b"])
    assert round(item.state_since.timestamp()) == clock.now // 1_000_000 + 60
    timed_queue.change("a", delay=30)
    clock.tick(31)
    assert timed_queue.clear().released == 1
    timed_queue.change("b", delay=60)
    assert timed_queue.change("b", delay=0).state == "inbound"
    assert (sets()["inbound"], sets()["scheduled"]) == (["a", "b"], [])
    assert [one[2] for one in changes(timed_queue)] == [{"delay": seconds} for seconds in (60, 30, 60, 0)]


def test_delay_of_one_microsecond_schedules_item(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    assert timed_queue.change("a", delay=0.000_001).state == "scheduled"


def test_zero_delay_ends_retry_delay_of_failed_item(timed_queue: leaseq.Queue, sets: Sets) -> None:
    timed_queue.configure(retry_seconds=1000)
    for id in "ab":
        timed_queue.enqueue({}, id=id)
    timed_queue.fail(take(timed_queue, "ann"), "no")
    timed_queue.change("a", delay=0)
    assert sets()["inbound"] == ["a", "b"]


def test_scheduled_item_is_released_with_changed_priority(
    timed_queue: leaseq.Queue, sets: Sets, clock: Clock
) -> None:
    timed_queue.enqueue({}, id="waits")
    timed_queue.enqueue({}, id="due", delay=60)
    assert timed_queue.change("due", priority=10).state == "scheduled"
    clock.tick(61)
    timed_queue.clear()
    assert sets()["inbound"] == ["due", "waits"]


def test_assigned_item_stays_assigned_after_change(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue.assign("a", "bob")
    item = timed_queue.change("a", priority=10, requires=["fr"])
    assert (item.assigned_to, item.priority, item.requires) == (("bob",), 10, ("fr",))
    assert timed_queue.reserve("ann", skills=["fr"]) is None
    assert take(timed_queue, "bob").id == "a"


def test_assigned_item_with_zero_delay_precedes_unassigned_items(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="later", delay=60)
    timed_queue.assign("later", "bob")
    timed_queue.enqueue({}, id="waits")
    timed_queue.change("later", delay=0)
    assert take(timed_queue, "bob").id == "later"


STATES: dict[str, Callable[[leaseq.Queue], object]] = {
    "reserved": lambda queue: take(queue, "ann"),
    "finished": lambda queue: queue.finish(take(queue, "ann"), {}),
}


@pytest.mark.parametrize("state", STATES)
def test_change_refuses_non_waiting_item(timed_queue: leaseq.Queue, server: Server, state: str) -> None:
    timed_queue.enqueue({}, id="a")
    STATES[state](timed_queue)
    before = server_contents.everything(server.redis, timed_queue.name)
    with refused("state", "id", id="a", state=state):
        timed_queue.change("a", priority=10)
    assert server_contents.everything(server.redis, timed_queue.name) == before
    with pytest.raises(leaseq.ItemNotFound):
        timed_queue.change("b", priority=10)


def test_dead_item_can_be_changed_before_revive(
    timed_queue: leaseq.Queue, server: Server, sets: Sets
) -> None:
    timed_queue.configure(max_attempts=1)
    timed_queue.enqueue({"n": 1}, id="a", due=DUE)
    timed_queue.fail(take(timed_queue, "ann"), "the scan is missing")
    item = timed_queue.change(
        "a", payload={"n": 2}, due=DUE + timedelta(days=1), priority=10, requires=["fr"]
    )
    assert (item.state, item.last_error, sets()["inbound"]) == ("dead", "the scan is missing", [])
    assert timed_queue.by_due().items == (), "a dead item is not late"
    before = server_contents.everything(server.redis, timed_queue.name)
    with refused("state", "delay", what="revive", id="a", state="dead") as error:
        timed_queue.change("a", priority=7, delay=0)
    assert error.value.field == "delay"
    assert server_contents.everything(server.redis, timed_queue.name) == before
    timed_queue.revive("a")
    (item,) = timed_queue.by_due().items
    assert (item.payload, item.priority, item.requires) == ({"n": 2}, 10, ("fr",))
    assert timed_queue.reserve("bob") is None
    assert take(timed_queue, "cyd", "fr").payload == {"n": 2}


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
def test_bad_input_is_refused_with_field_name(
    timed_queue: leaseq.Queue, server: Server, field: str, value: object
) -> None:
    timed_queue.enqueue({}, id="a")
    before = server_contents.everything(server.redis, timed_queue.name)
    call: Any = timed_queue.change
    with pytest.raises(leaseq.Invalid) as error:
        call("a", **{"priority": 10, field: value})
    assert error.value.field == field
    assert server_contents.everything(server.redis, timed_queue.name) == before


def test_an_unknown_field_and_a_bad_id_are_refused(timed_queue: leaseq.Queue) -> None:
    call: Any = timed_queue.change
    with pytest.raises(TypeError, match="max_attempts"):
        call("a", max_attempts=3)
    with refused("printable", "id"):
        call("", priority=10)


def test_number_of_different_skill_sets_is_limited(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue_many(leaseq.NewItem({}, id=f"{n}", requires=(f"s{n}",)) for n in range(500))
    timed_queue.enqueue({}, id="a")
    with refused("maximum", what="rows") as error:
        timed_queue.change("a", requires=["other"])
    assert error.value.field == "requires"
    assert timed_queue.change("a", requires=["s7"]).requires == ("s7",)


def test_repeated_request_is_applied_once(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue._commands.run("change", "a", "", "one", "priority", 10, 10, "delay", 60000000, 60)
    state_since = timed_queue.change("a", priority=200).state_since
    clock.tick(1)
    reply = timed_queue._commands.run("change", "a", "", "one", "priority", 10, 10, "delay", 60000000, 60)
    item = timed_queue.get("a")
    assert codec.item("a", reply.rest[0]) == item
    assert (item.priority, item.state_since) == (200, state_since)
    assert len(changes(timed_queue)) == 2
    clock.tick(60)
    take(timed_queue, "ann")
    timed_queue._commands.run("change", "a", "", "one", "priority", 10, 10)
    for n in range(20):
        timed_queue.enqueue({}, id=f"{n}")
        timed_queue.change(f"{n}", priority=10)
    requests = server_field(timed_queue, "changes")
    assert len(requests.split()) == 16, "the number of kept requests is limited"


def server_field(queue: leaseq.Queue, field: str) -> str:
    value: Any = queue._client.redis.hget(Keys(queue.name).ledger, field)
    return str(value.decode())


def test_dedupe_compares_with_original_payload_after_change(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(dedupe_seconds=60)
    timed_queue.enqueue({"n": 1}, id="a")
    timed_queue.change("a", payload={"n": 2})
    assert timed_queue.enqueue({"n": 1}, id="b") == leaseq.Enqueued("a", False)
    assert timed_queue.enqueue({"n": 2}, id="c").added, "dedupe_seconds compares with the enqueued payload"
