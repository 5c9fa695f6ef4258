"""The linter of a form's JSON: errors with their lines, and warnings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from leaseq.webapp.forms.linter import check_text
from tests.web.conftest import FORM


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{\n  "show": ["a"],\n}', 2, "comma before the closing bracket"),
        ('{\n  "show": ["a"]\n  "ask": {}\n}', 2, "comma or a colon is missing"),
        ('{\n  "show": ["a"', 2, "ends too early"),
        ("{'show': []}", 1, "double quotes"),
        ('{\n "shows": []\n}', 2, "Did you mean 'show'?"),
        ('{"show": [\n  "a",\n  {"field": "b", "kind": "picture"}]}', 3, "one of text, markdown"),
        ('{"show": [\n  {"feld": "b"}]}', 2, '"field"'),
        ('{"ask": {\n "type": "object",\n "properties": {\n  "a": {\n   "type": "strng"}}}}', 5, "'string'"),
        ('{"ask": {\n "properties": {}}}', 1, '"type": "object"'),
        ('{\n "ask": {"type": "object", "$schema": "urn:of-nobody"}}', 2, "urn:of-nobody"),
        ('{"keys": {\n"ab": 1}}', 2, "one character"),
        ("[1]", 1, "is an object"),
        ('{"show": [], "show": []}', 0, "twice"),
        ('{"show": [\n  with-no-quotes]}', 2, "This is not JSON: Expecting value at 'with-no-quot'."),
    ],
)
def test_form_error_is_reported_with_its_line(app: Any, text: str, line: int, message: str) -> None:
    with app.test_request_context():
        checked_form = check_text(text)
    assert not checked_form.is_valid
    assert checked_form.findings[0].line == line
    assert message in checked_form.findings[0].text


def test_suspicious_form_gets_warnings_and_is_valid(app: Any) -> None:
    text = """{"ask": {"type": "object",
      "required": ["abuot"],
      "properties": {"about": {"enum": ["a", "b"]}}},
      "keys": {"x": "a",
               "y": "c"}}"""
    with app.test_request_context():
        checked_form = check_text(text)
        assert check_text(json.dumps(FORM)).findings == ()
    assert checked_form.is_valid
    assert [finding.line for finding in checked_form.findings] == [2, 5]
