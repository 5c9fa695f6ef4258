"""The preview of a form being edited, with the templates of the work page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import leaseq
from leaseq import Invalid, Json, validation
from leaseq.form import prefilled
from leaseq.webapp.forms import fields_of, typed_of
from leaseq.webapp.forms.guess import missing_fields
from leaseq.webapp.forms.linter import CheckedForm, check_text
from leaseq.webapp.rendering.payload import parts_of
from leaseq.webapp.serving.numbers import whole_number

SAMPLE_SIZE = 50  # payloads to guess a form from and to preview it with


def preview_of(typed: Mapping[str, str], payloads: Sequence[Json]) -> dict[str, Any]:
    """The context of the preview's template, from the edited settings, the example item, and some of the
    queue's payloads."""
    checked_form = check_text(typed.get("form", ""))
    at = whole_number(typed.get("at"))
    sample, sample_error = _sample(typed.get("sample", ""))
    return {
        "checked_form": checked_form,
        "sample_error": sample_error,
        "item_index": at if at is not None and at < len(payloads) else None,
        "item_count": len(payloads),
        "missing_fields": missing_fields(checked_form.form, payloads) if checked_form.is_valid else [],
        **(_form_context(checked_form, sample) if checked_form.is_valid else {}),
    }


def _form_context(checked_form: CheckedForm, sample: Json) -> dict[str, Any]:
    fields = fields_of(checked_form.form)
    return {
        "parts": parts_of(checked_form.form, sample),
        "fields": fields,
        "values": typed_of(fields, None, prefilled(checked_form.form, sample)),
    }


def _sample(text: str) -> tuple[Json, str]:
    try:
        return (validation.load_json(text, "sample") if text.strip() else None), ""
    except Invalid as error:
        return None, error.limit


def payloads_of(queue: leaseq.Queue) -> list[Json]:
    """Some payloads of the queue: of waiting items, else of finished ones."""
    for state in ("inbound", "finished"):
        items = queue.page(state, limit=SAMPLE_SIZE).items
        if items:
            return [item.payload for item in items]
    return []


def sample_of(form: Json, payloads: Sequence[Json]) -> Json:
    """A payload of the queue, else a made-up one with the fields that the form shows."""
    if payloads:
        return payloads[0]
    entries = form.get("show") if isinstance(form, dict) else None
    names = [entry if isinstance(entry, str) else entry.get("field", "") for entry in entries or ["text"]]
    return {name: f"({name})" for name in names}
