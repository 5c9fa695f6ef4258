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


@pytest.mark.parametrize(
    "question",
    [
        {"type": "string", "minLength": 5, "maxLength": 3},
        {"type": "number", "minimum": 5, "maximum": 3},
        {"type": "integer", "minimum": 5, "exclusiveMaximum": 3},
        {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 2},
        {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 3},
        {"type": "string", "enum": ["a", 1]},
        {"enum": ["a", "bbb"], "maxLength": 2},
        {"oneOf": [{"const": 1, "title": "Bank"}, {"const": 2, "title": "Bank"}]},
        {"enum": []},
    ],
)
def test_question_that_nobody_can_answer_gets_a_warning_at_its_line(
    app: Any, question: dict[str, Any]
) -> None:
    properties = {"fine": {"enum": ["", "a"]}, "x": question}
    text = json.dumps({"ask": {"type": "object", "properties": properties}}, indent=1)
    with app.test_request_context():
        checked_form = check_text(text)
    line = next(number for number, line in enumerate(text.split("\n"), 1) if line.strip().startswith('"x"'))
    assert checked_form.is_valid
    assert [finding.line for finding in checked_form.findings] == [line]
