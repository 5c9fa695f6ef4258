"""The export page: a queue's answers, filtered by person, time and lateness."""

from __future__ import annotations

from flask import render_template, request
from werkzeug.wrappers import Response

from leaseq import Invalid, transfer, validation
from leaseq.webapp.context import existing_queue
from leaseq.webapp.manage import bp
from leaseq.webapp.rendering.answers_export import streamed_answers
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.security.queue_access import people_of
from leaseq.webapp.site_time import filter_period


@bp.get("/manage/<q>/export")
@needs("manager")
def export(q: str) -> Response | str | tuple[str, int]:
    """The answers if a format is given, else the page to choose one."""
    queue, args = existing_queue(q), request.args
    field_error: Invalid | None = None
    if "format" in args:
        try:
            since, until = filter_period(args)
            format = validation.one_of(args["format"], transfer.FORMATS, "format")
            is_text_table = format in transfer.TEXT_TABLES  # for other formats there is nothing to choose
            return streamed_answers(
                queue,
                format,
                since=since,
                until=until,
                person=args.get("person", "").strip() or None,  # an empty field does not filter
                late=_late(args.get("late", "")),
                with_late=args.get("with_late") == "yes",
                raw_cells=is_text_table and args.get("raw_cells") == "yes",
                bom=is_text_table and args.get("bom") == "yes",
            )
        except Invalid as error:
            field_error = error
    page = render_template(
        "manage/export.html",
        queue=queue,
        policy=queue.policy,
        stats=queue.stats(),
        form_values=args,
        field_error=field_error,
        people=[account.name for account in people_of(queue.name)],
    )
    return (page, 400) if field_error else page


def _late(text: str) -> bool | None:
    if text not in ("", "yes", "no"):
        raise Invalid("late", "yes or no, or no value")
    return text == "yes" if text else None
