"""Import by the page: a look at the file, the choice of columns, the file itself, and what became of it."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from werkzeug.exceptions import ClientDisconnected

import leaseq
from leaseq.webapp.manage import import_jobs as runs_module
from leaseq.webapp.manage.import_jobs import Runs
from tests.transfer import corpus

from .conftest import Browser
from .page_forms import sent_by

TABLE = b"id,text,priority,due,requires\na,one,10,2026-12-01,fr\nb,two,,,\nc,three,high,,\n"
PIECE = {"X-Leaseq-Piece": "state"}


@pytest.fixture
def base(queue: leaseq.Queue) -> str:
    queue.configure()
    return f"/manage/{queue.name}/import"


def look(boss: Browser, base: str, data: bytes, name: str = "rows.csv", **fields: Any) -> Any:
    piece = (io.BytesIO(data), "piece")
    sent = {"name": name, "whole": "yes", "piece": piece, **fields}
    return boss.post(f"{base}/look", sent, page=base)


def chosen(answer: Any) -> dict[str, Any]:
    """What the look's fields would send."""
    page = f'<form id="x">{answer.text}</form>'
    found: dict[str, Any] = sent_by(page, "x")
    found["column"] = re.findall(r'name="column"[^>]* value="([^"]*)" checked', answer.text)
    return found


def send(boss: Browser, base: str, data: bytes, name: str = "rows.csv", **fields: Any) -> Any:
    to = boss.post(f"{base}/plan", {"name": name, **fields}, page=base).json["to"]
    return to, stream(boss, base, to, data)


def stream(boss: Browser, base: str, to: str, data: bytes) -> Any:
    headers = {"X-CSRFToken": boss.csrf(base), **PIECE}
    return boss.client.post(to, data=data, content_type="application/octet-stream", headers=headers)


def test_a_look_shows_rows_guesses_columns_and_tells_what_is_wrong(
    boss: Browser, base: str, queue: leaseq.Queue
) -> None:
    answer = look(boss, base, TABLE)
    fields = chosen(answer)
    assert {role: fields[role] for role in ("id", "priority", "due", "requires")} == {
        "id": "id",
        "priority": "priority",
        "due": "due",
        "requires": "requires",
    }
    assert fields["column"] == ["id", "text", "priority", "due", "requires"]
    assert "three" in answer.text
    assert "Line 4: priority: a whole number" in answer.text
    again = look(boss, base, TABLE, **{**fields, "priority": ""})
    assert "Line 4" not in again.text
    assert chosen(again)["priority"] == ""
    assert queue.stats().inbound == 0


@pytest.mark.parametrize(("mark", "name"), [(",", "comma"), (";", "semicolon"), ("\t", "tab")])
def test_what_splits_the_columns_is_told_by_the_header_and_can_be_corrected(
    boss: Browser, base: str, queue: leaseq.Queue, mark: str, name: str
) -> None:
    data = "\ufeffid;text\r\n1;a, b\r\n".replace(";", mark).encode()
    if mark == ",":
        data = b'id,"text; more"\n1,"a, b"\n'
    seen = look(boss, base, data)
    assert f'value="{name}" selected' in seen.text
    fields = chosen(seen)
    assert fields["id"] == "id"
    wrong = look(boss, base, data, **{**fields, "delimiter": "tab" if name == "comma" else "comma"})
    assert chosen(wrong)["column"] != fields["column"], "the columns that were chosen before mean nothing now"
    assert "has no column" not in wrong.text
    assert "choose" not in seen.text
    _, done = send(boss, base, data, **fields)
    assert "1 added" in done.text
    text = "a, b"
    assert list(queue.get("1").payload.values()) == ["1", text]


def test_what_may_be_split_in_two_ways_is_asked_and_not_guessed(
    boss: Browser, base: str, queue: leaseq.Queue
) -> None:
    data = "Betrag, netto;Kunde\n1,5;Müller\n".encode()
    seen = look(boss, base, data)
    assert "Choose what splits it" in seen.text
    assert 'id="go"' not in seen.text
    fields = chosen(look(boss, base, data, **{**chosen(seen), "delimiter": "semicolon"}))
    assert fields["column"] == ["Betrag, netto", "Kunde"]
    _, done = send(boss, base, data, name="rows.csv")
    assert "0 added, 0 there already, 1 rejected" in done.text
    assert "commas (2 columns) or by semicolons (2 columns)" in done.text
    _, done = send(boss, base, data, **fields)
    assert "1 added" in done.text
    assert queue.items("inbound")[0].payload == {"Betrag, netto": "1,5", "Kunde": "Müller"}
    assert look(boss, base, data, delimiter="colon").status_code == 400


