"""Each call that changes something, and what was before it: the calls whose replies get lost."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

import leaseq
from leaseq import NewItem, backup
from leaseq.backup.file import Writer
from leaseq.backup.queue_lines import write_queue
from tests.conftest import Clock

Before = Callable[[leaseq.Queue], object]
Call = Callable[..., object]
RESULT = {"label": "good"}
GIVEN = leaseq.GivenAnswer(77, "eve", "1", datetime(2026, 1, 1, tzinfo=UTC), late=False, stands=True)


def nothing(queue: leaseq.Queue) -> None:
    pass


def lease(queue: leaseq.Queue, person: str = "ann") -> leaseq.Lease:
    lease = queue.reserve(person)
    assert lease is not None
    return lease


def two(queue: leaseq.Queue) -> leaseq.Lease:
    queue.configure(holds=3)
    lease(queue)
    return lease(queue)


def advance(queue: leaseq.Queue, seconds: float) -> None:
    clock = queue._commands._clock
    assert isinstance(clock, Clock)
    clock.tick(seconds)


def ran_out(queue: leaseq.Queue) -> leaseq.Lease:
    granted = lease(queue)
    advance(queue, 301)
    queue.clear()
    return granted


def three_ran_out(queue: leaseq.Queue) -> None:
    for n in range(3):
        lease(queue, f"p{n}")
    advance(queue, 301)


def many_wait(queue: leaseq.Queue) -> None:
    queue.configure(alerts=("waiting>3", "idle>60"))


def last_attempt(queue: leaseq.Queue) -> leaseq.Lease:
    queue.configure(max_attempts=1)
    return lease(queue)


def dead(queue: leaseq.Queue) -> None:
    queue.fail(last_attempt(queue), "no")


def regranted(queue: leaseq.Queue) -> leaseq.Lease:
    granted = lease(queue)
    queue.release("a")
    lease(queue, "bob")
    return granted


def taken_back(queue: leaseq.Queue, given: leaseq.Lease) -> object:
    return queue.take_back(given, request_id="r").token


def erased(queue: leaseq.Queue, _: object) -> list[str]:
    """What is counted of a step whose reply was lost is not the same."""
    queue.erase_person("ann", "nobody")
    return [grant.person for grant in queue.get("a").history]


def next_id(ended: leaseq.Abandoned | leaseq.Failed) -> str | None:
    return ended.next.id if ended.next else None


def refused(queue: leaseq.Queue, given: leaseq.Lease) -> object:
    with pytest.raises(leaseq.LeaseLost) as lost:
        queue.finish(given, RESULT)
    return lost.value.answer_kept


def two_answers(queue: leaseq.Queue) -> None:
    granted = lease(queue)
    queue.finish(granted, {"v": 1})
    refused(queue, granted)


def following(queue: leaseq.Queue, given: leaseq.Lease) -> object:
    following_lease = queue.finish(given, RESULT, then_reserve=True, request_id="r").next
    return following_lease and (following_lease.id, following_lease.token, following_lease.expires_at)


def again(queue: leaseq.Queue, given: object) -> object:
    lease = queue.reserve("ann", request_id="r")
    return lease and (lease.id, lease.token, lease.expires_at)


def skilled(queue: leaseq.Queue, given: object) -> object:
    lease = queue.reserve("ann", skills=["de", "fr"], request_id="r")
    return lease and (lease.id, lease.token)


def scheduled(queue: leaseq.Queue) -> None:
    queue.enqueue({}, id="z", delay=60)


def finished(queue: leaseq.Queue) -> leaseq.Lease:
    given = lease(queue)
    queue.finish(given, RESULT)
    return given


def gave_back(queue: leaseq.Queue) -> leaseq.Lease:
    given = lease(queue)
    queue.abandon(given)
    return given


def failed(queue: leaseq.Queue) -> leaseq.Lease:
    given = lease(queue)
    queue.fail(given, "torn")
    return given


def died_of_it(queue: leaseq.Queue) -> leaseq.Lease:
    given = last_attempt(queue)
    queue.fail(given, "torn")
    return given


def three_answers(queue: leaseq.Queue) -> leaseq.Lease:
    """Bob holds the second assignment of what ann holds the first of."""
    queue.configure(answers=3)
    for id in ("b", "c", "d"):
        queue.remove(id)
    lease(queue)
    given = queue.reserve("bob")
    assert given is not None
    return given


def twice_granted(queue: leaseq.Queue) -> leaseq.Lease:
    """Ann's lease ran out and bob has the assignment now; another of the item waits, and other items."""
    queue.configure(answers=3, holds=2)
    given = ran_out(queue)
    lease(queue, "bob")
    for person in ("cyd", "dan", "eve"):
        lease(queue, person)
    return given


