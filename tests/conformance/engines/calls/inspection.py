"""Calls that read a queue."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import leaseq
from leaseq.engine.keys import SCHEMA
from tests.conformance.engines.scene import Scene


def alerts(scene: Scene) -> None:
    scene.queue.configure(alerts=("waiting>1", "idle>60", "bridge>60"))
    scene.other.clear()
    assert [alert.name for alert in scene.queue.alerts()] == ["waiting"]
    scene.clock.tick(61)
    scene.queue.clear()
    scene.other.clear()
    assert [alert.name for alert in scene.other.alerts()] == ["waiting", "idle"]
    assert [event.what for event in scene.queue.journal()].count("alert.raised") == 2


def person_items(scene: Scene) -> None:
    scene.queue.finish(scene.take(), {"label": "good"})
    (item,) = scene.other.person_items("ann")
    assert (item.id, item.state, item.relation) == ("0", "finished", None)
    assert [answer.result for answer in item.answers] == [{"label": "good"}]


def get(scene: Scene) -> None:
    item = scene.other.get("3")
    assert (item.state, item.payload, item.attempts) == ("inbound", {"n": 3}, 0)


def items(scene: Scene) -> None:
    assert [item.id for item in scene.other.items("inbound", limit=3)] == ["0", "1", "2"]


def page(scene: Scene) -> None:
    first = scene.other.page("inbound", limit=3)
    assert [item.id for item in scene.other.page("inbound", after=first.after).items] == ["3"]


def by_due(scene: Scene) -> None:
    for id, days in (("late", 1), ("soon", 0)):
        scene.queue.enqueue({}, id=id, due=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=days))
    assert [item.id for item in scene.other.by_due().items] == ["soon", "late"]


def find(scene: Scene) -> None:
    scene.queue.abandon(scene.take(), "Too Hard")
    condition = leaseq.Filter(person="ann", outcome="abandoned", text="too hard")
    assert [item.id for item in scene.other.find("inbound", condition).items] == ["0"]


def answers(scene: Scene) -> None:
    scene.queue.finish(scene.take(), {"label": "good"})
    assert [(answer.id, answer.result) for answer in scene.other.answers()] == [("0", {"label": "good"})]


def late_items(scene: Scene) -> None:
    scene.finish_late()
    assert [item.id for item in scene.other.late_items()] == ["0"]


def late_page(scene: Scene) -> None:
    scene.finish_late()
    page = scene.other.late_page()
    assert ([item.id for item in page.items], page.after) == (["0"], None)


def check_alerts(scene: Scene) -> None:
    scene.queue.configure(alerts=("unreachable>0",))
    scene.other.check_alerts(unreachable=2)
    assert [(alert.name, alert.value) for alert in scene.queue.alerts()] == [("unreachable", 2)]
    assert scene.queue.stats().unreachable == 2


def waiting_rows(scene: Scene) -> None:
    scene.queue.enqueue({}, requires=["legal", "fr"])
    rows = {row.requires: row.waiting for row in scene.other.waiting_rows()}
    assert rows == {(): scene.queue.stats().inbound - 1, ("fr", "legal"): 1}


def stats(scene: Scene) -> None:
    scene.queue.finish(scene.take(), {})
    scene.take("bob")
    stats = scene.other.stats()
    assert (stats.inbound, stats.reserved, stats.scheduled, stats.finished, stats.dead) == (2, 1, 0, 1, 0)
    assert stats.counters["reserved"] == 2


def journal(scene: Scene) -> None:
    scene.take()
    kinds = [event.what for event in scene.other.journal()]
    assert kinds == ["created", *["enqueued"] * 4, "reserved"]
    assert scene.other.journal(after=scene.other.journal()[-1].cursor) == []


def latest_events(scene: Scene) -> None:
    scene.take()
    assert [event.what for event in scene.other.latest_events(limit=2)] == ["reserved", "enqueued"]


def history(scene: Scene) -> None:
    scene.queue.abandon(scene.take())
    events = scene.other.history("0")
    assert [event.what for event in events.events] == ["enqueued", "reserved", "abandoned"]
    assert events.whole


def follow(scene: Scene) -> None:
    last = scene.other.journal()[-1].cursor
    assert scene.other.journal(after=scene.queue.follow("archive", read=last)) == []
    scene.take()
    unread_events = scene.queue.journal(after=scene.other.follow("archive"))
    assert [event.what for event in unread_events] == ["reserved"]


def unfollow(scene: Scene) -> None:
    scene.queue.follow("archive", read=scene.queue.journal()[-1].cursor)
    scene.other.unfollow("archive")
    assert scene.other.journal(after=scene.other.follow("archive")) == scene.other.journal()


def event_rows(scene: Scene) -> None:
    scene.queue.pause("lunch", by="bob")
    rows, events = scene.other.event_rows(), scene.other.journal()
    assert [(one.cursor, one.what, one.id, one.person) for one in rows] == [
        (one.cursor, one.what, one.id, one.person) for one in events
    ]
    assert rows[-1].detail == '"lunch"'


def outcomes(scene: Scene) -> None:
    scene.queue.finish(scene.take(), {"label": "good"})
    first, no_outcome, waiting_outcome = scene.other.outcomes(["0", "no-such", "1"])
    assert first is not None
    assert [(one.person, one.result) for one in first.answers] == [("ann", {"label": "good"})]
    assert no_outcome is None
    assert waiting_outcome is not None
    assert waiting_outcome.state == "inbound"


def outcome_rows(scene: Scene) -> None:
    scene.queue.finish(scene.take(), {"label": "good"})
    first, no_row = scene.other.outcome_rows(["0", "no-such"])
    assert first is not None
    assert [(one.person, one.result) for one in first.answers] == [("ann", '{"label":"good"}')]
    assert no_row is None


def remove_read(scene: Scene) -> None:
    scene.queue.finish(scene.take(), {"label": "good"})
    (first,) = scene.other.outcome_rows(["0"])
    assert first is not None
    assert not scene.other.remove_read("0", (), by="bridge")
    assert scene.queue.get("0").state == "finished"
    assert scene.other.remove_read("0", first.answers, by="bridge")
    assert scene.queue.outcome_rows(["0"]) == [None]


def policy(scene: Scene) -> None:
    assert scene.other.policy == leaseq.Policy()


def find_policy(scene: Scene) -> None:
    assert scene.other.find_policy() == leaseq.Policy()
    assert leaseq.Queue(scene.other._client, "no-such").find_policy() is None


def exists(scene: Scene) -> None:
    assert scene.other.exists()
    assert scene.queue.name in leaseq.queues(scene.other._client)


def schema(scene: Scene) -> None:
    assert scene.other.schema == SCHEMA


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
    check_alerts,
    waiting_rows,
    stats,
    journal,
    latest_events,
    history,
    follow,
    unfollow,
    event_rows,
    outcomes,
    outcome_rows,
    remove_read,
    policy,
    find_policy,
    exists,
    schema,
)
