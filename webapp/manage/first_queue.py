"""Ways to create a first queue: the demo, or from a file."""

from __future__ import annotations

import re
import unicodedata
from typing import cast

from flask import flash, redirect, request, url_for
from flask_babel import gettext as _
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.exceptions import Forbidden
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, webhooks
from leaseq.webapp import demo
from leaseq.webapp.context import person, state
from leaseq.webapp.forms.guess import MAX_FIELDS, guess_form
from leaseq.webapp.manage import bp
from leaseq.webapp.manage.dashboard import overview_page
from leaseq.webapp.manage.import_mapping import FilePreview, preview_of
from leaseq.webapp.manage.imports import import_stream, known_skills
from leaseq.webapp.rendering.refusals import in_words
from leaseq.webapp.security.audit_log import log_change
from leaseq.webapp.security.authorization import may_manage, needs, takes_any_size

_NAME_LENGTH = 48


@bp.post("/manage/demo")
@needs("manager")
def add_demo() -> Response:
    if not may_manage(demo.QUEUE):  # guard: demo-of-others
        raise Forbidden(f"you may not manage the queue {demo.QUEUE!r}: ask somebody who may, or an admin")
    existed = leaseq.Queue(state().client, demo.QUEUE).exists()
    demo.add_demo(state().client)
    log_change("queue.imported" if existed else "queue.made", demo.QUEUE)
    flash(_("The demo queue is there. Work on it yourself, or let simulated people work."))
    return redirect(url_for("manage.try_out", q=demo.QUEUE), 303)


@bp.post("/manage/from-file")
@needs("manager")
@takes_any_size
def create_from_file() -> Response | tuple[str, int]:
    """Create a queue from a file: its rows become items, its columns the fields that the form shows."""
    title = request.form.get("title", "").strip()
    try:
        file = request.files.get("file")
        if file is None or not file.filename:
            raise Invalid("file", "a file", _("Choose a file first."))
        preview = _preview(file)
        title = title or file.filename.rpartition(".")[0]
        queue = leaseq.Queue(state().client, _free_name(title))
        queue.configure(by=person().name, create_only=True, title=title, form=_form_of(preview))
    except Invalid as error:
        return overview_page(file_error=in_words(error)), 400
    log_change("queue.made", queue.name, f"from {file.filename}")
    for note in preview.notes:
        flash(note)
    if len(preview.columns) > MAX_FIELDS:
        flash(
            _(
                "The file has %(all)s columns, and people see the first %(n)s of them, up to %(last)s."
                " The items have all columns: choose what is shown in the settings, under Form.",
                all=len(preview.columns),
                n=MAX_FIELDS,
                last=preview.columns[MAX_FIELDS - 1],
            )
        )
    job = import_stream(queue, preview.mapping, file.stream)
    return redirect(url_for("manage.import_job", q=queue.name, id=job), 303)


def _preview(file: FileStorage) -> FilePreview:
    """A preview of the first piece of the file. Raises Invalid if no row can be read."""
    name = cast("str", file.filename)
    preview = preview_of(file.stream, True, MultiDict(), name, known_skills())
    file.stream.seek(0)
    if not preview.rows or (preview.check_result and not preview.check_result.readable):
        message = preview.findings[0][1] if preview.findings else _("The file has no rows.")
        raise Invalid("file", "rows that can be read", message)
    return preview


def _form_of(preview: FilePreview) -> leaseq.Json:
    """A form that shows the payload's columns, and has a question for each column of guesses."""
    mapped_names = preview.mapping.used_columns()
    names = [name for name in preview.columns if name not in mapped_names] or list(preview.columns)
    rows = [row for row in preview.read_rows if isinstance(row, dict)]
    return guess_form([{name: row.get(name) for name in names} for row in rows]) or {"show": names}


def _free_name(title: str) -> str:
    """An unused queue name derived from the title."""
    text = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "-", text).strip("-")[:_NAME_LENGTH] or "queue"
    existing_names, number = {webhooks.QUEUE, *leaseq.queues(state().client)}, 1
    while (candidate := name if number == 1 else f"{name}-{number}") in existing_names:
        number += 1
    return candidate
