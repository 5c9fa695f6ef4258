"""Every public call of a queue once, in its main effect, on every engine."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine.keys import SCHEMA
from tests.conformance.engines.scene import Scene
from tests.conftest import Clock
from tests.support.awaiting import AwaitedQueue, LoopThread

AioClients = tuple[LoopThread, leaseq.aio.Client, leaseq.aio.Client]


@pytest.fixture
def scene(timed: leaseq.Queue, other: leaseq.Client, clock: Clock) -> Scene:
    timed.enqueue_many(NewItem({"n": n}, f"{n}") for n in range(4))
    return Scene(timed, leaseq.Queue(other, timed.name, clock=clock), clock)


def enqueue(at: Scene) -> None:
    assert at.queue.enqueue({"n": 4}, id="4").added
    assert not at.other.enqueue({"n": 4}, id="4").added
    assert at.other.get("4").payload == {"n": 4}


def enqueue_many(at: Scene) -> None:
    assert at.other.enqueue_many([NewItem({}, "3"), {}, {}]) == leaseq.EnqueuedMany(2, 1)
    assert at.queue.stats().inbound == 6


def reserve(at: Scene) -> None:
    lease = at.queue.reserve("ann")
    assert lease is not None
    assert (lease.id, lease.payload, lease.token, lease.attempt) == ("0", {"n": 0}, 1, 1)
    assert at.other.reserve("ann") == lease
    assert (at.other.reserve("bob") or lease).id == "1"


def renew(at: Scene) -> None:
    lease = at.take()
    at.clock.tick(299)
    assert at.other.renew(lease).expires_at - lease.expires_at > timedelta(seconds=298)


def save_draft(at: Scene) -> None:
    lease = at.take()
    at.queue.save_draft(lease, {"typed": "ü"})
    assert at.other.mine("ann")[0].draft == {"typed": "ü"}


def finish(at: Scene) -> None:
    lease = at.take()
    done = at.queue.finish(lease, {"label": "good"}, then_reserve=True)
    assert (done.late, done.replayed) == (False, False)
    assert done.next is not None
    assert done.next.id == "1"
    assert at.other.finish(lease, {"label": "good"}).replayed
    assert at.other.stats().finished == 1


def undo_finish(at: Scene) -> None:
    lease = at.take()
    at.queue.finish(lease, {"label": "good"})
    again = at.other.undo_finish(lease)
    assert (again.id, again.draft, again.token > lease.token) == ("0", {"label": "good"}, True)
    assert at.queue.stats().finished == 0


def abandon(at: Scene) -> None:
    at.queue.abandon(at.take(), "too hard")
    assert at.take().id == "1"
    assert at.other.get("0").history[0].reason == "too hard"


def take_back(at: Scene) -> None:
    lease = at.take()
    following = at.queue.abandon(lease, then_reserve=True).next
    assert following is not None
    assert following.id == "1"
    assert at.other.take_back(lease).id == "0"
    failed = at.other.fail(following, "torn", then_reserve=True)
    assert failed.next is not None
    assert failed.next.id == "0", "they hold it"
    assert at.queue.take_back(following).id == "1"


def fail(at: Scene) -> None:
    failed = at.queue.fail(at.take(), "torn")
    assert failed.retry_at is not None
    assert at.other.get("0").state == "scheduled"


def mine(at: Scene) -> None:
    lease = at.take()
    assert at.other.mine("ann") == [lease]
    assert at.other.mine("bob") == []


def why_nothing(at: Scene) -> None:
    assert at.queue.why_nothing("ann").reason is None
    for n in range(4):
        at.take(f"p{n}")
    assert at.other.why_nothing("ann").reason == "held"


def clear(at: Scene) -> None:
    at.take()
    at.clock.tick(301)
    cleared = at.other.clear()
    assert (cleared.returned, cleared.more) == (1, False)
    assert at.queue.stats().counters["expired"] == 1


def alerts(at: Scene) -> None:
    at.queue.configure(alerts=("waiting>1", "idle>60", "bridge>60"))
    at.other.clear()
    assert [alert.name for alert in at.queue.alerts()] == ["waiting"]
    at.clock.tick(61)
    at.queue.clear()
    at.other.clear()
    assert [alert.name for alert in at.other.alerts()] == ["waiting", "idle"]
    assert [event.what for event in at.queue.journal()].count("alert.raised") == 2


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


def person_items(at: Scene) -> None:
    at.queue.finish(at.take(), {"label": "good"})
    (known,) = at.other.person_items("ann")
    assert (known.id, known.state, known.relation) == ("0", "finished", None)
    assert [answer.result for answer in known.answers] == [{"label": "good"}]


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


def get(at: Scene) -> None:
    item = at.other.get("3")
    assert (item.state, item.payload, item.attempts) == ("inbound", {"n": 3}, 0)


def items(at: Scene) -> None:
    assert [item.id for item in at.other.items("inbound", limit=3)] == ["0", "1", "2"]


def page(at: Scene) -> None:
    first = at.other.page("inbound", limit=3)
    assert [item.id for item in at.other.page("inbound", after=first.after).items] == ["3"]


def by_due(at: Scene) -> None:
    for id, days in (("late", 1), ("soon", 0)):
        at.queue.enqueue({}, id=id, due=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=days))
    assert [item.id for item in at.other.by_due().items] == ["soon", "late"]


def find(at: Scene) -> None:
    at.queue.abandon(at.take(), "Too Hard")
    where = leaseq.Filter(person="ann", outcome="abandoned", text="too hard")
    assert [item.id for item in at.other.find("inbound", where).items] == ["0"]


def answers(at: Scene) -> None:
    at.queue.finish(at.take(), {"label": "good"})
    assert [(answer.id, answer.result) for answer in at.other.answers()] == [("0", {"label": "good"})]


def late_items(at: Scene) -> None:
    at.late()
    assert [item.id for item in at.other.late_items()] == ["0"]


def stats(at: Scene) -> None:
    at.queue.finish(at.take(), {})
    at.take("bob")
    stats = at.other.stats()
    assert (stats.inbound, stats.reserved, stats.scheduled, stats.finished, stats.dead) == (2, 1, 0, 1, 0)
    assert stats.counters["reserved"] == 2


def journal(at: Scene) -> None:
    at.take()
    what = [event.what for event in at.other.journal()]
    assert what == ["created", *["enqueued"] * 4, "reserved"]
    assert at.other.journal(after=at.other.journal()[-1].cursor) == []


def latest_events(at: Scene) -> None:
    at.take()
    assert [event.what for event in at.other.latest_events(limit=2)] == ["reserved", "enqueued"]


def history(at: Scene) -> None:
    at.queue.abandon(at.take())
    events = at.other.history("0")
    assert [event.what for event in events.events] == ["enqueued", "reserved", "abandoned"]
    assert events.whole


def follow(at: Scene) -> None:
    last = at.other.journal()[-1].cursor
    assert at.other.journal(after=at.queue.follow("archive", read=last)) == []
    at.take()
    behind = at.queue.journal(after=at.other.follow("archive"))
    assert [event.what for event in behind] == ["reserved"]


def unfollow(at: Scene) -> None:
    at.queue.follow("archive", read=at.queue.journal()[-1].cursor)
    at.other.unfollow("archive")
    assert at.other.journal(after=at.other.follow("archive")) == at.other.journal()


def event_rows(at: Scene) -> None:
    at.queue.pause("lunch", by="bob")
    rows, events = at.other.event_rows(), at.other.journal()
    assert [(one.cursor, one.what, one.id, one.person) for one in rows] == [
        (one.cursor, one.what, one.id, one.person) for one in events
    ]
    assert rows[-1].detail == '"lunch"'


def outcomes(at: Scene) -> None:
    at.queue.finish(at.take(), {"label": "good"})
    first, none, waits = at.other.outcomes(["0", "no-such", "1"])
    assert first is not None
    assert [(one.person, one.result) for one in first.answers] == [("ann", '{"label":"good"}')]
    assert none is None
    assert waits is not None
    assert waits.state == "inbound"


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


def policy(at: Scene) -> None:
    assert at.other.policy == leaseq.Policy()


def find_policy(at: Scene) -> None:
    assert at.other.find_policy() == leaseq.Policy()
    assert leaseq.Queue(at.other._client, "no-such").find_policy() is None


def exists(at: Scene) -> None:
    assert at.other.exists()
    assert at.queue.name in leaseq.queues(at.other._client)


def schema(at: Scene) -> None:
    assert at.other.schema == SCHEMA


CALLS: dict[str, Callable[[Scene], None]] = {
    call.__name__: call
    for call in (
        *(
            enqueue,
            enqueue_many,
            reserve,
            renew,
            save_draft,
            finish,
            undo_finish,
            abandon,
            take_back,
            fail,
            mine,
        ),
        *(why_nothing, clear, pause, resume, revive, revive_all, release, assign, remove, adopt, get, items),
        *(remove_all, person_items, erase_person, delete),
        *(change, reopen, correct, follow, unfollow, event_rows, outcomes, restore, raise_tokens),
        *(page, by_due, find, answers, late_items, stats, journal, latest_events, history, configure, policy),
        *(find_policy, exists, schema, alerts),
    )
}


@pytest.mark.parametrize("call", CALLS)
def test_each_call(scene: Scene, call: str) -> None:
    CALLS[call](scene)


@pytest.mark.parametrize("call", CALLS)
def test_each_call_of_aio(
    aio_clients: AioClients, other: leaseq.Client, queue_name: str, clock: Clock, call: str
) -> None:
    loop, *clients = aio_clients
    mine, others = (
        cast("leaseq.Queue", AwaitedQueue(loop, leaseq.aio.Queue(client, queue_name, clock=clock), other))
        for client in clients
    )
    mine.enqueue_many(NewItem({"n": n}, f"{n}") for n in range(4))
    CALLS[call](Scene(mine, others, clock))


def test_none_is_missing() -> None:
    assert set(CALLS) == {name for name in dir(leaseq.Queue) if not name.startswith("_")}
