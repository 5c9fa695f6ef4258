"""``leaseq simulate``: simulated people on a real queue."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leaseq
from leaseq.simulation import people
from leaseq.simulation.fake_values import value_for
from tests.cli.conftest import Call, Spawn
from tests.support.refused import refused
from tests.support.waiting import TIMEOUT, eventually

FORM = {
    "ask": {
        "type": "object",
        "required": ["topic", "tags"],
        "additionalProperties": False,
        "properties": {
            "topic": {"enum": ["delivery", "refund", 3, None]},
            "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True, "minItems": 1},
            "urgent": {"type": "boolean"},
            "note": {"type": "string", "minLength": 30, "maxLength": 40},
            "code": {"type": "string", "maxLength": 3},
            "day": {"type": "string", "format": "date"},
            "at": {"type": "string", "format": "date-time"},
            "mail": {"type": "string", "format": "email"},
            "link": {"type": "string", "format": "uri"},
            "stars": {"type": "integer", "minimum": 1, "maximum": 5},
            "below": {"type": "integer", "maximum": -5},
            "part": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            "price": {"type": "number", "minimum": 0, "multipleOf": 0.1},
            "either": {"oneOf": [{"const": "x"}, {"const": "y"}]},
            "maybe": {"type": ["null", "integer"]},
            "tree": {"$ref": "#/$defs/tree"},
        },
        "$defs": {"tree": {"type": "object", "properties": {"leaf": {"$ref": "#/$defs/tree"}}}},
    }
}


@given(st.integers(0, 2**32))
def test_generated_answer_is_valid_for_form(seed: int) -> None:
    jsonschema_rs.validate(FORM["ask"], value_for(FORM["ask"], Random(seed)), validate_formats=True)


def test_value_for_recursive_schema_terminates() -> None:
    assert isinstance(value_for({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, Random(1)), str)


def test_people_work_until_queue_is_empty(server: Any, queue_name: str) -> None:
    queue = leaseq.Queue(server.client, queue_name)
    queue.configure(form=FORM, lease_seconds=0.2, retry_seconds=0.01, max_attempts=50)
    own = {"ask": {"type": "object", "required": ["why"], "properties": {"why": {"enum": ["a", "b"]}}}}
    queue.enqueue_many([leaseq.NewItem({"n": n}, form=None if n % 3 else own) for n in range(60)])
    plan = people.Plan(people=6, think=0.005, abandon_rate=0.1, fail_rate=0.1, walk_away_rate=0.1, seed=1)
    outcomes: list[people.Outcome] = []
    outcome = people.run(queue, plan, on_tick=outcomes.append)
    stats = queue.stats()
    assert (stats.inbound, stats.reserved, stats.scheduled) == (0, 0, 0)
    assert stats.finished + stats.dead == 60
    assert (outcome.left, outcome.finished) == (0, stats.counters["finished"])
    assert outcome.walked_away
    assert outcome.failed
    assert outcome.abandoned
    assert stats.counters["expired"] >= outcome.walked_away - outcome.lost
    assert outcome.ran_out == stats.counters["expired"]
    assert 0 < outcomes[0].left <= 60


def test_simulation_adds_people_until_all_answers_are_given(server: Any, queue_name: str) -> None:
    """A person may answer an item only once, and declines some items permanently; so one person can't finish
    items that need two answers."""
    queue = leaseq.Queue(server.client, queue_name)
    queue.configure(answers=2)
    queue.enqueue_many([{"n": n} for n in range(6)])
    plan = people.Plan(people=1, think=0, abandon_rate=0.6, fail_rate=0, walk_away_rate=0, seed=3)
    outcome = people.run(queue, plan)
    assert (outcome.finished, outcome.left) == (12, 0)
    reasons = {event.detail for event in queue.journal(limit=1_000) if event.what == "abandoned"}
    assert reasons == {"simulated: later", "simulated: not for me"}
    for item in queue.items("finished"):
        assert len({answer.person for answer in queue.get(item.id).answers}) == 2


def test_people_abandon_held_items_at_time_limit(server: Any, queue_name: str) -> None:
    queue = leaseq.Queue(server.client, queue_name)
    queue.configure()
    queue.enqueue_many([{"n": n} for n in range(20)])
    outcome = people.run(queue, people.Plan(people=3, think=60, seconds=0.3))
    assert (outcome.reserved, outcome.abandoned, outcome.finished) == (3, 3, 0)
    assert queue.stats().inbound == 20


def test_unsupported_form_is_refused_before_first_reserve(server: Any, queue_name: str) -> None:
    queue = leaseq.Queue(server.client, queue_name)
    ask = {
        "type": "object",
        "required": ["zip"],
        "properties": {"zip": {"type": "string", "pattern": "^[0-9]{5}$"}},
    }
    queue.configure(form={"ask": ask})
    queue.enqueue({"n": 1})
    with refused("simulated_form"):
        people.run(queue, people.Plan())
    assert queue.stats().counters.get("reserved", 0) == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"people": 0},
        {"think": -1},
        {"fail_rate": 2},
        {"abandon_rate": 0.6, "fail_rate": 0.6},
        {"seconds": -1},
    ],
)
def test_invalid_plan_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(leaseq.Invalid):
        people.Plan(**changes)


def test_command_prints_outcome(call: Call, server: Any, queue_name: str) -> None:
    leaseq.Queue(server.client, queue_name).enqueue_many([{"n": n} for n in range(5)])
    rates = ["--abandon-rate", "0", "--fail-rate", "0", "--walk-away-rate", "0"]
    result = call("simulate", queue_name, "--people", "2", "--think", "0", "--json", *rates)
    outcome = json.loads(result.stdout)
    assert (result.exit_code, outcome["finished"], outcome["left"]) == (0, 5, 0)
    assert "0 finished" in call("simulate", queue_name).stdout


def test_command_abandons_held_items_on_sigterm(spawn: Spawn, server: Any, queue_name: str) -> None:
    queue = leaseq.Queue(server.client, queue_name)
    queue.enqueue_many([{"n": n} for n in range(5)])
    process = spawn("simulate", queue_name, "--people", "2", "--think", "600")
    eventually(lambda: queue.stats().reserved == 2 or process.poll() is not None)
    process.terminate()
    out, err = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, err) == (0, b"")
    assert b"2 abandoned" in out
    assert queue.stats().inbound == 5
