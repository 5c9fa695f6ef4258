"""The preview of a file before its import: what the page shows, guesses, asks and warns about."""

from __future__ import annotations

import csv
import html
import io
import re
from datetime import UTC, timedelta
from typing import Any

import pytest

import leaseq
from tests.transfer import corpus
from tests.web.conftest import Browser
from tests.web.manage.import_calls import TABLE, chosen_fields, look, send, stream


def test_preview_shows_rows_guesses_columns_and_reports_errors(
    manager_browser: Browser, base: str, queue: leaseq.Queue
) -> None:
    response = look(manager_browser, base, TABLE)
    fields = chosen_fields(response)
    assert {role: fields[role] for role in ("id", "priority", "due", "requires")} == {
        "id": "id",
        "priority": "",  # its values don't fit
        "due": "due",
        "requires": "",
    }
    assert fields["column"] == ["id", "text", "priority", "due", "requires"]
    assert "three" in response.text
    chosen = look(manager_browser, base, TABLE, **{**fields, "priority": "priority", "word.high": ""})
    assert "Line 4: priority: expected a whole number" in chosen.text
    second_response = look(manager_browser, base, TABLE, **{**fields, "priority": ""})
    assert "Line 4" not in second_response.text
    assert chosen_fields(second_response)["priority"] == ""
    assert queue.stats().inbound == 0


@pytest.mark.parametrize(("mark", "name"), [(",", "comma"), (";", "semicolon"), ("\t", "tab")])
def test_separator_is_detected_from_header_and_can_be_changed(
    manager_browser: Browser, base: str, queue: leaseq.Queue, mark: str, name: str
) -> None:
    data = "\ufeffid;text\r\n1;a, b\r\n".replace(";", mark).encode()
    if mark == ",":
        data = b'id,"text; more"\n1,"a, b"\n'
    preview = look(manager_browser, base, data)
    assert f'value="{name}" selected' in preview.text
    fields = chosen_fields(preview)
    assert fields["id"] == "id"
    wrong_preview = look(
        manager_browser, base, data, **{**fields, "delimiter": "tab" if name == "comma" else "comma"}
    )
    assert chosen_fields(wrong_preview)["column"] != fields["column"], (
        "the columns that were chosen before mean nothing now"
    )
    assert "has no column" not in wrong_preview.text
    assert "choose" not in preview.text
    _, response = send(manager_browser, base, data, **fields)
    assert "1 added" in response.text
    text = "a, b"
    assert list(queue.get("1").payload.values()) == ["1", text]


def test_ambiguous_separator_must_be_chosen(manager_browser: Browser, base: str, queue: leaseq.Queue) -> None:
    data = "Betrag, netto;Kunde\n1,5;Müller\n".encode()
    preview = look(manager_browser, base, data)
    assert "Choose the separator" in preview.text
    assert 'id="import-button"' not in preview.text
    fields = chosen_fields(
        look(manager_browser, base, data, **{**chosen_fields(preview), "delimiter": "semicolon"})
    )
    assert fields["column"] == ["Betrag, netto", "Kunde"]
    _, response = send(manager_browser, base, data, name="rows.csv")
    assert "0 added, 0 duplicates, 1 skipped" in response.text
    assert "commas (2), semicolons (2)" in response.text
    _, response = send(manager_browser, base, data, **fields)
    assert "1 added" in response.text
    assert queue.items("inbound")[0].payload == {"Betrag, netto": "1,5", "Kunde": "Müller"}
    assert look(manager_browser, base, data, delimiter="colon").status_code == 400


@pytest.mark.parametrize(
    ("name", "header", "selected"), [("rows.csv", "id|text", "pipe"), ("rows.tsv", "id,text", "comma")]
)
def test_separator_of_single_column_file_must_be_chosen(
    manager_browser: Browser, base: str, queue: leaseq.Queue, name: str, header: str, selected: str
) -> None:
    data = f"{header}\n1{header[2]}x\n".encode()
    preview = look(manager_browser, base, data, name)
    assert "Choose the separator" in preview.text
    assert 'id="import-button"' not in preview.text
    _, response = send(manager_browser, base, data, name)
    assert "0 added, 0 duplicates, 1 skipped" in response.text
    assert "these numbers of columns" in response.text
    assert "Choose the column separator." in response.text
    fields = chosen_fields(
        look(manager_browser, base, data, name, **{**chosen_fields(preview), "delimiter": selected})
    )
    assert fields["column"] == ["id", "text"]
    assert "1 added" in send(manager_browser, base, data, name, **fields)[1].text
    assert queue.get("1").payload == {"id": "1", "text": "x"}


