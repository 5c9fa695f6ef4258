"""Views of an import: preview of the first rows, choice of columns, upload, outcome."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from flask import Response, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.exceptions import ClientDisconnected, NotFound
from werkzeug.wrappers import Response as AnyResponse

import leaseq
from leaseq import Invalid, LeaseqError, transfer
from leaseq.webapp.context import person, queue, state, wants_piece
from leaseq.webapp.manage import bp
from leaseq.webapp.manage.import_jobs import BadRows, HeartbeatStream, Run, Runs
from leaseq.webapp.manage.import_mapping import Plan, look_at
from leaseq.webapp.manage.remarks import remarks
from leaseq.webapp.security.authorization import needs, takes_any_size
from leaseq.webapp.serving.json_request import strict_request

BAD_ROWS_SHOWN = 100


@bp.get("/manage/<q>/import")
@needs("manager")
def import_page(q: str) -> str:
    return _page(queue(q))


@bp.post("/manage/<q>/import")
@needs("manager")
@takes_any_size
def import_file(q: str) -> AnyResponse | tuple[str, int]:
    """Import a whole file at once, for a page without its script: one row at a time."""
    found = queue(q)
    try:
        sent = request.files.get("file")
        if sent is None or not sent.filename:
            raise Invalid("file", "a file", _("Choose a file first."))
        plan = Plan.sent(request.form, sent.filename)
    except Invalid as refused:
        return _page(found, str(refused)), 400
    runs = _runs()
    id = runs.plan(q, person().name, plan)
    runs.begin(id)
    _take_in(found, runs, id, plan, cast("BinaryIO", sent.stream))
    return redirect(url_for("manage.import_run", q=q, id=id), 303)


@bp.post("/manage/<q>/import/look")
@needs("manager")
def look_at_file(q: str) -> str | tuple[str, int]:
    """The preview of the first piece of a file, as a fragment of the page."""
    queue(q)
    piece = request.files.get("piece")
    try:
        if piece is None:
            raise Invalid("piece", "the first piece of a file")
        whole = request.form.get("whole") == "yes"
        look = look_at(piece.stream.read(), whole, request.form, request.form.get("name", ""))
    except Invalid as refused:
        return render_template("manage/import_preview.html", look=None, error=str(refused)), 400
    said = remarks(look.summary, whole=look.whole)
    return render_template("manage/import_preview.html", look=look, remarks=said, error=None, q=q)


@bp.post("/manage/<q>/import/plan")
@needs("manager")
def plan_import(q: str) -> tuple[dict[str, str], int]:
    """Store the choices; the file itself is then sent to the address in the response."""
    queue(q)
    plan = Plan.sent(request.form, request.form.get("name", ""))
    id = _runs().plan(q, person().name, plan)
    return {"to": url_for("manage.take_in", q=q, id=id)}, 201


@bp.post("/manage/<q>/import/<id>")
@needs("manager")
@takes_any_size
def take_in(q: str, id: str) -> str:
    """Import the request's body, streamed: at most a batch of rows is in memory."""
    found, runs = queue(q), _runs()
    run = _run(runs, q, id)
    if not runs.begin(id):
        raise Invalid("import", "a new file: this one was already imported")
    _take_in(found, runs, id, run.plan, strict_request().byte_lines())
    return _piece(found, _run(runs, q, id))


@bp.get("/manage/<q>/import/<id>")
@needs("manager")
def import_run(q: str, id: str) -> str:
    """The state or the outcome of an import."""
    found = queue(q)
    run = _run(_runs(), q, id)
    return _piece(found, run)


@bp.get("/manage/<q>/import/<id>/rejected")
@needs("manager")
def rejected_rows(q: str, id: str) -> Response:
    """The rejected rows with the reason beside each, to correct them and import that file again."""
    queue(q)
    runs = _runs()
    run = _run(runs, q, id)
    table = run.plan.format in ("csv", "tsv")
    body = (
        _as_table(runs, id) if table else (json.dumps(row, ensure_ascii=False) + "\n" for row in runs.bad(id))
    )
    kind: transfer.Format = "csv" if table else "jsonl"
    response = Response(body, content_type=transfer.CONTENT_TYPES[kind])
    response.headers["Content-Disposition"] = f'attachment; filename="{q}-rejected.{kind}"'
    return response


def _take_in(found: leaseq.Queue, runs: Runs, id: str, plan: Plan, stream: BinaryIO) -> None:
    """Import the rows. Those that were added stay, however this ends; the job has their number."""
    bad = BadRows(runs, id)
    rows = plan.rows(cast("BinaryIO", HeartbeatStream(stream, runs, id)))
    try:
        result = transfer.import_items(
            found, rows, on_bad=bad.note, progress=lambda so_far: runs.progress(id, so_far)
        )
        bad.flush()
        runs.progress(id, result)
        runs.end(id, "done", rows.summary)
    except ClientDisconnected:
        bad.flush()
        runs.end(id, "stopped", rows.summary, why=_("the connection ended before the whole file was sent"))
        raise
    except LeaseqError as error:
        with contextlib.suppress(LeaseqError):
            runs.end(id, "stopped", rows.summary, why=str(error))
        raise


def _as_table(runs: Runs, id: str) -> Iterator[str]:
    """As CSV: the line, the reason, and the row's own columns, as far as they are known."""
    names: list[str] = []
    widest = 0
    for bad in runs.bad(id):
        if isinstance(bad["row"], dict):
            names += [name for name in bad["row"] if name not in names]
        elif isinstance(bad["row"], list):
            widest = max(widest, len(bad["row"]))
    names += [f"column {number}" for number in range(len(names) + 1, widest + 1)]
    yield _line(["line", "reason", *names])
    for bad in runs.bad(id):
        row: Any = bad["row"]
        cells = [row.get(name, "") for name in names] if isinstance(row, dict) else row or []
        yield _line([bad["line"], bad["reason"], *cells])


def _line(cells: list[Any]) -> str:
    text = io.StringIO()
    csv.writer(text).writerow([transfer.cell(one) for one in cells])
    return text.getvalue()


def _runs() -> Runs:
    return Runs(state().client)


def _run(runs: Runs, q: str, id: str) -> Run:
    found = runs.find(q, id)
    if found is None:
        raise NotFound(_("There is no such import, or it is more than a week old."))
    return found


def _piece(found: leaseq.Queue, run: Run) -> str:
    rejected = list(_runs().bad(run.id, BAD_ROWS_SHOWN + 1)) if run.over and run.result.rejected else []
    page = "manage/import_progress.html" if wants_piece() else "manage/import_job.html"
    return render_template(
        page,
        queue=found,
        policy=found.policy,
        run=run,
        bad=rejected[:BAD_ROWS_SHOWN],
        more=len(rejected) > BAD_ROWS_SHOWN,
        remarks=remarks(run.summary),
    )


def _page(found: leaseq.Queue, error: str | None = None) -> str:
    latest = _runs().latest(found.name)
    return render_template("manage/import.html", queue=found, policy=found.policy, error=error, latest=latest)
