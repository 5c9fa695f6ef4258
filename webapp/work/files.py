"""Files of answers on the pages: those sent without script, and downloads."""

from __future__ import annotations

import io

from flask import Response, request
from werkzeug.datastructures import MultiDict

import leaseq
from leaseq import Invalid
from leaseq.webapp.context import existing_queue
from leaseq.webapp.forms.fields import PREFIX
from leaseq.webapp.forms.inputs import CHOSEN, UPLOAD
from leaseq.webapp.refusals import reason_of
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import files
from leaseq.webapp.work.blueprint import bp


def with_sent_files(queue: leaseq.Queue, id: str, token: int) -> tuple[MultiDict[str, str], dict[str, str]]:
    """Store the files that were chosen for the question of the button. Returns the submitted form with them,
    and why one was refused, by field."""
    question, form = request.form[UPLOAD], MultiDict(request.form)
    chosen = [file for file in request.files.getlist(CHOSEN + question) if file.filename]
    try:
        if not chosen:
            raise Invalid(question, "page", what="no_file")
        for file in chosen:
            sent = files.store(
                queue,
                id,
                token=token,
                question=question,
                name=file.filename or "",
                size=file.stream.seek(0, io.SEEK_END),
                type=file.mimetype,
                body=file.stream,
            )
            form.add(PREFIX + question, sent.text)
    except Invalid as error:
        return form, {question: reason_of(error)}
    return form, {}


@bp.get("/q/<q>/items/<item:id>/files/<file>")
@needs("worker")
def file(q: str, id: str, file: str) -> Response:
    """A file that an answer or the person's draft names, as a download."""
    return files.send(existing_queue(q), id, file)
