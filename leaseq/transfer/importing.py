"""The import of rows into a queue, and the rows that it rejects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import BinaryIO, Protocol

from leaseq.models import Conflict, EnqueuedMany, Json, NewItem
from leaseq.transfer.delimited import splits_of
from leaseq.transfer.formats import Format
from leaseq.transfer.rows import BadRow, FileItem
from leaseq.transfer.values import compact_json

REJECTED = ["rejected_line", "rejected_reason"]
_GROUPED = re.compile(r"(?<=\d),(?=\d{3})")  # the commas of 1,000,000


class Rejects:
    """The writer of a file of bad rows. `add` writes a row; pass it `Rows.head`. `close` ends the file.
    ``count`` is the number of rows written."""

    def __init__(self, stream: BinaryIO, format: Format) -> None:
        self._stream = stream
        self._format = format
        self._delimiter: str | None = None
        self.count = 0

    def add(self, row: BadRow, head: tuple[bytes, str] | None) -> None:
        if self._format in ("csv", "tsv"):
            if head is None:  # the header could not be read, so there are no rows
                return
            self._add_to_table(row, *head)
        else:
            separator = b"" if self._format == "jsonl" else b",\n" if self.count else b"[\n"
            end = b"\n" if self._format == "jsonl" else b""
            self._stream.write(separator + compact_json(_reject_shape(row)).encode(errors="replace") + end)
        self.count += 1

    def close(self) -> None:
        if self._format == "json":
            self._stream.write(b"\n]\n" if self.count else b"[]\n")

    def _add_to_table(self, row: BadRow, header: bytes, delimiter: str) -> None:
        if self._delimiter is None:
            self._delimiter = delimiter
            first_line = delimiter.join((*REJECTED, "")).encode() + _line(header)
            if splits_of(first_line, self._format) != (delimiter,):
                self._stream.write(f"sep={delimiter}\r\n".encode())
            self._stream.write(first_line)
        # The reason isn't quoted, since an import may read quotes as text: it must not contain the delimiter.
        reason = _GROUPED.sub("", row.message) if delimiter == "," else row.message
        reason = reason.replace(delimiter, ";" if delimiter != ";" else ",").replace('"', "'")
        start = delimiter.join((str(row.line), " ".join(reason.split()), ""))
        self._stream.write(start.encode(errors="replace") + _line(row.raw or b""))


def original_row(value: Json) -> tuple[Json] | bytes | None:
    """The original of a JSON row that `Rejects` wrote: the row in a tuple, or its text if that was not JSON.
    None if `Rejects` did not write this row."""
    if not isinstance(value, dict) or len(value) != len(REJECTED) + 1 or list(value)[:2] != REJECTED:
        return None
    if "row" in value:
        return (value["row"],)
    text = value.get("text")
    return text.encode(errors="surrogatepass") if isinstance(text, str) else None


def _reject_shape(row: BadRow) -> dict[str, Json]:
    # Nothing was kept of a row that is too long, or if the array itself is broken: the text is then empty.
    is_json = row.raw is None and row.value is not None
    row_fields: dict[str, Json] = {"row": row.value} if is_json else {"text": _text(row.raw)}
    return {**dict(zip(REJECTED, (row.line, row.message), strict=True)), **row_fields}


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode(errors="replace").strip()


def _line(raw: bytes) -> bytes:
    return raw if raw.endswith(b"\n") else raw + b"\r\n"


BATCH = 1_000  # rows between two calls of progress
SHOWN = 100
"""The number of bad rows that a `CheckResult` contains."""

OnBad = Callable[[BadRow], None]


class ImportTarget(Protocol):
    """The methods of a queue that an import needs."""

    def enqueue_many(
        self, items: Iterable[NewItem], /, *, on_conflict: Callable[[Conflict], object] | None
    ) -> EnqueuedMany: ...


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The result of an import."""

    added: int = 0
    duplicates: int = 0  # rows that are in the queue: with the same id, or an equal payload (dedupe_seconds)
    rejected: int = 0  # lines of the file that were left out with bad rows
    conflicts: int = 0  # rows whose id belongs to an item with another payload: nothing changed

    @property
    def rows(self) -> int:
        """The sum of the four counts."""
        return self.added + self.duplicates + self.rejected + self.conflicts


def import_items(
    queue: ImportTarget,
    rows: Iterable[NewItem | BadRow],
    *,
    on_bad: OnBad | None = None,
    on_conflict: OnBad | None = None,
    progress: Callable[[ImportResult], None] | None = None,
) -> ImportResult:
    """Enqueue the good rows in order, and count the bad ones.

    ``on_bad`` is called with each bad row, and ``on_conflict`` with each row of a file whose id belongs to an
    item with another payload. ``progress`` is called about every 1,000 rows with the result so far. If the
    server becomes unavailable, this raises the error; the last result passed to ``progress`` shows how far
    the import came.
    """
    total = ImportResult()
    batch: list[NewItem] = []
    rejected_lines = 0

    def report_conflict(conflict: Conflict) -> None:
        item = batch[conflict.place]
        if on_conflict and isinstance(item, FileItem):
            on_conflict(item.conflict())

    def send() -> None:
        nonlocal total, rejected_lines
        counts = queue.enqueue_many(batch, on_conflict=report_conflict) if batch else EnqueuedMany(0, 0)
        total = ImportResult(
            total.added + counts.added,
            total.duplicates + counts.duplicates,
            total.rejected + rejected_lines,
            total.conflicts + counts.conflicts,
        )
        rejected_lines = 0
        batch.clear()
        if progress:
            progress(total)

    for row in rows:
        if isinstance(row, BadRow):
            rejected_lines += row.lines
            if on_bad:
                on_bad(row)
        else:
            batch.append(row)
        if len(batch) + rejected_lines >= BATCH:
            send()
    send()
    return total


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of `check`."""

    readable: int = 0  # rows that would become items
    bad: int = 0  # rows that would not
    rejected: int = 0  # lines of the file that would be left out with the bad rows
    first: tuple[BadRow, ...] = ()  # the first hundred bad rows, without their content


def check(
    rows: Iterable[NewItem | BadRow],
    *,
    on_bad: OnBad | None = None,
    progress: Callable[[CheckResult], None] | None = None,
) -> CheckResult:
    """Read all rows as `import_items` would, without importing them.

    ``on_bad`` is called with each bad row; ``progress`` every 1,000 rows, with the result so far. Ids that
    are already in the queue, or twice in the file, are not detected. One row is in memory at a time.
    """
    readable_rows = bad_rows = rejected_lines = 0
    first_bad_rows: list[BadRow] = []
    for row in rows:
        if isinstance(row, BadRow):
            bad_rows, rejected_lines = bad_rows + 1, rejected_lines + row.lines
            if len(first_bad_rows) < SHOWN:
                first_bad_rows.append(replace(row, value=None, raw=None))
            if on_bad:
                on_bad(row)
        else:
            readable_rows += 1
        if progress and (readable_rows + bad_rows) % BATCH == 0:
            progress(CheckResult(readable_rows, bad_rows, rejected_lines, tuple(first_bad_rows)))
    return CheckResult(readable_rows, bad_rows, rejected_lines, tuple(first_bad_rows))
