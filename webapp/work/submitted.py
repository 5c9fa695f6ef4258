"""The input that a page submits: read with the queue's form, and sent as an answer or saved as a draft."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from flask import request

import leaseq
from leaseq import Invalid, Json, PolicyChanged
from leaseq.webapp.context import person
from leaseq.webapp.forms import draft_of
from leaseq.webapp.forms.gone import with_gone
from leaseq.webapp.work.form_view import form_view_of

_Sent = TypeVar("_Sent")


def send_answer(queue: leaseq.Queue, send: Callable[[Json, Json], _Sent]) -> _Sent:
    """Send the submitted result, and the form that it was read with. If that is no longer the queue's, read
    the result with the new one. Raises Invalid, with ``errors`` by field; also if the person has not seen
    the questions."""
    while True:
        form = _current_form(queue)
        result, errors = form_view_of(form).read(request.form)
        if errors:
            raise Invalid("result", "an answer that fits the queue's form", errors=errors)
        try:
            return send(result, form)
        except PolicyChanged:
            continue  # it has read the new policy


def save_draft(queue: leaseq.Queue, id: str, token: int, *, even_empty: bool = False) -> None:
    """Save the input as a draft, also what was typed for questions that are gone. An empty draft replaces one
    whose texts were deleted."""
    form_view = form_view_of(_current_form(queue))
    input = form_view.submitted_input(request.form)
    draft = with_gone(draft_of(form_view.fields, input.typed), input.gone)
    if draft or even_empty:
        queue.save_draft(id=id, token=token, person=person().name, draft=draft)


def _current_form(queue: leaseq.Queue) -> Json:
    """The queue's form. If the page shows other questions, the policy is read again: the page may come from a
    process that knows a newer one."""
    form = queue.policy.form
    shown_version = request.form.get("questions")
    if shown_version not in (None, form_view_of(form).version):
        queue.find_policy()
    return queue.policy.form
