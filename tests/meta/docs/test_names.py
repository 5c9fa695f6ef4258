"""docs/rest.md names every call and error code, and the form example of docs/forms.md is valid."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from leaseq import form
from leaseq.webapp.api import Problem
from leaseq.webapp.forms.fields import fields_of
from leaseq.webapp.serving.problem import MEANINGS

DOCS = Path(__file__).parents[3] / "docs"


def test_rest_md_names_every_call_and_only_those(app: Any) -> None:
    text = (DOCS / "rest.md").read_text()
    page_calls = set(
        re.findall(r"`(GET|PUT|POST|PATCH|DELETE) (/(?!api/|healthz|readyz|metrics|items/)[a-z][^`?]*)", text)
    )
    document = app.test_client().get("/api/v1/openapi.json").json["paths"]
    api_calls = {
        (method.upper(), path.removeprefix("/api/v1")) for path, item in document.items() for method in item
    }
    assert page_calls == api_calls


def test_rest_md_names_every_error_code() -> None:
    text = (DOCS / "rest.md").read_text()
    rows = re.findall(r"^\| \d{3} \| `([a-z-]+)` \|.*\| ([^|]*)\|$", text, re.MULTILINE)
    assert {code for code, _ in rows} == set(MEANINGS)
    members = {name for _, members in rows for name in re.findall(r"`(\w+)`", members)}
    assert {"field", "errors", "answer_kept"} <= members <= set(Problem.model_fields)


def test_form_example_of_forms_md_is_valid() -> None:
    blocks = re.findall(r"```json\n(.*?)```", (DOCS / "forms.md").read_text(), re.DOTALL)
    example, *parts = map(json.loads, blocks)
    form.check_form(example)
    for part in parts:
        if "show" in part:
            form.check_form(part)
        elif all(isinstance(value, dict) and "type" in value for value in part.values()):  # questions
            asked = {"ask": {"type": "object", "properties": part}}
            form.check_form(asked)
            assert all(field.kind != "json" for field in fields_of(asked))
    keys = {choice.key for field in fields_of(example) for choice in field.choices}
    assert keys >= set(example["keys"])
