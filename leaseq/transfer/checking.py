"""Reads a whole file without importing it, and reports which of its rows can be imported."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from leaseq.models import NewItem
from leaseq.transfer.rows import BadRow

SHOWN = 100
"""The number of bad rows that a result contains."""
_BATCH = 1_000  # rows between two calls of progress


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
    on_bad: Callable[[BadRow], None] | None = None,
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
        if progress and (readable_rows + bad_rows) % _BATCH == 0:
            progress(CheckResult(readable_rows, bad_rows, rejected_lines, tuple(first_bad_rows)))
    return CheckResult(readable_rows, bad_rows, rejected_lines, tuple(first_bad_rows))
