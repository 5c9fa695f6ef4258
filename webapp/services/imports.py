"""The verbs of an import: plan, check, run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from flask_babel import gettext as _
from werkzeug.exceptions import ClientDisconnected

from leaseq import Invalid, LeaseqError, NewItem, Queue, transfer
from leaseq.webapp.context import note, person, state
from leaseq.webapp.refusals import in_words
from leaseq.webapp.services.queues import worker_name
from leaseq.webapp.serving.problem import Problem
from leaseq.webapp.store.jobs.imports import BadRows, ImportJob


def find(queue: str, id: str) -> ImportJob:
    job = state().imports.find(queue, id)
    if job is None:
        raise Problem.of(404, "not-found", "not_found", what="import")
    return job


def plan(queue: str, mapping: Mapping[str, Any]) -> str:
    """Store how a file is to be read, and return the id of its job."""
    return state().imports.create(queue, person().name, mapping)


def add_rows(
    queue: Queue,
    rows: Iterable[NewItem | transfer.BadRow],
    *,
    on_bad: Callable[[transfer.BadRow], None],
    on_conflict: Callable[[transfer.BadRow], None],
    progress: Callable[[transfer.ImportResult], None] | None = None,
) -> transfer.ImportResult:
    """Add the rows of a file to the queue. Rows that were added stay even if this fails, and are logged."""
    latest = transfer.ImportResult()

    def report(so_far: transfer.ImportResult) -> None:
        nonlocal latest
        latest = so_far
        if progress:
            progress(so_far)

    is_done = False
    try:
        rows = addressed(queue, rows)
        result = transfer.import_items(queue, rows, on_bad=on_bad, on_conflict=on_conflict, progress=report)
        is_done = True
    finally:
        if is_done or latest.added:
            note("queue.imported", queue.name)
    return result


def addressed(queue: Queue, rows: Iterable[NewItem | transfer.BadRow]) -> Iterator[NewItem | transfer.BadRow]:
    """The rows; one that is addressed to somebody who may not work on the queue is a bad row."""
    return transfer.addressed(rows, partial(worker_name, queue.name, field="to"))


def run(queue: Queue, id: str, rows: transfer.Rows, reason_of: Callable[[transfer.BadRow], str]) -> None:
    """Import the rows of a job's file, once. The job has the outcome: if this fails, the number of rows that
    were added. ``reason_of``: what is wrong with a row."""
    store = state().imports
    if not store.begin(id):
        raise Invalid("import", "import_done")
    bad_rows = BadRows(store, id, reason_of)
    try:
        with store.heartbeat(id):
            result = add_rows(
                queue,
                rows,
                on_bad=bad_rows.add,
                on_conflict=bad_rows.add,
                progress=lambda so_far: store.progress(id, so_far),
            )
        bad_rows.flush()
        store.progress(id, result)
        store.end(id, "done", rows.summary)
    except ClientDisconnected:
        bad_rows.flush()
        store.end(id, "stopped", rows.summary, why=_("the connection ended before the whole file was sent"))
        raise
    except LeaseqError as error:
        with suppress(LeaseqError):
            store.end(id, "stopped", rows.summary, why=in_words(error))
        raise
