"""Imports rows into a queue, or only checks them, and reports the bad ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from leaseq.models import Conflict, EnqueuedMany, NewItem
from leaseq.transfer.rows import BadRow, FileItem

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
