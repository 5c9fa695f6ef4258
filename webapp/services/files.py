"""The verbs of files that people send as answers: announce, send, check, read."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import IO

from flask import Response, redirect

from leaseq import Answer, Invalid, Item, ItemNotFound, Json, Queue
from leaseq.form import MAX_ERROR, MAX_ERRORS, file_questions, misfit
from leaseq.webapp.context import form_of, person, state
from leaseq.webapp.files.kept import Files
from leaseq.webapp.files.keys import (
    ANY_TYPE,
    TICKET_SECONDS,
    Place,
    SentFile,
    clean_name,
    clean_type,
    file_limits,
    files_in,
    folder_of,
    is_key,
    read_file,
)
from leaseq.webapp.rendering.downloads import download
from leaseq.webapp.security.authorization import may_manage
from leaseq.webapp.serving.problem import Problem

MAX_STORED = 500
"""Files of one item that are kept, those that no answer names included."""
_SHOWN_NAME = 60  # characters of a name in an error


@dataclass(frozen=True, slots=True)
class Upload:
    """An announced file: what an answer says of it, and how its bytes are sent until ``expires_at``. With
    ``fields``, they are sent as the last part, ``file``, of a form; otherwise as the body to this app."""

    file: SentFile
    url: str | None  # None: to this app, with the ticket
    fields: dict[str, str]
    ticket: str
    expires_at: datetime


def announce(queue: Queue, id: str, *, token: int, question: str, name: str, size: int, type: str) -> Upload:
    """Announce a file for an item that the person holds, or held under this token, or manages. Raises Invalid
    unless the form asks for such a file."""
    files = _files()
    file = _new_file(files, queue, id, token=token, question=question, name=name, size=size, type=type)
    form = files.storage.upload_form(file, TICKET_SECONDS)
    url, fields = form or (None, {})
    return Upload(
        file,
        url,
        fields,
        files.keys.ticket(file, person().name),
        datetime.fromtimestamp(time.time() + TICKET_SECONDS, UTC),
    )


def _new_file(
    files: Files, queue: Queue, id: str, *, token: int, question: str, name: str, size: int, type: str
) -> SentFile:
    shown, media_type = clean_name(name), clean_type(type, name)
    questions = file_questions(form_of(queue, _item_of_sender(queue, id, token)))
    if question not in questions:
        raise Invalid("question", "file", what="question", name=question[:MAX_ERROR])
    limits = file_limits(questions[question]).within(files.max_bytes)
    if size < 1:
        raise Invalid("size", "file", what="empty", name=shown)
    if limits.max_bytes is not None and size > limits.max_bytes:
        raise Invalid("size", "file", what="bytes", name=shown, maximum=limits.max_bytes)
    if limits.types and media_type not in limits.types:
        raise Invalid("type", "file", what="kind", name=shown, choices=limits.kinds)
    stored = files.storage.stored(folder_of(queue.name, id))
    if sum(1 for _file in islice(stored, MAX_STORED)) == MAX_STORED:
        raise Invalid("question", "file", what="many", maximum=MAX_STORED)
    return files.keys.new_file(Place(queue.name, id, question, person().name), shown, size, media_type)


def _item_of_sender(queue: Queue, id: str, token: int) -> Item:
    """The item. Raises ItemNotFound if the person never had it under this token; managers correct answers."""
    item = queue.get(id)
    is_own = any((grant.token, grant.person) == (token, person().name) for grant in item.history)
    if not is_own and not may_manage(queue.name):
        raise ItemNotFound(queue.name, id)
    return item


def receive(queue: Queue, id: str, last_part: str, ticket: str, body: IO[bytes]) -> None:
    """Store an announced file. Raises Invalid if the ticket is for another, or too old, or if the body has
    another size than was announced."""
    files, key = _files(), f"{folder_of(queue.name, id)}/{last_part}"
    size = files.keys.read_ticket(ticket, key, person().name) if is_key(key) else None
    if size is None:
        raise Invalid("ticket", "file", what="expired")
    if not files.storage.put(key, body, size):
        raise Invalid("body", "file", what="incomplete", maximum=size)


def store(
    queue: Queue, id: str, *, token: int, question: str, name: str, size: int, type: str, body: IO[bytes]
) -> SentFile:
    """Announce and store a file at once, for a page without script. The body is read from its beginning."""
    files = _files()
    file = _new_file(files, queue, id, token=token, question=question, name=name, size=size, type=type)
    body.seek(0)
    if not files.storage.put(file.key, body, size):
        raise Invalid("body", "file", what="incomplete", maximum=size)
    return file


def check(queue: Queue, id: str, form: Json, result: Json) -> None:
    """Raise Invalid (field ``result``, with ``errors`` by field) if an answer names a file that the person
    did not send for this question of this item, or that has not arrived. A file that an answer of theirs
    named before may stay; for a manager, one that any answer named."""
    refusals: dict[str, Invalid] = {}
    earlier: set[SentFile] | None = None
    for question, schema in file_questions(form).items():
        values = result.get(question) if isinstance(result, Mapping) else None
        if not isinstance(values, list) or not values:
            continue
        maximum = file_limits(schema).count
        if len(values) > maximum:
            refusals[question] = Invalid(question, "answer", what="maxItems", limit=maximum)
            continue
        place = Place(queue.name, id, question, person().name)
        for index, value in enumerate(values):
            file = read_file(value)
            is_own = file is not None and _files().keys.is_from(place, file)
            if file is not None and not is_own and earlier is None:
                earlier = _earlier_files(queue, id)
            what = None if file and (is_own or file in (earlier or ())) else "unknown"
            if file and not what and _files().storage.size_of(file.key) != file.size:
                what = "missing"
            if what:
                path = f"{question}.{index}"
                refusals[path] = Invalid(path, "file", what=what, name=_shown_name(value))
    if refusals:
        raise misfit(dict(islice(refusals.items(), MAX_ERRORS)))


def _shown_name(value: Json) -> str:
    name = value.get("name") if isinstance(value, Mapping) else value
    return str(name)[:_SHOWN_NAME]


def _earlier_files(queue: Queue, id: str) -> set[SentFile]:
    with suppress(ItemNotFound):
        return {file for answer in _visible_answers(queue, id) for _question, file in files_in(answer.result)}
    return set()


def _visible_answers(queue: Queue, id: str) -> Iterator[Answer]:
    """The item's answers that the person may see: their own, or all for a manager."""
    item, manages, name = queue.get(id), may_manage(queue.name), person().name
    for answer in (*item.answers, *item.late_answers):
        if manages or answer.person == name:
            yield answer


