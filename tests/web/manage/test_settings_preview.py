"""The preview of the form on the settings page."""

from __future__ import annotations

import json

import leaseq
from tests.web.conftest import Browser
from tests.web.elements import form_fields
from tests.web.manage.settings_calls import base, settings_fields

FRAGMENT = {"X-Leaseq-Fragment": "preview"}


def test_preview_shows_typed_form_and_saves_nothing(
    manager_browser: Browser, form_queue: leaseq.Queue
) -> None:
    before = form_queue.policy
    form = {"show": ["text"], "ask": {"type": "object", "properties": {"mood": {"enum": ["glad", "sad"]}}}}
    fields = settings_fields(manager_browser, form_queue) | {
        "form": json.dumps(form),
        "instructions": "Be **bold**",
    }
    assert "My parcel is not here" in fields["sample"]  # a waiting item
    fragment = manager_browser.post(f"{base(form_queue)}/preview", fields, headers=FRAGMENT).text
    for text in ("My parcel is not here", "glad", "<kbd", "<strong>bold</strong>"):
        assert text in fragment
    assert "<html" not in fragment
    page = manager_browser.post(f"{base(form_queue)}/preview", fields).text
    assert "<html" in page
    assert form_fields(page, "settings")["form"] == json.dumps(form)
    assert form_queue.policy == before
    inert_piece = manager_browser.post(
        f"{base(form_queue)}/preview",
        {**fields, "sample": '{"text": "<script>x</script>"}'},
        headers=FRAGMENT,
    )
    assert "<script>" not in inert_piece.text
    broken_piece = manager_browser.post(
        f"{base(form_queue)}/preview", {**fields, "form": '{"show": ["text"],}'}, headers=FRAGMENT
    ).text
    assert 'data-line="1"' in broken_piece
    assert 'id="preview-view"' not in broken_piece


def test_preview_reports_invalid_example_and_shows_form(
    manager_browser: Browser, form_queue: leaseq.Queue
) -> None:
    fields = settings_fields(manager_browser, form_queue) | {"sample": '{"text": '}
    fragment = manager_browser.post(f"{base(form_queue)}/preview", fields, headers=FRAGMENT)
    assert fragment.status_code == 200
    assert '<p class="error">The example item: ' in fragment.text
    assert 'id="preview-view"' in fragment.text
