"""The calls that the import page's script makes."""

from __future__ import annotations

import io
import re
from typing import Any

import openpyxl

from tests.web.conftest import Browser
from tests.web.elements import form_fields

TABLE = b"id,text,priority,due,requires\na,one,10,2026-12-01,fr\nb,two,,,\nc,three,high,,\n"
FRAGMENT = {"X-Leaseq-Fragment": "state"}


def workbook(rows: list[list[Any]], *others: str) -> bytes:
    book, stream = openpyxl.Workbook(), io.BytesIO()
    book.worksheets[0].title = "Orders"
    for row in rows:
        book.worksheets[0].append(row)
    for name in others:
        book.create_sheet(name)
    book.save(stream)
    return stream.getvalue()


def look(browser: Browser, base: str, data: bytes, name: str = "rows.csv", **fields: Any) -> Any:
    piece = (io.BytesIO(data), "piece")
    form = {"name": name, "whole": "yes", "piece": piece, **fields}
    return browser.post(f"{base}/preview", form, page=base)


def chosen_fields(response: Any, form: str = "") -> dict[str, Any]:
    """The fields that the preview would send, as a fragment or in the form of a page."""
    page = response.text if form else f'<form id="x">{response.text}</form>'
    fields: dict[str, Any] = form_fields(page, form or "x")
    fields["column"] = re.findall(r'name="column"[^>]* value="([^"]*)" checked', response.text)
    return fields


def send(browser: Browser, base: str, data: bytes, name: str = "rows.csv", **fields: Any) -> Any:
    url = browser.post(f"{base}/jobs", {"name": name, **fields}, page=base).json["to"]
    return url, stream(browser, base, url, data)


def stream(browser: Browser, base: str, url: str, data: bytes) -> Any:
    headers = {"X-CSRFToken": browser.csrf(base), **FRAGMENT}
    return browser.client.post(url, data=data, content_type="application/octet-stream", headers=headers)