def test_sep_line_sets_separator_and_is_skipped(manager_browser: Browser, base: str) -> None:
    preview = look(manager_browser, base, b"sep=;\r\nid;text, raw\r\n1;x\r\n")
    assert 'value="semicolon" selected' in preview.text
    assert chosen_fields(preview)["column"] == ["id", "text, raw"]
    assert "Choose the separator" in look(manager_browser, base, b"sep=:\nid:text\n1:x\n").text


def test_unbalanced_quotes_are_kept_with_warning(
    manager_browser: Browser, base: str, queue: leaseq.Queue
) -> None:
    data = corpus.table(['ham\t"one"', 'spam\t"two', "ham\tthree"])
    preview = look(manager_browser, base, data, "sms.tsv")
    warning = "Line 3: a field begins with a quote and does not end with one, so all quotes in the file are"
    assert warning in preview.text
    assert "&#34;one&#34;" in preview.text
    fields = chosen_fields(preview)
    assert fields["quotes"] == "auto"
    url, response = send(manager_browser, base, data, "sms.tsv", **fields)
    assert "3 added, 0 duplicates, 0 skipped" in response.text
    assert warning in response.text
    assert warning in manager_browser.get(url).text
    assert [item.payload["text"] for item in queue.items("inbound")] == ['"one"', '"two', "three"]


def test_removed_quotes_are_counted_and_can_be_kept(
    manager_browser: Browser, base: str, queue: leaseq.Queue
) -> None:
    data = corpus.table(['ham\t"one"', 'spam\t"two"'])
    warning = "Quotes were removed from 2 fields. To keep them, choose “Text” for double quotes."
    preview = look(manager_browser, base, data, "sms.tsv")
    assert warning in preview.text
    assert "further on" not in preview.text
    assert (
        "later field does not close its quote"
        in look(manager_browser, base, data, "sms.tsv", whole="no").text
    )
    assert warning in send(manager_browser, base, data, "sms.tsv", **chosen_fields(preview))[1].text
    text_preview = look(
        manager_browser, base, data, "sms.tsv", **{**chosen_fields(preview), "quotes": "none"}
    )
    assert warning not in text_preview.text
    assert warning not in send(manager_browser, base, data, "sms.tsv", **chosen_fields(text_preview))[1].text
    assert [item.payload["text"] for item in queue.items("inbound")] == ["one", "two", '"one"', '"two"']


def test_quoted_line_breaks_and_open_quotes_are_reported_with_advice(
    manager_browser: Browser, base: str, queue: leaseq.Queue
) -> None:
    data = b'a,b\n1,"x\n2,y"\n3,"z\n4,z\n\n'
    preview = look(manager_browser, base, data)
    assert "Line 4: a quote opens in this row and does not close (lines 4 to 6 are left out)" in preview.text
    url, response = send(manager_browser, base, data, **chosen_fields(preview))
    assert "1 added, 0 duplicates, 3 skipped" in response.text
    assert "of a quoted line break: 1 (first: lines 2 to 3)" in response.text
    assert "Choose “Text” for double quotes." in manager_browser.get(url).text
    assert "These are the first" not in response.text, "they are all shown"
    reasons = list(csv.reader(io.StringIO(manager_browser.get(f"{url}/rejected").text)))
    assert "Choose “Text” for double quotes." in reasons[1][1]
    second_preview = look(manager_browser, base, data, **{**chosen_fields(preview), "quotes": "none"})
    assert "Empty lines skipped: 1." in second_preview.text
    assert (
        "4 added, 0 duplicates, 0 skipped"
        in send(manager_browser, base, data, **chosen_fields(second_preview))[1].text
    )
    assert look(manager_browser, base, data, quotes="single").status_code == 400


def test_chosen_columns_are_kept_after_quote_change_if_present(manager_browser: Browser, base: str) -> None:
    data = b'nr\t"text"\n1\tx\n'
    fields = {**chosen_fields(look(manager_browser, base, data, "rows.tsv")), "id": "nr", "column": ["nr"]}
    assert (
        chosen_fields(look(manager_browser, base, data, "rows.tsv", **{**fields, "quotes": "none"}))["id"]
        == "nr"
    )
    preview = look(
        manager_browser, base, data, "rows.tsv", **{**fields, "column": ["text"], "quotes": "none"}
    )
    assert html.unescape(" ".join(chosen_fields(preview)["column"])) == 'nr "text"'
    assert "has no column" not in preview.text


