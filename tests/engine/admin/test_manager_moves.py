"""revive, release, remove, pause and resume."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.engine import server_contents
from tests.engine.conftest import Sets
from tests.support.leases import not_none
from tests.support.refused import raises, refused

Take = Callable[[str], leaseq.Lease]


@pytest.fixture(autouse=True)
def enqueue_item(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({"n": 1}, id="one")


def last_event(queue: leaseq.Queue) -> tuple[str, str | None, str | None]:
    event = queue.journal(limit=1000)[-1]
    return event.what, event.id, event.person


def test_a_dead_item_is_revived_with_its_failures_forgotten(
    timed_queue: leaseq.Queue, take: Take, sets: Sets, clock: Clock
) -> None:
    timed_queue.enqueue({}, id="two")
    timed_queue.configure(max_attempts=1)
    timed_queue.fail(take("ann"), "no")
    clock.tick(10)
    item = timed_queue.revive("one", by="meg")
    assert (item.state, item.failures, item.attempts, item.last_error) == ("inbound", 0, 1, "no")
    assert last_event(timed_queue) == ("revived", "one", "meg")
    assert sets()["inbound"] == ["one", "two"]
    assert sets()["dead"] == []
    timed_queue.revive("one")
    assert timed_queue.stats().counters["revived"] == 1
    assert take("ann").attempt == 2


def test_a_finished_item_is_not_revived(timed_queue: leaseq.Queue, take: Take, sets: Sets) -> None:
    timed_queue.finish(take("ann"), {})
    with refused("state") as error:
        timed_queue.revive("one")
    assert error.value.field == "id"
    assert sets()["finished"] == ["one"]


def test_revive_of_held_item_changes_nothing(timed_queue: leaseq.Queue, take: Take) -> None:
    lease = take("ann")
    assert timed_queue.revive("one").state == "reserved"
    assert timed_queue.mine("ann") == [lease]


def test_release_ends_lease_and_returns_item_to_queue(
    timed_queue: leaseq.Queue, take: Take, sets: Sets
) -> None:
    timed_queue.enqueue({}, id="two")
    lease = take("ann")
    item = timed_queue.release("one", by="meg")
    assert (item.state, item.failures, item.leases) == ("inbound", 0, ())
    assert item.history[-1].how == "released"
    assert last_event(timed_queue) == ("released", "one", "meg")
    assert sets()["inbound"] == ["one", "two"]
    assert timed_queue.mine("ann") == []
    with pytest.raises(leaseq.LeaseLost) as error:
        timed_queue.renew(lease)
    assert error.value.values["what"] == "inbound"
    assert take("bob").id == "one"


def test_release_for_person_keeps_leases_of_others(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(answers=2)
    take("ann")
    bobs_lease = take("bob")
    assert timed_queue.release("one", person="cid").leases == timed_queue.get("one").leases
    assert [lease.person for lease in timed_queue.release("one", person="ann", by="meg").leases] == ["bob"]
    assert timed_queue.mine("ann") == []
    assert timed_queue.mine("bob") == [bobs_lease]


def test_release_of_unheld_item_changes_nothing(timed_queue: leaseq.Queue) -> None:
    before = timed_queue.get("one")
    assert timed_queue.release("one") == before
    assert timed_queue.stats().counters["released"] == 0


@pytest.mark.parametrize(
    ("verb", "what", "state"),
    [(None, "release", "reserved"), ("finish", "reopen", "finished"), ("fail", "revive", "dead")],
)
def test_assign_refuses_item_that_is_not_waiting(
    timed_queue: leaseq.Queue, take: Take, verb: str | None, what: str, state: str
) -> None:
    timed_queue.configure(max_attempts=1)
    lease = take("ann")
    if verb:
        getattr(timed_queue, verb)(lease, "x")
    with refused("state", "id", id="one", what=what, state=state):
        timed_queue.assign("one", "bob")


@pytest.mark.parametrize("state", ["inbound", "reserved", "scheduled", "finished", "dead"])
def test_remove_deletes_all_data_of_item(
    timed_queue: leaseq.Queue, take: Take, server: Server, state: str
) -> None:
    lease = take("ann")
    timed_queue.save_draft(lease, {"half": 1})
    timed_queue.abandon(lease)
    lease = take("ann")
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.finish(id="one", token=1, person="ann", result={"late": 1})
    if state == "inbound":
        timed_queue.abandon(lease)
    elif state == "finished":
        timed_queue.finish(lease, {})
    elif state in ("scheduled", "dead"):
        timed_queue.configure(max_attempts=1 if state == "dead" else 3)
        timed_queue.fail(lease, "no")
    assert timed_queue.get("one").state == state

    timed_queue.remove("one", by="meg")

    with raises(leaseq.ItemNotFound, "not_found", what="item", id="one"):
        timed_queue.get("one")
    with pytest.raises(leaseq.ItemNotFound):
        timed_queue.remove("one")
    assert timed_queue.mine("ann") == []
    assert last_event(timed_queue) == ("removed", "one", "meg")
    keys = Keys(timed_queue.name)
    contents = server_contents.everything(server.redis, timed_queue.name)
    contents.pop(keys.journal.encode())
    assert not re.search(r"\bone\b", str(contents))
    assert timed_queue.enqueue({}, id="one").added


MOVES: dict[str, Callable[[leaseq.Queue], object]] = {
    "get": lambda queue: queue.get("nobody"),
    "revive": lambda queue: queue.revive("nobody"),
    "release": lambda queue: queue.release("nobody"),
    "remove": lambda queue: queue.remove("nobody"),
    "assign": lambda queue: queue.assign("nobody", "ann"),
    "unassign": lambda queue: queue.unassign("nobody"),
    "adopt": lambda queue: queue.adopt("nobody", 1),
    "reopen": lambda queue: queue.reopen("nobody", 1),
    "correct": lambda queue: queue.correct("nobody", 1, {}, by="meg"),
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_missing_item_raises_item_not_found(
    timed_queue: leaseq.Queue, move: Callable[[leaseq.Queue], object]
) -> None:
    with pytest.raises(leaseq.ItemNotFound) as error:
        move(timed_queue)
    assert (error.value.queue, error.value.id) == (timed_queue.name, "nobody")


def test_a_pause_stops_reserve_and_nothing_else(timed_queue: leaseq.Queue, take: Take) -> None:
    lease = take("ann")
    timed_queue.enqueue({}, id="two")
    timed_queue.pause("lunch", by="meg")
    assert last_event(timed_queue) == ("paused", None, "meg")
    assert timed_queue.reserve("bob") is None
    assert timed_queue.stats().paused == "lunch"
    assert timed_queue.why_nothing("bob") == leaseq.WhyNothing("paused", detail="lunch")
    assert take("ann") == lease, "a held lease stays valid"
    timed_queue.enqueue({}, id="three")
    timed_queue.renew(lease)
    timed_queue.save_draft(lease, {})
    timed_queue.finish(lease, {})
    timed_queue.resume(by="meg")
    assert last_event(timed_queue) == ("resumed", None, "meg")
    assert timed_queue.stats().paused is None
    assert take("bob").id == "two"


def test_pause_survives_policy_change(timed_queue: leaseq.Queue) -> None:
    timed_queue.pause()
    timed_queue.configure(lease_seconds=10)
    assert timed_queue.reserve("bob") is None
    assert timed_queue.stats().paused == ""
    timed_queue.resume()
    assert timed_queue.reserve("bob") is not None


def test_pause_with_same_reason_writes_no_second_event(timed_queue: leaseq.Queue) -> None:
    for reason in ("a", "a", "b", None, None):
        timed_queue.pause(reason)
    for _ in range(2):
        timed_queue.resume()
    events = [(e.what, e.detail) for e in timed_queue.journal() if e.id is None][1:]
    assert [kind for kind, _ in events] == ["paused", "paused", "paused", "resumed"]


def test_pause_and_resume_of_missing_queue_are_refused(timed_queue: leaseq.Queue, server: Server) -> None:
    queue = leaseq.Queue(server.client, f"{timed_queue.name}.no")
    for move in (queue.pause, queue.resume):
        with pytest.raises(leaseq.QueueNotFound):
            move()
    assert not queue.exists()


def test_remove_events_contain_tokens_of_ended_leases(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="two leases", priority=0)
    leases = [not_none(timed_queue.reserve(person)) for person in ("ann", "bob")]
    timed_queue.remove("two leases", by="meg")
    ends = {
        event.what: event.token for event in timed_queue.journal() if event.what in ("released", "removed")
    }
    assert ends == {"removed": leases[0].token, "released": leases[1].token}


def test_remove_unless_finished_deletes_item_without_answer(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.enqueue_many(NewItem({}, id=id) for id in ("one", "held", "waits"))
    lease = take("ann")
    for id in ("held", "waits"):
        timed_queue.remove(id, unless="finished", by="meg")
        with pytest.raises(leaseq.ItemNotFound):
            timed_queue.remove(id, unless="finished")
    timed_queue.remove(lease.id, unless="finished")
    assert timed_queue.mine("ann") == []
    timed_queue.enqueue({}, id="dead")
    timed_queue.fail(take("ann"), "torn", retry=False)
    timed_queue.remove("dead", unless="finished")
    assert timed_queue.stats().dead == 0


@pytest.mark.parametrize("answers", [1, 3])
def test_remove_unless_finished_keeps_item_with_any_answer(
    timed_queue: leaseq.Queue, take: Take, server: Server, answers: int
) -> None:
    timed_queue.configure(answers=answers)
    timed_queue.finish(take("ann"), {"v": 1})
    contents = server_contents.everything(server.redis, timed_queue.name)
    with pytest.raises(leaseq.ItemFinished) as error:
        timed_queue.remove("one", unless="finished", by="meg")
    assert (error.value.queue, error.value.item) == (timed_queue.name, timed_queue.get("one"))
    assert [answer.result for answer in error.value.item.answers] == [{"v": 1}]
    assert server_contents.everything(server.redis, timed_queue.name) == contents
    timed_queue.remove("one")
    with pytest.raises(leaseq.ItemNotFound):
        timed_queue.get("one")


@pytest.mark.parametrize("unless", ["", "inbound", "dead", True, ["finished"]])
def test_remove_unless_any_other_state_is_refused(timed_queue: leaseq.Queue, take: Take, unless: Any) -> None:
    lease = take("ann")
    with pytest.raises(leaseq.Invalid) as error:
        timed_queue.remove(lease.id, unless=unless)
    assert error.value.field == "unless"
    assert timed_queue.get(lease.id).state == "reserved"
