"""Export of answers on the page and by REST: filters, formats, memory and limits."""

from __future__ import annotations

import csv
import html
import json
import tracemalloc
from typing import Any

import pytest

import leaseq
from leaseq import transfer
from leaseq.webapp.store.open_calls import OpenCalls
from tests.conftest import Server
from tests.support.leases import not_none
from tests.web.api_calls import assert_problem
from tests.web.conftest import Browser, Caller

DAY = 86_400_000_000
START = 1_800_000_000_000_000  # 2027-01-15T08:00:00Z


@pytest.fixture
def answered_queue(server: Server, queue_name: str) -> leaseq.Queue:
    """One answer a day from 2027-01-15 on, by ann and bob in turn: the fourth late, and one more refused."""
    now = START
    queue = leaseq.Queue(server.client, queue_name, clock=lambda: now)
    queue.configure(lease_seconds=60)
    for n in range(4):
        queue.enqueue({"n": n}, id=f"item-{n}")
        lease = not_none(queue.reserve(("ann", "bob")[n % 2]))
        now += 120_000_000 if n == 3 else 0
        queue.finish(lease, {"note": f"=answer {n}"})
        now += DAY
    queue.enqueue({"n": 4}, id="item-4")
    lost_lease = not_none(queue.reserve("ann"))
    queue.release("item-4")
    queue.finish(not_none(queue.reserve("bob")), {"note": "taken"})
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(lost_lease, {"note": "refused"})
    return queue


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, [0, 1, 2, 3, 4]),
        ({"person": "ann"}, [0, 2]),
        ({"person": " ann "}, [0, 2]),
        ({"from": "2027-01-16", "to": "2027-01-17"}, [1, 2]),
        ({"from": "2027-01-16T08:00:00Z", "to": "2027-01-17T08:00:00Z"}, [1]),
        ({"from": "2027-01-16T10:00:00+02:00", "to": ""}, [1, 2, 3, 4]),
        ({"late": "yes"}, [3]),
        ({"late": "no", "person": "bob"}, [1, 4]),
        ({"with_late": "yes", "from": "2027-01-18"}, [3, 4, 4]),
        ({"with_late": "yes", "to": "2027-01-17"}, [0, 1, 2]),
        ({"with_late": "yes", "person": "ann"}, [0, 2, 4]),
        ({"person": "nobody"}, []),
    ],
)
def test_export_contains_only_answers_matching_filters(
    manager_browser: Browser,
    manager: Caller,
    answered_queue: leaseq.Queue,
    filters: dict[str, str],
    expected: list[int],
) -> None:
    page_response = manager_browser.get(
        f"/manage/{answered_queue.name}/export", query_string={**filters, "format": "jsonl"}
    )
    assert sorted(json.loads(line)["payload"]["n"] for line in page_response.text.splitlines()) == expected
    flags = {"yes": "true", "no": "false"}
    rest_filters = {name: flags.get(text, text) for name, text in filters.items() if text.strip()}
    rest_response = manager("GET", f"/queues/{answered_queue.name}/answers", query_string=rest_filters)
    if filters.get("person", "").strip() == filters.get("person", ""):
        assert rest_response.text == page_response.text


def test_page_and_rest_export_same_content_in_every_format(
    manager_browser: Browser, manager: Caller, answered_queue: leaseq.Queue
) -> None:
    for format in transfer.FORMATS:
        path = f"/manage/{answered_queue.name}/export?format={format}&person=ann"
        page = manager_browser.get(path, buffered=True)
        assert page.headers["Content-Disposition"] == f'attachment; filename="{answered_queue.name}.{format}"'
        path = f"/queues/{answered_queue.name}/answers?format={format}&person=ann"
        rest = manager("GET", path, buffered=True)
        assert page.data == rest.data
        assert page.mimetype == rest.mimetype
    assert manager_browser.get(f"/manage/{answered_queue.name}/export?format=xml").status_code == 400
    table = manager_browser.get(f"/manage/{answered_queue.name}/export?format=csv&person=ann").text
    assert [row["result.note"] for row in csv.DictReader(table.splitlines())] == ["'=answer 0", "'=answer 2"]