def test_choices_for_one_format_are_dropped_for_another(manager_browser: Browser, base: str) -> None:
    data = b"id\ttext\n1\ta,b\n"
    fields = chosen_fields(look(manager_browser, base, b"id,text\n1,2\n"))
    preview = look(manager_browser, base, data, **{**fields, "format": "tsv"})
    assert 'value="tab" selected' in preview.text
    assert chosen_fields(preview)["column"] == ["id", "text"]


@pytest.mark.parametrize(
    ("data", "name", "message"),
    [
        (b"a,b\n1,\xe4\n", "rows.csv", "Line 2: not UTF-8 text. Choose the encoding."),
        ("a,b\n1,2\n".encode("utf-16"), "rows.csv", "1 row can be imported."),
        (b"a, x;b\n1;2\n", "rows.csv", "can be split in more than one way. Choose the separator."),
        (
            b"a,b\n1\n",
            "rows.csv",
            "Line 2: expected as many columns as the header has (2), got 1 (separated by commas)",
        ),
        (b"", "rows.csv", "the file is empty"),
        (b"[]", "rows.json", "The file has no rows"),
        (b"{", "rows.jsonl", "Line 1"),
    ],
)
def test_preview_reports_error_in_file(
    manager_browser: Browser, base: str, data: bytes, name: str, message: str
) -> None:
    assert message in look(manager_browser, base, data, name).text


def test_preview_of_partial_file_ignores_truncated_end(manager_browser: Browser, base: str) -> None:
    for data, name in (
        (b'a,b\n1,2\n3,"4\n', "rows.csv"),
        (b'{"a": 1}\n{"a": ', "rows.jsonl"),
        (b'[{"a": 1}, {"a"', "rows.json"),
    ):
        response = look(manager_browser, base, data, name, whole="no")
        assert 'class="error"' not in response.text
        assert ">a</th>" in response.text


def test_preview_detects_envelope(manager_browser: Browser, base: str) -> None:
    assert (
        chosen_fields(look(manager_browser, base, b'{"payload": 1, "id": "x"}\n', "rows.jsonl"))["envelope"]
        == "yes"
    )


def test_preview_checks_small_file_completely(
    manager_browser: Browser, base: str, queue: leaseq.Queue
) -> None:
    data = "id,n\n" + "".join(f"r{n},{n if n % 2 else 'odd'}\n" for n in range(500))
    fields = chosen_fields(look(manager_browser, base, data.encode()))
    page = html.unescape(look(manager_browser, base, data.encode(), **{**fields, "priority": "n"}).text)
    assert "250 rows can be imported." in page
    assert "250 rows have an error and will be skipped:" in page
    assert page.count("<li>Line ") == 100
    assert "These are the first 100 of 250." in page
    assert "Import 250 rows</button>" in page
    assert queue.stats().inbound == 0


def test_import_of_large_file_is_offered_after_check(
    manager_browser: Browser, base: str, queue: leaseq.Queue
) -> None:
    page = look(manager_browser, base, b"id,n\n1,2\n3", whole="no").text
    assert "Check the whole file</button>" in page
    assert 'id="import-button"' not in page
    plan = manager_browser.post(f"{base}/jobs", {"name": "rows.csv", "priority": "n"}, page=base).json
    response = stream(manager_browser, base, plan["check"], b"id,n\n1,2\n3,x\n")
    assert "Line 3: n: expected a whole number" in response.text
    assert "Import 1 row</button>" in response.text
    assert queue.stats().inbound == 0
    assert plan["to"] not in manager_browser.get(base).text
    assert (
        "1 added, 0 duplicates, 1 skipped"
        in stream(manager_browser, base, plan["to"], b"id,n\n1,2\n3,x\n").text
    )


def test_import_is_not_offered_without_valid_rows(manager_browser: Browser, base: str) -> None:
    page = look(manager_browser, base, b"id,n\n,1\n", id="id", layout="csv comma None").text
    assert "No row can be imported." in page
    assert 'id="import-button"' not in page


