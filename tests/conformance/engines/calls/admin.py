"""Calls that manage a queue and its items."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import leaseq
from tests.conformance.engines.scene import Scene


def clear(at: Scene) -> None:
    at.take()
    at.clock.tick(301)
    cleared = at.other.clear()
    assert (cleared.returned, cleared.more) == (1, False)
    assert at.queue.stats().counters["expired"] == 1


def pause(at: Scene) -> None:
    held = at.take()
    at.queue.pause("lunch", by="meg")
    assert at.other.reserve("bob") is None
    assert at.other.stats().paused == "lunch"
    assert not at.queue.finish(held, {}).late


def resume(at: Scene) -> None:
    at.queue.pause()
    at.other.resume()
    assert at.take().id == "0"


def revive(at: Scene) -> None:
    id = at.dead()
    assert at.other.revive(id).state == "inbound"
    assert at.queue.get(id).failures == 0


def revive_all(at: Scene) -> None:
    at.dead()
    assert at.other.revive_all(error="torn") == 1
    assert at.queue.stats().dead == 0


def remove_all(at: Scene) -> None:
    at.dead()
    assert at.other.remove_all("dead", error="torn") == 1
    assert at.queue.stats().dead == 0


def erase_person(at: Scene) -> None:
    at.queue.finish(at.take(), {"label": "good"})
    at.take()
    assert at.other.erase_person("ann", "erased-1") == leaseq.Erased(items=2, leases=1)
    assert at.queue.get("0").answers[0].person == "erased-1"
    assert at.queue.stats().reserved == 0


def delete(at: Scene) -> None:
    lease = at.take()
    at.other.delete()
    with pytest.raises(leaseq.QueueNotFound, match="it was deleted"):
        at.queue.renew(lease)
    at.queue.enqueue({"n": 1})
    assert at.take().token == lease.token + 1


def release(at: Scene) -> None:
    lease = at.take()
    assert at.other.release("0", by="meg").state == "inbound"
    with pytest.raises(leaseq.LeaseLost):
        at.queue.renew(lease)


def assign(at: Scene) -> None:
    at.queue.assign("2", "bob")
    assert at.take("bob").id == "2"
    assert at.other.get("2").leases[0].person == "bob"


def change(at: Scene) -> None:
    assert at.other.change("2", priority=1, requires=(), by="meg").priority == 1
    assert at.other.change("2", delay=60).state == "scheduled"
    assert at.other.change("2", payload="new", delay=0).state == "inbound"
    assert at.take().payload == "new"
    assert at.queue.get("2").priority == 1


def remove(at: Scene) -> None:
    at.queue.remove("2")
    with pytest.raises(leaseq.ItemNotFound):
        at.other.get("2")


def adopt(at: Scene) -> None:
    lease = at.late()
    item = at.other.adopt("0", lease.token)
    assert [answer.result for answer in item.answers] == [{"by": "ann"}]


def reopen(at: Scene) -> None:
    lease = at.take()
    at.queue.finish(lease, {"by": "ann"})
    item = at.other.reopen("0", lease.token, to="bob", reason="again")
    assert (item.state, item.assigned_to, len(item.late_answers)) == ("inbound", ("bob",), 1)


def correct(at: Scene) -> None:
    lease = at.take()
    at.queue.finish(lease, {"by": "ann"})
    item = at.other.correct("0", lease.token, {"by": "meg"}, by="meg")
    assert [(answer.person, answer.result) for answer in item.answers] == [("meg", {"by": "meg"})]


def restore(at: Scene) -> None:
    when = datetime(2026, 1, 1, tzinfo=UTC)
    given = leaseq.GivenAnswer(7, "ann", "1", when, late=False, stands=True)
    assert at.queue.restore(leaseq.NewItem({}, "lost"), [given])
    assert not at.other.restore(leaseq.NewItem({}, "lost"))
    assert [answer.person for answer in at.other.get("lost").answers] == ["ann"]


def raise_tokens(at: Scene) -> None:
    at.queue.raise_tokens(5_000)
    assert at.take().token == 5_001


def configure(at: Scene) -> None:
    before = at.queue.policy
    assert at.queue.configure(holds=2, title="Reviews – «ü»").holds == 2
    with pytest.raises(leaseq.PolicyChanged):
        at.other.configure(holds=3, expected=before)
    with pytest.raises(leaseq.Invalid, match="holds"):
        at.other.configure(holds=0)
    assert at.other.policy.holds == 2


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
    assign,
    change,
    remove,
    adopt,
    reopen,
    correct,
    restore,
    raise_tokens,
    configure,
)
