"""Views for a wrong answer: reopen the item, or correct the answer."""

from __future__ import annotations

from collections.abc import Mapping

from flask import flash, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid
from leaseq.webapp.context import existing_queue, person
from leaseq.webapp.forms import errors_at, fields_of, typed_of
from leaseq.webapp.forms.gone import gone_in_draft
from leaseq.webapp.manage import bp
from leaseq.webapp.manage.item import redirect_to_item, search_args, show_item
from leaseq.webapp.rendering.payload import parts_of
from leaseq.webapp.rendering.refusals import in_words
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.security.queue_access import worker_name
from leaseq.webapp.serving.numbers import whole_number
from leaseq.webapp.work.form_view import Input, form_view_of
from leaseq.webapp.work.submitted import send_answer


@bp.post("/manage/<q>/items/<item:id>/reopen")
@needs("manager")
def reopen(q: str, id: str) -> Response | tuple[str, int]:
    """Let a finished item wait again, for anybody or for one person. If refused, the page shows the input
    again."""
    queue, name = existing_queue(q), request.form.get("to", "").strip()
    try:
        to = worker_name(q, name) if name else None
        reason = request.form.get("reason", "").strip() or None
        queue.reopen(id, _token(), to=to, reason=reason, by=person().name)
    except Invalid as error:
        return show_item(queue, id, error=_("Not reopened: %(why)s.", why=in_words(error))), 400
    flash(_("It is waiting again. The answer is kept with the item."))
    return redirect_to_item(q, id)


@bp.get("/manage/<q>/items/<item:id>/correct")
@needs("manager")
def correction(q: str, id: str) -> str | tuple[str, int]:
    """The form, filled with the answer to correct."""
    queue, token = existing_queue(q), _token()
    item = queue.get(id)
    answer = next((one for one in item.answers if one.token == token), None)
    if answer is None:
        return show_item(queue, id, error=_("This answer was replaced in the meantime.")), 409
    fields = fields_of(queue.policy.form)
    input = Input(typed_of(fields, answer.result), gone_in_draft(fields, answer.result))
    return _correction(queue, item, token, input, {})


@bp.post("/manage/<q>/items/<item:id>/correct")
@needs("manager")
def correct(q: str, id: str) -> Response | tuple[str, int]:
    """Replace an answer by the manager's. If refused, the page shows the input again."""
    queue, token = existing_queue(q), _token()
    try:
        send_answer(
            queue,
            lambda result, form: queue.correct(id, token, result, by=person().name, expected_form=form),
        )
    except Invalid as error:
        input = form_view_of(queue.policy.form).submitted_input(request.form)
        errors = error.errors or {error.field: error.limit}
        return _correction(queue, queue.get(id), token, input, errors), 422
    flash(_("The answer is corrected. The earlier one is kept with the item."))
    return redirect_to_item(q, id)


def _correction(
    queue: leaseq.Queue, item: leaseq.Item, token: int, input: Input, errors: Mapping[str, str]
) -> str:
    form_view = form_view_of(queue.policy.form)
    errors_by_field = errors_at(form_view.fields, errors)
    return render_template(
        "manage/correct.html",
        queue=queue,
        policy=queue.policy,
        item=item,
        token=token,
        answer=next((one for one in item.answers if one.token == token), None),
        parts=parts_of(queue.policy.form, item.payload),
        inputs=form_view.inputs(input, errors_by_field),
        fields_by_name=form_view.by_name,
        errors=errors_by_field,
        back=url_for("manage.item", q=queue.name, id=item.id, **search_args()),
        search_args=search_args(),
    )


def _token() -> int:
    token = whole_number(request.values.get("token"))
    if token is None:
        raise Invalid("token", "the token of an answer")
    return token
