"""The statements that differ between the two databases, each for many rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from leaseq.bridge.rows import AnswerRow, ChangeRow, ItemRow, Runner
from leaseq.events import EventRow


class Dialect(ABC):
    """Each method runs in the caller's transaction, on the rows of ``queue``."""

    @abstractmethod
    def lock(self, connection: Connection, queue: str) -> str | None:
        """Lock out other archivers of this queue until the transaction ends, and return the cursor of the
        last archived event."""

    @abstractmethod
    def waiting_rows(self, connection: Connection, queue: str, limit: int) -> list[ItemRow]:
        """Waiting rows whose ``run_at`` has passed, by priority and age. Other migrators don't get them."""

    @abstractmethod
    def set_moved(self, connection: Connection, queue: str, ids: Sequence[str], status: str) -> None:
        """Set the status of rows from `waiting_rows`, and clear their errors and details."""

    @abstractmethod
    def set_status(self, connection: Connection, queue: str, ids: Sequence[str], status: str) -> None:
        """Set the status of rows, and clear their errors and details. Rows that wait, or were cancelled in
        the database just now, are left to the migrator."""

    @abstractmethod
    def set_details(self, connection: Connection, queue: str, rows: Sequence[tuple[str, str | None]]) -> None:
        """Set the details, as JSON text, of rows with these ids."""

    @abstractmethod
    def time(self, value: datetime) -> object:
        """A value for a column of times."""

    @abstractmethod
    def set_error(
        self, connection: Connection, queue: str, row: ItemRow, error: str | None, status: str
    ) -> None:
        """Set the error and the status of a row, whatever its id."""

    @abstractmethod
    def changes(self, connection: Connection, queue: str, after: str, limit: int) -> list[ChangeRow]:
        """Queued rows that were changed in the database, by id."""

    @abstractmethod
    def forget_change(self, connection: Connection, queue: str, change: ChangeRow) -> None:
        """Delete the record of a change, unless the row was changed again meanwhile."""

    @abstractmethod
    def add_events(self, connection: Connection, queue: str, rows: Sequence[EventRow]) -> None: ...

    @abstractmethod
    def put_answers(
        self, connection: Connection, queue: str, ids: Sequence[str], rows: Sequence[AnswerRow]
    ) -> None:
        """Write the answers of items, replacing those with the same id and token. The items' other answers
        are no longer accepted."""

    @abstractmethod
    def missing_ids(self, connection: Connection, queue: str, ids: Sequence[str]) -> list[str]:
        """The ids that leaseq_item does not have, except those of rows that were deleted just now."""

    @abstractmethod
    def ended_ids(self, connection: Connection, queue: str, ids: Sequence[str]) -> list[str]:
        """The ids whose rows say that the item has ended, or that have accepted answers, except those of rows
        that were cancelled just now."""

    @abstractmethod
    def add_items(self, connection: Connection, queue: str, rows: Sequence[tuple[ItemRow, str]]) -> None:
        """Add rows, each with a status, for items that did not come from the database."""

    @abstractmethod
    def runner(self, connection: Connection, queue: str) -> Runner | None:
        """The bridge that last worked on the queue."""

    @abstractmethod
    def set_runner(self, connection: Connection, queue: str, name: str, high: int, low: int) -> None: ...

    @abstractmethod
    def ids(self, connection: Connection, queue: str, after: str | bytes, limit: int) -> list[str | bytes]:
        """The ids of the queue's rows after this one, ordered as text. Bytes are no valid id."""

    @abstractmethod
    def ids_with(self, connection: Connection, queue: str, status: str) -> list[str]:
        """The ids of rows with a status, by priority and age."""

    @abstractmethod
    def items(self, connection: Connection, queue: str, ids: Sequence[str]) -> list[ItemRow]:
        """The rows with these ids, in the same order."""