@pytest.mark.parametrize(
    ("name", "header", "selected"), [("rows.csv", "id|text", "pipe"), ("rows.tsv", "id,text", "comma")]
)
def test_one_column_that_may_be_several_is_asked_about(
    boss: Browser, base: str, queue: leaseq.Queue, name: str, header: str, selected: str
) -> None:
    data = f"{header}\n1{header[2]}x\n".encode()
    seen = look(boss, base, data, name)
    assert "Choose what splits it" in seen.text
    assert 'id="go"' not in seen.text
    _, done = send(boss, base, data, name)
    assert "0 added, 0 there already, 1 rejected" in done.text
    assert "or by" in done.text
    assert "Choose what splits the columns." in done.text
    fields = chosen(look(boss, base, data, name, **{**chosen(seen), "delimiter": selected}))
    assert fields["column"] == ["id", "text"]
    assert "1 added" in send(boss, base, data, name, **fields)[1].text
    assert queue.get("1").payload == {"id": "1", "text": "x"}


def test_a_line_that_names_what_splits_is_passed_over(boss: Browser, base: str) -> None:
    seen = look(boss, base, b"sep=;\r\nid;text, raw\r\n1;x\r\n")
    assert 'value="semicolon" selected' in seen.text
    assert chosen(seen)["column"] == ["id", "text, raw"]
    assert "Choose what splits it" in look(boss, base, b"sep=:\nid:text\n1:x\n").text


def test_raw_text_keeps_its_quotes_and_the_page_says_so(
    boss: Browser, base: str, queue: leaseq.Queue
) -> None:
    data = corpus.table(['ham\t"one"', 'spam\t"two', "ham\tthree"])
    seen = look(boss, base, data, "sms.tsv")
    said = "Line 3: a field begins with a quote and does not end with it. So all quotes in the file are"
    assert said in seen.text
    assert "&#34;one&#34;" in seen.text
    fields = chosen(seen)
    assert fields["quotes"] == "auto"
    to, done = send(boss, base, data, "sms.tsv", **fields)
    assert "3 added, 0 there already, 0 rejected" in done.text
    assert said in done.text
    assert said in boss.get(to).text
    assert [item.payload["text"] for item in queue.items("inbound")] == ['"one"', '"two', "three"]


def test_fields_that_lose_their_quotes_are_counted_and_can_keep_them(
    boss: Browser, base: str, queue: leaseq.Queue
) -> None:
    data = corpus.table(['ham\t"one"', 'spam\t"two"'])
    said = "Quotes taken off: from 2 fields. To keep them, choose that double quotes are text."
    seen = look(boss, base, data, "sms.tsv")
    assert said in seen.text
    assert "further on" not in seen.text
    assert "further on leaves its quote open" in look(boss, base, data, "sms.tsv", whole="no").text
    assert said in send(boss, base, data, "sms.tsv", **chosen(seen))[1].text
    kept = look(boss, base, data, "sms.tsv", **{**chosen(seen), "quotes": "none"})
    assert said not in kept.text
    assert said not in send(boss, base, data, "sms.tsv", **chosen(kept))[1].text
    assert [item.payload["text"] for item in queue.items("inbound")] == ["one", "two", '"one"', '"two"']


def test_a_quote_that_joins_rows_or_is_left_open_is_told_with_what_to_choose(
    boss: Browser, base: str, queue: leaseq.Queue
) -> None:
    data = b'a,b\n1,"x\n2,y"\n3,"z\n4,z\n\n'
    seen = look(boss, base, data)
    assert "Line 4: a quote opens in this row and does not close (lines 4 to 6 are left out)" in seen.text
    to, done = send(boss, base, data, **chosen(seen))
    assert "1 added, 0 there already, 3 rejected" in done.text
    assert "closes in a later line: 1 (first: lines 2 to 3)" in done.text
    assert "Choose that double quotes are text." in boss.get(to).text
    assert "These are the first" not in done.text, "they are all there"
    reasons = list(csv.reader(io.StringIO(boss.get(f"{to}/rejected").text)))
    assert "Choose that double quotes are text." in reasons[1][1]
    again = look(boss, base, data, **{**chosen(seen), "quotes": "none"})
    assert "Blank lines passed over: 1." in again.text
    assert "4 added, 0 there already, 0 rejected" in send(boss, base, data, **chosen(again))[1].text
    assert look(boss, base, data, quotes="single").status_code == 400


