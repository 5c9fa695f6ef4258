"""The statements that differ between the two databases, each for many rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

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
    def set_status(self, connection: Connection, queue: str, ids: Sequence[str], status: str) -> None:
        """Set the status of rows, and clear their errors."""

    @abstractmethod
    def changes(self, connection: Connection, queue: str, after: str, limit: int) -> list[ChangeRow]:
        """Queued rows that were changed in the database, by id."""

    @abstractmethod
    def add_events(self, connection: Connection, queue: str, rows: Sequence[EventRow]) -> None: ...

    @abstractmethod
    def put_answers(self, connection: Connection, queue: str, rows: Sequence[AnswerRow]) -> None:
        """Write answers, replacing those with the same id and token."""

    @abstractmethod
    def missing_ids(self, connection: Connection, queue: str, ids: Sequence[str]) -> list[str]:
        """The ids that leaseq_item does not have, except those of rows that were deleted just now."""

    @abstractmethod
    def add_items(self, connection: Connection, queue: str, rows: Sequence[tuple[ItemRow, str]]) -> None:
        """Add rows, each with a status, for items that did not come from the database."""

    @abstractmethod
    def runner(self, connection: Connection, queue: str) -> Runner | None:
        """The bridge that last worked on the queue."""

    @abstractmethod
    def set_runner(self, connection: Connection, queue: str, name: str, high: int, low: int) -> None: ...

    @abstractmethod
    def statuses(self, connection: Connection, queue: str, after: str, limit: int) -> dict[str, str]:
        """The status of each row by id, ordered by id as text."""

    @abstractmethod
    def queued_ids(self, connection: Connection, queue: str) -> list[str]:
        """The ids of queued rows, by priority and age."""

    @abstractmethod
    def items(self, connection: Connection, queue: str, ids: Sequence[str]) -> list[ItemRow]:
        """The rows with these ids, in the same order."""