def test_preview_pages_through_rows(manager_browser: Browser, base: str) -> None:
    data = ("text\n" + "".join(f"row {n}\n" for n in range(12))).encode()
    page = look(manager_browser, base, data, start="5").text
    assert re.findall(r">(row \d+)<", page) == [f"row {n}" for n in range(5, 10)]
    assert "6 to 10 of 12." in page
    assert re.findall(r'data-start="(-?\d+)"( disabled)?', page) == [("0", ""), ("10", "")]
    page = look(manager_browser, base, data, start="99").text
    assert re.findall(r">(row \d+)<", page) == ["row 10", "row 11"]
    assert 'data-start="15" disabled' in page
    page = look(manager_browser, base, "\n".join(data.decode().split("\n")[:11]).encode(), start="10").text
    assert re.findall(r">(row \d+)<", page) == [f"row {n}" for n in range(5, 10)], "there is no third page"


def roles(response: Any) -> dict[str, str]:
    fields = chosen_fields(response)
    return {role: fields[role] for role in ("id", "priority", "due", "requires") if fields.get(role)}


@pytest.mark.parametrize(
    ("data", "taken"),
    [
        (b"id,text,priority,due\n1,a,High,31/12/2026\n2,b,Low,12/31/2026\n", {"id": "id"}),
        (b"id,text,requires\n1,a,Driver licence\n2,b,None needed\n", {"id": "id"}),
        (b"id,text\n7,first version\n7,another text with the same id\n", {}),
        (b"id,due\n1,31/12/2026\n2,1/2/2026\n", {"id": "id", "due": "due"}),
        (b"priority,due\n1,2026-12-01\n,\n", {"priority": "priority", "due": "due"}),
    ],
)
def test_column_is_taken_for_a_part_only_if_its_values_fit(
    manager_browser: Browser, base: str, data: bytes, taken: dict[str, str]
) -> None:
    response = look(manager_browser, base, data)
    assert roles(response) == taken
    assert "No row has an error." in response.text


def test_order_of_ambiguous_dates_is_asked(manager_browser: Browser, base: str, queue: leaseq.Queue) -> None:
    data = b"id,due\n1,3/4/2031\n"
    fields = chosen_fields(look(manager_browser, base, data))
    assert (fields["due"], fields["dates"]) == ("due", "")
    assert 'id="import-button"' not in look(manager_browser, base, data, **fields).text
    send(manager_browser, base, data, **{**fields, "dates": "day-first"})
    due = queue.get("1").due
    assert due is not None
    assert due.astimezone(UTC).month in (3, 4)
    assert (due + timedelta(hours=14)).month == 4


def test_title_encoding_and_missing_header_are_chosen_on_the_page(
    manager_browser: Browser, base: str, queue: leaseq.Queue
) -> None:
    titled = b"My sites,\n,\ncity,site\nA,x\n"
    fields = chosen_fields(look(manager_browser, base, titled))
    assert fields["column"] == ["city", "site"]
    assert "1 added" in send(manager_browser, base, titled, **fields)[1].text
    plain = {"header_line": "0"}
    fields = chosen_fields(look(manager_browser, base, b"B,y\n", **plain))
    assert fields["column"] == ["column_1", "column_2"]
    assert "1 added" in send(manager_browser, base, b"B,y\n", **{**fields, **plain})[1].text
    cp1252 = "city,site\nCafé,z\n".encode("cp1252")
    assert "Choose the encoding." in look(manager_browser, base, cp1252).text
    assert "1 added" in send(manager_browser, base, cp1252, encoding="cp1252")[1].text
    assert look(manager_browser, base, cp1252, encoding="klingon").status_code == 400
    assert [item.payload for item in queue.items("inbound")] == [
        {"city": "A", "site": "x"},
        {"column_1": "B", "column_2": "y"},
        {"city": "Café", "site": "z"},
    ]


def test_cells_of_each_column_are_text_or_values(
    manager_browser: Browser, base: str, queue: leaseq.Queue
) -> None:
    data = b"n,ok\n1,True\n"
    assert "1 added" in send(manager_browser, base, data)[1].text
    assert "1 added" in send(manager_browser, base, data, cells=["text n", ""])[1].text
    assert "0 added" in send(manager_browser, base, b"n,ok\nx,True\n", cells=["value n", ""])[1].text
    assert [item.payload for item in queue.items("inbound")] == [{"n": 1, "ok": True}, {"n": "1", "ok": True}]


