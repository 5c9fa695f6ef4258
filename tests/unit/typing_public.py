"""For mypy alone (`./dev lint`): what a caller's type checker accepts, infers and refuses.

Each ``type: ignore`` is an error that mypy has to find: one that it does not find is itself an error.
"""

from __future__ import annotations

from typing import Any, assert_type

import leaseq


def policies(queue: leaseq.Queue) -> None:
    assert_type(queue.configure(lease_seconds=300, bands=(50, 150), durable="fsync"), leaseq.Policy)
    queue.configure(by="meg", expected=queue.policy, keep_finished_seconds=None, form={"show": ["text"]})
    queue.configure(leese_seconds=300)  # type: ignore[call-arg]
    queue.configure(max_attempts="3")  # type: ignore[arg-type]
    queue.configure(bands=(50, 100, 150))  # type: ignore[arg-type]
    queue.configure(durable="disk")  # type: ignore[arg-type]
    queue.configure(title=None)  # type: ignore[arg-type]


def changes_from_elsewhere(
    queue: leaseq.Queue, typed_changes: leaseq.PolicyChanges, untyped_changes: dict[str, Any]
) -> None:
    queue.configure(**typed_changes)
    queue.configure(**untyped_changes)
    leaseq.Policy().updated(typed_changes)
    wrong_changes: leaseq.PolicyChanges = {"holds": 2, "answer": 3}  # type: ignore[typeddict-unknown-key]
    queue.configure(**wrong_changes)


def changed_items(queue: leaseq.Queue, typed_changes: leaseq.ItemChanges) -> None:
    assert_type(queue.change("r-1", priority=10, due=None, payload=None, by="meg"), leaseq.Item)
    queue.change("r-1", **typed_changes)
    queue.change("r-1", prioritty=10)  # type: ignore[call-arg]
    queue.change("r-1", priority=None)  # type: ignore[arg-type]
    queue.change("r-1", due="2027-05-01")  # type: ignore[arg-type]
    queue.change("r-1", max_attempts=3)  # type: ignore[call-arg]


def skills_in_any_collection(queue: leaseq.Queue, client: leaseq.Client, skills: set[str]) -> None:
    new_items = [leaseq.NewItem({}, requires=["fr"]), leaseq.NewItem({}, requires=skills)]
    queue.enqueue_many(new_items)
    queue.enqueue({}, requires=skills)
    queue.change("r-1", requires=skills)
    assert_type(queue.reserve("ann", skills=skills), leaseq.Lease | None)
    queue.why_nothing("ann", frozenset(skills))
    leaseq.Worker(client, {"reviews": lambda lease: lease.id}, person="bot", skills=skills)
    leaseq.NewItem({}, requires=5)  # type: ignore[arg-type]
    queue.reserve("ann", skills=[7])  # type: ignore[list-item]


def policy_from_lists(queue: leaseq.Queue) -> None:
    queue.configure(bands=[50, 150], alerts=["waiting>500"])
    assert_type(queue.policy.alerts, tuple[str, ...])


def outcomes_of_items(queue: leaseq.Queue, ids: set[str]) -> None:
    assert_type(queue.outcomes(ids), list[leaseq.Outcome | None])
    assert_type(queue.outcome_rows(ids), list[leaseq.OutcomeRow | None])
    queue.restore(
        leaseq.NewItem({}, "r-1"), [answer for row in queue.outcomes(ids) if row for answer in row.answers]
    )


def leases(queue: leaseq.Queue, lease: leaseq.Lease) -> None:
    assert_type(queue.reserve("ann", wait=20), leaseq.Lease | None)
    assert_type(queue.renew(lease), leaseq.Lease)
    assert_type(queue.finish(lease, {"label": "spam"}, then_reserve=True).next, leaseq.Lease | None)
    assert_type(queue.undo_finish(lease), leaseq.Lease)
    assert_type(queue.take_back(lease), leaseq.Lease)
    assert_type(queue.fail(lease, "cut off"), leaseq.Failed)
    queue.save_draft(lease, {"label": "sp"})
    queue.abandon(lease, "not for me", again=False)


def leases_by_their_parts(queue: leaseq.Queue) -> None:
    assert_type(queue.renew(id="one", token=1, person="ann"), leaseq.Lease)
    assert_type(queue.finish(result=None, id="one", token=1, person="ann"), leaseq.Finished)
    assert_type(queue.undo_finish(id="one", token=1, person="ann", request_id="r"), leaseq.Lease)
    assert_type(queue.fail(id="one", token=1, person="ann"), leaseq.Failed)
    queue.save_draft(draft={}, id="one", token=1, person="ann")
    queue.abandon(id="one", token=1, person="ann", again=False)


def leases_in_a_wrong_way(queue: leaseq.Queue, lease: leaseq.Lease) -> None:
    queue.finish(lease, {}, id="one", token=1, person="ann")  # type: ignore[call-overload]
    queue.finish(lease)  # type: ignore[call-overload]
    queue.finish(result={}, id="one", token=1)  # type: ignore[call-overload]
    queue.finish(result={}, id="one", token="1", person="ann")  # type: ignore[call-overload]
    queue.finish(queue.reserve("ann"), {})  # type: ignore[arg-type]
    queue.finish("one", {})  # type: ignore[call-overload]
    queue.renew()  # type: ignore[call-overload]
    queue.renew(lease, id="one")  # type: ignore[call-overload]
    queue.save_draft(lease, {}, person="ann")  # type: ignore[call-overload]
    queue.undo_finish(lease, token=1)  # type: ignore[call-overload]
    queue.take_back(lease, token=1)  # type: ignore[call-overload]
    queue.abandon(lease, "no", id="one")  # type: ignore[call-overload]
    queue.fail(lease, "cut off", token=1)  # type: ignore[call-overload]
    queue.fail(lease, None)  # type: ignore[call-overload]


def codes(queue: leaseq.Queue, item: leaseq.Item, event: leaseq.Event) -> None:
    assert_type(event.what, leaseq.EventKind)
    assert_type(item.state, leaseq.State)
    assert_type(item.history[0].how, leaseq.Ending)
    assert_type(queue.why_nothing("ann").reason, leaseq.NothingReason | None)
    assert_type(queue.policy.durable, leaseq.Durable)
    assert_type(queue.stats().counters["finished"], int)
    queue.stats().counters["finnished"]  # type: ignore[index]
    queue.items("ded")  # type: ignore[arg-type]
    leaseq.Filter(outcome="given back")  # type: ignore[arg-type]
    assert event.what != "reserve"  # type: ignore[comparison-overlap]
    assert item.state != "waiting"  # type: ignore[comparison-overlap]
    assert queue.why_nothing("ann").reason != "none"  # type: ignore[comparison-overlap]
