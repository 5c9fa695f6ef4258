"""Import on a page without a script: the file is checked, then imported."""

from __future__ import annotations

import io
from typing import Any

import leaseq
from tests.web.conftest import Browser
from tests.web.elements import form_fields


def test_file_is_checked_without_script(manager_browser: Browser, base: str, queue: leaseq.Queue) -> None:
    def form_data(**fields: str) -> dict[str, Any]:
        return {"file": (io.BytesIO(b"a\n1\n2,3\n"), "rows.csv"), **fields}

    for fields, status in (({"check": "yes"}, 200), ({}, 400)):
        response = manager_browser.post(base, form_data(**fields), page=base)
        assert response.status_code == status
        assert "1 row can be imported." in response.text
        assert "Line 3: " in response.text
        assert 'id="import-button"' not in response.text, "this button needs the script"
        assert queue.stats().inbound == 0
    assert manager_browser.post(base, form_data(skip="yes"), page=base).status_code == 303
    assert queue.stats().inbound == 1


def test_choices_are_kept_from_check_to_import_without_script(
    manager_browser: Browser, base: str, queue: leaseq.Queue
) -> None:
    fields = {"format": "csv", "delimiter": "semicolon", "quotes": "none", "id": "<nr>"}

    def form_data(extra_fields: dict[str, str]) -> dict[str, Any]:
        return {"file": (io.BytesIO(b"<nr>;a\n7;1\n8\n"), "rows.txt"), **extra_fields}

    response = manager_browser.post(base, form_data(fields), page=base)
    assert response.status_code == 400
    kept_fields = form_fields(response.text, "import")
    assert {name: kept_fields[name] for name in fields} == fields
    assert manager_browser.post(base, form_data({**kept_fields, "skip": "yes"}), page=base).status_code == 303
    assert queue.get("7").payload == {"<nr>": "7", "a": 1}


def test_file_without_errors_is_imported_at_once_without_script(
    manager_browser: Browser, base: str, queue: leaseq.Queue
) -> None:
    assert (
        manager_browser.post(base, {"file": (io.BytesIO(b"a\n1\n"), "rows.csv")}, page=base).status_code
        == 303
    )
    assert queue.stats().inbound == 1


def test_missing_file_is_refused_on_the_import_page(manager_browser: Browser, base: str) -> None:
    response = manager_browser.post(base, {"format": "tsv"}, page=base)
    assert response.status_code == 400
    assert "Choose a file first." in response.text
    assert form_fields(response.text, "import")["format"] == "tsv"
