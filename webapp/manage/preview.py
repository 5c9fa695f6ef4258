"""Preview of a form while it is edited, made by the same templates as the work page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import leaseq
from leaseq import Invalid, Json, validation
from leaseq.webapp.forms import fields_of, typed_of
from leaseq.webapp.forms.linter import CheckedForm, check_text
from leaseq.webapp.rendering.payload import parts_of


def preview_of(typed: Mapping[str, str]) -> dict[str, Any]:
    """The context of the preview's template, from the edited settings and sample."""
    checked = check_text(typed.get("form", ""))
    sample, sample_error = _sample(typed.get("sample", ""))
    return {
        "checked": checked,
        "sample_error": sample_error,
        **(_shown(checked, sample) if checked.good else {}),
    }


def _shown(checked: CheckedForm, sample: Json) -> dict[str, Any]:
    fields = fields_of(checked.form)
    return {"parts": parts_of(checked.form, sample), "fields": fields, "values": typed_of(fields, None)}


def _sample(text: str) -> tuple[Json, str]:
    try:
        return (validation.load_json(text, "sample") if text.strip() else None), ""
    except Invalid as refused:
        return None, refused.limit


def sample_of(queue: leaseq.Queue, form: Json) -> Json:
    """The payload of an item that waits, else one made up of what the form shows."""
    waiting = queue.page("inbound", limit=1).items
    if waiting:
        return waiting[0].payload
    shown = form.get("show") if isinstance(form, dict) else None
    names = [entry if isinstance(entry, str) else entry.get("field", "") for entry in shown or ["text"]]
    return {name: f"({name})" for name in names}
