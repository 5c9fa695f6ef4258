"""A new queue: empty, from a template, or from a file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, BinaryIO, cast

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.datastructures import FileStorage
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, transfer, validation, webhooks
from leaseq.webapp import demo
from leaseq.webapp.context import existing_queue, state
from leaseq.webapp.forms.templates import MAX_FIELDS, guess_form
from leaseq.webapp.manage.blueprint import bp, queue_page
from leaseq.webapp.manage.importing.guesses import Note
from leaseq.webapp.manage.importing.mapping import ENCODINGS, LAST_HEADER_LINE, ImportMapping
from leaseq.webapp.manage.importing.pages import (
    check_of,
    check_of_body,
    import_stream,
    preview_context,
    preview_of_piece,
    refused_preview,
)
from leaseq.webapp.manage.importing.preview import FilePreview, preview_of
from leaseq.webapp.refusals import in_words
from leaseq.webapp.rendering.downloads import streamed_answers
from leaseq.webapp.security.authorization import may_manage, needs, takes_any_size
from leaseq.webapp.services import imports, queues
from leaseq.webapp.services.queues import people_of, skill_sets_of
from leaseq.webapp.serving.problem import Problem
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
    page = queue_page(
        "manage/export.html",
        queue,
        stats=queue.stats(),
        form_values=args,
        field_error=field_error,
        people=[account.name for account in people_of(queue.name)],
    )
    return (page, 400) if field_error else page


def _late(text: str) -> bool | None:
    if text not in ("", "yes", "no"):
        raise Invalid("late", "one_of", choices=("yes", "no"), value=text)
    return text == "yes" if text else None


_NAME_LENGTH = 48
NO_QUEUE = ""  # in place of the queue's name in a job whose queue is not made yet


@bp.post("/manage/demo")
@needs("manager")
def add_demo() -> Response:
    if not may_manage(demo.QUEUE):
        raise Problem.of(403, "forbidden", "forbidden", what="queue", queue=demo.QUEUE)
    queues.add_demo()
    flash(_("The demo queue is there. Work on it yourself, or let simulated people work."))
    return redirect(url_for("manage.try_out", q=demo.QUEUE), 303)


@bp.get("/new-queue")
@needs("manager")
def new_queue() -> str:
    """The page on which a queue is made from a file."""
    return _page()


@bp.post("/new-queue")
@needs("manager")
@takes_any_size
def create_from_file() -> Response | str | tuple[str, int]:
    """Preview a file, and then create a queue from it, for browsers without JavaScript. The queue is made
    only if the person saw the preview with the same choices and at least one row can be imported."""
    try:
        file = request.files.get("file")
        if file is None or not file.filename:
            raise Invalid("file", "page", what="no_file")
        preview = _preview(file)
        check = check_of(NO_QUEUE, preview.mapping, cast("BinaryIO", file.stream))
        if not preview.rows or not check["importable_count"]:
            return _page(in_words(_refusal(preview, check["findings"])), preview, check), 400
        chosen = ImportMapping.from_form(request.form, file.filename)
        if request.form.get("create") != "yes" or preview.mapping != chosen:
            return _page(None, preview, check)
        queue = _create_queue(preview)
    except Invalid as error:
        return _page(in_words(error)), 400
    file.stream.seek(0)
    id = import_stream(queue, preview.mapping, file.stream)
    return redirect(url_for("manage.import_job", q=queue.name, id=id), 303)


@bp.post("/new-queue/preview")
@needs("manager")
@takes_any_size
def preview_new_queue() -> str | tuple[str, int]:
    """The preview of the first piece of a file, as a fragment of the page."""
    try:
        preview = _with_shown_columns(preview_of_piece(NO_QUEUE))
    except Invalid as error:
        return refused_preview(error)
    context = preview_context(preview)
    return render_template(
        "manage/import_preview.html", by_script=True, is_new_queue=True, error=None, **context
    )


@bp.post("/new-queue/jobs")
@needs("manager")
def plan_new_queue() -> tuple[dict[str, str], int]:
    """Store the choices, before there is a queue; the response has the URLs that check the file and make
    the queue."""
    mapping = ImportMapping.from_form(request.form, request.form.get("name", ""))
    id = imports.plan(NO_QUEUE, mapping.to_record())
    return {
        "queue": url_for("manage.create_queue_of_job", id=id),
        "check": url_for("manage.check_new_queue", id=id),
    }, 201


@bp.post("/new-queue/jobs/<id>/check")
@needs("manager")
@takes_any_size
def check_new_queue(id: str) -> str:
    """Read the whole request body, streamed, without importing it; a fragment that says which rows can be
    imported."""
    check = check_of_body(NO_QUEUE, id)
    return render_template("manage/import_check.html", check=check, by_script=True, is_new_queue=True)


@bp.post("/new-queue/jobs/<id>/queue")
@needs("manager")
@takes_any_size
def create_queue_of_job(id: str) -> tuple[str | dict[str, str], int]:
    """Create the queue of a job, with a form guessed from the first piece of the file; the file itself is
    then sent to a URL in the response."""
    job = imports.find(NO_QUEUE, id)
    try:
        preview = preview_of_piece(NO_QUEUE)
        importable = preview.check_result.readable if preview.check_result else job.importable
        if importable is None and not preview.is_whole:
            raise Invalid("file", "page", what="unchecked_file")
        if not preview.rows or not importable:
            raise _refusal(preview, preview.findings)
        queue = _create_queue(preview)
    except Invalid as error:
        return refused_preview(error)
    state().imports.update(id, queue=queue.name)
    return {"to": url_for("manage.run_import", q=queue.name, id=id)}, 201


def _page(
    error: str | None = None, preview: FilePreview | None = None, check: dict[str, Any] | None = None
) -> str:
    context = preview_context(preview) if preview else {"preview": None}
    return render_template(
        "manage/new_queue.html",
        **{**context, "check": check},
        error=error,
        by_script=False,
        is_new_queue=True,
        latest_jobs=[],
        encodings=ENCODINGS,
        header_lines=range(1, LAST_HEADER_LINE + 1),
    )


def _preview(file: FileStorage) -> FilePreview:
    """A preview of the first piece of the file. Raises Invalid."""
    name = cast("str", file.filename)
    preview = preview_of(file.stream, True, request.form, name, skill_sets_of(NO_QUEUE))
    file.stream.seek(0)
    return _with_shown_columns(preview)


def _refusal(preview: FilePreview, findings: Sequence[tuple[int, str]]) -> Invalid:
    """The reason why no queue can be made from the file."""
    findings = preview.findings or findings
    if findings:
        return Invalid("file", "page", what="bad_row", why=findings[0][1])
    return Invalid("file", "page", what="no_good_rows" if preview.rows else "no_rows")


def _with_shown_columns(preview: FilePreview) -> FilePreview:
    """The preview, with a note if the form can't show all columns."""
    names = _payload_columns(preview)
    if len(names) <= MAX_FIELDS:
        return preview
    note = _(
        "The file has %(all)s columns, and people see the first %(n)s of them, up to %(last)s."
        " The items have all columns: choose what is shown in the settings, under Work.",
        all=len(names),
        n=MAX_FIELDS,
        last=names[MAX_FIELDS - 1],
    )
    return replace(preview, notes=(*preview.notes, Note(note)))


