from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from leaseq import Policy
from leaseq.engine.keys import QUEUES, Keys
from leaseq.policy import TEXTS
from tests.conftest import Server
from tests.support.refused import raises


def test_new_queue_has_default_policy(queue: leaseq.Queue) -> None:
    policy = queue.configure()
    assert queue.exists()
    assert policy == queue.policy == Policy()
    assert (policy.lease_seconds, policy.max_attempts, policy.retry_seconds) == (300, 3, 2)
    assert (policy.retry_max_seconds, policy.holds, policy.bands) == (3600, 1, (50, 150))
    assert (policy.renewals, policy.share_drafts, policy.form) == (None, False, None)


@pytest.mark.parametrize(
    "change",
    [
        {"lease_seconds": 0.1},
        {"lease_seconds": 604_800},
        {"max_attempts": 1_000},
        {"retry_seconds": 0.5},
        {"retry_seconds": 0, "retry_max_seconds": 0},
        {"holds": 100},
        {"bands": (0, 1_000_000)},
        {"bands": [7, 7]},
        {"renewals": 0},
        {"share_drafts": True},
        {"form": {"show": ["text"], "ask": {"type": "object"}, "keys": {"a": "b"}}},
        {"title": "Überschrift -- 100 % \u00a0 'quoted'"},
        {"instructions": "# Read\n\nthis\tfirst"},
    ],
)
@pytest.mark.parametrize("exists", [True, False])
def test_configure_stores_field_and_keeps_others(
    queue: leaseq.Queue, server: Server, change: dict[str, Any], exists: bool
) -> None:
    before = queue.configure(max_attempts=9, title="before") if exists else Policy()
    expected = before.updated(change)
    assert queue.configure(**change) == expected
    assert leaseq.Queue(server.client, queue.name).policy == expected


def test_configure_resets_field_to_none(queue: leaseq.Queue) -> None:
    queue.configure(renewals=3, form={"show": ["a"]})
    assert queue.configure(renewals=None, form=None) == Policy()


def test_reading_policy_of_missing_queue_creates_no_queue(queue: leaseq.Queue) -> None:
    assert queue.policy == Policy()
    assert not queue.exists()


def test_changes_of_different_fields_by_two_clients_are_both_kept(
    queue: leaseq.Queue, server: Server
) -> None:
    queue.configure(title="one")
    other = leaseq.Queue(server.client, queue.name)
    queue.configure(holds=2)
    other.configure(max_attempts=5)
    assert queue.policy == Policy(title="one", holds=2, max_attempts=5)


def run_before_create(
    queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]
) -> None:
    """Run an action after the check whether the queue exists, and before this client creates it."""
    make = queue._create

    def create_late(*arguments: Any) -> bool:
        action()
        return make(*arguments)

    monkeypatch.setattr(queue, "_create", create_late)


