"""Each refusal of an imported file on the page, in German."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask_babel import gettext

import leaseq
import leaseq.transfer
from leaseq.sentences import rule_of
from leaseq.transfer import workbooks
from tests.unit.test_sentences import calls
from tests.web.conftest import Browser
from tests.web.manage.import_calls import look, stream, workbook

LONG = b"x" * 2_200_000
ENGLISH = re.compile(
    r"\b(the|of|and|is|with|expected|got|not|has|which|row|rows|column|columns|file|line|must|more|one)\b"
)


CASES: list[tuple[str, str, str, bytes, dict[str, Any]]] = [
    ("row", "empty", "x.csv", b"", {}),
    ("row", "array", "x.json", b'{"a":1}', {}),
    ("row", "array_end", "x.json", b'[{"a":1}', {}),
    ("row", "after_array", "x.json", b'[{"a":1}] 5', {}),
    ("row", "mark", "x.csv", b"sep=#\na#b\n1#2\n", {}),
    ("row", "utf8", "x.csv", b"a,b\n1,\xe4\n", {}),
    ("row", "nul", "x.csv", b"a,b\n1,x\n2,\x00y\n", {}),
    ("row", "quote", "x.csv", b'a,b\n1,"2\n', {"quotes": "double"}),
    ("row", "long_quote", "x.csv", b'a,b\n1,"' + LONG + b"\n" + LONG, {"quotes": "double"}),
    ("row", "after_quote", "x.csv", b'a,b\n1,"2"x\n', {"quotes": "double"}),
    ("row", "return", "x.csv", b"a,b\n1\r2,3\n", {"quotes": "double"}),
    ("row", "unnamed_column", "x.csv", b"a,b,\n1,2,3\n", {}),
    ("row", "column_twice", "x.csv", b"a,a\n1,2\n", {}),
    ("row", "no_column", "x.csv", b"a,b\n1,2\n", {"id": "zz"}),
    ("row", "splits", "x.csv", b"a, x;b\n1;2\n", {}),
    ("row", "conflict", "x.csv", b"id,text\n7,two\n", {"id": "id"}),
    ("title", "", "x.csv", b"Orders\na,b,c\n1,2,3\n4,5,6\n", {}),
    ("width", "header", "x.csv", b"a,b\n1\n", {}),
    ("width", "first", "x.csv", b"1,2\n1\n", {"header_line": "0"}),
    ("maximum", "row_bytes", "x.jsonl", b'"' + LONG + b'"\n', {}),
    ("maximum", "row_columns", "x.csv", b",".join([b"a"] * 20_000) + b"\n1\n", {}),
    ("date_order", "", "x.csv", b"a,b\n3/4/2026,x\n", {"due": "a"}),
    ("format", "day_first", "x.csv", b"a,b\n3/14/2026,x\n", {"due": "a", "dates": "day-first"}),
    ("format", "month_first", "x.csv", b"a,b\n14/3/2026,x\n", {"due": "a", "dates": "month-first"}),
    ("format", "time_or_date", "x.csv", b"a,b\nsoon,x\n", {"due": "a"}),
    ("format", "years", "x.csv", b"a,b\n0001-01-01T00:00:00+14:00,x\n", {"due": "a"}),
    ("format", "row_object", "x.jsonl", b"7\n", {"id": "id"}),
    ("format", "id_value", "x.jsonl", b'{"id":[1]}\n', {"id": "id"}),
    ("id_field", "", "x.jsonl", b'{"a":1}\n{"id":"7"}\n', {"id": "id"}),
    ("range", "", "x.csv", b"a,b\nhigh,x\n", {"priority": "a"}),
    ("format", "item_shape", "x.jsonl", b"7\n", {"envelope": "yes"}),
    ("format", "utc_time", "x.jsonl", b'{"payload":1,"due":"soon"}\n', {"envelope": "yes"}),
    ("one_of", "", "x.jsonl", b'{"payload":1,"prio":5}\n', {"envelope": "yes"}),
    ("required", "", "x.jsonl", b'{"paylod":1}\n', {"envelope": "yes"}),
    ("payload_unwrapped", "", "x.jsonl", b'{"text":1}\n', {"envelope": "yes"}),
    ("encoding", "byte", "x.csv", b"a,b\n1,\x81\n", {"encoding": "cp1252"}),
    ("encoding", "mark", "x.csv", b"a,b\n1,2\n3", {"encoding": "utf-16"}),
    ("workbook", "whole", "x.xlsx", workbook([["a"], [1]])[:900], {}),
    ("maximum", "sheet_bytes", "x.xlsx", workbook([["a"], [1]]), {}),
    ("maximum", "sheet_rows", "x.xlsx", workbook([["a"], [1], [2]]), {}),
    ("maximum", "sheet_unpacked", "x.xlsx", workbook([["a"], ["x" * 30_000]]), {}),
]


OWN_WORDS = {("row", "mark"), ("row", "splits"), ("row", "conflict")}
"""Refusals that the page says in its own words."""


@pytest.mark.parametrize(("rule", "what", "name", "data", "fields"), CASES)
def test_refusal(
    app: Flask,
    manager_browser: Browser,
    base: str,
    queue: leaseq.Queue,
    monkeypatch: pytest.MonkeyPatch,
    rule: str,
    what: str,
    name: str,
    data: bytes,
    fields: dict[str, Any],
) -> None:
    limit = {"sheet_bytes": "MAX_BYTES", "sheet_rows": "MAX_ROWS", "sheet_unpacked": "MAX_UNPACKED"}.get(what)
    if limit:
        monkeypatch.setattr(workbooks, limit, 2)
    queue.enqueue({"id": "7", "text": "one"}, id="7")
    manager_browser.client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "de"
    preview = look(manager_browser, base, data[:100_000], name, **fields)
    plan = manager_browser.post(f"{base}/jobs", {"name": name, **fields}, page=base).json
    outcome = stream(manager_browser, base, plan["to" if what == "conflict" else "check"], data)
    page = f"{text_of(preview.text)} {text_of(outcome.text)}"
    assert ENGLISH.findall(page) == []
    if (rule, what) in OWN_WORDS:
        return
    texts = rule_of(rule, {"what": what})
    with app.test_request_context(headers={"Accept-Language": "de"}):
        german = gettext(texts.sentence or texts.expected)
    fragment = max(re.split(r"%\(\w+\)s", german), key=len).strip()
    assert fragment.casefold() in page.casefold()


OF_CALLS = {
    ("gzip", ""),
    ("skipped_time", ""),
    ("encoding", "name"),
    ("file_format", "name"),
    ("file_format", "option"),
    ("format", "answers_cursor"),
    ("format", "day_or_time"),
    ("format", "day_or_time_in"),
    ("format", "delimiter"),
    ("format", "header_line"),
    ("format", "quotes"),
    ("format", "sheet_format"),
    ("maximum", "table_columns"),
    ("maximum", "xlsx_rows"),
    ("not_together", ""),
    ("other_queues_cursor", ""),
    ("period", ""),
    ("type", "columns"),
    ("type", "stream"),
    ("workbook", "cell"),
    ("workbook", "extra"),
}
"""Rules that an option, the time zone of the site or a compressed file breaks, which a page does not read."""
UNREACHABLE = {("row", "malformed"), ("format", "id_object")}
"""Rules that no file breaks: the reasons of csv.Error that remain, and a row that is no object with an id."""


def test_each_rule_of_files_has_a_refusal() -> None:
    folder = Path(leaseq.transfer.__path__[0])
    raised = {
        (rule, what) for place, rule, what, _ in calls() if Path(place.partition(":")[0]).parent == folder
    }
    assert raised - OF_CALLS - UNREACHABLE <= {(case[0], case[1]) for case in CASES}


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def text_of(page: str) -> str:
    parser = _Text()
    parser.feed(page)
    return " ".join(" ".join(parser.parts).split())
