from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

import leaseq
from leaseq import NewItem
from tests.conftest import Clock
from tests.engine.conftest import Sets
from tests.support.refused import refused

Take = Callable[[str], leaseq.Lease]


@pytest.fixture(autouse=True)
def item_one(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({"n": 1}, id="one")


def test_renewing_gives_a_full_lease_from_now(timed_queue: leaseq.Queue, clock: Clock, take: Take) -> None:
    lease = take("ann")
    clock.tick(200)
    renewed_lease = timed_queue.renew(lease)
    assert renewed_lease.expires_at - lease.expires_at == pytest.approx(
        timedelta(seconds=200), abs=timedelta(0, 0, 9)
    )
    assert (renewed_lease.token, renewed_lease.reserved_at, renewed_lease.attempt) == (
        lease.token,
        lease.reserved_at,
        1,
    )
    assert renewed_lease.payload == {"n": 1}
    clock.tick(299)
    assert timed_queue.reserve("bob") is None, "the first lease would have expired by now"
    assert timed_queue.mine("ann") == [renewed_lease]


def test_a_renewed_lease_ends_a_full_lease_later_to_the_microsecond(
    timed_queue: leaseq.Queue, clock: Clock, take: Take
) -> None:
    lease = take("ann")
    clock.now += 200_123_457
    now = datetime.fromtimestamp(clock.now // 1_000_000, UTC) + timedelta(microseconds=clock.now % 1_000_000)
    assert timed_queue.renew(lease).expires_at - now == timedelta(seconds=300)


def test_renewing_never_shortens_lease(timed_queue: leaseq.Queue, take: Take) -> None:
    lease = take("ann")
    timed_queue.configure(lease_seconds=5)
    assert timed_queue.renew(lease).expires_at == lease.expires_at


def test_renewed_lease_expires(timed_queue: leaseq.Queue, clock: Clock, take: Take) -> None:
    timed_queue.renew(take("ann"))
    clock.tick(301)
    assert take("bob").attempt == 2


def test_renewals_are_limited_by_policy(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(renewals=2)
    lease = take("ann")
    timed_queue.renew(lease)
    timed_queue.renew(lease)
    with refused("maximum", what="renewals") as error:
        timed_queue.renew(lease)
    assert error.value.field == "renewals"
    assert timed_queue.get("one").leases[0].renewals == 2


def test_renewing_is_refused_if_policy_allows_no_renewals(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(renewals=0)
    with refused("maximum", "renewals", what="renewals"):
        timed_queue.renew(take("ann"))


def test_repeated_renew_with_same_request_id_counts_once(
    timed_queue: leaseq.Queue, clock: Clock, take: Take
) -> None:
    timed_queue.configure(renewals=1)
    lease = take("ann")
    first = timed_queue.renew(lease, request_id="r")
    clock.tick(10)
    assert timed_queue.renew(lease, request_id="r") == first
    assert [e.what for e in timed_queue.journal()].count("renewed") == 1
    with refused("maximum", what="renewals"):
        timed_queue.renew(lease)


@pytest.mark.parametrize("second", ["renewal-1", "renewal-123", "enewal-12", "x"])
def test_request_id_of_renew_is_compared_whole(
    timed_queue: leaseq.Queue, clock: Clock, take: Take, second: str
) -> None:
    lease = take("ann")
    first = timed_queue.renew(lease, request_id="renewal-12")
    clock.tick(10)
    assert timed_queue.renew(lease, request_id=second).expires_at > first.expires_at
    assert [e.what for e in timed_queue.journal()].count("renewed") == 2


def test_repeated_renew_after_expiry_reserves_item_again(
    timed_queue: leaseq.Queue, clock: Clock, take: Take, sets: Sets
) -> None:
    lease = take("ann")
    timed_queue.renew(lease, request_id="r")
    clock.tick(301)
    timed_queue.clear()
    timed_queue.renew(lease, request_id="r")
    assert sets()["reserved"] == ["one"]


@pytest.fixture
def expired_lease(timed_queue: leaseq.Queue, clock: Clock, take: Take) -> leaseq.Lease:
    """A lease of ann that has expired; its item is back in the queue."""
    lease = take("ann")
    clock.tick(301)
    timed_queue.clear()
    return lease


def test_expired_lease_is_renewed_if_item_was_not_reserved_again(
    timed_queue: leaseq.Queue, sets: Sets, expired_lease: leaseq.Lease
) -> None:
    assert sets()["inbound"] == ["one"]
    renewed_lease = timed_queue.renew(expired_lease)
    assert (renewed_lease.token, renewed_lease.attempt) == (expired_lease.token, 1)
    assert sets()["reserved"] == ["one"]
    assert sets()["inbound"] == []
    assert timed_queue.mine("ann") == [renewed_lease]
    assert timed_queue.finish(renewed_lease, {}).late is False


def test_expired_lease_that_was_renewed_expires_again(
    timed_queue: leaseq.Queue, clock: Clock, take: Take, expired_lease: leaseq.Lease
) -> None:
    timed_queue.renew(expired_lease)
    clock.tick(301)
    assert timed_queue.clear().returned == 1
    assert take("bob").attempt == 2


def test_expired_lease_is_not_renewed_if_another_person_holds_item(
    timed_queue: leaseq.Queue, clock: Clock, take: Take
) -> None:
    lease = take("ann")
    clock.tick(301)
    take("bob")
    with pytest.raises(leaseq.LeaseLost) as error:
        timed_queue.renew(lease)
    assert error.value.values["what"] == "reserved"
    assert error.value.item.leases[0].person == "bob"
    assert timed_queue.mine("ann") == []


def test_expired_lease_is_not_renewed_at_holds_limit(
    timed_queue: leaseq.Queue, take: Take, expired_lease: leaseq.Lease
) -> None:
    timed_queue.enqueue({}, id="urgent", priority=1)
    assert take("ann").id == "urgent"
    with refused("maximum", what="leases") as error:
        timed_queue.renew(expired_lease)
    assert error.value.field == "holds"


def test_expired_lease_does_not_count_towards_holds(
    timed_queue: leaseq.Queue, clock: Clock, take: Take, expired_lease: leaseq.Lease
) -> None:
    timed_queue.enqueue({}, id="urgent", priority=1)
    take("ann")
    clock.tick(301)
    assert timed_queue.mine("ann") == []
    renewed_lease = timed_queue.renew(expired_lease)
    assert timed_queue.mine("ann") == [renewed_lease]
    assert take("ann") == renewed_lease


def test_expired_lease_that_was_renewed_counts_towards_holds(
    timed_queue: leaseq.Queue, take: Take, expired_lease: leaseq.Lease
) -> None:
    timed_queue.enqueue({}, id="two")
    renewed_lease = timed_queue.renew(expired_lease)
    assert take("ann") == renewed_lease


@pytest.mark.parametrize("verb", ["finish", "abandon", "fail", "release"])
def test_an_ended_lease_is_not_renewed(timed_queue: leaseq.Queue, take: Take, sets: Sets, verb: str) -> None:
    lease = take("ann")
    calls: dict[str, Callable[[], object]] = {
        "finish": lambda: timed_queue.finish(lease, {}),
        "abandon": lambda: timed_queue.abandon(lease),
        "fail": lambda: timed_queue.fail(lease, "no"),
        "release": lambda: timed_queue.release("one"),
    }
    calls[verb]()
    before = sets()
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.renew(lease)
    assert sets() == before


def test_lease_of_item_that_died_by_expiry_is_not_renewed(
    timed_queue: leaseq.Queue, clock: Clock, take: Take
) -> None:
    timed_queue.enqueue(NewItem({}, id="two").payload, id="two", max_attempts=1)
    take("ann")
    lease = take("bob")
    clock.tick(301)
    timed_queue.clear()
    with pytest.raises(leaseq.LeaseLost) as error:
        timed_queue.renew(lease)
    assert error.value.values["what"] == "attempts"


def test_renew_accepts_id_token_and_person_instead_of_lease(timed_queue: leaseq.Queue, take: Take) -> None:
    lease = take("ann")
    assert timed_queue.renew(id="one", token=lease.token, person="ann").id == "one"


def test_renew_of_missing_item_raises_item_not_found(timed_queue: leaseq.Queue) -> None:
    with pytest.raises(leaseq.ItemNotFound):
        timed_queue.renew(id="nobody", token=1, person="ann")
