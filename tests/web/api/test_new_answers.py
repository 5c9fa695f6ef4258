"""REST: the answers given since an earlier call."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

import leaseq
from leaseq.models import GivenAnswer
from tests.support.leases import take
from tests.web.api_calls import assert_problem
from tests.web.conftest import Caller, Response

THEN = datetime(2026, 11, 21, 10, 5, tzinfo=UTC)


class Poller:
    """A program that keeps only the cursor."""

    def __init__(self, caller: Caller, queue: leaseq.Queue) -> None:
        self._caller = caller
        self._path = f"/queues/{queue.name}/answers/new"
        self.query: dict[str, str] = {}

    def call(self) -> Response:
        response = self._caller("GET", self._path, query_string=self.query)
        assert response.status_code == 200, response.text
        self.query["after"] = response.json["after"]
        return response

    def __call__(self) -> list[tuple[str, int]]:
        """Return the new answers, in as many calls as needed."""
        answers: list[tuple[str, int]] = []
        while True:
            page = self.call().json
            answers += [(one["id"], one["token"]) for one in page["answers"]]
            if not page["more"]:
                return answers


@pytest.fixture
def poll(queue: leaseq.Queue, manager: Caller) -> Poller:
    queue.configure()
    return Poller(manager, queue)


def finish(queue: leaseq.Queue, id: str) -> tuple[str, int]:
    queue.enqueue({}, id=id)
    lease = take(queue, "ann")
    queue.finish(lease, {"by": "ann"})
    return id, lease.token


def test_pages_splitting_equal_times_return_each_answer_once(poll: Poller, queue: leaseq.Queue) -> None:
    for token, id in enumerate(["m", "z", "k", "b", "x"], 1):
        queue.restore(leaseq.NewItem(1, id=id), [GivenAnswer(token, "ann", 1, THEN, False, True)])
    poll.query["limit"] = "2"
    pages = [poll.call() for _ in range(4)]
    assert [[one["id"] for one in page.json["answers"]] for page in pages] == [
        *(["b", "k"], ["m", "x"], ["z"]),
        [],
    ]
    assert [page.json["more"] for page in pages] == [True, True, False, False]
    links = [page.headers.get("Link") for page in pages]
    assert [link is not None for link in links] == [True, True, False, False]
    assert re.search(r"answers/new\?limit=2&after=[^>]+>; rel=\"next\"$", links[0] or "")


def test_cursor_at_end_returns_only_later_answers(
    poll: Poller, queue: leaseq.Queue, document: dict[str, Any]
) -> None:
    parameters = document["paths"]["/api/v1/queues/{q}/answers/new"]["get"]["parameters"]
    (after,) = (one["schema"] for one in parameters if one["name"] == "after")
    assert poll() == []
    assert re.match(after["pattern"], poll.query["after"])
    first = finish(queue, "b")
    assert poll() == [first]
    assert re.match(after["pattern"], poll.query["after"])
    cursor = poll.query["after"]
    assert (poll(), poll.query["after"]) == ([], cursor)
    second = finish(queue, "a")
    assert (poll(), poll()) == ([second], [])
    poll.query = {"after": "0"}
    assert poll() == [first, second]


def test_adopted_and_corrected_answers_are_returned_as_new(poll: Poller, queue: leaseq.Queue) -> None:
    queue.enqueue({}, id="one")
    late_lease = take(queue, "bob")
    queue.release("one")
    second_lease = take(queue, "ann")
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(late_lease, {"by": "bob"})
    queue.finish(second_lease, {"by": "ann"})
    assert poll() == [("one", second_lease.token)]
    queue.adopt("one", late_lease.token)
    (adopted_answer,) = poll.call().json["answers"]
    assert (adopted_answer["token"], adopted_answer["late"], adopted_answer["result"]) == (
        late_lease.token,
        True,
        {"by": "bob"},
    )
    queue.correct("one", late_lease.token, {"by": "boss"}, by="boss")
    (corrected_answer,) = poll.call().json["answers"]
    assert (corrected_answer["token"] > second_lease.token, corrected_answer["person"], poll()) == (
        True,
        "boss",
        [],
    )
    queue.adopt("one", late_lease.token)
    assert (poll(), poll()) == ([("one", late_lease.token)], []), "it is accepted again"


def test_a_cursor_of_another_queue_is_refused(poll: Poller, queue: leaseq.Queue, manager: Caller) -> None:
    path = f"/queues/{queue.name}/answers/new"
    refusal = assert_problem(manager("GET", f"{path}?after=another:0"), 400, "invalid")
    assert refusal["field"] == "after"
    assert refusal["limit"] == f"a cursor of the queue {queue.name!r}, or 0 for the beginning"
    refusal = assert_problem(manager("GET", f"{path}?after={'x' * 3_000}"), 400, "invalid")
    assert (refusal["field"], len(refusal["detail"]) < 200) == ("after", True)


def test_worker_may_not_read_new_answers(poll: Poller, queue: leaseq.Queue, worker: Caller) -> None:
    assert_problem(worker("GET", f"/queues/{queue.name}/answers/new"), 403, "forbidden")
