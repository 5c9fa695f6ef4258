"""A queue that the server lost is rebuilt from the database, and the two can be compared."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

import leaseq
from leaseq.bridge.rebuild import rebuild
from leaseq.bridge.run import Bridge
from leaseq.bridge.verify import verify
from tests.bridge.conftest import Database, Make, finish, lose, settle
from tests.conftest import Clock, Server
from tests.support.leases import not_none
from tests.support.refused import refused

DUE = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)


def find_differences(server: Server, database: Database, queue: leaseq.Queue) -> list[str]:
    return [
        difference.text
        for difference in verify(server.client, database.engine, queue.name, sleep=lambda _: None)
    ]


def test_rebuild_restores_unfinished_items_and_keeps_answers(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    queue.configure(title="Reviews", lease_seconds=77)
    database.add(queue.name, "done", "held", "waits", "also", priority=3)
    settle(bridge)
    finish(queue)
    lease = not_none(queue.reserve("bob"))
    settle(bridge)
    lose(server, queue)
    rebuilt = rebuild(server.client, database.engine, queue.name)
    assert (rebuilt.restored, rebuilt.refused, rebuilt.waiting) == (3, 0, 0)
    assert [item.id for item in queue.items("inbound")] == ["held", "waits", "also"]
    assert (queue.policy.title, queue.policy.lease_seconds) == ("Reviews", 77)
    assert queue.get("held").priority == 3
    assert not_none(queue.reserve("cid")).token > lease.token + 1_000
    settle(bridge)
    assert [row[0] for row in database.answers()] == ["done"]
    assert find_differences(server, database, queue) == []


def test_invalid_row_is_refused_and_others_are_restored(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a", "b")
    settle(bridge)
    lose(server, queue)
    database.change("a", priority=-1)
    rebuilt = rebuild(server.client, database.engine, queue.name)
    assert (rebuilt.restored, rebuilt.refused) == (1, 1)
    assert database.statuses() == {"a": "refused", "b": "queued"}
    assert "priority" in not_none(database.error("a"))


def test_lease_from_before_the_rebuild_is_lost(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a")
    settle(bridge)
    lease = not_none(queue.reserve("bob"))
    settle(bridge)
    lose(server, queue)
    rebuild(server.client, database.engine, queue.name)
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(lease, "no")
    settle(bridge)
    finish(queue, "ann", "yes")
    settle(bridge)
    assert [row[:3] for row in database.answers()] == [("a", "ann", "yes")]


def test_new_tokens_exceed_the_highest_token_in_the_database(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    """The highest token may be above the time, for instance because the lost server's clock was ahead."""
    database.add(queue.name, "a", "b")
    settle(bridge)
    queue.raise_tokens(4_000_000_000_000_000)
    lease = finish(queue)
    settle(bridge)
    lose(server, queue)
    rebuild(server.client, database.engine, queue.name)
    assert not_none(queue.reserve("bob")).token > lease.token


