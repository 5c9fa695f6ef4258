"""Reads a whole file without importing it, and says which of its rows can be imported."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from leaseq.models import NewItem
from leaseq.transfer.rows import BadRow

SHOWN = 100
"""The bad rows that a result holds."""
_BATCH = 1_000  # rows between two calls of progress


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What `check` read."""

    readable: int = 0  # rows that would become items
    bad: int = 0  # rows that would not
    rejected: int = 0  # lines of the file that would be left out with them
    first: tuple[BadRow, ...] = ()  # the first hundred bad rows, without what stood there


def check(
    rows: Iterable[NewItem | BadRow],
    *,
    on_bad: Callable[[BadRow], None] | None = None,
    progress: Callable[[CheckResult], None] | None = None,
) -> CheckResult:
    """Read all rows as `import_items` would, and import none.

    ``on_bad`` is called with each bad row; ``progress`` every 1,000 rows, with the result so far. Ids that
    the queue has already, or that the file has twice, are not looked for. One row is held at a time.
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
