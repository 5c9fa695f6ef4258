"""Importing a file by REST, with its columns named in the query."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

import openpyxl
import pytest

import leaseq
from tests.support.refused import unavailable
from tests.web.api_calls import assert_problem, assert_unchanged
from tests.web.conftest import Caller

ROWS = b'nr,text,urgency,by,skills\n7,hello,20,2031-03-01,"fr, legal"\n8,bye\n9,no,high,,\n7,hello,20,,\n'
COLUMNS = "id_field=nr&priority_field=urgency&due_field=by&requires_field=skills&payload_field=text"
CSV = "text/csv"


@pytest.fixture
def configured_queue(queue: leaseq.Queue) -> leaseq.Queue:
    queue.configure()
    return queue


def test_columns_are_mapped_to_item_fields(configured_queue: leaseq.Queue, manager: Caller) -> None:
    path = f"/queues/{configured_queue.name}/import?format=csv&{COLUMNS}"
    response = manager("POST", path, data=ROWS, content_type=CSV)
    assert (response.status_code, response.json) == (
        200,
        {
            "added": 1,
            "duplicates": 1,
            "conflicts": 0,
            "rejected": 2,
            "conflicting": [],
            "sheet": None,
            "sheets": None,
            "errors": [
                {
                    "line": 3,
                    "rule": "width",
                    "values": {"what": "header", "columns": 5, "count": 2, "marks": "commas"},
                    "detail": "expected as many columns as the header has (5), got 2 (separated by commas)",
                },
                {
                    "line": 4,
                    "rule": "range",
                    "values": {"minimum": 0, "maximum": 1_000_000, "value": "high"},
                    "detail": "urgency: expected a whole number from 0 to 1,000,000, got 'high'",
                },
            ],
        },
    )
    item = configured_queue.get("7")
    assert (item.payload, item.priority, item.requires) == ({"text": "hello"}, 20, ("fr", "legal"))
    assert item.due == datetime(2031, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a,x;b\n1;2\n", "name the separator with delimiter=comma, semicolon, tab or pipe"),
        (b"a,b\n1,\xe4\n", "charset=windows-1252"),
    ],
)
def test_row_error_says_how_to_correct_request(
    configured_queue: leaseq.Queue, manager: Caller, data: bytes, message: str
) -> None:
    response = manager("POST", f"/queues/{configured_queue.name}/import", data=data, content_type=CSV)
    assert (response.status_code, response.json["added"]) == (200, 0)
    assert response.json["errors"][0]["detail"].endswith(message)


@pytest.mark.parametrize(
    ("kind", "query", "data"),
    [
        ("text/csv; charset=utf-8", "", b"n,t\n1,x\n"),
        (CSV, "?delimiter=pipe&quotes=none", b"n|t\n1|x\n"),
        (CSV, "?format=tsv", b"n\tt\n1\tx\n"),
        ("text/tab-separated-values", "", b"n\tt\n1\tx\n"),
        ("application/json", "", b'[{"n":"1","t":"x"}]'),
        ("application/x-ndjson", "", b'{"n":"1","t":"x"}\n'),
        (CSV, "?payload_field=t&payload_field=n", b"u,n,t\n0,1,x\n"),
    ],
)
@pytest.mark.parametrize("key", [None, "k-1"])
def test_format_follows_content_type_and_query(
    configured_queue: leaseq.Queue, manager: Caller, kind: str, query: str, data: bytes, key: str | None
) -> None:
    headers = {"Idempotency-Key": key} if key else {}
    for _ in range(2):  # without a key each import adds all rows
        response = manager(
            "POST",
            f"/queues/{configured_queue.name}/import{query}",
            data=data,
            content_type=kind,
            headers=headers,
        )
        assert response.json["added"] == 1
        assert {name: value for name, value in response.json.items() if value} == {"added": 1}
    assert [{**item.payload, "n": str(item.payload["n"])} for item in configured_queue.items("inbound")] == [
        {"n": "1", "t": "x"}
    ] * (1 if key else 2)


def test_interrupted_import_with_key_is_repeated_without_duplicates(
    configured_queue: leaseq.Queue, manager: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    enqueue_many, calls = leaseq.Queue.enqueue_many, list[int]()

    def fail_second_call(queue: leaseq.Queue, items: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise unavailable()
        return enqueue_many(queue, items, **options)

    monkeypatch.setattr(leaseq.Queue, "enqueue_many", fail_second_call)
    options: dict[str, Any] = {
        "data": b"n\n" + b"1\n" * 1_500,
        "content_type": CSV,
        "headers": {"Idempotency-Key": "k"},
    }
    assert manager("POST", f"/queues/{configured_queue.name}/import", **options).status_code == 503
    response = manager("POST", f"/queues/{configured_queue.name}/import", **options)
    assert (response.json["added"], response.json["duplicates"]) == (500, 1_000)


def test_import_accepts_large_body_and_lists_100_errors(
    configured_queue: leaseq.Queue, manager: Caller
) -> None:
    data = b"n,t\n" + b"1\n" * 150 + b"1,2\n2,%s\n" % (b"x" * 200_000) * 20
    for headers in ({}, {"Idempotency-Key": "k"}):
        response = manager(
            "POST",
            f"/queues/{configured_queue.name}/import?id_field=n",
            data=data,
            content_type=CSV,
            headers=headers,
        )
        assert (response.status_code, response.json["rejected"], len(response.json["errors"])) == (
            200,
            150,
            100,
        )
    assert configured_queue.stats().inbound == 2


@pytest.mark.parametrize(
    ("query", "kind", "status", "code", "field"),
    [
        ("", "application/xml", 415, "unsupported-media-type", None),
        ("", None, 415, "unsupported-media-type", None),
        ("?format=ods", CSV, 400, "invalid", "format"),
        ("?delimiter=dot", CSV, 400, "invalid", "delimiter"),
        ("?delimiter=tab", "application/json", 400, "invalid", "delimiter"),
        ("?quotes=none", "application/json", 400, "invalid", "quotes"),
        ("?quotes=single", CSV, 400, "invalid", "quotes"),
        ("?idfield=n", CSV, 400, "invalid", "idfield"),
    ],
)
def test_unsupported_format_or_option_is_refused(
    configured_queue: leaseq.Queue,
    manager: Caller,
    query: str,
    kind: str | None,
    status: int,
    code: str,
    field: str | None,
) -> None:
    with assert_unchanged(configured_queue):
        response = manager(
            "POST", f"/queues/{configured_queue.name}/import{query}", data=b"n\n1\n", content_type=kind
        )
        assert assert_problem(response, status, code).get("field") == field


def test_import_by_worker_or_to_unknown_queue_is_refused(
    configured_queue: leaseq.Queue, worker: Caller, manager: Caller
) -> None:
    assert_problem(
        worker("POST", f"/queues/{configured_queue.name}/import", data=b"n\n1\n", content_type=CSV),
        403,
        "forbidden",
    )
    assert_problem(
        manager("POST", "/queues/nowhere/import", data=b"n\n1\n", content_type=CSV), 404, "not-found"
    )


def test_workbook_is_imported(queue: leaseq.Queue, manager: Caller) -> None:
    queue.configure()
    workbook = openpyxl.Workbook()
    for row in (["id", "text"], ["007", "Great"], ["r-2", "-5"]):
        workbook.worksheets[0].append(row)
    stream = io.BytesIO()
    workbook.save(stream)
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    path = f"/queues/{queue.name}/import?id_field=id"
    response = manager("POST", path, data=stream.getvalue(), content_type=kind)
    assert (response.status_code, response.json["added"]) == (200, 2), response.text
    assert (response.json["sheet"], response.json["sheets"]) == ("Sheet", 1)
    assert queue.get("007").payload == {"id": "007", "text": "Great"}
    refused = manager("POST", path, data=stream.getvalue()[:900], content_type=kind)
    assert assert_problem(refused, 400, "invalid")["field"] == "file"


def test_charset_of_content_type_is_honoured(configured_queue: leaseq.Queue, manager: Caller) -> None:
    url = f"/queues/{configured_queue.name}/import"
    data = "id,name\n1,Café\n".encode("cp1252")
    response = manager("POST", url, data=data, content_type="text/csv; charset=windows-1252")
    assert (response.status_code, response.json["added"]) == (200, 1)
    assert configured_queue.items("inbound")[0].payload == {"id": "1", "name": "Café"}
    assert manager("POST", url, data=data, content_type="text/csv; charset=klingon").status_code == 400
    utf16 = "id,name\n1,Café\n".encode("utf-16")
    assert manager("POST", url, data=utf16, content_type="text/csv").json["added"] == 1


def test_conflicts_are_listed_with_their_lines(configured_queue: leaseq.Queue, manager: Caller) -> None:
    url = f"/queues/{configured_queue.name}/import?id_field=id"
    data = b"id,text\n7,first version\n7,another text with the same id\n8,x\n"
    response = manager("POST", url, data=data, content_type="text/csv")
    assert (response.status_code, response.json["added"], response.json["conflicts"]) == (200, 2, 1)
    assert response.json["conflicting"] == [{"line": 3, "id": "7"}]
    lines = b'{"id": "7", "text": "other"}\n{"text": "x", "id": "8"}\n'
    response = manager("POST", url, data=lines, content_type="application/x-ndjson")
    assert (response.json["duplicates"], response.json["conflicting"]) == (1, [{"line": 1, "id": "7"}])


def test_header_and_cells_are_chosen_by_parameters(configured_queue: leaseq.Queue, manager: Caller) -> None:
    url = f"/queues/{configured_queue.name}/import"
    for query, data in (
        ("header_line=2", b"Title,\nn,t\n1,x\n"),
        ("no_header=true", b"1,x\n"),
        ("raw_cells=true", b"n,t\n1,x\n"),
        ("text_field=n", b"n,t\n1,x\n"),
        ("raw_cells=true&value_field=n", b"n,t\n1,x\n"),
    ):
        assert manager("POST", f"{url}?{query}", data=data, content_type="text/csv").json["added"] == 1
    assert [item.payload for item in configured_queue.items("inbound")] == [
        {"n": 1, "t": "x"},
        {"column_1": 1, "column_2": "x"},
        {"n": "1", "t": "x"},
        {"n": "1", "t": "x"},
        {"n": 1, "t": "x"},
    ]
    both = manager("POST", f"{url}?no_header=true&header_line=2", data=b"a\n", content_type="text/csv")
    assert (both.status_code, both.json["field"]) == (400, "header_line")
