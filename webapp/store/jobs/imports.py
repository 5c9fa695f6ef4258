"""Imports of files: the record of each, its rejected rows, and its end if its process stops."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any

from leaseq import LeaseqError
from leaseq.backup import LeftOut
from leaseq.transfer import BadRow, ImportResult, TableSummary
from leaseq.webapp.store.base import KeyPrefix, Store

_BASE = "leaseq:{@imports}:"
STORED = (LeftOut(_BASE + "*", "an import job ends within minutes, and its file is not stored"),)


_run = KeyPrefix(_BASE + "run:")  # hash, by id: the record of a job; one field is `queue`
_bad_rows = KeyPrefix(_BASE + "bad:")  # list, by id: its rejected rows, as JSON
_latest = KeyPrefix(_BASE + "latest:")  # list, by queue: the ids of its latest jobs

DAYS = 7
LATEST = 10  # per queue
BAD_ROWS = 10_000  # kept for download
BAD_BYTES = 4_000_000
MAX_SILENCE = 60  # seconds without a heartbeat after which a job counts as ended
BEAT_SECONDS = MAX_SILENCE / 4
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class ImportJob:
    """The state of one import."""

    id: str
    queue: str
    by: str
    plan: Mapping[str, Any]  # how the file is read
    state: str  # planned, running, done, stopped
    began_at: datetime
    updated_at: datetime
    result: ImportResult
    reason: str = ""
    total: int | None = None  # rows of the file; None: it was not checked as a whole
    importable: int | None = None  # of these rows
    summary: TableSummary | None = None  # how quotes and lines were read; None: not over yet, or JSON

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "stopped") or self.is_interrupted

    @property
    def is_interrupted(self) -> bool:
        """Whether its process ended without a final report."""
        return self.state == "running" and (datetime.now(UTC) - self.updated_at).total_seconds() > MAX_SILENCE


class ImportJobs(Store):
    """The store of import jobs."""

    def create(self, queue: str, by: str, plan: Mapping[str, Any]) -> str:
        """Store how a file is to be read, and return the id of its job."""
        id = secrets.token_urlsafe(12)
        now = datetime.now(UTC).isoformat()
        record = {
            "queue": queue,
            "by": by,
            "plan": json.dumps(plan),
            "state": "planned",
            "began": now,
            "heard": now,
        }
        pipe = self._redis.pipeline(transaction=True)
        pipe.hset(_run(id), mapping=record)
        pipe.expire(_run(id), DAYS * 86_400)
        pipe.execute()
        return id

    def find(self, queue: str, id: str) -> ImportJob | None:
        fields = self._redis.hgetall(_run(id))
        record = {name.decode(): value.decode() for name, value in fields.items()}
        return _job_of(id, record) if record.get("queue") == queue else None

    def latest(self, queue: str) -> list[ImportJob]:
        ids = [id.decode() for id in self._redis.lrange(_latest(queue), 0, -1)]
        jobs = (self.find(queue, id) for id in ids)
        return [job for job in jobs if job is not None and job.state != "planned"]

    def begin(self, id: str) -> bool:
        """Start the job. Return False if it was started before: each job imports one file once. Only started
        jobs appear among the latest."""
        is_first = self._redis.hsetnx(_run(id), "running", "1")
        queue = self._redis.hget(_run(id), "queue")
        if is_first and queue:
            key = _latest(queue.decode())
            pipe = self._redis.pipeline(transaction=True)
            pipe.lpush(key, id)
            pipe.ltrim(key, 0, LATEST - 1)
            pipe.expire(key, DAYS * 86_400)
            pipe.execute()
            self.update(id, state="running")
        return bool(is_first)

    def update(self, id: str, **fields: Any) -> None:
        """Store the progress."""
        self._redis.hset(_run(id), mapping={**fields, "heard": datetime.now(UTC).isoformat()})

    def end(self, id: str, state: str, summary: TableSummary | None, **fields: str) -> None:
        """Store how the job ended and how quotes and lines were read."""
        self.update(id, state=state, summary=json.dumps(summary and asdict(summary)), **fields)

    @contextmanager
    def heartbeat(self, id: str) -> Iterator[None]:
        """Renew the job's heartbeat until the block ends, whatever takes long there: the client, or a
        workbook that must be read before its first rows are added."""
        is_over = threading.Event()

        def beat() -> None:
            while not is_over.wait(BEAT_SECONDS):
                with suppress(LeaseqError):
                    self.update(id)

        thread = threading.Thread(target=beat, name=f"import {id}", daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    def progress(self, id: str, result: ImportResult) -> None:
        self.update(id, **asdict(result))

    def store_bad_rows(self, id: str, rows: list[str]) -> None:
        self._redis.rpush(_bad_rows(id), *rows)
        self._redis.expire(_bad_rows(id), DAYS * 86_400)

    def bad_rows(self, id: str, limit: int = BAD_ROWS) -> Iterator[dict[str, Any]]:
        """The stored rejected rows: line, reason, row."""
        for start in range(0, limit, _CHUNK):
            rows = self._redis.lrange(_bad_rows(id), start, min(start + _CHUNK, limit) - 1)
            yield from map(json.loads, rows)
            if len(rows) < _CHUNK:
                return

    def of_person(self, person: str) -> Iterator[str]:
        """The ids of the jobs that a person started."""
        for key in self._hashes_where(_run("*"), "by", person):
            yield key.removeprefix(_run)

    def rename_person(self, person: str, to: str) -> None:
        """Replace a person's name."""
        for id in list(self.of_person(person)):
            self._client.ask(("HSET", _run(id), "by", to))

    def forget_queue(self, queue: str) -> None:
        """Delete the import jobs of a queue, with their rejected rows."""
        for key in self._hashes_where(_run("*"), "queue", queue):
            self._client.ask(("UNLINK", key), ("UNLINK", _bad_rows(key.removeprefix(_run))))
        self._client.ask(("UNLINK", _latest(queue)))


