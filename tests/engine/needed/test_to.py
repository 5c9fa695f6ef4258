"""Items that are assigned to a person from the start."""

from __future__ import annotations

from typing import Any

import pytest

import leaseq


def test_only_addressee_gets_item(queue: leaseq.Queue) -> None:
    queue.enqueue("x", id="one", to="ann lee", requires=["fr"])
    assert queue.reserve("bob", skills=["fr"]) is None
    assert queue.get("one").assigned_to == ("ann lee",)
    (event,) = [event for event in queue.journal() if event.what == "assigned"]
    assert (event.id, event.detail) == ("one", "ann lee")
    lease = queue.reserve("ann lee")
    assert lease is not None
    queue.abandon(lease)
    assert queue.reserve("bob", skills=["fr"]) is not None, "anybody may have it once it was given back"


def test_unassign_opens_item_to_everybody(queue: leaseq.Queue) -> None:
    queue.enqueue_many([leaseq.NewItem("x", id="one", to="ann")])
    queue.unassign("one")
    assert queue.reserve("bob") is not None


def test_first_of_several_assignments_is_addressees(three: leaseq.Queue) -> None:
    three.enqueue("x", id="one", to="ann")
    assert three.reserve("bob") is None
    assert three.reserve("ann") is not None
    assert three.reserve("bob") is not None


@pytest.mark.parametrize("to", ["", 7, "a\nb", "x" * 300, ["ann"], True])
def test_bad_addressee_is_refused(queue: leaseq.Queue, to: Any) -> None:
    with pytest.raises(leaseq.Invalid) as refusal:
        queue.enqueue("x", to=to)
    assert refusal.value.field == "to"
