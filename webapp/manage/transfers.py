"""Import a file, export the answers."""

from __future__ import annotations

from typing import BinaryIO, cast

from flask import render_template, request
from werkzeug.wrappers import Response

from leaseq import Invalid, transfer
from webapp.export import streamed_answers
from webapp.gate import needs, takes_any_size
from webapp.manage import bp
from webapp.state import queue

BAD_ROWS_SHOWN = 100


@bp.get("/manage/<q>/import")
@needs("manager")
def import_page(q: str) -> str:
    found = queue(q)
    return render_template("manage/import.html", queue=found, policy=found.policy, error=None)


@bp.post("/manage/<q>/import")
@needs("manager")
@takes_any_size
def import_file(q: str) -> str | tuple[str, int]:
    """Take a file in, however large: its rows go by one at a time."""
    found = queue(q)
    bad: list[transfer.BadRow] = []

    def note(row: transfer.BadRow) -> None:
        if len(bad) < BAD_ROWS_SHOWN:
            bad.append(row)

    try:
        sent = request.files.get("file")
        if sent is None or not sent.filename:
            raise Invalid("file", "a file", "Choose a file first.")
        rows = transfer.read(
            cast("BinaryIO", sent.stream),
            request.form.get("format") or transfer.format_of(sent.filename),
            id_field=request.form.get("id_field", "").strip() or None,
            envelope=request.form.get("envelope") == "yes",
        )
        result = transfer.import_items(found, rows, on_bad=note)
    except Invalid as refused:
        page = render_template("manage/import.html", queue=found, policy=found.policy, error=str(refused))
        return page, 400
    return render_template(
        "manage/imported.html", queue=found, policy=found.policy, result=result, bad=bad, file=sent.filename
    )


@bp.get("/manage/<q>/export")
@needs("manager")
def export(q: str) -> Response:
    found = queue(q)
    format = transfer.format_of("answers." + request.args.get("format", "jsonl"))
    return streamed_answers(found, format, with_late=request.args.get("with_late") == "yes")