def test_configure_applies_when_another_client_creates_queue_first(
    queue: leaseq.Queue, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = leaseq.Queue(server.client, queue.name)
    run_before_create(queue, monkeypatch, lambda: other.enqueue({}))
    queue.configure(holds=7)
    assert other.policy.holds == 7


def test_first_enqueue_keeps_policy_set_by_another_client(
    queue: leaseq.Queue, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = leaseq.Queue(server.client, queue.name)
    run_before_create(queue, monkeypatch, lambda: other.configure(holds=7))
    assert queue.enqueue({}).added
    assert queue.policy.holds == 7


def test_journal_has_policy_changes_but_no_unchanged_configure(queue: leaseq.Queue) -> None:
    queue.configure(by="meg")
    queue.configure(by="joe", holds=2)
    queue.configure(by="joe", holds=2)
    queue.configure(by="joe")
    queue.configure(by="meg", title="new")
    assert [(e.what, e.person) for e in queue.journal()] == [
        ("created", "meg"),
        ("configured", "joe"),
        ("configured", "meg"),
    ]


def test_refused_configure_changes_no_field(queue: leaseq.Queue) -> None:
    queue.configure(holds=2)
    with pytest.raises(leaseq.Invalid):
        queue.configure(holds=3, max_attempts=0)
    with pytest.raises(leaseq.Invalid):
        queue.configure(holds=3, form={"ask": {"type": "array"}})
    assert queue.policy == Policy(holds=2)


def test_existing_queues_are_listed_by_name(queue: leaseq.Queue, server: Server) -> None:
    names = [f"{queue.name}.{suffix}" for suffix in "cab"]
    for name in names:
        leaseq.Queue(server.client, name).configure()
    leaseq.Queue(server.client, f"{queue.name}.looked-at").reserve("ann")
    assert [n for n in leaseq.queues(server.client) if n.startswith(queue.name)] == sorted(names)


def test_client_restores_lost_name_of_known_queue(queue: leaseq.Queue, server: Server) -> None:
    """A cluster's failover can lose the latest names without losing their queues."""
    first_client, second_client = leaseq.connect(server.url), leaseq.connect(server.url)
    gone_name = f"{queue.name}.gone"
    for name in (queue.name, gone_name):
        leaseq.Queue(first_client, name).configure()
    for client in (first_client, second_client):
        assert {queue.name, gone_name} <= {*leaseq.queues(client)}
    server.redis.delete(Keys(gone_name).ledger)
    for client in (first_client, second_client):
        server.redis.srem(QUEUES, queue.name, gone_name)
        assert queue.name in leaseq.queues(client)
        assert queue.name in {name.decode() for name in server.redis.smembers(QUEUES)}
        assert not server.redis.sismember(QUEUES, gone_name)
        client.close()


def test_configure_restores_lost_queue_name(queue: leaseq.Queue, server: Server) -> None:
    queue.configure()
    server.redis.srem(QUEUES, queue.name)
    other = leaseq.connect(server.url)
    leaseq.Queue(other, queue.name).configure(holds=2)
    other.close()
    last = leaseq.connect(server.url)
    assert queue.name in leaseq.queues(last)
    last.close()


def test_lease_seconds_are_rounded_to_microseconds(timed_queue: leaseq.Queue) -> None:
    assert timed_queue.configure(lease_seconds=1.00000049).lease_seconds == 1
    assert timed_queue.policy.lease_seconds == 1


def test_find_policy_returns_none_only_for_missing_queue(queue: leaseq.Queue) -> None:
    assert queue.find_policy() is None
    queue.configure(lease_seconds=7)
    policy = queue.find_policy()
    assert policy
    assert policy == queue.policy
    assert policy.lease_seconds == 7


def test_configure_with_outdated_expected_policy_is_refused(queue: leaseq.Queue, server: Server) -> None:
    """Two people edit the same settings: the second gets the current policy in the error, and may then
    overwrite it."""
    queue.configure(title="one", form={"show": ["ä"]}, retry_seconds=0.5, instructions="a\nb")
    policy = queue.policy
    assert leaseq.Queue(server.client, queue.name).configure(expected=policy, holds=2).holds == 2
    events = len(queue.journal())
    with raises(leaseq.PolicyChanged, "policy_changed") as error:
        queue.configure(expected=policy, max_attempts=9)
    assert error.value.policy == queue.policy == policy.updated({"holds": 2})
    assert len(queue.journal()) == events
    assert queue.configure(expected=error.value.policy.version, max_attempts=9).holds == 2
    assert (queue.policy.holds, queue.policy.max_attempts) == (2, 9)


@pytest.mark.parametrize(
    "change",
    [
        {"lease_seconds": 0.1},
        {"retry_max_seconds": 7.5},
        {"bands": (0, 1_000_000)},
        {"keep_finished_seconds": 60},
        {"form": {"ask": {"type": "object"}}},
        {"title": "new"},
        {"instructions": "new"},
    ],
)
def test_policy_version_changes_with_field_and_reverts_with_old_value(
    queue: leaseq.Queue, change: dict[str, Any]
) -> None:
    before = queue.configure(holds=2)
    changed = queue.configure(**change)
    assert changed.version != before.version
    with pytest.raises(leaseq.PolicyChanged):
        queue.configure(expected=before)
    old_values = {name: getattr(before, name) for name in change}
    assert queue.configure(expected=changed, **old_values).version == before.version
    queue.configure(expected=before)


@pytest.mark.parametrize("name", TEXTS)
def test_missing_text_field_has_default_value(queue: leaseq.Queue, server: Server, name: str) -> None:
    queue.configure(holds=2)
    assert server.redis.hdel(Keys(queue.name).ledger, name) == 1
    policy = queue.policy
    assert policy == Policy(holds=2)
    assert queue.configure(expected=policy, holds=3).holds == 3
    with pytest.raises(leaseq.PolicyChanged):
        queue.configure(expected=policy, holds=4)


def test_title_of_two_lines_is_refused_and_a_stored_one_can_be_read(
    queue: leaseq.Queue, server: Server
) -> None:
    queue.configure(title="one line")
    with pytest.raises(leaseq.Invalid) as error:
        queue.configure(title="two\nlines")
    assert error.value.field == "title"
    server.redis.hset(Keys(queue.name).ledger, "title", json.dumps("two\nlines"))
    assert queue.policy.title == "two\nlines"


def test_configure_with_expected_refuses_missing_queue_and_bad_version(queue: leaseq.Queue) -> None:
    with pytest.raises(leaseq.QueueNotFound):
        queue.configure(expected=Policy(), holds=2)
    assert not queue.exists()
    for version in ("", "create", "x" * 40, 7):
        with pytest.raises(leaseq.Invalid) as error:
            queue.configure(expected=version, holds=2)  # type: ignore[arg-type]
        assert error.value.field == "expected"


def test_values_at_limits_are_accepted(queue: leaseq.Queue) -> None:
    upper_limits = {"lease_seconds": 604_800, "retry_max_seconds": 604_800, "holds": 100, "answers": 100}
    lower_limits = {"lease_seconds": 0.1, "retry_max_seconds": 0, "holds": 1, "answers": 1, "bands": (7, 7)}
    for limits in (upper_limits, lower_limits):
        policy = queue.configure(**limits)
        assert {name: getattr(policy, name) for name in limits} == limits


def test_form_accepts_every_property_of_shown_field(queue: leaseq.Queue) -> None:
    form = {"show": [{"field": "scan", "kind": "image", "label": "The scan", "beside": True}]}
    assert queue.configure(form=form).form == form


def test_create_only_refuses_existing_queue(queue: leaseq.Queue) -> None:
    assert queue.configure(create_only=True, by="meg", holds=2) == Policy(holds=2)
    with raises(leaseq.QueueExists, "taken", what="queue") as error:
        queue.configure(create_only=True, holds=3)
    assert error.value.queue == queue.name
    with pytest.raises(leaseq.QueueExists):
        queue.configure(create_only=True)
    assert queue.policy == Policy(holds=2)
    assert [event.what for event in queue.journal()] == ["created"]


def test_create_only_is_refused_when_another_client_creates_queue_first(
    queue: leaseq.Queue, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = queue._create

    def create_late(*arguments: Any) -> bool:
        leaseq.Queue(server.client, queue.name).configure(holds=7)
        return make(*arguments)

    monkeypatch.setattr(queue, "_create", create_late)
    with pytest.raises(leaseq.QueueExists):
        queue.configure(create_only=True, holds=2)
    assert queue.policy == Policy(holds=7)


def test_missing_title_does_not_affect_other_fields(queue: leaseq.Queue, server: Server) -> None:
    queue.configure(title="One", instructions="Read it", holds=2)
    server.redis.hdel(Keys(queue.name).ledger, "title")
    assert queue.policy == Policy(instructions="Read it", holds=2)
