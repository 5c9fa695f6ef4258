"""No request keeps a web process from serving others for long, however much it has to read or to show."""

from __future__ import annotations

import http.client
import io
import json
import secrets
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import urlsplit

import gevent
import pytest
from flask import Flask

import leaseq
from leaseq import Json, checkpoints
from leaseq.transfer import CONTENT_TYPES, workbooks
from leaseq.webapp.manage.item import Row, side_by_side
from leaseq.webapp.people.figures import Report
from leaseq.webapp.rendering.chat import messages_of
from leaseq.webapp.rendering.filters import markdown
from leaseq.webapp.rendering.media import pictures_of
from leaseq.webapp.rendering.texts import difference_of
from leaseq.webapp.serving.time_slices import end_slice_when_over
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.activity import DayFigures
from tests.support.sessions import start_session
from tests.support.waiting import TIMEOUT
from tests.web.conftest import SECRET
from tests.web.gunicorn_server import ADJUSTED_APP, run_gunicorn
from tests.web.slice_meter import MAX_SECONDS, PATH, shortest


@pytest.fixture(scope="module")
def address(server: Any) -> Iterator[str]:
    with run_gunicorn(server.url, SECRET, workers=1, threads=4, app=ADJUSTED_APP, SLICES="1") as (url, _):
        yield urlsplit(url).netloc


@pytest.fixture
def send(address: str) -> Callable[..., tuple[int, float]]:
    """Send a request; returns its status and its longest slice."""

    def send(method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, float]:
        connection = http.client.HTTPConnection(address, timeout=TIMEOUT)
        connection.request("GET", PATH)
        connection.getresponse().read()
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        response.read()
        connection.request("GET", PATH)
        longest = json.load(connection.getresponse())
        connection.close()
        return response.status, longest

    return send


@pytest.fixture
def call(send: Callable[..., tuple[int, float]], accounts: Accounts) -> Callable[..., float]:
    """Call REST as an admin, and expect a status; returns the longest slice."""
    name = f"admin-{secrets.token_hex(4)}"
    accounts.add(name, by="test", role="admin")
    token = accounts.create_token(name, "test", by="test")

    def call(
        expected: int, method: str, path: str, body: bytes | None = None, kind: str = "text/csv"
    ) -> float:
        def attempt() -> float:
            headers = {"Authorization": f"Bearer {token}", "Content-Type": kind}
            status, longest = send(method, f"/api/v1{path}", body, headers)
            assert status == expected
            return longest

        return shortest(attempt)

    return call


NDJSON = "application/x-ndjson"
XLSX = CONTENT_TYPES["xlsx"]


def workbook(rows: str, types: str = "") -> bytes:
    """A workbook with a column ``id``, and more in its sheet and in its list of parts."""
    content, output = io.BytesIO(b"".join(workbooks.workbook(["id"], []))), io.BytesIO()
    with zipfile.ZipFile(content) as old, zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as new:
        for path in old.namelist():
            part = old.read(path).decode()
            part = part.replace("</sheetData>", f"{rows}</sheetData>").replace("</Types>", f"{types}</Types>")
            new.writestr(path, part)
    return output.getvalue()


FILES = {
    "rows": ("text/csv", b"id,text\n" + b"".join(b"r-%d,some words\n" % n for n in range(10_000))),
    "bad rows": ("text/csv", b"id,text\n" + b"a\n" * 50_000),
    "blank rows": ("text/csv", b"id,text\n" + b"\n" * 100_000),
    "open quote": ("text/csv", b'id,text\n1,"abc\n' + b"some words\n" * 100_000),
    "open quote, then blank rows": ("text/tab-separated-values", b'id\ttext\n1\t"abc\n' + b"\n" * 100_000),
    "bad lines": (NDJSON, b"{\n" * 30_000),
    "elements": ("application/json", b"[" + b"1," * 30_000 + b"1]"),
    "workbook": (XLSX, workbook("<row><c><v>1</v></c></row>" * 10_000)),
    "workbook with a long row": (XLSX, workbook(f"<row>{'<c><v>1</v></c>' * 100_000}</row>")),
    "workbook with empty rows": (XLSX, workbook("<row/>" * 100_000)),
    "workbook with a long list": (XLSX, workbook("", '<Override PartName="/a" ContentType="b"/>' * 50_000)),
    "one long element": ("application/json", b"[[" + b"1," * 500_000 + b"1]]"),
}


@pytest.mark.parametrize("name", FILES)
def test_import_lets_others_run(call: Callable[..., float], queue: leaseq.Queue, name: str) -> None:
    kind, body = FILES[name]
    queue.configure()
    assert call(200, "POST", f"/queues/{queue.name}/import", body, kind) < MAX_SECONDS


def test_lines_and_duplicates_let_others_run(call: Callable[..., float], queue: leaseq.Queue) -> None:
    queue.configure()
    path, body = f"/queues/{queue.name}/items", b'{"payload": 1, "id": "x"}\n' * 20_000
    for _ in range(2):
        assert call(201, "POST", path, body, NDJSON) < MAX_SECONDS


