"""Waiting rows are enqueued once each, by priority and age, until the window is full."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import leaseq
from leaseq.bridge.migrator import Migrator
from leaseq.bridge.rebuild import rebuild
from leaseq.bridge.registry import Window
from leaseq.bridge.run import Bridge
from tests.bridge.conftest import Database, Make, finish, lose, only_sqlite, settle
from tests.conftest import Server
from tests.support.bad_questions import IMPOSSIBLE_FORM
from tests.support.leases import not_none
from tests.support.refused import refused

DUE = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)


def inbound_ids(queue: leaseq.Queue) -> list[str]:
    return [item.id for item in queue.items("inbound", limit=1000)]


def test_rows_are_enqueued_by_priority_and_age(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "b", "a")
    database.add(queue.name, "late", priority=900)
    database.add(queue.name, "soon", priority=1)
    settle(bridge)
    assert inbound_ids(queue) == ["soon", "b", "a", "late"]
    assert set(database.statuses().values()) == {"queued"}


def test_item_has_all_values_of_its_row(database: Database, bridge: Bridge, queue: leaseq.Queue) -> None:
    due = DUE if database.is_postgresql else "2031-05-06 07:08:09"
    payload = {"text": "ÄÖ 漢 \u0000 😀", "big": 12345678901234567890, "pi": 3.14}
    database.add(queue.name, "one", payload=payload, priority=7, requires="legal, fr", due=due)
    database.add(queue.name, "two", requires='["es"]')
    settle(bridge)
    item = queue.get("one")
    assert (item.payload, item.priority, item.requires, item.due) == (payload, 7, ("fr", "legal"), DUE)
    assert queue.get("two").requires == ("es",)


def test_window_is_refilled_only_at_its_low_mark(database: Database, make: Make, queue: leaseq.Queue) -> None:
    bridge = make(queue.name, high=4, low=2)
    database.add(queue.name, *(f"i{n}" for n in range(9)))
    settle(bridge)
    assert inbound_ids(queue) == ["i0", "i1", "i2", "i3"]
    finish(queue)
    settle(bridge)
    assert inbound_ids(queue) == ["i1", "i2", "i3"], "the window is not low yet"
    finish(queue)
    settle(bridge)
    assert inbound_ids(queue) == ["i2", "i3", "i4", "i5"]


def test_row_waits_until_its_run_at(database: Database, bridge: Bridge, queue: leaseq.Queue) -> None:
    hour = timedelta(hours=1)
    now = datetime.now(UTC)
    for id, time in (("later", now + hour), ("now", now - hour)):
        database.add(queue.name, id, run_at=time if database.is_postgresql else f"{time:%Y-%m-%dT%H:%M:%SZ}")
    settle(bridge)
    assert database.statuses() == {"later": "waiting", "now": "queued"}


def test_invalid_row_is_refused_with_reason_and_others_are_enqueued(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    queue.configure()
    database.add(queue.name, "big", payload="x" * 300_000)
    database.add(queue.name, "odd", requires="fr,not a skill!")
    database.add(queue.name, "few", priority=-1)
    database.add(queue.name, "x" * 600)
    for id, form in (("outside", {"ask": {"type": "object", "$ref": "file:///x"}}), ("no", IMPOSSIBLE_FORM)):
        database.add(queue.name, id, form=database.json(form))
    database.add(queue.name, "whom", assignee="a\tb")
    database.add(queue.name, "good")
    settle(bridge)
    refused_ids = {id for id, status in database.statuses().items() if status == "refused"}
    assert refused_ids == {"big", "odd", "few", "x" * 600, "outside", "no", "whom"}
    errors = [str(database.error(id)).partition(":")[0] for id in ("outside", "no", "whom")]
    assert errors == ["form", "form", "to"]
    assert "payload" in str(database.error("big"))
    assert "requires" in str(database.error("odd"))
    assert "priority" in str(database.error("few"))
    assert "id" in str(database.error("x" * 600))
    assert inbound_ids(queue) == ["good"]
    database.change("few", priority=5, status="waiting")
    settle(bridge)
    assert inbound_ids(queue) == ["few", "good"]
    assert database.error("few") is None


@only_sqlite
def test_row_with_one_skill_set_too_many_is_refused(
    database: Database, make: Make, queue: leaseq.Queue
) -> None:
    """A queue has room for 500 different sets of skills among its waiting items."""
    queue.enqueue_many(leaseq.NewItem({}, requires=(f"skill{n}",)) for n in range(499))
    database.add(queue.name, "a", requires="fr")
    database.add(queue.name, "b", requires="es")
    bridge = make(queue.name, high=1000, low=900)
    settle(bridge)
    statuses = database.statuses()
    assert (statuses["a"], statuses["b"]) == ("queued", "refused")
    assert "requires" in str(database.error("b"))
    assert queue.get("a").state == "inbound"


@only_sqlite
def test_row_with_unreadable_time_or_json_is_refused(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    columns = ("run_at", "due", "payload", "requires", "expires_at", "form")
    for id, column in zip("abcdef", columns, strict=True):
        database.run(
            f"INSERT INTO leaseq_item (queue, id, payload{', ' + column if column != 'payload' else ''}) "
            f"VALUES (:queue, :id, {':bad' if column == 'payload' else '1, :bad'})",
            queue=queue.name,
            id=id,
            bad="[soon",
        )
    settle(bridge)
    assert set(database.statuses().values()) == {"refused"}
    assert [str(database.error(id)).partition(":")[0] for id in "abcdef"] == list(columns)


def test_interrupted_enqueue_of_a_row_is_not_duplicated(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    queue.enqueue({"n": "a"}, id="a")  # in the queue, although its row is still waiting
    database.add(queue.name, "a", "b")
    settle(bridge)
    assert inbound_ids(queue) == ["a", "b"]
    assert queue.stats().counters["enqueued"] == 2


def test_waiting_item_takes_the_payload_of_its_row(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    queue.enqueue({"n": "before"}, id="a")  # in the queue, although its row is still waiting
    database.add(queue.name, "a")
    settle(bridge)
    assert queue.get("a").payload == {"n": "a"}


def test_row_of_an_already_finished_item_becomes_finished(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    queue.enqueue({"n": "a"}, id="a")
    finish(queue)
    database.add(queue.name, "a")
    settle(bridge)
    assert database.statuses() == {"a": "finished"}
    assert [row[0] for row in database.answers()] == ["a"]


def test_dead_item_is_revived_when_its_row_is_set_to_waiting(
    database: Database, bridge: Bridge, queue: leaseq.Queue, dead_item_id: str
) -> None:
    database.change(dead_item_id, status="waiting")
    settle(bridge)
    assert queue.get(dead_item_id).state == "inbound"
    assert database.statuses() == {dead_item_id: "queued"}


def test_revived_item_takes_the_changed_values_of_its_row(
    database: Database, bridge: Bridge, queue: leaseq.Queue, dead_item_id: str
) -> None:
    payload = database.json({"readable": True})
    database.change(dead_item_id, status="waiting", payload=payload, priority=3, requires="fr")
    settle(bridge)
    lease = not_none(queue.reserve("bob", skills=["fr"]))
    assert (lease.payload, queue.get(dead_item_id).priority) == ({"readable": True}, 3)


def test_dead_item_stays_dead_if_its_changed_row_is_invalid(
    database: Database, bridge: Bridge, queue: leaseq.Queue, dead_item_id: str
) -> None:
    database.change(dead_item_id, status="waiting", priority=-1)
    settle(bridge)
    assert queue.get(dead_item_id).state == "dead"
    assert database.statuses() == {dead_item_id: "dead"}
    assert "priority" in not_none(database.error(dead_item_id))


def test_refused_row_whose_item_the_queue_has_is_restored_by_a_rebuild(
    database: Database, bridge: Bridge, queue: leaseq.Queue, server: Server
) -> None:
    queue.configure(answers=2)
    database.add(queue.name, "a")
    settle(bridge)
    queue.finish(not_none(queue.reserve("ann")), {"ok": True})
    database.change("a", status="waiting", priority=-1)
    settle(bridge)
    assert "priority" in not_none(database.error("a"))
    database.change("a", status="waiting", priority=5, payload=database.json({"n": 9}))
    settle(bridge)
    assert "payload" in not_none(database.error("a"))
    assert database.statuses() == {"a": "queued"}
    lose(server, queue)
    assert rebuild(server.client, database.engine, queue.name).restored == 1
    assert [answer.person for answer in queue.get("a").answers] == ["ann"]


def test_row_with_a_duplicate_payload_is_refused(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    queue.configure(dedupe_seconds=60)
    database.add(queue.name, "a", "b", payload={"same": True})
    settle(bridge)
    assert database.statuses() == {"a": "queued", "b": "refused"}
    assert "dedupe_seconds" in str(database.error("b"))


def test_two_bridges_enqueue_each_row_once(database: Database, make: Make, queue: leaseq.Queue) -> None:
    first_bridge, second_bridge = make(queue.name, high=1000, low=900), make(queue.name, high=1000, low=900)
    database.add(queue.name, *(f"i{n:03}" for n in range(200)))
    first_bridge.step()
    second_bridge.step()
    settle(first_bridge)
    settle(second_bridge)
    assert len(inbound_ids(queue)) == queue.stats().counters["enqueued"] == 200


def test_a_bridge_with_another_window_is_refused(database: Database, make: Make, queue: leaseq.Queue) -> None:
    database.add(queue.name, "a")
    make(queue.name, high=100, low=50).step()
    with refused("other_window"):
        make(queue.name, high=10, low=5).step()
    database.run("UPDATE leaseq_bridge SET seen_at = '2020-01-01'")
    make(queue.name, high=10, low=5).step()


@pytest.mark.parametrize(("high", "low"), [(0, 0), (10, 10), (10, 11), (2_000_000, 5), (5, -1)])
def test_invalid_window_is_refused(high: int, low: int) -> None:
    with pytest.raises(leaseq.Invalid):
        Window(high, low)


def test_bridge_without_queue_names_serves_every_queue(
    database: Database, make: Make, server: Server, queue: leaseq.Queue
) -> None:
    other_queue = leaseq.Queue(server.client, f"{queue.name}-2")
    database.add(queue.name, "a")
    database.add(other_queue.name, "b")
    settle(make())
    assert (inbound_ids(queue), inbound_ids(other_queue)) == (["a"], ["b"])


def test_bridge_sets_keep_finished_only_if_the_policy_has_none(
    database: Database, make: Make, queue: leaseq.Queue
) -> None:
    queue.configure(keep_finished_seconds=5)
    database.add(queue.name, "a")
    make(queue.name, keep_finished_seconds=77).step()
    assert queue.policy.keep_finished_seconds == 5
    queue.configure(keep_finished_seconds=None)
    make(queue.name, keep_finished_seconds=77).step()
    assert queue.policy.keep_finished_seconds == 77


def test_queue_deleted_during_a_step_is_not_recreated(database: Database, queue: leaseq.Queue) -> None:
    """In a recreated queue, tokens would start again from the beginning."""
    database.add(queue.name, "a")
    assert Migrator(database.engine, Window(10, 5)).fill(queue) == 0
    assert not queue.exists()
    assert database.statuses() == {"a": "waiting"}
