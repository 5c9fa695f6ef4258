"""The statements that the two databases write differently, for many rows at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from sqlalchemy import Connection

from leaseq.bridge.rows import AnswerRow, ChangeRow, ItemRow, Runner
from leaseq.events import EventRow


class Dialect(ABC):
    """Each method is part of the caller's transaction. ``queue`` names the rows that it is about."""

    @abstractmethod
    def lock(self, connection: Connection, queue: str) -> str | None:
        """Let no other archiver at this queue until the transaction ends; the cursor of the last archived
        event."""

    @abstractmethod
    def waiting_rows(self, connection: Connection, queue: str, limit: int) -> list[ItemRow]:
        """Rows that wait and whose time has come, by priority and age. Another migrator does not get them."""

    @abstractmethod
    def set_status(self, connection: Connection, queue: str, ids: Sequence[str], status: str) -> None:
        """The status of rows; their error goes."""

    @abstractmethod
    def changes(self, connection: Connection, queue: str, after: str, limit: int) -> list[ChangeRow]:
        """Rows that leaseq has and that were changed in the database, by id."""

    @abstractmethod
    def add_events(self, connection: Connection, queue: str, rows: Sequence[EventRow]) -> None: ...

    @abstractmethod
    def put_answers(self, connection: Connection, queue: str, rows: Sequence[AnswerRow]) -> None:
        """Write answers, in place of those with the same id and token."""

    @abstractmethod
    def missing_ids(self, connection: Connection, queue: str, ids: Sequence[str]) -> list[str]:
        """Those of the ids that leaseq_item does not have, but for rows that were deleted just now."""

    @abstractmethod
    def add_items(self, connection: Connection, queue: str, rows: Sequence[tuple[ItemRow, str]]) -> None:
        """Rows with a status, of items that did not come from the database."""

    @abstractmethod
    def runner(self, connection: Connection, queue: str) -> Runner | None:
        """The bridge that worked on the queue last."""

    @abstractmethod
    def set_runner(self, connection: Connection, queue: str, name: str, high: int, low: int) -> None: ...

    @abstractmethod
    def statuses(self, connection: Connection, queue: str, after: str, limit: int) -> dict[str, str]:
        """The status of rows by id, in the order of the ids' characters."""

    @abstractmethod
    def queued_ids(self, connection: Connection, queue: str) -> list[str]:
        """The ids of the rows that leaseq has, by priority and age."""

    @abstractmethod
    def items(self, connection: Connection, queue: str, ids: Sequence[str]) -> list[ItemRow]:
        """Rows by their ids, in the order of the ids."""