def send(queue: Queue, id: str, last_part: str) -> Response:
    """The file as an attachment, for those who may see an answer that names it, or have it in their draft. A
    file of a bucket comes from there. Raises a problem if there is none."""
    file = _find(queue, id, f"{folder_of(queue.name, id)}/{last_part}")
    files = state().files
    if file is None or files is None:
        raise Problem.of(404, "not-found", "not_found", what="file", id=id)
    url = files.storage.download_url(file)
    if url is not None:
        response = redirect(url)
        response.headers["Cache-Control"] = "no-store"
        return response  # type: ignore[return-value]  # werkzeug's class, of which flask's is one
    try:
        response = download(files.storage.read(file.key), ANY_TYPE, "file")
    except FileNotFoundError:
        raise Problem.of(404, "not-found", "not_found", what="file", id=id) from None
    response.headers.set("Content-Disposition", "attachment", filename=file.name)
    response.headers["Content-Security-Policy"] = "sandbox; default-src 'none'; frame-ancestors 'none'"
    response.content_length = file.size
    return response


def _find(queue: Queue, id: str, key: str) -> SentFile | None:
    name = person().name
    for answer in _visible_answers(queue, id):
        for _question, file in files_in(answer.result):
            if file.key == key:
                return file
    drafts = (lease.draft for lease in queue.mine(name) if lease.id == id)
    for question, file in (entry for draft in drafts for entry in files_in(draft)):
        if file.key == key and _files().keys.is_from(Place(queue.name, id, question, name), file):
            return file
    return None


def _files() -> Files:
    files = state().files
    if files is None:
        raise Invalid("question", "file", what="nowhere")
    return files