def test_person_does_not_get_an_answered_item_again_after_rebuild(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    queue.configure(answers=3, holds=5)
    database.add(queue.name, "a", requires="fr")
    settle(bridge)
    for person in ("ann", "bob"):
        queue.finish(not_none(queue.reserve(person, skills=["fr"])), person)
    settle(bridge)
    lose(server, queue)
    rebuild(server.client, database.engine, queue.name)
    assert queue.reserve("ann", skills=["fr"]) is None
    assert [(answer.person, answer.result) for answer in queue.get("a").answers] == [
        ("ann", "ann"),
        ("bob", "bob"),
    ]
    queue.finish(not_none(queue.reserve("cid", skills=["fr"])), "cid")
    assert queue.get("a").state == "finished"
    settle(bridge)
    assert database.statuses() == {"a": "finished"}
    assert [row[1] for row in database.answers()] == ["ann", "bob", "cid"]
    assert find_differences(server, database, queue) == []


def test_running_bridge_does_not_recreate_a_lost_queue(
    server: Server,
    database: Database,
    bridge: Bridge,
    queue: leaseq.Queue,
    caplog: pytest.LogCaptureFixture,
) -> None:
    database.add(queue.name, "a")
    settle(bridge)
    lose(server, queue)
    database.add(queue.name, "b")
    for _ in range(3):
        bridge.step()
    assert not queue.exists(), "its tokens would start again from the beginning"
    assert caplog.text.count("the server has lost it") == 1
    rebuild(server.client, database.engine, queue.name)
    settle(bridge)
    assert [item.id for item in queue.items("inbound")] == ["a", "b"]


def test_missing_items_of_a_recreated_queue_are_logged_and_rebuilt(
    server: Server,
    database: Database,
    bridge: Bridge,
    queue: leaseq.Queue,
    caplog: pytest.LogCaptureFixture,
) -> None:
    database.add(queue.name, "a", "done")
    settle(bridge)
    assert "it was created again" not in caplog.text
    finish(queue)
    settle(bridge)
    queue.delete()
    queue.configure()
    database.add(queue.name, "b")
    for _ in range(2):
        settle(bridge)
    message = f"queue {queue.name}: it was created again, without 1 of the items"
    assert caplog.text.count(message) == 1
    assert f"`leaseq bridge rebuild {queue.name}`" in caplog.text
    rebuild(server.client, database.engine, queue.name)
    settle(bridge)
    assert sorted(item.id for item in queue.items("inbound")) == ["b", "done"]
    assert find_differences(server, database, queue) == []
    assert caplog.text.count("it was created again") == 1


def test_interrupted_rebuild_can_be_repeated(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a", "b")
    settle(bridge)
    lose(server, queue)
    queue.restore(leaseq.NewItem({"n": "a"}, id="a"))
    rebuild(server.client, database.engine, queue.name)
    rebuild(server.client, database.engine, queue.name)
    assert sorted(item.id for item in queue.items("inbound")) == ["a", "b"]


def test_rebuild_does_not_inflate_the_reserved_counter(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a", "b")
    settle(bridge)
    lose(server, queue)
    rebuild(server.client, database.engine, queue.name)
    finish(queue)
    assert queue.stats().counters["reserved"] == 1


def test_rebuild_of_a_queue_without_rows_is_refused(server: Server, database: Database) -> None:
    with refused("database_queue"):
        rebuild(server.client, database.engine, "no-such-queue")


@pytest.mark.usefixtures("dead_item_id")
def test_verify_reports_no_difference_for_a_dead_item(
    server: Server, database: Database, queue: leaseq.Queue
) -> None:
    assert find_differences(server, database, queue) == []


def test_verify_reports_each_kind_of_difference(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "gone", "moved", "cancelled", "other-answer", "no-answer", "kept")
    settle(bridge)
    assert find_differences(server, database, queue) == []
    queue.remove("gone")
    database.change("moved", status="finished")
    for id in ("other-answer", "no-answer"):
        queue.assign(id, "eve")
        finish(queue, "eve", "yes")
    settle(bridge)
    database.change("cancelled", status="dead")
    database.change("gone", status="queued")
    database.run("UPDATE leaseq_answer SET result = '\"no\"' WHERE id = 'other-answer'")
    database.run("DELETE FROM leaseq_answer WHERE id = 'no-answer'")
    database.run("DELETE FROM leaseq_item WHERE id = 'kept'")
    database.run("DELETE FROM leaseq_change")
    texts = {
        difference.id: difference.text
        for difference in verify(server.client, database.engine, queue.name, lambda _: None)
    }
    assert texts == {
        "gone": "is queued in the database, and the queue does not have it",
        "moved": "is finished in the database and inbound in the queue",
        "cancelled": "is dead in the database and inbound in the queue",
        "other-answer": "its answer with token 1 is a different one in the database",
        "no-answer": "its answer with token 2 is not in the database",
        "kept": "is inbound in the queue, and the database has no row for it",
    }


def test_verify_ignores_a_temporary_difference(
    server: Server, database: Database, make: Make, queue: leaseq.Queue
) -> None:
    bridge = make(queue.name)
    database.add(queue.name, "a")
    settle(bridge)
    finish(queue)
    differences = verify(server.client, database.engine, queue.name, sleep=lambda _: settle(bridge))
    assert list(differences) == []


def test_new_tokens_exceed_the_time(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    """Tokens may have been granted that the database never heard of."""
    database.add(queue.name, "a")
    settle(bridge)
    lose(server, queue)
    before = time.time_ns() // 1_000
    assert rebuild(server.client, database.engine, queue.name).tokens_above >= before
    assert not_none(queue.reserve("ann")).token > before


def test_interrupted_rebuild_does_not_keep_the_cursor_of_the_lost_server(
    server: Server, database: Database, make: Make, queue_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = leaseq.Queue(server.client, queue_name, clock=Clock.from_now(3600))
    ahead.configure()
    database.add(queue_name, "a", "b")
    settle(make(queue_name))
    finish(ahead)
    settle(make(queue_name))
    lose(server, ahead)

    def interrupt(*_: object, **__: object) -> bool:
        raise KeyboardInterrupt

    for name in ("configure", "restore"):
        with monkeypatch.context() as patch:
            patch.setattr(leaseq.Queue, name, interrupt)
            with pytest.raises(KeyboardInterrupt):
                rebuild(server.client, database.engine, queue_name)
        if name == "configure":
            make(queue_name).step()
            assert not ahead.exists(), "the bridge does not create it with old tokens"
    rebuild(server.client, database.engine, queue_name)
    finish(leaseq.Queue(server.client, queue_name), "bob", "now")
    settle(make(queue_name))
    assert [row[2] for row in database.answers()] == ["yes", "now"]
    assert database.statuses() == {"a": "finished", "b": "finished"}


def test_dead_items_are_dead_again_after_rebuild(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue, dead_item_id: str
) -> None:
    lose(server, queue)
    rebuilt = rebuild(server.client, database.engine, queue.name)
    assert (rebuilt.restored, rebuilt.dead) == (0, 1)
    settle(bridge)
    assert queue.get(dead_item_id).state == "dead"
    assert find_differences(server, database, queue) == []
    queue.revive(dead_item_id)
    finish(queue)
    settle(bridge)
    assert database.statuses() == {dead_item_id: "finished"}


def test_dead_items_that_the_policy_forgets_are_no_difference(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue, dead_item_id: str
) -> None:
    queue.configure(keep_dead_seconds=60)
    settle(bridge)
    lose(server, queue)
    assert rebuild(server.client, database.engine, queue.name).dead == 0
    settle(bridge)
    assert database.statuses() == {dead_item_id: "dead"}
    assert find_differences(server, database, queue) == []


def test_rebuild_restores_all_answers_of_one_token(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    queue.configure(answers=2)
    database.add(queue.name, "a")
    settle(bridge)
    lease = finish(queue, "ann", "first")
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(lease, "second")
    settle(bridge)
    lose(server, queue)
    rebuild(server.client, database.engine, queue.name)
    item = queue.get("a")
    assert [one.result for one in item.answers] == ["first"]
    assert [one.result for one in item.late_answers] == ["second"]
    assert find_differences(server, database, queue) == []


def test_change_made_during_a_rebuild_is_not_dropped(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a", "b")
    settle(bridge)
    lose(server, queue)
    queue.restore(leaseq.NewItem({"n": "a"}, id="a"))  # as far as the rebuild has come
    database.change("a", status="cancelled")
    rebuild(server.client, database.engine, queue.name)
    settle(bridge)
    assert [item.id for item in queue.items("inbound")] == ["b"]


def test_verify_waits_once_for_all_differences(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, *(f"i{n}" for n in range(600)))
    database.run("UPDATE leaseq_item SET status = 'queued'")
    waits: list[float] = []
    differences = verify(server.client, database.engine, queue.name, waits.append)
    assert (len(differences), sum(waits)) == (600, 2.5)


def test_verify_compares_answers_as_json(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a")
    settle(bridge)
    finish(queue, result={"n": 1, "m": [2]})
    settle(bridge)
    for result, count in (('{"m": [2.0], "n": 1}', 0), ('{"n": true, "m": [2]}', 1), ('{"n": 1}', 1)):
        value = "CAST(:result AS json)" if database.is_postgresql else ":result"
        database.run(f"UPDATE leaseq_answer SET result = {value}", result=result)
        assert len(find_differences(server, database, queue)) == count


def test_verify_compares_which_answer_is_accepted(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a")
    settle(bridge)
    finish(queue)
    settle(bridge)
    database.run("UPDATE leaseq_answer SET accepted = false")
    assert len(find_differences(server, database, queue)) == 1


def test_rebuild_restores_what_managers_and_people_did(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    queue.configure(answers=3, retry_seconds=0, max_attempts=2)
    database.add(queue.name, "a", "b", "c", "d")
    settle(bridge)
    queue.finish(not_none(queue.reserve("ann")), "first")
    queue.change("a", answers=2)
    queue.assign("b", "bob")
    queue.fail(not_none(queue.reserve("bob")), "torn")
    queue.change("c", priority=7, requires=["fr"], due=DUE, payload={"b": 1.0, "a": 1})
    queue.change("d", delay=3_600)
    queue.enqueue({"e": 1}, id="e", max_attempts=5)
    ids = ["a", "b", "c", "d", "e"]
    settle(bridge)
    before = queue.outcome_rows(ids)
    assert find_differences(server, database, queue) == []
    lose(server, queue)
    rebuild(server.client, database.engine, queue.name)
    assert queue.outcome_rows(ids) == before
    settle(bridge)
    assert find_differences(server, database, queue) == []
    while queue.get("a").state != "finished":
        queue.finish(not_none(queue.reserve("cid")), "second")


def test_verify_compares_an_items_own_number_of_answers(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    queue.configure(answers=3)
    database.add(queue.name, "a")
    settle(bridge)
    queue.change("a", answers=2)
    settle(bridge)
    assert find_differences(server, database, queue) == []
    for details in (None, '{"answers_needed": 1}', "[1]", '{"no": 1}'):
        value = "CAST(:details AS json)" if database.is_postgresql else ":details"
        database.run(f"UPDATE leaseq_item SET details = {value}", details=details)
        assert len(find_differences(server, database, queue)) == 1


@pytest.mark.parametrize("details", ["[1]", '{"no": 1}', '{"failures": "x"}', '{"at": "2030-01-01"}'])
def test_row_whose_details_somebody_else_wrote_is_refused(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue, details: str
) -> None:
    database.add(queue.name, "a", "b")
    settle(bridge)
    value = "CAST(:details AS json)" if database.is_postgresql else ":details"
    database.run(f"UPDATE leaseq_item SET details = {value} WHERE id = 'a'", details=details)
    lose(server, queue)
    assert rebuild(server.client, database.engine, queue.name).refused == 1
    assert database.statuses() == {"a": "refused", "b": "queued"}


@pytest.mark.parametrize("reason", ["lunch", None])
def test_paused_queue_is_paused_after_rebuild(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue, reason: str | None
) -> None:
    database.add(queue.name, "a")
    settle(bridge)
    queue.pause(reason)
    settle(bridge)
    lose(server, queue)
    rebuild(server.client, database.engine, queue.name)
    assert queue.stats().paused == (reason or "")
    assert queue.reserve("ann") is None
    queue.resume()
    settle(bridge)
    lose(server, queue)
    rebuild(server.client, database.engine, queue.name)
    assert queue.reserve("ann") is not None


def test_row_moved_as_a_new_item_has_no_details_of_the_earlier_one(
    server: Server, database: Database, make: Make, queue: leaseq.Queue, dead_item_id: str
) -> None:
    """An item died and was removed just when the application wanted to bring it back."""
    archiver = make(queue.name, parts=("archive",))
    database.change(dead_item_id, status="waiting")
    queue.remove(dead_item_id)
    settle(archiver)
    settle(make(queue.name))
    assert queue.get(dead_item_id).failures == 0
    assert find_differences(server, database, queue) == []