def second_of_two(queue: leaseq.Queue) -> leaseq.Lease:
    """The item's last attempt is bob's; another assignment of it waits."""
    queue.configure(max_attempts=1)
    return three_answers(queue)


def dead_whole(queue: leaseq.Queue) -> None:
    queue.fail(second_of_two(queue), "no")
    queue.fail(queue.mine("ann")[0], "no")


def given_back_once(queue: leaseq.Queue) -> leaseq.Lease:
    queue.configure(max_abandons=2)
    queue.abandon(lease(queue))
    return lease(queue, "bob")


def assigned(queue: leaseq.Queue) -> None:
    queue.assign("b", "ann")


def only_skilled(queue: leaseq.Queue) -> None:
    for id in "abcd":
        queue.remove(id)
    queue.enqueue({}, id="french", requires=["fr"])


def windowed(queue: leaseq.Queue) -> None:
    queue.configure(dedupe_seconds=60)


def deduping(queue: leaseq.Queue) -> None:
    windowed(queue)
    queue.enqueue({"n": 1}, id="first")


def conflicts(queue: leaseq.Queue) -> object:
    noted: list[leaseq.Conflict] = []
    given = [("a", "another"), ("new", "first"), ("b", "b"), ("new", "second")]
    counts = queue.enqueue_many((NewItem({"n": n}, id=id) for id, n in given), on_conflict=noted.append)
    return counts, noted


MANY = [NewItem({}, id=id, delay=9 if id == "y" else 0) for id in ("a", "x", "y", "x")]


# What it is called; what was before; the script whose reply is lost; the call.
def backed_up(queue: leaseq.Queue) -> io.BytesIO:
    """A backup of this queue alone, which is gone then."""
    lease(queue)
    file = io.BytesIO()
    writer = Writer(file, 0.0)
    write_queue(queue._client, queue.name, writer, queue._commands._clock)
    writer.end()
    file.seek(0)
    queue.delete()
    return file


def loaded(queue: leaseq.Queue, file: io.BytesIO) -> backup.Restored:
    return backup.restore(queue._client, file, clock=queue._commands._clock)