def _create_queue(preview: FilePreview) -> leaseq.Queue:
    """Create the queue for a previewed file. Raises Invalid."""
    file = preview.mapping.file
    title = request.form.get("title", "").strip() or file.rpartition(".")[0] or file
    return queues.create(_free_name(title), title=title, form=_form_of(preview), source=str(file))


def _form_of(preview: FilePreview) -> leaseq.Json:
    """A form that shows the payload's columns, and has a question for each column of guesses."""
    rows = [row for row in preview.read_rows if isinstance(row, dict)]
    if preview.mapping.envelope:
        return guess_form([row["payload"] for row in rows if "payload" in row])
    names = _payload_columns(preview)
    form = guess_form([{name: row.get(name) for name in names} for row in rows])
    return form or ({"show": names[:MAX_FIELDS]} if names else None)


def _payload_columns(preview: FilePreview) -> list[str]:
    """The columns that the payload has, without those that are another part of the item."""
    mapping = preview.mapping
    if mapping.envelope:
        return []
    names = [name for name in preview.columns if mapping.columns is None or name in mapping.columns]
    return [name for name in names if name not in mapping.role_columns()] or names


def _free_name(title: str) -> str:
    """An unused queue name derived from the title."""
    text = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "-", text).strip("-")[:_NAME_LENGTH] or "queue"
    existing_names, number = {webhooks.QUEUE, *leaseq.queues(state().client)}, 1
    while (candidate := name if number == 1 else f"{name}-{number}") in existing_names:
        number += 1
    return candidate
