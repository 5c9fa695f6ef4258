"""The round trips of a REST call on a lease: one to read the caller, one for the operation.

Once in two seconds it also reads the policy's `durable` (leaseq/engine/commands.py).
"""

from __future__ import annotations

from typing import Any

import pytest

import leaseq
from leaseq.webapp.store.accounts import tokens
from tests.support.round_trips import count_round_trips
from tests.web.conftest import Caller

FORM = {"ask": {"type": "object", "properties": {"about": {"type": "string"}}}}
VERBS: dict[str, dict[str, Any]] = {
    "renew": {},
    "finish": {"result": {"about": "refund"}},
    "finish with the next one": {"result": {"about": "refund"}, "then_reserve": True},
    "abandon": {"reason": "not mine"},
    "abandon with the next one": {"reason": "not mine", "then_reserve": True},
    "fail": {"error": "its number is missing"},
    "fail with the next one": {"error": "its number is missing", "then_reserve": True},
}


@pytest.fixture(params=[0.0, 60.0], ids=["caller cache expired", "caller cached"])
def fresh_seconds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> float:
    seconds: float = request.param
    monkeypatch.setattr(tokens, "FRESH_SECONDS", seconds)
    return seconds


@pytest.mark.parametrize("verb", ["reserve", *VERBS])
def test_lease_call_makes_at_most_two_round_trips(
    verb: str,
    worker: Caller,
    queue: leaseq.Queue,
    monkeypatch: pytest.MonkeyPatch,
    fresh_seconds: float,
) -> None:
    queue.configure(form=FORM, lease_seconds=600)
    queue.enqueue_many({"n": n} for n in range(20))
    path = f"/queues/{queue.name}"

    def send_reserve() -> Any:
        return worker("POST", f"{path}/reserve", json={})

    def send_call(lease: Any) -> Any:
        name, body = verb.partition(" ")[0], {"token": lease["token"], **VERBS[verb]}
        return worker("POST", f"{path}/items/{lease['id']}/{name}", json=body)

    def send_finish(lease: Any) -> None:
        body = {"token": lease["token"], "result": {}}
        assert worker("POST", f"{path}/items/{lease['id']}/finish", json=body).status_code == 200

    # The first call loads the scripts into the server and caches the policy in the process.
    response = send_reserve() if verb == "reserve" else send_call(send_reserve().json)
    if lease := response.json if verb in ("reserve", "renew") else response.json.get("next"):
        send_finish(lease)
    lease = None if verb == "reserve" else send_reserve().json
    with count_round_trips(monkeypatch) as trips:
        response = send_call(lease) if lease else send_reserve()
    assert response.status_code == 200, response.text
    assert trips.count == (1 if fresh_seconds else 2)


def test_changed_form_applies_to_next_finish(worker: Caller, queue: leaseq.Queue) -> None:
    """The web process caches the form that it read for an earlier finish."""
    queue.configure(form=FORM)
    queue.enqueue_many({"n": n} for n in range(2))
    path = f"/queues/{queue.name}"
    for about, status in (("refund", 200), (7, 422)):
        lease = worker("POST", f"{path}/reserve", json={}).json
        body = {"token": lease["token"], "result": {"about": about}}
        assert worker("POST", f"{path}/items/{lease['id']}/finish", json=body).status_code == status
    queue.configure(form={"ask": {"type": "object", "properties": {"about": {"type": "integer"}}}})
    assert worker("POST", f"{path}/items/{lease['id']}/finish", json=body).status_code == 200


@pytest.mark.parametrize("verb", ["reserve", "reserve and wait", *VERBS])
def test_call_on_unknown_queue_is_not_found(verb: str, worker: Caller, queue_name: str) -> None:
    path = f"/queues/{queue_name}/"
    if verb.startswith("reserve"):
        response = worker("POST", f"{path}reserve", json={"wait": 5} if "wait" in verb else {})
    else:
        body = {"token": 1, **VERBS[verb]}
        response = worker("POST", f"{path}items/x/{verb.partition(' ')[0]}", json=body)
    assert (response.status_code, response.json["code"]) == (404, "not-found")
