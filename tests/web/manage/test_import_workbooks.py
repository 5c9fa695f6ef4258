"""Workbooks (xlsx) on the import page and in *Create from file*: as a CSV, with the types of their cells."""

from __future__ import annotations

import html
import io
import zipfile
from datetime import date
from typing import Any

import pytest

import leaseq
from leaseq.transfer import workbooks
from tests.conftest import Server
from tests.web.conftest import Browser
from tests.web.manage.import_calls import chosen_fields, look, send, stream, workbook

ROWS: list[list[Any]] = [
    ["id", "text", "amount", "paid", "due", "code"],
    ["a", "one", 1.5, True, date(2026, 12, 1), "007"],
    ["b", "two", 2, False, None, "8"],
]


def look_at(browser: Browser, base: str, data: bytes, **fields: Any) -> Any:
    return look(browser, base, data, "rows.xlsx", **fields)


def test_workbook_is_previewed_checked_and_imported(
    manager_browser: Browser, base: str, queue: leaseq.Queue
) -> None:
    data = workbook([*ROWS, ["c", "three", 3, True, "soon", "9"]], "Prices", "Notes")
    preview = look_at(manager_browser, base, data)
    fields = chosen_fields(preview)
    assert (fields["id"], fields["column"]) == ("id", ["id", "text", "amount", "paid", "due", "code"])
    assert "delimiter" not in fields, "a workbook has no separator"
    assert "Sheet 1 of 3 is read: “Orders”" in html.unescape(preview.text)
    fields["due"] = "due"
    chosen = look_at(manager_browser, base, data, **fields)
    assert "Line 4: due" in chosen.text
    plan = manager_browser.post(f"{base}/jobs", {"name": "rows.xlsx", **fields}, page=base).json
    check = stream(manager_browser, base, plan["check"], data)
    assert (check.status_code, "Line 4: due" in check.text) == (200, True)
    assert queue.stats().inbound == 0
    outcome = stream(manager_browser, base, plan["to"], data)
    assert "2 added, 0 duplicates, 1 skipped" in outcome.text
    assert "“Orders”" in html.unescape(manager_browser.get(plan["to"]).text)
    item = queue.get("a")
    assert item.payload == {
        "id": "a", "text": "one", "amount": 1.5, "paid": True, "due": "2026-12-01", "code": "007",
    }  # fmt: skip
    assert item.due is not None
    rejected = manager_browser.get(f"{plan['to']}/rejected").text
    assert "c,three,3,true,soon,9" in rejected
    _, again = send(manager_browser, base, workbook([*ROWS[:2], ["b", "other"]]), "rows.xlsx", **fields)
    assert "0 added, 1 duplicate, 0 skipped. 1 row has an id" in again.text


def test_cells_are_text_or_values_as_chosen(manager_browser: Browser, base: str, queue: leaseq.Queue) -> None:
    data = workbook(ROWS[:1] + ROWS[2:])
    fields = {**chosen_fields(look_at(manager_browser, base, data)), "cells": ["text amount", "value code"]}
    assert "2" in look_at(manager_browser, base, data, **fields).text
    send(manager_browser, base, data, "rows.xlsx", **fields)
    payload = queue.get("b").payload
    assert (payload["amount"], payload["code"], payload["paid"]) == ("2", 8, False)


def test_large_sheet_is_previewed_by_its_first_rows(
    manager_browser: Browser, base: str, queue: leaseq.Queue
) -> None:
    data = workbook([["nr", "text"], *([number, "x"] for number in range(2_000))])
    preview = look_at(manager_browser, base, data)
    assert "1 to 5 of 200." in preview.text
    assert "Check the whole file" in preview.text
    _, outcome = send(manager_browser, base, data, "rows.xlsx", **chosen_fields(preview))
    assert "2,000 added" in outcome.text


def test_title_above_the_header_is_found(manager_browser: Browser, base: str) -> None:
    preview = look_at(manager_browser, base, workbook([["Orders of May"], *ROWS]))
    assert chosen_fields(preview)["column"][0] == "id"
    assert "from line 2" in preview.text


def bomb() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 40_000_000)
    return stream.getvalue()


@pytest.mark.parametrize("data", [workbook(ROWS)[:2_000], bomb(), b"id,text\n1,x\n", b""])
def test_damaged_workbook_is_refused_with_advice_and_imports_nothing(
    manager_browser: Browser, base: str, queue: leaseq.Queue, data: bytes
) -> None:
    preview = look_at(manager_browser, base, data)
    assert preview.status_code == 400
    assert "CSV" in preview.text
    plan = manager_browser.post(f"{base}/jobs", {"name": "rows.xlsx"}, page=base).json
    assert stream(manager_browser, base, plan["check"], data).status_code == 400
    assert stream(manager_browser, base, plan["to"], data).status_code == 400
    created = manager_browser.post(
        "/new-queue", {"title": "of a file", "file": (io.BytesIO(data), "rows.xlsx")}, page="/new-queue"
    )
    assert created.status_code == 400
    assert "CSV" in created.text.split('role="alert"')[1].split("</p>")[0]
    assert queue.stats().inbound == 0


def test_workbook_that_is_too_large_is_refused(
    manager_browser: Browser, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbooks, "MAX_BYTES", 1_000)
    preview = look_at(manager_browser, base, workbook(ROWS))
    assert (preview.status_code, "CSV" in preview.text) == (400, True)


def test_queue_is_created_from_a_workbook(
    manager_browser: Browser, server: Server, queue: leaseq.Queue
) -> None:
    def press(**fields: Any) -> Any:
        file = (io.BytesIO(workbook(ROWS)), f"{queue.name}.xlsx")
        return manager_browser.post("/new-queue", {"file": file, **fields}, page="/new-queue")

    response = press(**chosen_fields(press(), "import"), create="yes")
    assert response.status_code == 303, response.text
    made = leaseq.Queue(server.client, str(response.location).split("/")[2])
    assert [item.payload["amount"] for item in made.items("inbound")] == [1.5, 2]
    made.delete()
