from __future__ import annotations

from collections.abc import Callable

import pytest

import leaseq
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server

Take = Callable[[str], leaseq.Lease]
DRAFT = {"text": "half a thou\tght\n\n"}


@pytest.fixture(autouse=True)
def item_one(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({"n": 1}, id="one")


def drafts_in(server: Server, queue: leaseq.Queue) -> int:
    count: int = server.redis.hlen(Keys(queue.name).drafts)
    return count


def test_latest_draft_is_returned_with_lease(timed_queue: leaseq.Queue, take: Take) -> None:
    lease = take("ann")
    timed_queue.save_draft(lease, {"first": 1})
    timed_queue.save_draft(lease, DRAFT)
    assert timed_queue.mine("ann")[0].draft == DRAFT
    assert take("ann").draft == DRAFT, "ann is at her limit, so she gets her lease again"
    assert timed_queue.renew(lease).draft == DRAFT


@pytest.mark.parametrize("ending", ["expiry", "abandon", "fail", "release"])
def test_draft_is_returned_to_same_person_after_lease_ended(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, ending: str
) -> None:
    lease = take("ann")
    timed_queue.save_draft(lease, DRAFT)
    calls: dict[str, Callable[[], object]] = {
        "expiry": lambda: clock.tick(301),
        "abandon": lambda: timed_queue.abandon(lease),
        "fail": lambda: timed_queue.fail(lease, "no"),
        "release": lambda: timed_queue.release("one"),
    }
    calls[ending]()
    clock.tick(5)
    other = take("bob")
    assert other.draft is None
    timed_queue.abandon(other)
    assert take("ann").draft == DRAFT


def test_a_draft_stays_with_a_lease_that_is_renewed(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.enqueue({})
    lease = take("ann")
    timed_queue.save_draft(lease, "half")
    assert [timed_queue.renew(lease).draft for _ in range(2)] == ["half"] * 2
    assert timed_queue.mine("ann")[0].draft == "half"


def test_each_person_has_own_draft_of_item(timed_queue: leaseq.Queue, take: Take) -> None:
    for person in ("ann", "bob"):
        lease = take(person)
        timed_queue.save_draft(lease, {"of": person})
        timed_queue.abandon(lease)
    for person in ("ann", "bob"):
        lease = take(person)
        assert lease.draft == {"of": person}
        timed_queue.abandon(lease)


def test_a_shared_draft_goes_to_the_next_person_who_has_none(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(share_drafts=True)
    for person in ("ann", "bob"):
        lease = take(person)
        timed_queue.save_draft(lease, {"of": person})
        timed_queue.abandon(lease)
    lease = take("cyd")
    assert lease.draft == {"of": "bob"}, "the latest draft"
    timed_queue.abandon(lease)
    assert take("ann").draft == {"of": "ann"}, "a person's own draft comes first"


def test_a_finish_removes_every_draft_of_the_item(
    timed_queue: leaseq.Queue, take: Take, server: Server
) -> None:
    timed_queue.enqueue({}, id="two")
    other = take("ann")
    timed_queue.save_draft(other, DRAFT)
    lease = take("bob")
    timed_queue.save_draft(lease, DRAFT)
    timed_queue.abandon(other)
    third_lease = take("cyd")
    assert drafts_in(server, timed_queue) == 4
    timed_queue.finish(third_lease, {})
    assert drafts_in(server, timed_queue) == 2, "the drafts of item two are left"
    timed_queue.finish(lease, {}, then_reserve=True)
    assert drafts_in(server, timed_queue) == 0


def test_finish_removes_drafts_of_several_people(
    timed_queue: leaseq.Queue, take: Take, server: Server
) -> None:
    timed_queue.enqueue({})
    for person in ("ann", "bob"):
        lease = take(person)
        timed_queue.save_draft(lease, DRAFT)
        timed_queue.abandon(lease)
    assert drafts_in(server, timed_queue) == 3
    timed_queue.finish(take("cyd"), {})
    assert drafts_in(server, timed_queue) == 0


def test_late_finish_removes_drafts(
    timed_queue: leaseq.Queue, take: Take, server: Server, clock: Clock
) -> None:
    lease = take("ann")
    timed_queue.save_draft(lease, DRAFT)
    clock.tick(301)
    timed_queue.clear()
    timed_queue.finish(lease, {})
    assert drafts_in(server, timed_queue) == 0


def test_removing_item_removes_drafts(timed_queue: leaseq.Queue, take: Take, server: Server) -> None:
    timed_queue.save_draft(take("ann"), DRAFT)
    timed_queue.remove("one")
    assert drafts_in(server, timed_queue) == 0


@pytest.mark.parametrize("with_clear", [False, True])
def test_draft_is_accepted_after_lease_expired(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, with_clear: bool
) -> None:
    lease = take("ann")
    clock.tick(301)
    if with_clear:
        timed_queue.clear()
    timed_queue.save_draft(lease, DRAFT)
    assert take("ann").draft == DRAFT


def test_renewing_expired_lease_returns_draft(timed_queue: leaseq.Queue, take: Take, clock: Clock) -> None:
    lease = take("ann")
    clock.tick(301)
    timed_queue.clear()
    timed_queue.save_draft(lease, DRAFT)
    assert timed_queue.renew(lease).draft == DRAFT


@pytest.mark.parametrize("ending", ["abandon", "finish", "regranted", "foreign", "removed"])
def test_a_draft_without_a_lease_is_refused(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, server: Server, ending: str
) -> None:
    lease = take("ann")

    def regrant() -> None:
        clock.tick(301)
        take("bob")

    calls: dict[str, Callable[[], object]] = {
        "abandon": lambda: timed_queue.abandon(lease),
        "finish": lambda: timed_queue.finish(lease, {}),
        "regranted": regrant,
        "foreign": lambda: None,
        "removed": lambda: timed_queue.remove("one"),
    }
    calls[ending]()
    with pytest.raises(leaseq.ItemNotFound if ending == "removed" else leaseq.LeaseLost):
        timed_queue.save_draft(
            draft=DRAFT, id="one", token=lease.token, person="eve" if ending == "foreign" else "ann"
        )
    assert drafts_in(server, timed_queue) == 0


def test_draft_is_kept_for_person_named_like_record_mark(timed_queue: leaseq.Queue, take: Take) -> None:
    lease = take(" w")
    assert timed_queue.mine(" w")[0].draft is None
    timed_queue.save_draft(lease, DRAFT)
    timed_queue.abandon(lease)
    assert take(" w").draft == DRAFT


def test_last_answer_removes_drafts_even_if_policy_now_asks_for_more(
    timed_queue: leaseq.Queue, take: Take, server: Server
) -> None:
    """An item with all its assignments handed out before the policy changed gets no more answers."""
    timed_queue.configure(answers=2)
    first, second = take("ann"), take("bob")
    timed_queue.save_draft(second, DRAFT)
    timed_queue.abandon(second)
    second = take("cyd")
    timed_queue.configure(answers=3)
    timed_queue.finish(first, {})
    assert drafts_in(server, timed_queue) == 2, "bob's drafts are left"
    timed_queue.finish(second, {})
    assert timed_queue.get("one").state == "finished"
    assert drafts_in(server, timed_queue) == 0


def test_drafts_of_dead_item_are_kept_until_revived_and_finished(
    timed_queue: leaseq.Queue, take: Take, server: Server
) -> None:
    timed_queue.configure(answers=2, max_attempts=1)
    first, second = take("ann"), take("bob")
    timed_queue.save_draft(second, DRAFT)
    timed_queue.finish(first, {})
    timed_queue.fail(second, "torn")
    timed_queue.finish(timed_queue.undo_finish(first), {})
    timed_queue.revive("one")
    second = take("bob")
    assert second.draft == DRAFT
    timed_queue.finish(second, {})
    assert drafts_in(server, timed_queue) == 0
