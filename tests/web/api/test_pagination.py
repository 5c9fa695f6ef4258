"""Pages of REST lists skip and repeat nothing while entries are added and removed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic.json_schema import GenerateJsonSchema

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.web.api_calls import assert_problem
from tests.web.conftest import Caller

Page = dict[str, Any]


def walk(caller: Caller, path: str, name: str, between: Callable[[Page], Any], **query: str) -> list[Any]:
    """Read all pages of two entries; ``between`` is called between pages."""
    entries: list[Any] = []
    while True:
        page: Page = caller("GET", path, query_string={**query, "limit": "2"}).json
        assert len(page[name]) <= 2
        entries += page[name]
        if page["after"] is None or not page[name]:
            return entries
        between(page)
        query["after"] = page["after"]


def test_paging_of_queues_skips_and_repeats_nothing(server: Any, queue_name: str, worker: Caller) -> None:
    names = [f"zz-{queue_name}.{letter}" for letter in "abcdef"]  # sorted after those of all other tests
    for name in names:
        leaseq.Queue(server.client, name).configure()

    def between(page: Page) -> None:
        leaseq.Queue(server.client, page["after"][:-1]).configure()  # sorts just before the last name seen

    listed_names = [one["name"] for one in walk(worker, "/queues", "queues", between, after="zz")]
    assert listed_names == sorted(set(listed_names))
    assert set(names) <= set(listed_names)


def test_paging_of_leases_skips_and_repeats_nothing(queue: leaseq.Queue, worker: Caller) -> None:
    queue.configure(holds=7)
    for number in range(7):
        queue.enqueue(number)
        queue.reserve(worker.name)
    tokens = [lease.token for lease in queue.mine(worker.name)]

    def between(page: Page) -> None:
        queue.abandon(id=page["leases"][-1]["id"], token=page["leases"][-1]["token"], person=worker.name)

    leases = walk(worker, f"/queues/{queue.name}/mine", "leases", between)
    assert [one["token"] for one in leases] == tokens


def test_paging_of_people_skips_and_repeats_nothing(
    accounts: Accounts, admin: Caller, new_name: Callable[[str], str]
) -> None:
    names = [accounts.add(new_name("paged"), by="test").name for _ in range(5)]
    listed_names = [one["name"] for one in walk(admin, "/people", "people", lambda _: None)]
    assert listed_names == sorted(set(listed_names))
    assert set(names) <= set(listed_names)


@pytest.mark.parametrize(
    ("path", "state"), [("items", "inbound"), ("items", "dead"), ("due", ""), ("journal", "")]
)
def test_paging_of_items_and_events_skips_and_repeats_nothing(
    queue: leaseq.Queue, manager: Caller, path: str, state: str
) -> None:
    queue.configure(max_attempts=1)
    for number in range(5):
        queue.enqueue(number, id=f"i{number}", due=datetime(2030, 1, 1 + number, tzinfo=UTC))
        if state == "dead":
            lease = queue.reserve("ann")
            assert lease is not None
            queue.fail(lease, "x")
    name, query = ("events" if path == "journal" else "items"), ({"state": state} if state else {})
    url = f"/queues/{queue.name}/{path}"
    all_entries = manager("GET", url, query_string=query).json[name]

    def between(page: Page) -> None:
        if name == "items":
            queue.remove(page["items"][-1]["id"])

    assert walk(manager, url, name, between, **query)[: len(all_entries)] == all_entries
    assert len(all_entries) >= 5


@pytest.mark.parametrize("path", ["/queues", "/queues/{q}/mine", "/people", "/queues/{q}/items?state=dead"])
@pytest.mark.parametrize("bad_query", ["limit=0", "limit=1001", "limit=x", "after=", "before=1"])
def test_invalid_limit_cursor_or_parameter_is_refused(
    form_queue: leaseq.Queue, admin: Caller, path: str, bad_query: str
) -> None:
    sign = "&" if "?" in path else "?"
    response = admin("GET", path.format(q=form_queue.name) + sign + bad_query)
    assert assert_problem(response, 400, "invalid")["field"] == bad_query.partition("=")[0]


def test_page_of_list_makes_no_schema_again(worker: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which would take longer than all the rest of the request."""
    assert worker("GET", "/queues", query_string={"limit": "2"}).status_code == 200
    made: list[type] = []
    monkeypatch.setattr(GenerateJsonSchema, "__init__", lambda self, *_, **_options: made.append(type(self)))
    assert worker("GET", "/queues", query_string={"limit": "2"}).status_code == 200
    assert made == []