CALLS: list[tuple[str, Before, str, Call]] = [
    ("enqueue", nothing, "enqueue", lambda q, _: q.enqueue({}, id="new").added),
    ("enqueue, delayed", nothing, "enqueue", lambda q, _: q.enqueue({}, id="new", delay=60).added),
    ("enqueue what is there", nothing, "enqueue", lambda q, _: q.enqueue({}, id="a").added),
    ("enqueue by a request id", nothing, "enqueue", lambda q, _: q.enqueue({}, id="new", request_id="r")),
    ("enqueue what conflicts", nothing, "enqueue", lambda q, _: conflicts(q)),
    ("enqueue an equal payload", deduping, "enqueue", lambda q, _: q.enqueue({"n": 1}, id="new")),
    ("enqueue for the window", windowed, "enqueue", lambda q, _: q.enqueue({"n": 1}, id="new")),
    ("enqueue many", nothing, "enqueue", lambda q, _: q.enqueue_many(MANY)),
    ("reserve", nothing, "reserve", again),
    ("reserve one more", two, "reserve", again),
    ("reserve with full hands", lease, "reserve", again),
    ("reserve what ran out", three_ran_out, "reserve", again),
    ("renew", lease, "renew", lambda q, held: q.renew(held, request_id="r").expires_at),
    ("take back", ran_out, "renew", lambda q, held: q.renew(held, request_id="r").expires_at),
    ("save a draft", lease, "save_draft", lambda q, held: q.save_draft(held, {"half": 1})),
    ("finish", lease, "finish", lambda q, held: q.finish(held, RESULT).late),
    ("finish late", ran_out, "finish", lambda q, held: q.finish(held, RESULT).late),
    ("finish refused", regranted, "finish", refused),
    ("finish and next", lease, "finish", following),
    ("finish and next with more in hand", two, "finish", following),
    ("reopen", finished, "reopen", lambda q, held: q.reopen(held.id, held.token, to="bob").assigned_to),
    (
        "correct",
        finished,
        "correct",
        lambda q, held: len(q.correct(held.id, held.token, 1, by="meg").answers),
    ),
    ("undo a finish", finished, "undo_finish", lambda q, held: q.undo_finish(held, request_id="r").token),
    ("take back what was given back", gave_back, "take_back", taken_back),
    ("take back what failed", failed, "take_back", taken_back),
    ("take back what is dead", died_of_it, "take_back", taken_back),
    ("abandon", lease, "abandon", lambda q, held: q.abandon(held, "later")),
    ("abandon and next", lease, "abandon", lambda q, held: next_id(q.abandon(held, then_reserve=True))),
    ("fail and next", lease, "fail", lambda q, held: next_id(q.fail(held, "no", then_reserve=True))),
    ("abandon for good", lease, "abandon", lambda q, held: q.abandon(held, again=False)),
    ("reserve with care", gave_back, "reserve", again),
    ("reserve an answer more", three_answers, "reserve", again),
    ("finish an answer more", three_answers, "finish", lambda q, held: q.finish(held, RESULT).late),
    (
        "finish late for another assignment",
        twice_granted,
        "finish",
        lambda q, held: q.finish(held, RESULT).late,
    ),
    ("finish late for another and next", twice_granted, "finish", following),
    ("abandon one of several", three_answers, "abandon", lambda q, held: q.abandon(held)),
    ("abandon once too often", given_back_once, "abandon", lambda q, held: q.abandon(held)),
    ("fail one of several", three_answers, "fail", lambda q, held: q.fail(held, "torn").retry_at),
    ("fail all of it", second_of_two, "fail", lambda q, held: q.fail(held, "torn").retry_at),
    (
        "renew one of several",
        three_answers,
        "renew",
        lambda q, held: q.renew(held, request_id="r").expires_at,
    ),
    ("save a draft of one of several", three_answers, "save_draft", lambda q, held: q.save_draft(held, 1)),
    ("release all of it", three_answers, "release", lambda q, _: q.release("a").state),
    ("remove all of it", three_answers, "remove", lambda q, _: q.remove("a")),
    ("revive all of it", dead_whole, "revive", lambda q, _: q.revive("a").state),
    ("reserve what is assigned", assigned, "reserve", again),
    ("assign to another", assigned, "assign", lambda q, _: q.assign("b", "bob").assigned_to),
    ("assign what comes later", scheduled, "assign", lambda q, _: q.assign("z", "bob").assigned_to),
    ("enqueue with skills", nothing, "enqueue", lambda q, _: q.enqueue({}, id="new", requires=["fr"]).added),
    ("reserve with skills", only_skilled, "reserve", skilled),
    ("fail", lease, "fail", lambda q, held: q.fail(held, "torn").retry_at),
    ("fail for good", last_attempt, "fail", lambda q, held: q.fail(held, "torn").retry_at),
    (
        "leave the line",
        nothing,
        "leave_line",
        lambda q, _: q._commands.leave_line("somebody", "ann", "r", 0).code,
    ),
    ("clear", three_ran_out, "clear", lambda q, _: q.clear().more),
    ("clear with alerts", many_wait, "check_alerts", lambda q, _: (q.clear().more, q.alerts())),
    ("revive", dead, "revive", lambda q, _: q.revive("a").state),
    ("release", lease, "release", lambda q, _: q.release("a").state),
    ("assign", nothing, "assign", lambda q, _: q.assign("b", "ann").assigned_to),
    ("change", nothing, "change", lambda q, _: q.change("b", priority=1, requires=["fr"]).priority),
    ("change the payload", ran_out, "change", lambda q, _: q.change("a", payload=[]).payload),
    ("delay", nothing, "change", lambda q, _: q.change("b", delay=5).state),
    ("let in", scheduled, "change", lambda q, _: q.change("z", delay=0).state),
    ("change all of it", three_answers, "change", lambda q, _: q.change("a", priority=1, delay=5).priority),
    ("remove", lease, "remove", lambda q, _: q.remove("a")),
    ("delete", lease, "delete", lambda q, _: q.delete()),
    ("delete its keys", lease, "delete_keys", lambda q, _: q.delete()),
    ("erase a person", gave_back, "erase_person", erased),
    ("load", backed_up, "load", loaded),
    ("load items", backed_up, "load_items", loaded),
    ("restore", nothing, "restore", lambda q, _: q.restore(NewItem(1, id="z", requires=("fr",)), [GIVEN])),
    ("raise_tokens", lease, "restore", lambda q, _: q.raise_tokens(5_000)),
    ("follow", nothing, "follow", lambda q, _: q.follow("one", read=q.journal()[-1].cursor, keep=0)),
    ("unfollow", lambda q: q.follow("one"), "unfollow", lambda q, _: q.unfollow("one")),
    ("adopt", two_answers, "adopt", lambda q, _: [a.result for a in q.adopt("a", 1).answers]),
    ("pause", nothing, "pause", lambda q, _: q.pause("lunch")),
    ("resume", lambda q: q.pause("lunch"), "resume", lambda q, _: q.resume()),
    ("configure", nothing, "configure", lambda q, _: q.configure(holds=9, title="new", form={"show": []})),
    (
        "configure what is expected",
        nothing,
        "configure",
        lambda q, _: q.configure(expected=q.policy, holds=9, by="meg"),
    ),
]
