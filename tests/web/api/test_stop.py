"""People whom a manager stops in a queue, over REST."""

from __future__ import annotations

import leaseq
from tests.web.api_calls import assert_problem
from tests.web.conftest import Caller


def test_stopped_person_is_told_why_until_they_may_work(
    form_queue: leaseq.Queue, worker: Caller, manager: Caller
) -> None:
    path = f"/queues/{form_queue.name}"
    me = worker("GET", "/me").json["name"]
    response = manager("POST", f"{path}/people/{me}/stop", json={"reason": "missed 8 of 20"})
    (stopped,) = response.json["people"]
    assert (stopped["person"], stopped["reason"], stopped["by"] is None) == (me, "missed 8 of 20", False)
    assert manager("GET", f"{path}/stopped").json == response.json
    refused = worker("POST", f"{path}/reserve")
    assert (refused.status_code, refused.headers["X-Leaseq-Reason"]) == (204, "stopped")
    assert manager("POST", f"{path}/people/{me}/let-work").json == {"people": []}
    assert worker("POST", f"{path}/reserve").status_code == 200
    acts = [entry["what"] for entry in manager("GET", f"{path}/journal").json["events"]]
    assert acts[-3:] == ["stopped", "let-work", "reserved"]


def test_only_people_who_may_work_on_the_queue_are_stopped(
    form_queue: leaseq.Queue, worker: Caller, manager: Caller
) -> None:
    path = f"/queues/{form_queue.name}/people"
    assert_problem(manager("POST", f"{path}/nobody known/stop"), 400, "invalid")
    assert form_queue.stopped() == []
    for act in ("stop", "let-work"):
        assert_problem(worker("POST", f"{path}/nobody known/{act}"), 403, "forbidden")
        assert_problem(manager("POST", f"/queues/no-such-queue/people/nobody known/{act}"), 404, "not-found")
    assert_problem(worker("GET", f"/queues/{form_queue.name}/stopped"), 403, "forbidden")
    me = worker("GET", "/me").json["name"]
    problem = assert_problem(
        manager("POST", f"{path}/{me}/stop", json={"reason": "x" * 2_001}), 400, "invalid"
    )
    assert problem["field"] == "reason"
