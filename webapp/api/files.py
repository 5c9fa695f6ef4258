"""Files of answers over REST: announce, send, get."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flask import Response, url_for

from leaseq.webapp.api.blueprint import bp
from leaseq.webapp.api.models import responses
from leaseq.webapp.api.models.requests import FilePath, FileQuery, FileRequest, ItemPath
from leaseq.webapp.context import existing_queue
from leaseq.webapp.files.keys import ANY_TYPE
from leaseq.webapp.security.authorization import needs, takes_any_size
from leaseq.webapp.services import files
from leaseq.webapp.serving.bodies import strict_request

TAGS: list[Any] = [{"name": "work"}]
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_BODY: dict[str, Any] = {
    "required": True,
    "content": {ANY_TYPE: {**_BINARY, "examples": {"a file": {"value": "the bytes of the file"}}}},
}
_FILE = {"description": "The file, as an attachment", "content": {ANY_TYPE: _BINARY}}
_ELSEWHERE = {
    "description": "The file is at this address for a minute",
    "headers": {"Location": {"schema": {"type": "string"}}},
}


@bp.post("/queues/<q>/items/<item:id>/files", tags=TAGS, responses={"201": responses.Upload})
@needs("worker")
def announce_file(path: ItemPath, body: FileRequest) -> tuple[dict[str, Any], int]:
    """Announce a file for a question of the item's form.

    Then send its bytes to `url` until `expires_at`: if there are `fields`, as a form with these fields and
    last the file, named `file` (POST), otherwise as the body (PUT). An answer names it by `file`.
    """
    queue = existing_queue(path.q)
    upload = files.announce(queue, path.id, **dict(body))
    url = upload.url or url_for(
        "api.send_file", q=path.q, id=path.id, file=upload.file.last_part, ticket=upload.ticket
    )
    return responses.Upload.from_record(replace(upload, url=url)), 201


@bp.put("/queues/<q>/items/<item:id>/files/<file>", tags=TAGS, request_body=_BODY, responses={"204": None})
@needs("worker")
@takes_any_size
def send_file(path: FilePath, query: FileQuery) -> Response:
    """Send the bytes of an announced file to this app. It may be sent again."""
    files.receive(existing_queue(path.q), path.id, path.file, query.ticket, strict_request().byte_lines())
    return Response(status=204)


@bp.get("/queues/<q>/items/<item:id>/files/<file>", tags=TAGS, responses={"200": _FILE, "302": _ELSEWHERE})
@needs("worker")
def get_file(path: FilePath) -> Response:
    """Get a file that an answer names. `file` is the last part of its `key`.

    A worker gets files of their own answers, and of the draft of an item that they hold.
    """
    return files.send(existing_queue(path.q), path.id, path.file)