class BadRows:
    """The rejected rows of a job, up to a limit. ``reason_of`` says what is wrong with one."""

    def __init__(self, jobs: ImportJobs, id: str, reason_of: Callable[[BadRow], str]) -> None:
        self._jobs = jobs
        self._id = id
        self._reason_of = reason_of
        self._rows: list[str] = []  # as JSON
        self._count = 0
        self._bytes = 0

    def add(self, row: BadRow) -> None:
        size = len(str(row.value))
        if self._count >= BAD_ROWS or self._bytes + size > BAD_BYTES:
            return
        self._count += 1
        self._bytes += size
        entry = {"line": row.line, "reason": self._reason_of(row), "row": row.value}
        self._rows.append(json.dumps(entry))
        if len(self._rows) >= _CHUNK:
            self.flush()

    def flush(self) -> None:
        if self._rows:
            self._jobs.store_bad_rows(self._id, self._rows)
            self._rows = []


def _job_of(id: str, record: dict[str, str]) -> ImportJob:
    counts = {field.name: int(record.get(field.name, 0)) for field in fields(ImportResult)}
    return ImportJob(
        id,
        record["queue"],
        record["by"],
        json.loads(record["plan"]),
        record["state"],
        datetime.fromisoformat(record["began"]),
        datetime.fromisoformat(record["heard"]),
        ImportResult(**counts),
        record.get("why", ""),
        int(record["total"]) if "total" in record else None,
        int(record["importable"]) if "importable" in record else None,
        _summary(json.loads(record.get("summary", "null"))),
    )


def _summary(record: dict[str, Any] | None) -> TableSummary | None:
    if record is None:
        return None
    lines, values = record.pop("joined_first"), record.pop("values")
    return TableSummary(**record, joined_first=tuple(lines) if lines else None, values=tuple(values))
