"""The pages of an import: preview, check, upload, outcome."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import IO, Any, BinaryIO, cast

from flask import Response, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

import leaseq
from leaseq import Invalid, transfer
from leaseq.webapp.context import existing_queue, state, wants_fragment
from leaseq.webapp.manage.blueprint import bp, queue_page
from leaseq.webapp.manage.importing.mapping import (
    ENCODINGS,
    LAST_HEADER_LINE,
    ImportMapping,
    bad_row_message,
    noted_skills,
    remarks,
    skills_remark,
)
from leaseq.webapp.manage.importing.preview import FilePreview, preview_of
from leaseq.webapp.refusals import in_words
from leaseq.webapp.rendering.downloads import download
from leaseq.webapp.security.authorization import needs, takes_any_size
from leaseq.webapp.services import imports
from leaseq.webapp.services.queues import skill_sets_of
from leaseq.webapp.serving.bodies import strict_request
from leaseq.webapp.store.jobs.imports import ImportJob

BAD_ROWS_SHOWN = 100


@bp.get("/manage/<q>/import")
@needs("manager")
def import_page(q: str) -> str:
    return _page(existing_queue(q))


@bp.post("/manage/<q>/import")
@needs("manager")
@takes_any_size
def import_file(q: str) -> AnyResponse | tuple[str, int]:
    """Check a whole file and then import it, for browsers without JavaScript. If rows have errors, the page
    shows them before anything is imported."""
    queue = existing_queue(q)
    try:
        file = request.files.get("file")
        if file is None or not file.filename:
            raise Invalid("file", "page", what="no_file")
        mapping = ImportMapping.from_form(request.form, file.filename)
    except Invalid as error:
        return _page(queue, in_words(error)), 400
    check = check_of(q, mapping, cast("BinaryIO", file.stream))
    is_check = request.form.get("check") == "yes"
    if (
        is_check
        or not check["importable_count"]
        or (check["bad_count"] and request.form.get("skip") != "yes")
    ):
        return _page(queue, check=check, file=file.filename), 200 if is_check else 400
    for remark in check["skills_remark"]:
        flash(remark)
    file.stream.seek(0)
    id = import_stream(queue, mapping, file.stream)
    return redirect(url_for("manage.import_job", q=q, id=id), 303)


def import_stream(queue: leaseq.Queue, mapping: ImportMapping, stream: IO[bytes]) -> str:
    """Import a whole file and return the id of its job, which has the outcome."""
    id = imports.plan(queue.name, mapping.to_record())
    imports.run(queue, id, mapping.rows(cast("BinaryIO", stream)), bad_row_message)
    return id


@bp.post("/manage/<q>/import/preview")
@needs("manager")
@takes_any_size
def preview_file(q: str) -> str | tuple[str, int]:
    """The preview of the first piece of a file, or of a whole workbook, as a fragment of the page."""
    existing_queue(q)
    try:
        preview = preview_of_piece(q)
    except Invalid as error:
        return refused_preview(error)
    return render_template(
        "manage/import_preview.html", by_script=True, error=None, **preview_context(preview)
    )


def preview_of_piece(q: str) -> FilePreview:
    """The preview of the piece that the page's script sent. Raises Invalid."""
    piece = request.files.get("piece")
    if piece is None:
        raise Invalid("piece", "required")
    is_whole = request.form.get("whole") == "yes"
    name = request.form.get("name", "")
    return preview_of(piece.stream, is_whole, request.form, name, skill_sets_of(q))


def preview_context(preview: FilePreview) -> dict[str, Any]:
    """The variables of the preview's template."""
    return {
        "preview": preview,
        "remarks": [*remarks(preview.summary, whole=preview.is_whole), *preview.skills_remark],
        "check": preview.check_result and _check_context(preview.check_result),
    }


def refused_preview(error: Invalid) -> tuple[str, int]:
    """The fragment that says why there is no preview."""
    return render_template("manage/import_preview.html", preview=None, error=in_words(error)), 400


@bp.post("/manage/<q>/import/jobs")
@needs("manager")
def plan_import(q: str) -> tuple[dict[str, str], int]:
    """Store the choices; the file itself is then sent to a URL in the response."""
    existing_queue(q)
    mapping = ImportMapping.from_form(request.form, request.form.get("name", ""))
    id = imports.plan(q, mapping.to_record())
    return {
        "to": url_for("manage.run_import", q=q, id=id),
        "check": url_for("manage.check_file", q=q, id=id),
    }, 201


