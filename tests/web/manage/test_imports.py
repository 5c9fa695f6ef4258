"""Import on the page: the file is imported as chosen, and the result is shown."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import ClientDisconnected

import leaseq
from leaseq import Invalid, checkpoints
from leaseq.transfer import BadRow, ImportResult
from leaseq.webapp.manage.importing.mapping import ImportMapping, bad_row_message
from leaseq.webapp.serving.bodies import StrictRequest
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.jobs import imports as jobs_module
from leaseq.webapp.store.jobs.imports import ImportJobs
from tests.support.bad_questions import IMPOSSIBLE_FORM
from tests.support.refused import unavailable
from tests.support.waiting import eventually
from tests.web.conftest import Browser
from tests.web.manage.import_calls import TABLE, look, send, stream, workbook


def test_unknown_file_extension_is_refused_without_format(manager_browser: Browser, base: str) -> None:
    refusal = look(manager_browser, base, b"a\n1\n", "rows.xls")
    assert refusal.status_code == 400
    assert refusal.text.startswith('<p class="error"'), "a fragment, which the page shows above the file"
    assert look(manager_browser, base, b"a\n1\n", "rows.xls", format="csv").status_code == 200


def test_import_uses_chosen_columns_and_adds_no_duplicates(
    manager_browser: Browser, base: str, queue: leaseq.Queue
) -> None:
    choice = {"id": "id", "priority": "priority", "due": "due", "requires": "requires"}
    url, response = send(manager_browser, base, TABLE, columns_chosen="yes", column=["text"], **choice)
    assert "2 added, 0 duplicates, 1 skipped" in response.text
    item = queue.get("a")
    assert (item.payload, item.priority, item.requires) == ({"text": "one"}, 10, ("fr",))
    assert item.due == datetime(2026, 12, 1, tzinfo=UTC)
    page = manager_browser.get(url).text
    assert "2 added, 0 duplicates, 1 skipped" in page
    assert "Line 4: priority" in page
    assert url in manager_browser.get(base).text
    assert (
        "0 added, 0 duplicates, 1 skipped. 2 rows have ids"
        in send(manager_browser, base, TABLE, **choice)[1].text
    )
    assert queue.stats().inbound == 2


def test_form_deadline_and_addressee_are_columns(
    manager_browser: Browser, worker_browser: Browser, base: str, queue: leaseq.Queue
) -> None:
    first = f'a,1/2/2035,{worker_browser.name},"{{""show"": [""x""]}}"'
    impossible = json.dumps(IMPOSSIBLE_FORM).replace('"', '""')
    table = f'id,until,who,what\n{first}\nb,,stranger,\nc,600,,\nd,,,"{impossible}"\n'.encode()
    choice = {"id": "id", "expires": "until", "to": "who", "form": "what", "dates": "day-first"}
    response = send(manager_browser, base, table, **choice)[1]
    assert "2 added, 0 duplicates, 2 skipped" in response.text
    item = queue.get("a")
    assert (item.form, item.assigned_to) == ({"show": ["x"]}, (worker_browser.name,))
    assert item.expires == datetime(2035, 2, 1, tzinfo=UTC)


def test_long_file_name_is_cut_to_200_characters() -> None:
    mapping = ImportMapping.from_form(MultiDict(), "n" * 201 + ".csv")
    assert (mapping.file, mapping.format) == ("n" * 200, "csv")


def test_import_plan_accepts_only_one_file(manager_browser: Browser, base: str, queue: leaseq.Queue) -> None:
    url, _ = send(manager_browser, base, b"a\n1\n")
    assert stream(manager_browser, base, url, b"a\n1\n").status_code == 400
    assert queue.stats().inbound == 1


def test_rejected_rows_are_downloaded_with_their_reasons(manager_browser: Browser, base: str) -> None:
    table = b"id,text\n,no id\nb\nc,=1+1\n\xff,bad\n,=2+2\n"
    url, _ = send(manager_browser, base, table, id="id")
    response = manager_browser.get(f"{url}/rejected")
    assert response.headers["Content-Disposition"].endswith('-rejected.csv"')
    rows = list(csv.reader(io.StringIO(response.text)))
    assert rows[0] == ["line", "reason", "id", "text"]
    assert [(row[0], row[2:]) for row in rows[1:]] == [
        ("2", ["", "no id"]),
        ("3", ["b"]),
        ("5", ["\ufffd", "bad"]),
        ("6", ["", "'=2+2"]),
    ]
    assert all(row[1] for row in rows)
    url, _ = send(manager_browser, base, b'{"a": 1}\n{\n', "rows.jsonl", id="id")
    response = manager_browser.get(f"{url}/rejected")
    assert response.headers["Content-Disposition"].endswith('-rejected.jsonl"')
    lines = [json.loads(line) for line in response.text.splitlines()]
    assert [(line["line"], line["row"]) for line in lines] == [(1, {"a": 1}), (2, "{\n")]


def test_each_cell_of_a_rejected_row_has_a_column(manager_browser: Browser, base: str) -> None:
    """Also for rows with more cells than the file has columns, and of different lengths."""
    url, _ = send(manager_browser, base, b"id,text\na,b,c,d\ne,f,g\n", id="id")
    header, *rows = csv.reader(io.StringIO(manager_browser.get(f"{url}/rejected").text))
    assert header == ["line", "reason", "column 1", "column 2", "column 3", "column 4"]
    assert [row[2:] for row in rows] == [["a", "b", "c", "d"], ["e", "f", "g"]]


def test_number_of_stored_rejected_rows_is_limited(
    manager_browser: Browser, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.webapp.store.jobs.imports.BAD_ROWS", 2)
    url, _ = send(manager_browser, base, b"id,text\n" + b",no id\n" * 5, id="id")
    assert len(list(csv.reader(io.StringIO(manager_browser.get(f"{url}/rejected").text)))) == 1 + 2


@pytest.mark.parametrize(("limit", "has_more"), [(2, True), (3, False)])
def test_page_reports_rejected_rows_beyond_display_limit(
    manager_browser: Browser, base: str, monkeypatch: pytest.MonkeyPatch, limit: int, has_more: bool
) -> None:
    monkeypatch.setattr("leaseq.webapp.manage.importing.pages.BAD_ROWS_SHOWN", limit)
    url, _ = send(manager_browser, base, b"id,text\n" + b",no id\n" * 3, id="id")
    assert ("These are the first 2" in manager_browser.get(url).text) == has_more


def test_each_rejected_row_is_kept_once(
    manager_browser: Browser, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_module, "_CHUNK", 2)
    url, _ = send(manager_browser, base, b"id,text\n" + b",no id\n" * 5, id="id")
    _, *rows = csv.reader(io.StringIO(manager_browser.get(f"{url}/rejected").text))
    assert [row[0] for row in rows] == ["2", "3", "4", "5", "6"]


def test_rejected_rows_are_stored_while_import_runs(
    server: Any, app: Flask, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At most a chunk of them is in memory."""
    monkeypatch.setattr(jobs_module, "_CHUNK", 2)
    jobs = ImportJobs(server.client)
    bad_rows = jobs_module.BadRows(jobs, base, bad_row_message)
    with app.test_request_context():
        for line in range(1, 4):
            bad_rows.add(BadRow(line, Invalid("id", "required")))
    assert [row["line"] for row in jobs.bad_rows(base)] == [1, 2]