def test_preview_shows_the_cells_as_they_were_chosen(manager_browser: Browser, base: str) -> None:
    data = b'n,list,ok\n1,"[1,2]",True\n2,"[3]",false\n'

    def cells(*choices: str) -> list[str]:
        preview = look(manager_browser, base, data, cells=list(choices), layout="csv comma None")
        return [
            html.unescape(cell) for cell in re.findall(r'<td class="cell">(.*?)</td>', preview.text, re.S)
        ]

    assert cells("text list", "text ok")[1:3] == ["[1,2]", "True"]
    assert cells()[2] == "true"
    assert cells()[1] != "[1,2]"
    assert cells("value list", "text ok")[1:3] == [cells()[1], "True"]


def test_preview_shows_rows_that_do_not_have_the_chosen_values(manager_browser: Browser, base: str) -> None:
    data = b"n,m\nx,1\n2,2\n"
    preview = look(manager_browser, base, data, cells=["value n"], layout="csv comma None")
    assert re.findall(r'<td class="cell">(.*?)</td>', preview.text) == ["x", "1", "2", "2"]
    assert "Line 2: " in preview.text


def test_conflicts_are_listed_and_can_be_downloaded(
    manager_browser: Browser, base: str, queue: leaseq.Queue
) -> None:
    data = b"id,text\n7,first version\n7,another text with the same id\n8,x\n"
    url, response = send(manager_browser, base, data, id="id")
    assert "2 added, 0 duplicates, 0 skipped" in response.text
    assert "Line 3: " in response.text
    (header, row) = csv.reader(io.StringIO(manager_browser.get(f"{url}/rejected").text))
    assert header == ["line", "reason", "id", "text"]
    assert (row[0], row[2:]) == ("3", ["7", "another text with the same id"])


def test_header_line_is_detected_again_after_a_chosen_one(manager_browser: Browser, base: str) -> None:
    data = b"My sites,\n,\ncity,site\nA,x\nB,y\n"
    fields = chosen_fields(look(manager_browser, base, data, header_line="4"))
    assert fields["column"] == ["A", "x"]
    response = look(manager_browser, base, data, **fields, header_line="")
    assert chosen_fields(response)["column"] == ["city", "site"]


def notes(page: str) -> list[str]:
    """The notes above the choice of columns."""
    block = re.search(r'<div class="note">(.*?)</div>', page, re.DOTALL)
    return re.findall(r"<p>(.*?)</p>", block[1]) if block else []


@pytest.mark.parametrize(
    ("data", "is_noted"),
    [
        (b"1,hello,3.5\n2,bye,4.5\n", True),
        (b"id,hello,-3\n2,bye,4.5\n", True),
        (b"name,2019,2020\na,1,2\n", False),  # years are names of columns
        (b"id,text,q3\n1,a,2\n", False),
    ],
)
def test_first_line_with_a_number_is_noted_as_perhaps_no_header(
    manager_browser: Browser, base: str, data: bytes, is_noted: bool
) -> None:
    assert bool(notes(look(manager_browser, base, data).text)) == is_noted
    assert notes(look(manager_browser, base, data, header_line="0").text) == []
    assert notes(look(manager_browser, base, data, header_line="1").text) == []


def test_open_order_of_dates_is_noted_until_it_is_chosen(manager_browser: Browser, base: str) -> None:
    data = b"id,due\na,3/4/2031\n"
    response = look(manager_browser, base, data)
    (note,) = notes(response.text)
    assert "3/4/2026" in note
    fields = {**chosen_fields(response), "dates": "day-first"}
    assert notes(look(manager_browser, base, data, **fields).text) == []


def test_conflict_is_explained_in_the_language_of_the_page(
    manager_browser: Browser, base: str, queue: leaseq.Queue
) -> None:
    queue.enqueue({"id": "7", "text": "first version"}, id="7")
    url, _ = send(manager_browser, base, b"id,text\n7,another text\n", id="id")
    page = manager_browser.get(f"{url}/rejected").text
    assert "„7“" not in page
    manager_browser.client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "de"
    url, response = send(manager_browser, base, b"id,text\n7,another text\n", id="id")
    assert "„7“" in response.text
    assert "„7“" in manager_browser.get(f"{url}/rejected").text


def test_notes_stay_until_the_column_is_chosen(manager_browser: Browser, base: str) -> None:
    data = b"Title,,\nid,text,priority\n1,a,High\n"
    fields = chosen_fields(look(manager_browser, base, data))
    page = look(manager_browser, base, data, **{**fields, "id": ""}).text
    assert "line 2" in page
    assert "not taken for the priority" in page
    fields["priority"] = "priority"
    assert "not taken for the priority" not in look(manager_browser, base, data, **fields).text
