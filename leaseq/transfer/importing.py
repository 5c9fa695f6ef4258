"""Imports rows into a queue, and reports the bad ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from leaseq.models import EnqueuedMany, NewItem
from leaseq.transfer.rows import BadRow

BATCH = 1_000  # rows between two calls of progress


class ImportTarget(Protocol):
    """The methods of a queue that an import needs."""

    def enqueue_many(self, items: Iterable[NewItem], /) -> EnqueuedMany: ...


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The result of an import."""

    added: int = 0
    duplicates: int = 0  # rows whose id, or an equal payload, was already in the queue: nothing changed
    rejected: int = 0  # lines of the file that were left out with bad rows

    @property
    def rows(self) -> int:
        """The sum of ``added``, ``duplicates`` and ``rejected``."""
        return self.added + self.duplicates + self.rejected


def import_items(
    queue: ImportTarget,
    rows: Iterable[NewItem | BadRow],
    *,
    on_bad: Callable[[BadRow], None] | None = None,
    progress: Callable[[ImportResult], None] | None = None,
) -> ImportResult:
    """Enqueue the good rows in order, and count the bad ones.

    ``on_bad`` is called with each bad row. ``progress`` is called about every 1,000 rows with the result so
    far. If the server becomes unavailable, this raises the error; the last result passed to ``progress``
    shows how far the import came.
    """
    total = ImportResult()
    batch: list[NewItem] = []
    rejected_lines = 0

    def send() -> None:
        nonlocal total, rejected_lines
        counts = queue.enqueue_many(batch) if batch else EnqueuedMany(0, 0)
        total = ImportResult(
            total.added + counts.added, total.duplicates + counts.duplicates, total.rejected + rejected_lines
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
