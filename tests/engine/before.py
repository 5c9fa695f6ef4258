"""What is before a call whose reply gets lost, and calls of more than one step."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest

import leaseq
from leaseq import NewItem, backup
from leaseq.backup.file import Writer
from leaseq.backup.queue_lines import write_queue
from tests.conftest import Clock

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
