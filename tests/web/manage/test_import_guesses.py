"""What the import page guesses from the names and values of columns, and says about values that don't fit."""

from __future__ import annotations

import html
import re
from typing import Any

import leaseq
from tests.web.conftest import Browser
from tests.web.manage.import_calls import chosen_fields, look, send

WIDE = ",".join(f"c{n}" for n in range(300)) + "\n" + ",".join(map(str, range(300))) + "\n"
SCRIPT = "<script>alert(1)</script>"

# (file, columns taken for a part, values that the notes name)
CASES: list[tuple[str, dict[str, str], list[str]]] = [
    ("priority,text\nHigh,a\nLow,b\n", {}, ["High"]),
    ("Prio,text\n1,a\n2,b\n", {"priority": "Prio"}, []),
    ("priority,text\n1e400,a\n", {}, ["1e400"]),
    ("priority,text\n=cmd(),a\n", {}, ["=cmd()"]),
    (f"priority,text\n{SCRIPT},a\n", {}, [SCRIPT]),
    ("priority,text\n-1,a\n", {}, ["-1"]),
    ("priority,text\n" + "".join(f"word {n},x\n" for n in range(13)), {}, ["word 0"]),
    ("due_date,text\n1900-01-01,a\n", {}, ["1900-01-01"]),
    ("due,text\n1900-02-30,a\n", {}, ["1900-02-30"]),
    ("Deadline,text\n31.12.2026,a\n", {"due": "Deadline"}, []),
    ("skills,text\nnobody-has-it,a\n", {}, ["nobody-has-it"]),
    ("id,text\n7,a\n7,b\n", {}, ["7"]),
    ("id,text\n,a\n7,b\n", {}, []),
    ("id,id\n1,2\n", {}, []),
    (",text\n1,a\n", {}, []),
    (",\n1,a\n", {}, []),
    ("7,High\n8,High\n", {}, ["7"]),
    ("a,High\nb,High\n", {}, ["High"]),
    ("2026-12-01,x\n2026-12-02,y\n", {}, ["2026-12-01"]),
    (WIDE, {}, []),
]


def notes_of(page: str) -> str:
    return html.unescape(" ".join(re.findall(r'<div class="note">(.*?)</div>', page, re.DOTALL)))


def test_columns_are_taken_for_parts_by_their_values(manager_browser: Browser, base: str) -> None:
    for data, taken, named in CASES:
        response = look(manager_browser, base, data.encode())
        assert response.status_code == 200, data
        fields = chosen_fields(response)
        roles = {role: fields[role] for role in ("id", "priority", "due", "requires") if fields.get(role)}
        assert roles == taken, data
        notes = notes_of(response.text)
        assert [value for value in named if f"“{value}”" not in notes] == [], data
        assert SCRIPT not in response.text
    assert len(fields["column"]) == 300


def test_words_for_priorities_become_numbers(
    manager_browser: Browser, base: str, queue: leaseq.Queue
) -> None:
    data = b"id,priority\na,HIGH\nb, low \nc,7\nd,\ne,Odd\n"
    chosen = {"priority": "priority", "layout": "csv comma None"}
    response = look(manager_browser, base, data, **chosen)
    assert re.findall(r"Line (\d)", response.text) == ["6"], "Odd has no number"
    fields = chosen_fields(response)
    assert {name: text for name, text in fields.items() if name.startswith("word.")} == {
        "word.HIGH": "30",
        "word.low": "200",
        "word.Odd": "",
    }
    many = "priority,x\n" + "".join(f"word {n},x\n" for n in range(13))
    page = look(manager_browser, base, many.encode(), **chosen).text
    assert 'name="word.' not in page
    assert "Line 2" in page
    for text, is_bad in (("x", True), ("-1", True), ("1000001", True), ("500", False)):
        fields["word.Odd"] = text
        response = look(manager_browser, base, data, **fields)
        assert chosen_fields(response)["word.Odd"] == text
        assert ("Line 6" in response.text) == is_bad, text
    fields["id"] = "id"
    assert "5 added" in send(manager_browser, base, data, **fields)[1].text
    assert {item.id: item.priority for item in queue.items("inbound")} == {
        "a": 30, "b": 200, "c": 7, "d": 100, "e": 500,
    }  # fmt: skip
    assert queue.get("a").payload["priority"] == "HIGH"


PROPOSALS: list[tuple[str, set[tuple[str, str]]]] = [  # (file, parts and columns that the notes propose)
    ("order_id,text\n1,a\n2,b\n", {("id", "order_id")}),
    ("order_id,text\n1,a\n1,b\n", set()),
    ("order_id,text\n1,a\n,b\n", set()),
    ("order,text\n1,a\n2,b\n", set()),
    ("urgency\nHigh\nlow\nhigh\n", {("priority", "urgency")}),
    ("urgency\nHigh\nlow\nodd\n", set()),
    ("urgency\nHigh\nHigh\n", set()),
    ("until\n2000-01-01\n2999-01-01\n", {("due", "until")}),
    ("until\n3/4/2999\n5/4/2999\n", {("due", "until")}),
    ("born\n2000-01-01\n1999-01-01\n", set()),
    ("a,b\n2999-01-01,2999-01-01\n", set()),
    ("priority\nHigh\nlow\nlow\n", {("priority", "priority")}),
]


def test_columns_are_proposed_by_their_values(manager_browser: Browser, base: str) -> None:
    for data, proposed in PROPOSALS:
        page = look(manager_browser, base, data.encode()).text
        found = re.findall(r'data-choose="role-(\w+)" data-column="([^"]*)"', page)
        assert sorted(found) == sorted(proposed), data
    doubted: dict[str, Any] = {"id": "text", "layout": "csv comma None"}
    assert "“a”" in notes_of(look(manager_browser, base, b"nr,text\n1,a\n2,a\n", **doubted).text)


def test_all_cells_can_stay_text(manager_browser: Browser, base: str, queue: leaseq.Queue) -> None:
    data = b'n,ok,list\n5,true,"[1]"\n6,false,"[2]"\n'
    for raw, payload in (
        ({}, {"n": 5, "ok": True, "list": [1]}),
        ({"raw_cells": "yes"}, {"n": "5", "ok": "true", "list": "[1]"}),
    ):
        fields = chosen_fields(look(manager_browser, base, data, **raw))
        assert "2 added" in send(manager_browser, base, data, **fields)[1].text
        assert list(queue.items("inbound"))[-2].payload == payload