def test_no_more_rejected_rows_are_read_than_asked_for(
    server: Any, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page of an import reads 101 of 10,000."""
    monkeypatch.setattr(jobs_module, "_CHUNK", 2)
    jobs = ImportJobs(server.client)
    jobs.store_bad_rows(base, [f'{{"line": {line}}}' for line in range(1, 8)])
    for limit in (1, 2, 3, 4, 7, 9):
        assert [row["line"] for row in jobs.bad_rows(base, limit)] == list(range(1, min(limit, 7) + 1))


class CutStream(io.BytesIO):
    """A body whose sender disconnects."""

    def readline(self, *_: Any) -> bytes:
        line = super().readline()
        if not line:
            raise ClientDisconnected
        return line

    read1 = readline


def test_broken_connection_is_reported_with_rows_added(
    manager_browser: Browser,
    base: str,
    queue: leaseq.Queue,
    accounts: Accounts,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from leaseq.webapp.serving.bodies import StrictRequest

    monkeypatch.setattr(
        StrictRequest, "byte_lines", lambda _: CutStream(b"id\n" + b"".join(b"%d\n" % n for n in range(1500)))
    )
    url, response = send(manager_browser, base, b"", id="id")
    assert response.status_code == 400
    page = manager_browser.get(url).text
    assert "It stopped: the connection ended before the whole file was sent." in page
    assert "1,000 added" in page
    assert "not added twice" in page
    assert queue.stats().inbound == 1000
    assert accounts.log.page(person=manager_browser.name).entries[0].what == "queue.imported"


class OutageStream(io.BytesIO):
    """A body during which the server becomes unavailable."""

    def read1(self, *_: Any) -> bytes:
        raise unavailable()


def test_import_stopped_by_server_outage_is_reported(
    manager_browser: Browser,
    base: str,
    queue: leaseq.Queue,
    accounts: Accounts,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from leaseq.webapp.serving.bodies import StrictRequest

    monkeypatch.setattr(StrictRequest, "byte_lines", lambda _: OutageStream())
    url, response = send(manager_browser, base, b"", "rows.jsonl")
    assert response.status_code == 503, "the page's script sends it again"
    assert f"It stopped: {unavailable()}" in manager_browser.get(url).text
    assert accounts.log.page(person=manager_browser.name).entries[0].kind == "sign-in", "nothing was added"


def test_import_without_progress_is_reported(
    manager_browser: Browser, base: str, queue: leaseq.Queue, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = ImportJobs(server.client)
    id = jobs.create(queue.name, "ann", ImportMapping("rows.csv", "csv").to_record())
    assert jobs.begin(id)
    assert "In progress" in manager_browser.get(f"{base}/{id}").text

    class LaterClock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + timedelta(minutes=2)

    monkeypatch.setattr(jobs_module, "datetime", LaterClock)
    assert "there was no progress" in manager_browser.get(f"{base}/{id}").text


@pytest.fixture
def minute_passes(queue: leaseq.Queue, server: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let more time pass than a job may be silent, and wait until its heartbeat was renewed."""
    jobs, clock = ImportJobs(server.client), [datetime.now(UTC)]

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return clock[0].astimezone(tz)

    def minute_passes() -> None:
        clock[0] += timedelta(seconds=61)
        eventually(lambda: not any(job.is_interrupted for job in jobs.latest(queue.name)))

    monkeypatch.setattr(jobs_module, "datetime", Clock)
    monkeypatch.setattr(jobs_module, "BEAT_SECONDS", 0.01)
    return minute_passes


def test_slow_upload_is_not_reported_as_interrupted(
    manager_browser: Browser, base: str, minute_passes: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    class SlowStream(io.BytesIO):
        """A slow body: no row is imported before its last line has arrived."""

        def read1(self, *_: Any) -> bytes:
            minute_passes()
            return super().readline()

    monkeypatch.setattr(StrictRequest, "byte_lines", lambda _: SlowStream(b"a\n" + b'"x"\n' * 5))
    _, response = send(manager_browser, base, b"", "rows.tsv")
    assert "5 added" in response.text


def test_workbook_that_takes_long_is_not_reported_as_interrupted(
    manager_browser: Browser, base: str, minute_passes: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read to its end before its first rows are added, and after its upload has ended."""
    monkeypatch.setattr(checkpoints, "_hooks", [minute_passes])
    _, response = send(manager_browser, base, workbook([["a"], ["x"], ["y"]]), "rows.xlsx")
    assert "2 added" in response.text


def test_progress_of_checked_import_names_rows_of_file(
    manager_browser: Browser, base: str, server: Any
) -> None:
    urls = manager_browser.post(f"{base}/jobs", {"name": "rows.csv", "priority": "priority"}, page=base).json
    assert "2 rows can be imported." in stream(manager_browser, base, urls["check"], TABLE).text
    jobs, id = ImportJobs(server.client), urls["to"].rsplit("/", 1)[1]
    jobs.begin(id)
    jobs.progress(id, ImportResult(added=1, duplicates=0, rejected=0))
    page = manager_browser.get(urls["to"]).text
    assert "In progress: 1 of 3 rows." in page
    assert '<progress max="3" value="1"' in page


def test_import_of_another_queue_returns_404(
    manager_browser: Browser, base: str, form_queue: leaseq.Queue
) -> None:
    url, _ = send(manager_browser, base, b"a\n1\n")
    id = url.rsplit("/", 1)[1]
    other = f"/manage/{form_queue.name}.x"
    leaseq.Queue(form_queue._client, f"{form_queue.name}.x").configure()
    for path in (f"{other}/import/{id}", f"{other}/import/{id}/rejected", f"{base}/nothing"):
        assert manager_browser.get(path).status_code == 404
