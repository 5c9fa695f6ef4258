"""Guarantee 11: invalid input is refused with the field's name, and nothing has changed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

import leaseq
from tests.conftest import Clock, Server
from tests.engine import server_contents
from tests.engine.enqueue.bad_calls import CALLS, Call, nested
from tests.support.refused import refused


@pytest.fixture
def busy(timed_queue: leaseq.Queue) -> leaseq.Queue:
    timed_queue.enqueue({"n": 1}, id="held")
    timed_queue.enqueue({"n": 2}, id="waits")
    timed_queue.reserve("ann")
    return timed_queue


@pytest.mark.parametrize(("call", "field", "values"), [pytest.param(*case, id=name) for name, *case in CALLS])
@pytest.mark.guard("id-length", "json-size")
def test_bad_input_is_refused_with_field_name_and_changes_nothing(
    busy: leaseq.Queue, server: Server, call: Call, field: str, values: list[object]
) -> None:
    before = server_contents.everything(server.redis, busy.name)
    for number, value in enumerate(values):
        with pytest.raises(leaseq.Invalid) as error:
            call(busy, value)
        assert error.value.field == field, number
        assert error.value.limit, number
        assert field in str(error.value), number
        assert server_contents.everything(server.redis, busy.name) == before, number


@pytest.mark.parametrize(
    "name", ["", "A", "a b", "ä", "x" * 65, "a/b", "a\n", "{a}", "a:b", "@a", 5, None, b"a", "\ud800"]
)
def test_bad_queue_name_is_refused(server: Server, name: Any) -> None:
    with pytest.raises(leaseq.Invalid) as error:
        leaseq.Queue(server.client, name)
    assert error.value.field == "queue"


def test_lease_of_another_queue_is_refused(busy: leaseq.Queue, server: Server, clock: Clock) -> None:
    other = leaseq.Queue(server.client, f"{busy.name}.other", clock=clock)
    other.enqueue({}, id="held")
    foreign_lease = other.reserve("ann")
    assert foreign_lease is not None
    own_lease = busy.mine("ann")[0]
    assert (foreign_lease.id, foreign_lease.token, foreign_lease.person) == (
        own_lease.id,
        own_lease.token,
        own_lease.person,
    )
    before = server_contents.everything(server.redis, busy.name)
    for call in (
        busy.renew,
        busy.abandon,
        lambda lease: busy.finish(lease, {}),
        lambda lease: busy.fail(lease, "no"),
    ):
        with refused("lease", "lease", what="queue", other=other.name) as error:
            call(foreign_lease)
        assert error.value.field == "lease"
    assert server_contents.everything(server.redis, busy.name) == before


@pytest.mark.parametrize(
    "value", [nested(64), {"n": 10**300}, {"big": "x" * 262_134}, {"": None}, "\U0001f600", -0.0]
)
def test_payloads_at_limits_are_accepted(timed_queue: leaseq.Queue, value: object) -> None:
    item = timed_queue.enqueue(value)
    assert timed_queue.get(item.id).payload == value


@pytest.mark.parametrize("due", [datetime(1970, 1, 1, tzinfo=UTC), datetime(9000, 12, 31, tzinfo=UTC)])
def test_due_dates_at_limits_are_accepted(timed_queue: leaseq.Queue, due: datetime) -> None:
    assert timed_queue.get(timed_queue.enqueue({}, due=due).id).due == due


@pytest.mark.parametrize("person", ["a", "a" * 64, "Ω", "a b"])
def test_person_names_at_limits_are_accepted(timed_queue: leaseq.Queue, person: str) -> None:
    timed_queue.enqueue({})
    lease = timed_queue.reserve(person)
    assert lease is not None
    assert lease.person == person


@pytest.mark.parametrize("id", ["x" * 200, "ü" * 200, " ", "a b", "日本", "{}", "*"])
def test_ids_at_limits_are_accepted(timed_queue: leaseq.Queue, id: str) -> None:
    timed_queue.enqueue({}, id=id)
    assert timed_queue.reserve("ü" * 64) is not None
    assert timed_queue.mine("ü" * 64)[0].id == id


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"payload": leaseq.NewItem({})},
            "payload: expected a JSON value, got a NewItem: pass its payload, id and",
        ),
        ({"due": "2026-12-01"}, "such as datetime.now(UTC), from 1970 to 9000, got '2026-12-01'"),
        ({"at": datetime(2031, 3, 1)}, "got datetime.datetime(2031, 3, 1, 0, 0)"),  # noqa: DTZ001
        ({"priority": "3"}, "priority: expected a whole number from 0 to 1,000,000, got '3'"),
        ({"delay": "x" * 99}, f"delay: expected a number from 0 to 315,360,000, got '{'x' * 58}\u2026"),
    ],
)
def test_error_shows_refused_value(timed_queue: leaseq.Queue, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(leaseq.Invalid) as error:
        timed_queue.enqueue(**{"payload": {}, **fields})
    assert message in str(error.value)


def test_error_shows_refused_queue_name(timed_queue: leaseq.Queue, server: Server) -> None:
    with refused("format", "queue", what="queue_name", value="My Queue"):
        leaseq.Queue(server.client, "My Queue")


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"id": 42}, "the number 42"),
        ({"id": 1.0}, "the number 1.0"),
        ({"id": True}, "true"),
        ({"id": {"a": 1}}, "the object {'a': 1}"),
        ({"id": "r-1\u00a0"}, "'r-1\\xa0', with U+00A0 (NO-BREAK SPACE)"),
        ({"priority": "1"}, "'1'"),
        ({"priority": None}, "null"),
        ({"requires": 5}, "the number 5"),
        ({"max_attempts": 2.5}, "the number 2.5"),
    ],
)
def test_refusal_shows_the_value_and_its_type(
    queue: leaseq.Queue, fields: dict[str, Any], shown: str
) -> None:
    with pytest.raises(leaseq.Invalid) as caught:
        queue.enqueue(1, **fields)
    assert caught.value.field == next(iter(fields))
    assert str(caught.value).endswith(f", got {shown}")
