"""Erasing a person: their name is nowhere but in the journal, and everything counts as before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import leaseq
from leaseq import NewItem
from leaseq.engine.keys import Keys
from leaseq.engine.replies import Reply
from tests.conftest import Clock, Server
from tests.engine import looking
from tests.support.taking import take

NAME, OTHER = "Ann %w+ (a)", "Ann"  # a pattern of Lua, and a part of it
IDS = ("both", "late", "draft", "later", "never", "failed", "corrected", "held")


@pytest.fixture
def full(timed: leaseq.Queue, clock: Clock) -> leaseq.Queue:
    """A queue in which the person did everything that there is."""
    return fill(timed, clock, NAME, OTHER)


def fill(queue: leaseq.Queue, clock: Clock, name: str, other: str) -> leaseq.Queue:
    queue.configure(answers=2, holds=9, lease_seconds=60, max_abandons=9)
    for id in IDS:
        queue.enqueue({}, id=id, requires=[id])

    def get(id: str, person: str) -> leaseq.Lease:
        lease = queue.reserve(person, skills=[id])
        assert lease is not None
        assert lease.id == id
        return lease

    for person in (other, name):
        queue.finish(get("both", person), {"by": "somebody"})
    lost = get("late", name)
    clock.tick(61)
    queue.clear()
    queue.save_draft(lost, {"half": 1})
    for person in (other, "cyd"):
        queue.finish(get("late", person), 1)
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(lost, {"v": 3})
    for person in (other, name):
        drafted = get("draft", person)
        queue.save_draft(drafted, {"of": "somebody"})
        queue.release("draft")
    queue.abandon(get("later", name), "tired")
    queue.abandon(get("never", name), again=False)
    queue.fail(get("failed", name), "torn")
    queue.finish(get("corrected", "cyd"), 1)
    (answer,) = queue.get("corrected").answers
    queue.correct("corrected", answer.token, 2, by=name)
    get("held", other)
    queue.save_draft(get("held", name), {"half": 2})
    for id in ("for", "elsewhere"):
        queue.enqueue({}, id=id, delay=0 if id == "for" else 99)
        queue.assign(id, name)
    return queue


def renamed(item: leaseq.Item, person: str, to: str) -> dict[str, Any]:
    """What is to be kept of an item, with another name."""

    def swap(one: Any) -> Any:
        return replace(one, person=to) if one.person == person else one

    return {
        "answers": {(swap(one).person, one.token, str(one.result), one.late) for one in item.answers},
        "late": [(swap(one).person, one.token, str(one.result)) for one in item.late_answers],
        "past": [swap(one) for one in item.history if one.how != "held"],
        "payload": (item.payload, item.due, item.requires, item.priority, item.failures),
    }


def test_the_name_is_left_in_the_journal_alone(full: leaseq.Queue, server: Server) -> None:
    before = looking.naming(server.redis, full.name, NAME)
    assert {"ledger", "history", "late", "drafts", "bars", "cursors", "rows", "items", "journal"} <= before
    assert any(key.startswith("later:") for key in before)
    assert any(key.startswith("inbound:@") for key in before)
    erased = full.erase_person(NAME, "erased-1")
    assert erased.leases >= 1
    assert erased.items == len(list(full.person_items("erased-1"))) + 2, "and the two that were theirs alone"
    assert looking.naming(server.redis, full.name, NAME) == {"journal"}
    assert list(full.person_items(NAME)) == []
    assert full.erase_person(NAME, "erased-1") == leaseq.Erased(0, 0)


def test_everything_counts_as_before_under_the_other_name(full: leaseq.Queue) -> None:
    before = {id: renamed(full.get(id), NAME, "erased-1") for id in IDS[:-1]}
    finished = full.stats().finished
    full.erase_person(NAME, "erased-1")
    assert {id: renamed(full.get(id), "erased-1", "erased-1") for id in IDS[:-1]} == before
    assert full.stats().finished == finished
    counted = {answer.person for answer in full.answers(with_late=True)}
    assert counted == {"erased-1", OTHER, "cyd"}


def test_what_they_held_or_was_theirs_alone_is_anybodys(full: leaseq.Queue, clock: Clock) -> None:
    full.erase_person(NAME, "erased-1", by="meg")
    assert [event.person for event in full.latest_events() if event.what == "released"][:1] == ["meg"]
    assert full.mine(NAME) == []
    assert full.get("held").history[-1].how == "released"
    assert full.get("for").assigned_to == full.get("elsewhere").assigned_to == ()
    clock.tick(100)
    full.clear()
    assert {"held", "for", "elsewhere"} <= taken(full, "zoe")


def taken(queue: leaseq.Queue, person: str) -> set[str]:
    """All that a person can be given."""
    ids: set[str] = set()
    while (lease := queue.reserve(person, skills=IDS)) and lease.id not in ids:
        ids.add(lease.id)
        queue.finish(lease, 1)
    return ids


def test_who_has_the_other_name_is_given_nothing_twice(full: leaseq.Queue) -> None:
    """Were somebody to work under it: it is the same person as before."""
    full.erase_person(NAME, "erased-1")
    got = taken(full, "erased-1")
    assert not got & {"both", "never", "corrected"}
    assert {"held", "later", "for"} <= got


def test_a_new_person_of_the_name_is_another(full: leaseq.Queue) -> None:
    full.erase_person(NAME, "erased-1")
    got = taken(full, NAME)
    assert {"never", "held", "for"} <= got
    assert full.get("never").answers[-1].person == NAME
    full.erase_person(NAME, "erased-2")
    assert {one.person for one in full.get("never").history} == {"erased-1", "erased-2"}


def test_other_peoples_drafts_and_leases_stay(full: leaseq.Queue) -> None:
    mine = full.mine(OTHER)
    assert mine
    full.erase_person(NAME, "erased-1")
    assert full.mine(OTHER) == mine
    (kept,) = [one for one in full.person_items(OTHER) if one.id == "draft"]
    assert (kept.has_draft, kept.draft) == (True, {"of": "somebody"})


def test_what_is_had_of_a_person(full: leaseq.Queue) -> None:
    known = {one.id: one for one in full.person_items(NAME)}
    assert {id: one.relation for id, one in known.items()} == {
        **dict.fromkeys(("both", "corrected"), "answered"),
        **dict.fromkeys(("later",), "put-off"),
        **dict.fromkeys(("never",), "barred"),
        **dict.fromkeys(("late", "draft", "failed", "held", "for", "elsewhere"), None),
    }
    assert [answer.result for answer in known["both"].answers] == [{"by": "somebody"}]
    assert [answer.result for answer in known["late"].late_answers] == [{"v": 3}]
    assert known["held"].draft == {"half": 2}
    assert [grant.how for grant in known["failed"].grants] == ["failed"]
    assert known["for"].assigned
    assert not known["for"].has_draft


@pytest.mark.parametrize("step", [1, 2, 4])
def test_what_was_broken_off_is_finished_by_the_next(
    full: leaseq.Queue, server: Server, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    for n in range(400):  # so that it takes steps
        full.enqueue({"n": n, "long": "x" * 100})
    real, calls = full._commands.erase_person, 0

    def dies(*given: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > step:
            raise leaseq.ServerUnavailable("killed")
        return real(*given)

    with monkeypatch.context() as patch:
        patch.setattr(full._commands, "erase_person", dies)
        with pytest.raises(leaseq.ServerUnavailable):
            full.erase_person(NAME, "erased-1")
    assert full.mine(NAME) == []
    full.erase_person(NAME, "erased-1")
    assert looking.naming(server.redis, full.name, NAME) == {"journal"}


def test_who_comes_back_meanwhile_is_erased_once_more(
    full: leaseq.Queue, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(100):
        full.enqueue({"n": n, "long": "x" * 100})
    real, came = full._commands.erase_person, 0

    def meanwhile(person: str, to: str, by: str, step: str, count: int) -> Any:
        nonlocal came
        if step and came < 2:
            came += 1
            assert full.reserve(NAME, skills=IDS)
        return real(person, to, by, step, count)

    monkeypatch.setattr(full._commands, "erase_person", meanwhile)
    assert full.erase_person(NAME, "erased-1").leases >= 2
    assert looking.naming(server.redis, full.name, NAME) == {"journal"}


@pytest.fixture
def restarted(full: leaseq.Queue, server: Server, monkeypatch: pytest.MonkeyPatch) -> leaseq.Queue:
    """Its server is restarted behind the first step through the items: the scripts are gone, and from the
    place of the next step, which means another one there, nothing follows."""
    for n in range(400):
        full.enqueue({"n": n, "long": "x" * 100})
    restarts = 0

    def in_steps(name: str, place: int, end: list[Any]) -> None:
        real = getattr(full._commands, name)

        def step(*given: Any) -> Any:
            nonlocal restarts
            if given[place] in ("", "0") or restarts:
                return real(*given)
            restarts += 1
            server.redis.script_flush()
            return Reply(b"step", end, False)

        monkeypatch.setattr(full._commands, name, step)

    in_steps("erase_person", 3, [b"", 0, 0])
    in_steps("person_items", 1, [b"0"])
    return full


def test_a_server_that_is_restarted_meanwhile_keeps_no_name(restarted: leaseq.Queue, server: Server) -> None:
    restarted.erase_person(NAME, "erased-1")
    assert looking.naming(server.redis, restarted.name, NAME) == {"journal"}


def test_a_server_that_is_restarted_meanwhile_leaves_out_nothing(restarted: leaseq.Queue) -> None:
    found = [one.id for one in restarted.person_items(NAME)]
    assert sorted(found) == sorted([*IDS, "for", "elsewhere"])


def test_who_never_stops_is_refused(full: leaseq.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(100):
        full.enqueue({"n": n, "long": "x" * 100})
    real = full._commands.erase_person

    def meanwhile(*given: Any) -> Any:
        if given[3]:
            full.reserve(NAME, skills=IDS)
        return real(*given)

    monkeypatch.setattr(full._commands, "erase_person", meanwhile)
    with pytest.raises(leaseq.Invalid, match="stop what works under this name, and erase it again"):
        full.erase_person(NAME, "erased-1")


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
def test_bad_input(queue: leaseq.Queue, person: Any, to: Any, by: Any, field: str) -> None:
    queue.enqueue({}, id="one")
    lease = take(queue, "ann")
    with pytest.raises(leaseq.Invalid) as refused:
        queue.erase_person(person, to, by=by)
    assert refused.value.field == field
    if field == "person":
        with pytest.raises(leaseq.Invalid):
            queue.person_items(person)
    assert queue.mine("ann") == [lease]


names = st.text("aA %.+-@=~:()[]^$é", min_size=1, max_size=6).filter(lambda name: name.strip() == name)


@given(person=names, other=names)
@settings(max_examples=25, suppress_health_check=[*HealthCheck])
def test_whatever_the_names_are(server: Server, queue_name: str, person: str, other: str) -> None:
    """Of another person, whose name may begin or end as theirs does, nothing changes."""
    if person == other:
        return
    queue = leaseq.Queue(server.client, queue_name)
    queue.configure(answers=2, holds=3)
    queue.enqueue_many([NewItem({}, id=id) for id in ("a", "b", "c")])
    for who in (other, person):
        queue.finish(take(queue, who), 1)
        queue.abandon(take(queue, who), again=who == person)
        queue.save_draft(take(queue, who), who)
    queue.enqueue_many([NewItem({}, id=id) for id in ("d", "e")])
    queue.assign("d", person)
    queue.assign("e", other)
    before, mine = list(map(queue.get, "abcde")), queue.mine(other)
    kept = sorted(queue.person_items(other), key=lambda one: one.id)
    queue.erase_person(person, "erased-1")
    assert queue.mine(other) == mine
    assert sorted(queue.person_items(other), key=lambda one: one.id) == kept
    assert list(queue.person_items(person)) == []
    after = list(map(queue.get, "abcde"))
    assert [renamed(item, "erased-1", "erased-1") | {"past": 0} for item in after] == [
        renamed(item, person, "erased-1") | {"past": 0} for item in before
    ]
    assert queue.get("e").assigned_to == (other,)
    assert queue.get("d").assigned_to == ()
    assert not server.redis.hexists(Keys(queue_name).rows, f"@{person}")
    assert server.redis.hexists(Keys(queue_name).rows, f"@{other}")
    queue.delete()


def test_a_lease_that_began_meanwhile_is_whole_until_the_next_round(queue: leaseq.Queue) -> None:
    queue.enqueue_many([NewItem({"long": "x" * 100}, id=f"{n}") for n in range(100)])
    commands = queue._commands
    step = commands.erase_person("ann", "erased-1", "", "", 20).rest[0].decode()
    queue.configure(holds=100)
    held = [take(queue, "ann") for _ in range(100)]
    while step:
        reply = commands.erase_person("ann", "erased-1", "", step, 20)
        step = reply.rest[0].decode() if reply.code == b"step" else ""
    assert reply.code == b"again"
    assert queue.mine("ann") == held
    for lease in held:
        queue.finish(lease, 1)


def test_what_was_theirs_alone_is_ahead_of_what_comes_after(timed: leaseq.Queue, server: Server) -> None:
    """Each entry of a shelf has a time of its own, though the clock stands still."""
    timed.enqueue_many([NewItem({}, id=id) for id in ("before", "after", "theirs")])
    for person in ("bob", "cyd"):
        take(timed, person)
    timed.assign("theirs", "ann")
    timed.release("before")
    timed.erase_person("ann", "erased-1")
    timed.release("after")
    places = looking.scores(server.redis, timed.name)
    assert sorted(places, key=places.__getitem__) == ["before", "theirs", "after"]
    assert len(set(places.values())) == 3


def test_how_far_others_looked_stays(queue: leaseq.Queue, server: Server) -> None:
    """The row of a person whose name begins with theirs is not theirs."""
    queue.configure()
    passed = Keys(queue.name).passed
    own = ["@ann:normal", "@ann:high:2", "@ann:low:3:returned", "@ann:normal:returned"]
    others = ["*", "normal", "@ann:b:normal", "@ann:low:normal", "@anna:normal", "fr:normal"]
    server.redis.hset(passed, mapping=dict.fromkeys([*own, *others], 1))
    queue.erase_person("ann", "erased-1")
    assert {path.decode() for path in server.redis.hkeys(passed)} == set(others)
