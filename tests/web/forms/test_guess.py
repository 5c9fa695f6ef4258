"""A form guessed from payloads, and its warnings about fields that no item has."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest

import leaseq
from leaseq.form import check_form
from leaseq.webapp.forms.templates import MAX_FIELDS, guess_form, missing_fields
from tests.web.conftest import Browser
from tests.web.elements import form_fields
from tests.web.manage.settings_calls import base, save, settings_fields


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["My parcel is not here"], "text"),
        ([12, "13"], "text"),
        ([True], "text"),
        (["https://cdn.example.org/a.PNG?w=1", "https://cdn.example.org/b.jpg"], "image"),
        (["data:image/png;base64,AAAA"], "image"),
        (["https://cdn.example.org/a.png", "https://example.org/page"], "link"),
        (["https://cdn.example.org/call.mp3"], "audio"),
        (["https://cdn.example.org/call.mp4"], "video"),
        (["https://example.org/ and more"], "text"),
        (["https://example.org/", "none"], "text"),
        ([{"order": 12, "by": "post"}], "table"),
        ([[{"a": 1}, {"a": 2}]], "table"),
        ([[{"role": "user", "content": "Hi"}]], "chat"),
        ([[{"role": "user", "content": "Hi"}], [{"role": "user"}]], "table"),
        (["https://example.org/a.pdf", "https://example.org/b.PDF?w=1"], "pdf"),
        ([["https://cdn.example.org/a.png"], ["https://cdn.example.org/b.png"]], "images"),
        ([["https://cdn.example.org/a.png"], []], "json"),
        ([{"a": {"b": 1}}], "json"),
        ([["a", "b"]], "json"),
        ([{"order": 12}, "none"], "json"),
    ],
)
def test_guessed_kind_fits_all_values(values: list[Any], kind: str) -> None:
    form = guess_form([{"it": value} for value in values])
    assert form == {"show": [{"field": "it", "kind": kind, "label": "It"}]}
    check_form(form)


def test_guessed_fields_keep_order_and_have_readable_labels() -> None:
    form = guess_form(
        [{"first_name": "Ann", "empty": ""}, {"orderNumber": 3, "first_name": "Bob", "none": None}, "text"]
    )
    assert form == {
        "show": [
            {"field": "first_name", "kind": "text", "label": "First name"},
            {"field": "orderNumber", "kind": "text", "label": "Order Number"},
        ]
    }


@pytest.mark.parametrize("payloads", [[], ["text"], [{}], [None, 3]])
def test_payloads_without_fields_give_no_form(payloads: list[Any]) -> None:
    assert guess_form(payloads) is None


LABELS = ["refund", "delivery", "abuse"]


def test_guess_in_payload_becomes_prefilled_question() -> None:
    payloads: list[dict[str, Any]] = [
        {"text": f"letter {n}", "guess": {"label": LABELS[n % 3], "sure": 0.5}, "predicted_spam": n % 2 == 0}
        for n in range(12)
    ]
    form = guess_form(payloads)
    assert form is not None
    assert [field["field"] for field in form["show"]] == ["text", "guess"]
    assert form["ask"]["properties"] == {
        "label": {"title": "Label", "type": "string", "enum": sorted(LABELS)},
        "predicted_spam": {"title": "Spam", "type": "boolean"},
    }
    assert form["prefill"] == {"label": "guess.label", "predicted_spam": "predicted_spam"}
    check_form(form)
    for payload in payloads:
        del payload["guess"]["sure"]
    assert [field["field"] for field in (guess_form(payloads) or {})["show"]] == ["text"], (
        "the question shows it"
    )


@pytest.mark.parametrize(
    "payloads",
    [
        [{"text": "a", "country": LABELS[n % 3]} for n in range(12)],  # no guess
        [{"text": "a", "guess": {"label": f"l{n}"}} for n in range(12)],  # all different
        [{"text": "a", "guess": {"label": LABELS[n % 3]}} for n in range(9)],  # too few to guess from
        [{"text": "a", "guess": {"label": "refund"}} for n in range(12)],  # only one value
        [{"text": "a", "guess": {"label": n % 3}} for n in range(12)],
    ],
)
def test_values_unsuited_as_choice_become_no_question(payloads: list[Any]) -> None:
    form = guess_form(payloads)
    assert form is not None
    assert set(form) == {"show"}


@pytest.mark.parametrize(("length", "is_asked"), [(60, True), (61, False)])
def test_long_value_becomes_no_choice(length: int, is_asked: bool) -> None:
    payloads = [{"text": "a", "guess": {"label": "xy"[n % 2] * length}} for n in range(12)]
    assert ("ask" in (guess_form(payloads) or {})) == is_asked


def test_guesses_with_same_name_get_distinct_keys() -> None:
    payloads = [
        {"guess": {"label": LABELS[n % 3]}, "prediction": {"label": LABELS[n % 3]}} for n in range(12)
    ]
    form = guess_form(payloads)
    assert form is not None
    assert form["prefill"] == {"guess_label": "guess.label", "prediction_label": "prediction.label"}


def test_guessed_form_has_at_most_max_fields() -> None:
    form = guess_form([{f"f{n}": n for n in range(100)}])
    assert form is not None
    assert len(form["show"]) == MAX_FIELDS


def test_missing_fields_are_fields_in_no_payload() -> None:
    form = {"show": ["text", {"field": "scan", "kind": "image"}]}
    assert missing_fields(form, [{"text": 1}, {"order": 2}]) == ["scan"]
    assert missing_fields(form, [{"text": 1, "scan": None}]) == []
    assert missing_fields(form, []) == []
    assert missing_fields({"show": [{"field": "a", "kind": "diff", "with": "b"}]}, [{"a": "x"}]) == ["b"]
    assert missing_fields(None, [{}]) == []
    prefill_form = {"show": [], "prefill": {"a": "guess.a", "b": "guess.b"}}
    assert missing_fields(prefill_form, [{"guess": {"a": 1}}]) == ["guess.b"]


def test_manager_starts_form_from_items_without_saving(manager_browser: Browser, queue: leaseq.Queue) -> None:
    ask = {"type": "object", "properties": {"about": {"type": "string"}}}
    queue.configure(form={"show": ["old"], "ask": ask})
    queue.enqueue({"text": "My parcel is not here", "scan": "https://cdn.example.org/a.png"})
    assert "None of the searched items has: old." in html.unescape(manager_browser.get(base(queue)).text)
    fields = settings_fields(manager_browser, queue)
    asked = {**fields, "title": "Typed", "from": "items"}
    page = manager_browser.post(f"{base(queue)}/start", asked).text
    assert json.loads(form_fields(page, "settings")["form"])["show"] == ["old"], "it asks first"
    page = manager_browser.post(f"{base(queue)}/start", {**asked, "replace": "items"}).text
    new_fields = form_fields(page, "settings")
    assert json.loads(new_fields["form"])["show"] == [
        {"field": "text", "kind": "text", "label": "Text"},
        {"field": "scan", "kind": "image", "label": "Scan"},
    ]
    assert json.loads(new_fields["form"])["ask"] == ask, "the questions stay"
    assert new_fields["title"] == "Typed", "and so does what was typed"
    assert "None of the searched items has" not in page
    assert queue.policy.title == "", "nothing is saved yet"
    assert save(manager_browser, queue, new_fields).status_code == 303


def test_start_from_items_is_refused_if_queue_has_no_items(
    manager_browser: Browser, queue: leaseq.Queue
) -> None:
    queue.configure()
    assert "From the items" not in manager_browser.get(base(queue)).text
    response = manager_browser.post(
        f"{base(queue)}/start", {**settings_fields(manager_browser, queue), "from": "items"}
    )
    assert response.status_code == 400


def test_guess_in_items_becomes_question_if_queue_has_no_form(
    manager_browser: Browser, queue: leaseq.Queue
) -> None:
    queue.enqueue_many({"text": "a", "guess": {"label": LABELS[n % 3]}} for n in range(12))
    page = manager_browser.post(
        f"{base(queue)}/start", {**settings_fields(manager_browser, queue), "from": "items"}
    ).text
    form = json.loads(form_fields(page, "settings")["form"])
    assert form["prefill"] == {"label": "guess.label"}


def test_the_preview_steps_to_other_items(manager_browser: Browser, queue: leaseq.Queue) -> None:
    queue.configure(form={"show": ["text"]})
    queue.enqueue_many({"text": f"letter {n}"} for n in range(3))
    fields = settings_fields(manager_browser, queue)
    assert json.loads(fields["sample"]) == {"text": "letter 0"}
    preview_path, headers = f"{base(queue)}/preview", {"X-Leaseq-Fragment": "preview"}
    page = manager_browser.post(preview_path, {**fields, "title": "Typed", "item": "1"}).text
    new_fields = form_fields(page, "settings")
    assert (json.loads(new_fields["sample"]), new_fields["at"]) == ({"text": "letter 1"}, "1")
    assert new_fields["title"] == "Typed"
    assert "Item 2 of the first 3" in page
    part = manager_browser.client.post(preview_path, data={**new_fields, "item": "2"}, headers=headers).text
    assert re.findall(r'name="item" value="(\d+)"[^>]*?( disabled)?>', part) == [
        ("1", ""),
        ("3", " disabled"),
    ]
    assert "letter 2" in html.unescape(part.split("data-sample=")[1])
    last_page = manager_browser.post(preview_path, {**new_fields, "item": "3"}).text
    assert json.loads(form_fields(last_page, "settings")["sample"]) == {"text": "letter 1"}
