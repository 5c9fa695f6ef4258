"""erase_person: the name remains only in the journal, and all else counts as before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import leaseq
from leaseq import NewItem
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.engine import server_contents
from tests.engine.erase.conftest import IDS, NAME, OTHER
from tests.support.leases import take


def renamed_contents(item: leaseq.Item, person: str, to: str) -> dict[str, Any]:
    """Return what must be kept of an item, with the name replaced."""

    def swap(record: Any) -> Any:
        return replace(record, person=to) if record.person == person else record

    return {
        "answers": {
            (swap(record).person, record.token, str(record.result), record.late) for record in item.answers
        },
        "late": [(swap(record).person, record.token, str(record.result)) for record in item.late_answers],
        "past": [swap(record) for record in item.history if record.how != "held"],
        "payload": (item.payload, item.due, item.requires, item.priority, item.failures),
    }


def test_erased_name_remains_only_in_journal(full: leaseq.Queue, server: Server) -> None:
    before = server_contents.naming(server.redis, full.name, NAME)
    assert {
        "ledger",
        "history",
        "late",
        "drafts",
        "relations",
        "cursors",
        "rows",
        "items",
        "journal",
    } <= before
    assert any(key.startswith("later:") for key in before)
    assert any(key.startswith("inbound:@") for key in before)
    totals = full.erase_person(NAME, "erased-1")
    assert totals.leases >= 1
    assert totals.items == len(list(full.person_items("erased-1"))) + 2, "including the two assigned to them"
    assert server_contents.naming(server.redis, full.name, NAME) == {"journal"}
    assert list(full.person_items(NAME)) == []
    assert full.erase_person(NAME, "erased-1") == leaseq.Erased(0, 0)


def test_erase_keeps_answers_and_history_under_new_name(full: leaseq.Queue) -> None:
    before = {id: renamed_contents(full.get(id), NAME, "erased-1") for id in IDS[:-1]}
    finished_count = full.stats().finished
    full.erase_person(NAME, "erased-1")
    assert {id: renamed_contents(full.get(id), "erased-1", "erased-1") for id in IDS[:-1]} == before
    assert full.stats().finished == finished_count
    people = {answer.person for answer in full.answers(with_late=True)}
    assert people == {"erased-1", OTHER, "cyd"}


def test_held_and_assigned_items_of_erased_person_become_available(full: leaseq.Queue, clock: Clock) -> None:
    full.erase_person(NAME, "erased-1", by="meg")
    assert [event.person for event in full.latest_events() if event.what == "released"][:1] == ["meg"]
    assert full.mine(NAME) == []
    assert full.get("held").history[-1].how == "released"
    assert full.get("for").assigned_to == full.get("elsewhere").assigned_to == ()
    clock.tick(100)
    full.clear()
    assert {"held", "for", "elsewhere"} <= take_all(full, "zoe")


def take_all(queue: leaseq.Queue, person: str) -> set[str]:
    """Return the ids of all items that a person can get."""
    ids: set[str] = set()
    while (lease := queue.reserve(person, skills=IDS)) and lease.id not in ids:
        ids.add(lease.id)
        queue.finish(lease, 1)
    return ids


def test_replacement_name_gets_no_answered_or_barred_items(full: leaseq.Queue) -> None:
    """If somebody worked under the new name, they would count as the same person."""
    full.erase_person(NAME, "erased-1")
    ids = take_all(full, "erased-1")
    assert not ids & {"both", "never", "corrected"}
    assert {"held", "later", "for"} <= ids


def test_new_person_with_erased_name_is_separate_person(full: leaseq.Queue) -> None:
    full.erase_person(NAME, "erased-1")
    ids = take_all(full, NAME)
    assert {"never", "held", "for"} <= ids
    assert full.get("never").answers[-1].person == NAME
    full.erase_person(NAME, "erased-2")
    assert {one.person for one in full.get("never").history} == {"erased-1", "erased-2"}


def test_erase_keeps_drafts_and_leases_of_others(full: leaseq.Queue) -> None:
    leases = full.mine(OTHER)
    assert leases
    full.erase_person(NAME, "erased-1")
    assert full.mine(OTHER) == leases
    (item,) = [one for one in full.person_items(OTHER) if one.id == "draft"]
    assert (item.has_draft, item.draft) == (True, {"of": "somebody"})


def test_person_items_lists_all_items_of_person(full: leaseq.Queue) -> None:
    items = {one.id: one for one in full.person_items(NAME)}
    assert {id: one.relation for id, one in items.items()} == {
        **dict.fromkeys(("both", "corrected"), "answered"),
        **dict.fromkeys(("later",), "put-off"),
        **dict.fromkeys(("never",), "barred"),
        **dict.fromkeys(("late", "draft", "failed", "held", "for", "elsewhere"), None),
    }
    assert [answer.result for answer in items["both"].answers] == [{"by": "somebody"}]
    assert [answer.result for answer in items["late"].late_answers] == [{"v": 3}]
    assert items["held"].draft == {"half": 2}
    assert [grant.how for grant in items["failed"].grants] == ["failed"]
    assert items["for"].assigned
    assert not items["for"].has_draft


@pytest.mark.parametrize(
    ("person", "to", "by", "field"),
    [
        ("", "x", None, "person"),
        ("x" * 65, "x", None, "person"),
        ("a\tb", "x", None, "person"),
        (None, "x", None, "person"),
        ("ann", "", None, "to"),
        ("ann", "a\nb", None, "to"),
        ("ann", 3, None, "to"),
        ("ann", "ann", None, "to"),
        ("ann", "bob", "", "by"),
    ],
)
def test_bad_input_is_refused_with_field_name(
    queue: leaseq.Queue, person: Any, to: Any, by: Any, field: str
) -> None:
    queue.enqueue({}, id="one")
    lease = take(queue, "ann")
    with pytest.raises(leaseq.Invalid) as error:
        queue.erase_person(person, to, by=by)
    assert error.value.field == field
    if field == "person":
        with pytest.raises(leaseq.Invalid):
            queue.person_items(person)
    assert queue.mine("ann") == [lease]


names = st.text("aA %.+-@=~:()[]^$é", min_size=1, max_size=6).filter(lambda name: name.strip() == name)


@given(person=names, other=names)
@settings(max_examples=25, suppress_health_check=[*HealthCheck])
def test_erase_does_not_affect_person_with_similar_name(
    server: Server, queue_name: str, person: str, other: str
) -> None:
    """Nothing changes for another person, whose name may have a common beginning or end."""
    if person == other:
        return
    queue = leaseq.Queue(server.client, queue_name)
    queue.configure(answers=2, holds=3)
    queue.enqueue_many([NewItem({}, id=id) for id in ("a", "b", "c")])
    for name in (other, person):
        queue.finish(take(queue, name), 1)
        queue.abandon(take(queue, name), again=name == person)
        queue.save_draft(take(queue, name), name)
    queue.enqueue_many([NewItem({}, id=id) for id in ("d", "e")])
    queue.assign("d", person)
    queue.assign("e", other)
    before, leases = list(map(queue.get, "abcde")), queue.mine(other)
    items = sorted(queue.person_items(other), key=lambda one: one.id)
    queue.erase_person(person, "erased-1")
    assert queue.mine(other) == leases
    assert sorted(queue.person_items(other), key=lambda one: one.id) == items
    assert list(queue.person_items(person)) == []
    after = list(map(queue.get, "abcde"))
    assert [renamed_contents(item, "erased-1", "erased-1") | {"past": 0} for item in after] == [
        renamed_contents(item, person, "erased-1") | {"past": 0} for item in before
    ]
    assert queue.get("e").assigned_to == (other,)
    assert queue.get("d").assigned_to == ()
    assert not server.redis.hexists(Keys(queue_name).rows, f"@{person}")
    assert server.redis.hexists(Keys(queue_name).rows, f"@{other}")
    queue.delete()


def test_unassigned_item_is_placed_by_time_of_erase(timed_queue: leaseq.Queue, server: Server) -> None:
    """Each entry of a shelf has a different time, although the clock stands still."""
    timed_queue.enqueue_many([NewItem({}, id=id) for id in ("before", "after", "theirs")])
    for person in ("bob", "cyd"):
        take(timed_queue, person)
    timed_queue.assign("theirs", "ann")
    timed_queue.release("before")
    timed_queue.erase_person("ann", "erased-1")
    timed_queue.release("after")
    scores = server_contents.scores(server.redis, timed_queue.name)
    assert sorted(scores, key=scores.__getitem__) == ["before", "theirs", "after"]
    assert len(set(scores.values())) == 3


def test_erase_keeps_passed_over_scores_of_others(queue: leaseq.Queue, server: Server) -> None:
    """The rows of people whose names merely begin alike are kept."""
    queue.configure()
    key = Keys(queue.name).passed
    own_shelves = ["@ann:normal", "@ann:high:2", "@ann:low:3:returned", "@ann:normal:returned"]
    other_shelves = ["*", ":normal", "@ann:b:normal", "@ann:low:normal", "@anna:normal", "fr:normal"]
    server.redis.hset(key, mapping=dict.fromkeys([*own_shelves, *other_shelves], 1))
    queue.erase_person("ann", "erased-1")
    assert {path.decode() for path in server.redis.hkeys(key)} == set(other_shelves)
