"""find: a list of items with a manager's filters, forwards and backwards."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import leaseq
from leaseq import Filter, NewItem
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.support.leases import take
from tests.support.refused import refused

Take = Callable[[str], leaseq.Lease]


def names(page: leaseq.Page) -> list[str]:
    return [item.id for item in page.items]


@pytest.fixture
def past_items(timed_queue: leaseq.Queue, clock: Clock) -> leaseq.Queue:
    """Items with a past, one second apart: each is named after its person and its outcome."""
    timed_queue.configure(max_attempts=1, lease_seconds=600, holds=9)
    for id, person, verb in (
        ("ann-done", "ann", "finish"),
        ("ann-back", "ann", "abandon"),
        ("bob-back", "bob", "abandon"),
        ("bob-failed", "bob", "fail"),
        ("ann-failed", "ann", "fail"),
        ("bob-holds", "bob", ""),
    ):
        clock.tick(1)
        timed_queue.enqueue({"of": person}, id=id, priority=1, requires=("fr",) if person == "bob" else ())
        lease = timed_queue.reserve(person, skills=["fr"])
        assert lease
        assert lease.id == id
        if verb == "finish":
            timed_queue.finish(lease, {"text": "Unreadable, \t said nobody"})
        elif verb == "abandon":
            timed_queue.abandon(lease, 'Not my "Language"\tat all', again=False)
            timed_queue.assign(id, "carol of it")  # then the next people don't get it
        elif verb == "fail":
            timed_queue.fail(lease, "Unreadable scan")
    return timed_queue


@pytest.mark.parametrize(
    ("state", "where", "expected"),
    [
        ("inbound", {"person": "ann"}, ["ann-back"]),
        ("inbound", {"person": "an"}, []),
        ("inbound", {"outcome": "abandoned"}, ["ann-back", "bob-back"]),
        ("inbound", {"outcome": "abandoned", "person": "bob"}, ["bob-back"]),
        ("inbound", {"outcome": "failed", "person": "bob"}, []),
        ("inbound", {"text": 'my "language"\tAT'}, ["ann-back", "bob-back"]),
        ("inbound", {"text": "unreadable"}, []),
        ("inbound", {"outcome": "assigned", "person": "carol of it"}, ["ann-back", "bob-back"]),
        ("inbound", {"outcome": "assigned", "person": "carol"}, []),
        ("inbound", {"outcome": "assigned"}, ["ann-back", "bob-back"]),
        ("inbound", {"skill": "fr"}, ["bob-back"]),
        ("inbound", {"skill": "f"}, []),
        ("inbound", {"id": "bob"}, ["bob-back"]),
        ("dead", {"text": "UNREADABLE"}, ["bob-failed", "ann-failed"]),
        ("dead", {"text": "unreadable", "person": "ann", "outcome": "failed"}, ["ann-failed"]),
        ("dead", {"text": "."}, []),
        ("reserved", {"outcome": "held", "person": "bob"}, ["bob-holds"]),
        ("reserved", {"outcome": "finished", "person": "bob"}, []),
        ("finished", {"outcome": "finished", "person": "ann"}, ["ann-done"]),
        ("finished", {"outcome": "finished", "person": "bob"}, []),
        ("finished", {"text": "nobody"}, []),
        ("scheduled", {"person": "ann"}, []),
    ],
)
def test_find_filters_by_each_field(
    past_items: leaseq.Queue, state: leaseq.State, where: dict[str, Any], expected: list[str]
) -> None:
    assert names(past_items.find(state, Filter(**where))) == expected
    assert names(past_items.find(state, Filter(**where), backwards=True)) == expected[::-1]


def test_find_filters_by_number_of_people_that_abandoned(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue_many(NewItem({}, id=id, requires=(id,)) for id in ("a", "b", "never"))
    for person in ("ann", "ann", "bob", "cyd"):
        for id in ("a", "b")[: 1 if person == "cyd" else 2]:
            lease = timed_queue.reserve(person, skills=[id])
            assert lease
            timed_queue.abandon(lease, f"not for {person}")
    for people, expected in ((1, ["a", "b"]), (2, ["a", "b"]), (3, ["a"]), (4, [])):
        assert sorted(names(timed_queue.find("inbound", Filter(given_back_by=people)))) == expected
    condition = Filter(given_back_by=2, person="cyd")
    assert names(timed_queue.find("inbound", condition)) == ["a"]
    timed_queue.assign("b", "dan")
    for arguments, expected in (
        ({"outcome": "assigned", "given_back_by": 2}, ["b"]),
        ({"outcome": "assigned", "given_back_by": 3}, []),
    ):
        assert names(timed_queue.find("inbound", Filter(**arguments))) == expected  # type: ignore[arg-type]
    for count in (0, 1_001, "3"):
        with refused("range", "given_back_by"):
            timed_queue.find("inbound", Filter(given_back_by=count))  # type: ignore[arg-type]


@pytest.mark.parametrize("state", ["inbound", "dead", "finished", "scheduled"])
@pytest.mark.parametrize("limit", [1, 3, 7, 100])
def test_backwards_list_is_reversed_list(timed_queue: leaseq.Queue, state: Any, limit: int) -> None:
    timed_queue.configure(max_attempts=1, holds=100, answers=1)
    rows = [("", 100), ("fr", 100), ("", 5), ("de", 900), ("", 900)]
    timed_queue.enqueue_many(
        NewItem({}, id=f"{n}", priority=rows[n % 5][1], requires=(rows[n % 5][0],) if rows[n % 5][0] else ())
        for n in range(60)
    )
    if state == "scheduled":
        timed_queue.enqueue_many(NewItem({}, id=f"later{n}", delay=9 + n // 2) for n in range(20))
    while state in ("dead", "finished") and (lease := timed_queue.reserve("ann", skills=["de", "fr"])):
        if state == "dead":
            timed_queue.fail(lease, "no")
        else:
            timed_queue.finish(lease, {})
    forwards = names(timed_queue.page(state, limit=1000))
    ids: list[str] = []
    after = None
    while True:
        page = timed_queue.find(state, limit=limit, after=after, backwards=True)
        ids += names(page)
        after = page.after
        if after is None:
            break
    assert ids == forwards[::-1]


def test_backwards_pages_continue_before_a_time(timed_queue: leaseq.Queue, clock: Clock) -> None:
    moments: list[datetime] = []
    for n in range(6):
        timed_queue.enqueue({}, id=f"{n}")
        timed_queue.finish(take(timed_queue, "ann"), n)
        clock.tick(1)
        moments.append(datetime.fromtimestamp(clock.now / 1e6, UTC))
    before = Filter(until=moments[3])
    ids: list[str] = []
    after = None
    for _ in range(6):
        page = timed_queue.find("finished", before, limit=1, after=after, backwards=True)
        ids += names(page)
        after = page.after
        if after is None:
            break
    assert ids == ["3", "2", "1", "0"]


def test_page_reports_scanned_count_and_next_page_continues(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue_many(NewItem({}, id=f"{'rare' if n == 950 else 'item'}-{n}") for n in range(1_000))
    condition = Filter(id="rare")
    page = timed_queue.find("inbound", condition, look=400)
    assert (names(page), page.scanned, page.after is None) == ([], 400, False)
    page = timed_queue.find("inbound", condition, look=400, after=page.after)
    assert (names(page), page.scanned, page.after is None) == ([], 400, False)
    page = timed_queue.find("inbound", condition, look=400, after=page.after)
    assert (names(page), page.scanned, page.after) == (["rare-950"], 200, None)
    page = timed_queue.find("inbound", condition, limit=1)
    assert (page.scanned, page.after is None) == (951, False), "there are more items to examine"


def test_backwards_page_reports_scanned_count_and_next_page_continues(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue_many(NewItem({}, id=f"{'rare' if n == 30 else 'item'}-{n}") for n in range(100))
    condition, after = Filter(id="rare"), None
    for ids in ([], ["rare-30"]):
        page = timed_queue.find("inbound", condition, look=40, after=after, backwards=True)
        assert (names(page), page.scanned, page.after is None) == (ids, 40, False)
        after = page.after
    page = timed_queue.find("inbound", condition, look=40, after=after, backwards=True)
    assert (names(page), page.scanned, page.after) == ([], 20, None)


def test_backwards_page_reads_only_scanned_part_of_list(timed_queue: leaseq.Queue, server: Server) -> None:
    timed_queue.enqueue_many(NewItem({}, id=f"item-{n}") for n in range(100))
    with server.redis.monitor() as monitor:
        assert names(timed_queue.find("inbound", limit=1, look=5, backwards=True)) == ["item-99"]
        timed_queue.pause()
        ranges = []
        for command in iter(monitor.next_command, None):
            arguments = command["command"].split(" ")
            if arguments[0] == "ZRANGE" and arguments[-1] == "WITHSCORES":
                ranges.append((int(arguments[2]), int(arguments[3])))
            if arguments[0] == "XADD":  # the journal entry of the pause
                break
    assert ranges == [(94, 99)]


def test_find_filters_by_since_and_until(past_items: leaseq.Queue, clock: Clock) -> None:
    start = datetime.fromtimestamp(clock.start / 1e6, UTC)
    fourth, fifth = start + timedelta(seconds=4), start + timedelta(seconds=5)
    for backwards in (False, True):

        def found_names(state: Any, **times: Any) -> list[str]:
            return sorted(names(past_items.find(state, Filter(**times), backwards=backwards)))  # noqa: B023

        assert found_names("dead", since=fifth) == ["ann-failed"]
        assert found_names("dead", until=fifth) == ["bob-failed"]
        assert found_names("dead", since=fourth, until=fifth) == ["bob-failed"]
        assert found_names("inbound", until=fifth) == ["ann-back", "bob-back"]
        assert found_names("inbound", since=fifth) == []
        moment = past_items.get("ann-failed").state_since
        assert found_names("dead", since=moment) == ["ann-failed"], "`since` includes its moment"
        assert found_names("dead", until=moment) == ["bob-failed"], "`until` excludes its moment"


def test_due_item_is_found_by_any_of_its_assignments(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="one", due=datetime(2030, 1, 1, tzinfo=UTC))
    timed_queue.enqueue({}, id="two", due=datetime(2031, 1, 1, tzinfo=UTC))
    assert [take(person).id for person in ("ann", "bob", "cyd")] == ["one", "two", "one"]
    assert names(timed_queue.find("due", Filter(person="bob", outcome="held"))) == ["two"]
    assert names(timed_queue.find("due", Filter(person="cyd", outcome="held"))) == ["one"], (
        "cyd holds its second assignment"
    )
    assert names(timed_queue.find("due", Filter(until=datetime(2031, 1, 1, tzinfo=UTC)))) == ["one"]


@pytest.mark.parametrize(
    ("field", "where"),
    [
        ("outcome", {"outcome": "eaten"}),
        ("text", {"text": "x", "outcome": "held"}),
        ("text", {"text": "x" * 2_001}),
        ("person", {"person": ""}),
        ("skill", {"skill": "No Good"}),
        ("id", {"id": "x" * 201}),
        ("since", {"since": datetime(2030, 1, 1)}),  # noqa: DTZ001
        ("until", {"until": 5}),
    ],
)
def test_invalid_filter_is_refused(timed_queue: leaseq.Queue, field: str, where: dict[str, Any]) -> None:
    with pytest.raises(leaseq.Invalid) as error:
        timed_queue.find("dead", Filter(**where))
    assert error.value.field == field


@pytest.mark.parametrize("where", [{}, {"skill": "fr"}, {"outcome": "assigned"}])
def test_entry_without_item_is_on_no_page(
    timed_queue: leaseq.Queue, server: Server, clock: Clock, where: dict[str, Any]
) -> None:
    """An enqueue that the server aborted may leave an entry without an item."""
    timed_queue.enqueue({}, id="whole", requires=("fr",), delay=9)
    timed_queue.assign("whole", "bob")
    server.redis.zadd(Keys(timed_queue.name).scheduled, {"broken": clock.now})
    assert names(timed_queue.find("scheduled", Filter(**where))) == ["whole"]


def test_filter_of_wrong_type_is_refused(timed_queue: leaseq.Queue) -> None:
    with refused("type", "where", what="filter", kind="str"):
        timed_queue.find("dead", "x")  # type: ignore[arg-type]


def test_find_unfinished_items_that_need_more_answers(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=3, holds=5)
    thirds: dict[str, leaseq.Lease] = {}
    for id in ("held", "scheduled", "done", "returned", "waiting", "own"):
        timed_queue.enqueue({}, id=id)
        first, second = take(timed_queue, "ann"), take(timed_queue, "bob")
        timed_queue.finish(second, 2)
        if id not in ("waiting", "own"):
            thirds[id] = take(timed_queue, "cyd")
        if id in ("done", "returned"):
            timed_queue.finish(thirds[id], 3)
        if id == "returned":
            timed_queue.abandon(first)
        else:
            timed_queue.finish(first, 1)
    timed_queue.fail(thirds["scheduled"], "torn")
    timed_queue.change("own", answers=2)
    timed_queue.enqueue({}, id="new")
    timed_queue.configure(answers=2)

    def found(above: int) -> dict[str, list[str]]:
        pages = {state: timed_queue.find(state, Filter(answers_above=above)) for state in leaseq.STATES}
        return {state: sorted(names(page)) for state, page in pages.items() if page.items}

    assert found(2) == {"inbound": ["returned", "waiting"], "reserved": ["held"], "scheduled": ["scheduled"]}
    assert found(3) == {}
    assert found(1)["inbound"] == ["new", "returned", "waiting"]
    assert timed_queue.get("new").answers_needed == timed_queue.get("own").answers_needed == 2
    assert timed_queue.get("done").answers_needed == timed_queue.get("waiting").answers_needed == 3
    timed_queue.configure(answers=9)
    assert timed_queue.get("done").answers_needed == 3, "it gets no further assignment"
    for count in (0, 101, "3"):
        with refused("range", "answers_above"):
            timed_queue.find("inbound", Filter(answers_above=count))  # type: ignore[arg-type]