@pytest.mark.parametrize("format", ["csv", "jsonl", "json"])
def test_export_lets_others_run(call: Callable[..., float], queue: leaseq.Queue, format: str) -> None:
    queue.configure()
    queue.enqueue_many([{"text": "some words", "n": n} for n in range(1_500)])
    for _ in range(1_500):
        lease = queue.reserve("ann")
        assert lease is not None
        queue.finish(lease, {"label": "spam", "words": ["a"] * 20})
    assert call(200, "GET", f"/queues/{queue.name}/answers?format={format}") < MAX_SECONDS


def test_array_of_items_lets_others_run(call: Callable[..., float], queue: leaseq.Queue) -> None:
    queue.configure()
    body = b"[" + b",".join([b'{"payload": "some words"}'] * 20_000) + b"]"
    assert call(201, "POST", f"/queues/{queue.name}/items", body, "application/json") < MAX_SECONDS


FORMS = {
    "many fields": b"a&" * 1_000_000,
    "spaces": b"name=" + b"%20" * 1_000_000,
    "not UTF-8": b"name=" + b"%FF" * 500_000,
    "words": b"name=" + b"some+words" * 300_000,
    "long names": b"%C3%A9" * 500_000,
}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("path", ["/login", "/language"])
def test_large_form_lets_others_run(send: Callable[..., tuple[int, float]], path: str, name: str) -> None:
    """Also of a stranger."""

    def attempt() -> float:
        status, longest = send(
            "POST", path, FORMS[name], {"Content-Type": "application/x-www-form-urlencoded"}
        )
        assert status in (400, 403, 413)
        return longest

    assert shortest(attempt) < MAX_SECONDS


CONTENTS: dict[str, Json] = {
    "chat": [{"role": "user", "content": "some words", "at": "2026-11-24T09:12:00Z"}] * 3_000,
    "code": "x = 1\n" * 5_000,
    "diff": {"before": "some words and " * 8_000, "after": "other words, or " * 8_000},
    "html": "<p>Some <b>words</b>" * 4_900,
    "images": ["https://cdn.example.org/a.png"] * 7_000,
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_page_of_a_large_item_lets_others_run(
    send: Callable[..., tuple[int, float]], app: Any, accounts: Accounts, queue: leaseq.Queue, kind: str
) -> None:
    queue.configure(form={"show": [{"field": "it", "kind": kind}]})
    queue.enqueue({"it": CONTENTS[kind]}, id="large")
    person = accounts.add(f"boss of {queue.name}", by="test", role="manager")
    cookies, _ = start_session(app, person)
    headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}

    def attempt() -> float:
        status, longest = send("GET", f"/manage/{queue.name}/items/large", None, headers)
        assert status == 200
        return longest

    assert shortest(attempt) < MAX_SECONDS


STAIRS = {
    name: "\n".join(f"{name}{n}" if n % 2 else str(n // 2 % 98) for n in range(4_000))
    for name in ("before", "after")
}
"""Two texts that take long to compare: each line in twenty places, and no two neighbours the same."""


def turns_of_others(app: Flask, render: Callable[[Any], Any], value: Any) -> tuple[Any, int]:
    """What a renderer returns, and how often others ran meanwhile."""

    def render_on_page() -> Any:
        with app.test_request_context():
            return render(value)

    rendering = gevent.spawn(render_on_page)
    turns = 0
    while not rendering.ready():
        turns += 1
        gevent.sleep(0.001)
    return rendering.get(), turns


@pytest.mark.parametrize(("render", "text"), [(markdown, "![" * 8_000), (difference_of, STAIRS)])
def test_long_text_lets_others_run(app: Flask, render: Callable[[Any], Any], text: Any) -> None:
    """The renderers of Markdown and of differences may take seconds."""
    rendered, turns = turns_of_others(app, render, text)
    assert "![" in str(rendered) or rendered.pieces is None
    assert turns > 2


DAY = date(2026, 3, 2)
FIGURES = Report(DAY, DAY, by=("person", "day"), team="", queue="", sort="done", is_descending=True)


def rows_of_answers(results: list[Json]) -> list[Row]:
    """As the page of an item shows them side by side."""
    answers = [
        leaseq.Answer("a", None, result, "ann", 1, 1, datetime.now(UTC), late=False) for result in results
    ]
    return side_by_side(tuple(answers), None, None)


@pytest.mark.parametrize(
    ("render", "value"),
    [
        (messages_of, [{"role": "user", "content": ["x"] * 65_000}]),
        (messages_of, [{"role": "assistant", "tool_calls": [{}] * 65_000}]),
        (pictures_of, ["x"] * 65_000),
        (FIGURES.in_order, {(f"ann {n}", f"{n % 9}"): DayFigures(finished=n % 7) for n in range(65_000)}),
        (rows_of_answers, [dict.fromkeys(map(str, range(65_000)), "x")] * 5),
    ],
    ids=["parts of a message", "calls of tools", "pictures", "figures", "fields of answers"],
)
def test_long_list_lets_others_run(
    app: Flask, monkeypatch: pytest.MonkeyPatch, render: Callable[[Any], Any], value: Any
) -> None:
    monkeypatch.setattr(checkpoints, "_hooks", [end_slice_when_over])
    rendered, turns = turns_of_others(app, render, value)
    assert max(len(rendered), len(getattr(rendered[0], "parts", ()))) == 65_000
    assert turns > 2