def test_columns_stay_chosen_when_other_quotes_are_as_long_as_they_are_there(
    boss: Browser, base: str
) -> None:
    data = b'nr\t"text"\n1\tx\n'
    fields = {**chosen(look(boss, base, data, "rows.tsv")), "id": "nr", "column": ["nr"]}
    assert chosen(look(boss, base, data, "rows.tsv", **{**fields, "quotes": "none"}))["id"] == "nr"
    gone = look(boss, base, data, "rows.tsv", **{**fields, "column": ["text"], "quotes": "none"})
    assert html.unescape(" ".join(chosen(gone)["column"])) == 'nr "text"'
    assert "has no column" not in gone.text


def test_what_was_chosen_for_one_format_is_not_kept_for_another(boss: Browser, base: str) -> None:
    data = b"id\ttext\n1\ta,b\n"
    fields = chosen(look(boss, base, b"id,text\n1,2\n"))
    seen = look(boss, base, data, **{**fields, "format": "tsv"})
    assert 'value="tab" selected' in seen.text
    assert chosen(seen)["column"] == ["id", "text"]


@pytest.mark.parametrize(
    ("data", "name", "said"),
    [
        (b"a,b\n1,\xe4\n", "rows.csv", "Line 2: not UTF-8 text Save the file as UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "rows.csv", "this file is UTF-16 text: save it as UTF-8"),
        (b"a, x;b\n1;2\n", "rows.csv", "can be split in more than one way. Choose what splits it."),
        (b"a,b\n1\n", "rows.csv", "Line 2: the header has 2 columns, this row has 1"),
        (b"", "rows.csv", "the file is empty"),
        (b"[]", "rows.json", "There is no row in it"),
        (b"{", "rows.jsonl", "Line 1"),
    ],
)
def test_a_look_tells_what_is_wrong_with_a_file(
    boss: Browser, base: str, data: bytes, name: str, said: str
) -> None:
    assert said in look(boss, base, data, name).text


def test_a_look_at_the_beginning_of_a_long_file_finds_no_fault_with_its_cut(boss: Browser, base: str) -> None:
    for data, name in (
        (b'a,b\n1,2\n3,"4\n', "rows.csv"),
        (b'{"a": 1}\n{"a": ', "rows.jsonl"),
        (b'[{"a": 1}, {"a"', "rows.json"),
    ):
        answer = look(boss, base, data, name, whole="no")
        assert 'class="error"' not in answer.text
        assert ">a</th>" in answer.text


def test_a_look_sees_whole_items(boss: Browser, base: str) -> None:
    assert chosen(look(boss, base, b'{"payload": 1, "id": "x"}\n', "rows.jsonl"))["envelope"] == "yes"


def test_a_file_whose_name_tells_nothing_is_refused_until_its_format_is_said(
    boss: Browser, base: str
) -> None:
    assert look(boss, base, b"a\n1\n", "rows.xls").status_code == 400
    assert look(boss, base, b"a\n1\n", "rows.xls", format="csv").status_code == 200


def test_the_file_enters_as_chosen_and_again_adds_nothing_twice(
    boss: Browser, base: str, queue: leaseq.Queue
) -> None:
    choice = {"id": "id", "priority": "priority", "due": "due", "requires": "requires"}
    to, answer = send(boss, base, TABLE, chosen="yes", column=["text"], **choice)
    assert "2 added, 0 there already, 1 rejected" in answer.text
    item = queue.get("a")
    assert (item.payload, item.priority, item.requires) == ({"text": "one"}, 10, ("fr",))
    assert item.due == datetime(2026, 12, 1, tzinfo=UTC)
    page = boss.get(to).text
    assert "2 added, 0 there already, 1 rejected" in page
    assert "Line 4: priority" in page
    assert to in boss.get(base).text
    assert "0 added, 2 there already, 1 rejected" in send(boss, base, TABLE, **choice)[1].text
    assert queue.stats().inbound == 2


def test_a_file_is_taken_in_once_for_each_plan(boss: Browser, base: str, queue: leaseq.Queue) -> None:
    to, _ = send(boss, base, b"a\n1\n")
    assert stream(boss, base, to, b"a\n1\n").status_code == 400
    assert queue.stats().inbound == 1


def test_rejected_rows_are_downloaded_with_their_reasons(boss: Browser, base: str) -> None:
    table = b"id,text\n,no id\nb\nc,=1+1\n\xff,bad\n,=2+2\n"
    to, _ = send(boss, base, table, id="id")
    answer = boss.get(f"{to}/rejected")
    rows = list(csv.reader(io.StringIO(answer.text)))
    assert rows[0] == ["line", "reason", "id", "text"]
    assert [(row[0], row[2:]) for row in rows[1:]] == [
        ("2", ["", "no id"]),
        ("3", ["b"]),
        ("5", ["\ufffd", "bad"]),
        ("6", ["", "'=2+2"]),
    ]
    assert all(row[1] for row in rows)
    to, _ = send(boss, base, b'{"a": 1}\n{\n', "rows.jsonl", id="id")
    lines = [json.loads(line) for line in boss.get(f"{to}/rejected").text.splitlines()]
    assert [(line["line"], line["row"]) for line in lines] == [(1, {"a": 1}), (2, "{\n")]


class Cut(io.BytesIO):
    """A body whose sender goes away."""

    def readline(self, *_: Any) -> bytes:
        found = super().readline()
        if not found:
            raise ClientDisconnected
        return found


def test_what_a_broken_connection_left_is_told(
    boss: Browser, base: str, queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    from leaseq.webapp.serving.json_request import StrictRequest

    monkeypatch.setattr(
        StrictRequest, "byte_lines", lambda _: Cut(b"id\n" + b"".join(b"%d\n" % n for n in range(1500)))
    )
    to, answer = send(boss, base, b"", id="id")
    assert answer.status_code == 400
    page = boss.get(to).text
    assert "It stopped: the connection ended before the file did." in page
    assert "1,000 added" in page
    assert "not added twice" in page
    assert queue.stats().inbound == 1000


def test_an_import_that_fell_silent_is_told(
    boss: Browser, base: str, queue: leaseq.Queue, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from leaseq.webapp.manage.import_mapping import Plan

    runs = Runs(server.client)
    id = runs.plan(queue.name, "ann", Plan("rows.csv", "csv"))
    assert runs.begin(id)
    assert "Under way" in boss.get(f"{base}/{id}").text

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime.now(tz) + timedelta(minutes=2)

    monkeypatch.setattr(runs_module, "datetime", Later)
    assert "nothing was heard of it" in boss.get(f"{base}/{id}").text


def test_an_import_that_is_read_ahead_is_heard_of(
    boss: Browser, base: str, queue: leaseq.Queue, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from leaseq.webapp.serving.json_request import StrictRequest

    clock = [datetime.now(UTC)]
    states: list[bool] = []

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return clock[0].astimezone(tz)

    class Slow(io.BytesIO):
        """A body that takes its time: no row enters before its last line is here."""

        def readline(self, *_: Any) -> bytes:
            clock[0] += timedelta(seconds=25)
            (run,) = Runs(server.client).latest(queue.name)
            states.append(run.silent)
            return super().readline()

    monkeypatch.setattr(runs_module, "datetime", Clock)
    monkeypatch.setattr(StrictRequest, "byte_lines", lambda _: Slow(b"a\n" + b'"x"\n' * 5))
    _, answer = send(boss, base, b"", "rows.tsv")
    assert "5 added" in answer.text
    assert len(states) > 5
    assert not any(states)


def test_an_import_of_another_queue_is_none(boss: Browser, base: str, asking: leaseq.Queue) -> None:
    to, _ = send(boss, base, b"a\n1\n")
    id = to.rsplit("/", 1)[1]
    other = f"/manage/{asking.name}.x"
    leaseq.Queue(asking._client, f"{asking.name}.x").configure()
    for path in (f"{other}/import/{id}", f"{other}/import/{id}/rejected", f"{base}/nothing"):
        assert boss.get(path).status_code == 404
