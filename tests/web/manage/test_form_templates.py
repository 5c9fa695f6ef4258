"""The form templates: filled in on the settings page, and used up to a finished item."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import leaseq
from leaseq.webapp.forms.templates import form_templates
from tests.web.conftest import Browser
from tests.web.elements import form_fields
from tests.web.manage.settings_calls import base, save, settings_fields
from tests.web.work_pages import path, send, take

NAMES = [
    "yes-no", "choose-one", "tag", "transcribe", "compare", "check-record", "read-order",
]  # fmt: skip

ANSWERS: dict[str, tuple[dict[str, Any], Any]] = {
    "yes-no": ({"answer.ok": "false"}, {"ok": False}),
    "choose-one": ({"answer.about": "Refund", "answer.note": "x"}, {"about": "Refund", "note": "x"}),
    "tag": ({"answer.tags": ["Idea", "Praise"]}, {"tags": ["Praise", "Idea"]}),
    "transcribe": ({"answer.text": "Meet me"}, {"text": "Meet me"}),
    "compare": ({"answer.better": "b"}, {"better": "b"}),
    "check-record": (
        {
            "answer.name.right": "true",
            "answer.street.right": "false",
            "answer.street.correction": "12 St James's Square",
            "answer.city.right": "false",
        },
        {
            "name": {"right": True},
            "street": {"right": False, "correction": "12 St James's Square"},
            "city": {"right": False},
        },
    ),
    "read-order": (
        {
            "answer.articles.0.article": "Filter",
            "answer.articles.0.pieces": "3",
            "answer.who.0.start": "35",
            "answer.who.0.end": "47",
            "answer.who.0.label": "Name",
            "answer.topic": "Kitchen / Coffee",
            "answer.clear": "5",
        },
        {
            "articles": [{"article": "Filter", "pieces": 3}],
            "who": [{"start": 35, "end": 47, "label": "Name", "text": "Ada Lovelace"}],
            "topic": "Kitchen / Coffee",
            "clear": 5,
        },
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_form_template_is_saved_and_used_to_finish_item(
    manager_browser: Browser, worker_browser: Browser, queue: leaseq.Queue, name: str
) -> None:
    queue.configure()
    page = manager_browser.post(
        f"{base(queue)}/start", {**settings_fields(manager_browser, queue), "title": "Typed", "from": name}
    )
    fields = form_fields(page.text, "settings")
    assert fields["title"] == "Typed"
    assert fields["instructions"]
    assert queue.policy == leaseq.Policy()
    assert 'class="error"' not in page.text
    assert save(manager_browser, queue, fields).status_code == 303
    queue.enqueue(json.loads(fields["sample"]), id="one")
    lease = take(queue, worker_browser)
    assert "<img" in worker_browser.get(path(queue)).text or name != "transcribe"
    answer, result = ANSWERS[name]
    response = send(queue, worker_browser, lease, "finish", **answer)
    assert response.status_code == 303
    assert queue.get("one").answers[0].result == result


def test_form_template_keeps_typed_instructions(manager_browser: Browser, form_queue: leaseq.Queue) -> None:
    fields = {**settings_fields(manager_browser, form_queue), "instructions": "My own", "replace": "tag"}
    page = manager_browser.post(f"{base(form_queue)}/start", fields).text
    assert form_fields(page, "settings")["instructions"] == "My own"
    assert (
        manager_browser.post(f"{base(form_queue)}/start", {**fields, "replace": "no such"}).status_code == 400
    )


def test_form_template_replaces_a_form_only_if_confirmed(
    manager_browser: Browser, form_queue: leaseq.Queue
) -> None:
    form_queue.enqueue({"text": "Hello", "colour": "red"})
    typed = json.dumps({"ask": {"type": "object", "properties": {"mine": {"type": "boolean"}}}})
    fields = {**settings_fields(manager_browser, form_queue), "form": typed}
    for name in ("tag", "items"):
        page = manager_browser.post(f"{base(form_queue)}/start", {**fields, "from": name}).text
        assert form_fields(page, "settings")["form"] == typed
        assert f'name="replace" value="{name}"' in page
        page = manager_browser.post(f"{base(form_queue)}/start", {**fields, "replace": name}).text
        form = json.loads(form_fields(page, "settings")["form"])
        assert form["show"]
        assert list(form["ask"]["properties"]) == (["mine"] if name == "items" else ["tags"])
    assert form_queue.policy.form != form


def test_each_choice_in_form_templates_has_title(app: Any) -> None:
    with app.test_request_context():
        choices = [choice for one in form_templates() for choice in _choices(one.form)]
    assert choices
    assert [choice for choice in choices if not choice.get("title")] == []


def _choices(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if "const" in schema:
            yield schema
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from _choices(part)


def test_all_form_templates_are_tested(app: Any) -> None:
    with app.test_request_context():
        assert [one.name for one in form_templates()] == NAMES