def test_raw_cells_and_byte_order_mark_are_chosen_on_page_and_by_rest(
    manager_browser: Browser, manager: Caller, answered_queue: leaseq.Queue
) -> None:
    page = f"/manage/{answered_queue.name}/export?person=ann&bom=yes&raw_cells=yes"
    table = manager_browser.get(f"{page}&format=csv").data
    assert table.startswith(b"\xef\xbb\xbf")
    assert [row["result.note"] for row in csv.DictReader(table.decode("utf-8-sig").splitlines())] == [
        "=answer 0",
        "=answer 2",
    ]
    path = f"/queues/{answered_queue.name}/answers?person=ann&bom=true&raw_cells=true"
    assert manager("GET", f"{path}&format=csv").data == table
    assert manager_browser.get(f"{page}&format=jsonl").text.startswith("{"), "the choice is for tables"
    assert assert_problem(manager("GET", f"{path}&format=jsonl"), 400, "invalid")["field"] == "raw_cells"


def test_table_has_a_column_for_each_question_of_the_form(
    manager_browser: Browser, answered_queue: leaseq.Queue
) -> None:
    properties = {"first": {"type": "string"}, "note": {"type": "string"}, "last": {"type": "integer"}}
    answered_queue.configure(form={"ask": {"type": "object", "properties": properties}})
    table = manager_browser.get(f"/manage/{answered_queue.name}/export?format=csv").text
    header = next(csv.reader(table.splitlines()))
    assert [name for name in header if name.startswith("result")] == [
        "result.first",
        "result.note",
        "result.last",
    ]


@pytest.mark.parametrize(
    ("filters", "label"),
    [
        ({"from": "yesterday"}, "From"),
        ({"to": "2027-01-16T8 pm"}, "Up to"),
        ({"to": "9999-12-31"}, "Up to"),
        ({"person": "x" * 65}, "Person"),
        ({"late": "perhaps"}, "late"),
    ],
)
def test_invalid_filter_is_refused_and_kept_in_form(
    manager_browser: Browser,
    manager: Caller,
    answered_queue: leaseq.Queue,
    filters: dict[str, str],
    label: str,
) -> None:
    (field,) = filters
    page = manager_browser.get(
        f"/manage/{answered_queue.name}/export", query_string={**filters, "format": "csv"}
    )
    assert page.status_code == 400
    assert f"{label}: " in html.unescape(page.text)
    if field != "late":
        assert f'value="{filters[field]}"' in page.text
    response = manager("GET", f"/queues/{answered_queue.name}/answers", query_string=filters)
    assert assert_problem(response, 400, "invalid")["field"] == field


def test_export_page_without_format_downloads_nothing(
    manager_browser: Browser, answered_queue: leaseq.Queue
) -> None:
    page = manager_browser.get(f"/manage/{answered_queue.name}/export")
    assert page.mimetype == "text/html"
    assert "5 answers are accepted." in page.text


def test_memory_does_not_grow_with_the_answers(manager_browser: Browser, queue: leaseq.Queue) -> None:
    def peak_memory(count: int) -> int:
        """The peak memory of the export, after this many more answers."""
        queue.enqueue_many(leaseq.NewItem({"text": "x" * 1_500}) for _ in range(count))
        lease = queue.reserve("ann")
        while lease:
            lease = queue.finish(lease, {"text": "y" * 1_500}, then_reserve=True).next
        tracemalloc.start()
        response: Any = manager_browser.get(
            f"/manage/{queue.name}/export?format=csv&person=ann", buffered=False
        )
        assert sum(map(len, response.response)) > queue.stats().finished * 3_000
        memory = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return memory

    first_peak = peak_memory(510)
    assert peak_memory(510) < first_peak + 600_000, "the added answers are 1.5 MB"


def test_a_person_may_have_four_exports_open(
    server: Any, manager_browser: Browser, manager: Caller, answered_queue: leaseq.Queue
) -> None:
    path = f"/manage/{answered_queue.name}/export?format=csv"
    calls = [OpenCalls(server.client).begin("exports", manager_browser.name) for _ in range(4)]
    response = manager_browser.get(path)
    assert (response.status_code, response.headers["Retry-After"]) == (429, "5")
    assert manager("GET", f"/queues/{answered_queue.name}/answers", buffered=True).status_code == 200
    calls[0].end()
    for _ in range(2):  # an export that was read to its end is no longer open
        assert manager_browser.get(path, buffered=True).status_code == 200


def test_export_that_its_reader_ended_is_no_longer_open(
    manager_browser: Browser, answered_queue: leaseq.Queue
) -> None:
    path = f"/manage/{answered_queue.name}/export?format=csv"
    for _ in range(5):  # a person may have four
        response = manager_browser.get(path, buffered=False)
        assert response.status_code == 200
        assert next(iter(response.response)), "not all of it is read"
        response.close()
