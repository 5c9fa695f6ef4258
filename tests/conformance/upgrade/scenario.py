"""The content of the queues whose state is recorded: an example of everything that a queue can hold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import leaseq
from leaseq import Lease, NewItem
from tests.conftest import Clock

NOW = 1_795_000_000_000_000  # in 2026
PEOPLE: dict[str, tuple[str, ...]] = {
    "ann": (),
    "b b": ("fr",),
    "çağlar": ("fr", "legal"),
    **dict.fromkeys(("dan", "eva", "fay", "gus"), ("fr", "legal")),
}
ASK = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
RESULT = {"ok": True, "note": "naïve\nsecond line\ttab"}


class Scenario:
    def __init__(self, client: leaseq.Client) -> None:
        self.client = client
        self.clocks: dict[str, Clock] = {}  # each queue has a clock of its own

    def queue(self, name: str) -> leaseq.Queue:
        self.clock = self.clocks[name] = Clock(NOW)
        return leaseq.Queue(self.client, name, clock=self.clock)

    def take(self, queue: leaseq.Queue, person: str) -> Lease:
        lease = queue.reserve(person, skills=PEOPLE[person])
        assert lease is not None
        return lease

    def due(self, seconds: float) -> datetime:
        return datetime.fromtimestamp(self.clock.now / 1e6, UTC) + timedelta(seconds=seconds)

    def fill_queues(self) -> None:
        self.plain()
        self.several()
        self.window()
        self.paused()
        self.alerts()
        self.line()

    def plain(self) -> None:
        """A queue without rules: all five states, and each way into them."""
        queue = self.queue("plain")
        queue.configure(form={"ask": ASK}, title="Reviews – «plain»", instructions="*Look*.", by="meg")
        queue.configure(retry_seconds=20, renewals=5)
        queue.enqueue_many(NewItem({"n": n}, f"{n:02}") for n in range(16))
        queue.enqueue_many(
            [
                NewItem({"text": "later"}, "scheduled", delay=90_000, priority=10),
                NewItem({"text": "waits"}, "due", due=self.due(90_000), priority=200),
                NewItem({"text": "waits"}, "overdue", due=self.due(-60), priority=200, max_attempts=9),
                NewItem(None, "id with spaces, «quotes» and 100 %", priority=1),
            ]
        )
        queue.finish(self.take(queue, "ann"), RESULT)
        queue.finish(self.take(queue, "ann"), RESULT)
        self._correct_and_reopen(queue)
        late_lease = self.take(queue, "ann")
        self.clock.tick(301)
        assert queue.finish(late_lease, {"ok": False}).late
        self._give_back(queue)
        self._finish_released_lease(queue)
        self._kill_item(queue)
        queue.revive(self._kill_item(queue), by="meg")
        queue.save_draft(self.take(queue, "ann"), {"typed": "before it ran out"})
        self.clock.tick(20)
        for person in ("dan", "eva", "fay"):
            self.take(queue, person)
        queue.save_draft(queue.mine("dan")[0], {"ok": None, "typed": "half of it"})
        queue.renew(queue.renew(queue.mine("eva")[0]))
        queue.fail(self.take(queue, "gus"), "is tried again")
        queue.assign(queue.items("inbound")[-1].id, "b b", by="meg")
        queue.remove(queue.items("inbound")[-2].id, by="meg")
        queue.restore(NewItem({"text": "lost"}, "lost"), by="meg")
        self.clock.tick(281)
        queue.renew(queue.mine("eva")[0])
        queue.clear()
        assert [queue.mine(person) != [] for person in ("ann", "dan", "eva", "fay")] == [
            False,
            True,
            True,
            True,
        ]

    def _correct_and_reopen(self, queue: leaseq.Queue) -> None:
        lease = self.take(queue, "ann")
        queue.finish(lease, RESULT)
        (answer,) = queue.correct(lease.id, lease.token, {"ok": False}, by="meg").answers
        queue.reopen(lease.id, answer.token, reason="look again", by="meg")

    def _give_back(self, queue: leaseq.Queue) -> None:
        lease = self.take(queue, "ann")
        queue.finish(lease, RESULT)
        queue.abandon(queue.undo_finish(lease), "not now")
        queue.abandon(self.take(queue, "ann"), "not me", again=False)
        self.take(queue, "ann")
        self.clock.tick(301)
        queue.clear()
        tried_item = next(item for item in queue.items("inbound") if item.attempts)
        queue.change(tried_item.id, priority=120, payload={"text": "corrected"}, by="meg")
        queue.release(self.take(queue, "b b").id, by="meg")

    def _finish_released_lease(self, queue: leaseq.Queue) -> None:
        for adopted in (False, True):
            old_lease = self.take(queue, "ann")
            queue.release(old_lease.id, by="meg")
            queue.assign(old_lease.id, "b b")
            while (lease := self.take(queue, "b b")).id != old_lease.id:
                queue.finish(lease, RESULT)
            with pytest.raises(leaseq.LeaseLost):
                queue.finish(old_lease, {"ok": True, "by": "ann"})
            if adopted:
                queue.adopt(old_lease.id, old_lease.token, by="meg")
            else:
                queue.finish(lease, {"ok": True, "by": "b b"})

    def _kill_item(self, queue: leaseq.Queue) -> str:
        before = {item.id for item in queue.items("dead")}
        while not (dead_ids := {item.id for item in queue.items("dead")} - before):
            queue.fail(self.take(queue, "gus"), "unreadable")
            self.clock.tick(100)
            queue.clear()
        return dead_ids.pop()

    def several(self) -> None:
        """Several answers, skills, assignments, and items that people passed over."""
        queue = self.queue("several")
        queue.configure(answers=3, holds=2, max_abandons=3, share_drafts=True, max_attempts=4)
        queue.enqueue_many(NewItem({"n": n}, f"{n}", priority=(10, 100, 100, 200)[n % 4]) for n in range(8))
        queue.enqueue_many(NewItem({"n": n}, f"fr {n}", requires=("fr",)) for n in range(3))
        queue.enqueue({"n": 9}, id="both", requires=("legal", "fr"), due=self.due(7_200))
        for person in ("ann", "dan"):
            for _ in range(4):
                queue.finish(self.take(queue, person), {"by": person})
        queue.abandon(self.take(queue, "eva"), "later", again=True)
        queue.abandon(self.take(queue, "eva"), "never", again=False)
        lease = self.take(queue, "fay")
        queue.save_draft(lease, {"typed": "by fay"})
        self.take(queue, "fay")
        old_lease = self.take(queue, "b b")
        self.clock.tick(200)
        queue.renew(queue.mine("fay")[0])
        self.take(queue, "çağlar")
        self.clock.tick(101)
        queue.clear()
        self.take(queue, "gus")
        queue.assign("7", "ann", by="meg")
        queue.unassign("7", by="meg")
        queue.assign("7", "b b", by="meg")
        queue.assign("both", "çağlar", by="meg")
        queue.fail(self.take(queue, "dan"), "blurred")
        assert queue.get(old_lease.id).answers or queue.finish(old_lease, {"by": "b b"}).late
        queue.enqueue({"n": 10}, id="dead in one hand", priority=0, max_attempts=1)
        self.take(queue, "ann")
        queue.fail(self.take(queue, "dan"), "torn")
        queue.change("1", answers=1)

    def window(self) -> None:
        """Duplicates, retention, and a reader that is half-way through the journal."""
        queue = self.queue("window")
        queue.configure(dedupe_seconds=86_400, keep_finished_seconds=3_600)
        queue.enqueue({}, id="forgotten")
        queue.finish(self.take(queue, "ann"), {})
        self.clock.tick(3_601)
        assert queue.clear().forgotten == 1
        queue.enqueue_many(NewItem({"n": n}, f"{n}") for n in range(6))
        assert not queue.enqueue({"n": 3}, id="again").added
        for _ in range(3):
            queue.finish(self.take(queue, "ann"), {"seen": True})
        journal = "leaseq:{window}:journal"
        server: Any = self.client.redis
        server.xgroup_create(journal, "archive", id="0")
        entries = server.xreadgroup("archive", "one", {journal: ">"}, count=4)
        server.xack(journal, "archive", *(id for id, _ in entries[0][1][:3]))
        self.take(queue, "b b")

    def paused(self) -> None:
        queue = self.queue("paused")
        queue.enqueue_many(NewItem({"n": n}, f"{n}") for n in range(3))
        self.take(queue, "ann")
        queue.pause("", by="meg")
        queue.resume(by="meg")
        queue.pause("lunch – back at one", by="meg")

    def alerts(self) -> None:
        """One alert is resolved, one is raised, and nobody works."""
        queue = self.queue("alerts")
        queue.configure(alerts=("waiting>1", "oldest>60", "idle>600"))
        queue.enqueue_many(NewItem({"n": n}, f"{n}") for n in range(2))
        queue.clear()
        queue.finish(self.take(queue, "ann"), RESULT)
        queue.remove("1", by="meg")
        queue.clear()
        queue.enqueue({"n": 3}, id="3")
        queue.clear()
        self.clock.tick(61)
        queue.clear()
        assert [alert.name for alert in queue.alerts()] == ["oldest"]

    def line(self) -> None:
        """Three waiting calls, one of them woken, whose processes have ended."""
        queue = self.queue("line")
        queue.configure()
        for number, person in enumerate(("ann", "b b", "dan")):
            queue._reserve(person, f"request-{number}", "", f"waiter-{number}", False)
        queue.enqueue({}, id="for the first")
