"""Calls that manage a queue and its items."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import leaseq
from tests.conformance.engines.scene import Scene
from tests.support.refused import raises, refused


def clear(scene: Scene) -> None:
    scene.take()
    scene.clock.tick(301)
    totals = scene.other.clear()
    assert (totals.returned, totals.more) == (1, False)
    assert scene.queue.stats().counters["expired"] == 1


def pause(scene: Scene) -> None:
    lease = scene.take()
    scene.queue.pause("lunch", by="meg")
    assert scene.other.reserve("bob") is None
    assert scene.other.stats().paused == "lunch"
    assert not scene.queue.finish(lease, {}).late


def resume(scene: Scene) -> None:
    scene.queue.pause()
    scene.other.resume()
    assert scene.take().id == "0"


def revive(scene: Scene) -> None:
    id = scene.kill_item()
    assert scene.other.revive(id).state == "inbound"
    assert scene.queue.get(id).failures == 0


def revive_all(scene: Scene) -> None:
    scene.kill_item()
    assert scene.other.revive_all(error="torn") == 1
    assert scene.queue.stats().dead == 0


def remove_all(scene: Scene) -> None:
    scene.kill_item()
    assert scene.other.remove_all("dead", error="torn") == 1
    assert scene.queue.stats().dead == 0


def erase_person(scene: Scene) -> None:
    scene.queue.finish(scene.take(), {"label": "good"})
    scene.take()
    assert scene.other.erase_person("ann", "erased-1") == leaseq.Erased(items=2, leases=1)
    assert scene.queue.get("0").answers[0].person == "erased-1"
    assert scene.queue.stats().reserved == 0


def delete(scene: Scene) -> None:
    lease = scene.take()
    scene.other.delete()
    with raises(leaseq.QueueNotFound, "not_found", what="deleted_queue"):
        scene.queue.renew(lease)
    scene.queue.enqueue({"n": 1})
    assert scene.take().token == lease.token + 1


def release(scene: Scene) -> None:
    lease = scene.take()
    assert scene.other.release("0", by="meg").state == "inbound"
    with pytest.raises(leaseq.LeaseLost):
        scene.queue.renew(lease)


def assign(scene: Scene) -> None:
    scene.queue.assign("2", "bob")
    assert scene.take("bob").id == "2"
    assert scene.other.get("2").leases[0].person == "bob"


def unassign(scene: Scene) -> None:
    scene.queue.assign("2", "bob")
    assert scene.other.unassign("2", by="meg").assigned_to == ()
    assert scene.take("ann").id == "2"


def unassign_all(scene: Scene) -> None:
    for id in ("1", "2"):
        scene.queue.assign(id, "bob")
    assert scene.other.unassign_all("bob") == 2
    assert [row.person for row in scene.queue.waiting_rows()] == [None]


def stop(scene: Scene) -> None:
    lease = scene.take("ann")
    scene.other.stop("ann", "too fast", by="meg")
    assert scene.queue.finish(lease, {}, then_reserve=True).next is None
    assert scene.queue.why_nothing("ann").reason == "stopped"


def let_work(scene: Scene) -> None:
    scene.queue.stop("ann")
    scene.other.let_work("ann")
    assert scene.take("ann").id == "0"


def stopped(scene: Scene) -> None:
    scene.other.stop("ann", "too fast", by="meg")
    assert [(one.person, one.reason, one.by) for one in scene.queue.stopped()] == [("ann", "too fast", "meg")]


def finish_and_decide(scene: Scene) -> leaseq.Lease:
    lease = scene.take("ann")
    scene.queue.finish(lease, 1)
    assert scene.other.decide(lease.id, 2, how="reviewed", by="meg", tokens=[lease.token])
    return lease


def decide(scene: Scene) -> None:
    lease = finish_and_decide(scene)
    assert not scene.other.decide(lease.id, 2, how="reviewed", tokens=[lease.token, lease.token + 1])
    assert [event.person for event in scene.queue.journal() if event.what == "decided"] == ["meg"]


def decision(scene: Scene) -> None:
    found = scene.queue.decision(finish_and_decide(scene).id)
    assert found is not None
    assert (found.result, found.how, found.by) == (2, "reviewed", "meg")
    assert scene.queue.decision("2") is None


def decisions(scene: Scene) -> None:
    finish_and_decide(scene)
    scene.queue.finish(scene.take("ann"), 3)
    assert [(one.result, one.how) for one in scene.other.decisions()] == [(2, "reviewed"), (3, "single")]


def change(scene: Scene) -> None:
    assert scene.other.change("2", priority=1, requires=(), by="meg").priority == 1
    assert scene.other.change("2", delay=60).state == "scheduled"
    assert scene.other.change("2", payload="new", delay=0).state == "inbound"
    assert scene.take().payload == "new"
    assert scene.queue.get("2").priority == 1
    scene.queue.configure(answers=2)
    scene.queue.finish(scene.take("bob"), {})
    assert scene.other.change("0", answers=1, by="meg").state == "finished"


def remove(scene: Scene) -> None:
    scene.queue.remove("2")
    with pytest.raises(leaseq.ItemNotFound):
        scene.other.get("2")


def adopt(scene: Scene) -> None:
    lease = scene.finish_late()
    item = scene.other.adopt("0", lease.token)
    assert [answer.result for answer in item.answers] == [{"by": "ann"}]


def reopen(scene: Scene) -> None:
    lease = scene.take()
    scene.queue.finish(lease, {"by": "ann"})
    item = scene.other.reopen("0", lease.token, to="bob", reason="again")
    assert (item.state, item.assigned_to, len(item.late_answers)) == ("inbound", ("bob",), 1)


def correct(scene: Scene) -> None:
    lease = scene.take()
    scene.queue.finish(lease, {"by": "ann"})
    item = scene.other.correct("0", lease.token, {"by": "meg"}, by="meg")
    assert [(answer.person, answer.result) for answer in item.answers] == [("meg", {"by": "meg"})]


def restore(scene: Scene) -> None:
    finished_at = datetime(2026, 1, 1, tzinfo=UTC)
    given_answer = leaseq.GivenAnswer(7, "ann", 1, finished_at, late=False, stands=True)
    assert scene.queue.restore(leaseq.NewItem({}, "lost"), [given_answer])
    assert not scene.other.restore(leaseq.NewItem({}, "lost"))
    assert [answer.person for answer in scene.other.get("lost").answers] == ["ann"]


def raise_tokens(scene: Scene) -> None:
    scene.queue.raise_tokens(5_000)
    assert scene.take().token == 5_001


def configure(scene: Scene) -> None:
    before = scene.queue.policy
    assert scene.queue.configure(holds=2, title="Reviews – «ü»").holds == 2
    with pytest.raises(leaseq.PolicyChanged):
        scene.other.configure(holds=3, expected=before)
    with refused("range", "holds"):
        scene.other.configure(holds=0)
    assert scene.other.policy.holds == 2


def cancel(scene: Scene) -> None:
    scene.take()
    assert scene.other.cancel("0", "sold out").died_of == "cancelled"
    assert scene.queue.stats().reserved == 0


CALLS = (
    clear,
    pause,
    resume,
    revive,
    revive_all,
    remove_all,
    erase_person,
    delete,
    release,
    cancel,
    assign,
    unassign,
    unassign_all,
    stop,
    let_work,
    stopped,
    decide,
    decision,
    decisions,
    change,
    remove,
    adopt,
    reopen,
    correct,
    restore,
    raise_tokens,
    configure,
)
