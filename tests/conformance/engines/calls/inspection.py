"""Calls that read a queue."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import leaseq
from leaseq.engine.keys import SCHEMA
from tests.conformance.engines.scene import Scene


def alerts(at: Scene) -> None:
    at.queue.configure(alerts=("waiting>1", "idle>60", "bridge>60"))
    at.other.clear()
    assert [alert.name for alert in at.queue.alerts()] == ["waiting"]
    at.clock.tick(61)
    at.queue.clear()
    at.other.clear()
    assert [alert.name for alert in at.other.alerts()] == ["waiting", "idle"]
    assert [event.what for event in at.queue.journal()].count("alert.raised") == 2


def person_items(at: Scene) -> None:
    at.queue.finish(at.take(), {"label": "good"})
    (known,) = at.other.person_items("ann")
    assert (known.id, known.state, known.relation) == ("0", "finished", None)
    assert [answer.result for answer in known.answers] == [{"label": "good"}]


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


def late_page(at: Scene) -> None:
    at.late()
    page = at.other.late_page()
    assert ([item.id for item in page.items], page.after) == (["0"], None)


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


CALLS = (
    alerts,
    person_items,
    get,
    items,
    page,
    by_due,
    find,
    answers,
    late_items,
    late_page,
    stats,
    journal,
    latest_events,
    history,
    follow,
    unfollow,
    event_rows,
    outcomes,
    policy,
    find_policy,
    exists,
    schema,
)