@bp.post("/manage/<q>/import/<id>/check")
@needs("manager")
@takes_any_size
def check_file(q: str, id: str) -> str:
    """Read the whole request body, streamed, without importing it, and store its number of rows; a fragment
    that says which rows can be imported."""
    existing_queue(q)
    return render_template("manage/import_check.html", check=check_of_body(q, id), by_script=True)


def check_of_body(q: str, id: str) -> dict[str, Any]:
    """Check the request body as the file of a job, and store its number of rows."""
    mapping = ImportMapping.from_record(imports.find(q, id).plan)
    check = check_of(q, mapping, strict_request().byte_lines())
    importable = check["importable_count"]
    state().imports.update(id, total=importable + check["bad_count"], importable=importable)
    return check


@bp.post("/manage/<q>/import/<id>")
@needs("manager")
@takes_any_size
def run_import(q: str, id: str) -> str:
    """Import the request body, streamed: at most one batch of rows is in memory."""
    queue, mapping = existing_queue(q), ImportMapping.from_record(imports.find(q, id).plan)
    imports.run(queue, id, mapping.rows(strict_request().byte_lines()), bad_row_message)
    return _job_page(queue, imports.find(q, id))


@bp.get("/manage/<q>/import/<id>")
@needs("manager")
def import_job(q: str, id: str) -> str:
    """The state or the outcome of an import."""
    return _job_page(existing_queue(q), imports.find(q, id))


@bp.get("/manage/<q>/import/<id>/rejected")
@needs("manager")
def rejected_rows(q: str, id: str) -> Response:
    """The rejected rows as a file, each with its reason, to correct and import again."""
    existing_queue(q)
    is_table = ImportMapping.from_record(imports.find(q, id).plan).table
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in state().imports.bad_rows(id))
    body = _as_table(id) if is_table else lines
    kind: transfer.Format = "csv" if is_table else "jsonl"
    return download(map(str.encode, body), transfer.CONTENT_TYPES[kind], f"{q}-rejected.{kind}")


def _as_table(id: str) -> Iterator[str]:
    """CSV with the line, the reason, and the row's own columns as far as known."""
    jobs = state().imports
    names: list[str] = []
    width = 0
    for entry in jobs.bad_rows(id):
        if isinstance(entry["row"], dict):
            names += [name for name in entry["row"] if name not in names]
        elif isinstance(entry["row"], list):
            width = max(width, len(entry["row"]))
    names += [f"column {number}" for number in range(len(names) + 1, width + 1)]
    yield _line(["line", "reason", *names])
    for entry in jobs.bad_rows(id):
        row: Any = entry["row"]
        cells = [row.get(name, "") for name in names] if isinstance(row, dict) else row or []
        yield _line([entry["line"], entry["reason"], *cells])


def _line(cells: list[Any]) -> str:
    text = io.StringIO()
    csv.writer(text).writerow([transfer.cell(cell) for cell in cells])
    return text.getvalue()


def _job_page(queue: leaseq.Queue, job: ImportJob) -> str:
    bad_rows = (
        list(state().imports.bad_rows(job.id, BAD_ROWS_SHOWN + 1))
        if job.is_over and job.result.rejected + job.result.conflicts
        else []
    )
    form = queue.policy.form
    return queue_page(
        "manage/import_progress.html" if wants_fragment() else "manage/import_job.html",
        queue,
        job=job,
        lacks_questions=not (isinstance(form, dict) and "ask" in form),
        bad_rows=bad_rows[:BAD_ROWS_SHOWN],
        has_more=len(bad_rows) > BAD_ROWS_SHOWN,
        remarks=remarks(job.summary),
    )


def check_of(q: str, mapping: ImportMapping, stream: BinaryIO) -> dict[str, Any]:
    rows, requires = mapping.rows(stream), set[frozenset[str]]()
    result = transfer.check(noted_skills(rows, requires))
    skills = skills_remark(requires, skill_sets_of(q)) if requires else []
    return {
        **_check_context(result),
        "remarks": [*remarks(rows.summary), *skills],
        "skills_remark": skills,
    }


def _check_context(result: transfer.CheckResult) -> dict[str, Any]:
    findings = [(row.line, bad_row_message(row)) for row in result.first]
    return {"importable_count": result.readable, "bad_count": result.bad, "findings": findings}


def _page(
    queue: leaseq.Queue, error: str | None = None, check: dict[str, Any] | None = None, file: str = ""
) -> str:
    return queue_page(
        "manage/import.html",
        queue,
        error=error,
        check=check,
        file=file,
        latest_jobs=state().imports.latest(queue.name),
        encodings=ENCODINGS,
        header_lines=range(1, LAST_HEADER_LINE + 1),
    )
